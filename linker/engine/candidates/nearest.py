"""The nearest pages by meaning on the whole site."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.candidates.base import ByScore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy import sparse

    from linker.engine.candidates.base import DonorSlice


class Nearest(ByScore):
    name: ClassVar = "nearest"
    label: ClassVar = "Nearest by meaning"
    most: ClassVar = 30

    def scores(self, donors: DonorSlice) -> Sequence[sparse.csr_matrix]:
        return [donors.index.near[donors.pages]]

    def scores_within(self, donors: DonorSlice) -> Sequence[sparse.csr_matrix]:
        near = donors.index.near_within
        return [] if near is None else [near[donors.pages]]
