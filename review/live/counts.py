"""How many released links are in which state, as triggers keep it: read, added up, and counted anew."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Sum

from review.models import LiveState, PublishedCount

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linker.models import Project

# One statement sees one state of the links and of their counts, which every transaction writes together.
_DIFFERENCES = """
INSERT INTO review_publishedcount (project_id, state, is_closed, number)
SELECT %(project)s, state, is_closed, sum(number) FROM (
    SELECT state, closed_at IS NOT NULL, count(*) FROM review_publishedlink WHERE project_id = %(project)s GROUP BY 1, 2
    UNION ALL
    SELECT state, is_closed, -number FROM review_publishedcount WHERE project_id = %(project)s
) counted (state, is_closed, number) GROUP BY 2, 3 HAVING sum(number) <> 0
"""
# Of two at once each takes the rows that the other has not locked, so that neither waits.
_FOLD = """
WITH taken AS (
    DELETE FROM review_publishedcount WHERE id IN (
        SELECT id FROM review_publishedcount WHERE project_id = %(project)s FOR UPDATE SKIP LOCKED
    ) RETURNING state, is_closed, number
)
INSERT INTO review_publishedcount (project_id, state, is_closed, number)
SELECT %(project)s, state, is_closed, sum(number) FROM taken GROUP BY 2, 3 HAVING sum(number) <> 0
"""


ON_THE_SITE = (LiveState.LIVE, LiveState.DIFFERENT, LiveState.MOVED, LiveState.NOT_INDEXABLE)
TAKEN_OFF = (LiveState.REMOVED, LiveState.STILL_THERE)  # a release has removed it


@dataclass(frozen=True)
class ReleasedLinks:
    """Released links by state, in all and those that nobody has closed: what *On the site* and the report count."""

    states: Mapping[LiveState, int]
    still_open: Mapping[LiveState, int]

    @property
    def released(self) -> int:
        """Those that any release has added, whatever became of them."""
        return sum(self.states.values())

    @property
    def taken_off(self) -> int:
        return sum(self.states.get(state, 0) for state in TAKEN_OFF)

    @property
    def live(self) -> int:
        return sum(self.states.get(state, 0) for state in ON_THE_SITE)

    def to_see_to(self, state: LiveState) -> int:
        """Those in a state that nobody has closed."""
        return self.still_open.get(state, 0)


def released_links(project: Project) -> ReleasedLinks:
    return ReleasedLinks(*counts(project))


def counts(project: Project) -> tuple[dict[LiveState, int], dict[LiveState, int]]:
    """Released links by state: all of them, and those that nobody has closed."""
    whole, still_open = Counter[LiveState](), Counter[LiveState]()
    kept = PublishedCount.objects.filter(project=project).order_by().values_list("state", "is_closed")
    for state, is_closed, number in kept.annotate(links=Sum("number")):
        whole[LiveState(state)] += number
        still_open[LiveState(state)] += 0 if is_closed else number
    return whole, still_open


def fold(project: Project) -> None:
    """Adds the rows up to one a kind."""
    with connection.cursor() as cursor:
        cursor.execute(_FOLD, {"project": project.pk})


def recount(project: Project) -> None:
    """Counts the project's released links, mends what is kept of them, and folds it."""
    with connection.cursor() as cursor:
        cursor.execute(_DIFFERENCES, {"project": project.pk})
    fold(project)
