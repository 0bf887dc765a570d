"""What is held at a time changes the memory that a run takes and nothing else."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from linker.engine.anchors.training import AnchorOptions
from linker.engine.arrays.disk import DiskTexts
from linker.engine.arrays.vectors import HalfVectors, unit_rows
from linker.engine.bodies import chunks
from linker.engine.limits import Limits
from linker.engine.rank import rank_site
from linker.engine.ranking.boosted_trees import TrainOptions
from linker.engine.ranking.options import EngineOptions
from linker.engine.ranking.ranked import Ranked
from linker.engine.site import Site
from linker.engine.text.tokens import BATCH
from tests.engine.sites import made_site

OPTIONS = EngineOptions(
    training=TrainOptions(rounds=20, threads=1), anchors=AnchorOptions(rounds=20, min_links=20, smallest_leaf=5)
)

pytestmark = pytest.mark.slow


def long_site() -> Site:
    """Texts of several batches of the vocabulary, with words of their own, and links of which a third lead anywhere."""
    site = made_site(pages=150)
    rng = np.random.default_rng(2)
    bodies = [f"{body}\n{' '.join(f'w{word}' for word in rng.integers(0, 3000, 250))}." for body in site.bodies]
    assert sum(map(len, bodies)) > 3 * BATCH
    anywhere = np.where(rng.random(len(site.links)) < 0.3, rng.integers(0, 150, len(site.links)), site.links.dst)
    return replace(site, bodies=bodies, links=replace(site.links, dst=anywhere))


@cache
def ranked(ranking: str) -> Ranked:
    """The site as a whole, in one piece and with everything kept."""
    return rank_site(long_site(), replace(OPTIONS, ranking=ranking))


def assert_same(one: Ranked, two: Ranked) -> None:
    assert len(one) == len(two) > 0
    for name in ("source", "target", "found", "features", "phrase"):
        assert np.array_equal(getattr(one.pairs, name), getattr(two.pairs, name)), name
    assert np.array_equal(one.probability, two.probability)
    assert len(np.unique(one.probability)) > 100
    assert np.array_equal(one.beside, two.beside)
    assert one.quality == two.quality
    places = np.arange(0, len(one), 7)
    assert one.anchor_choices(places) == two.anchor_choices(places)
    assert one.why(3) == two.why(3)


@pytest.mark.nightly
def test_slices_of_any_size_give_the_same_pairs_and_anchors() -> None:
    whole = ranked(OPTIONS.ranking)
    small = Limits(sources=17, mentions=11, sums=13, characters=1, examples=1000)
    assert len(chunks(long_site().bodies, small.characters)) > 2
    assert_same(whole, rank_site(long_site(), replace(OPTIONS, limits=small)))


@pytest.mark.nightly
def test_texts_in_files_and_vectors_in_half_precision_give_the_same_pairs_and_anchors() -> None:
    site = long_site()
    half = np.asarray(site.unit).astype(np.float16)
    in_files = {name: DiskTexts(getattr(site, name)) for name in ("urls", "titles", "h1s", "bodies")}
    one = rank_site(replace(site, unit=unit_rows(half)), OPTIONS)
    assert_same(one, rank_site(replace(site, unit=HalfVectors(half), **in_files), OPTIONS))


@pytest.mark.nightly
@pytest.mark.parametrize("ranking", [pytest.param("learned", marks=pytest.mark.nightly), "formula"])
def test_pairs_that_are_too_unlikely_are_left_with_no_more_than_their_probability(ranking: str) -> None:
    options = replace(OPTIONS, ranking=ranking)
    every = ranked(ranking)
    least = float(np.median(every.beside))
    some = rank_site(long_site(), replace(options, least_score=least))
    above = every.beside >= least
    assert 0 < len(some) < len(every)
    assert len(every.below.value) == 0
    assert np.array_equal(some.pairs.target, every.pairs.target[above])
    assert np.array_equal(some.pairs.features, every.pairs.features[above])
    assert np.array_equal(some.probability, every.probability[above])
    left = zip(every.pairs.source[~above].tolist(), every.pairs.target[~above].tolist(), strict=True)
    below = zip(some.below.source.tolist(), some.below.target.tolist(), strict=True)
    assert dict(zip(below, some.below.value.tolist(), strict=True)) == dict(
        zip(left, every.beside[~above].tolist(), strict=True)
    )
    assert (np.diff(some.below.value)[np.diff(some.below.source) == 0] <= 0).all()
