"""The nearest pages by meaning on the whole site."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.candidates.base import ByScore
from linker.engine.messages import gettext_noop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy import sparse

    from linker.engine.candidates.base import SourceSlice


class Nearest(ByScore):
    name: ClassVar = "nearest"
    label: ClassVar = gettext_noop("Nearest by meaning")
    most: ClassVar = 30

    def scores(self, sources: SourceSlice) -> Sequence[sparse.csr_matrix]:
        return [sources.index.near[sources.pages]]

    def scores_within(self, sources: SourceSlice) -> Sequence[sparse.csr_matrix]:
        near = sources.index.near_within
        return [] if near is None else [near[sources.pages]]
