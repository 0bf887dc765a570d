"""The part of a donor's text that a card shows, word by word, so that an editor can move the ends of the anchor.

Offsets are positions in the text as it is stored; what is shown has no invisible characters.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from linker.engine.text.clean import clean, visible
from linker.engine.text.headings import heading_above
from linker.engine.text.sentences import find_phrase, sentences

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_ELLIPSIS_BEFORE, _ELLIPSIS_AFTER = "… ", " …"
LENGTH = 600  # characters of a paragraph that are shown; a longer one is cut between sentences
REACH = 2 * LENGTH  # no excerpt shows what is further away from its anchor
_TO_A_SPACE = 60  # characters; what is cut in a script without spaces is cut within a word
MARKED = (
    *range(0x20000),
    *range(0xE0100, 0xE01F0),
)  # where Unicode has marks; looking everywhere takes a tenth of a second
# Accents and vowel signs that are characters of their own, and soft hyphens, belong to the word they are in.
_MARKS = [chr(code) for code in MARKED if unicodedata.category(chr(code))[0] == "M" or code == 0xAD]
# In a pattern they stand as ranges, since those beyond the basic plane are compared one after the other.
_RANGES = [list(run) for _, run in groupby(enumerate(_MARKS), key=lambda item: ord(item[1]) - item[0])]
_ANY_MARK = "".join(f"{run[0][1]}-{run[-1][1]}" for run in _RANGES)
PAIRED = frozenset('()[]{}（）【】「」『』〈〉《》"“”„‟«»')  # marks that come in twos: see static/js/queue/marks.js
_MARK = re.compile("[" + re.escape("".join(sorted(PAIRED))) + "]")
_WORD = re.compile(rf"\w[\w{_ANY_MARK}]*(?:['’.‑-]\w[\w{_ANY_MARK}]*)*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A word, or what stands between two words: a bracket or a quotation mark by itself. `is_linked`: these words
    are a link of the site, or one that is to come."""

    text: str
    start: int
    end: int
    is_word: bool
    in_anchor: bool
    is_linked: bool

    @property
    def html(self) -> SafeString:
        names = [name for name, applies in (("is-anchor", self.in_anchor), ("is-linked", self.is_linked)) if applies]
        place = SafeString()
        if self.is_word:
            place = format_html(' data-from="{}" data-to="{}"', self.start, self.end)
        elif self.in_anchor or self.text in PAIRED:
            place = format_html(' data-low="{}" data-high="{}"', self.start, self.end)
        looks = format_html(' class="{}"', " ".join(names)) if names else ""
        own = mark_safe(' data-mine="1"') if self.in_anchor else ""  # what Esc marks again
        return format_html("<span{}{}{}>{}</span>", place, looks, own, self.text)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A paragraph in pieces; `is_cut` says at which ends something was left out. `heading` is the one above, or ""."""

    heading: str
    pieces: tuple[Piece, ...]
    is_cut: tuple[bool, bool]

    @property
    def html(self) -> SafeString:
        """The pieces as spans: a word has its place, what is in the anchor and what is linked a class."""
        parts = [_ELLIPSIS_BEFORE if self.is_cut[0] else ""]
        parts += [piece.html for piece in self.pieces if piece.text]
        parts.append(_ELLIPSIS_AFTER if self.is_cut[1] else "")
        return mark_safe("".join(parts))  # noqa: S308 - each piece has been escaped

    def holds(self, start: int, end: int) -> bool:
        """Whether the span lies within what is shown."""
        return bool(self.pieces) and self.pieces[0].start <= start and end <= self.pieces[-1].end


def excerpt_around(
    body: str,
    start: int,
    end: int,
    linked: Iterable[str] = (),
    places: Iterable[tuple[int, int]] = (),
    headings: Collection[str] = (),
) -> Excerpt:
    """The paragraph that holds `body[start:end]`, with that marked as the anchor.

    `linked` are the anchors of the links that the text has already: the first place of each in the excerpt is marked,
    unless it meets the span. `places` are where in the text others stand; `headings` those that the page is known to
    have.
    """
    line_start = body.rfind("\n", 0, start) + 1
    line_end = body.find("\n", end)
    line_end = len(body) if line_end < 0 else line_end
    first, last = _whole_sentences(body, start, end)
    if last - first > REACH:
        first, last = _by_words(body, max(first, start - LENGTH), min(last, end + LENGTH), start, end)
    shown = body[first:last]
    guessed = ((first + low, first + high) for low, high in _places(shown, linked))
    links = [*places, *(link for link in guessed if not (link[0] < end and start < link[1]))]
    pieces = tuple(_pieces(body, first, last, (start, end), links))
    return Excerpt(
        clean(heading_above(body, line_start, line_end, headings)), pieces, (first > line_start, last < line_end)
    )


def with_links_marked(text: str, linked: Iterable[str]) -> SafeString:
    """A text as HTML; the first place of each anchor of `linked` is marked as the excerpt marks links."""
    html, at = SafeString(""), 0
    for start, end in sorted(_places(text, linked)):
        if start >= at:
            html += format_html('{}<span class="is-linked">{}</span>', text[at:start], text[start:end])
            at = end
    return html + format_html("{}", text[at:])


def _whole_sentences(body: str, start: int, end: int) -> tuple[int, int]:
    """The sentences that meet the span, and of their neighbours as many as fit, the nearer ones first."""
    spans = [*sentences(body, start)]
    if end > spans[-1][1]:
        spans += sentences(body, end)
    inside = [at for at, (low, high) in enumerate(spans) if low < end and start < high] or [0]
    low, high = inside[0], inside[-1]
    while True:
        grown = [(low, high + 1), (low - 1, high)]
        if high - inside[-1] > inside[0] - low:
            grown.reverse()
        fits = [
            (one, other)
            for one, other in grown
            if one >= 0 and other < len(spans) and spans[other][1] - spans[one][0] <= LENGTH
        ]
        if not fits:
            return spans[low][0], spans[high][1]
        low, high = fits[0]


def _by_words(body: str, first: int, last: int, start: int, end: int) -> tuple[int, int]:
    """The range with both ends moved inwards to the next white space, where there is any near."""
    for at in range(first, min(start, first + _TO_A_SPACE)):
        if at == 0 or body[at - 1].isspace():
            first = at
            break
    for at in range(last, max(end, last - _TO_A_SPACE), -1):
        if at == len(body) or body[at].isspace():
            last = at
            break
    while first < start and _is_mark(body[first]):  # of a letter that is left out
        first += 1
    while last > end and last < len(body) and _is_mark(body[last]):
        last -= 1
    return first, last


def _is_mark(char: str) -> bool:
    return char == "\u00ad" or unicodedata.category(char).startswith("M")


def _places(text: str, phrases: Iterable[str]) -> Iterator[tuple[int, int]]:
    for phrase in phrases:
        found = find_phrase(text, phrase)
        if found is not None:
            yield found


def _pieces(body: str, first: int, last: int, anchor: tuple[int, int], links: list[tuple[int, int]]) -> Iterator[Piece]:
    for low, high, is_word in _ranges(body, first, last):
        marks = () if is_word else (edge for found in _MARK.finditer(body, low, high) for edge in found.span())
        cuts = sorted({low, high, *marks, *(cut for cut in anchor if low < cut < high)})
        for one, other in pairwise(cuts):
            yield Piece(
                visible(body[one:other]),
                one,
                other,
                is_word,
                anchor[0] <= one and other <= anchor[1],
                any(low <= one and other <= high for low, high in links),
            )


def _ranges(body: str, first: int, last: int) -> Iterator[tuple[int, int, bool]]:
    """The words of the range and what stands between them, in order; the third says whether it is a word."""
    at = first
    for found in _WORD.finditer(body, first, last):
        yield at, found.start(), False
        yield found.start(), found.end(), True
        at = found.end()
    yield at, last, False
