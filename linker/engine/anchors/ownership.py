"""Whose words are: a page's own, or words that another link used once for it and that mean something else elsewhere.

"Our last post" or "the May release" leads to one page from one place. Words are a page's own where they are its name,
or where the site's links mean that page by them nearly always and its title says so too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from linker.engine.anchors.features import word_column
from linker.engine.anchors.span_features import without_marks
from linker.engine.arrays.ranges import expand_ranges
from linker.engine.text.tokens import A_NUMBER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.anchors.spans import CandidateSpans, SpanFinder
    from linker.engine.anchors.tokenized import TokenizedTexts

OWN_WORDS = 1.1
SHORT_FORM = 2  # of the feature "named": a short form of a title or first heading, or all of it
TITLE_WORDS = 0.1  # of a title's weight, for words to share more with it than what many titles say
NEARLY_ALWAYS, MOSTLY = 0.8, 0.5  # of the links with these words
OFTEN, NOW_AND_THEN = 0.2, 0.05  # of the pages that say them
FAR = 6  # tokens before words that may still belong to the same name
USUALLY = 0.4
ALIKE = 3  # pages with one short form, which then names none of them
LONG = 3  # words that are hardly said of anything else


def owned(words: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Whether words are their target's own, bool [m]; `words` [m, len(WORD_FEATURES)].

    Those are two words and more that name it, or that the site's links mean it by nearly always and its title shares;
    or words of any number that three links and more mean it by, and that are links wherever they stand but for a few.
    """
    links, keyness = word_column(words, "links"), word_column(words, "keyness")
    several = word_column(words, "words") >= 2
    means_it = (links > 0) & (word_column(words, "share") >= NEARLY_ALWAYS)
    steady = means_it & (word_column(words, "title_share") >= TITLE_WORDS) & (keyness >= NOW_AND_THEN)
    name = word_column(words, "named") >= SHORT_FORM
    usual = means_it & (keyness >= USUALLY) & (links >= times(3))
    return np.asarray((name | steady) & several | usual)


def times(links: int) -> float:
    """The feature "links" of so many links, or a hair less."""
    return float(np.log1p(links)) - 1e-4


def ownership_shift(is_owned: NDArray[np.bool_]) -> NDArray[np.float64]:
    """What words that are their target's own add to the log-odds that they are all right, float64 [m]: the trees that
    say so have seen few of them."""
    return np.where(is_owned, OWN_WORDS, 0.0)


def holds_owned(found: CandidateSpans, is_owned: NDArray[np.bool_], likely: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether spans hold one of their pair that is owned and no likelier than they are by the trees, whose log-odds
    are `likely` [m]; bool [m]; spans by pair."""
    holds = np.zeros(len(is_owned), dtype=bool)
    own = np.flatnonzero(is_owned)
    low = np.searchsorted(found.pair, found.pair[own])
    each, span = expand_ranges(low, np.searchsorted(found.pair, found.pair[own], side="right") - low)
    inside = (found.first[span] <= found.first[own[each]]) & (found.last[span] >= found.last[own[each]])
    holds[span[inside & (likely[span] >= likely[own[each]])]] = True
    return holds & ~is_owned


def borrowed(spans: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Whether spans are words of other links to their target that are not its own, bool [m]; `spans`
    [m, len(SPAN_FEATURES)].

    With words of its title they need to mean it mostly, and to be linked now and then; without any, to mean it nearly
    always, and to be linked often, twice at least unless they are LONG, or now and then if three links say them.
    """
    links, share, keyness = (word_column(spans, name) for name in ("links", "share", "keyness"))
    known = (share >= MOSTLY) & ((keyness >= NOW_AND_THEN) | (links >= times(2)))
    sure = (share >= NEARLY_ALWAYS) & (keyness >= OFTEN)
    sure &= (links >= times(2)) | (word_column(spans, "words") >= LONG)
    sure |= (share >= NEARLY_ALWAYS) & (keyness >= NOW_AND_THEN) & (links >= times(3))
    titled = word_column(spans, "title_share") >= TITLE_WORDS
    return np.asarray((links > 0) & (word_column(spans, "named") == 0) & ~np.where(titled, known, sure))


def names_others(
    finder: SpanFinder, texts: TokenizedTexts, target: NDArray[np.int64], found: CandidateSpans
) -> NDArray[np.bool_]:
    """Whether spans are a short form of their target's name and name other pages as well, bool [m]: one by its whole
    title, or several by short forms too; unless the site's links mean the target by it mostly. `target` int64 [m]."""
    lookup = finder.phrases
    phrases = lookup.find(texts.hashes(*without_marks(texts, found.first, found.last)), target)
    is_short = phrases.means & (word_column(found.features, "named") == SHORT_FORM)
    shared = (lookup.whole[phrases.phrase] > 0) | (lookup.namesakes[phrases.phrase] >= ALIKE)
    return np.asarray(is_short & shared & (word_column(found.features, "share") < MOSTLY))


def names_another(
    finder: SpanFinder,
    texts: TokenizedTexts,
    target: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Whether spans belong to a name with another number than the title of their target has, bool [m]: "Release 1" of
    "Lintel 8.10 Release 1" is not the page "Lintel 8.04 Release 1", nor "the flood in 1938" that of 1968.

    `target` int64 [m]; `first`, `last` int64 [m]: tokens, the last one excluded. A year stands against years only, and
    not against a span of years that it lies in, nor against one that many titles have.
    """
    numbers, titles = finder.reader.numbers, finder.evidence.index.title
    span, token = _around(texts, first, last)
    near = numbers[texts.words[token]]
    said = np.flatnonzero(near > 0)
    found = np.zeros(len(first), dtype=bool)
    if not len(said):
        return found
    span, stem, near = span[said], texts.stems[token[said]].astype(np.int64), near[said]
    asked = np.unique(span)
    of_asked = sparse.csr_matrix(titles[target[asked]])
    row = np.repeat(asked, np.diff(of_asked.indptr))
    titled = of_asked.indices.astype(np.int64)
    usual = (numbers[titled] > A_NUMBER) & (finder.title_pages[titled] > max(5, len(finder.evidence.index.site) / 20))
    counts = np.flatnonzero((numbers[titled] > 0) & ~usual)
    row, titled = row[counts], titled[counts]
    size = len(numbers)
    other, missing = (
        ~np.isin(span * size + stem, row * size + titled),
        ~np.isin(row * size + titled, span * size + stem),
    )
    for years in (False, True):
        theirs, mine = other & ((near > A_NUMBER) == years), (numbers[titled] > A_NUMBER) == years
        if years:
            earliest, latest = np.full(len(first), 9999), np.zeros(len(first))
            np.minimum.at(earliest, row[mine], numbers[titled[mine]])
            np.maximum.at(latest, row[mine], numbers[titled[mine]])
            theirs &= (near < earliest[span]) | (near > latest[span])
        has_other, misses = np.zeros(len(first), dtype=bool), np.zeros(len(first), dtype=bool)
        has_other[span[theirs]] = True
        misses[row[missing & mine]] = True
        found |= has_other & misses
    return found


def _around(
    texts: TokenizedTexts, first: NDArray[np.int64], last: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The tokens of each span and of the name around it, as (span, token), int64 [k] both: before it names, numbers
    and the marks in them; after it one number, with function words or marks between."""
    every = np.arange(len(first))
    size = last - first
    span = np.repeat(every, size)
    parts = [(span, np.arange(len(span)) - np.repeat(np.cumsum(size) - size, size) + np.repeat(first, size))]
    is_number = texts.is_number
    joins = texts.capital | is_number | texts.is_mark & ~texts.is_break
    alive, at = every, first - 1
    for _ in range(FAR):
        on = at >= texts.clause_first[first[alive]]
        alive, at = alive[on], at[on]
        on = joins[at]
        alive, at = alive[on], at[on]
        parts.append((alive, at))
        at = at - 1
    between = texts.is_stop | (~texts.is_word & ~texts.is_break)
    alive, at = every, last.copy()
    for _ in range(3):
        on = at < texts.clause_last[last[alive] - 1]
        alive, at = alive[on], at[on]
        number = is_number[at]
        parts.append((alive[number], at[number]))
        on = between[at] | number
        alive, at = alive[on], at[on] + 1
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
