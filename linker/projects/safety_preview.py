"""Reads: the open and released links that a pair of safety classes would touch, before it is saved.

Bounded, whatever the size of the site: pages are looked for among the first SAMPLE, links of the first MOST_PAGES of a
class, and no more than MOST are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Q

from linker.models import CandidateEdge, Page
from linker.models.querysets import ACCEPTED, OPEN, sql
from linker.pages.safety import ALL_PAGES, SafetyClasses, classes_of, directions
from linker.projects.patterns import SAMPLE

if TYPE_CHECKING:
    from linker.models import BarredPair, Project, SafetyClass

MOST, MOST_PAGES = 5000, 10_000
EXAMPLES = 10
# Approved links are those that a release holds back, or that stand in a file that has left.
_STATES = {"open": sql(OPEN, "l"), "accepted": sql(ACCEPTED, "l"), "exported": sql(Q(status="exported"), "l")}


@dataclass(frozen=True)
class PairTouched:
    """How many links of each state a pair touches, `is_more` where there are at least as many; the first of them.
    `looked_at`: so many pages were looked at where the project has more, else None."""

    open: int
    accepted: int
    exported: int
    is_more: bool
    looked_at: int | None
    examples: list[CandidateEdge]


def pages_of(project: Project, classes: list[SafetyClass]) -> dict[int, list[int]]:
    """By class, its pages among the project's first SAMPLE, at most MOST_PAGES and one more."""
    found: dict[int, list[int]] = {one.pk: [] for one in classes}
    for one, page in SafetyClasses(project, classes).members(f"{ALL_PAGES} ORDER BY id LIMIT {SAMPLE}"):
        if len(found[one]) <= MOST_PAGES:
            found[one].append(page)
    return found


def touched_by(pair: BarredPair) -> PairTouched:
    """What the pair touches, which is not saved."""
    members = pages_of(pair.project, classes_of([pair]))
    counts, examples, is_more = dict.fromkeys(_STATES, 0), [], any(len(one) > MOST_PAGES for one in members.values())
    for name, state in _STATES.items():
        parts = " UNION ".join(
            "(SELECT l.id, l.score FROM linker_candidateedge l WHERE l.project_id = %(project)s "
            f"AND l.source_id = ANY(%(c{source})s::bigint[]) AND l.target_id = ANY(%(c{target})s::bigint[]) "
            f"AND {state} LIMIT {MOST + 1})"
            for source, target in directions(pair)
        )
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT id, count(*) OVER () FROM ({parts}) found ORDER BY score DESC, id LIMIT {EXAMPLES}",
                {"project": pair.project_id} | {f"c{one}": pages[:MOST_PAGES] for one, pages in members.items()},
            )
            rows = cursor.fetchall()
        counts[name] = min(rows[0][1], MOST) if rows else 0
        is_more |= bool(rows) and rows[0][1] > MOST
        examples += [pk for pk, _ in rows]
    edges = CandidateEdge.objects.select_related("source", "target").defer("source__body", "target__body")
    best = edges.in_bulk(examples[:EXAMPLES])
    looked_at = SAMPLE if Page.objects.filter(project=pair.project)[SAMPLE : SAMPLE + 1].exists() else None
    return PairTouched(
        **counts, is_more=is_more, looked_at=looked_at, examples=[best[pk] for pk in examples[:EXAMPLES]]
    )
