"""What the preview says of a file of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.formats import generic, shopify
from ingest.kinds.base import Note
from ingest.kinds.pages.category_source import has_crumbs, has_json_ld, without_crumbs
from ingest.kinds.pages.fields import is_crawl

if TYPE_CHECKING:
    from ingest.kinds.base import MappedRows


def page_notes(rows: MappedRows) -> list[Note]:
    """Where categories come from, which vectors there are, and whether the file says which pages there are."""
    return [*_breadcrumb_notes(rows), *_vector_notes(rows), *_crawl_notes(rows)]


def _breadcrumb_notes(rows: MappedRows) -> list[Note]:
    if "breadcrumb" not in rows.mapping:
        if not is_crawl(rows.mapping):
            return []
        text = "Categories come from the folders of the addresses, because there is no breadcrumb: a weak source."
        return [Note(text, True)]
    columns = rows.mapping["breadcrumb"]
    if not has_crumbs(rows):
        return [Note(_no_crumbs(rows, columns), True)]
    if shopify.is_products(rows.header):
        return [Note(f"Categories come from “{columns[0]}”.")]
    where = columns[0] if len(columns) == 1 else f"{columns[0]} and {len(columns) - 1} more"
    how = "JSON-LD in " if has_json_ld(rows) else ""
    return [Note(f"Categories come from the breadcrumb in {how}{where}.")]


def _no_crumbs(rows: MappedRows, columns: list[str]) -> str:
    """What becomes of the categories where the first rows leave the breadcrumb's columns empty."""
    others = without_crumbs(rows).mapping.get("breadcrumb")
    empty = f"“{columns[0]}” is" if len(columns) == 1 else f"“{columns[0]}” and {len(columns) - 1} more are"
    if others:
        instead = f"categories come from the breadcrumb in JSON-LD in {others[0]}"
    elif is_crawl(rows.mapping):
        instead = "categories come from the folders of the addresses, a weak source"
    else:
        instead = "the pages keep the categories they have"
    return f"{empty} empty in the first rows. If no row of the file holds a breadcrumb, {instead}."


def _vector_notes(rows: MappedRows) -> list[Note]:
    notes = []
    chosen = rows.mapping.get("vector", [])
    if chosen:
        lengths = sorted({value.count(",") + 1 for value in rows.cells(chosen[0]) if value})
        listed = " and ".join(map(str, lengths))
        notes.append(
            Note(f"“{chosen[0]}” holds embedding vectors of {listed} numbers. One length is kept.", len(lengths) > 1)
            if lengths
            else Note(f"“{chosen[0]}” is empty in the first rows.", True)
        )
    found = generic.vector_columns(rows.header, rows.samples)
    others = [column for column in found if column not in chosen]
    if others:
        notes.append(Note(f"More columns look like embedding vectors: {', '.join(others)}. One can be imported."))
    return notes


def _crawl_notes(rows: MappedRows) -> list[Note]:
    if is_crawl(rows.mapping):
        return []
    return [
        Note(
            "The file has neither titles nor texts: it adds to pages that are there, makes none and marks none as "
            "missing.",
            True,
        )
    ]
