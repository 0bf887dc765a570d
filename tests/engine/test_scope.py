"""A scope takes targets away, and fills their room from within; it changes nothing that is said of a pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linker.engine.blocks import CategoryTree
from linker.engine.index import build_index
from linker.engine.rank import rank_site
from linker.engine.ranking.ranked import Ranked
from linker.engine.site import Site
from tests.engine.sites import made_site
from tests.engine.test_rank import SMALL


def scattered(**changes: object) -> Site:
    """A site whose categories have little to do with its topics: a hundred and twenty pages in twelve of them, three
    below each of four."""
    site = made_site()
    nodes = np.random.default_rng(1).integers(5, 17, len(site))
    tree = CategoryTree(np.array([0, 0, 0, 0, 0, *(1 + child // 3 for child in range(12))], dtype=np.int64))
    return replace(site, nodes=nodes, tree=tree, **changes)


def values(ranked: Ranked) -> dict[tuple[int, int], float]:
    pairs = zip(ranked.pairs.source.tolist(), ranked.pairs.target.tolist(), strict=True)
    return dict(zip(pairs, ranked.probability.tolist(), strict=True))


@pytest.mark.nightly
@pytest.mark.parametrize("ranking", ["learned", "formula"])
@pytest.mark.parametrize("levels_up", [0, 1])
def test_nothing_is_proposed_outside_and_the_room_is_filled_from_within(ranking, levels_up):
    options = replace(SMALL, ranking=ranking, pool=8)
    whole, site = rank_site(scattered(), options), scattered(levels_up=levels_up)
    ranked = rank_site(site, options)
    source, target = ranked.pairs.source, ranked.pairs.target
    assert site.tree.within(site.nodes[source], site.nodes[target], levels_up).all()
    assert not site.tree.within(site.nodes[whole.pairs.source], site.nodes[whole.pairs.target], levels_up).all()
    linked = set(zip(site.links.src.tolist(), site.links.dst.tolist(), strict=True))
    alike = site.unit @ site.unit.T > 0
    for page in range(len(site)):
        inside = alike[page] & site.tree.within(np.full(len(site), site.nodes[page]), site.nodes, levels_up)
        open_ = [other for other in np.flatnonzero(inside).tolist() if other != page and (page, other) not in linked]
        assert (source == page).sum() >= min(len(open_), 8)


@pytest.mark.nightly
@pytest.mark.parametrize("ranking", ["learned", "formula"])
def test_what_is_said_of_a_pair_is_what_is_said_of_it_on_the_whole_site(ranking):
    options = replace(SMALL, ranking=ranking)
    whole, scoped = values(rank_site(scattered(), options)), values(rank_site(scattered(levels_up=1), options))
    both = whole.keys() & scoped.keys()
    assert len(both) > 100
    assert np.median([abs(whole[pair] - scoped[pair]) for pair in both]) < 0.01


@pytest.mark.nightly
def test_levels_beyond_the_tree_are_the_whole_site():
    assert values(rank_site(scattered(levels_up=2), SMALL)) == values(rank_site(scattered(), SMALL))


def test_the_nearest_by_words_lie_within():
    site = scattered(levels_up=0)
    found = build_index(site).words_within
    assert found is not None
    assert found.nnz > 0
    pages = np.repeat(np.arange(len(site)), np.diff(found.indptr))
    assert (site.nodes[pages] == site.nodes[found.indices]).all()
    assert (pages != found.indices).all()


@pytest.mark.nightly
def test_a_ranker_learns_from_all_donors_whichever_are_asked_about():
    few = np.zeros(120, dtype=bool)
    few[[3, 40]] = True
    ranked, whole = rank_site(made_site_asked(few), SMALL), rank_site(made_site(), SMALL)
    assert set(ranked.pairs.source.tolist()) == {3, 40}
    assert ranked.quality == whole.quality
    assert values(ranked).items() <= values(whole).items()


def made_site_asked(asked: np.ndarray) -> Site:
    return replace(made_site(), selected=asked)
