"""Links between the pages of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from ingest.formats import screaming_frog
from ingest.kinds.base import ALLOW_SHRINK, ImportKind, Note
from ingest.kinds.links.fields import FIELDS
from ingest.kinds.links.load import load_links
from ingest.kinds.links.report import LINKS

if TYPE_CHECKING:
    from ingest.kinds.base import Counts, ImportTask, MappedRows


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
    fields = FIELDS
    report = LINKS
    options = (ALLOW_SHRINK,)
    preferred_files = screaming_frog.LINK_FILES

    def notes(self, rows: MappedRows) -> list[Note]:
        if "link_position" in rows.mapping:
            return []
        return [
            Note(
                gettext(
                    "The file does not say where on the page a link stands. Links that many pages have alike are taken "
                    "for template links."
                ),
                True,
            )
        ]

    def load(self, task: ImportTask) -> Counts:
        return load_links(task)
