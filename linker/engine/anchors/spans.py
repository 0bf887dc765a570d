"""Stretches of a donor's text that could become the link to a target, and the numbers that describe each.

A stretch grows from a seed: a mention of a phrase that means the target, or a word that the target's title, anchors or
text hold. It begins and ends where the site's own links do: at the start of a line, after a function word, before
punctuation. How likely a token begins, ends or stands in a link is counted from the visible links (`Edges`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from linker.engine.candidates.mention_rows import mention_rows
from linker.engine.evidence import anchors_said, link_tokens
from linker.engine.graph.links import pair_values, top_rows
from linker.engine.index import H1, SHORT, SLUG, TITLE
from linker.engine.text.fold import fold_lengths
from linker.engine.text.mentions import TRIM, trimmed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from linker.engine.evidence import TextEvidence
    from linker.engine.index import TextIndex

MENTION_SEEDS = 6  # mentions a pair that stretches grow from
WORD_SEEDS = 6  # words a pair that stretches grow from
TERMS = 24  # words of a target that are looked for
REACH = 8  # tokens a stretch grows to either side
EDGES_A_SEED = 3  # beginnings, and ends, that are tried a seed
LONGEST_LINE = 24  # tokens of a line that may become the link as a whole
SMOOTH = 20.0  # tokens of the average kind that each count starts with
_BASE = np.uint64(0x9E3779B97F4A7C15)
_SENTENCE, _LOUD, _COMMA, _OPENING, _CLOSING, _QUOTE = range(1, 7)
_MARKS = {_SENTENCE: ".;:…", _LOUD: "!?", _COMMA: ",", _OPENING: "([{", _CLOSING: ")]}", _QUOTE: "\"'"}

SPAN_FEATURES: tuple[str, ...] = (
    "begin", "begin_word", "begin_before", "end", "end_word", "end_after", "inside", "inside_most",
    "words", "tokens", "chars", "title_share", "title_part", "anchor_share", "term_share", "strangers",
    "links", "share", "keyness", "phrase_links", "named", "pages",
    "line_start", "line_end", "clause_start", "clause_end", "line_tokens", "line_links", "place", "capital",
    "capitals", "stop_start", "stop_end", "brackets", "quoted", "seed", "edges_rank", "title_rank", "links_rank",
)  # fmt: skip


class Reader:
    """Reads texts of a site, with what is known of the words of its vocabulary once all texts are read.

    `is_word`, `is_stop`, `has_digit` bool, `kinds` int8 [vocabulary]: kind of a punctuation mark, 0 for anything
    else; `marks`: numbers of the marks a phrase is trimmed of; `phrases` uint64 [phrases]: hashes of the site's
    phrases.
    """

    def __init__(self, index: TextIndex) -> None:
        self.index = index
        vocabulary = index.vocabulary
        tokens = vocabulary.read(index.phrase_text, [""] * len(index.phrase_text))
        self.is_word, self.is_stop = vocabulary.word_mask(), vocabulary.stop_mask(index.site.languages)
        self.has_digit = vocabulary.number_mask()
        self.marks = vocabulary.numbers(TRIM)
        self.kinds = np.zeros(len(vocabulary), dtype=np.int8)
        for kind, marks in _MARKS.items():
            self.kinds[vocabulary.numbers(marks)] = kind
        stop = vocabulary.numbers(".")
        self.full_stop = int(stop[0]) if len(stop) else -1
        self.phrases = _hash(_prefix(tokens.words), *trimmed(tokens, vocabulary))

    def hashes(self, anchors: Sequence[str]) -> NDArray[np.uint64]:
        """A number for each anchor as a whole, equal to that of a stretch with the same tokens."""
        tokens = self.index.vocabulary.read(anchors, [""] * len(anchors))
        return _hash(_prefix(tokens.words), tokens.bounds[:-1], tokens.bounds[1:] - 1)


class Texts:
    """The tokens of some pages' texts; arrays [tokens] unless said otherwise.

    `rows`: the page's place among those read; `line_first`, `line_last`, `clause_first`, `clause_last`: tokens of the
    line and clause that hold it, the last one excluded; `begins`, `ends`: a link may begin with it, end with it.
    """

    def __init__(self, reader: Reader, pages: NDArray[np.int64]) -> None:
        site = reader.index.site
        self.pages = pages
        bodies = [site.bodies[page] for page in pages.tolist()]
        tokens = reader.index.vocabulary.read(bodies, [site.languages[page] for page in pages.tolist()])
        self.words, self.stems, self.bounds = tokens.words, tokens.stems, tokens.bounds
        self.start = tokens.starts
        self.stop = tokens.starts + tokens.lengths
        self.rows = tokens.pages()
        self.is_word = reader.is_word[self.words]
        self.is_stop = reader.is_stop[self.words]
        self.is_edge = np.isin(self.words, reader.marks)
        count = len(self.words)
        new_text = np.zeros(count + 1, dtype=bool)
        new_text[self.bounds] = True
        line_break = self.words == 0
        gap = np.ones(count + 1, dtype=bool)  # whether space or a line break stands before the token
        gap[1:count] = (self.start[1:] != self.stop[:-1]) | line_break[1:] | line_break[:-1] | new_text[1:count]
        kinds = reader.kinds[self.words]
        self._mark(kinds, gap, line_break)
        self.line_first, self.line_last = _runs(line_break, line_break)
        single = np.concatenate([[False], (self.stop - self.start == 1)[:-1] & self.is_word[:-1]])
        stop = np.isin(kinds, (_SENTENCE, _LOUD)) & gap[1:] & ~(single & (self.words == reader.full_stop))
        self.clause_first, self.clause_last = _runs(line_break | stop, line_break)
        self.capital = np.concatenate(
            [np.empty(0, dtype=bool)]
            + [
                _capitals(body, self.start[low:high])
                for body, low, high in zip(bodies, self.bounds[:-1], self.bounds[1:], strict=True)
            ]
        )

    def _mark(self, kinds: NDArray[np.int8], gap: NDArray[np.bool_], line_break: NDArray[np.bool_]) -> None:
        """Where a link may begin and end, by the punctuation and space around."""
        before = np.concatenate([[0], kinds[:-1]])
        after = np.concatenate([kinds[1:], [0]])
        glued, glued_after = ~gap[:-1], ~gap[1:]
        opening, closing, quote = kinds == _OPENING, kinds == _CLOSING, kinds == _QUOTE
        closes = np.isin(kinds, (_SENTENCE, _LOUD, _COMMA, _CLOSING))
        self.begins = ~line_break & ~closes & (~glued | np.isin(before, (_OPENING, _QUOTE)))
        self.begins &= ~quote | ~glued  # a quote with space before it opens
        further = np.concatenate([gap[2:], [True]])[: len(kinds)]  # whether space follows the next token
        free = ~glued_after | np.isin(after, (_CLOSING, _QUOTE, _COMMA))
        free |= np.isin(after, (_SENTENCE, _LOUD)) & further
        self.ends = ~line_break & ~opening & ~np.isin(kinds, (_SENTENCE, _COMMA)) & free
        self.ends &= ~quote | ~glued_after
        self.brackets = opening.astype(np.int8) - closing.astype(np.int8)
        self.quote = quote

    def neighbours(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The word before and the word after each token, 0 at a line break and at the ends of a text."""
        before = np.concatenate([self.words[:1] * 0, self.words[:-1]])
        after = np.concatenate([self.words[1:], self.words[:1] * 0])
        return before, after

    @cached_property
    def prefix(self) -> NDArray[np.uint64]:
        """Polynomial hashes of the first tokens, uint64 [tokens + 1]; sums wrap."""
        return _prefix(self.words)

    def hashes(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.uint64]:
        """A number for the tokens of each stretch, equal for equal ones."""
        return _hash(self.prefix, first, last)


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
    """Whether the character at each place of the folded text stands in upper case in the text."""
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


_INVERSE = np.uint64(pow(int(_BASE), -1, 1 << 64))


def _prefix(words: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Sums of token * base ** place; the base is odd, so that its powers have inverses."""
    power = np.multiply.accumulate(np.full(len(words), _BASE, dtype=np.uint64)) if len(words) else words.astype("u8")
    mixed = (words.astype(np.uint64) + np.uint64(1)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed * power, dtype=np.uint64)])


_UNDO: list[NDArray[np.uint64]] = [np.ones(1, dtype=np.uint64)]


def _undo(count: int) -> NDArray[np.uint64]:
    """Powers of the inverse of the base, at least `count` of them."""
    if len(_UNDO[0]) < count:
        powers = np.full(max(count, 1 << 20), _INVERSE, dtype=np.uint64)
        powers[0] = 1
        _UNDO[0] = np.multiply.accumulate(powers)
    return _UNDO[0]


def _hash(prefix: NDArray[np.uint64], first: NDArray[np.int64], last: NDArray[np.int64]) -> NDArray[np.uint64]:
    value: NDArray[np.uint64] = (prefix[last] - prefix[first]) * _undo(len(prefix))[first]
    return value


@dataclass(frozen=True)
class Edges:
    """Where visible links begin and end. Log-odds against the average token, float32 [vocabulary]: `begin_word` of a
    link that begins with the word, `begin_before` right after it; `end_word`, `end_after` alike; `inside` of a link
    that holds it."""

    begin_word: NDArray[np.float32]
    begin_before: NDArray[np.float32]
    end_word: NDArray[np.float32]
    end_after: NDArray[np.float32]
    inside: NDArray[np.float32]


@dataclass(frozen=True)
class LinkPlaces:
    """Where visible links stand, by page; arrays [m]: `page`, and `at`, `size`: tokens counted over all texts."""

    page: NDArray[np.int64]
    at: NDArray[np.int64]
    size: NDArray[np.int64]


def link_places(index: TextIndex, visible: NDArray[np.int64]) -> LinkPlaces:
    """The place of each of the links at positions `visible` whose anchor stands in its page."""
    found = index.occurrences
    wanted = anchors_said(index.site.links.src[visible], index.anchor_phrase[visible], index.book.count)
    place = link_tokens(found.page, found.phrase, found.at, wanted, index.book.count)
    page, at, size = (column[place].astype(np.int64) for column in (found.page, found.at, found.size))
    return LinkPlaces(page, at, size)


def _linked(places: LinkPlaces, index: TextIndex, texts: Texts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First token, and the one after the last, of the visible links of the texts."""
    low = np.searchsorted(places.page, texts.pages)
    count = np.searchsorted(places.page, texts.pages, side="right") - low
    mine = np.repeat(low - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
    page = places.page[mine]
    first = places.at[mine] - index.starts[page] + texts.bounds[np.searchsorted(texts.pages, page)]
    return first, first + places.size[mine]


def learn_edges(reader: Reader, places: LinkPlaces, blocks: Iterable[Texts]) -> Edges:
    """Counts over some texts."""
    size = len(reader.is_word)
    counts = np.zeros((5, 2, size))
    for texts in blocks:
        first, last = _linked(places, reader.index, texts)
        before, after = texts.neighbours()
        begins, ends = np.flatnonzero(texts.begins), np.flatnonzero(texts.ends)
        inside = np.zeros(len(texts.words) + 1, dtype=np.int64)
        np.add.at(inside, first, 1)
        np.add.at(inside, last, -1)
        held = np.flatnonzero((np.cumsum(inside)[:-1] > 0) & texts.is_word)
        looked = (
            (texts.words, first, begins), (before, first, begins),
            (texts.words, last - 1, ends), (after, last - 1, ends),
            (texts.stems, held, np.flatnonzero(texts.is_word)),
        )  # fmt: skip
        for number, (words, hit, every) in enumerate(looked):
            counts[number, 0] += np.bincount(words[hit], minlength=size)
            counts[number, 1] += np.bincount(words[every], minlength=size)
    kind = np.where(reader.is_stop, 1, np.where(reader.is_word, 2, 3))
    kind[0] = 0
    rates = []
    for number in range(5):
        hit, every = counts[number]
        overall = (hit.sum() + 1) / (every.sum() + 10)
        rate = (np.bincount(kind, hit, minlength=4) + 5 * overall) / (np.bincount(kind, every, minlength=4) + 5)
        value = (hit + SMOOTH * rate[kind]) / (np.maximum(every, hit) + SMOOTH)
        rates.append(np.round(np.log(value / overall), 4).astype(np.float32))
    return Edges(*rates)


@dataclass(frozen=True)
class Stretches:
    """Stretches of texts for pairs, by pair; arrays [m]: `pair` int64, `first`, `last` int64: tokens of `Texts`, the
    last one excluded; `features` float32 [m, len(SPAN_FEATURES)]."""

    pair: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    features: NDArray[np.float32]

    def take(self, keep: NDArray[np.int64]) -> Stretches:
        """Some of them."""
        return Stretches(self.pair[keep], self.first[keep], self.last[keep], self.features[keep])


class SpanFinder:
    """Finds stretches with the evidence of some visible links."""

    def __init__(self, evidence: TextEvidence, reader: Reader, edges: Edges) -> None:
        self.evidence, self.reader, self.edges = evidence, reader, edges
        index = evidence.index
        self.places = link_places(index, evidence.visible)
        pages = len(index.site)
        size = index.terms.shape[1]
        self.size = size
        self.idf = (np.log((pages + 1) / (index.in_texts + 1)) + 1).astype(np.float32)
        self.title_pages = np.bincount(index.title.indices, minlength=size)
        self._anchors()
        self._phrases()

    def _anchors(self) -> None:
        """The anchors of the visible links to each page, [pages, anchors], and the words of each, [anchors,
        vocabulary]."""
        index = self.evidence.index
        links = index.site.links
        visible = self.evidence.visible
        texts = list(dict.fromkeys(links.anchors[link] for link in visible.tolist()))
        number = {text: place for place, text in enumerate(texts)}
        of_link = np.array([number[links.anchors[link]] for link in visible.tolist()], dtype=np.int64)
        language = {links.anchors[link]: index.site.languages[links.dst[link]] for link in visible.tolist()}
        tokens = index.vocabulary.read(texts, [language[text] for text in texts])
        plain = self.reader.is_word[tokens.stems] & ~self.reader.is_stop[tokens.stems] & (tokens.stems < self.size)
        pages = len(index.site)
        self.words_of_anchor = sparse.csr_matrix(
            (self.idf[tokens.stems[plain]], (tokens.pages()[plain], tokens.stems[plain])), shape=(len(texts), self.size)
        )
        once = np.ones(len(visible), dtype=np.float32)
        self.anchors_to = sparse.csr_matrix((once, (links.dst[visible], of_link)), shape=(pages, len(texts)))

    def _said(self, targets: NDArray[np.int64]) -> sparse.csr_matrix:
        """Words of the anchors that visible links to each target use, [targets, vocabulary], rows of sum 1."""
        total = sparse.csr_matrix(self.anchors_to[targets] @ self.words_of_anchor, dtype=np.float32)
        length = np.asarray(total.sum(axis=1)).ravel()
        share = np.divide(1, length, out=np.zeros(len(targets), dtype=np.float32), where=length > 0)
        result = sparse.csr_matrix(sparse.diags(share) @ total, dtype=np.float32)
        result.sort_indices()
        return result

    def _phrases(self) -> None:
        """Hashes of the site's phrases, and what each means."""
        index, meanings = self.evidence.index, self.evidence.meanings
        value = self.reader.phrases
        # The book holds the anchors of hidden links too: only a phrase that means a page today may be known.
        known = np.unique(meanings.phrase).astype(np.int64)
        order = known[np.argsort(value[known], kind="stable")]
        self.phrase_hash, self.phrase_at = value[order], order
        key = meanings.phrase.astype(np.int64) * len(index.site) + meanings.page
        order = np.argsort(key, kind="stable")
        self.meaning_key, self.meaning_at = key[order], order
        self.phrase_links = np.bincount(meanings.phrase, meanings.links, minlength=index.book.count)

    def find(self, texts: Texts, row: NDArray[np.int64], target: NDArray[np.int64]) -> Stretches:
        """Stretches for pairs: row of `texts`, and target; pairs by row."""
        words = _Words(self, target)
        pair, first, last, kind = self._seeds(texts, row, target, words)
        pair, first, last, kind = self._grown(texts, pair, first, last, kind)
        begin, end = _linked(self.places, self.evidence.index, texts)
        step = np.zeros(len(texts.words) + 1, dtype=np.int64)
        np.add.at(step, begin, 1)
        np.add.at(step, end, -1)
        covered = np.concatenate([[0], np.cumsum(np.cumsum(step)[:-1] > 0)])
        free = covered[last] == covered[first]
        pair, first, last, kind = pair[free], first[free], last[free], kind[free]
        return Stretches(pair, first, last, self._features(texts, words, target, pair, first, last, kind, begin))

    def _seeds(
        self, texts: Texts, row: NDArray[np.int64], target: NDArray[np.int64], words: _Words
    ) -> tuple[NDArray[np.int64], ...]:
        index, pages = self.evidence.index, len(self.evidence.index.site)
        # Mentions.
        mentions = mention_rows(self.evidence, texts.pages)
        wanted = texts.pages[row] * pages + target
        order = np.argsort(wanted, kind="stable")
        key = mentions.donor * pages + mentions.target
        place = np.minimum(np.searchsorted(wanted[order], key), max(len(wanted) - 1, 0))
        hit = np.flatnonzero(wanted[order][place] == key) if len(wanted) else np.empty(0, np.int64)
        rank = np.arange(len(hit)) - np.searchsorted(key[hit], key[hit])
        hit = hit[rank < MENTION_SEEDS]
        pair = order[place[hit]]
        at = self.evidence.spots.place[mentions.spot[hit]]
        found = index.occurrences
        first = found.at[at] - index.starts[found.page[at]] + texts.bounds[row[pair]]
        last = first + found.size[at]
        # Words of the target.
        w_pair, w_at = self._word_seeds(texts, row, words)
        return (
            np.concatenate([pair, w_pair]),
            np.concatenate([first, w_at]),
            np.concatenate([last, w_at + 1]),
            np.concatenate([np.ones(len(pair), np.int64), np.zeros(len(w_pair), np.int64)]),
        )

    def _word_seeds(
        self, texts: Texts, row: NDArray[np.int64], words: _Words
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        plain = np.flatnonzero(texts.is_word & ~texts.is_stop & (texts.stems < self.size))
        key = texts.rows[plain].astype(np.int64) * self.size + texts.stems[plain]
        order = np.argsort(key, kind="stable")
        key, plain = key[order], plain[order]
        wanted, place = words.wanted, words.place
        low, size = wanted.indptr[place], np.diff(wanted.indptr)[place]
        pair = np.repeat(np.arange(len(row)), size)
        entry = np.repeat(low - (np.cumsum(size) - size), size) + np.arange(int(size.sum()))
        asked = row[pair] * self.size + wanted.indices[entry]
        begin = np.searchsorted(key, asked)
        count = np.minimum(np.searchsorted(key, asked, side="right") - begin, 8)
        pair, weight = np.repeat(pair, count), np.repeat(wanted.data[entry], count)
        place = np.repeat(begin - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
        at = plain[place]
        order = np.lexsort((at, pair))
        pair, at, weight = pair[order], at[order], weight[order]
        span = len(texts.words) + 64
        line = pair * span + at
        total = np.concatenate([[0], np.cumsum(weight, dtype=np.float64)])
        near = total[np.searchsorted(line, line + 5)] - total[np.searchsorted(line, line - 4)]
        order = np.lexsort((at, -np.round(near + 0.3 * weight, 5), pair))
        rank = np.arange(len(order)) - np.searchsorted(pair[order], pair[order])
        keep = order[rank < WORD_SEEDS]
        return pair[keep], at[keep]

    def _grown(
        self,
        texts: Texts,
        pair: NDArray[np.int64],
        first: NDArray[np.int64],
        last: NDArray[np.int64],
        kind: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], ...]:
        """Each seed to the likely beginnings and ends around it, and to its clause and line; distinct stretches."""
        edges = self.edges
        before, after = texts.neighbours()
        begin = np.where(texts.begins, edges.begin_word[texts.words] + edges.begin_before[before], -np.inf)
        end = np.where(texts.ends, edges.end_word[texts.words] + edges.end_after[after], -np.inf)
        step = np.arange(REACH + 1)
        left = first[:, None] - step
        value = np.where(left >= texts.clause_first[first][:, None], begin[np.maximum(left, 0)], -np.inf)
        value[:, 0] += np.where(np.isfinite(value[:, 0]), 100, 0)  # the seed's own beginning is always tried
        best = np.argsort(-value, axis=1, kind="stable")[:, :EDGES_A_SEED]
        begins, begins_ok = np.take_along_axis(left, best, 1), np.isfinite(np.take_along_axis(value, best, 1))
        right = last[:, None] + step
        top = np.maximum(texts.clause_last[last - 1], last)
        value = np.where(right <= top[:, None], end[np.minimum(right, len(end)) - 1], -np.inf)
        value[:, 0] += np.where(np.isfinite(value[:, 0]), 100, 0)
        best = np.argsort(-value, axis=1, kind="stable")[:, :EDGES_A_SEED]
        ends, ends_ok = np.take_along_axis(right, best, 1), np.isfinite(np.take_along_axis(value, best, 1))
        shape = (len(first), EDGES_A_SEED, EDGES_A_SEED)
        ok = begins_ok[:, :, None] & ends_ok[:, None, :]
        seed = np.broadcast_to(np.arange(len(first))[:, None, None], shape)[ok]
        grown_first = np.broadcast_to(begins[:, :, None], shape)[ok]
        grown_last = np.broadcast_to(ends[:, None, :], shape)[ok]
        parts = [(pair[seed], grown_first, grown_last, kind[seed])]
        place = np.arange(len(texts.words))
        next_begin = np.minimum.accumulate(np.where(texts.begins, place, len(place))[::-1])[::-1]
        last_end = np.concatenate([[0], np.maximum.accumulate(np.where(texts.ends, place + 1, 0))])
        for low, high, longest in (
            (texts.line_first, texts.line_last, LONGEST_LINE),
            (texts.clause_first, texts.clause_last, 14),
        ):
            one, other = next_begin[low[first]], last_end[high[first]]
            fits = (one <= first) & (other >= last) & (other - one <= longest)
            parts.append((pair[fits], one[fits], other[fits], kind[fits]))
        parts.append((pair, first, last, kind))
        pair, first, last, kind = (np.concatenate(column) for column in zip(*parts, strict=True))
        key = (pair * (len(texts.words) + 1) + first) * 64 + np.minimum(last - first, 63)
        order = np.lexsort((-kind, key))
        key = key[order]
        order = order[np.concatenate([[True], key[1:] != key[:-1]])[: len(key)]]
        order = order[last[order] > first[order]]
        return pair[order], first[order], last[order], kind[order]

    def _features(
        self,
        texts: Texts,
        of_targets: _Words,
        target: NDArray[np.int64],
        pair: NDArray[np.int64],
        first: NDArray[np.int64],
        last: NDArray[np.int64],
        kind: NDArray[np.int64],
        link_starts: NDArray[np.int64],
    ) -> NDArray[np.float32]:
        edges, evidence = self.edges, self.evidence
        book = evidence.index.book
        before, after = texts.neighbours()
        end = last - 1
        size = last - first
        columns: dict[str, NDArray[Any]] = {
            "begin_word": edges.begin_word[texts.words[first]],
            "begin_before": edges.begin_before[before[first]],
            "end_word": edges.end_word[texts.words[end]],
            "end_after": edges.end_after[after[end]],
        }
        columns["begin"] = columns["begin_word"] + columns["begin_before"]
        columns["end"] = columns["end_word"] + columns["end_after"]
        # Sums over the tokens of each stretch.
        span = np.repeat(np.arange(len(first)), size)
        token = np.repeat(first - (np.cumsum(size) - size), size) + np.arange(int(size.sum()))
        plain = texts.is_word[token] & ~texts.is_stop[token] & (texts.stems[token] < self.size)
        span, token = span[plain], token[plain]
        stems = texts.stems[token]
        values = of_targets.values(pair[span], stems)
        idf = self.idf[stems]

        def total(value: NDArray[np.generic]) -> NDArray[np.float32]:
            return np.bincount(span, value, minlength=len(first)).astype(np.float32)

        whole = np.maximum(total(idf), 1e-6)
        titled = values[:, 0] > 0
        known = values.max(axis=1) > 0
        columns["title_share"] = np.minimum(total(values[:, 0]), 1.5)
        columns["title_part"] = total(idf * titled) / whole
        columns["anchor_share"] = total(values[:, 1])
        columns["term_share"] = total(values[:, 2])
        columns["strangers"] = total(~known)
        columns["inside"] = total(edges.inside[stems]) / np.maximum(total(np.ones(len(span))), 1)
        most = np.full(len(first), -9.0, dtype=np.float32)
        np.maximum.at(most, span, edges.inside[stems])
        columns["inside_most"] = most
        words = np.concatenate([[0], np.cumsum(texts.is_word)])
        columns["words"] = words[last] - words[first]
        columns["tokens"] = size
        columns["chars"] = texts.stop[end] - texts.start[first]
        # The phrase, its punctuation at the ends left out.
        edge = texts.is_edge
        places = np.arange(len(edge))
        inner_next = np.minimum.accumulate(np.where(~edge, places, len(edge))[::-1])[::-1]
        inner_last = np.maximum.accumulate(np.where(~edge, places, -1))
        low = np.minimum(inner_next[first], end)
        high = np.maximum(inner_last[end] + 1, low + 1)
        value = texts.hashes(low, high)
        place = np.minimum(np.searchsorted(self.phrase_hash, value), max(len(self.phrase_hash) - 1, 0))
        same = self.phrase_hash[place] == value if len(self.phrase_hash) else np.zeros(len(value), bool)
        phrase = np.where(same, self.phrase_at[place] if len(self.phrase_at) else 0, 0)
        asked = phrase.astype(np.int64) * len(evidence.index.site) + target[pair]
        place = np.minimum(np.searchsorted(self.meaning_key, asked), max(len(self.meaning_key) - 1, 0))
        means = same & (self.meaning_key[place] == asked) if len(self.meaning_key) else np.zeros(len(value), bool)
        meaning = np.where(means, self.meaning_at[place] if len(self.meaning_at) else 0, 0)
        meanings = evidence.meanings
        if book.count and len(meanings.phrase):
            bits = np.where(means, meanings.bits[meaning], 0)
            columns["links"] = np.log1p(np.where(means, meanings.links[meaning], 0))
            columns["share"] = np.where(means, meanings.share[meaning], 0)
            columns["keyness"] = np.where(same, evidence.keyness[phrase], 0)
            columns["phrase_links"] = np.log1p(np.where(same, self.phrase_links[phrase], 0))
            columns["pages"] = np.log1p(np.where(same, evidence.mentioned[phrase], 0))
            columns["named"] = np.select([bits & (TITLE | H1) > 0, bits & SHORT > 0, bits & SLUG > 0], [3, 2, 1], 0)
        else:
            for name in ("links", "share", "keyness", "phrase_links", "pages", "named"):
                columns[name] = np.zeros(len(first))
        # The place.
        columns["line_start"] = first == texts.line_first[first]
        columns["line_end"] = last == texts.line_last[end]
        columns["clause_start"] = first == texts.clause_first[first]
        columns["clause_end"] = last >= texts.clause_last[end] - 1
        columns["line_tokens"] = np.log1p(texts.line_last[first] - texts.line_first[first])
        links = np.zeros(len(texts.words) + 1, dtype=np.int64)
        np.add.at(links, link_starts, 1)
        links = np.concatenate([[0], np.cumsum(links)])
        columns["line_links"] = np.minimum(links[texts.line_last[first]] - links[texts.line_first[first]], 20)
        begin = texts.bounds[texts.rows[first]]
        columns["place"] = (first - begin) / np.maximum(texts.bounds[texts.rows[first] + 1] - begin, 1)
        columns["capital"] = texts.capital[first]
        columns["capitals"] = total(texts.capital[token]) / np.maximum(total(np.ones(len(span))), 1)
        columns["stop_start"] = texts.is_stop[first]
        columns["stop_end"] = texts.is_stop[end]
        open_brackets = np.concatenate([[0], np.cumsum(texts.brackets)])
        columns["brackets"] = np.abs(open_brackets[last] - open_brackets[first])
        quotes = np.concatenate([[0], np.cumsum(texts.quote)])
        columns["quoted"] = quotes[last] - quotes[first]
        columns["seed"] = kind
        for name, of in (
            ("edges_rank", columns["begin"] + columns["end"]),
            ("title_rank", columns["title_share"]),
            ("links_rank", columns["links"] + columns["share"]),
        ):
            best = np.full(int(pair.max(initial=-1)) + 1, -np.inf)
            np.maximum.at(best, pair, of)
            columns[name] = of - best[pair]
        return np.column_stack([columns[name].astype(np.float32) for name in SPAN_FEATURES])


CONTEXT_FEATURES: tuple[str, ...] = (
    "rarity", "rarest", "title_pages", "title_missing", "numbers_missing", "numbers_other", "joined_before",
    "joined_after", "name_before", "name_after", "own_title_part", "own_title_share", "clause_tokens",
)  # fmt: skip


def in_context(finder: SpanFinder, texts: Texts, target: NDArray[np.int64], found: Stretches) -> NDArray[np.float32]:
    """What the words around each stretch, and the titles of both pages, say of it, float32
    [m, len(CONTEXT_FEATURES)]; `target` [pairs]: the target of each pair.

    rarity, rarest     sum and maximum of the inverse document frequencies of its words
    title_pages        pages that name the rarest of its words in their title, as a logarithm
    title_missing      share of the target's title that neither the stretch nor its clause says
    numbers_missing    words with digits (years, versions) in the target's title that the clause does not say
    numbers_other      words with digits in the clause that the title does not say, where it says some
    joined_before, joined_after   a word follows without a space ("Node.js", "A/B")
    name_before, name_after       a capitalised word continues one at that end of the stretch
    own_title_part, own_title_share   how much of the stretch stands in the donor's own title, and of that title in it
    clause_tokens      length of the clause, as a logarithm
    """
    reader, index = finder.reader, finder.evidence.index
    first, last, pair = found.first, found.last, found.pair
    end, count, size = last - 1, len(found.first), finder.size
    columns: dict[str, NDArray[Any]] = {}

    def plain(low: NDArray[np.int64], high: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The stretch and the token of each word of the spans that is no function word."""
        length = np.maximum(high - low, 0)
        row = np.repeat(np.arange(count), length)
        token = np.repeat(low - (np.cumsum(length) - length), length) + np.arange(int(length.sum()))
        keep = texts.is_word[token] & ~texts.is_stop[token] & (texts.stems[token] < size)
        return row[keep], token[keep]

    row, token = plain(first, last)
    stems = texts.stems[token]
    idf = finder.idf[stems]
    columns["rarity"] = np.bincount(row, idf, minlength=count)
    rarest = np.zeros(count)
    np.maximum.at(rarest, row, idf)
    columns["rarest"] = rarest
    fewest = np.full(count, np.inf)
    np.minimum.at(fewest, row, finder.title_pages[stems])
    columns["title_pages"] = np.log1p(np.where(np.isfinite(fewest), fewest, len(index.site)))

    def weights(matrix: sparse.csr_matrix, page: NDArray[np.int64], stem: NDArray[np.int64]) -> NDArray[np.float32]:
        pages, place = np.unique(page, return_inverse=True)
        return pair_values(matrix[pages], place, stem)

    own_page = texts.pages[texts.rows[first]]
    mine = weights(index.title, own_page[row], stems.astype(np.int64))
    whole = np.maximum(columns["rarity"], 1e-6)
    columns["own_title_part"] = np.bincount(row, idf * (mine > 0), minlength=count) / whole
    columns["own_title_share"] = np.minimum(np.bincount(row, mine, minlength=count), 1.5)

    low, high = texts.clause_first[first], np.maximum(texts.clause_last[end], last)
    row, token = plain(low, high)
    key = np.unique(row * size + texts.stems[token])
    row, stem = key // size, key % size
    asked = target[pair]
    there = weights(index.title, asked[row], stem)
    columns["title_missing"] = 1 - np.minimum(np.bincount(row, there, minlength=count), 1)
    digit = reader.has_digit[stem]
    titles = sparse.csr_matrix(index.title[asked])
    in_title = np.repeat(np.arange(count), np.diff(titles.indptr))
    numbers = np.bincount(in_title, reader.has_digit[titles.indices], minlength=count)
    said = np.bincount(row, digit & (there > 0), minlength=count)
    columns["numbers_missing"] = numbers - said
    columns["numbers_other"] = np.where(numbers > 0, np.bincount(row, digit & (there == 0), minlength=count), 0)

    total = len(texts.words)
    before, after = np.maximum(first - 1, 0), np.minimum(last, total - 1)
    inside_before, inside_after = first > low, last < high
    touching_before = inside_before & (texts.stop[before] == texts.start[first])
    touching_after = inside_after & (texts.start[after] == texts.stop[end])
    further, beyond = np.maximum(first - 2, 0), np.minimum(last + 1, total - 1)
    word_further = (further >= low) & (texts.stop[further] == texts.start[before]) & texts.is_word[further]
    word_beyond = (beyond < high) & (texts.start[beyond] == texts.stop[after]) & texts.is_word[beyond]
    columns["joined_before"] = touching_before & (texts.is_word[before] | word_further)
    columns["joined_after"] = touching_after & (texts.is_word[after] | word_beyond)
    columns["name_before"] = inside_before & texts.is_word[before] & texts.capital[before] & texts.capital[first]
    columns["name_after"] = inside_after & texts.is_word[after] & texts.capital[after] & texts.capital[end]
    columns["clause_tokens"] = np.log1p(high - low)
    return np.column_stack([columns[name].astype(np.float32) for name in CONTEXT_FEATURES])


class _Words:
    """The words of the targets of some pairs: `place` int64 [pairs]: each pair's target among the distinct ones;
    `wanted` [targets, vocabulary]: the TERMS that are looked for."""

    def __init__(self, finder: SpanFinder, target: NDArray[np.int64]) -> None:
        targets, self.place = np.unique(target, return_inverse=True)
        index, self.size = finder.evidence.index, finder.size
        title, said, terms = index.title[targets], finder._said(targets), index.terms[targets]
        self.wanted = top_rows(sparse.csr_matrix(3 * title + 2 * said + terms, dtype=np.float32), TERMS)
        joined = sparse.csr_matrix((title != 0) + (said != 0) + (terms != 0))
        joined.sort_indices()
        row = np.repeat(np.arange(len(targets), dtype=np.int64), np.diff(joined.indptr))
        self._key = row * self.size + joined.indices
        self._values = np.column_stack(
            [pair_values(matrix, row, joined.indices.astype(np.int64)) for matrix in (title, said, terms)]
        )

    def values(self, pair: NDArray[np.int64], stems: NDArray[np.int32]) -> NDArray[np.float32]:
        """How much each stem weighs in the title of its pair's target, in the anchors that lead there, and among its
        terms, float32 [k, 3]."""
        if not len(self._key):
            return np.zeros((len(stems), 3), dtype=np.float32)
        asked = self.place[pair] * self.size + stems
        at = np.minimum(np.searchsorted(self._key, asked), len(self._key) - 1)
        return np.where((self._key[at] == asked)[:, None], self._values[at], np.float32(0))
