"""Reads: how suggestions are spread over the values that tiers are read by, where the kept counts do not say so.

Those (linker.models.edge_bands) know nothing of cohorts, so their edges are counted: of those of one alone, where the
preview is about one. Nor do they know which run stated a probability: of what was decided, that of another run is read
on the scale of the one that stands (linker.matching.scales). A count is remembered for a while, and as long as no edge
is written and no run begins or ends, so that moving a bound counts nothing again. One that took long is remembered
whatever is written meanwhile: where there are millions of suggestions, people decide all the time, and a minute changes
little.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import astuple
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from django.core.cache import cache
from django.db import connection, transaction
from django.db.models import Max

from linker.matching.cohorts import OwnBounds, stage_cohorts
from linker.matching.scales import Rescaling, moved_sql
from linker.models import Basis, Change, EdgeBand, Outcome, Run
from linker.models.edge_bands import outcome_sql
from linker.models.querysets import APPROVED, sql

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from linker.models import Project

REMEMBERED, SLOW = 60, 2  # seconds: for how long, and what takes long
_COLUMNS = {"probability": "probability", "quantile": "quantile", "cosine": "similarity"}


_HAS_WORDS = "e.span_start IS NOT NULL"
_IS_DECIDED = f"{outcome_sql('e')} <> '{Outcome.OPEN}'"


class BandCount(NamedTuple):
    """Suggestions of one tier, outcome and band, as EdgeBand has them; without a band they are on another scale."""

    by_probability: bool
    tier: int | None
    outcome: str
    band: int | None
    number: int


Lines = dict[int, tuple[float, float] | None]  # of linker.matching.scales.Rescaling
Counts = dict[int, list[BandCount]]  # by whose bounds read them: the id of a cohort, or OF_PROJECT


def counted(
    project: Project,
    basis: str,
    cohorts: Sequence[OwnBounds],
    shown: OwnBounds | None = None,
    earlier: Rescaling | None = None,
) -> Counts:
    """The suggestions that any of these cohorts reads, by cohort.

    `shown`: instead those alone that this one reads where it is among them, by what would read them without it;
    `cohorts` are the others, then. `earlier`: how decided ones of earlier runs are read.
    """
    if not cohorts and shown is None:
        return {}
    lines = earlier.lines if earlier is not None else {}
    asked = [astuple(one)[:4] for one in (*cohorts, *([shown] if shown else []))]  # without their bounds
    says = f"{project.tier_basis} {basis} {asked} {shown is not None} {lines}"
    found: Counts = remembered(project, says, lambda: _count(project, basis, cohorts, shown, lines))
    return found


def decided_before(project: Project, earlier: Rescaling) -> list[BandCount]:
    """What to add to the kept counts by probability, so that decided suggestions of earlier runs are read on the scale
    of the one that stands: they leave the band of what was stated, and enter another, or none."""
    if not earlier.lines:
        return []
    found: list[BandCount] = remembered(project, f"{earlier.lines}", lambda: _count_before(project, earlier.lines))
    return found


def remembered(project: Project, says: str, count: Callable[[], Any]) -> Any:
    """What `count` finds, or found a while ago of the same question."""
    exact, slow = (_key(project, says, state) for state in (_state(project), []))
    for found in cache.get_many([exact, slow]).values():
        return found
    began = time.monotonic()
    found = count()
    cache.set(slow if time.monotonic() - began > SLOW else exact, found, REMEMBERED)
    return found


def _state(project: Project) -> list[Any]:
    """What changes whenever the suggestions of cohorts do."""
    newest = [
        rows.aggregate(newest=Max("pk"))["newest"]
        for rows in (EdgeBand.objects.filter(project=project), Change.objects.filter(project=project))
    ]
    return [*newest, Run.objects.filter(project=project).aggregate(started=Max("pk"), ended=Max("finished_at"))]


def _key(project: Project, says: str, state: list[Any]) -> str:
    return f"edge-bands-{sha256(f'{project.pk} {says} {state}'.encode()).hexdigest()}"


def _lines(lines: Lines) -> tuple[str, dict[str, Any]]:
    """SQL: a table `earlier` of the runs with their lines, and its parameters."""
    given = [line or (None, None) for line in lines.values()]
    values = {"runs": list(lines), "factors": [one for one, _ in given], "summands": [one for _, one in given]}
    table = "unnest(%(runs)s::bigint[], %(factors)s::float8[], %(summands)s::float8[]) earlier (run, factor, summand)"
    return table, values


_MOVED = moved_sql("e.probability", "earlier.factor", "earlier.summand")


def _count_before(project: Project, lines: Lines) -> list[BandCount]:
    table, values = _lines(lines)
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT e.tier_id, {outcome_sql("e")}, anchorline_band(e.probability), anchorline_band({_MOVED}), count(*)
            FROM linker_candidateedge e JOIN {table} ON earlier.run = e.run_id
            WHERE e.project_id = %(project)s AND ({sql(APPROVED, "e")} OR e.status = 'rejected') AND {_IS_DECIDED}
                AND e.probability IS NOT NULL
            GROUP BY 1, 2, 3, 4
            """,
            values | {"project": project.pk},
        )
        rows = cursor.fetchall()
    left = [BandCount(True, tier, outcome, stated, -number) for tier, outcome, stated, _, number in rows]
    return left + [BandCount(True, tier, outcome, moved, number) for tier, outcome, _, moved, number in rows]


def _count(project: Project, basis: str, cohorts: Sequence[OwnBounds], shown: OwnBounds | None, lines: Lines) -> Counts:
    column = f"e.{_COLUMNS[basis]}"
    table, values = _lines(lines if basis == Basis.PROBABILITY else {})
    read = f"CASE WHEN earlier.run IS NULL THEN {column} ELSE {_MOVED} END"
    with transaction.atomic(), connection.cursor() as cursor:
        own = stage_cohorts(cursor, "own", project, cohorts)
        joins, asked = own.joins("s", "e.target_id", f"'{basis}'", _HAS_WORDS), f"{own.cohort} <> 0"
        if shown is not None:
            with_it = stage_cohorts(cursor, "shown", project, [*cohorts, shown])
            joins += with_it.joins("s", "e.target_id", f"'{basis}'", _HAS_WORDS)
            asked = with_it.reads(shown)
        cursor.execute(
            f"""
            SELECT {own.cohort}, e.probability IS NOT NULL, e.tier_id, {outcome_sql("e")}, anchorline_band({read}),
                count(*)
            FROM linker_candidateedge e JOIN linker_page s ON s.id = e.source_id {joins}
            LEFT JOIN {table} ON earlier.run = e.run_id AND {_IS_DECIDED}
            WHERE e.project_id = %(project)s AND {asked} AND {outcome_sql("e")} IS NOT NULL AND {column} IS NOT NULL
            GROUP BY 1, 2, 3, 4, 5
            """,
            values | {"project": project.pk},
        )
        found: Counts = defaultdict(list)
        for reader, *count in cursor.fetchall():
            found[reader].append(BandCount(*count))
    return dict(found)
