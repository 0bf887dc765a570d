"""Reads: how the suggestions of cohorts are spread over the values that tiers are read by.

The counts that are kept (linker.models.edge_bands) know nothing of cohorts, so their edges are counted: of those of one
alone, where the preview is about one. A count is remembered for a while, and as long as no edge is written and no
run begins or ends, so that moving a bound counts nothing again. One that took long is remembered whatever is written
meanwhile: where there are millions of suggestions, people decide all the time, and a minute changes little.
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
from linker.models import Change, EdgeBand, Run
from linker.models.edge_bands import outcome_sql

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linker.models import Project

REMEMBERED, SLOW = 60, 2  # seconds: for how long, and what takes long
_COLUMNS = {"probability": "probability", "quantile": "quantile", "cosine": "similarity"}


class BandCount(NamedTuple):
    """Suggestions of one tier, outcome and band, as EdgeBand has them."""

    by_probability: bool
    tier: int | None
    outcome: str
    band: int
    number: int


Counts = dict[int, list[BandCount]]  # by whose bounds read them: the id of a cohort, or OF_PROJECT


def counted(project: Project, basis: str, cohorts: Sequence[OwnBounds], shown: OwnBounds | None = None) -> Counts:
    """The suggestions that any of these cohorts reads, by cohort.

    `shown`: instead those alone that this one reads where it is among them, by what would read them without it;
    `cohorts` are the others, then.
    """
    if not cohorts and shown is None:
        return {}
    exact, slow = (_key(project, basis, cohorts, shown, state) for state in (_state(project), []))
    found: Counts | None = cache.get(exact) or cache.get(slow)
    if found is None:
        began = time.monotonic()
        found = _count(project, basis, cohorts, shown)
        cache.set(slow if time.monotonic() - began > SLOW else exact, found, REMEMBERED)
    return found


def _state(project: Project) -> list[Any]:
    """What changes whenever the suggestions of cohorts do."""
    newest = [
        rows.aggregate(newest=Max("pk"))["newest"]
        for rows in (EdgeBand.objects.filter(project=project), Change.objects.filter(project=project))
    ]
    return [*newest, Run.objects.filter(project=project).aggregate(started=Max("pk"), ended=Max("finished_at"))]


def _key(project: Project, basis: str, cohorts: Sequence[OwnBounds], shown: OwnBounds | None, state: list[Any]) -> str:
    asked = [astuple(one)[:4] for one in (*cohorts, *([shown] if shown else []))]  # without their bounds
    says = f"{project.pk} {project.tier_basis} {basis} {state} {asked} {shown is not None}"
    return f"cohort-bands-{sha256(says.encode()).hexdigest()}"


def _count(project: Project, basis: str, cohorts: Sequence[OwnBounds], shown: OwnBounds | None) -> Counts:
    column = f"e.{_COLUMNS[basis]}"
    with transaction.atomic(), connection.cursor() as cursor:
        own = stage_cohorts(cursor, "own", project, cohorts)
        joins, asked = own.joins("s", "e.target_id", f"'{basis}'"), f"{own.cohort} <> 0"
        if shown is not None:
            with_it = stage_cohorts(cursor, "shown", project, [*cohorts, shown])
            joins += with_it.joins("s", "e.target_id", f"'{basis}'")
            asked = with_it.reads(shown)
        cursor.execute(
            f"""
            SELECT {own.cohort}, e.probability IS NOT NULL, e.tier_id, {outcome_sql("e")}, anchorline_band({column}),
                count(*)
            FROM linker_candidateedge e JOIN linker_page s ON s.id = e.source_id {joins}
            WHERE e.project_id = %s AND {asked} AND {outcome_sql("e")} IS NOT NULL AND {column} IS NOT NULL
            GROUP BY 1, 2, 3, 4, 5
            """,
            [project.pk],
        )
        found: Counts = defaultdict(list)
        for reader, *count in cursor.fetchall():
            found[reader].append(BandCount(*count))
    return dict(found)
