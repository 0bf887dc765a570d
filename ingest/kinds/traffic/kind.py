"""How often pages were shown, clicked or visited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from ingest.cells.periods import TooLong, parse_period
from ingest.fields.mapping import listed
from ingest.formats import generic
from ingest.kinds.base import ImportKind, Option
from ingest.kinds.pages.fields import FIELDS as PAGE_FIELDS
from ingest.kinds.pages.fields import WORTH
from ingest.kinds.traffic.fields import (
    FIELDS,
    NUMBERS,
    SEARCH_CONSOLE_PAGES,
    SEARCH_NUMBERS,
    has_traffic,
    is_analytics,
    is_page_of_analytics,
)
from ingest.kinds.traffic.load import load_traffic, read_period
from ingest.kinds.traffic.notes import traffic_notes
from ingest.kinds.traffic.report import TRAFFIC
from linker.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ingest.fields.mapping import Columns
    from ingest.kinds.base import Counts, ImportTask, MappedRows, Note


def _clean_period(text: str) -> str:
    try:
        return str(parse_period(text))
    except TooLong as error:
        raise UserError(str(error)) from None
    except ValueError:
        raise UserError(
            gettext(
                "This is not a period. Enter a month (2026-01), or the first and last day (2026-01-01 to 2026-03-31)."
            )
        ) from None


PERIOD = Option(
    "period",
    label=_("Period"),
    help_text=_(
        "A month (2026-01), or the first and the last day (2026-01-01 to 2026-03-31). Empty: what the file says, else "
        "unknown."
    ),
    command_help="the days the numbers were counted on, where the file does not tell them: 2026-01, or '2026-01-01 to "
    "2026-03-31'",
    clean=_clean_period,
)


class TrafficImport(ImportKind):
    name = gettext_noop("traffic")
    label = _("Traffic")
    choice = _("Traffic of pages: clicks, impressions, hits")
    own_command = "import_traffic"
    command_help = (
        "Imports clicks, impressions and positions, or hits, in this process: Search Console's export (the .zip or its "
        "Pages.csv), a report of Google Analytics, url,hits, or any CSV with --map. Import the pages first. Numbers "
        "are added to the pages that the addresses mean and replace those of the same source and period; nothing else "
        "of a page changes. Exits with 1 and a message where nothing could be imported."
    )
    pages_first = gettext_noop("Import the pages first, then their traffic.")
    fields = FIELDS
    report = TRAFFIC
    options = (PERIOD,)
    preferred_files = SEARCH_CONSOLE_PAGES
    corrects = frozenset({"pages"})

    def recognises(self, header: Sequence[str]) -> bool:
        numbers = {"url", *SEARCH_NUMBERS, *WORTH}
        return is_analytics(header) or (has_traffic(header) and set(PAGE_FIELDS.by_name(header)) <= numbers)

    def guess(self, header: Sequence[str], samples: Sequence[Sequence[str]]) -> Columns:
        mapping = super().guess(header, samples)
        if "url" not in mapping:
            generic.add_address_by_content(mapping, header, samples)
        if "impressions" in mapping and "clicks" not in mapping and is_page_of_analytics(mapping):
            mapping["hits"] = mapping.pop("impressions")  # some languages have one word for impressions and views
        if not set(mapping) & set(NUMBERS):
            mapping |= generic.search_numbers(header, samples)
        return mapping

    def what_is_missing(self, header: Sequence[str], mapping: Columns) -> str:
        if missing := super().what_is_missing(header, mapping):
            return missing
        if set(mapping) & set(NUMBERS):
            return ""
        said = gettext("No column with clicks, impressions, positions or hits was found. The columns are: %(columns)s.")
        return f"{said % {'columns': listed(header)}} {self.how_to_choose('hits')}"

    def notes(self, rows: MappedRows) -> list[Note]:
        return traffic_notes(rows)

    def check_options(self, name: str, options: Mapping[str, Any]) -> None:
        read_period(name, options.get("period", ""))

    def load(self, task: ImportTask) -> Counts:
        return load_traffic(task)
