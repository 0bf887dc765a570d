"""Rows of a links file to pairs of pages. No database here.

Which rows are links of ours, and which of those are in the text, follows what crawlers really write: `Content` is
what is left when no rule of the crawler's matched, not a promise.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from django.utils.translation import gettext_noop

from ingest.addresses.destinations import reason_without_page
from ingest.cells.values import parse_flag
from ingest.formats import screaming_frog
from ingest.memo import MEMO, Memo
from linker.models import Block

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ingest.addresses.destinations import PageFinder
    from ingest.fields.mapping import Columns
    from ingest.fields.skipped import Skipped
    from ingest.files.table import Records

MAX_ANCHOR = 2_000
NOWHERE = -1  # the place of a link that is not in the text, or whose place is not known
WITH_ANCHOR = (Block.CONTENT, Block.ASIDE, Block.LIST)  # blocks whose links say something of the page they lead to
# What an anchor begins with that is looked at as a whole: nothing, a blank, or what a skip link may begin with.
_LOOKED_AT = {"", " ", *(letter for first in screaming_frog.SKIP_LINK_STARTS for letter in (first, first.upper()))}

# Why a row is not a link for us; counted, not listed.
IGNORED = {
    "other_type": gettext_noop("Not hyperlinks (images, scripts, styles, canonicals)"),
    "external": gettext_noop("To other sites"),
    "self": gettext_noop("From a page to itself"),
    "placeholder": gettext_noop("To “#”"),
    "skip_link": gettext_noop("Skip links"),
    "no_text": gettext_noop("Without anchor or alt text"),
    "repeated": gettext_noop("Template links from the same block to the same page, kept once"),
}


class LinkRow(NamedTuple):
    """A link as staged: ids of pages. Outside of WITH_ANCHOR the anchor is empty: one is kept for two pages and the
    block."""

    source: int
    target: int
    block: int
    follow: bool
    anchor: str
    place: int = NOWHERE


@dataclass
class Links:
    """Links as columns of one length: `source` and `target` int64, `block` int16, `follow` bool, `anchor` texts,
    `place` int32: characters of the source's text before the anchor, or NOWHERE."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    block: NDArray[np.int16]
    follow: NDArray[np.bool_]
    anchor: list[str]
    place: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.anchor)

    @classmethod
    def of(cls, rows: Sequence[LinkRow]) -> Self:
        source, target, block, follow, anchor, place = zip(*rows, strict=True) if rows else ((),) * 6
        return cls(
            np.array(source, dtype=np.int64),
            np.array(target, dtype=np.int64),
            np.array(block, dtype=np.int16),
            np.array(follow, dtype=bool),
            list(anchor),
            np.array(place, dtype=np.int32),
        )

    @classmethod
    def joined(cls, parts: Sequence[Links]) -> Self:
        if not parts:
            return cls.of([])
        return cls(
            np.concatenate([part.source for part in parts]),
            np.concatenate([part.target for part in parts]),
            np.concatenate([part.block for part in parts]),
            np.concatenate([part.follow for part in parts]),
            [anchor for part in parts for anchor in part.anchor],
            np.concatenate([part.place for part in parts]),
        )

    def where(self, wanted: NDArray[np.bool_]) -> Links:
        """The links for which it is true."""
        return Links(
            self.source[wanted],
            self.target[wanted],
            self.block[wanted],
            self.follow[wanted],
            list(compress(self.anchor, wanted.tobytes())),
            self.place[wanted],
        )

    def take(self, places: NDArray[np.intp]) -> Links:
        """The links at some places, in their order."""
        return Links(
            self.source[places],
            self.target[places],
            self.block[places],
            self.follow[places],
            list(map(self.anchor.__getitem__, places.tolist())),
            self.place[places],
        )


class LinkParser:
    """Parses the rows of one links file. `ignored` counts rows that are no links of ours by a key of IGNORED."""

    def __init__(self, header: Sequence[str], mapping: Columns, pages: PageFinder, skipped: Skipped) -> None:
        at = {name: header.index(columns[0]) for name, columns in mapping.items()}
        self.width = len(header)
        self.pages, self.skipped, self.mapping = pages, skipped, mapping
        self.source_at, self.target_at = at["source"], at["target"]
        self.type_at, self.follow_at, self.rel_at = at.get("type"), at.get("follow"), at.get("rel")
        self.anchor_at, self.alt_at = at.get("anchor"), at.get("alt")
        self.position_at, self.path_at, self.place_at = at.get("link_position"), at.get("link_path"), at.get("place")
        self.ignored: Counter[str] = Counter()
        # Where links stand in their texts that lead to no other page: page, first character, the one after the last.
        self.elsewhere = array("q")
        self._types, self._places, self._follows = Memo(), Memo(), Memo()
        self._template_links: set[tuple[int, int, int]] = set()

    @property
    def says_position(self) -> bool:
        return self.position_at is not None

    @staticmethod
    def _cell(cells: Sequence[str], place: int | None) -> str | None:
        return cells[place] if place is not None else None

    def parse(self, line: int, cells: Sequence[str]) -> LinkRow | None:
        """The link of a row; None where it is skipped or ignored."""
        if len(cells) != self.width:
            self.skipped.add(line, "bad_width", value=f"{len(cells)} cells, not {self.width}")
            return None
        if self.type_at is not None and not self._is_link(cells[self.type_at]):
            self.ignored["other_type"] += 1
            return None
        pair = self._pair(line, cells)
        if pair is None:
            self._note_elsewhere(cells)
            return None
        anchor = cells[self.anchor_at].strip() if self.anchor_at is not None else ""
        if not anchor and self.alt_at is not None:
            anchor = cells[self.alt_at].strip()
        block = self._block(self._cell(cells, self.position_at), self._cell(cells, self.path_at))
        if block == Block.CONTENT and not anchor and self.anchor_at is not None:
            self.ignored["no_text"] += 1
            return None
        if screaming_frog.is_skip_link(anchor):
            self.ignored["skip_link"] += 1
            return None
        if block not in WITH_ANCHOR:
            if (*pair, block) in self._template_links:
                self.ignored["repeated"] += 1
                return None
            if len(self._template_links) >= MEMO:
                self._template_links.clear()
            self._template_links.add((*pair, block))
            anchor = ""
        follow = self._follow(self._cell(cells, self.follow_at), self._cell(cells, self.rel_at))
        place = _place(self._cell(cells, self.place_at) or "") if block == Block.CONTENT else NOWHERE
        return LinkRow(*pair, block, follow, " ".join(anchor.split())[:MAX_ANCHOR], place)

    def _note_elsewhere(self, cells: Sequence[str]) -> None:
        if self.place_at is None or self.anchor_at is None:
            return
        source, place = self.pages.find(cells[self.source_at]), _place(cells[self.place_at])
        anchor = " ".join(cells[self.anchor_at].split())
        if not isinstance(source, str) and place != NOWHERE and anchor:
            self.elsewhere.extend((source, place, place + len(anchor)))

    def parse_all(self, records: Records) -> Links:
        """The links of many rows.

        What the cells of most rows say is found out once for each different cell; the other rows go through `parse`,
        in their place among them.
        """
        columns = records.columns
        if columns is None:
            return Links.of([row for row in map(self.parse, records.lines, records.rows) if row is not None])
        size = len(records)
        source = self.pages.find_all(columns[self.source_at])
        target = self.pages.moves.ends_of(self.pages.find_all(columns[self.target_at]))
        block = _for_each_row(self._block, np.int16, size, *self._columns(columns, self.position_at, self.path_at))
        follow = _for_each_row(self._follow, np.bool_, size, *self._columns(columns, self.follow_at, self.rel_at))
        anchors = self._anchors(columns, size)
        odd = (source == 0) | (target == 0) | (source == target)
        if self.type_at is not None:
            odd |= ~_for_each_row(self._is_link, np.bool_, size, columns[self.type_at])
        if None in anchors:
            odd |= np.array([anchor is None for anchor in anchors])
        taken = ~odd
        place = np.full(size, NOWHERE, dtype=np.int32)
        if self.place_at is not None:
            place[:] = list(map(_place, columns[self.place_at]))
            place[block != Block.CONTENT] = NOWHERE
        links = Links(source, target, block, follow, anchors, place)
        looked_at = np.flatnonzero(odd | ~np.isin(block, WITH_ANCHOR))
        found = zip(*(column[looked_at].tolist() for column in (source, target, block)), strict=True)
        for n, link, is_odd in zip(looked_at.tolist(), found, odd[looked_at].tolist(), strict=True):
            if is_odd or link in self._template_links or len(self._template_links) >= MEMO:
                row = self.parse(records.lines[n], [column[n] for column in columns])
                taken[n] = row is not None
                if row is not None:
                    source[n], target[n], block[n], follow[n], anchors[n], place[n] = row
            else:
                self._template_links.add(link)
                anchors[n] = ""
        return links if taken.all() else links.where(taken)

    def _columns(self, columns: Sequence[Sequence[str]], *places: int | None) -> list[Sequence[str] | None]:
        return [columns[place] if place is not None else None for place in places]

    def _anchors(self, columns: Sequence[Sequence[str]], size: int) -> list[Any]:
        """Anchors as they are staged; None where only `parse` knows."""
        if self.anchor_at is None:
            return [None if self.alt_at is not None else ""] * size
        anchors = columns[self.anchor_at]
        texts = {
            anchor: anchor if anchor[:1] not in _LOOKED_AT and anchor.isprintable() and anchor[-1] != " "
            and "  " not in anchor and len(anchor) <= MAX_ANCHOR else _plain(anchor)
            for anchor in set(anchors)
        }  # fmt: skip
        return list(map(texts.__getitem__, anchors))

    def _pair(self, line: int, cells: Sequence[str]) -> tuple[int, int] | None:
        source, target = self.pages.find(cells[self.source_at]), self.pages.find_end(cells[self.target_at])
        if isinstance(target, str) and target == "external":
            self.ignored["external"] += 1
            return None
        if isinstance(source, str):
            self._unknown(line, "source", source, cells[self.source_at])
            return None
        if cells[self.target_at].rstrip().endswith("#"):
            self.ignored["placeholder"] += 1
            return None
        if cells[self.target_at].lstrip().startswith("#"):  # a place on the page itself
            self.ignored["self"] += 1
            return None
        if isinstance(target, str):
            self._unknown(line, "target", target, cells[self.target_at])
            return None
        if source == target:
            self.ignored["self"] += 1
            return None
        return source, target

    def _unknown(self, line: int, side: str, why: str, address: str) -> None:
        reason = reason_without_page(why, address, f"unknown_{side}")
        self.skipped.add(line, reason, column=self.mapping[side][0], address=address)

    def _is_link(self, kind: str) -> bool:
        known: bool | None = self._types.get(kind)
        if known is None:
            return bool(self._types.keep(kind, kind.strip().casefold() in screaming_frog.LINK_TYPES))
        return known

    def _block(self, position: str | None, path: str | None) -> int:
        place = (position, path or "")
        known: int | None = self._places.get(place)
        return self._places.keep(place, int(screaming_frog.block(*place))) if known is None else known

    def _follow(self, follow: str | None, rel: str | None) -> bool:
        cells = (follow or "", rel or "")
        known: bool | None = self._follows.get(cells)
        return self._follows.keep(cells, _follows(*cells)) if known is None else known


def _place(cell: str) -> int:
    return int(cell) if cell.isascii() and cell.isdigit() and len(cell) < 10 else NOWHERE


def _for_each_row(parse: Callable[..., Any], dtype: type, size: int, *columns: Sequence[str] | None) -> NDArray[Any]:
    """What `parse` makes of the cells of each row [size], once for cells that are the same; None is no column."""
    given = [column for column in columns if column is not None]
    cells: Sequence[Any] = given[0] if len(given) == 1 else list(zip(*given, strict=True))
    known: dict[Any, Any] = {}
    for distinct in set(cells):
        values = iter((distinct,) if len(given) == 1 else distinct)
        known[distinct] = parse(*(None if column is None else next(values) for column in columns))
    if len(known) < 2:
        return np.full(size, known[cells[0]] if known else parse(*columns), dtype=dtype)
    return np.fromiter(map(known.__getitem__, cells), dtype=dtype, count=size)


def _plain(anchor: str) -> str | None:
    """An anchor as it is staged; None where it takes more than a look to tell."""
    text = " ".join(anchor.split())
    if not text or len(text) > MAX_ANCHOR or screaming_frog.is_skip_link(text):
        return None
    return text


def _follows(follow: str, rel: str) -> bool:
    if {"nofollow", "ugc", "sponsored"} & set(rel.casefold().replace(",", " ").split()):
        return False
    try:
        return parse_flag(follow)
    except ValueError:
        return True
