"""Words cut out of something longer: a bracket, a name with a dot or a number, a Romance language's term, a sentence.

Of 33 suggestions on judged sites whose words held a verb such as "is" or "has", and were neither a name nor the words
of another link, readers approved one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linker.engine.anchors.features import word_column
from linker.engine.arrays.ranges import expand_ranges
from linker.engine.text.fold import fold
from linker.engine.text.generic import primary_language
from linker.engine.text.tokens import A_NUMBER
from linker.engine.text.words import FINITE_VERBS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.anchors.spans import CandidateSpans, SpanFinder
    from linker.engine.anchors.tokenized import TokenizedTexts

# What ties a noun to the one before it without an article of its own, so that both are one term: "orden de trabajo",
# "bon de commande". With an article ("los precios de las ventas") the second is a thing by itself.
TIES = {"es": "de", "fr": "de d", "it": "di d", "pt": "de", "ca": "de d"}


def cut_out(
    finder: SpanFinder, texts: TokenizedTexts, target: NDArray[np.int64], found: CandidateSpans
) -> NDArray[np.bool_]:
    """Whether spans are cut out of something longer, bool [m]; `target` int64 [m].

    They open a bracket or a quotation that they do not close, or the other way round (also of two: `a" and "b`); begin
    or end within a word with a dot, a hyphen or a slash (".NET", "Node.js"); leave out the number that a name goes on
    with and their target's title does not have ("Lintel 8.10" of "Lintel 8.10 Alpha 5"); or are one half of a term of a
    Romance language.
    """
    cut = _open_ended(texts, found) | ~texts.begins[found.first] | ~texts.ends[found.last - 1]
    return np.asarray(cut | _before_number(finder, texts, target, found) | _half_term(finder, texts, found))


def half_sentence(finder: SpanFinder, texts: TokenizedTexts, found: CandidateSpans) -> NDArray[np.bool_]:
    """Whether spans that are neither a name nor the words of another link hold a verb that makes a sentence of them,
    such as "acids are strong"; bool [m]."""
    languages = np.array(
        [primary_language(finder.evidence.index.site.languages[page]) for page in texts.pages.tolist()]
    )
    verb = np.zeros(len(texts.words), dtype=bool)
    for language in FINITE_VERBS.keys() & set(languages.tolist()):
        forms = finder.reader.index.vocabulary.numbers([fold(word) for word in FINITE_VERBS[language].split()])
        verb |= np.isin(texts.words, forms) & (languages == language)[texts.rows]
    verbs = np.concatenate([[0], np.cumsum(verb & ~texts.capital)])
    said = (word_column(found.features, "named") > 0) | (word_column(found.features, "links") > 0)
    return np.asarray((verbs[found.last] > verbs[found.first]) & ~said)


def _open_ended(texts: TokenizedTexts, found: CandidateSpans) -> NDArray[np.bool_]:
    """Whether brackets or quotations are not whole inside spans."""
    opened = np.concatenate([[0], np.cumsum(texts.brackets, dtype=np.int64)])
    quotes = np.concatenate([[0], np.cumsum(texts.is_double_quote)])
    row, token = expand_ranges(found.first, found.last - found.first)
    lowest = np.zeros(len(found.first), dtype=np.int64)
    np.minimum.at(lowest, row, opened[token + 1] - opened[found.first[row]])
    unbalanced = (opened[found.last] != opened[found.first]) | (lowest < 0)
    unbalanced |= (quotes[found.last] - quotes[found.first]) % 2 > 0
    # The first quotation mark closes what began before: `a" and "b`.
    count = len(texts.words)
    place = np.where(texts.is_double_quote, np.arange(count), count)
    quote = np.append(np.minimum.accumulate(place[::-1])[::-1], count)[found.first]
    within = quote < found.last
    unbalanced[within] |= texts.closes_quotation[quote[within]]
    return np.asarray(unbalanced)


def _before_number(
    finder: SpanFinder, texts: TokenizedTexts, target: NDArray[np.int64], found: CandidateSpans
) -> NDArray[np.bool_]:
    """Whether a name goes on behind spans with a number, or a capitalised word and a number, that is not in the title
    of their target."""
    top, clause = len(texts.words) - 1, texts.clause_last[found.last - 1]
    after, beyond = np.minimum(found.last, top), np.minimum(found.last + 1, top)
    counted = finder.reader.numbers[texts.words] == A_NUMBER
    ends_named = texts.capital[found.last - 1] | texts.is_number[found.last - 1]
    direct = texts.capital[found.last - 1] & (found.last < clause) & counted[after]
    by_word = ends_named & (found.last + 1 < clause) & texts.capital[after] & texts.is_word[after] & counted[beyond]
    number = np.where(direct, after, beyond)
    some = np.flatnonzero(direct | by_word)
    cut = np.zeros(len(found.first), dtype=bool)
    titles = finder.evidence.index.title
    for span in some.tolist():  # few
        title = titles.indices[titles.indptr[target[span]] : titles.indptr[target[span] + 1]]
        cut[span] = texts.stems[number[span]] not in title
    return cut


def _half_term(finder: SpanFinder, texts: TokenizedTexts, found: CandidateSpans) -> NDArray[np.bool_]:
    """Whether spans in a Romance language are tied to a noun before or behind them. Not where a name is among their
    words ("projet de traité de Versailles"), nor, before them, where they begin with an article."""
    languages = [primary_language(finder.evidence.index.site.languages[page]) for page in texts.pages.tolist()]
    romance = np.array([language in TIES for language in languages], dtype=bool)
    if not romance.any():
        return np.zeros(len(found.first), dtype=bool)
    words = sorted({word for language in set(languages) & TIES.keys() for word in TIES[language].split()})
    tie = np.isin(texts.words, finder.reader.index.vocabulary.numbers(words))
    noun = texts.is_content & ~texts.is_number
    before, further = np.maximum(found.first - 1, 0), np.maximum(found.first - 2, 0)
    # "d'" is a word and its apostrophe.
    elided = texts.quote[before]
    before, further = np.where(elided, further, before), np.where(elided, np.maximum(further - 1, 0), further)
    top = len(texts.words) - 1
    after, beyond = np.minimum(found.last, top), np.minimum(found.last + 1, top)
    beyond = np.where(texts.quote[beyond], np.minimum(beyond + 1, top), beyond)
    names = np.concatenate([[0], np.cumsum(texts.capital & texts.is_word)])
    plain = romance[texts.rows[found.first]] & (names[found.last] == names[found.first])
    tail = (further >= texts.clause_first[found.first]) & tie[before] & noun[further] & texts.is_content[found.first]
    clause = texts.clause_last[found.last - 1]
    head = (beyond < clause) & tie[after] & noun[beyond] & ~texts.capital[beyond]
    return np.asarray(plain & (tail | head))
