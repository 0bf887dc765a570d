"""What pages with the same links as the source link to."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.candidates.base import ByScore
from linker.engine.messages import gettext_noop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy import sparse

    from linker.engine.candidates.base import SourceSlice


class SimilarLinkers(ByScore):
    name: ClassVar = "similar_linkers"
    label: ClassVar = gettext_noop("Pages with the same links link to it")
    most: ClassVar = 30

    def scores(self, sources: SourceSlice) -> Sequence[sparse.csr_matrix]:
        return [sources.links.similar]
