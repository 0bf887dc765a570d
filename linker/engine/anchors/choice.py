"""The words of a source's text that become the link: the spans that an editor would approve soonest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from linker.engine.anchors.boundaries import no_boundaries
from linker.engine.anchors.context import in_context
from linker.engine.anchors.cuts import half_sentence
from linker.engine.anchors.doubts import (
    NAME_GOES_ON,
    NEVER_LINKED,
    OF_DONOR,
    SAID_ONCE,
    dated_posts,
    name_donor,
    name_goes_on,
    never_linked,
    said_once,
)
from linker.engine.anchors.edges import without_edges
from linker.engine.anchors.features import SPAN_FEATURES, word_table
from linker.engine.anchors.longer_names import LEAVES_OUT, leave_out
from linker.engine.anchors.occurrences import best_places, fitting_places
from linker.engine.anchors.ownership import borrowed, holds_owned, names_others, owned, ownership_shift
from linker.engine.anchors.placement import Folded
from linker.engine.anchors.spans import SpanFinder, spans_of_pairs, text_blocks
from linker.engine.anchors.title_words import PART_OF_TITLE, parts_of_titles
from linker.engine.anchors.tokenized import SpanReader
from linker.engine.anchors.word_traits import word_traits
from linker.engine.arrays.ranges import ranks_within
from linker.engine.text.generic import is_generic, only_points

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.anchors.spans import CandidateSpans
    from linker.engine.anchors.tokenized import TokenizedTexts
    from linker.engine.anchors.training import AnchorRanker
    from linker.engine.evidence import TextEvidence
    from linker.engine.site import Site

QUICK = 25  # trees that pick the spans worth a closer look
_LINKS, _NAMED = SPAN_FEATURES.index("links"), SPAN_FEATURES.index("named")
_SOURCES = ("text", "url", "title", "title")  # by the feature "named"


class WordModel(Protocol):
    """What says whether an editor would approve of words, whatever the site."""

    def good_words(self, words: NDArray[np.float32]) -> NDArray[np.float64]:
        """Log-odds that words are all right in a link to a relevant target, [m]; `words` [m, len(WORD_FEATURES)]."""

    def linked_elsewhere(self, spans: NDArray[np.float32]) -> NDArray[np.float64]:
        """How likely editors of other sites link such words, [m]; `spans` [m, len(SPAN_FEATURES)]."""


@dataclass(frozen=True)
class AnchorChoice:
    """Words of the source's text that may become the link: `text[start:end]` of one mention, in characters.

    `text` as written there; `source`: "anchor", "title", "url", or "text" for words that are none of these; `weight`:
    log-odds that the words are all right; `traits`: see `word_traits`.
    """

    text: str
    source: str
    weight: float
    start: int
    end: int
    traits: int = 0


def anchor_choices(
    evidence: TextEvidence,
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    approval: WordModel,
    most: int = 6,
    ranker: AnchorRanker | None = None,
    finder: SpanFinder | None = None,
) -> list[list[AnchorChoice]]:
    """For each pair, int64 [k] each, words of the source's text that could become the link: at most `most`, best first.

    The site's own `ranker`, or without one `approval` by the features of the spans alone, picks those worth a closer
    look; `approval` then puts them in order, ties to the earlier place. Generic words are left out, and of several
    spans with the same words the best is kept, at the place where an editor would likeliest link them
    (`linker.engine.anchors.occurrences`). `finder`, from `span_finder`, saves making it again.
    """
    finder = finder or span_finder(evidence, ranker)
    generic, points = cache(is_generic), cache(only_points)
    choices: list[list[AnchorChoice]] = [[] for _ in range(len(source))]
    blocks = text_blocks(finder.reader, np.unique(source))
    for pair, texts, every in spans_of_pairs(finder, blocks, source, target):
        every = every.take(np.flatnonzero(~borrowed(every.features)))
        quick = ranker.score(every.features, QUICK) if ranker else approval.linked_elsewhere(every.features)
        found = every.take(_best(every.pair, quick, every.first, 2 * most))
        unfit = names_others(finder, texts, target[pair[found.pair]], found) | half_sentence(finder, texts, found)
        found = found.take(np.flatnonzero(~unfit))
        found, places = fitting_places(finder, texts, target[pair[found.pair]], found)
        own = ranker.score(found.features) if ranker else approval.linked_elsewhere(found.features)
        context = in_context(finder, texts, target[pair], found)
        table = word_table(found.features, context, own)
        is_owned = owned(table)
        likely = approval.good_words(table)
        # Where the trees like more words than the target's own, as the site may, they are not to be worse for it.
        likely += ownership_shift(holds_owned(found, is_owned, likely - ownership_shift(is_owned)))
        is_part = parts_of_titles(finder, texts, target[pair[found.pair]], found) & ~is_owned
        is_once = said_once(table, dated_posts(evidence.index.site, target[pair[found.pair]]))
        likely += np.where(is_part, PART_OF_TITLE, np.where(is_once, SAID_ONCE, 0.0))
        likely += np.where(name_donor(table), OF_DONOR, 0.0)
        is_cut = name_goes_on(table, evidence.index.site, source[pair[found.pair]])
        likely += np.where(is_cut, NAME_GOES_ON, 0.0)
        likely += np.where(never_linked(table, len(evidence.index.site)), NEVER_LINKED, 0.0)
        likely += np.where(leave_out(finder, texts, target[pair[found.pair]], found), LEAVES_OUT, 0.0)
        where = best_places(finder, texts, places)
        wordings = _Wordings(evidence.index.site, texts, found, where, likely, word_traits(table))
        for place in _best(found.pair, likely, found.first, 2 * most).tolist():
            mine = choices[pair[found.pair[place]]]
            choice = wordings.choice(place) if len(mine) < most else None
            if choice is None or any(other.text.lower() == choice.text.lower() for other in mine):
                continue
            if not generic(choice.text, wordings.language(place)) and not points(choice.text, wordings.language(place)):
                mine.append(choice)
    return choices


def span_finder(evidence: TextEvidence, ranker: AnchorRanker | None) -> SpanFinder:
    """What finds spans for a ranker, of use for all pairs."""
    reader = SpanReader(evidence.index)
    return SpanFinder(evidence, reader, ranker.boundaries if ranker else no_boundaries(reader))


class _Wordings:
    """Spans of some texts as they are written there."""

    def __init__(
        self,
        site: Site,
        texts: TokenizedTexts,
        found: CandidateSpans,
        where: tuple[NDArray[np.int64], NDArray[np.int64]],
        likely: NDArray[np.float64],
        traits: NDArray[np.int16],
    ) -> None:
        """`where`: first token, and the one after the last, of the place of each span's words that is linked."""
        self._languages: list[str] = [site.languages[page] for page in texts.pages.tolist()]
        self._bodies = [Folded(site.bodies[page]) for page in texts.pages.tolist()]
        first, last = where
        self._rows: list[int] = texts.rows[first].tolist()
        self._start, self._stop = texts.start[first], texts.stop[last - 1]
        self._features, self._likely, self._traits = found.features, likely, traits

    def language(self, place: int) -> str:
        """The language of the text that holds the span."""
        return self._languages[self._rows[place]]

    def choice(self, place: int) -> AnchorChoice | None:
        """The span at a position as words; None if it begins or ends inside a character of the text."""
        body = self._bodies[self._rows[place]]
        span = body.span(int(self._start[place]), int(self._stop[place]))
        if span is None:
            return None
        features = self._features[place]
        source = "anchor" if features[_LINKS] > 0 else _SOURCES[int(features[_NAMED])]
        first, last = without_edges(body.text, *span)
        likely, traits = float(self._likely[place]), int(self._traits[place])
        return AnchorChoice(body.text[first:last], source, likely, first, last, traits)


def _best(
    pair: NDArray[np.int64], score: NDArray[np.float64], place: NDArray[np.int64], most: int
) -> NDArray[np.int64]:
    """Positions of the `most` of each pair that score highest, by pair, then score; ties to the earlier place."""
    order = np.lexsort((place, -score, pair))
    return order[ranks_within(pair[order]) < most]
