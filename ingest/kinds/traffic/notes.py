"""What the preview says of a file of traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ingest.cells.periods import in_words
from ingest.kinds.base import Note
from ingest.kinds.traffic.fields import traffic_source
from ingest.kinds.traffic.load import read_period
from linker.models import PageTraffic, TrafficPeriod
from linker.wording import number

if TYPE_CHECKING:
    from ingest.cells.periods import Period
    from ingest.kinds.base import MappedRows
    from linker.models import TrafficSource


def traffic_notes(rows: MappedRows) -> list[Note]:
    """What happens to the numbers, of which period they are, what they replace, and how the export was narrowed."""
    source = traffic_source(rows.mapping)
    chosen = read_period(rows.source.name, rows.options.get("period", ""))
    period = chosen or rows.source.period()
    if chosen is not None:
        when = _("The numbers count as those of %(period)s.") % {"period": in_words(str(chosen))}
    elif period is not None and period.fault:
        return [Note(period.fault, True)]
    elif period is not None:
        when = _("The file names its period: %(period)s.") % {"period": in_words(str(period))}
    elif "date" in rows.mapping:
        column = rows.mapping["date"][0]
        when = _("The period goes from the first day to the last in “%(column)s”.") % {"column": column}
    else:
        when = _("The file does not name its period. Write it below, or it counts as unknown.")
    is_known = period is not None or "date" in rows.mapping
    return [
        Note(
            _(
                "The numbers are added to the pages that the addresses mean, as those of %(source)s. Nothing else of a "
                "page changes, and no page is made or marked as missing."
            )
            % {"source": source.label}
        ),
        Note(f"{when} {_('What was imported of the same source and period is replaced.')}", warn=not is_known),
        *_replaced_notes(rows, source, period),
        *_filter_notes(rows),
    ]


def _replaced_notes(rows: MappedRows, source: TrafficSource, period: Period | None) -> list[Note]:
    """Which numbers there are that the file takes the place of, or may: its days are known only when all is read."""
    periods = TrafficPeriod.objects.filter(project=rows.project, source=source).order_by("-ends")
    if period is None and "date" in rows.mapping:
        if not (known_days := [in_words(str(known)) for known in periods[:5]]):
            return []
        said = _("There are numbers of %(source)s of these days already: %(days)s.")
        return [Note(said % {"source": source.label, "days": ", ".join(known_days)})]
    same = periods.filter(starts=period.starts, ends=period.ends) if period else periods.filter(starts=None)
    pages = PageTraffic.objects.filter(period__in=same).count()
    if not pages:
        return []
    said = ngettext(
        "%(pages)s page has numbers of this source and period (%(period)s) already. This import replaces them, and "
        "those that the file lacks lose theirs. Exports of parts (folder by folder, or web and then image search) do "
        "not add up: import one export of the whole site.",
        "%(pages)s pages have numbers of this source and period (%(period)s) already. This import replaces them, and "
        "those that the file lacks lose theirs. Exports of parts (folder by folder, or web and then image search) do "
        "not add up: import one export of the whole site.",
        pages,
    )
    named = in_words(str(period)) if period else _("unknown")
    return [Note(said % {"pages": number(pages), "period": named}, warn=True)]


def _filter_notes(rows: MappedRows) -> list[Note]:
    filters = rows.source.filters()
    if not filters:
        return []
    said = _("The export was made with a filter, so it holds a part of the site’s numbers: %(filters)s.")
    return [Note(said % {"filters": "; ".join(filters)}, warn=True)]
