"""The nearest pages by meaning in the source's category and those below, or the one above where these are few."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.candidates.base import ByScore
from linker.engine.index import IN_CATEGORY
from linker.engine.messages import gettext_noop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy import sparse

    from linker.engine.candidates.base import SourceSlice


class Category(ByScore):
    name: ClassVar = "category"
    label: ClassVar = gettext_noop("Category")
    most: ClassVar = IN_CATEGORY

    def scores(self, sources: SourceSlice) -> Sequence[sparse.csr_matrix]:
        return [sources.index.near_category[sources.pages]]

    def scores_within(self, sources: SourceSlice) -> Sequence[sparse.csr_matrix]:
        return []  # they lie in the source's category, or the one above, already
