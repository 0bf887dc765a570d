"""What the ranker learns from: candidates with labels.

A share of the visible links is hidden, everything that is derived from links is computed from the rest, and the hidden
links have to be found among the candidates; this is done in turn for every share. Editors' accepts and rejects are
added where there are too few links: what they decide on was chosen by a ranker, and teaches the next one to like more
of the same than editors approve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.arrays.disk import DiskRows
from linker.engine.arrays.memory import trim_malloc
from linker.engine.evidence import build_evidence
from linker.engine.index import no_progress
from linker.engine.ranking.features import FEATURES, Candidates, candidates, joined
from linker.engine.site import Pairs

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from linker.engine.index import Progress, SiteIndex
    from linker.engine.ranking.boosted_trees import TrainOptions
    from linker.engine.site import Site

UNDECIDED = 30  # candidates that count as wrong beside each source's decisions


@dataclass(frozen=True)
class TrainingSet:
    """Candidates with labels, arrays [m]: `pairs`, whose `features` [m, len(FEATURES)] lie in a file of their own;
    `label` bool, `weight` float32, `share` int64: the share of links that was hidden, or the number of shares for
    editors' decisions and the candidates beside them; `hidden`: hidden links of the sources, candidates or not;
    `rejected`: pairs that editors rejected."""

    pairs: Candidates
    features: DiskRows
    label: NDArray[np.bool_]
    weight: NDArray[np.float32]
    share: NDArray[np.int64]
    hidden: int
    rejected: int = 0


def training_set(
    index: SiteIndex,
    options: TrainOptions,
    generators: Collection[str] = (),
    progress: Progress = no_progress,
) -> TrainingSet:
    """Labelled candidates, by share of hidden links, then source and target.

    Whatever is derived from links for the pairs of a share is computed without the links of that share.
    """
    random = np.random.default_rng(options.seed)
    links = _in_shares(index.site, options.folds, random)
    examples, hidden = _Examples(), 0
    for share in range(options.folds):
        progress(share, options.folds, "Learning from the site's links")
        hidden += _add_share(examples, index, links, share, options, generators, random)
        trim_malloc()
    rejected = _add_decisions(examples, index, options, generators, random) if links.are_few(options) else 0
    return examples.as_set(hidden, rejected)


class _Examples:
    """Labelled candidates as they come in; their features go to a file at once."""

    def __init__(self) -> None:
        self.features = DiskRows(len(FEATURES))
        self.pairs: list[Candidates] = []
        self.labels = [np.empty(0, dtype=np.bool_)]
        self.shares = [np.empty(0, dtype=np.int64)]

    def add(self, found: Candidates, label: NDArray[np.bool_], share: int) -> None:
        """Candidates of a share, and which of them are right."""
        self.features.append(found.features)
        self.pairs.append(found.bare())
        self.labels.append(label)
        self.shares.append(np.full(len(found), share))

    def as_set(self, hidden: int, rejected: int) -> TrainingSet:
        """All of them; empties the list of pairs."""
        label = np.concatenate(self.labels)
        weight = np.ones(len(label), dtype=np.float32)
        share = np.concatenate(self.shares)
        return TrainingSet(joined(self.pairs), self.features, label, weight, share, hidden, rejected)


@dataclass(frozen=True)
class _Shares:
    """A site's links in shares: `key` int64 [k]: source * pages + target of each linked pair, ascending; `of_link`
    int64 [links]: the pair of each link; `usable` bool [k]: whether the pair could be proposed if it were not linked;
    `share` int64 [k]: the share that it is hidden with."""

    pages: int
    key: NDArray[np.int64]
    of_link: NDArray[np.int64]
    usable: NDArray[np.bool_]
    share: NDArray[np.int64]

    def are_few(self, options: TrainOptions) -> bool:
        """Whether there is too little to learn from without decisions."""
        return int(self.usable.sum()) < options.min_labels

    def hidden(self, share: int) -> NDArray[np.int64]:
        """Keys of the pairs that are hidden with a share and could be proposed."""
        keys: NDArray[np.int64] = self.key[(self.share == share) & self.usable]
        return keys

    def seen(self, share: int) -> NDArray[np.int64]:
        """Keys of the pairs that stay visible."""
        keys: NDArray[np.int64] = self.key[self.share != share]
        return keys


def _in_shares(site: Site, folds: int, random: np.random.Generator) -> _Shares:
    """Deals the site's linked pairs out to `folds` shares by chance."""
    pages = len(site)
    key, of_link = np.unique(site.links.src * pages + site.links.dst, return_inverse=True)
    source, target = key // pages, key % pages
    usable = site.target[target] & site.source[source] & (source != target)
    return _Shares(pages, key, of_link, usable, random.permutation(len(key)) % folds)


def _add_share(
    examples: _Examples,
    index: SiteIndex,
    links: _Shares,
    share: int,
    options: TrainOptions,
    generators: Collection[str],
    random: np.random.Generator,
) -> int:
    """Adds the candidates of sources of a share's hidden links, drawn by chance until there are pairs enough, and
    returns how many hidden links these sources have."""
    site, pages = index.site, links.pages
    evidence = build_evidence(index, np.flatnonzero(links.share[links.of_link] != share))
    trim_malloc()
    hidden, seen = links.hidden(share), links.seen(share)
    accepted = site.accepted if links.are_few(options) else Pairs()  # else as wrong as what else is good and not linked
    skip = (
        np.concatenate([seen // pages, site.forbidden.src, accepted.src]),
        np.concatenate([seen % pages, site.forbidden.dst, accepted.dst]),
    )
    sources = np.unique(hidden // pages)
    random.permutation(sources)  # a draw of former versions: without it models would differ from theirs
    order = random.permutation(len(sources))
    room, found_so_far, used = max(options.most_pairs // options.folds, 1), 0, 0
    while used < len(order) and found_so_far < room:
        batch = np.sort(sources[order[used : used + options.sources]])
        found = candidates(evidence, batch, skip, generators)
        examples.add(found, np.isin(found.source * pages + found.target, hidden), share)
        found_so_far, used = found_so_far + len(found), used + options.sources
        del found
    return int(np.isin(hidden // pages, sources[order[:used]]).sum())


def _add_decisions(
    examples: _Examples,
    index: SiteIndex,
    options: TrainOptions,
    generators: Collection[str],
    random: np.random.Generator,
) -> int:
    """Adds editors' accepts (right) and rejects (wrong), with the evidence of all links, and returns how many rejects
    there are. UNDECIDED other candidates of each of their sources count as wrong beside them: editors who accept all
    they see would otherwise teach that everything is right."""
    site, pages = index.site, len(index.site)
    accepted = site.accepted.src * pages + site.accepted.dst
    rejected = np.setdiff1d(site.rejected.src * pages + site.rejected.dst, accepted)
    decided = np.union1d(accepted, rejected)
    if not len(decided):
        return 0
    evidence = build_evidence(index, np.arange(len(site.links)))
    sources = np.unique(decided // pages)
    parts = []
    for first in range(0, len(sources), options.sources):
        found = candidates(
            evidence, sources[first : first + options.sources], (site.links.src, site.links.dst), generators
        )
        parts.append(_with_undecided(found, np.isin(found.source * pages + found.target, decided), random))
    pairs = joined(parts)
    key = pairs.source * pages + pairs.target
    if len(pairs):
        examples.add(pairs, np.isin(key, accepted), options.folds)
    return int(np.isin(key, rejected).sum())


def _with_undecided(found: Candidates, is_decided: NDArray[np.bool_], random: np.random.Generator) -> Candidates:
    """The decided candidates, and of each source UNDECIDED others drawn by chance."""
    order = np.lexsort((random.random(len(found)), is_decided, found.source))
    rank = np.arange(len(order)) - np.searchsorted(found.source[order], found.source[order])
    drawn = np.zeros(len(found), dtype=np.bool_)
    drawn[order[rank < UNDECIDED]] = True
    return found.take(is_decided | drawn)
