"""Texts of pages as tokens, with what decides where a link may begin and end."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.arrays.ranges import expand_ranges
from linker.engine.text.fold import fold_lengths
from linker.engine.text.hashing import hash_runs, prefix_sums
from linker.engine.text.marks import CLAUSE_ENDS, EXCLAMATIONS, FULL_STOPS
from linker.engine.text.mentions import TRIM, trimmed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from linker.engine.index import TextIndex

_STOP, _EXCLAMATION, _COMMA, _OPENING, _CLOSING, _QUOTE = range(1, 7)
_MARKS = {
    _STOP: FULL_STOPS + CLAUSE_ENDS,
    _EXCLAMATION: EXCLAMATIONS,
    _COMMA: ",",
    _OPENING: "([{",
    _CLOSING: ")]}",
    _QUOTE: "\"'",
}


class SpanReader:
    """Reads texts of a site, with what is known of the words of its vocabulary once all texts have been read.

    `is_word`, `is_stop`, `has_digit` bool, `numbers` int16 (see `Vocabulary.number_values`), `kinds` int8
    [vocabulary]: kind of a punctuation mark, 0 for anything else; `marks`: numbers of the marks that a phrase is
    trimmed of; `phrases` uint64 [phrases]: hashes of the site's phrases. `terms`: stems from this number on are in no
    matrix of the index.
    """

    def __init__(self, index: TextIndex) -> None:
        self.index = index
        vocabulary = index.vocabulary
        tokens = vocabulary.read(index.phrase_text, [""] * len(index.phrase_text))
        self.is_word, self.is_stop = vocabulary.word_mask(), vocabulary.stop_mask(index.site.languages)
        self.has_digit = vocabulary.number_mask()
        self.numbers = vocabulary.number_values()
        self.marks = vocabulary.numbers(TRIM)
        self.kinds = np.zeros(len(vocabulary), dtype=np.int8)
        for kind, marks in _MARKS.items():
            self.kinds[vocabulary.numbers(marks)] = kind
        stop = vocabulary.numbers(".")
        self.full_stop = int(stop[0]) if len(stop) else -1
        quote = vocabulary.numbers('"')
        self.double_quote = int(quote[0]) if len(quote) else -1
        self.phrases = hash_runs(prefix_sums(tokens.words), *trimmed(tokens, vocabulary))
        self.terms: int = index.terms.shape[1]

    def hashes(self, anchors: Sequence[str]) -> NDArray[np.uint64]:
        """A hash of each anchor as a whole, equal to that of a span with the same tokens, uint64 [anchors]."""
        tokens = self.index.vocabulary.read(anchors, [""] * len(anchors))
        return hash_runs(prefix_sums(tokens.words), tokens.bounds[:-1], tokens.bounds[1:] - 1)


class TokenizedTexts:
    """The tokens of some pages' texts; arrays [tokens] unless said otherwise.

    `rows`: the page's place among those read; `line_first`, `line_last`, `clause_first`, `clause_last`: tokens of the
    line and of the clause that hold the token, the last one excluded; `begins`, `ends`: whether a link may begin or end
    with it; `start`, `stop`: its place in the folded text, in characters; `capital`: whether it begins in upper case;
    `is_number`: whether it has a digit; `is_break`: a line break; `closes_quotation`: a quotation mark behind a word.
    """

    def __init__(self, reader: SpanReader, pages: NDArray[np.int64]) -> None:
        site = reader.index.site
        self.pages = pages
        bodies = [site.bodies[page] for page in pages.tolist()]
        tokens = reader.index.vocabulary.read(bodies, [site.languages[page] for page in pages.tolist()])
        self.words, self.stems, self.bounds = tokens.words, tokens.stems, tokens.bounds
        self.start, self.stop = tokens.starts, tokens.starts + tokens.lengths
        self.rows = tokens.pages()
        self.is_word, self.is_stop = reader.is_word[self.words], reader.is_stop[self.words]
        self.is_content = self.is_word & ~self.is_stop & (self.stems < reader.terms)
        self.is_mark = np.isin(self.words, reader.marks)
        self.is_number = reader.has_digit[self.words]
        self.is_break = self.words == 0
        self._double_quote = reader.double_quote
        line_break, kinds = self.is_break, reader.kinds[self.words]
        gap = self._gaps(line_break)
        self._mark_boundaries(kinds, gap, line_break)
        self.line_first, self.line_last = _runs(line_break, line_break)
        ends_clause = self._clause_ends(kinds, gap, reader.full_stop)
        self.clause_first, self.clause_last = _runs(line_break | ends_clause, line_break)
        self.capital = np.concatenate(
            [np.empty(0, dtype=bool)]
            + [
                _capitals(body, self.start[low:high])
                for body, low, high in zip(bodies, self.bounds[:-1], self.bounds[1:], strict=True)
            ]
        )

    def _gaps(self, line_break: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether space, a line break or the beginning of a text comes before each token, and after the last one; bool
        [tokens + 1]."""
        count = len(self.words)
        new_text = np.zeros(count + 1, dtype=bool)
        new_text[self.bounds] = True
        gap = np.ones(count + 1, dtype=bool)
        gap[1:count] = (self.start[1:] != self.stop[:-1]) | line_break[1:] | line_break[:-1] | new_text[1:count]
        return gap

    def _clause_ends(self, kinds: NDArray[np.int8], gap: NDArray[np.bool_], full_stop: int) -> NDArray[np.bool_]:
        """The marks that end a sentence or a clause with space after them, but for the full stop after a single letter
        or digit; bool [tokens]."""
        single = np.concatenate([[False], (self.stop - self.start == 1)[:-1] & self.is_word[:-1]])
        initial: NDArray[np.bool_] = single & (self.words == full_stop)
        return np.isin(kinds, (_STOP, _EXCLAMATION)) & gap[1:] & ~initial

    def _mark_boundaries(self, kinds: NDArray[np.int8], gap: NDArray[np.bool_], line_break: NDArray[np.bool_]) -> None:
        """Where a link may begin and end, by the punctuation and space around."""
        before = np.concatenate([[0], kinds[:-1]])
        after = np.concatenate([kinds[1:], [0]])
        glued, glued_after = ~gap[:-1], ~gap[1:]
        opening, closing, quote = kinds == _OPENING, kinds == _CLOSING, kinds == _QUOTE
        closes = np.isin(kinds, (_STOP, _EXCLAMATION, _COMMA, _CLOSING))
        self.begins = ~line_break & ~closes & (~glued | np.isin(before, (_OPENING, _QUOTE)))
        self.begins &= ~quote | ~glued  # a quote with space before it opens
        further = np.concatenate([gap[2:], [True]])[: len(kinds)]  # whether space follows the next token
        free = ~glued_after | np.isin(after, (_CLOSING, _QUOTE, _COMMA))
        free |= np.isin(after, (_STOP, _EXCLAMATION)) & further
        self.ends = ~line_break & ~opening & ~np.isin(kinds, (_STOP, _COMMA)) & free
        self.ends &= ~quote | ~glued_after
        self.brackets = opening.astype(np.int8) - closing.astype(np.int8)
        self.quote = quote
        self.is_double_quote = self.words == self._double_quote
        after_word = np.concatenate([[False], (self.is_word & ~self.is_number)[:-1]])  # "5" is a length
        self.closes_quotation = self.is_double_quote & glued & (after_word | np.isin(before, (_STOP, _COMMA)))

    def neighbours(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The word before and the word after each token, 0 at a line break and at the ends of a text; int32 [tokens]
        both."""
        before = np.concatenate([self.words[:1] * 0, self.words[:-1]])
        after = np.concatenate([self.words[1:], self.words[:1] * 0])
        return before, after

    def content_words(
        self, first: NDArray[np.int64], last: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The words of spans that are no function words, int64 [k] both: the span, and the token."""
        row, token = expand_ranges(first, np.maximum(last - first, 0))
        keep = self.is_content[token]
        return row[keep], token[keep]

    @cached_property
    def _prefix(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        return prefix_sums(self.words)

    def hashes(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.uint64]:
        """A hash of the tokens of each span, equal for equal ones, uint64 [spans]."""
        return hash_runs(self._prefix, first, last)


def _runs(breaks: NDArray[np.bool_], outside: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First token, and the one after the last, of the run each token is in; a run ends with a break, which belongs to
    it unless it is `outside`."""
    count = len(breaks)
    place = np.arange(count, dtype=np.int64)
    starts = np.concatenate([[True], breaks[:-1]]) if count else np.empty(0, dtype=bool)
    first = np.maximum.accumulate(np.where(starts, place, 0))
    ends = np.where(breaks, place + ~outside, count)
    last = np.minimum.accumulate(ends[::-1])[::-1]
    return first, last


def _capitals(text: str, start: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether the character at each place of the folded text is in upper case in the text itself."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    where = start.astype(np.int64)
    if not text.isascii():
        length = np.ones(len(codes), dtype=np.int64)
        odd = np.flatnonzero((codes > 126) | (codes < 32))
        length[odd] = list(fold_lengths("".join(map(chr, codes[odd].tolist()))))
        where = np.searchsorted(np.concatenate([[0], np.cumsum(length)]), start, side="right") - 1
    found = np.zeros(len(start), dtype=bool)
    inside = where < len(codes)
    code = codes[where[inside]]
    upper = (code >= 65) & (code <= 90)
    beyond = np.flatnonzero(code > 127)
    upper[beyond] = [chr(one).isupper() for one in code[beyond].tolist()]
    found[inside] = upper
    return found
