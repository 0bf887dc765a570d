"""Lists of links whose columns have names of an unknown language, by the shapes of their values.

Which of the two columns of addresses links to the other is told by one thing alone: a crawler lists what its pages lead
to, so that files and other sites stand among the targets, and never among the pages that link. Where neither column has
any, or both have, the user is asked.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ingest.files.column_names import header_key
from ingest.formats.screaming_frog import LINK_COLUMNS, LINK_TYPES, is_asset, is_content_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ADDRESS = re.compile(r"https?://\S+$", re.IGNORECASE)
_PATH = re.compile(r"/{1,2}(?:html|body|\*)\b|//body")
_LINK_NAMES = frozenset(map(header_key, (*LINK_COLUMNS["anchor"], *LINK_COLUMNS["follow"], *LINK_COLUMNS["link_path"])))
_BOOLEAN = frozenset({"true", "false"})
_NUMBER = re.compile(r"[\d.,\s]+")
MOST = 0.8  # of a column's filled cells
LEAST_ROWS = 2
REPEATED, REPEATED_OF = 0.8, 5  # so few different addresses among so many cells at least are the same ones again

Samples = list[list[str]]


def looks_like_links(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table is a list of links: two columns of addresses, no types of content, which a list of pages has, and
    either a column of “true” and “false” or of paths within a page, as a crawler writes them, or the same addresses
    again and again: a list of pages has each page once, whatever it says of canonicals and of parents."""
    columns = _columns(header, rows)
    addresses = _addresses(columns)
    if len(addresses) != 2 or any(_mostly(cells, is_content_type) for cells in columns):
        return False
    if any(_are_booleans(cells) or _mostly(cells, _PATH.match) for cells in columns):
        return True
    first, second = (columns[at] for at in addresses)
    if _host_of(first) != _host_of(second) or not _repeats(first):
        return False
    return _repeats(second) or not _LINK_NAMES.isdisjoint(map(header_key, header))


def is_attribute(header: Sequence[str], rows: Sequence[Sequence[str]], column: str) -> bool:
    """Whether a column is HTML's attribute “target”, which some crawlers write of each link: it is empty, or names a
    window, such as “_blank”."""
    at = header.index(column)
    return all(row[at].strip()[:1] in ("", "_") for row in rows if at < len(row))


def links_by_values(header: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """Which columns hold what, as far as the values tell it beyond doubt; empty for a table of something else."""
    if not looks_like_links(header, rows):
        return {}
    columns = _columns(header, rows)
    addresses = _addresses(columns)
    found = _donor_and_target(columns, addresses)
    rest = [at for at in range(len(columns)) if at not in addresses]
    paths = [at for at in rest if _mostly(columns[at], _PATH.match)]
    booleans = [at for at in rest if _are_booleans(columns[at])]
    types = [at for at in rest if any(cell.casefold() in LINK_TYPES for cell in columns[at])]
    texts = [at for at in rest if at not in {*paths, *booleans, *types} and _is_text(columns[at])]
    found |= {"link_path": paths[0]} if len(paths) == 1 else {}
    found |= {"follow": booleans[0]} if len(booleans) == 1 else {}
    found |= {"type": types[0]} if len(types) == 1 else {}
    if (anchor := _most_varied(columns, texts)) is not None:
        found["anchor"] = anchor
    return {field: [header[at]] for field, at in found.items()}


def _columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Samples:
    """The filled cells by column, of the rows that are as wide as the header."""
    whole = [row for row in rows if len(row) == len(header)]
    if len(whole) < LEAST_ROWS:
        return [[] for _ in header]
    return [[cell.strip() for cell in cells if cell.strip()] for cells in zip(*whole, strict=True)]


def _mostly(cells: Sequence[str], is_one: Callable[[str], object]) -> bool:
    return bool(cells) and sum(bool(is_one(cell)) for cell in cells) >= MOST * len(cells)


def _addresses(columns: Samples) -> list[int]:
    return [at for at, cells in enumerate(columns) if _mostly(cells, _ADDRESS.match)]


def _are_booleans(cells: Sequence[str]) -> bool:
    return bool(cells) and {cell.casefold() for cell in cells} <= _BOOLEAN


def _is_text(cells: Sequence[str]) -> bool:
    return bool(cells) and not _mostly(cells, _NUMBER.fullmatch)


def _donor_and_target(columns: Samples, addresses: Sequence[int]) -> dict[str, int]:
    own = _host_of([cell for at in addresses for cell in columns[at]])
    leads_out = [any(_host(cell) != own or is_asset(cell) for cell in columns[at]) for at in addresses]
    if leads_out[0] == leads_out[1]:
        return {}
    target = leads_out.index(True)
    return {"source": addresses[1 - target], "target": addresses[target]}


def _repeats(cells: Sequence[str]) -> bool:
    return len(cells) >= REPEATED_OF and len(set(cells)) <= REPEATED * len(cells)


def _host_of(cells: Sequence[str]) -> str:
    """The host of most of the addresses."""
    return Counter(map(_host, cells)).most_common(1)[0][0]


def _host(address: str) -> str:
    try:
        return urlsplit(address).netloc.lower().removeprefix("www.")
    except ValueError:
        return ""


def _most_varied(columns: Samples, places: Sequence[int]) -> int | None:
    """The one column of texts that has more than twice as many texts as any other; words of a list have few."""
    ranked = sorted(((len(set(columns[at])), at) for at in places), reverse=True)
    if not ranked or ranked[0][0] < 2 or (len(ranked) > 1 and ranked[0][0] <= 2 * ranked[1][0]):
        return None
    return ranked[0][1]
