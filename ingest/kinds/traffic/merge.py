"""Sums of staged numbers into the table of traffic, and into the pages' own numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.kinds.sql import execute, fetch, fetch_number
from ingest.kinds.traffic.stage import TRAFFIC_SUMS
from linker.models import TrafficPeriod
from linker.pages import traffic
from linker.storage.copy import analyze
from linker.storage.references import lock_references

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ingest.cells.periods import Period
    from linker.models import Project


def merge_traffic(
    project: Project,
    source: str,
    period: Period | None,
    imported_at: datetime,
    *,
    replaces: bool,
    loose: Sequence[int] | None,
) -> dict[str, int]:
    """Stores the sums of what was staged as the source's of the period, and sets the pages' own numbers.

    Returns counts of `pages`, `new`, `updated`, `unchanged`, `gone` and `set`: pages whose own numbers changed. With
    `replaces`, pages that the stage lacks lose what they had from the source in the period. `loose` are the pages that
    the transaction has not locked yet; None: any of them.
    """
    execute("ANALYZE stage_sum")
    staged = fetch_number("SELECT count(*) FROM stage_sum")
    found, _ = TrafficPeriod.objects.update_or_create(
        project=project,
        source=source,
        starts=period.starts if period else None,
        ends=period.ends if period else None,
        defaults={"imported_at": imported_at},
    )
    gone = 0
    if replaces:
        gone = execute(
            "DELETE FROM linker_pagetraffic t WHERE t.period_id = %s "
            "AND NOT EXISTS (SELECT FROM stage_sum s WHERE s.page = t.page_id)",
            [found.pk],
        )
    if loose is None:
        loose = [page for (page,) in fetch("SELECT page FROM stage_sum")]
    with lock_references({"linker_trafficperiod": [found.pk], "linker_page": loose}):
        names = ", ".join(TRAFFIC_SUMS)
        old, new = (", ".join(f"{table}.{name}" for name in TRAFFIC_SUMS) for table in ("t", "excluded"))
        changes = ", ".join(f"{name} = excluded.{name}" for name in TRAFFIC_SUMS)
        [(fresh, updated)] = fetch(
            f"WITH merged AS (INSERT INTO linker_pagetraffic AS t (period_id, page_id, {names}) "
            f"SELECT %s, page, {names} FROM stage_sum ORDER BY page ON CONFLICT (period_id, page_id) "
            f"DO UPDATE SET {changes} WHERE ({old}) IS DISTINCT FROM ({new}) RETURNING xmax = 0 AS fresh) "
            "SELECT count(*) FILTER (WHERE fresh), count(*) FILTER (WHERE NOT fresh) FROM merged",
            [found.pk],
        )
    analyze("linker_pagetraffic")
    return {
        "pages": staged,
        "new": fresh,
        "updated": updated,
        "unchanged": staged - fresh - updated,
        "gone": gone,
        "set": traffic.set_page_traffic(project),
    }
