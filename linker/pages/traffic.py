"""Which of the periods that were imported a page's clicks, impressions and position are taken from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection

from linker.models import PageTraffic, TrafficPeriod, TrafficSource
from linker.storage.page_writes import KEEP_PLANS

if TYPE_CHECKING:
    from datetime import date, datetime

    from linker.models import Page, Project

# Sources whose numbers are clicks in search results; views and hits are another thing.
SEARCH = (TrafficSource.SEARCH_CONSOLE, TrafficSource.CRAWL)

COUNTS = ("clicks", "impressions")
# Pages hold them in four bytes. (least() of a number and null is the number.)
MAX_COUNT = "CASE WHEN {0}.{1} > 2147483647 THEN 2147483647 ELSE {0}.{1}::int END"


def last_day(period: TrafficPeriod) -> date:
    """The day a period ends; an unknown one counts as ended on the day of its import."""
    return period.ends or period.imported_at.date()


def periods_read(project: Project) -> list[TrafficPeriod]:
    """The periods that pages' numbers are read from: a page's come from the first that has the page, and never from
    two.

    They are the newest period of each source, that of the source imported last before the other. The newest ends
    last; of those that end on the same day it is the longest, and one whose days are known before one whose are not.
    Older periods are never read: a page that its source's newest lacks had next to nothing in it.
    """
    newest: dict[str, TrafficPeriod] = {}
    imported: dict[str, datetime] = {}
    for period in TrafficPeriod.objects.filter(project=project, source__in=SEARCH):
        imported[period.source] = max(period.imported_at, imported.get(period.source, period.imported_at))
        known = newest.get(period.source)
        if known is None or _newness(period) > _newness(known):
            newest[period.source] = period
    return sorted(newest.values(), key=lambda period: (imported[period.source], period.source), reverse=True)


def _newness(period: TrafficPeriod) -> tuple[date, int]:
    days = (period.ends - period.starts).days if period.starts and period.ends else -1
    return last_day(period), days


@dataclass(frozen=True)
class TrafficRow:
    """A page's numbers in a period; `is_read`: the page's own clicks, impressions and position are these."""

    traffic: PageTraffic
    is_read: bool

    @property
    def ctr_percent(self) -> float | None:
        ctr = self.traffic.ctr
        return None if ctr is None else 100 * ctr


def page_traffic(page: Page) -> list[TrafficRow]:
    """What a page got, period by period, the newest first."""
    periods = TrafficPeriod.objects.filter(project=page.project_id)
    rows = list(PageTraffic.objects.filter(page=page, period__in=periods).select_related("period"))
    rows.sort(key=lambda row: (*_newness(row.period), row.period.source), reverse=True)
    by_period = {row.period_id: row for row in rows}
    read = next((by_period[one.pk] for one in periods_read(page.project) if one.pk in by_period), None)
    return [TrafficRow(row, row is read) for row in rows]


def set_page_traffic(project: Project, pages: str = "") -> int:
    """Sets the clicks, impressions and position of every page, or of those that the query `pages` gives the ids of, as
    they are read. Returns how many changed."""
    first, second = [*(period.pk for period in periods_read(project)), None, None][:2]
    numbers = {name: f"CASE WHEN a.page_id IS NULL THEN b.{name} ELSE a.{name} END" for name in (*COUNTS, "position")}
    columns = ", ".join(numbers)
    read = ", ".join(f"{value} AS {name}" for name, value in numbers.items())
    capped = ", ".join(MAX_COUNT.format("r", name) if name in COUNTS else f"r.{name}" for name in numbers)
    asked = f"AND own.id IN ({pages})" if pages else ""
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE linker_page p SET ({columns}) = ({capped}), {KEEP_PLANS} FROM ("
            f"SELECT own.id, {read} FROM linker_page own "
            "LEFT JOIN linker_pagetraffic a ON a.page_id = own.id AND a.period_id = %s "
            f"LEFT JOIN linker_pagetraffic b ON b.page_id = own.id AND b.period_id = %s WHERE own.project_id = %s "
            f"{asked}) r WHERE p.id = r.id "
            f"AND ({', '.join(f'p.{name}' for name in numbers)}) IS DISTINCT FROM ({capped})",
            [first, second, project.pk],
        )
        return cursor.rowcount
