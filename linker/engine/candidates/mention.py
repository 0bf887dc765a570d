"""Pages whose name, or an anchor of a link to them, stands in the donor's text."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linker.engine.candidates.base import Generator

if TYPE_CHECKING:
    from linker.engine.candidates.base import DonorSlice, Proposals
    from linker.engine.candidates.mention_rows import MentionRows


class Mention(Generator):
    name: ClassVar = "mention"
    label: ClassVar = "Mention"
    most: ClassVar = 120

    def propose(self, donors: DonorSlice) -> Proposals:
        return self._likeliest(donors, donors.mentions)

    def propose_within(self, donors: DonorSlice) -> Proposals:
        inside = donors.site.within_levels(donors.mentions.donor, donors.mentions.target)
        return self._likeliest(donors, donors.mentions.take(inside))

    def _likeliest(self, donors: DonorSlice, mentions: MentionRows) -> Proposals:
        order = np.lexsort((mentions.target, -mentions.weight, mentions.donor))
        donor, target = mentions.donor[order], mentions.target[order]
        rank = np.arange(len(donor)) - np.searchsorted(donor, donor)
        keep = rank < self.most
        return np.searchsorted(donors.pages, donor[keep]), target[keep]
