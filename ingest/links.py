"""Rows of a links file to pairs of pages. No database here.

Which rows are links of ours, and which of those stand in the text, follows what crawlers really write: `Content` is
what is left when no rule of the crawler's matched, not a promise.
"""

from __future__ import annotations

from collections import Counter
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from ingest.normalise import AnotherSite, NotAnAddress
from ingest.readers import screaming_frog
from ingest.values import parse_flag
from linker.store import copy_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ingest.normalise import Site
    from ingest.schema import Columns
    from ingest.skipped import Skipped

MEMO = 500_000  # addresses, or pairs, remembered before the memory is emptied
MAX_ANCHOR = 2_000
_SKIP_LINK_STARTS = frozenset(letter for first in screaming_frog.SKIP_LINK_STARTS for letter in (first, first.upper()))
_ALL, _NONE = repeat(True), repeat(None)

# Why a row is not a link for us; counted, not listed.
IGNORED = {
    "other_type": "Not hyperlinks (images, scripts, styles, canonicals)",
    "external": "To other sites",
    "self": "From a page to itself",
    "placeholder": "To “#”",
    "skip_link": "Skip links",
    "no_text": "Without anchor or alt text",
    "repeated": "Template links from the same page to the same page, kept once",
}


class LinkRow(NamedTuple):
    """A link as staged: ids of pages. A template link's anchor is empty: one is kept for a pair of pages."""

    source: int
    target: int
    in_body: bool
    follow: bool
    anchor: str


class PageIds:
    """Finds pages by address. Addresses are mostly written as their key is; others are remembered for a while."""

    def __init__(self, ids: Mapping[str, int], site: Site) -> None:
        self.ids, self.site = ids, site
        self.memo: dict[str, int | str] = {}

    def find(self, address: str) -> int | str:
        """The page's id, or why there is none: `unknown`, `external`, `bad`."""
        found = self.ids.get(address) or self.memo.get(address)
        if found is None:
            found = self._look(address)
            if len(self.memo) >= MEMO:
                self.memo.clear()
            self.memo[address] = found
        return found

    def find_all(self, addresses: Sequence[str]) -> Sequence[int | None]:
        """The pages' ids; None also where it takes `find` to know, or where a “#” at the end tells a placeholder."""
        found = list(map(self.ids.get, addresses))
        if None in found:
            found = [self._known(address) if id is None else id for id, address in zip(found, addresses, strict=True)]
        return found

    def _known(self, address: str) -> int | None:
        found = self.memo.get(address)
        return found if isinstance(found, int) and not address.rstrip().endswith("#") else None

    def _look(self, address: str) -> int | str:
        if not address.strip():
            return "bad"
        try:
            return self.ids.get(self.site.canonical_url(address), "unknown")
        except NotAnAddress:
            return "bad"
        except AnotherSite:
            return "external"


class LinkParser:
    """Parses the rows of one links file. `ignored` counts rows that are no links of ours by a key of IGNORED."""

    def __init__(self, header: Sequence[str], mapping: Columns, pages: PageIds, skipped: Skipped) -> None:
        at = {name: header.index(columns[0]) for name, columns in mapping.items()}
        self.width = len(header)
        self.pages, self.skipped, self.mapping = pages, skipped, mapping
        self.source_at, self.target_at = at["source"], at["target"]
        self.type_at, self.follow_at, self.rel_at = at.get("type"), at.get("follow"), at.get("rel")
        self.anchor_at, self.alt_at = at.get("anchor"), at.get("alt")
        self.position_at, self.path_at = at.get("link_position"), at.get("link_path")
        self.ignored: Counter[str] = Counter()
        self._types: dict[str, bool] = {}
        self._places: dict[tuple[str | None, str], bool] = {}
        self._follows: dict[tuple[str, str], bool] = {}
        self._template_pairs: set[tuple[int, int]] = set()

    @property
    def says_position(self) -> bool:
        return self.position_at is not None

    def parse(self, line: int, cells: list[str]) -> LinkRow | None:
        """The link of a row; None where it is skipped or ignored."""
        if len(cells) != self.width:
            self.skipped.add(line, "bad_width", value=f"{len(cells)} cells, not {self.width}")
            return None
        if self.type_at is not None and not self._is_link(cells[self.type_at]):
            self.ignored["other_type"] += 1
            return None
        pair = self._pair(line, cells)
        if pair is None:
            return None
        anchor = cells[self.anchor_at].strip() if self.anchor_at is not None else ""
        if not anchor and self.alt_at is not None:
            anchor = cells[self.alt_at].strip()
        in_body = self._in_body(cells)
        if in_body and not anchor and self.anchor_at is not None:
            self.ignored["no_text"] += 1
            return None
        if screaming_frog.is_skip_link(anchor):
            self.ignored["skip_link"] += 1
            return None
        if not in_body:
            if pair in self._template_pairs:
                self.ignored["repeated"] += 1
                return None
            if len(self._template_pairs) >= MEMO:
                self._template_pairs.clear()
            self._template_pairs.add(pair)
            anchor = ""
        return LinkRow(*pair, in_body, self._follow(cells), " ".join(anchor.split())[:MAX_ANCHOR])

    def parse_all(self, lines: Sequence[int], rows: Sequence[list[str]]) -> list[str]:
        """The links of many rows, as lines of COPY's text form of LinkRow.

        Rows whose cells are all known and plain are put together column by column; the others go through `parse`,
        in their place among them.
        """
        if {self.width} != set(map(len, rows)):
            return [copy_line(row) for row in map(self.parse, lines, rows) if row is not None]
        columns = list(zip(*rows, strict=True))
        nothing = ("",) * len(rows)

        def column(at: int | None) -> Sequence[str]:
            return columns[at] if at is not None else nothing

        kinds: Iterable[bool | None] = map(self._types.get, column(self.type_at)) if self.type_at is not None else _ALL
        positions = column(self.position_at) if self.position_at is not None else _NONE
        places = map(self._places.get, zip(positions, column(self.path_at), strict=False))
        follows = map(self._follows.get, zip(column(self.follow_at), column(self.rel_at), strict=True))
        anchors = column(self.anchor_at)
        texts = {
            anchor: anchor if anchor.isprintable() and "  " not in f" {anchor} " and "\\" not in anchor
            and anchor[0] not in _SKIP_LINK_STARTS and len(anchor) <= MAX_ANCHOR else _plain(anchor)
            for anchor in set(anchors)
        }  # fmt: skip
        pairs = self._template_pairs
        out: list[str] = []
        cells = zip(
            self.pages.find_all(column(self.source_at)),
            self.pages.find_all(column(self.target_at)),
            kinds,
            places,
            follows,
            map(texts.__getitem__, anchors),
            strict=False,
        )
        for n, (source, target, kind, in_body, follow, text) in enumerate(cells):
            odd = source is None or target is None or source == target or not kind or follow is None or text is None
            if in_body and not odd:
                out.append(f"{source}\t{target}\tt\t{follow}\t{text}\n")
            elif odd or in_body is None or (source, target) in pairs or len(pairs) >= MEMO:
                row = self.parse(lines[n], rows[n])
                if row is not None:
                    out.append(copy_line(row))
            else:
                pairs.add((source, target))
                out.append(f"{source}\t{target}\tf\t{follow}\t\n")
        return out

    def _pair(self, line: int, cells: list[str]) -> tuple[int, int] | None:
        source, target = self.pages.find(cells[self.source_at]), self.pages.find(cells[self.target_at])
        if isinstance(target, str) and target == "external":
            self.ignored["external"] += 1
            return None
        if isinstance(source, str):
            self._unknown(line, "source", source, cells[self.source_at])
            return None
        if cells[self.target_at].rstrip().endswith("#"):
            self.ignored["placeholder"] += 1
            return None
        if isinstance(target, str):
            self._unknown(line, "target", target, cells[self.target_at])
            return None
        if source == target:
            self.ignored["self"] += 1
            return None
        return source, target

    def _unknown(self, line: int, side: str, why: str, address: str) -> None:
        reason = {"bad": "bad_address" if address.strip() else "no_address", "external": "another_site"}.get(
            why, f"unknown_{side}"
        )
        self.skipped.add(line, reason, column=self.mapping[side][0], address=address)

    def _is_link(self, kind: str) -> bool:
        known = self._types.get(kind)
        if known is None:
            known = self._types[kind] = kind.strip().casefold() in screaming_frog.LINK_TYPES
        return known

    def _in_body(self, cells: list[str]) -> bool:
        position = cells[self.position_at] if self.position_at is not None else None
        place = (position, cells[self.path_at] if self.path_at is not None else "")
        known = self._places.get(place)
        if known is None:
            if len(self._places) >= MEMO:
                self._places.clear()
            known = self._places[place] = screaming_frog.in_body(*place)
        return known

    def _follow(self, cells: list[str]) -> bool:
        said = (
            cells[self.follow_at] if self.follow_at is not None else "",
            cells[self.rel_at] if self.rel_at is not None else "",
        )
        known = self._follows.get(said)
        if known is None:
            if len(self._follows) >= MEMO:
                self._follows.clear()
            known = self._follows[said] = _follows(*said)
        return known


def _plain(anchor: str) -> str | None:
    """An anchor as it is staged; None where it takes more than a look to tell."""
    text = " ".join(anchor.split())
    if not text or len(text) > MAX_ANCHOR or screaming_frog.is_skip_link(text):
        return None
    return copy_text(text)


def copy_line(row: LinkRow) -> str:
    """The row as a line of COPY's text form."""
    source, target, in_body, follow, anchor = row
    return f"{source}\t{target}\t{in_body}\t{follow}\t{copy_text(anchor)}\n"


def _follows(follow: str, rel: str) -> bool:
    if {"nofollow", "ugc", "sponsored"} & set(rel.casefold().replace(",", " ").split()):
        return False
    try:
        return parse_flag(follow)
    except ValueError:
        return True
