"""Reads: which pages a rule would take, and which open suggestions with them, before the rule is saved.

Bounded, whatever the size of the site: pages are looked for among the first SAMPLE, suggestions with the first
MOST_PAGES of them, and no more than MOST are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Q

from linker.engine.patterns import compile_pattern
from linker.models import CandidateEdge, Page
from linker.models.policy import Side
from linker.models.querysets import OPEN, PRESENT, sql
from linker.models.subtrees import subtree
from linker.pages.sensitivity import pages_taken
from linker.projects.patterns import SAMPLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linker.models import Project, SensitiveRule

MOST, MOST_PAGES = 10_000, 10_000
EXAMPLES = 10


@dataclass(frozen=True)
class Touched:
    """Links that a rule would take: how many, at least where `is_more`, and the best of them."""

    number: int
    is_more: bool
    examples: list[CandidateEdge]


def excluded(project: Project, pattern: str, side: str) -> Touched:
    """The open suggestions that the next match would not propose any more. Raises PatternError."""
    compiled = compile_pattern(pattern)
    rows = Page.objects.filter(PRESENT, project=project).order_by("pk").values_list("pk", "url")[:SAMPLE]
    found = (pk for pk, url in rows.iterator(chunk_size=5000) if compiled.search(url))
    return links_of(project, list(islice(found, MOST_PAGES + 1)), OPEN, side)


def newly_sensitive(rule: SensitiveRule) -> Touched:
    """The open suggestions that would need a person, and need none yet; the rule is not saved."""
    if rule.category is not None:
        pages = Page.objects.filter(PRESENT, category__in=subtree(rule.category))
        taken = list(pages.order_by("pk").values_list("pk", flat=True)[: MOST_PAGES + 1])
    else:
        taken = list(islice(pages_taken(rule, SAMPLE), MOST_PAGES + 1))
    return links_of(rule.project, taken, OPEN & Q(sensitive=""))


def links_of(project: Project, pages: Sequence[int], kind: Q, side: str = Side.BOTH) -> Touched:
    """The links of a kind from these pages, to them, or both."""
    sides = [
        name for name, one in (("source_id", Side.DONOR), ("target_id", Side.ACCEPTOR)) if side in (one, Side.BOTH)
    ]
    parts = " UNION ".join(
        f"(SELECT id, score FROM linker_candidateedge WHERE project_id = %(project)s AND {sql(kind)} "
        f"AND {name} = ANY(%(pages)s::bigint[]) LIMIT {MOST + 1})"
        for name in sides
    )
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT id, count(*) OVER () FROM ({parts}) found ORDER BY score DESC, id LIMIT {EXAMPLES}",
            {"project": project.pk, "pages": list(pages[:MOST_PAGES])},
        )
        rows = cursor.fetchall()
    edges = CandidateEdge.objects.select_related("source", "target").defer("source__body", "target__body")
    best = edges.in_bulk([pk for pk, _ in rows])
    number = rows[0][1] if rows else 0
    return Touched(min(number, MOST), number > MOST or len(pages) > MOST_PAGES, [best[pk] for pk, _ in rows])
