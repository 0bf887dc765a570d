"""A site with too few links is ranked by what editors of other sites link: a ranker that ships with the product."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from bench.links.describe import drawn
from bench.links.train import described, learned
from linker.engine.evidence import build_evidence
from linker.engine.index import build_index
from linker.engine.rank import rank_site
from linker.engine.ranking.approval import A_TEXT
from linker.engine.ranking.boosted_trees import TrainOptions
from linker.engine.ranking.features import FEATURES, candidates
from linker.engine.ranking.options import EngineOptions
from linker.engine.ranking.other_sites import BY_LINKS, COLUMNS, SHIPPED, SLOPE, TYPICAL, other_sites_scorer
from linker.engine.site import Links, Site, checked
from tests.engine.sites import made_site
from tests.engine.test_rank import without

NOBODY = np.empty(0, dtype=np.int64)


def unlinked(site: Site) -> Site:
    return without(site, np.ones(len(site.links), dtype=bool))


@pytest.mark.nightly
def test_the_shipped_ranker_is_what_training_on_the_links_gives(tmp_path: Path) -> None:
    again = tmp_path / "links.json.gz"
    again.write_bytes(gzip.compress(json.dumps(learned([])).encode()))
    made, ranker = other_sites_scorer(again), other_sites_scorer()
    assert (made.links, made.sites, made.version) == (ranker.links, ranker.sites, ranker.version)
    table = np.zeros((500, len(FEATURES)), dtype=np.float32)
    table[:, [FEATURES.index(name) for name in COLUMNS]] = described([])["kubuntu_de"]["features"][:500]
    assert np.allclose(made.raw(table), ranker.raw(table), atol=0.02)


def test_it_reads_nothing_that_links_tell() -> None:
    assert set(FEATURES) >= BY_LINKS
    site = checked(unlinked(made_site()))
    evidence = build_evidence(build_index(site), NOBODY)
    found = candidates(evidence, np.arange(20), (NOBODY, NOBODY))
    ranker = other_sites_scorer()
    other = found.features.copy()
    other[:, [FEATURES.index(name) for name in sorted(BY_LINKS)]] = 7
    assert np.array_equal(ranker.raw(found.features), ranker.raw(other))
    for name in BY_LINKS - {"rank"}:  # ranks of nothing are 0, 1, 2 ... in some, which is what must not be learned
        column = found.features[:, FEATURES.index(name)]
        assert name.endswith("_rank") or len(np.unique(column)) == 1, name


@pytest.mark.nightly
def test_linked_pages_come_first_on_a_site_whose_links_nobody_saw() -> None:
    site = made_site()
    options = EngineOptions(training=TrainOptions(rounds=20, threads=1))
    ranked = rank_site(unlinked(site), EngineOptions(otherwise="shipped"))
    assert (ranked.ranker, ranked.version.split("+")[0], ranked.quality) == ("shipped", "links-1", None)
    rank = np.arange(len(ranked)) - np.searchsorted(ranked.pairs.source, ranked.pairs.source)
    first = ranked.pairs.source[rank < 10] * len(site) + ranked.pairs.target[rank < 10]
    assert np.isin(np.unique(site.links.src * len(site) + site.links.dst), first).mean() > 0.8
    learned_here = rank_site(site, EngineOptions(otherwise="shipped", training=options.training))
    assert learned_here.ranker == "learned"  # links of its own come first


def test_it_says_nothing_of_pages_without_a_text() -> None:
    ranker = other_sites_scorer()
    pairs = np.zeros((2, len(FEATURES)), dtype=np.float32)
    pairs[1, FEATURES.index("donor_tokens")] = A_TEXT + 1
    said = np.array([2.0, 2.0])
    assert ranker.log_odds_shift(pairs, said).tolist() == [0.0, SLOPE * (2.0 - TYPICAL)]


def test_a_ranker_learned_on_other_numbers_is_refused(tmp_path: Path) -> None:
    kept = json.loads(gzip.decompress(SHIPPED.read_bytes()))
    other = tmp_path / "other.json.gz"
    other.write_bytes(gzip.compress(json.dumps(kept | {"columns": COLUMNS[1:]}).encode()))
    with pytest.raises(ValueError, match="learned on other numbers"):
        other_sites_scorer(other)


def test_the_links_hold_numbers_alone() -> None:
    for site in described([]).values():
        assert {name: column.dtype.kind for name, column in site.items()} == {
            "features": "f", "right": "b", "donor": "i", "weight": "f",
        }  # fmt: skip


def test_what_is_drawn_stands_for_what_is_not() -> None:
    source = np.repeat([0, 1, 2], 100)
    right = np.zeros(300, dtype=bool)
    right[[3, 105, 106]] = True
    keep, weight = drawn(source, right, 20, np.random.default_rng(1))
    assert set(source[keep].tolist()) == {0, 1}  # the third has no link
    assert set(np.flatnonzero(right)) <= set(keep.tolist())
    assert np.bincount(source[keep]).tolist() == [21, 22]
    assert weight[~right[keep]].sum() == pytest.approx(99 + 98)


@pytest.mark.nightly
def test_links_of_no_use_are_no_links() -> None:
    site = made_site()
    few = Links(site.links.src[:5], site.links.dst[:5], list(site.links.anchors[:5]))
    ranked = rank_site(Site(**vars(site) | {"links": few}), EngineOptions(otherwise="shipped"))
    assert ranked.ranker == "shipped"
