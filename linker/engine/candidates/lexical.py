"""The nearest pages by words."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.candidates.base import ByScore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy import sparse

    from linker.engine.candidates.base import DonorSlice


class Lexical(ByScore):
    name: ClassVar = "lexical"
    label: ClassVar = "Nearest by words"
    most: ClassVar = 30

    def scores(self, donors: DonorSlice) -> Sequence[sparse.csr_matrix]:
        return [donors.index.near_words[donors.pages]]

    def scores_within(self, donors: DonorSlice) -> Sequence[sparse.csr_matrix]:
        near = donors.index.words_within
        return [] if near is None else [near[donors.pages]]
