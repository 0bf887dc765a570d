"""Pairs of pages that are translations of one another."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.copies.duplicate_pairs import PAIR, TRANSLATION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.copies.describe import Described

MIN_PAIRS = 3  # pages in a language, each with one in another, that show that an address names languages


def translations(pages: Described) -> NDArray[np.void]:
    """Pages of one address but for the language that it names, PAIR [k]: each with the first of its address.

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
    pairs = np.empty(len(rows), dtype=PAIR)
    pairs["a"], pairs["b"] = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    pairs["kind"], pairs["near"], pairs["chosen"] = TRANSLATION, np.nan, False
    return pairs
