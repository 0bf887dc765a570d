"""What the nearest pages link to, by meaning and by words."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.candidates.base import ByScore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy import sparse

    from linker.engine.candidates.base import DonorSlice


class NeighbourLinks(ByScore):
    name: ClassVar = "neighbour_links"
    label: ClassVar = "Neighbours link to it"
    most: ClassVar = 30

    def scores(self, donors: DonorSlice) -> Sequence[sparse.csr_matrix]:
        return [donors.links.neighbour, donors.links.word_neighbour]
