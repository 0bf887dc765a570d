"""The pages of a site, as a crawl lists them, or what another file adds to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from ingest.formats import generic, screaming_frog, shopify
from ingest.kinds.base import ALLOW_SHRINK, ImportKind
from ingest.kinds.links.fields import FIELDS as LINK_FIELDS
from ingest.kinds.pages.fields import FIELDS, TEXTS
from ingest.kinds.pages.load import PagesLoad
from ingest.kinds.pages.notes import page_notes
from ingest.kinds.pages.report import PAGES
from ingest.kinds.queries.fields import FIELDS as QUERY_FIELDS
from ingest.kinds.traffic.fields import is_analytics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.fields.mapping import Columns
    from ingest.kinds.base import Counts, ImportTask, MappedRows, Note


class PagesImport(ImportKind):
    name = gettext_noop("pages")
    label = _("Pages")
    choice = _("Pages")
    own_command = "import_pages"
    preview_template = "ingest/kinds/_pages.html"
    command_help = (
        "Imports the pages of a crawl, in this process: Screaming Frog's internal_html.csv or internal_all.csv, or any "
        "CSV with --map. Pages that are there are updated, pages that are gone are marked, nothing is deleted. Exits "
        "with 1 and a message where nothing could be imported."
    )
    fields = FIELDS
    report = PAGES
    options = (ALLOW_SHRINK,)
    preferred_files = screaming_frog.PAGE_FILES

    def recognises(self, header: Sequence[str]) -> bool:
        return not TEXTS.isdisjoint(self.fields.by_name(header)) and not is_analytics(header)

    def is_sure_of(self, header: Sequence[str]) -> bool:
        return super().is_sure_of(header) and not TEXTS.isdisjoint(self.fields.by_name(header))

    def takes_from_pages(self, mapping: Columns) -> bool:
        return False

    def guess(self, header: Sequence[str], samples: Sequence[Sequence[str]]) -> Columns:
        if shopify.is_products(header):
            return shopify.guess(header, samples)
        mapping = super().guess(header, samples)
        mapping.pop("url", None)
        names = self.fields.column_names["url"]
        addresses = generic.address_columns(names, header, samples, screaming_frog.ADDRESSES)
        mapping = ({"url": addresses} if addresses else {}) | mapping
        if self.recognises(header) or not (LINK_FIELDS.has_required(header) or "query" in QUERY_FIELDS.by_name(header)):
            generic.add_by_content(mapping, header, samples)
        return mapping

    def notes(self, rows: MappedRows) -> list[Note]:
        return page_notes(rows)

    def load(self, task: ImportTask) -> Counts:
        load = PagesLoad(task)
        report = load.read()
        load.check(report)
        load.save(report)
        return report
