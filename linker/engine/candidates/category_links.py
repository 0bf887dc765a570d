"""What other pages of the source's category link to."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.candidates.base import ByScore, inside_levels
from linker.engine.evidence import CATEGORY_LINKS
from linker.engine.messages import gettext_noop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy import sparse

    from linker.engine.candidates.base import SourceSlice


class CategoryLinks(ByScore):
    name: ClassVar = "category_links"
    label: ClassVar = gettext_noop("Its category links to it")
    most: ClassVar = CATEGORY_LINKS

    def scores(self, sources: SourceSlice) -> Sequence[sparse.csr_matrix]:
        return [sources.evidence.category_best[sources.site.nodes[sources.pages]]]

    def scores_within(self, sources: SourceSlice) -> Sequence[sparse.csr_matrix]:
        links = sources.evidence.category_links[sources.site.nodes[sources.pages]]
        return [inside_levels(sources, links)]
