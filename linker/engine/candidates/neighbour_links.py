"""What the nearest pages link to, by meaning and by words."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.candidates.base import ByScore
from linker.engine.messages import gettext_noop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy import sparse

    from linker.engine.candidates.base import SourceSlice


class NeighbourLinks(ByScore):
    name: ClassVar = "neighbour_links"
    label: ClassVar = gettext_noop("Neighbours link to it")
    most: ClassVar = 30

    def scores(self, sources: SourceSlice) -> Sequence[sparse.csr_matrix]:
        return [sources.links.neighbour, sources.links.word_neighbour]
