"""What is to be said where a donor or an acceptor has no room for one more link: its caps are met, see
linker.matching.donor_caps and acceptor_caps.

As a warning about words, it forbids nothing: an editor may overrule it, and the release lets such a link out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

from linker.matching.acceptor_caps import AcceptorCaps
from linker.matching.donor_caps import DonorCaps
from linker.models.querysets import APPROVED, holds
from review.anchor_warnings import AnchorWarning
from review.replacements import replacements_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from linker.engine.sayings import Saying
    from linker.models import CandidateEdge, Project

DONOR, ACCEPTOR = "donor_full", "acceptor_full"


@dataclass(frozen=True)
class Caps:
    """Those of the pages of some edges, apart from these edges themselves."""

    donors: DonorCaps
    acceptors: AcceptorCaps
    edges: Sequence[CandidateEdge]

    @cached_property
    def replacing(self) -> frozenset[int]:
        """Those of the edges that take the room of a released link; asked for the first time that a page is full."""
        return frozenset(replacements_of(self.edges))

    def add(self, edge: CandidateEdge) -> None:
        """One more link was approved."""
        self.donors.add(edge)
        self.acceptors.add(edge)


def caps_of(project: Project, edges: Sequence[CandidateEdge]) -> Caps:
    without = [edge.pk for edge in edges if not edge.is_known]
    donors, acceptors = DonorCaps(project, edges, without=without), AcceptorCaps(project, edges, without=without)
    return Caps(donors, acceptors, edges)


def warnings_about(edge: CandidateEdge, caps: Caps, placement: Callable[[], str]) -> list[AnchorWarning]:
    """One for each page that is full. `placement`: where the link would go; asked where it matters. A link that is
    approved already takes no more room than it has, if it stays in its place, and so does one that replaces another."""
    return [*_about_donor(edge, caps, placement), *_about_acceptor(edge, caps.acceptors)]


def beforehand(project: Project, edges: Iterable[CandidateEdge]) -> dict[int, list[AnchorWarning]]:
    """What an accept of each open edge, by itself and where it would stand, would be asked about, by edge."""
    edges = list(edges)
    caps = caps_of(project, edges)
    found = {edge.pk: warnings_about(edge, caps, lambda edge=edge: edge.placement) for edge in edges}  # type: ignore[misc]
    return {pk: warnings for pk, warnings in found.items() if warnings}


def _about_donor(edge: CandidateEdge, caps: Caps, placement: Callable[[], str]) -> list[AnchorWarning]:
    if not caps.donors.is_any_full(edge):
        return []
    wanted = placement()
    has_room = holds(APPROVED, edge) or edge.pk in caps.replacing
    full = caps.donors.full(edge, wanted)
    return [] if full is None or (has_room and wanted == edge.placement) else [_warning(DONOR, full)]


def _about_acceptor(edge: CandidateEdge, caps: AcceptorCaps) -> list[AnchorWarning]:
    full = caps.full(edge)
    return [] if full is None or holds(APPROVED, edge) else [_warning(ACCEPTOR, full)]


def _warning(code: str, full: tuple[Saying, dict[str, int | str]]) -> AnchorWarning:
    saying, values = full
    return AnchorWarning(code, gettext_lazy(saying.text), values)
