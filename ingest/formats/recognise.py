"""Which known file a file is. The files are in ingest.formats.known_files.

To add one, add an entry to FILES: three sentences and a rule. A rule looks at what is in the file, at its columns or at
how it begins, since names are lost on the way; the first entry whose rule holds counts. `kind` names the import that
takes the file, a name in ingest.kinds.registry; a file without one is described to the user and left alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ingest.formats.known_files import FILES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ingest.files.peek import Columns, Start
    from ingest.formats.known_file import Known

MAX_COLUMNS = 1_000  # looked at


def of_start(start: Start) -> Known | None:
    """What a file is, going by how it begins."""
    return next((known for known in FILES if known.start is not None and known.start(start)), None)


def of_columns(columns: Columns) -> Known | None:
    """What a table is, going by its columns and first rows."""
    columns = replace(columns, header=columns.header[:MAX_COLUMNS])
    return next((known for known in FILES if known.columns is not None and known.columns(columns)), None)


def member_for(kind: str, tables: Iterable[tuple[str, Columns]]) -> str:
    """Which table of an archive to read for a kind of import, or for any where that is empty; empty for no opinion.

    One that the import takes comes before one that another takes, and that before one that none does.
    """
    found = [(member, known) for member, columns in tables if (known := of_columns(columns)) is not None]
    if len(found) < 2:
        return ""
    order = [known.kind for known in FILES]

    def rank(entry: tuple[str, Known]) -> tuple[bool, bool, bool, int]:
        known = entry[1]
        return (not known.kind, known.kind != kind, known.doubt, order.index(known.kind) if known.kind else 0)

    found.sort(key=rank)
    first = [member for member, known in found if rank(("", known)) == rank(found[0])]
    return first[0] if len(first) == 1 or not found[0][1].kind else ""
