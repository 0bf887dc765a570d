"""What every ranker keeps to, whoever wrote it: order, ties, determinism, odd sites, and memory."""

from __future__ import annotations

import sys
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from linker.engine.anchors.training import AnchorOptions
from linker.engine.blocks import CategoryTree
from linker.engine.candidates.block_search import Tiling
from linker.engine.limits import Limits
from linker.engine.rank import rank_site
from linker.engine.ranking.boosted_trees import TrainOptions
from linker.engine.ranking.options import EngineOptions
from linker.engine.ranking.rankers.base import RankedPairs
from linker.engine.ranking.rankers.registry import RANKERS, ranker_of
from linker.engine.site import Links, Pairs, Site
from linker.errors import UserError
from tests.engine.sites import made_site

pytestmark = pytest.mark.parametrize("name", list(RANKERS))


def options(name: str, **changes: object) -> EngineOptions:
    small = EngineOptions(ranking=name, training=TrainOptions(rounds=10, threads=1), anchors=AnchorOptions(rounds=10))
    return replace(small, **changes)  # type: ignore[arg-type]


def twins() -> Site:
    """Pages of eight topics; those of one topic have the same vector, so that similarities tie."""
    site = made_site()
    return replace(site, unit=np.eye(16, dtype=np.float32)[site.nodes])


def bytes_of(ranked: RankedPairs) -> bytes:
    """All that a ranker says."""
    places = np.arange(len(ranked))
    said = [(ranked.why(place), choices) for place, choices in enumerate(ranked.anchor_choices(places))]
    numbers = (ranked.source, ranked.target, ranked.score)
    return b"".join(column.tobytes() for column in numbers) + repr((said, ranked.ranker, ranked.version)).encode()


def pairs_of(ranked: RankedPairs) -> set[tuple[int, int]]:
    return set(zip(ranked.source.tolist(), ranked.target.tolist(), strict=True))


@pytest.mark.sample(4)
@pytest.mark.parametrize("site", [made_site(), twins()], ids=["varied", "twins"])
def test_pairs_come_by_donor_then_score_and_equal_ones_by_target(name: str, site: Site) -> None:
    ranked = rank_site(site, options(name))
    assert len(ranked) > 100
    assert (len(ranked.source), len(ranked.target), len(ranked.score)) == (len(ranked),) * 3
    order = np.lexsort((ranked.target, -ranked.score, ranked.source))
    assert np.array_equal(order, np.arange(len(ranked)))
    assert len(pairs_of(ranked)) == len(ranked)
    assert np.array_equal(ranked.score, np.round(ranked.score, 6))


@pytest.mark.nightly
def test_the_same_site_gives_the_same_bytes(name: str) -> None:
    assert bytes_of(rank_site(made_site(60), options(name))) == bytes_of(rank_site(made_site(60), options(name)))


def test_every_pair_has_a_reason_and_a_list_of_words_that_stand_in_the_text(name: str) -> None:
    site = made_site(60)
    ranked = rank_site(site, options(name))
    for place, choices in enumerate(ranked.anchor_choices(np.arange(len(ranked)))):
        assert ranked.why(place).sentence.endswith(".")
        body = site.bodies[int(ranked.source[place])]
        assert all(body[choice.start : choice.end] == choice.text for choice in choices)


def test_a_site_without_pages_is_refused_in_a_sentence_for_the_user(name: str) -> None:
    nothing = np.empty(0, dtype=np.int64)
    none, tree = np.empty((0, 4), np.float32), made_site(1).tree
    site = Site([], [], [], [], [], none, nothing, tree, Links(), nothing > 0, nothing > 0)
    with pytest.raises(UserError, match="no pages"):
        rank_site(site, options(name))


def test_a_single_page_has_nothing_to_link_to(name: str) -> None:
    assert len(rank_site(made_site(1), options(name))) == 0


@pytest.mark.nightly
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_page_whose_vector_is_not_finite_counts_as_one_without_a_vector(name: str, bad: float) -> None:
    site = made_site(60)
    broken, without = site.unit.copy(), site.unit.copy()
    broken[3, 5], broken[20] = bad, bad
    without[[3, 20]] = 0
    ranked = rank_site(replace(site, unit=broken), options(name))
    assert np.isfinite(ranked.score).all()
    assert bytes_of(ranked) == bytes_of(rank_site(replace(site, unit=without), options(name)))


def test_only_vectors_that_are_not_finite_are_no_vectors_at_all(name: str) -> None:
    site = replace(made_site(40), unit=np.full((40, 4), np.nan, np.float32))
    ranked = rank_site(site, options(name))
    assert np.isfinite(ranked.score).all()


@pytest.mark.nightly
def test_what_is_taken_and_who_may_not_take_part_stay_out(name: str) -> None:
    free = rank_site(made_site(), options(name))
    first = np.flatnonzero(np.diff(free.source, prepend=-1))
    forbidden = Pairs(free.source[first[:40]], free.target[first[:40]])
    rejected = Pairs(free.source[first[40:80]], free.target[first[40:80]])
    source, target = np.arange(120) % 5 > 0, np.arange(120) % 7 > 0
    site = replace(made_site(), forbidden=forbidden, rejected=rejected, source=source, target=target)
    ranked = rank_site(site, options(name))
    assert len(ranked) > 0
    taken = zip(*(column.tolist() for column in site.taken), strict=True)
    assert pairs_of(ranked).isdisjoint(taken)
    assert all(one != other for one, other in pairs_of(ranked))
    assert source[ranked.source].all()
    assert target[ranked.target].all()


def test_languages_copies_levels_and_who_is_asked_about_are_kept_to(name: str) -> None:
    site = made_site()
    selected = np.arange(120) % 2 == 0
    limits = {
        "selected": selected,
        "levels_up": 0,
        "language_ids": np.arange(120) % 3,
        "group": np.where(np.arange(120) < 40, np.arange(120) // 4, -1),
        "tree": CategoryTree(np.array([0, 0, 0, 0, 0, 1, 2, 3, 4], dtype=np.int64)),
    }
    ranked = rank_site(replace(site, **limits), options(name))  # type: ignore[arg-type]
    source, page = ranked.source, ranked.target
    assert len(ranked) > 0
    assert selected[source].all()
    assert np.array_equal(site.nodes[source], site.nodes[page])
    language, group = limits["language_ids"], limits["group"]
    assert ((language[source] == language[page]) | (language[source] == 0) | (language[page] == 0)).all()
    assert ((group[source] != group[page]) | (group[source] < 0)).all()


@pytest.mark.nightly
def test_no_donor_has_more_than_the_pool_and_no_pair_scores_less_than_was_asked_for(name: str) -> None:
    every = rank_site(made_site(), options(name))
    least = float(np.median(every.score))
    ranked = rank_site(made_site(), options(name, pool=5, least_score=least))
    assert 0 < len(ranked) < len(every)
    assert np.bincount(ranked.source).max() <= 5
    assert ranked.score.min() >= least


@pytest.mark.nightly
@pytest.mark.slow
def test_four_times_the_pages_take_four_times_the_memory_and_not_sixteen_times(name: str) -> None:
    few, many = peak(name, 300), peak(name, 1200)
    assert many < 4.6 * few  # a matrix of all pairs would make it more than 5


def peak(name: str, pages: int) -> int:
    """Bytes held at most while a site is ranked in small slices."""
    site = replace(made_site(pages, text=False, links_a_page=1), selected=np.arange(pages) % 4 == 0)
    limits = Limits(sources=32, mentions=64, sums=64, characters=1)
    training = TrainOptions(rounds=5, threads=1, folds=2, min_labels=5, most_pairs=2000, sources=32)
    anchors, tiling = AnchorOptions(min_links=sys.maxsize), Tiling(rows=64, columns=64)
    chosen = options(name, pool=5, worded=2, limits=limits, training=training, anchors=anchors, tiling=tiling)
    rank_site(made_site(20), chosen)  # what is loaded once is no part of it
    tracemalloc.start()
    try:
        rank_site(site, chosen)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_forms_commands_and_reports_have_words_for_it(name: str) -> None:
    ranker = ranker_of(name)
    assert ranker.name == name
    assert 0 < len(name) <= 8  # as the table of rankers keeps it
    assert all([ranker.label, ranker.help, ranker.by, ranker.short])
    assert ranker.ranked_by in {"cosine", "formula", "learned"}  # as the table of suggestions has it
    assert -1 <= ranker.threshold <= 1
