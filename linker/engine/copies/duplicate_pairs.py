"""Pairs of pages that are one page more than once: by name, by address, by text.

Such pairs are only looked for in buckets: the same name, the same address but for a part, the same band of minima. In a
bucket each page is compared with the bucket's first page, what is not alike with the first of those left, and so on,
ROUNDS times. So the work grows with the number of pages and not of pairs.
"""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from linker.engine.copies.describe import LONG_NAME, SKETCH

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from linker.engine.copies.describe import Described

BAND = 8  # minima that have to agree for two texts to be compared whatever their names are
ROUNDS = 8

# The bounds, calibrated by reading: docs/copies.md.
SOME_TEXT = 8  # runs below which a text says nothing
SAME_NAME = 0.65  # share of runs in common from which pages of one name are copies
SAME_BASE = 0.3  # from which pages whose names differ in size, colour or sex alone are variants
THIN = 30  # runs below which a text cannot speak against that
NESTED_NAME, NESTED_TEXT = 0.9, 50  # from which, and how long, where one name holds the other's words
OTHER_NAME, OTHER_TEXT = 0.98, 100  # the same where half the words of the names agree


class Kind(StrEnum):
    """What a page is to another one."""

    COPY = "copy"  # the same text, or nearly
    VARIANT = "variant"  # the same thing in another size, colour, sex, edition or version
    TRANSLATION = "translation"  # the same page in another language


PAIR = np.dtype([("a", "i8"), ("b", "i8"), ("kind", "i1"), ("near", "f4"), ("chosen", "?")])
KINDS = (Kind.COPY, Kind.VARIANT, Kind.TRANSLATION)
COPY, VARIANT, TRANSLATION = range(len(KINDS))

# What says of the pages a and b of pairs, int64 [k] each, whether they are the same, and the share of their texts that
# they have in common.
Judge: TypeAlias = "Callable[[NDArray[np.int64], NDArray[np.int64]], tuple[NDArray[np.bool_], NDArray[np.float32]]]"


def pairs_by_name(pages: Described) -> NDArray[np.void]:
    """Copies and variants by name, PAIR [k]: pages of one name with like texts are copies; those whose names differ in
    size, colour or sex alone, variants.

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
                _buckets(pages.key(name), same_name, COPY, lambda a, b: whole[a] != whole[b])
                for name in ("title", "h1")
            ),
            *(_buckets(pages.key(f"{name}_base"), partial(same_base, name), VARIANT) for name in ("title", "h1")),
            _buckets(pages.key("base"), without_text, VARIANT),
        ]
    )


def pairs_by_address(pages: Described) -> NDArray[np.void]:
    """Variants by address, PAIR [k]: of one name, and of one address but for a version or for the parameters of a
    variant."""

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
            _buckets(known("version"), versions, VARIANT, lambda a, _: a >= 0),
            _buckets(known("variant"), parameters, VARIANT),
        ]
    )


def pairs_by_text(pages: Described) -> NDArray[np.void]:
    """Copies under another name, PAIR [k]: nearly the same text, and names that say the same of it.

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
    found = [np.empty(0, dtype=PAIR)]
    for first in range(0, SKETCH, BAND):
        band = np.ascontiguousarray(pages.sketch[:, first : first + BAND]).view(np.uint64)
        key = (band[:, 0] * np.uint64(0x9E3779B97F4A7C15) ^ band[:, 1] * np.uint64(0xC2B2AE3D27D4EB4F)).astype(np.int64)
        key[pages.runs < NESTED_TEXT] = 0
        found.append(_buckets(key, same, COPY, lambda a, b: whole[a] != whole[b]))
    pairs = np.concatenate(found)
    # Two like texts meet in many bands.
    pairs = pairs[np.unique(pairs["a"].astype(np.int64) * len(pages) + pairs["b"], return_index=True)[1]]
    base, a, b = pages.key("base"), pairs["a"], pairs["b"]
    varies = (base[a] == base[b]) & (base[a] != 0) & (whole[a] != whole[b]) & (pages.varies[a] | pages.varies[b])
    pairs["kind"][varies], pairs["chosen"][varies] = VARIANT, False
    return pairs


def alike(pages: Described, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float32]:
    """Share of the runs of words that the texts of pages `a` and `b`, int64 [k] both, have in common, estimated by
    their sketches: float32 [k] in [0, 1]; 0 where one has fewer than SOME_TEXT runs."""
    near = np.zeros(len(a), dtype=np.float32)
    for first in range(0, len(a), 20_000):
        part = slice(first, first + 20_000)
        near[part] = (pages.sketch[a[part]] == pages.sketch[b[part]]).mean(axis=1, dtype=np.float32)
    near[np.minimum(pages.runs[a], pages.runs[b]) < SOME_TEXT] = 0
    return near


def _buckets(
    key: NDArray[np.int64],
    judge: Judge,
    kind: int,
    chosen: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]] | None = None,
) -> NDArray[np.void]:
    """Pairs between the pages of one key that `judge` takes for the same, each to its bucket's first. `chosen`: whether
    it is for the source to choose which of two such pages it links to."""
    found = [np.empty(0, dtype=PAIR)]
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
        pairs = np.empty(int(same.sum()), dtype=PAIR)
        pairs["a"], pairs["b"], pairs["kind"], pairs["near"] = a[same], b[same], kind, near[same]
        pairs["chosen"] = chosen(pairs["a"], pairs["b"]) if chosen is not None else False
        found.append(pairs)
        left = b[~same]
    return np.concatenate(found)


def _shared_words(pages: Described, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float32]:
    """Share of the words of the name that has fewer which the other has too."""
    shared = np.zeros(len(a), dtype=np.float32)
    for first in range(0, len(a), 20_000):
        left, right = pages.words[a[first : first + 20_000]], pages.words[b[first : first + 20_000]]
        both = ((left[:, :, None] == right[:, None, :]) & (left[:, :, None] > 0)).any(axis=2).sum(axis=1)
        fewest = np.minimum((left > 0).sum(axis=1), (right > 0).sum(axis=1))
        shared[first : first + 20_000] = both / np.maximum(fewest, 1)
    return shared
