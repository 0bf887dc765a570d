"""Pages that are linked together with the source, or with what the source links to."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linker.engine.candidates.base import ByScore
from linker.engine.messages import gettext_noop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy import sparse

    from linker.engine.candidates.base import SourceSlice


class Cocited(ByScore):
    name: ClassVar = "cocited"
    label: ClassVar = gettext_noop("Co-cited")
    most: ClassVar = 30

    def scores(self, sources: SourceSlice) -> Sequence[sparse.csr_matrix]:
        return [sources.links.cocited_links, sources.links.cocited]
