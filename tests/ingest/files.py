"""Files as crawlers write them."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

SITE = "https://shop.example"
LINK_HEADER = ("Type", "Source", "Destination", "Alt Text", "Anchor", "Follow", "Rel", "Link Path", "Link Position")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]], encoding: str = "utf-8-sig") -> Path:
    path.write_bytes(csv_text(header, rows).encode(encoding))
    return path


def write_pages(path: Path, *paths: str, **columns: str) -> Path:
    """A pages file with a title for each path; `columns` are further columns, the same for every row."""
    rows = [(SITE + p, f"Title of {p}", *columns.values()) for p in paths]
    return write(path, ("Address", "Title 1", *columns), rows)


def link(source: str, target: str, anchor: str = "a link", **cells: str) -> tuple[str, ...]:
    """A row under LINK_HEADER: a link in the text unless `cells` says otherwise."""
    values = {
        "type": "Hyperlink",
        "alt": "",
        "follow": "true",
        "rel": "",
        "path": "//body/main/article/p/a",
        "position": "Content",
        **cells,
    }
    where = (values["path"], values["position"])
    return (
        values["type"],
        SITE + source,
        SITE + target,
        values["alt"],
        anchor,
        values["follow"],
        values["rel"],
        *where,
    )
