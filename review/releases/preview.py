"""What a release would hold now."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import QuerySet

from linker.models import CandidateEdge, Project
from linker.models.placements import Stands, stands_sql
from review.models import Operation
from review.releases import checks
from review.releases import held_back as held
from review.releases.rows import ORDER, leaving_edges

SAMPLE = 5
AT_ONCE = 100  # links that a page looks at, each by itself, before it is shown; of more, once it is there


@dataclass(frozen=True)
class PreviewGroup:
    """Links that would leave alike. `tier` is "" for links whose tier was deleted."""

    unreviewed: bool
    tier: str
    rel: str
    placement: Stands
    links: int


@dataclass(frozen=True)
class Preview:
    """What would leave now. Groups of additions: reviewed before unreviewed, then by tier from the top, rel and
    placement. `held`: the most final reason first. `sample`: the first rows of the file, each
    with what is `to_do` and how it is `out` now, None where it is not."""

    groups: tuple[PreviewGroup, ...]
    changed: int
    removed: int
    held: list[held.Group]
    sample: list[CandidateEdge]

    @property
    def added(self) -> int:
        return sum(group.links for group in self.groups)

    @property
    def later(self) -> list[tuple[Operation, int]]:
        """What is done to links that are out, with how many it is."""
        done = ((Operation.CHANGE, self.changed), (Operation.REMOVE, self.removed))
        return [(operation, links) for operation, links in done if links]

    @property
    def links(self) -> int:
        return self.added + self.changed + self.removed

    @property
    def unreviewed(self) -> int:
        return sum(group.links for group in self.groups if group.unreviewed)

    @property
    def held_links(self) -> int:
        return sum(group.links for group in self.held)

    @property
    def held_undecided(self) -> int:
        return sum(group.undecided for group in self.held)

    @property
    def held_decided(self) -> int:
        return self.held_links - self.held_undecided


def count_approved(project: Project, edges: QuerySet[CandidateEdge], most: int) -> int:
    """How many of `edges` were approved or asked to change, before any is looked at; `most` at most."""
    ready = edges.filter(checks.ready_in(project)).order_by()
    pending = edges.filter(pending__isnull=False).order_by()
    rejected = edges.filter(checks.REJECTED_AND_OUT).order_by()
    return min(ready[:most].count() + pending[:most].count() + rejected[:most].count(), most)


@transaction.atomic
def preview(project: Project, edges: QuerySet[CandidateEdge]) -> Preview:
    """What a full release of `edges` would hold now, with its first SAMPLE rows. Locks and changes nothing."""
    checks.gather(project, edges, Operation, lock=False)
    checks.hold_back(project, read_sensitive=False)
    counts = checks.counts()
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT NOT l.decided, coalesce(t.name, ''), e.rel, {stands_sql(project, 'e')}, count(*) FROM leaving l "
            "JOIN linker_candidateedge e ON e.id = l.edge LEFT JOIN linker_tier t ON t.id = e.tier_id "
            "WHERE l.operation = 'add' AND l.reason = '' GROUP BY 1, 2, 3, 4 "
            "ORDER BY 1, max(t.lower_bound) DESC NULLS LAST, 2, 3, 4"
        )
        groups = tuple(
            PreviewGroup(unreviewed, tier, rel, Stands(placement), links)
            for unreviewed, tier, rel, placement, links in cursor.fetchall()
        )
    joined = leaving_edges().select_related("source", "target", "tier", "published")
    joined = joined.defer("source__body", "target__body")
    sample = list(joined.order_by(*ORDER)[:SAMPLE])
    with connection.cursor() as cursor:
        cursor.execute("SELECT edge, operation FROM leaving WHERE edge = ANY(%s)", [[edge.pk for edge in sample]])
        to_do = dict(cursor.fetchall())
    for edge in sample:
        edge.to_do = Operation(to_do[edge.pk])  # type: ignore[attr-defined]
        published = getattr(edge, "published", None)
        edge.out = published if published is not None and published.is_out else None  # type: ignore[attr-defined]
    return Preview(
        groups=groups,
        changed=counts.get((Operation.CHANGE, ""), 0),
        removed=counts.get((Operation.REMOVE, ""), 0),
        held=held.groups(held.NEXT),
        sample=sample,
    )
