"""Which paragraph of a text would take one more sentence, about another page, where no words of the text will do.

Five scores compare a paragraph with the target: how much of the target's name it says, of its opening lines, of the
anchors that other pages link to it by, how alike the two texts are, and whether one of the names or anchors is in it as
a whole. The first three are BM25 (Robertson and Zaragoza, 2009), the fourth is a cosine of tf-idf. Each score is
divided by the best that a paragraph of the text gets, so that none needs a weight, and the five are added.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from linker.engine.anchors.placement import unsuitable
from linker.engine.text.fold import fold
from linker.engine.text.generic import primary_language, stop_words
from linker.engine.text.headings import heading_above, is_list_item
from linker.engine.text.marks import SENTENCE_ENDS, WIDE_SENTENCE_ENDS
from linker.engine.text.names import short_forms
from linker.engine.text.template import Template
from linker.engine.text.tokens import Vocabulary

LEAST_WORDS = 6  # words of a paragraph, function words not counted
LONG_LINE = 40  # characters from which a line may be one that many pages have
ON_MANY_PAGES = 3  # pages of the sample that hold a line which belongs to the template
OPENING = 600  # characters of the other page's text that say what it is about
READ = 4_000  # characters of it that are compared
TERMS = 60  # its heaviest terms
SATURATION, LENGTH = 1.2, 0.5  # of BM25
_Lines = list[list[int]]  # the stems of a text's lines
_ENDS = (*SENTENCE_ENDS, *WIDE_SENTENCE_ENDS, '"', "”", "“", "»", "«", ")", "]", "’")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`text[start:end]` of the source, and the heading above it, or ""."""

    start: int
    end: int
    heading: str


@dataclass(frozen=True, slots=True)
class TargetContent:
    """The other page: `names` are its title and first heading and their short forms without the site's template,
    `text` is the beginning of its body, `anchors` are those of links that lead to it, one a link."""

    names: Sequence[str]
    text: str
    anchors: Sequence[str]
    language: str


class SiteWords:
    """How rare words are on a site, and which lines many of its pages have, by a sample of its texts."""

    def __init__(self, texts: Sequence[str], languages: Sequence[str]) -> None:
        self._vocabulary = Vocabulary()
        self._languages: set[str] = set()
        self._counted = np.zeros(0, dtype=bool)
        in_texts: Counter[int] = Counter()
        for lines in self.read(texts, languages):
            in_texts.update({stem for line in lines for stem in line})
        self._in_texts = dict(in_texts)
        self._rarity = [log((len(texts) - found + 0.5) / (found + 0.5) + 1) for found in range(len(texts) + 1)]
        lines_of = Counter(line for text in texts for line in {fold(line) for line in text.split("\n")})
        self._repeated = frozenset(
            line for line, pages in lines_of.items() if pages >= ON_MANY_PAGES and len(line) >= LONG_LINE
        )

    def read(self, texts: Sequence[str], languages: Sequence[str]) -> list[_Lines]:
        """The stems of each line of each text, function words left out; of a very long text, its first lines."""
        tokens = self._vocabulary.read(texts, languages)
        if len(self._counted) < len(self._vocabulary) or not self._languages.issuperset(languages):
            self._languages |= set(languages)
            self._counted = self._vocabulary.word_mask() & ~self._vocabulary.stop_mask(self._languages)
            self._counted[0] = True  # the line break
        kept = self._counted[tokens.stems]
        found = []
        for first, stop in zip(tokens.bounds[:-1].tolist(), tokens.bounds[1:].tolist(), strict=True):
            lines: _Lines = [[]]
            for stem in tokens.stems[first:stop][kept[first:stop]].tolist():
                if stem:
                    lines[-1].append(stem)
                else:
                    lines.append([])
            found.append(lines[:-1])  # every text ends with a line break of its own
        return found

    def rarity(self, stem: int) -> float:
        """How much a word says: the inverse frequency of BM25, above 0."""
        return self._rarity[self._in_texts.get(stem, 0)]

    def is_repeated(self, line: str) -> bool:
        """Whether many pages have a line, as a notice or a call to action does."""
        return len(line) >= LONG_LINE and fold(line) in self._repeated


class TargetQuery:
    """What paragraphs are compared with: the words of a target, weighed once for all texts.

    `name`, `opening`, `anchors`: weights by stem, for BM25; `terms`: the weights of the TERMS heaviest stems, of length
    1; `phrases`: names and anchors as `_written` writes them with the sum of their words' rarity, rarest first."""

    def __init__(self, words: SiteWords, target: TargetContent) -> None:
        self._weigh(words, *words.read(_texts(target), [target.language] * 4))

    @classmethod
    def of_pages(cls, words: SiteWords, pages: Sequence[TargetContent]) -> list[TargetQuery]:
        """The queries for some targets, in their order, read together, which is several times faster than one by
        one."""
        texts = [text for target in pages for text in _texts(target)]
        read = words.read(texts, [target.language for target in pages for _ in range(4)])
        found = []
        for place in range(0, len(read), 4):
            query = cls.__new__(cls)
            query._weigh(words, *read[place : place + 4])
            found.append(query)
        return found

    def _weigh(self, words: SiteWords, names: _Lines, opening: _Lines, text: _Lines, anchors: _Lines) -> None:
        self.name = dict.fromkeys(_flat(names), 1.0)
        self.opening = dict.fromkeys(_flat(opening), 1.0)
        said = Counter(stem for line in anchors for stem in set(line))
        most = max(said.values(), default=1)
        self.anchors = {stem: times / most for stem, times in said.items()}
        weights = sorted(
            (((1 + log(times)) * words.rarity(stem), stem) for stem, times in Counter(_flat(text)).items()),
            reverse=True,
        )[:TERMS]
        length = sqrt(sum(weight * weight for weight, _ in weights)) or 1.0
        self.terms = {stem: weight / length for weight, stem in weights}
        phrases = {tuple(line) for line in (*names, *anchors) if line}
        self.phrases = sorted((sum(map(words.rarity, phrase)), _written(phrase)) for phrase in phrases)[::-1]


class SourceParagraphs:
    """The paragraphs of a text that would take a sentence: never headings, code, quotes, captions, rows of tables,
    items of lists, lists of links, lines that lead over to a list, nor what many pages have."""

    def __init__(
        self,
        words: SiteWords,
        text: str,
        lines: Sequence[Sequence[int]],
        headings: Iterable[str] = (),
        anchors: Iterable[str] = (),
    ) -> None:
        """`lines`: what `words` read of the text; `headings`: those that the page is known to have; `anchors`: those
        of its links."""
        self.text = text
        self._words = words
        linked = sorted(
            {fold(anchor) for anchor in anchors if anchor.strip()}, key=lambda anchor: (-len(anchor), anchor)
        )
        self._headings = tuple(headings)
        known = frozenset(map(fold, self._headings))
        self.spans: list[tuple[int, int]] = []
        self._stems: list[Sequence[int]] = []
        start = 0
        for line, stems in zip(text.split("\n"), lines, strict=False):
            span = start, start + len(line)
            start = span[1] + 1
            if len(stems) >= LEAST_WORDS and self._takes_a_sentence(line, span, known, linked):
                self.spans.append(span)
                self._stems.append(stems)
        self._counts = [Counter(stems) for stems in self._stems]
        self._mean = sum(map(len, self._stems)) / max(len(self._stems), 1)
        self._written = [_written(stems) for stems in self._stems]
        self._lengths = [
            sqrt(sum(((1 + log(times)) * words.rarity(stem)) ** 2 for stem, times in counts.items())) or 1.0
            for counts in self._counts
        ]

    def _takes_a_sentence(
        self, line: str, span: tuple[int, int], headings: frozenset[str], linked: Sequence[str]
    ) -> bool:
        shown = line.strip()
        return (
            shown.endswith(_ENDS)
            and "\t" not in shown
            and shown.count("|") < 2
            and not is_list_item(shown)
            and not unsuitable(self.text, *span)
            and not self._words.is_repeated(line)
            and not (headings and fold(shown) in headings)
            and not _is_mostly(shown, linked)
        )

    def scores(self, query: TargetQuery) -> list[float]:
        """How well each of `spans` would take a sentence about a page, from 0 to 5; 0 where nothing is in common."""
        answers: tuple[Callable[[int], float], ...] = (
            lambda place: self._bm25(query.name, place),
            lambda place: self._bm25(query.opening, place),
            lambda place: self._bm25(query.anchors, place),
            lambda place: self._cosine(query.terms, place),
            lambda place: next((rarity for rarity, phrase in query.phrases if phrase in self._written[place]), 0.0),
        )
        total = [0.0] * len(self.spans)
        for answer in answers:
            given = [answer(place) for place in range(len(self.spans))]
            best = max(given, default=0.0)
            if best > 0:
                total = [sum_ + value / best for sum_, value in zip(total, given, strict=True)]
        return total

    def best(self, query: TargetQuery) -> Paragraph | None:
        """The paragraph that would take a sentence about a page best, the first of equals; None where none has a word
        in common with it."""
        scores = self.scores(query)
        if not any(scores):
            return None
        start, end = self.spans[max(range(len(scores)), key=scores.__getitem__)]
        return Paragraph(start, end, heading_above(self.text, start, end, self._headings))

    def _bm25(self, query: dict[int, float], place: int) -> float:
        counts = self._counts[place]
        share = SATURATION * (1 - LENGTH + LENGTH * len(self._stems[place]) / self._mean)
        return sum(
            weight * self._words.rarity(stem) * counts[stem] * (SATURATION + 1) / (counts[stem] + share)
            for stem, weight in query.items()
            if stem in counts
        )

    def _cosine(self, terms: dict[int, float], place: int) -> float:
        counts = self._counts[place]
        said = sum(
            weight * (1 + log(counts[stem])) * self._words.rarity(stem)
            for stem, weight in terms.items()
            if stem in counts
        )
        return said / self._lengths[place]


def names_of(title: str, h1: str, template: Template, language: str) -> list[str]:
    """What a page is called: title and first heading without the site's template, and their short forms."""
    stops = stop_words(primary_language(language))
    whole = [template.strip(name) for name in (title, h1) if name]
    whole = [name for name in whole if name and not template.is_repeated(name)]
    return list(dict.fromkeys([*whole, *(form for name in whole for form in short_forms(name, stops) if form)]))


def _texts(target: TargetContent) -> tuple[str, str, str, str]:
    return "\n".join(target.names), target.text[:OPENING], target.text[:READ], "\n".join(target.anchors)


def _flat(lines: Iterable[Iterable[int]]) -> list[int]:
    return [stem for line in lines for stem in line]


def _written(stems: Iterable[int]) -> str:
    """Stems as a text in which a sequence of them is found as a whole."""
    return f" {' '.join(map(str, stems))} "


def _is_mostly(line: str, anchors: Sequence[str]) -> bool:
    """Whether more than half of a line are anchors, longest first: a list of links, and no prose."""
    left = whole = fold(line)
    for anchor in anchors:
        left = left.replace(anchor, "", 1)
    return len(left) < len(whole) / 2
