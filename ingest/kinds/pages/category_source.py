"""Where the categories of a file of pages come from: a breadcrumb, JSON-LD, or the folders of the addresses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ingest.formats import generic

if TYPE_CHECKING:
    from ingest.kinds.base import MappedRows


def has_crumbs(rows: MappedRows) -> bool:
    """Whether one of the first rows fills one of the breadcrumb's columns."""
    return any(cell for column in rows.mapping.get("breadcrumb", []) for cell in rows.cells(column))


def has_json_ld(rows: MappedRows) -> bool:
    """Whether the breadcrumb's columns hold JSON-LD."""
    chosen = set(rows.mapping.get("breadcrumb", []))
    return bool(chosen & set(generic.json_ld_columns(rows.header, rows.samples)))


def without_crumbs(rows: MappedRows) -> MappedRows:
    """The same rows with the categories' next source: JSON-LD in other columns, else the addresses' folders."""
    chosen = rows.mapping.get("breadcrumb", [])
    structured = [name for name in generic.json_ld_columns(rows.header, rows.samples) if name not in chosen]
    rest = {field: columns for field, columns in rows.mapping.items() if field != "breadcrumb"}
    return replace(rows, mapping=rest | ({"breadcrumb": structured} if structured else {}))


def empty_crumbs(rows: MappedRows) -> list[str]:
    """The breadcrumb's columns where no row fills any of them; reads the rows as far as the first that does."""
    columns = rows.mapping.get("breadcrumb", [])
    if not columns or has_crumbs(rows):
        return []
    places, width = [rows.header.index(column) for column in columns], len(rows.header)
    cells_of_rows = (cells for _, cells in rows.source if len(cells) == width)
    return [] if any(cells[place].strip() for cells in cells_of_rows for place in places) else columns
