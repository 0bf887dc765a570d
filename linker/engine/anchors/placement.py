"""The place in a text that becomes a link, and the anchors it could carry."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import log
from types import MappingProxyType

from linker.engine.text.fold import fold, fold_chars, fold_offsets, is_boundary
from linker.engine.text.headings import is_heading_above, reads_as_code, reads_as_program
from linker.engine.text.marks import CLAUSE_ENDS, SENTENCE_ENDS, WIDE_SENTENCE_ENDS
from linker.engine.text.stems import stem

_QUOTE = re.compile(r"\s*(?:>|[\"“«„])")
_CAPTION = re.compile(
    r"\s*(?:fig(?:ure)?|table|tableau|abb(?:ildung)?|tabelle|figura|tabla|photo|credit|source|quelle|fuente)\b"
    r"(?:[\s.]*+\d+\s*+[.:]|\s*+[.:])",
    re.IGNORECASE,
)
# A tag that is written out and not closed before the words, and the steps of a click path ("Setup > Users > New").
_OPEN_TAG = re.compile(r"</?[A-Za-z][^<>]*$")
_STEP_BEFORE, _STEP_AFTER = re.compile(r"\S\s+[>›→]\s+[\"'“„«]?$"), re.compile(r"[\"'”“»]?\s+[>›→]\s+\S")
_STEP_READ = 10  # characters before words that tell whether they are a step
_WORD = re.compile(r"\w+")
_CLAUSE_END = re.compile(rf"[{SENTENCE_ENDS}{CLAUSE_ENDS}{WIDE_SENTENCE_ENDS}](?=\s|$)|\n|[{WIDE_SENTENCE_ENDS}]")
_LINE_READ = 1_000  # characters of a line that tell whether it is code, which takes quadratic time
NOWHERE: Mapping[str, int] = MappingProxyType({})
WORTH = 2  # links more that a line may have than another for the best place to be taken all the same
_READ = 200_000  # characters of a text in which parts of a name are looked for


class Verdict(StrEnum):
    """What became of the search for a place."""

    INLINE = "inline"  # a phrase of the text becomes the link
    RELATED = "related"  # no phrase; the link goes below the text
    GAP = "gap"  # no phrase although an inline link was asked for: nothing to anchor on, a content gap


@dataclass(frozen=True, slots=True)
class Place:
    """`text[start:end]` may become a link; `source`: where the phrase comes from, `weight`: how well it fits."""

    start: int
    end: int
    anchor: str
    source: str
    weight: float


@dataclass(frozen=True, slots=True)
class Placement:
    """The chosen anchor: with `place` for an inline link, without one for a related link or a gap."""

    verdict: Verdict
    anchor: str
    source: str
    place: Place | None
    others: tuple[Place, ...] = ()


class Folded:
    """A text and its folded form, with the way back from the folded text to the text, made only when needed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = fold_chars(text)
        self._offsets: list[int] | None = None
        self._same = text.isascii() and len(text) == len(self.folded)

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """A span of the folded text as a span of the text; None if it begins or ends inside a character."""
        if self._same:
            return start, end
        if self._offsets is None:
            self._offsets = fold_offsets(self.text)
            self._same = (
                len(self.folded) == len(self.text)
                and self._offsets[-1] == len(self.text)
                and all(place == offset for place, offset in enumerate(self._offsets))
            )
            if self._same:
                return start, end
        offsets = self._offsets
        last = bisect_left(offsets, end)
        first = bisect_left(offsets, start + 1) - 1
        if first < 0 or last >= len(offsets) or offsets[first] != start or offsets[last] != end:
            return None
        while last < len(self.text) and offsets[last + 1] == offsets[last]:  # accents that follow the last letter
            last += 1
        return first, last


def line_of(text: str, start: int) -> tuple[int, int]:
    """The line that holds the position: first character, and the one after the last."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    return first, len(text) if last < 0 else last


def unsuitable(text: str, start: int, end: int) -> str:
    """Why there must be no link here: "heading", "code", "path", "quote" or "caption"; "" where there may be one.

    Plain text has no markup, so this judges by shape: a heading is a short line without a full stop above a longer
    one; a line that is nothing but the phrase may be an entry of a list and is allowed.
    """
    first, last = line_of(text, start)
    line = text[first:last]
    if reads_as_code(line[:_LINE_READ]) and not line.rstrip().endswith((".", "?", "!")):
        return "code"
    if reads_as_program(line[:_LINE_READ]) and any(map(reads_as_program, _lines_beside(text, first, last))):
        return "code"
    if _OPEN_TAG.search(line[: start - first][-_LINE_READ:]) and ">" in line[end - first :]:
        return "code"
    if _STEP_BEFORE.search(line[: start - first][-_STEP_READ:]) or _STEP_AFTER.match(line, end - first):
        return "path"
    if _CAPTION.match(line):
        return "caption"
    if _QUOTE.match(line) and line.count(" ") > 3:
        return "quote"
    if is_heading_above(line, _next_line(text, last)) and line.strip() != text[start:end]:
        return "heading"
    return ""


def _lines_beside(text: str, first: int, last: int) -> tuple[str, str]:
    """The beginnings of the lines above and below the one from `first` to `last`."""
    above = text[text.rfind("\n", 0, max(first - 1, 0)) + 1 : max(first - 1, 0)]
    return above[:_LINE_READ], text[last + 1 : last + 1 + _LINE_READ].split("\n", 1)[0]


def _next_line(text: str, last: int) -> str:
    """The beginning of the next line that is not empty, behind the line that ends at `last`."""
    return text[last + 1 : last + 400].lstrip().split("\n", 1)[0]


def occurrences(text: Folded, phrase: str, most: int = 50) -> list[tuple[int, int]]:
    """Spans of `phrase` in the text, folded alike, on word boundaries, in order; at most `most`."""
    words = fold_chars(phrase).split()
    if not words:
        return []
    folded = text.folded
    if any(word not in folded for word in words):  # most phrases are not there
        return []
    spans: list[tuple[int, int]] = []
    start = folded.find(words[0])
    while start >= 0 and len(spans) < most:
        if is_boundary(folded, start):
            end = _end_of(words, folded, start)
            if end > start and is_boundary(folded, end):
                span = text.span(start, end)
                if span is not None:
                    spans.append(span)
        start = folded.find(words[0], start + 1)
    return spans


def _end_of(words: list[str], folded: str, start: int) -> int:
    """Where the words end that begin at `start`, with blanks between them; -1 where others stand there. A regular
    expression says the same, and takes longer to make than to look for."""
    end = start + len(words[0])
    for word in words[1:]:
        begin = end
        while folded.startswith(" ", begin):
            begin += 1
        if begin == end or not folded.startswith(word, begin):
            return -1
        end = begin + len(word)
    return end


class StemPositions:
    """The words of a text by their stem, to find where parts of a name are close together."""

    def __init__(self, text: Folded, language: str) -> None:
        self.text = text
        self.language = language
        self._spans: list[tuple[int, int]] = []
        self._places: dict[str, list[int]] = {}
        for number, found in enumerate(_WORD.finditer(text.folded[:_READ])):
            self._spans.append(found.span())
            self._places.setdefault(stem(found.group(), language), []).append(number)

    def nearest_to(self, name: str, stops: frozenset[str], longest: int = 8) -> tuple[int, int] | None:
        """The span of the text that is most like `name`, in characters; None where there is none, ties to the earlier.

        It holds at least two different words of the name, words of `stops` not counted, within `longest` words of one
        clause; as many of them as possible, and as close together. A word counts less the more often the text has it.
        """
        wanted = {stem(word, self.language) for word in _WORD.findall(fold(name)) if word not in stops}
        weight = {word: 1 / (1 + log(len(self._places[word]))) for word in wanted if word in self._places}
        if len(weight) < 2:
            return None
        hits = sorted((place, word) for word in weight for place in self._places[word])
        best, span = 0.0, None
        for first, (start, _) in enumerate(hits):
            seen: set[str] = set()
            total = 0.0
            for stop, word in hits[first : first + longest]:
                if stop - start >= longest or _CLAUSE_END.search(
                    self.text.folded, self._spans[start][1], self._spans[stop][0]
                ):
                    break
                if word in seen:
                    continue
                seen.add(word)
                total += weight[word]
                score = total - 0.15 * (stop - start + 1 - len(seen))
                if len(seen) > 1 and score > best + 1e-9:
                    best, span = score, (self._spans[start][0], self._spans[stop][1])
        return None if span is None else self.text.span(*span)


class LinkableText:
    """The text of a source while links are placed in it: no two on the same words, one for each target, spread out."""

    def __init__(
        self,
        text: str,
        linked: Iterable[str] = (),
        taken: Iterable[tuple[int, int]] = (),
        headings: Iterable[str] = (),
    ) -> None:
        """`linked`: anchors of the links that the page has already, one for each link; as many mentions of them, the
        first ones, count as taken. `taken`: spans of the text that other links will have. `headings`: those that the
        page is known to have; a line that reads like one of them carries no link."""
        self.text = text
        self.headings = tuple(headings)
        self._headings = frozenset(map(fold, self.headings))
        self._folded = Folded(text)
        self._taken: list[tuple[int, int]] = list(taken)
        self.existing: list[tuple[int, int]] = []
        for anchor, links in sorted(Counter(linked).items(), key=lambda item: (-len(item[0]), item[0])):
            # Each place that is taken may hold a mention that is not free.
            mentions = occurrences(self._folded, anchor, len(self._taken) + links)
            free = [span for span in mentions if not self._overlaps(span)][:links]
            self._taken += free
            self.existing += free

    def _overlaps(self, span: tuple[int, int]) -> bool:
        return any(span[0] < end and start < span[1] for start, end in self._taken)

    def suits(self, span: tuple[int, int]) -> bool:
        """Whether a link suits this line; whether its words are taken does not matter."""
        if self._headings:
            first, last = line_of(self.text, span[0])
            if fold(self.text[first:last]) in self._headings:
                return False
        return not unsuitable(self.text, *span)

    def _lines_taken(self, span: tuple[int, int]) -> int:
        first, last = line_of(self.text, span[0])
        return sum(first <= start < last for start, _ in self._taken)

    def places(self, phrases: Sequence[tuple[str, str, float]], best: Mapping[str, int] = NOWHERE) -> list[Place]:
        """Where each of `phrases` (phrase, source, weight) has a place, as it is written there, in their order.

        Of the suitable free mentions of a phrase the one on the line with the fewest links, then the earliest; the one
        that begins where `best` says, by phrase, as if its line had WORTH links fewer.
        """
        places: list[Place] = []
        for phrase, source, weight in phrases:
            spans = [span for span in occurrences(self._folded, phrase) if not self._overlaps(span)]
            spans = [span for span in spans if self.suits(span)]
            if spans:
                wanted = best.get(phrase)
                start, end = min(spans, key=lambda span: self._order(span, wanted))
                places.append(Place(start, end, self.text[start:end], source, weight))
        return places

    def _order(self, span: tuple[int, int], wanted: int | None) -> tuple[int, bool, int]:
        """What a mention is chosen by, lowest first; `wanted`: where the best one begins."""
        is_wanted = span[0] == wanted
        return self._lines_taken(span) - WORTH * is_wanted, not is_wanted, span[0]

    def take(
        self,
        phrases: Sequence[tuple[str, str, float]],
        fallback: tuple[str, str],
        inline: bool = True,
        best: Mapping[str, int] = NOWHERE,
    ) -> Placement:
        """A placement for one more target; `phrases`: (phrase, source, weight), best first, as they are written in the
        text.

        The best phrase that has a place wins, see `places`, which reads `best`. `fallback` (anchor, source) is what a
        related link says.
        """
        places = self.places(phrases, best)
        if not places:
            verdict = Verdict.GAP if inline else Verdict.RELATED
            return Placement(verdict, fallback[0], fallback[1], None)
        first, others = places[0], places[1:]
        self._taken.append((first.start, first.end))
        seen = {fold(first.anchor)}
        different = [place for place in others if fold(place.anchor) not in seen and not seen.add(fold(place.anchor))]  # type: ignore[func-returns-value]
        return Placement(Verdict.INLINE, first.anchor, first.source, first, tuple(different))

    def release(self, place: Place) -> None:
        """Makes the words of a place free again."""
        self._taken.remove((place.start, place.end))
