"""What is to be said where a donor has no room for one more link: its caps are met, see linker.matching.donor_caps.

As a warning about words, it forbids nothing: an editor may overrule it, and the release lets such a link out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

from linker.matching.donor_caps import DonorCaps
from linker.models.querysets import APPROVED, holds
from review.anchor_warnings import AnchorWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from linker.models import CandidateEdge, Project

CODE = "donor_full"


def donor_caps(project: Project, edges: Sequence[CandidateEdge]) -> DonorCaps:
    """The caps of the edges' donors, apart from these edges themselves."""
    return DonorCaps(project, edges, without=[edge.pk for edge in edges if not edge.is_known])


def warning_about(edge: CandidateEdge, caps: DonorCaps, placement: Callable[[], str]) -> list[AnchorWarning]:
    """The warning, if there is one. `placement`: where the link would go; asked where it matters. A link that is
    approved already, and stays where it is, takes no more room than it has."""
    if not caps.is_any_full(edge):
        return []
    wanted = placement()
    full = caps.full(edge, wanted)
    if full is None or (holds(APPROVED, edge) and wanted == edge.placement):
        return []
    saying, values = full
    return [AnchorWarning(CODE, gettext_lazy(saying.text), values)]


def beforehand(project: Project, edges: Iterable[CandidateEdge]) -> dict[int, list[AnchorWarning]]:
    """What an accept of each open edge, by itself and where it would stand, would be asked about, by edge."""
    edges = list(edges)
    caps = donor_caps(project, edges)
    found = {edge.pk: warning_about(edge, caps, lambda edge=edge: edge.placement) for edge in edges}  # type: ignore[misc]
    return {pk: warnings for pk, warnings in found.items() if warnings}
