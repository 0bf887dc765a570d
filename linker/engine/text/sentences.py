"""Where a phrase is in a text, and the sentences around it. Offsets are positions in the text as given."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

from linker.engine.text.clean import visible
from linker.engine.text.fold import fold, fold_chars, fold_offsets, is_boundary
from linker.engine.text.headings import heading_above, lines_above, looks_like_heading
from linker.engine.text.marks import CLOSING, SENTENCE_ENDS, WIDE_CLOSING, WIDE_SENTENCE_ENDS
from linker.engine.text.words import ABBREVIATIONS

FAR = 600  # characters without the end of a sentence, which are no sentence
SIDE = 200  # characters shown on each side of the match, and of each neighbouring sentence
# The look-behind keeps a long run of dots linear: an end is only tried at the start of a run.
_SENTENCE_END = re.compile(
    rf"(?<![{SENTENCE_ENDS}])[{SENTENCE_ENDS}]++[{re.escape(CLOSING)}]*+(?=\s)|[{WIDE_SENTENCE_ENDS}]++[{WIDE_CLOSING}]*+"
)
_LAST_TOKEN = re.compile(r"[^\s(\[\"'“‘«]{1,12}\Z")
_ABBREVIATIONS = frozenset(ABBREVIATIONS.split())


@dataclass(frozen=True, slots=True)
class Context:
    """What an editor sees around an anchor. Shown text: invisible characters are gone, whitespace is collapsed.

    `sentence_before + match + sentence_after` is the sentence, cut with an ellipsis to about 200 characters a side;
    `before` and `after` are the sentences next to it, `heading` the nearest heading above; each may be "".
    """

    before: str
    sentence_before: str
    match: str
    sentence_after: str
    after: str
    heading: str


# A card looks for several anchors in one text.
_folded = lru_cache(maxsize=8)(fold_chars)


def find_phrase(text: str, phrase: str) -> tuple[int, int] | None:
    """The first `(start, end)` in `text` of `phrase` as whole words, or None.

    Case, diacritics, width, typographic quotes and dashes and the amount of whitespace do not matter. A line break
    ends a paragraph, so no match crosses one. A phrase without a visible character is found nowhere.
    """
    words = fold_chars(phrase).split()
    if not words:
        return None
    pattern = re.compile(" +".join(map(re.escape, words)))
    folded = _folded(text)
    offsets: list[int] | None = None
    position = 0
    while found := pattern.search(folded, position):
        start, end = found.span()
        position = start + 1
        if not (is_boundary(folded, start) and is_boundary(folded, end)):
            continue
        if text.isascii() and len(folded) == len(text):
            return start, end
        offsets = offsets or fold_offsets(text)
        span = _original_span(text, offsets, start, end)
        if span is not None:
            return span
    return None


def reads_as(text: str, start: int, end: int, phrase: str) -> bool:
    """Whether `text[start:end]` is still the phrase, folded alike: the text may have moved since the span was taken."""
    return 0 <= start < end <= len(text) and fold(text[start:end]) == fold(phrase)


def _original_span(text: str, offsets: list[int], start: int, end: int) -> tuple[int, int] | None:
    """Back from the folded text; None if the span begins or ends inside a character (the 1 of a ½)."""
    last = bisect_left(offsets, end)
    # Characters that fold to nothing share an offset with the next one: the last of them starts the span.
    first = bisect_left(offsets, start + 1) - 1
    if offsets[first] != start or offsets[last] != end:
        return None
    while last < len(text) and unicodedata.category(text[last]).startswith("M"):  # accents of the last letter
        last += 1
    return first, last


def sentence_around(text: str, start: int, end: int) -> Context:
    """The sentence that holds `text[start:end]` with its neighbours and the heading above it.

    Lines are paragraphs or headings: a sentence never crosses a line break, unless the span itself does. Raises
    ValueError if the span does not lie inside the text.
    """
    line_start, line_end, sentences, first, last = _own_sentences(text, start, end)
    line = text[line_start:line_end]
    before = line[slice(*sentences[first - 1])] if first else _paragraph_before(text, line_start)
    after = line[slice(*sentences[last + 1])] if last + 1 < len(sentences) else _paragraph_after(text, line_end)
    lead, match, tail = _parts(text, start, end, line_start + sentences[first][0], line_start + sentences[last][1])
    return Context(
        before=_cut_left(_shown(before)).strip(),
        sentence_before=lead,
        match=match,
        sentence_after=tail,
        after=_cut_right(_shown(after)).strip(),
        heading=heading_above(text, line_start, line_end),
    )


def sentence_and_heading(text: str, start: int, end: int, headings: Collection[str] = ()) -> tuple[str, str]:
    """The sentence that holds `text[start:end]`, in the words of `sentence_around`, and the heading above it.

    `headings` are those that the page is known to have.
    """
    line_start, line_end, sentences, first, last = _own_sentences(text, start, end)
    parts = _parts(text, start, end, line_start + sentences[first][0], line_start + sentences[last][1])
    return "".join(parts), heading_above(text, line_start, line_end, headings)


def beginning_and_end(paragraph: str) -> tuple[str, str]:
    """The first and the last sentences of a long paragraph, as they are shown; all and "" of one that is not long.

    What has no end of a sentence far and wide, such as a list of names, is cut between words.
    """
    shown = _shown(paragraph).strip()
    spans = _sentences(shown)
    if len(shown) <= 2 * SIDE or not spans:
        return shown, ""
    begin = max((end for _, end in spans if end <= SIDE), default=spans[0][1])
    rest = min((start for start, _ in spans if len(shown) - start <= SIDE), default=spans[-1][0])
    first = shown[:begin].strip() if begin <= FAR else _cut_right(shown)[:-1]
    last = shown[rest:].strip() if len(shown) - rest <= FAR else _cut_left(shown)[1:]
    return (shown, "") if begin <= FAR and rest <= begin else (first, last)


def sentences(text: str, start: int) -> list[tuple[int, int]]:
    """Spans of the sentences of the line that holds the position, in order."""
    first = text.rfind("\n", 0, start) + 1
    return [(first + begin, first + end) for begin, end in _sentences(text[first : _line_end(text, start)])]


def _own_sentences(text: str, start: int, end: int) -> tuple[int, int, list[tuple[int, int]], int, int]:
    """The line that holds the span, from where to where; its sentences; the first and the last that the span meets."""
    if not 0 <= start <= end <= len(text):
        raise ValueError(f"span {start}:{end} outside of a text of {len(text)} characters")
    line_start = text.rfind("\n", 0, start) + 1
    line_end = _line_end(text, end)
    sentences = _sentences(text[line_start:line_end])
    first = next(i for i, (_, stop) in enumerate(sentences) if stop > start - line_start or i == len(sentences) - 1)
    last = next(i for i, (_, stop) in enumerate(sentences) if stop >= end - line_start)
    return line_start, line_end, sentences, first, max(first, last)


def _parts(text: str, start: int, end: int, first: int, stop: int) -> tuple[str, str, str]:
    """`text[first:stop]` as it is shown: before, in and behind the span."""
    lead, tail = _shown(text[first:start]).lstrip(), _shown(text[end:stop]).rstrip()
    return _cut_left(lead), _shown(text[start:end]), _cut_right(tail)


def _line_end(text: str, position: int) -> int:
    found = text.find("\n", position)
    return len(text) if found < 0 else found


def _sentences(line: str) -> list[tuple[int, int]]:
    """Spans of the sentences of one line; they are in order, touch each other and cover the line."""
    spans = []
    start = 0
    for end in sentence_ends(line):
        spans.append((start, end))
        start = end
    if start < len(line) or not spans:
        spans.append((start, len(line)))
    return spans


def sentence_ends(line: str) -> Iterator[int]:
    """Where the sentences of one line end, closing quotes and brackets included, ascending; the end of the line is not
    among them unless a mark of WIDE_SENTENCE_ENDS is there.

    A mark before a lower-case letter ends none, nor the full stop of a single letter or of one of ABBREVIATIONS.
    """
    for found in _SENTENCE_END.finditer(line):
        following = line[found.end() : found.end() + 8].lstrip()
        if following[:1].islower():
            continue
        if found.group() == "." and _is_abbreviation(line, found.start()):
            continue
        yield found.end()


def _is_abbreviation(line: str, stop: int) -> bool:
    token = _LAST_TOKEN.search(line, max(0, stop - 12), stop)
    if token is None:
        return False
    word = token.group().lower()
    return (len(word.rpartition(".")[2]) == 1 and word[-1].isalpha()) or word in _ABBREVIATIONS


def _shown(text: str) -> str:
    """Visible characters, whitespace runs as one space; a space at either end stays."""
    return re.sub(r" {2,}", " ", visible(text))


def _cut_left(text: str) -> str:
    """The last characters of a long text, from a word boundary, behind an ellipsis."""
    if len(text) <= SIDE:
        return text
    kept = text[-SIDE:]
    space = kept.find(" ", 0, SIDE // 2)
    return "…" + (kept[space + 1 :] if space >= 0 else kept)


def _cut_right(text: str) -> str:
    """The first characters of a long text, up to a word boundary, before an ellipsis."""
    if len(text) <= SIDE:
        return text
    kept = text[:SIDE]
    space = kept.rfind(" ", SIDE // 2)
    return (kept[:space] if space >= 0 else kept) + "…"


def _lines_below(text: str, line_end: int) -> Iterator[str]:
    start = line_end + 1
    while start < len(text):
        end = _line_end(text, start)
        line = text[start:end].strip()
        if line:
            yield line
        start = end + 1


def _paragraph_before(text: str, line_start: int) -> str:
    """The last sentence of the line above, unless that is a heading."""
    line = next(lines_above(text, line_start), "")
    return "" if looks_like_heading(line) else line[slice(*_sentences(line)[-1])]


def _paragraph_after(text: str, line_end: int) -> str:
    """The first sentence of the line below, unless that is a heading."""
    line = next(_lines_below(text, line_end), "")
    return "" if looks_like_heading(line) else line[slice(*_sentences(line)[0])]
