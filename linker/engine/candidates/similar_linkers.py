"""What pages with the same links as the donor link to."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.candidates.base import ByScore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy import sparse

    from linker.engine.candidates.base import DonorSlice


class SimilarLinkers(ByScore):
    name: ClassVar = "similar_linkers"
    label: ClassVar = "Pages with the same links link to it"
    most: ClassVar = 30

    def scores(self, donors: DonorSlice) -> Sequence[sparse.csr_matrix]:
        return [donors.links.similar]
