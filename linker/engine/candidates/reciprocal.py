"""Pages that link to the donor."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.candidates.base import ByScore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy import sparse

    from linker.engine.candidates.base import DonorSlice


class Reciprocal(ByScore):
    name: ClassVar = "reciprocal"
    label: ClassVar = "Links back"
    most: ClassVar = 30

    def scores(self, donors: DonorSlice) -> Sequence[sparse.csr_matrix]:
        return [donors.links.back]
