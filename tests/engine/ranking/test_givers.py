"""Which pages might link to a few others: checked against a plain loop over texts and cosines."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from linker.engine.index import build_index
from linker.engine.ranking.givers import givers
from linker.engine.site import checked
from tests.engine.sites import made_site

if TYPE_CHECKING:
    from linker.engine.index import SiteIndex

PAGES = 60


@cache
def index() -> SiteIndex:
    """Of a site on which two pages share a name, and every third gives no links."""
    site = made_site(PAGES, links_a_page=4)
    titles, h1s = list(site.titles), list(site.h1s)
    titles[1], h1s[1] = titles[0], h1s[0]
    source = np.arange(PAGES) % 3 != 2
    return build_index(checked(replace(site, titles=titles, h1s=h1s, source=source)))


def by_a_loop(pages: list[int], without: list[int], each: int) -> list[int]:
    """The likeliest sources, the best of each page first, then the second of each."""
    site, near = index().site, index().near
    turns: list[list[tuple[int, int]]] = [[] for _ in range(each)]
    for page in pages:
        said = [other for other in range(PAGES) if site.h1s[page] + " " in site.bodies[other]][: 4 * each]
        scored = [(-2.0, other) for other in said]
        scored += [(-float(near[page, other]), other) for other in near[page].indices.tolist()]
        able = sorted(pair for pair in scored if site.source[pair[1]] and pair[1] not in (page, *without))
        for turn, (_, other) in enumerate(able[:each]):
            turns[turn].append((page, other))
    return list(dict.fromkeys(other for turn in turns for _, other in sorted(turn)))


@pytest.mark.parametrize("each", [1, 3, 10])
@pytest.mark.parametrize("most", [1, 7, 40])
def test_a_text_that_names_the_page_comes_first_and_every_page_has_one_before_any_has_two(most, each):
    pages, without = [0, 1, 5, 7, 30, 41, 59], [7, 30, 4]
    found = givers(index(), np.array(pages), np.array(without), most, each)
    assert found.tolist() == sorted(by_a_loop(pages, without, each)[:most])


def test_nobody_is_asked_for_no_pages():
    none = np.empty(0, dtype=np.int64)
    assert givers(index(), none, none, 20, 10).tolist() == []
