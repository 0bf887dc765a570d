"""Pages that are linked together with the donor, or with what the donor links to."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.candidates.base import ByScore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy import sparse

    from linker.engine.candidates.base import DonorSlice


class Cocited(ByScore):
    name: ClassVar = "cocited"
    label: ClassVar = "Co-cited"
    most: ClassVar = 30

    def scores(self, donors: DonorSlice) -> Sequence[sparse.csr_matrix]:
        return [donors.links.cocited_links, donors.links.cocited]
