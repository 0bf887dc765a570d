"""Words that stand inside a longer name: "Lintel" in "History of Lintel" is not the page Lintel, but a part of another.

Of twelve suggestions on judged sites whose words stood in their text inside longer names of other pages alone, readers
rejected eleven. Of a dozen that leave out a word which their target's title has right beside them ("Van Buren" of
"Martin Van Buren", "design" of "human-centred design") half were good, of those stated at 0.4 and more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linker.engine.arrays.ranges import expand_ranges
from linker.engine.arrays.sparse import pair_values
from linker.engine.text.mentions import LONGEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.anchors.spans import CandidateSpans, SpanFinder
    from linker.engine.anchors.tokenized import TokenizedTexts

LEAVES_OUT = -1.0  # log-odds that words are all right which leave out a word of their target's title beside them


class WholeNames:
    """Where whole names of pages, titles and first headings, stand in some texts; arrays [k], by `first`: `first`,
    `last` int64: tokens, the last one excluded; `phrase` int64."""

    def __init__(self, finder: SpanFinder, texts: TokenizedTexts) -> None:
        index = finder.evidence.index
        found = index.occurrences
        low, high = np.searchsorted(found.page, texts.pages), np.searchsorted(found.page, texts.pages, side="right")
        row, place = expand_ranges(low, high - low)
        phrase = found.phrase[place].astype(np.int64)
        whole = phrase >= 0
        whole[whole] = finder.phrases.whole[phrase[whole]] > 0
        row, place, phrase = row[whole], place[whole], phrase[whole]
        first = found.at[place] - index.starts[texts.pages[row]] + texts.bounds[row]
        order = np.argsort(first, kind="stable")
        self._phrases, self._texts = finder.phrases, texts
        self.first, self.phrase = first[order], phrase[order]
        self.last = self.first + found.size[place[order]]
        # What stands in brackets at the end of a name says it again: "search engine optimisation (SEO)".
        opening = np.where(texts.brackets > 0, np.arange(len(texts.words)), len(texts.words))
        bracket = np.minimum.accumulate(opening[::-1])[::-1][self.first]
        self.last = np.where(bracket > self.first, np.minimum(self.last, bracket), self.last)
        place = np.arange(len(texts.words))
        content = np.where(texts.is_content, place, len(place))
        self._next = np.minimum.accumulate(content[::-1])[::-1]  # content word from a token on
        self._behind = np.concatenate([[0], np.maximum.accumulate(np.where(texts.is_content, place + 1, 0))])

    def hold(self, target: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the words of spans, function words at their ends left out, are a name that does not mean their target
        or a part of one, bool [m]; `target`, `first`, `last` int64 [m]. So are words that begin or end within such a
        name, unless they mean their target themselves."""
        inner, end = np.minimum(self._next[first], last - 1), np.maximum(self._behind[last], first + 1)
        low = np.searchsorted(self.first, inner - LONGEST)
        span, name = expand_ranges(low, np.searchsorted(self.first, end, side="right") - low)
        begins, ends = self.first[name] <= inner[span], self.last[name] >= end[span]
        inside = (self.first[name] >= inner[span]) & (self.last[name] <= end[span])
        apart = (self.last[name] <= inner[span]) | (self.first[name] >= end[span])
        means = self._phrases.find(self._texts.hashes(inner, end), target).means
        near = np.flatnonzero((begins & ends) | (~inside & ~apart & ~means[span]))
        span, name = span[near], name[near]
        held = np.zeros(len(first), dtype=bool)
        held[span[~self._phrases.mean(self.phrase[name], target[span])]] = True
        return held


def leave_out(
    finder: SpanFinder, texts: TokenizedTexts, target: NDArray[np.int64], found: CandidateSpans
) -> NDArray[np.bool_]:
    """Whether the word right before or right after spans stands there in their target's title too, bool [m]; `target`
    int64 [m]. A mark between the two, but for a quotation mark, parts them."""
    count, top = len(found.first), len(texts.words) - 1
    before = np.maximum(found.first - 1, 0)
    before = np.where(texts.quote[before], np.maximum(before - 1, 0), before)
    after = np.minimum(found.last, top)
    after = np.where(texts.quote[after], np.minimum(after + 1, top), after)
    asked = np.concatenate([before, after])
    inside = np.concatenate(
        [
            (before >= texts.clause_first[found.first]) & (before < found.first),
            (after < texts.clause_last[found.last - 1]) & (after >= found.last),
        ]
    )
    asked, of = asked[inside], np.tile(np.arange(count), 2)[inside]
    is_word = texts.is_content[asked]
    asked, of = asked[is_word], of[is_word]
    titles = finder.evidence.index.title
    pages, place = np.unique(target[of], return_inverse=True)
    in_title = pair_values(titles[pages], place, texts.stems[asked].astype(np.int64)) > 0
    out = np.zeros(count, dtype=bool)
    for word, span in zip(asked[in_title].tolist(), of[in_title].tolist(), strict=True):  # few
        first, last = int(found.first[span]), int(found.last[span])
        said = np.arange(min(word, first), max(word + 1, last))
        words = texts.stems[said[texts.is_content[said]]].tolist()
        out[span] |= any(title.has_in_a_row(words) for title in finder.titles.of(int(target[span])))
    return out
