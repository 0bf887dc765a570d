"""Files that are written before they are sent."""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def spooled(pieces: Iterable[bytes]) -> IO[bytes]:
    """The pieces as a file without a name, read from its beginning. A query that makes them ends before anything is
    sent: a client that takes an hour holds no transaction open for an hour. Whoever reads the file closes it."""
    file = TemporaryFile()  # noqa: SIM115 - see above
    try:
        for piece in pieces:
            file.write(piece)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file
