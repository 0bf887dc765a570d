"""Links between the pages of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from ingest.formats import screaming_frog
from ingest.formats.link_values import is_attribute, links_by_values
from ingest.kinds.base import ALLOW_SHRINK, ImportKind, Note
from ingest.kinds.links.fields import FIELDS
from ingest.kinds.links.load import load_links
from ingest.kinds.links.report import LINKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.fields.mapping import Columns
    from ingest.kinds.base import Counts, ImportTask, MappedRows


NO_POSITION = gettext_noop(
    "The file does not say where on the page a link stands. Links that many pages have alike are taken for "
    "template links."
)
BY_VALUES = gettext_noop(
    "The names of the columns are not known. Which page links to which was told by the files and other sites that only "
    "one of the two columns leads to: check both before you start."
)


class LinksImport(ImportKind):
    name = gettext_noop("links")
    label = _("Links")
    choice = _("Links between pages")
    own_command = "import_links"
    preview_template = "ingest/kinds/_links.html"
    command_help = (
        "Imports the links of a crawl, in this process: Screaming Frog's all_inlinks.csv or all_outlinks.csv, or any "
        "CSV with --map. Links in the text are distinguished from template links. Import the pages first. Exits with 1 "
        "and a message where nothing could be imported."
    )
    pages_first = gettext_noop("Import the pages first, then their links.")
    fields = FIELDS
    report = LINKS
    options = (ALLOW_SHRINK,)
    preferred_files = screaming_frog.LINK_FILES

    def guess(self, header: Sequence[str], samples: Sequence[Sequence[str]]) -> Columns:
        mapping = super().guess(header, samples)
        if samples and any(is_attribute(header, samples, column) for column in mapping.get("target", ())):
            del mapping["target"]
        return mapping if {"source", "target"} & set(mapping) else links_by_values(header, samples) | mapping

    def notes(self, rows: MappedRows) -> list[Note]:
        by_values = links_by_values(rows.header, rows.samples)
        notes = [gettext(BY_VALUES)] if self._are_told_by_values(rows, by_values) else []
        if "link_position" not in rows.mapping:
            notes.append(gettext(NO_POSITION))
        return [Note(text, True) for text in notes]

    def _are_told_by_values(self, rows: MappedRows, by_values: Columns) -> bool:
        """Whether the columns of donors and targets are those that nothing but their values told apart."""
        named = self.fields.by_name(rows.header)
        return "source" in by_values and all(
            field not in named and rows.mapping.get(field) == by_values.get(field) for field in ("source", "target")
        )

    def load(self, task: ImportTask) -> Counts:
        return load_links(task)
