"""Pages whose name, or an anchor of a link to them, is in the source's text."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linker.engine.candidates.base import Generator
from linker.engine.messages import gettext_noop

if TYPE_CHECKING:
    from linker.engine.candidates.base import Proposals, SourceSlice
    from linker.engine.candidates.mention_rows import MentionRows


class Mention(Generator):
    name: ClassVar = "mention"
    label: ClassVar = gettext_noop("Mention")
    most: ClassVar = 120

    def propose(self, sources: SourceSlice) -> Proposals:
        return self._likeliest(sources, sources.mentions)

    def propose_within(self, sources: SourceSlice) -> Proposals:
        inside = sources.site.within_levels(sources.mentions.source, sources.mentions.target)
        return self._likeliest(sources, sources.mentions.take(inside))

    def _likeliest(self, sources: SourceSlice, mentions: MentionRows) -> Proposals:
        order = np.lexsort((mentions.target, -mentions.weight, mentions.source))
        source, target = mentions.source[order], mentions.target[order]
        rank = np.arange(len(source)) - np.searchsorted(source, source)
        keep = rank < self.most
        return np.searchsorted(sources.pages, source[keep]), target[keep]
