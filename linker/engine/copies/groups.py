"""Pages that are one page more than once: near-copies, variants of one thing, translations. Pure.

Editors do not link such pages with one another, however near their vectors are; and men's and women's jackets at a
cosine of 0.96 are no nearer than two jackets that have nothing in common but the word. So the vectors have no say
here: names, addresses and the words of the texts decide.

Texts are compared by MinHash (Broder 1997): SKETCH minima of hashed runs of RUN words estimate the share of runs that
two texts have in common. Words for colours, sizes and sexes and bare numbers are left out of the runs, so that the
same jacket in two colours has the same text. Pairs are only looked for in buckets: the same name, the same address but
for a part, the same band of minima. In a bucket each page is compared with the bucket's first, what is not alike with
the first of those left, ROUNDS times. So the work grows with the pages and not with their pairs.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from linker.engine.copies.variants import VARIANT_WORDS, Name, read_address, read_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray


class Kind(StrEnum):
    """What a page is to another one."""

    COPY = "copy"  # the same text, or nearly
    VARIANT = "variant"  # the same thing in another size, colour, sex, edition or version
    TRANSLATION = "translation"  # the same page in another language


SKETCH = 128  # minima a text
BAND = 8  # minima that have to agree for two texts to be compared whatever their names are
RUN = 3  # words
MAX_WORDS = 4000  # of a text that are read
ROUNDS = 8
NAME_WORDS = 12  # words of a name that are kept

# The bounds, calibrated by reading: docs/copies.md.
SOME_TEXT = 8  # runs below which a text says nothing
SAME_NAME = 0.65  # share of runs in common from which pages of one name are copies
SAME_BASE = 0.3  # from which pages whose names differ in size, colour or sex alone are variants
THIN = 30  # runs below which a text cannot speak against that
NESTED_NAME, NESTED_TEXT = 0.9, 50  # from which, and how long, where one name holds the other's words
OTHER_NAME, OTHER_TEXT = 0.98, 100  # the same where half the words of the names agree
LONG_NAME = 3  # words of a name that is hardly given twice by chance
MIN_PAIRS = 3  # pages in a language, each with one in another, that show that an address names languages
MAX_LINKED_COPIES = 20  # pages with one text of which each may receive links; beyond, one does for all

_TOKEN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\\W_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")


class PageText(NamedTuple):
    """What is read of a page."""

    url: str
    title: str
    h1: str
    body: str
    language: str


@dataclass(frozen=True)
class Described:
    """What n pages say, in some 400 bytes a page. Arrays [n].

    `sketch` uint16 [n, SKETCH], `runs` int32: the runs of words of a text. `words` uint32 [n, NAME_WORDS]: those of the
    name, 0 where it is shorter; `length` int16: how many it has; `varies` bool: whether it says a size, colour or sex.
    `keys` int64 [n, len(KEYS)], 0 where there is none: `whole_title` and `title`, with and without what the site's
    titles share, `h1`; `title_base`, `h1_base`: the bases of these where they can be a thing's name, `base`: of any
    name; `marks`: what tells parts of a series apart; `any_language`, `any_version`, `any_variant`, `address_base`,
    `version`, `variant` and `locale` of the address; `language` as the page says it, `tongue`: that, or else what the
    address says.
    """

    sketch: NDArray[np.uint16]
    runs: NDArray[np.int32]
    words: NDArray[np.uint32]
    length: NDArray[np.int16]
    varies: NDArray[np.bool_]
    keys: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.runs)

    def key(self, name: str) -> NDArray[np.int64]:
        """One of KEYS, of each page."""
        return self.keys[:, KEYS.index(name)]


KEYS = (
    *("whole_title", "title", "h1", "title_base", "h1_base", "base", "marks"),
    *(
        "any_language",
        "any_version",
        "any_variant",
        "address_base",
        "version",
        "variant",
        "locale",
        "language",
        "tongue",
    ),
)
_MASK = np.uint64(2**32 - 1)
_FACTORS, _SHIFTS = np.random.default_rng(20).integers(0, 2**32, (2, SKETCH), dtype=np.uint64).astype(
    np.uint32
) | np.array([[1], [0]], dtype=np.uint32)


def describe(pages: Iterable[PageText], count: int, strip: Callable[[str], str] = str) -> Described:
    """Reads `count` pages, one after the other. `strip` takes off a title what the site's titles share."""
    sketch = np.zeros((count, SKETCH), dtype=np.uint16)
    runs, length = np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.int16)
    words = np.zeros((count, NAME_WORDS), dtype=np.uint32)
    keys, varies = np.zeros((count, len(KEYS)), dtype=np.int64), np.zeros(count, dtype=bool)
    crc = _Crc()
    for place, page in enumerate(pages):
        runs[place] = _sketch(page.body, crc, sketch[place])
        bare = strip(page.title)
        read = {text: read_name(text) for text in {page.title, bare, page.h1}}  # mostly one and the same
        whole, title, h1 = read[page.title], read[bare], read[page.h1]
        name = title if title.words else h1
        distinct = sorted({_crc(word) for word in name.words})[:NAME_WORDS]
        words[place, : len(distinct)] = distinct
        length[place], varies[place] = len(name.words), name.is_variant
        address = read_address(page.url)
        keys[place] = (
            *(_key(whole.words), _key(title.words), _key(h1.words), _base_key(title), _base_key(h1), _key(name.base)),
            _key(name.marks),
            *(_key(address.any_language), _key(address.any_version), _key(address.any_variant), _key(address.base)),
            *(_key(address.version), _key(address.variant), _key(address.locale)),
            *(_key(page.language.casefold()[:2]), _key(page.language.casefold()[:2] or address.locale[:2])),
        )
    return Described(sketch, runs, words, length, varies, keys)


class _Crc(dict[str, int]):
    """Word -> its hash, of 32 bits, 0 for a number and a word for a variant; forgets when it has grown large."""

    def __missing__(self, word: str) -> int:
        if len(self) > 500_000:
            self.clear()
        counts = word not in VARIANT_WORDS and not word.isdigit()
        self[word] = found = _crc(word) if counts else 0
        return found


def _crc(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass")) or 1


def _key(text: str | tuple[str, ...]) -> int:
    """Eight bytes that stand for a text; 0 for none."""
    if not text:
        return 0
    joined = text if isinstance(text, str) else "\x1f".join(text)
    return int.from_bytes(
        hashlib.blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True
    )


def _base_key(name: Name) -> int:
    """The base of a name that is a thing's: of LONG_NAME words, or of two and a measure."""
    return _key(name.base) if len(name.base) >= (2 if name.measured else LONG_NAME) else 0


def _sketch(body: str, crc: _Crc, out: NDArray[np.uint16]) -> int:
    """Writes a text's minima; gives the number of its runs."""
    hashed = np.array([crc[word] for word in _TOKEN.findall(body[: 12 * MAX_WORDS].lower())], dtype=np.uint32)
    hashed = hashed[hashed > 0][:MAX_WORDS]
    if len(hashed) < RUN:
        return 0
    run = (hashed[:-2] * np.uint32(0x9E3779B1) + hashed[1:-1]) * np.uint32(0x85EBCA77) + hashed[2:]
    run = (run ^ (run >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
    run ^= run >> np.uint32(13)
    # The lowest bits of a minimum are as good as random, the highest all but 0.
    out[:] = (_FACTORS[:, None] * run + _SHIFTS[:, None]).min(axis=1).astype(np.uint16)
    return len(run)


# ---------------------------------------------------------------------------------------------------------- groups

EDGE = np.dtype([("a", "i8"), ("b", "i8"), ("kind", "i1"), ("near", "f4"), ("chosen", "?")])
KINDS = (Kind.COPY, Kind.VARIANT, Kind.TRANSLATION)
_COPY, _VARIANT, _TRANSLATION = range(len(KINDS))


@dataclass(frozen=True)
class LeadCriteria:
    """What decides which page of a group stands for it; arrays [n]: `target` bool: whether it may receive links;
    `inlinks`, `clicks` int64; `address` int64: the length of its address; `ids` int64, ascending."""

    target: NDArray[np.bool_]
    inlinks: NDArray[np.int64]
    clicks: NDArray[np.int64]
    address: NDArray[np.int64]
    ids: NDArray[np.int64]


@dataclass(frozen=True)
class Groups:
    """Groups of pages, by position; arrays [n].

    `group` int64: its number, -1 for a page that stands alone; `kind` int8: a place in KINDS: what the page is to its
    group's first; `near` float32: share of the text that it has in common with a page of the group, NaN where that did
    not decide; `lead` bool: the group's first; `receives` bool: whether links may lead to it: those to a page that does
    not go to one that does.
    """

    group: NDArray[np.int64]
    kind: NDArray[np.int8]
    near: NDArray[np.float32]
    lead: NDArray[np.bool_]
    receives: NDArray[np.bool_]


@dataclass
class Rulings:
    """Pages that somebody said are not the same. `sides`: by page, its side in each ruling: two pages are apart where a
    ruling has them on different sides."""

    sides: Mapping[int, Mapping[int, int]] = field(default_factory=dict)


def find_groups(pages: Described, standing: LeadCriteria, apart: Rulings | None = None) -> Groups:
    """The groups of all pages; whatever order they are read in, the same."""
    edges = np.concatenate(
        [
            _by_name(pages),
            _by_address(pages),
            _by_text(pages),
            _translations(pages),
        ]
    )
    edges = _allowed(edges, apart or Rulings())
    return _grouped(pages, edges, standing)


def alike(pages: Described, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float32]:
    """Share of their texts' runs that pairs of pages have in common, estimated; 0 where one has hardly any text."""
    near = np.zeros(len(a), dtype=np.float32)
    for first in range(0, len(a), 20_000):
        part = slice(first, first + 20_000)
        near[part] = (pages.sketch[a[part]] == pages.sketch[b[part]]).mean(axis=1, dtype=np.float32)
    near[np.minimum(pages.runs[a], pages.runs[b]) < SOME_TEXT] = 0
    return near


def _buckets(
    key: NDArray[np.int64],
    judge: Callable[[NDArray[np.int64], NDArray[np.int64]], tuple[NDArray[np.bool_], NDArray[np.float32]]],
    kind: int,
    chosen: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]] | None = None,
) -> NDArray[np.void]:
    """Edges between the pages of one key that `judge` takes for the same, each to its bucket's first. `chosen`: whether
    it is for the donor to choose which of two such pages it links to."""
    found = [np.empty(0, dtype=EDGE)]
    left = np.flatnonzero(key)
    left = left[np.argsort(key[left], kind="stable")]
    for _ in range(ROUNDS):
        if len(left) < 2:
            break
        value = key[left]
        starts = np.concatenate([[True], value[1:] != value[:-1]])
        first = left[np.maximum.accumulate(np.where(starts, np.arange(len(left)), 0))]
        a, b = first[~starts], left[~starts]
        same, near = judge(a, b)
        edges = np.empty(int(same.sum()), dtype=EDGE)
        edges["a"], edges["b"], edges["kind"], edges["near"] = a[same], b[same], kind, near[same]
        edges["chosen"] = chosen(edges["a"], edges["b"]) if chosen is not None else False
        found.append(edges)
        left = b[~same]
    return np.concatenate(found)


def _by_name(pages: Described) -> NDArray[np.void]:
    """Pages of one name with like texts are copies; those whose names differ in size, colour or sex alone, variants.

    Where there are no texts to compare, pages of one long name, or of one base, are variants if their addresses do not
    differ either but for such words and numbers.
    """
    base_of_address, whole = pages.key("address_base"), pages.key("whole_title")
    enough = pages.runs >= SOME_TEXT

    def same_name(a: NDArray[np.int64], b: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        near = alike(pages, a, b)
        return near >= SAME_NAME, near

    def same_base(
        name: str, a: NDArray[np.int64], b: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        near = alike(pages, a, b)
        near[np.minimum(pages.runs[a], pages.runs[b]) < THIN] = np.nan
        other = pages.key(name)[a] != pages.key(name)[b]
        varies = other | (pages.varies[a] & (near < SAME_NAME))  # from there on one name makes them copies
        return ((near >= SAME_BASE) | np.isnan(near)) & varies, near

    def without_text(a: NDArray[np.int64], b: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        bare = ~enough[a] & ~enough[b] & (base_of_address[a] == base_of_address[b])
        named = (pages.key("title_base")[a] != 0) | (pages.varies[a] & pages.varies[b])
        return bare & named & (pages.length[a] >= LONG_NAME), np.full(len(a), np.nan, dtype=np.float32)

    return np.concatenate(
        [
            *(
                _buckets(pages.key(name), same_name, _COPY, lambda a, b: whole[a] != whole[b])
                for name in ("title", "h1")
            ),
            *(_buckets(pages.key(f"{name}_base"), partial(same_base, name), _VARIANT) for name in ("title", "h1")),
            _buckets(pages.key("base"), without_text, _VARIANT),
        ]
    )


def _by_address(pages: Described) -> NDArray[np.void]:
    """Variants: of one name, and of one address but for a version or for the parameters of a variant."""

    def named_alike(a: NDArray[np.int64], b: NDArray[np.int64], *names: str) -> NDArray[np.bool_]:
        same = np.zeros(len(a), dtype=bool)
        for name in names:
            key = pages.key(name)
            same |= (key[a] != 0) & (key[a] == key[b])
        return same

    def versions(a: NDArray[np.int64], b: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        other = pages.key("version")[a] != pages.key("version")[b]
        return other & named_alike(a, b, "title", "h1"), alike(pages, a, b)

    def parameters(a: NDArray[np.int64], b: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        other = pages.key("variant")[a] != pages.key("variant")[b]
        return other & named_alike(a, b, "title", "h1", "title_base", "h1_base"), alike(pages, a, b)

    def known(name: str) -> NDArray[np.int64]:
        """The addresses of which a version, or a variant, is there."""
        rest, named = pages.key(f"any_{name}"), pages.key(name) != 0
        return np.where(np.isin(rest, rest[named]), rest, 0)

    return np.concatenate(
        [
            _buckets(known("version"), versions, _VARIANT, lambda a, _: a >= 0),
            _buckets(known("variant"), parameters, _VARIANT),
        ]
    )


def _by_text(pages: Described) -> NDArray[np.void]:
    """Copies under another name: nearly the same text, and names that say the same of it.

    The text alone is not enough: much of what two pages share may be around their text, and a form that is filled in
    anew for each page is no copy. So numbers, months and single letters of the names have to agree, and of the words
    all of one name, or half where the texts are the same.
    """

    def same(a: NDArray[np.int64], b: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        near = alike(pages, a, b)
        short = np.minimum(pages.runs[a], pages.runs[b])
        likely = (near >= NESTED_NAME) & (short >= NESTED_TEXT) & (pages.key("marks")[a] == pages.key("marks")[b])
        shared = np.zeros(len(a), dtype=np.float32)
        shared[likely] = _shared_words(pages, a[likely], b[likely])
        return likely & ((shared >= 1) | (near >= OTHER_NAME) & (short >= OTHER_TEXT) & (shared >= 0.5)), near

    whole = pages.key("whole_title")
    found = [np.empty(0, dtype=EDGE)]
    for first in range(0, SKETCH, BAND):
        band = np.ascontiguousarray(pages.sketch[:, first : first + BAND]).view(np.uint64)
        key = (band[:, 0] * np.uint64(0x9E3779B97F4A7C15) ^ band[:, 1] * np.uint64(0xC2B2AE3D27D4EB4F)).astype(np.int64)
        key[pages.runs < NESTED_TEXT] = 0
        found.append(_buckets(key, same, _COPY, lambda a, b: whole[a] != whole[b]))
    edges = np.concatenate(found)
    # Two like texts meet in many bands.
    edges = edges[np.unique(edges["a"].astype(np.int64) * len(pages) + edges["b"], return_index=True)[1]]
    base, a, b = pages.key("base"), edges["a"], edges["b"]
    varies = (base[a] == base[b]) & (base[a] != 0) & (whole[a] != whole[b]) & (pages.varies[a] | pages.varies[b])
    edges["kind"][varies], edges["chosen"][varies] = _VARIANT, False
    return edges


def _shared_words(pages: Described, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float32]:
    """Share of the words of the name that has fewer which the other has too."""
    shared = np.zeros(len(a), dtype=np.float32)
    for first in range(0, len(a), 20_000):
        left, right = pages.words[a[first : first + 20_000]], pages.words[b[first : first + 20_000]]
        both = ((left[:, :, None] == right[:, None, :]) & (left[:, :, None] > 0)).any(axis=2).sum(axis=1)
        fewest = np.minimum((left > 0).sum(axis=1), (right > 0).sum(axis=1))
        shared[first : first + 20_000] = both / np.maximum(fewest, 1)
    return shared


def _translations(pages: Described) -> NDArray[np.void]:
    """Pages of one address but for the language that it names.

    What the pages say of their language decides where both say it; else the addresses do, where the site has
    MIN_PAIRS pages in that language that are there in another too: "/it/" may be Italian, or the IT department.
    """
    key, locale, language = pages.key("any_language"), pages.key("locale"), pages.key("language")
    order = np.argsort(key, kind="stable")
    value = key[order]
    starts = np.flatnonzero(np.concatenate([[True], value[1:] != value[:-1]]))
    bounds = np.append(starts, len(order))
    several = np.flatnonzero(np.diff(bounds) > 1)
    counted: Counter[int] = Counter()
    buckets = []
    for number in several.tolist():
        members = order[bounds[number] : bounds[number + 1]]
        if len(set(locale[members].tolist())) > 1:
            buckets.append(members)
            counted.update(set(locale[members].tolist()) - {0})
    rows = []
    for members in buckets:
        first = int(members[0])
        for other in members[1:].tolist():
            if locale[first] == locale[other]:
                continue
            if language[first] and language[other]:
                differ = language[first] != language[other]
            else:
                differ = all(counted[code] >= MIN_PAIRS for code in (locale[first], locale[other]) if code)
            if differ:
                rows.append((first, other))
    edges = np.empty(len(rows), dtype=EDGE)
    edges["a"], edges["b"] = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    edges["kind"], edges["near"], edges["chosen"] = _TRANSLATION, np.nan, False
    return edges


def _allowed(edges: NDArray[np.void], apart: Rulings) -> NDArray[np.void]:
    """The edges without those that would bring together what was ruled apart, also by way of other pages."""
    sides = apart.sides
    if not sides:
        return edges
    pages = int(max(edges["a"].max(initial=0), edges["b"].max(initial=0))) + 1
    _, part = connected_components(_matrix(edges, pages), directed=False)
    ruled = np.array([page for page in sides if page < pages], dtype=np.int64)
    touched = np.isin(part[edges["a"]], part[ruled])
    kept = np.ones(len(edges), dtype=bool)
    parent: dict[int, int] = {}
    held: dict[int, dict[int, int]] = {}

    def root(page: int) -> int:
        while parent.setdefault(page, page) != page:
            parent[page] = page = parent[parent[page]]
        return page

    places = np.flatnonzero(touched)
    near = np.nan_to_num(edges["near"][places], nan=1.0)
    for place in places[np.lexsort((edges["b"][places], edges["a"][places], -near))].tolist():
        left, right = root(int(edges["a"][place])), root(int(edges["b"][place]))
        if left == right:
            continue
        mine, yours = held.get(left) or dict(sides.get(left, {})), held.get(right) or dict(sides.get(right, {}))
        if any(yours.get(ruling, side) != side for ruling, side in mine.items()):
            kept[place] = False
            continue
        parent[right] = left
        held[left] = {**mine, **yours}
    return edges[kept]


def _matrix(edges: NDArray[np.void], pages: int) -> sparse.csr_matrix:
    ones = np.ones(len(edges), dtype=np.int8)
    return sparse.csr_matrix((ones, (edges["a"], edges["b"])), shape=(pages, pages))


def _grouped(pages: Described, edges: NDArray[np.void], standing: LeadCriteria) -> Groups:
    count = len(pages)
    group, kind = np.full(count, -1, dtype=np.int64), np.zeros(count, dtype=np.int8)
    near = np.full(count, np.nan, dtype=np.float32)
    lead, receives = np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
    if not len(edges):
        return Groups(group, kind, near, lead, receives)
    _, part = connected_components(_matrix(edges, count), directed=False)
    members = np.unique(np.concatenate([edges["a"], edges["b"]]))
    group[members] = np.unique(part[members], return_inverse=True)[1]
    rank = np.lexsort(
        (
            *(standing.ids[members], standing.address[members], -standing.clicks[members], -standing.inlinks[members]),
            *(~standing.target[members], group[members]),
        )
    )
    ordered = members[rank]
    lead[ordered[_firsts(group[ordered])]] = True
    tongue = pages.key("tongue")
    of_lead = np.zeros(int(group.max()) + 1, dtype=np.int64)
    of_lead[group[lead]] = tongue[lead]
    # Links to one page a group and language, but where the donor can tell which of the pages it means.
    together = np.lexsort((np.arange(len(ordered)), tongue[ordered], group[ordered]))
    ordered = ordered[together]
    team = np.cumsum(_firsts(group[ordered]) | _firsts(tongue[ordered])) - 1
    size = np.bincount(team)
    fixed = np.zeros(len(of_lead), dtype=bool)
    fixed[group[edges["a"][(edges["kind"] != _TRANSLATION) & ~edges["chosen"]]]] = True
    one = fixed[group[ordered]] | (size[team] > MAX_LINKED_COPIES)
    receives[ordered[one & ~_firsts(team)]] = False
    # What a page is to the first: by its language, else by its nearest edge.
    ends, kinds = np.concatenate([edges["a"], edges["b"]]), np.tile(edges["kind"], 2)
    nears = np.tile(edges["near"], 2)
    order = np.lexsort((kinds == _VARIANT, np.nan_to_num(nears, nan=0.0), kinds != _TRANSLATION, ends))
    kind[ends[order]], near[ends[order]] = kinds[order], nears[order]  # the last of a page's edges stays
    other = (group >= 0) & (tongue != 0) & (of_lead[group] != 0) & (tongue != of_lead[group])
    kind[other], near[other] = _TRANSLATION, np.nan
    return Groups(group, kind, near, lead, receives)


def _firsts(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each value differs from the one before it."""
    return np.concatenate([[True], values[1:] != values[:-1]])[: len(values)]
