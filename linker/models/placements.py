"""Where a link stands: one of four places, which are called the same everywhere.

A suggestion stands where an accept puts it if the editor says nothing else. Its placement says whether that is in the
text; where the text has no words for it, the project says which of the other three it is (Project.gap_links).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q, TextChoices
from django.utils.translation import gettext_lazy as _

from linker.models.policy import Placement
from linker.models.project import GapLinks
from linker.models.querysets import DECIDED, UNDECIDED, holds, sql

if TYPE_CHECKING:
    from linker.models.edge import CandidateEdge
    from linker.models.project import Project


class Stands(TextChoices):
    TEXT = "inline", _("In the text")
    LINE = "line", _("A line of its own")
    LIST = "list", _("In the list at the end")
    SENTENCE = "sentence", _("Content gap")


# Of an edge, what EdgeCount.has_line says of a count of edges.
_HAS_LINE = UNDECIDED & Q(paragraph_start__isnull=False) | DECIDED & Q(own_line=True)


def standing(project: Project, place: str, *, counted: bool = False) -> Q:
    """The condition for the edges that stand there, or for the counts of edges. Each edge meets one of the four.

    A line needs a paragraph that it can follow. What is decided stays where it was put.
    """
    if place == Stands.TEXT:
        return Q(placement=Placement.INLINE)
    beside = Q(placement=Placement.RELATED)
    is_gap = Q(content_gap=True) & (Q() if project.gap_links == GapLinks.GAP else DECIDED)
    if place == Stands.SENTENCE:
        return beside & is_gap
    is_line = Q(has_line=True) if counted else _HAS_LINE
    if project.gap_links != GapLinks.LINE:
        is_line &= DECIDED
    return beside & ~is_gap & (is_line if place == Stands.LINE else ~is_line)


def stands(project: Project, edge: CandidateEdge) -> Stands:
    """The same of one edge."""
    return next(place for place in Stands if holds(standing(project, place), edge))


def stands_sql(project: Project, edge: str) -> str:
    """The same as SQL, of the edge with that alias."""
    cases = " ".join(f"WHEN {sql(standing(project, place), edge)} THEN '{place.value}'" for place in Stands)
    return f"CASE {cases} END"
