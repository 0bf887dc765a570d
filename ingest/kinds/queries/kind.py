"""What people searched for, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from ingest.fields.mapping import listed
from ingest.kinds.base import ImportKind, Note
from ingest.kinds.pages.fields import TEXTS
from ingest.kinds.queries.fields import FIELDS
from ingest.kinds.queries.load import load_queries
from ingest.kinds.queries.report import QUERIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.fields.mapping import Columns
    from ingest.kinds.base import Counts, ImportTask, MappedRows


class QueriesImport(ImportKind):
    name = gettext_noop("queries")
    label = _("Search queries")
    choice = _("Search queries of pages")
    own_command = "import_queries"
    preview_template = "ingest/kinds/_queries.html"
    command_help = (
        "Imports what people searched for, page by page, in this process: Search Console's rows of page and query, "
        "a file of url, query and importance, or any CSV with --map. Import the pages first. Queries that are there "
        "are updated, nothing is deleted. Exits with 1 and a message where nothing could be imported."
    )
    pages_first = gettext_noop("Import the pages first, then their queries.")
    fields = FIELDS
    report = QUERIES

    def recognises(self, header: Sequence[str]) -> bool:
        """Queries without pages count as queries, so that the message says what they lack."""
        return "query" in self.fields.by_name(header)

    def takes_from_pages(self, mapping: Columns) -> bool:
        return TEXTS.isdisjoint(mapping)

    def what_is_missing(self, header: Sequence[str], mapping: Columns) -> str:
        if [field.name for field in self.fields.without_column(mapping)] != ["url"]:
            return super().what_is_missing(header, mapping)
        said = gettext(
            "No column says which page a query belongs to. The columns are: %(columns)s. The files that Search "
            "Console's own screens hand out list queries and pages apart: take rows of page and query from its API, "
            "its bulk export or a connector such as Looker Studio."
        )
        return f"{said % {'columns': listed(header)}} {self.how_to_choose('url')}"

    def notes(self, rows: MappedRows) -> list[Note]:
        for field in ("importance", "impressions"):
            if field in rows.mapping:
                said = gettext("A page's queries are weighed by “%(column)s”.")
                return [Note(said % {"column": rows.mapping[field][0]})]
        said = gettext("The file has neither impressions nor importance: all queries of a page weigh the same.")
        return [Note(said, True)]

    def load(self, task: ImportTask) -> Counts:
        return load_queries(task)
