"""What other pages of the donor's category link to."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.candidates.base import ByScore, inside_levels
from linker.engine.evidence import CATEGORY_LINKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy import sparse

    from linker.engine.candidates.base import DonorSlice


class CategoryLinks(ByScore):
    name: ClassVar = "category_links"
    label: ClassVar = "Its category links to it"
    most: ClassVar = CATEGORY_LINKS

    def scores(self, donors: DonorSlice) -> Sequence[sparse.csr_matrix]:
        return [donors.evidence.category_best[donors.site.nodes[donors.pages]]]

    def scores_within(self, donors: DonorSlice) -> Sequence[sparse.csr_matrix]:
        links = donors.evidence.category_links[donors.site.nodes[donors.pages]]
        return [inside_levels(donors, links)]
