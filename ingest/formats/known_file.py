"""A file that is known by name, and the error for one that an import does not take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ingest.files.peek import Columns, Start


@dataclass(frozen=True)
class Known:
    """A file that is known. `what`, `good_for` and `advice` are whole sentences for the user.

    `doubt`: an import takes it, but another file would do better. `personal`: it holds personal data that
    nothing here needs, so it is not kept.
    """

    key: str
    what: str
    good_for: str
    advice: str
    kind: str = ""
    columns: Callable[[Columns], bool] | None = None
    start: Callable[[Start], bool] | None = None
    doubt: bool = False
    personal: bool = False

    @property
    def text(self) -> str:
        return f"{self.what} {self.good_for} {self.advice}"


class KnownFileError(FileError):
    """A file that is known, and that this import does not take."""

    def __init__(self, name: str, known: Known, text: str = "") -> None:
        super().__init__(name, text or known.text)
        self.known, self.name = known, name
