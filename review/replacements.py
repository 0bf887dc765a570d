"""Which suggestions would replace a released link, as cards and decisions ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models.expressions import RawSQL
from django.db.models.fields import BooleanField

from linker.models import Replacement
from linker.models.replacement import stands_sql

if TYPE_CHECKING:
    from collections.abc import Iterable

    from linker.models import CandidateEdge
    from linker.pages.gates import Gates

_STANDS = RawSQL(stands_sql("linker_replacement"), [], output_field=BooleanField())  # noqa: S611 - a constant


def replacements_of(edges: Iterable[CandidateEdge]) -> dict[int, Replacement]:
    """What each of the edges would replace, by the edge; without those that replace nothing, or nothing any more. With
    the released links and their acceptors. One query."""
    found = Replacement.objects.filter(_STANDS, edge__in=[edge.pk for edge in edges if not edge.is_known])
    joined = found.select_related("replaced__target", "replaced__published", "run")
    return {one.edge_id: one for one in joined.defer("replaced__target__body")}


def need_two(edges: Iterable[CandidateEdge], gates: Gates) -> set[int]:
    """The edges that would replace a link to a page with a gate: to take that off needs a second person."""
    if not gates:
        return set()
    return {edge for edge, one in replacements_of(edges).items() if gates.has(one.replaced.target)}
