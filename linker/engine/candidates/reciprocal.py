"""Pages that link to the source."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.candidates.base import ByScore
from linker.engine.messages import gettext_noop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy import sparse

    from linker.engine.candidates.base import SourceSlice


class Reciprocal(ByScore):
    name: ClassVar = "reciprocal"
    label: ClassVar = gettext_noop("Links back")
    most: ClassVar = 30

    def scores(self, sources: SourceSlice) -> Sequence[sparse.csr_matrix]:
        return [sources.links.back]
