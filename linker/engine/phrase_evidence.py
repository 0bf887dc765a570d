"""What the phrases of a site may mean, by its names and visible links, and where its texts mention them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linker.engine.arrays.ranges import ranks_within
from linker.engine.arrays.vectors import slices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.index import TextIndex

MAX_TARGETS_PER_GROUP = 40  # pages that one group of phrases may mean


@dataclass(frozen=True)
class PhraseTargets:
    """Which pages a phrase may mean, by group, then the most likely first; arrays [m].

    `phrase` int32 of `group` int32; `page` int64; `links` float32: visible links to the page by this phrase; `share`
    float32: of the phrase's visible links; `bits` int32: where the page is named so (TITLE ...). `first` int64
    [groups + 1]: where each group begins.
    """

    group: NDArray[np.int32]
    phrase: NDArray[np.int32]
    page: NDArray[np.int64]
    links: NDArray[np.float32]
    share: NDArray[np.float32]
    bits: NDArray[np.int32]
    first: NDArray[np.int64]


@dataclass(frozen=True)
class PhraseMentions:
    """Mentions of one phrase in one page taken together, by page; arrays [m].

    `page`, `phrase`, `group` int32; `times`: mentions; `free`: those neither within a longer mention nor on a link;
    `first` float32: place of the best mention as a share of the text; `place`: its position among the index's
    occurrences; `alone`, `leads` bool: of any mention; `near` float32: share of the lines within three of it that carry
    a visible link; `inline` float32: visible links on its line; `linked` bool: a visible link of the page is where
    one of them is; `bounds` int64 [n + 1]: where each page begins.
    """

    page: NDArray[np.int32]
    phrase: NDArray[np.int32]
    group: NDArray[np.int32]
    times: NDArray[np.float32]
    free: NDArray[np.float32]
    first: NDArray[np.float32]
    place: NDArray[np.integer[Any]]
    alone: NDArray[np.bool_]
    leads: NDArray[np.bool_]
    near: NDArray[np.float32]
    inline: NDArray[np.float32]
    linked: NDArray[np.bool_]
    bounds: NDArray[np.int64]


def join_targets(index: TextIndex, dst: NDArray[np.int64], phrase: NDArray[np.int32]) -> PhraseTargets:
    """The names of pages joined with the anchors of visible links, which lead to `dst` by `phrase`, [links] each."""
    pages, names = len(index.site), index.names
    seen = (phrase >= 0) & index.site.target[dst]
    key = np.concatenate(
        [names.phrase.astype(np.int64) * pages + names.page, phrase[seen].astype(np.int64) * pages + dst[seen]]
    )
    links = np.concatenate([np.zeros(len(names.page)), np.ones(int(seen.sum()))])
    bits = np.concatenate([names.bits, np.zeros(int(seen.sum()), dtype=np.int32)])
    distinct, place = np.unique(key, return_inverse=True)
    links = np.bincount(place, links, minlength=len(distinct)).astype(np.float32)
    joined = np.zeros(len(distinct), dtype=np.int32)
    np.bitwise_or.at(joined, place, bits)
    found, page = (distinct // pages).astype(np.int32), distinct % pages
    total = np.bincount(found, links, minlength=index.book.count).astype(np.float32)
    share = links / np.maximum(total[found], 1)
    group = index.book.group_of[found]
    order = np.lexsort((page, -joined, -links, group))
    order = order[ranks_within(group[order]) < MAX_TARGETS_PER_GROUP]
    group = group[order]
    return PhraseTargets(
        group,
        found[order],
        page[order],
        links[order],
        share[order].astype(np.float32),
        joined[order],
        np.searchsorted(group, np.arange(index.book.groups + 1)),
    )


def find_mentions(
    index: TextIndex, phrase_targets: PhraseTargets, src: NDArray[np.int64], anchor: NDArray[np.int32]
) -> PhraseMentions:
    """The mentions of phrases that mean a page, those of one phrase in one page taken together.

    `src`, `anchor` [links]: the page and the phrase of each visible link.
    """
    found = index.occurrences
    wanted = anchors_said(src, anchor, index.book.count)
    live = np.flatnonzero((np.diff(phrase_targets.first) > 0)[found.group])
    cuts = np.searchsorted(
        found.page[live], [part.start for part in slices(len(index.site), index.limits.mentions)]
    ).tolist()
    blocks = [live[first:stop] for first, stop in zip(cuts, [*cuts[1:], len(live)], strict=True)]
    linked = [link_tokens(found.page[block], found.phrase[block], found.at[block], wanted, index.book.count)
              for block in blocks]  # fmt: skip
    lines = np.zeros(int(index.lines.sum()) + 5, dtype=np.float32)  # visible links on each line
    for block, begin in zip(blocks, linked, strict=True):
        np.add.at(lines, found.line[block[begin]], 1)
    has_link = np.concatenate([[0], np.cumsum(lines > 0)])
    columns = [_mentions_of(index, block, begin, lines, has_link) for block, begin in zip(blocks, linked, strict=True)]
    joined = [np.concatenate(column) for column in zip(*columns, strict=True)]
    found.evict_pages()
    joined.append(np.searchsorted(joined[0], np.arange(len(index.site) + 1)))
    return PhraseMentions(*joined)


def _mentions_of(
    index: TextIndex,
    live: NDArray[np.int64],
    begin: NDArray[np.int64],
    lines: NDArray[np.float32],
    has_link: NDArray[np.int64],
) -> tuple[NDArray[Any], ...]:
    """The columns of PhraseMentions except `bounds`, from the mentions `live`, of which `begin` are links."""
    found = index.occurrences
    page, phrase, group = found.page[live], found.phrase[live], found.group[live]
    at, size, line = found.at[live].astype(np.int64), found.size[live].astype(np.int64), found.line[live]
    linked_tokens = at[begin]
    linked_ends = linked_tokens + size[begin]
    covered = _covered(at, size)
    on_link = np.isin(at, linked_tokens) | _within(at, linked_tokens, linked_ends)
    low, high = np.maximum(line - 3, 0), np.minimum(line + 4, len(lines))
    near = (has_link[high] - has_link[low] - (lines[line] > 0)) / 6
    key = page.astype(np.int64) * (index.book.count + index.book.groups) + np.where(
        phrase >= 0, phrase, index.book.count + group
    )
    free = ~covered & ~on_link
    quality = free * 8.0 + found.alone[live] * 4.0 + (lines[line] > 0) * 1.0 + near
    order = np.lexsort((at, -quality, key))
    key = key[order]
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])[: len(key)])
    best = order[first]
    starts = index.starts[page[best]]

    def total(values: NDArray[np.bool_]) -> NDArray[np.float32]:
        return np.add.reduceat(values[order].astype(np.float32), first) if len(first) else np.empty(0, np.float32)

    return (
        page[best],
        phrase[best],
        group[best],
        total(np.ones(len(live), dtype=bool)),
        total(free),
        ((at[best] - starts) / np.maximum(index.tokens[page[best]], 1)).astype(np.float32),
        live[best].astype(np.int32 if len(found.at) < 2**31 else np.int64),
        total(found.alone[live]) > 0,
        total(found.leads[live]) > 0,
        near[best].astype(np.float32),
        lines[line[best]],
        total(on_link) > 0,
    )


def anchors_said(src: NDArray[np.int64], anchor: NDArray[np.int32], phrases: int) -> NDArray[np.int64]:
    """Pages and the phrases of their visible links as page * phrases + phrase, int64 [k], ascending, each once; `src`
    and `anchor` [links], where -1 is no phrase, `phrases`: how many there are."""
    return np.unique(src[anchor >= 0] * phrases + anchor[anchor >= 0])


def link_tokens(
    page: NDArray[np.int32],
    phrase: NDArray[np.int32],
    at: NDArray[np.integer[Any]],
    wanted: NDArray[np.int64],
    phrases: int,
) -> NDArray[np.int64]:
    """The mentions where a visible link most likely is: of each that `anchors_said` returned the first mention in
    its page that no longer mention covers; positions, int64 [k], ascending. Mentions [m] by page."""
    if len(page):
        low, high = np.searchsorted(wanted, [int(page[0]) * phrases, (int(page[-1]) + 1) * phrases])
        wanted = wanted[low:high]
    exact = np.flatnonzero(phrase >= 0)
    key = page[exact].astype(np.int64) * phrases + phrase[exact]
    mine = exact[np.isin(key, wanted)]
    key = page[mine].astype(np.int64) * phrases + phrase[mine]
    order = np.lexsort((at[mine], key))
    _, first = np.unique(key[order], return_index=True)
    return np.sort(mine[order[first]])


def _covered(at: NDArray[np.int64], size: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a longer mention holds each mention."""
    order = np.lexsort((-size, at))
    end = (at + size)[order]
    reach = np.maximum.accumulate(np.concatenate([[-1], end]))[:-1]
    covered = np.zeros(len(at), dtype=bool)
    covered[order] = reach >= end
    return covered


def _within(at: NDArray[np.int64], begin: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each token lies in one of the spans, which are in order."""
    if not len(begin):
        return np.zeros(len(at), dtype=bool)
    order = np.argsort(begin, kind="stable")
    begin, reach = begin[order], np.maximum.accumulate(end[order])
    place = np.searchsorted(begin, at, side="right") - 1
    return (place >= 0) & (at < reach[np.maximum(place, 0)])
