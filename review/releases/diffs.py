"""What differs between two releases: links that are out after the one and not, or otherwise, after the other.

Only links that a release in between names can differ, so only these are looked at, however many are out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from django.db import connection

from linker.models import CandidateEdge
from review.models import Operation, Release, ReleaseLink
from review.releases.roll_backs import STATE_AT

if TYPE_CHECKING:
    from linker.models import Project

PAGE_SIZE = 50
MOST = 5_000  # links named in between that are looked at while somebody waits

# How far the links that the releases in between name are looked at: to where the first of these has more than so many.
_END = """
SELECT min(n.last) FROM review_release r CROSS JOIN LATERAL (
    SELECT max(edge_id) AS last FROM (
        SELECT l.edge_id FROM review_releaselink l WHERE l.release_id = r.id AND l.edge_id > %(after)s
        ORDER BY l.edge_id LIMIT %(each)s
    ) first HAVING count(*) = %(each)s
) n WHERE r.project_id = %(project)s AND r.id > %(older)s AND r.id <= %(newer)s
"""
# Changed by each release in between that names it, and with the words that it has: its address is another, or the site
# showed something else.
_SENT_AGAIN = """(
    SELECT bool_and(l.operation = 'change' AND (l.anchor, l.rel) = (b.anchor, b.rel)) FROM review_releaselink l
    WHERE l.edge_id = t.edge_id AND l.release_id > %(older)s AND l.release_id <= %(newer)s
)"""
_DIFFERENCE = f"""
SELECT t.edge_id,
    CASE WHEN a.rel IS NULL THEN 'add' WHEN b.rel IS NULL THEN 'remove' ELSE 'change' END AS operation,
    coalesce(a.anchor, '') AS anchor_before, coalesce(a.rel, '') AS rel_before,
    coalesce(b.anchor, '') AS anchor_after, coalesce(b.rel, '') AS rel_after
FROM (
    SELECT DISTINCT n.edge_id FROM review_release r CROSS JOIN LATERAL (
        SELECT l.edge_id FROM review_releaselink l
        WHERE l.release_id = r.id AND l.edge_id > %(after)s AND l.edge_id <= %(end)s ORDER BY l.edge_id LIMIT %(each)s
    ) n WHERE r.project_id = %(project)s AND r.id > %(older)s AND r.id <= %(newer)s
) t
{STATE_AT.format(edge="t.edge_id", release="%(older)s", name="a")}
{STATE_AT.format(edge="t.edge_id", release="%(newer)s", name="b")}
WHERE (a.anchor, a.rel) IS DISTINCT FROM (b.anchor, b.rel) OR b.rel IS NOT NULL AND {_SENT_AGAIN}
ORDER BY t.edge_id LIMIT %(limit)s
"""
_LAST = 2**63 - 1


class Addresses(NamedTuple):
    """The addresses that a release named a link with."""

    donor: str
    acceptor: str


@dataclass(frozen=True)
class Difference:
    """A link and how it is out before and after; empty where it is not. One that was sent again as it was is a change:
    its address is another since, or the site showed something else. `before` and `after`: its addresses, where it is
    out with both."""

    edge: CandidateEdge
    operation: Operation
    anchor_before: str
    rel_before: str
    anchor_after: str
    rel_after: str
    before: Addresses | None = None
    after: Addresses | None = None

    @property
    def is_readdressed(self) -> bool:
        return self.before is not None and self.after is not None and self.before != self.after

    @property
    def is_sent_again(self) -> bool:
        return (self.anchor_before, self.rel_before) == (self.anchor_after, self.rel_after)


@dataclass(frozen=True)
class Counts:
    """Links by what came about; `is_all` is false where there are more than were counted."""

    added: int
    changed: int
    removed: int
    is_all: bool


def page(project: Project, older: int, newer: int, after: int) -> tuple[list[Difference], int]:
    """One screen of differences by edge, after the edge `after`, and the last edge looked at where there may be more,
    else 0. The releases are given by number, 0 before the first. A screen may be empty with more to come: no more than
    MOST links are looked at."""
    found, end = _fetch(_DIFFERENCE, project, older, newer, after=after, limit=PAGE_SIZE + 1)
    screen = found[:PAGE_SIZE]
    edges = (
        CandidateEdge.objects.select_related("source", "target")
        .defer("source__body", "target__body")
        .in_bulk([row[0] for row in screen])
    )
    changed = [edge for edge, operation, *_ in screen if operation == Operation.CHANGE]
    was, now = (_addresses(project, changed, number) for number in (older, newer))
    shown = [
        replace(Difference(edges[edge], Operation(operation), *words), before=was.get(edge), after=now.get(edge))
        for edge, operation, *words in screen
    ]
    return shown, screen[-1][0] if len(found) > PAGE_SIZE else end


# A link that followed its page to another is read back by what it was moved from, and a page that moved by the address
# that it left: the first of either since the release that named the link last.
_NAMED_WITH = """
SELECT e.id, coalesce(sa.url, s.url), coalesce(ta.url, t.url) FROM linker_candidateedge e
JOIN LATERAL (
    SELECT r.created_at AS at FROM review_releaselink l JOIN review_release r ON r.id = l.release_id
    WHERE l.edge_id = e.id AND r.project_id = %(project)s AND r.number <= %(number)s ORDER BY l.id DESC LIMIT 1
) sent ON true
LEFT JOIN LATERAL (
    SELECT m.source_before, m.target_before FROM linker_edgemove m
    WHERE m.edge_id = e.id AND m.at > sent.at ORDER BY m.id LIMIT 1
) moved ON true
JOIN linker_page s ON s.id = coalesce(moved.source_before, e.source_id)
JOIN linker_page t ON t.id = coalesce(moved.target_before, e.target_id)
LEFT JOIN LATERAL (
    SELECT v.old_url AS url FROM linker_pageevent v
    WHERE v.page_id = s.id AND v.kind = 'moved' AND v.at > sent.at ORDER BY v.at LIMIT 1
) sa ON true
LEFT JOIN LATERAL (
    SELECT v.old_url AS url FROM linker_pageevent v
    WHERE v.page_id = t.id AND v.kind = 'moved' AND v.at > sent.at ORDER BY v.at LIMIT 1
) ta ON true
WHERE e.id = ANY(%(edges)s)
"""


def _addresses(project: Project, edges: list[int], number: int) -> dict[int, Addresses]:
    """By edge, the addresses with which the last release up to this number named it."""
    if not edges:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_NAMED_WITH, {"project": project.pk, "number": number, "edges": edges})
        return {edge: Addresses(*urls) for edge, *urls in cursor.fetchall()}


def counts(project: Project, older: int, newer: int) -> Counts:
    statement = f"SELECT operation, count(*) FROM ({_DIFFERENCE}) difference GROUP BY 1"
    found, end = _fetch(statement, project, older, newer, after=0, limit=MOST)
    by_operation = dict(found)
    added, changed, removed = (by_operation.get(operation.value, 0) for operation in Operation)
    return Counts(added, changed, removed, is_all=not end)


def named_after(release: Release, most: int) -> int:
    """How many rows of releases came after this one, `most` at most."""
    later = ReleaseLink.objects.filter(release__project=release.project_id, release__gt=release)
    return later.order_by()[:most].count()


def _fetch(
    statement: str, project: Project, older: int, newer: int, *, after: int, limit: int
) -> tuple[list[tuple], int]:
    """What a statement finds among the links after the edge `after`, and the last that was looked at where there are
    more, else 0."""
    between = Release.objects.filter(project=project, number__gt=older, number__lte=newer).count()
    ids = dict(Release.objects.filter(project=project, number__in=[older, newer]).values_list("number", "pk"))
    values = {"project": project.pk, "older": ids.get(older, 0), "newer": ids[newer], "after": after, "limit": limit}
    values["each"] = max(MOST // max(between, 1), PAGE_SIZE)
    with connection.cursor() as cursor:
        cursor.execute(_END, values)
        [end] = cursor.fetchone()
        cursor.execute(statement, {**values, "end": _LAST if end is None else end})
        return cursor.fetchall(), end or 0
