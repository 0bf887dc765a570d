"""What a candidate generator is: it names a few targets for each source, by a score of its own.

A generator has a file in this folder and a line in `registry.GENERATORS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np
from scipy import sparse

from linker.engine.arrays.sparse import top_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from linker.engine.candidates.link_scores import LinkScores
    from linker.engine.candidates.mention_rows import MentionRows
    from linker.engine.evidence import Evidence
    from linker.engine.index import SiteIndex
    from linker.engine.site import Site

# Pairs as rows of a slice's sources and pages, int64 [k] each. A pair may be there twice; a page that may not be a
# target, the source itself and pairs that are linked already are left out later, for all generators alike.
Proposals: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64]]"


@dataclass(frozen=True)
class SourceSlice:
    """A slice of the site's sources, and what generators and features read of it.

    `pages` int64 [k], ascending: the sources. `evidence`: what the visible links say, with the index of the site's
    texts and vectors. `links`: scores of every page by the links around each source. `mentions`: what the sources'
    texts mention.
    """

    evidence: Evidence
    pages: NDArray[np.int64]
    links: LinkScores
    mentions: MentionRows

    @property
    def index(self) -> SiteIndex:
        """What was read of the site once, whatever its links."""
        return self.evidence.index

    @property
    def site(self) -> Site:
        """The site that the sources belong to."""
        return self.evidence.index.site


class Generator(ABC):
    """Names targets for the sources of a slice.

    `name`, at most 20 characters, is stored with every suggestion and may not change; `label` is what people read;
    `most`: targets of a source from one list of scores.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    most: ClassVar[int]

    @abstractmethod
    def propose(self, sources: SourceSlice) -> Proposals:
        """The generator's pairs over the whole site. Ties go to the lower page; the same slice gives the same pairs."""

    def propose_within(self, sources: SourceSlice) -> Proposals:
        """The pairs that come first among the targets within the site's `levels_up`, so that a run that is limited to
        them has as many to choose from. None, unless a generator says otherwise."""
        return no_proposals()


class ByScore(Generator):
    """A generator that takes the `most` targets of highest score, from one matrix of scores or several."""

    @abstractmethod
    def scores(self, sources: SourceSlice) -> Sequence[sparse.csr_matrix]:
        """Matrices [k, n]: the score of each page for each source of the slice; only values above 0 are read."""

    def scores_within(self, sources: SourceSlice) -> Sequence[sparse.csr_matrix]:
        """The same matrices [k, n] without the pages beyond the site's `levels_up`."""
        return [inside_levels(sources, matrix) for matrix in self.scores(sources)]

    def propose(self, sources: SourceSlice) -> Proposals:
        return joined([best_of_rows(matrix, self.most) for matrix in self.scores(sources)])

    def propose_within(self, sources: SourceSlice) -> Proposals:
        return joined([best_of_rows(matrix, self.most) for matrix in self.scores_within(sources)])


def no_proposals() -> Proposals:
    """No pair at all."""
    return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)


def joined(parts: Sequence[Proposals]) -> Proposals:
    """Several lists of pairs as one, in their order."""
    rows, pages = zip(no_proposals(), *parts, strict=True)
    return np.concatenate(rows), np.concatenate(pages)


def best_of_rows(matrix: sparse.csr_matrix, most: int) -> Proposals:
    """The `most` pages of highest score above 0 of each row of a matrix [k, n]; ties go to the lower page. By row, then
    page."""
    kept = top_rows(matrix, most)
    return np.repeat(np.arange(kept.shape[0]), np.diff(kept.indptr)), kept.indices.astype(np.int64)


def inside_levels(sources: SourceSlice, matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    """A matrix [k, n] of a slice's sources without the pages beyond the site's `levels_up`."""
    source = np.repeat(sources.pages, np.diff(matrix.indptr))
    inside = sources.site.within_levels(source, matrix.indices)
    bounds = np.concatenate([[0], np.cumsum(inside)])[matrix.indptr]
    return sparse.csr_matrix((matrix.data[inside], matrix.indices[inside], bounds), shape=matrix.shape)
