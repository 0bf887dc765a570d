"""What the preview says of a file of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from ingest.formats import generic, shopify
from ingest.kinds.base import Note
from ingest.kinds.pages.category_source import has_crumbs, has_json_ld, without_crumbs
from ingest.kinds.pages.fields import is_crawl
from linker.wording import joined

if TYPE_CHECKING:
    from ingest.kinds.base import MappedRows


def page_notes(rows: MappedRows) -> list[Note]:
    """Where categories come from, which vectors there are, and whether the file says which pages there are."""
    return [*_breadcrumb_notes(rows), *_vector_notes(rows), *_crawl_notes(rows)]


def _breadcrumb_notes(rows: MappedRows) -> list[Note]:
    if "breadcrumb" not in rows.mapping:
        if not is_crawl(rows.mapping):
            return []
        text = _("Categories come from the folders of the addresses, because there is no breadcrumb: a weak source.")
        return [Note(text, True)]
    columns = rows.mapping["breadcrumb"]
    if not has_crumbs(rows):
        return [Note(_no_crumbs(rows, columns), True)]
    if shopify.is_products(rows.header):
        return [Note(_("Categories come from “%(column)s”.") % {"column": columns[0]})]
    where = columns[0]
    if len(columns) > 1:
        where = _("%(columns)s and %(more)d more") % {"columns": where, "more": len(columns) - 1}
    said = (
        _("Categories come from the breadcrumb in JSON-LD in %(columns)s.")
        if has_json_ld(rows)
        else _("Categories come from the breadcrumb in %(columns)s.")
    )
    return [Note(said % {"columns": where})]


def _no_crumbs(rows: MappedRows, columns: list[str]) -> str:
    """What becomes of the categories where the first rows leave the breadcrumb's columns empty."""
    others = without_crumbs(rows).mapping.get("breadcrumb")
    more = len(columns) - 1
    empty = (
        _("“%(column)s” and %(more)d more are empty in the first rows.")
        if more
        else _("“%(column)s” is empty in the first rows.")
    )
    if others:
        instead = _(
            "If no row of the file holds a breadcrumb, categories come from the breadcrumb in JSON-LD in %(other)s."
        ) % {"other": others[0]}
    elif is_crawl(rows.mapping):
        instead = _(
            "If no row of the file holds a breadcrumb, categories come from the folders of the addresses, a weak "
            "source."
        )
    else:
        instead = _("If no row of the file holds a breadcrumb, the pages keep the categories they have.")
    return f"{empty % {'column': columns[0], 'more': more}} {instead}"


def _vector_notes(rows: MappedRows) -> list[Note]:
    notes = []
    chosen = rows.mapping.get("vector", [])
    if chosen:
        lengths = sorted({value.count(",") + 1 for value in rows.cells(chosen[0]) if value})
        said = _("“%(column)s” is empty in the first rows.")
        if lengths:
            said = _("“%(column)s” holds embedding vectors of %(lengths)s numbers. One length is kept.")
        text = said % {"column": chosen[0], "lengths": joined([str(length) for length in lengths])}
        notes.append(Note(text, len(lengths) != 1))
    found = generic.vector_columns(rows.header, rows.samples)
    others = [column for column in found if column not in chosen]
    if others:
        said = _("More columns look like embedding vectors: %(columns)s. One can be imported.")
        notes.append(Note(said % {"columns": ", ".join(others)}))
    return notes


def _crawl_notes(rows: MappedRows) -> list[Note]:
    if is_crawl(rows.mapping):
        return []
    return [
        Note(
            _(
                "The file has neither titles nor texts: it adds to pages that are there, makes none and marks none as "
                "missing."
            ),
            True,
        )
    ]
