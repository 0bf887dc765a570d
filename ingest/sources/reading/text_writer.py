"""The text of a part of a page, and the places of its links in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.sources.reading.document import TEXT
from ingest.sources.reading.outline import HEADINGS, INLINE
from linker.engine.text.clean import visible

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ingest.sources.reading.document import Document

MAX_LINK = 500  # characters of a link that stay on one line, whatever blocks it holds
_CELLS = frozenset(("td", "th"))
_CELL_END = " | "


@dataclass(slots=True)
class Written:
    """`places` of links: for the place of the element in the page, those of its first character in the text and of the
    one after its last. `headings` are lines of the text."""

    text: str
    places: dict[int, tuple[int, int]]
    headings: list[str]


class _Writer:
    """Text that grows: blanks are collapsed, lines begin and end without them, and none is empty."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.size = 0
        self.line_start = 0
        self.blank = False
        self.cell_end = False
        self.waiting: list[int] = []  # links without a character so far
        self.open: dict[int, int] = {}  # links to their first character

    def add(self, text: str) -> None:
        words = text.split()
        if not words:
            self.blank = True
            return
        shown = " ".join(words)
        if not shown.isprintable():
            shown = " ".join(visible(shown).split())
            if not shown:
                return
        if self.size > self.line_start:
            if self.cell_end:
                self._append(_CELL_END)
            elif self.blank or text[0].isspace():
                self._append(" ")
        for link in self.waiting:
            self.open[link] = self.size
        self.waiting.clear()
        self._append(shown)
        self.blank, self.cell_end = text[-1].isspace(), False

    def end_line(self) -> None:
        if self.open and self.size - min(self.open.values()) < MAX_LINK:
            self.blank = True
            return
        if self.size > self.line_start:
            self._append("\n")
            self.line_start = self.size
        self.blank = self.cell_end = False

    def end_cell(self) -> None:
        self.cell_end = self.size > self.line_start

    def _append(self, text: str) -> None:
        self.parts.append(text)
        self.size += len(text)


def write(document: Document, root: int, left_out: Collection[int], zones: Sequence[str]) -> Written:
    """Writes the nodes of an element: a paragraph, a heading, an item of a list or a row of a table a line."""
    writer = _Writer()
    names, ends, texts = document.names, document.ends, document.texts
    places: dict[int, tuple[int, int]] = {}
    headings: list[tuple[int, int]] = []
    closing: list[tuple[int, int, str, int]] = []  # end, element, name, and for headings where they began
    rows: dict[int, bool] = {}
    pre = 0
    place, end = root, ends[root]
    while place < end or closing:
        while closing and closing[-1][0] <= place:
            _, element, name, began = closing.pop()
            if name == "a":
                if element in writer.open:
                    places[element] = (writer.open.pop(element), writer.size)
                elif element in writer.waiting:
                    writer.waiting.remove(element)
                continue
            if name in HEADINGS and writer.size > began:
                headings.append((began, writer.size))
            if name == "pre":
                pre -= 1
            if name in _CELLS and rows.get(document.parents[element]):
                writer.end_cell()
            else:
                writer.end_line()
        if place >= end:
            break
        name = names[place]
        if name == TEXT:
            if place in left_out:
                pass
            elif pre:
                _add_lines(writer, texts[place])
            else:
                writer.add(texts[place])
            place += 1
            continue
        if place in left_out or (zones[place] and place != root):
            if name not in INLINE:
                writer.end_line()
            place = ends[place]
            continue
        if name == "br":
            writer.end_line()
        elif name == "a":
            writer.waiting.append(place)
            closing.append((ends[place], place, name, 0))
        elif name not in INLINE:
            if name == "tr":
                rows[place] = _is_row(document, place)
            elif name == "pre":
                pre += 1
            if name not in _CELLS or not rows.get(document.parents[place]):
                writer.end_line()
            closing.append((ends[place], place, name, writer.size))
        place += 1
    text = "".join(writer.parts).rstrip("\n")
    return Written(text, places, [line for start, stop in headings if (line := text[start:stop].strip())])


def _add_lines(writer: _Writer, text: str) -> None:
    for number, line in enumerate(text.splitlines()):
        if number:
            writer.end_line()
        writer.add(line)


def _is_row(document: Document, row: int) -> bool:
    """Whether all cells of a row are a line each, so that the row can be one."""
    names = document.names[row + 1 : document.ends[row]]
    return all(name == TEXT or name in INLINE or name in _CELLS for name in names)
