"""The columns that users chose for a file, for the next file with the same columns.

Which columns a file has is told by their names alone: their order, the delimiter, the encoding and the case may differ.
What was confirmed last counts, and is kept with the upload that it was confirmed for.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ingest.files.column_names import header_key
from ingest.models import Upload

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ingest.fields.mapping import Columns
    from ingest.kinds.base import ImportKind
    from linker.models import Project


def columns_digest(header: Sequence[str]) -> str:
    """The same for all headers of the same names."""
    return hashlib.sha256("\n".join(sorted(map(header_key, header))).encode()).hexdigest()


def chosen_before(project: Project, kind: ImportKind, header: Sequence[str]) -> Columns | None:
    """The mapping that was confirmed for the last file of these columns, by the names that this file has for them; None
    where there was none. A project that is not stored yet has none."""
    if project.pk is None:
        return None
    confirmed = Upload.objects.filter(project=project, kind=kind.name, columns=columns_digest(header))
    mapping: Mapping[str, list[str]] | None = confirmed.order_by("-id").values_list("mapping", flat=True).first()
    if not mapping:
        return None
    names = {header_key(name): name for name in reversed(header)}
    texts = {field.name for field in kind.fields.fields if field.text}
    return {
        field: list(columns) if field in texts else [names.get(header_key(column), column) for column in columns]
        for field, columns in mapping.items()
    }
