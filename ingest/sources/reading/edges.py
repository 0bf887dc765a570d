"""Rows of links that a site sets before or after its texts, told by what repeats: on most pages the same number of
names of pages, in the same shape, between the text and the edge of the page.

Neither classes nor words are asked. Lists that editors write below their texts have as many items as they need, so
that their number differs from page to page.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from ingest.sources.reading import lists
from ingest.sources.reading.outline import HEADINGS, step_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from ingest.sources.reading.outline import Block, Outline

FARTHEST = 100  # blocks from an edge that are looked at
MOST = 30  # names in a row
FEWEST, COVERAGE = 5, 0.5  # pages with the row, and of those that have a text
SAME, MORE = 0.6, 0.05  # of its pages that have the same number of names, and that have more
HEADED, SAME_HEADED = 3, 0.8  # names under a heading, which editors set above their lists, too; and both parts above
FEWEST_TEASED = 2  # names with words below them
_NAMES, _LABEL, _HEADING, _WORDS, _TEXT, _OWN = range(6)


class Piece(NamedTuple):
    """A block near an edge: what it is, a number of its shape and the words around its links, its key, and the number
    of these words alone (lists.leads)."""

    kind: int
    shape: int
    key: int
    lead: int


class Known(NamedTuple):
    """What is known of the site before its rows: keys of what most pages have, and its words around links."""

    everywhere: Collection[int]
    leads: Collection[int]


class Row(NamedTuple):
    """Names of pages in one shape: `key` tells the edge, the shape and whether a heading is above; `blocks` are their
    numbers, the outermost first, and `others` those of what goes with them; `own` are those of the page's own name
    among them and of what stands above a row before the text."""

    key: int
    blocks: list[int]
    others: list[int]
    own: list[int]


def pieces(page: Outline, blocks: Sequence[Block]) -> tuple[list[Piece], list[Piece]]:
    """What stands at the beginning and at the end of a page, the outermost first; nothing for one without a text."""
    if not any(map(_is_text, blocks)):
        return [], []
    found = [*zip(blocks, lists.leads(page, blocks), strict=True)]
    sides = found[:FARTHEST], found[: -FARTHEST - 1 : -1]
    own = {block.key for block in blocks if page.document.names[block.element] == "h1"}
    start, end = ([_piece(page, block, lead, own) for block, lead in side] for side in sides)
    return start, end


def _is_text(block: Block) -> bool:
    return block.size - block.linked >= lists.PROSE


def _piece(page: Outline, block: Block, lead: int, own: Collection[int]) -> Piece:
    kind, shape = _TEXT, 0
    if lists.names_pages(block):
        kind, shape = _NAMES, _shape(page, block)
    elif not block.linked and page.document.names[block.element] in HEADINGS:
        kind = _HEADING
    elif block.key in own:
        kind = _OWN
    elif not block.linked and block.size <= lists.LABEL:
        kind = _LABEL
    elif not block.linked and block.size <= lists.TEASER:
        kind = _WORDS
    return Piece(kind, shape, block.key, lead)


def _shape(page: Outline, block: Block) -> int:
    """The same for blocks below the same kinds of elements, wherever these stand among others."""
    document, shape = page.document, crc32(block.around.encode("utf-8", "replace"))
    for place in (block.element, *document.ancestors(block.element)):
        attributes = document.attributes[place]
        shape = crc32(step_of(document.names[place], attributes.get("class") or ""), shape)
    return shape


def rows(found: Sequence[Piece], known: Known, *, is_end: bool) -> Iterator[Row]:
    """The rows of names from an edge to the text. Words without a link may stand below each name, as the first words of
    its page; what is known of the site, such as its footer, is passed over."""
    shape, row = 0, Row(is_end, [], [], [])
    waiting: list[int] = []  # words whose name comes next, at the end of a page
    for number, piece in enumerate(found):
        in_row = piece.kind == _NAMES and (row.blocks or waiting)
        is_label = piece.kind in (_LABEL, _HEADING)
        if piece.lead in known.leads or (piece.key in known.everywhere and not is_label and not in_row):
            continue
        if piece.kind == _OWN:
            row.own.append(number)
        elif piece.kind == _NAMES:
            if shape != piece.shape:
                yield from _whole(row)
                own = [] if row.blocks else row.own
                shape, row = piece.shape, Row(piece.shape << 2 | is_end, [], [], own)
            row.blocks.append(number)
            row.others.extend(waiting)
            waiting = []
        elif is_label:
            is_headed = is_end and piece.kind == _HEADING
            yield from _whole(row._replace(key=row.key | is_headed << 1), [number] if is_end else [])
            shape, row, waiting = 0, Row(is_end, [], [], [] if is_end else [number]), []
        elif piece.kind == _WORDS and is_end and not waiting:
            waiting = [number]
        else:
            break
    yield from _whole(row)


def _whole(row: Row, label: Sequence[int] = ()) -> Iterator[Row]:
    """A row with what stands above it. One name with a paragraph below it is none."""
    if row.blocks and (len(row.blocks) >= FEWEST_TEASED or not row.others):
        yield row._replace(others=[*row.others, *label])


def learn(pages: Sequence[tuple[list[Piece], list[Piece]]], known: Known) -> dict[int, int]:
    """The rows that a site sets, by their keys, with how many names they have."""
    found: defaultdict[int, Counter[int]] = defaultdict(Counter)
    texts = 0
    for start, end in pages:
        texts += bool(end)
        sizes: dict[int, int] = {}
        for row in (*rows(start, known, is_end=False), *rows(end, known, is_end=True)):
            sizes.setdefault(row.key, len(row.blocks))
        for key, size in sizes.items():
            found[key][size] += 1
    kept = {}
    for key, counts in found.items():
        times = counts.total()
        [(size, same)] = counts.most_common(1)
        more = sum(count for other, count in counts.items() if other > size)
        least, coverage, alike = (HEADED, SAME_HEADED, SAME_HEADED) if key & 2 else (1, COVERAGE, SAME)
        if (
            least <= size <= MOST
            and times >= max(FEWEST, coverage * texts)
            and same >= alike * times
            and more <= MORE * times
        ):
            kept[key] = size
    return kept


def set_by_site(page: Outline, blocks: Sequence[Block], known: Known, sizes: Mapping[int, int]) -> list[Block]:
    """The blocks of a page that belong to such rows."""
    start, end = pieces(page, blocks)
    found: list[Block] = []
    for side, ordered, is_end in ((start, blocks, False), (end, blocks[::-1], True)):
        left = dict(sizes)
        for row in rows(side, known, is_end=is_end):
            size = left.pop(row.key, 0)
            found += [ordered[number] for number in row.blocks[:size]]
            if len(row.blocks) <= size:
                found += [ordered[number] for number in (*row.others, *row.own)]
    return found
