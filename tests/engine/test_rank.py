"""The engine learns from the site's links, never looks at what it has to find, and survives bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.candidates.registry import bit_of
from linker.engine.evidence import build_evidence
from linker.engine.index import build_index
from linker.engine.rank import rank_site
from linker.engine.ranking.boosted_trees import TrainOptions, train
from linker.engine.ranking.choose import SUREST, allocation_scores
from linker.engine.ranking.features import FEATURES, Candidates, candidates
from linker.engine.ranking.options import EngineOptions
from linker.engine.ranking.reasons import phrase_in
from linker.engine.ranking.training_set import training_set
from linker.engine.site import Links, Pairs, Site, checked
from linker.errors import UserError
from tests.engine.sites import made_site

SMALL = EngineOptions(training=TrainOptions(rounds=30, threads=1))


def without(site: Site, hidden: np.ndarray) -> Site:
    keep = np.flatnonzero(~hidden)
    anchors = [site.links.anchors[place] for place in keep]
    return replace(site, links=Links(site.links.src[keep], site.links.dst[keep], anchors))


@pytest.mark.nightly
def test_hidden_links_come_back_and_carry_the_editors_words() -> None:
    site = made_site()
    hidden = np.random.default_rng(0).random(len(site.links)) < 0.2
    ranked = rank_site(without(site, hidden), SMALL)
    assert ranked.ranker == "learned"
    assert ranked.quality is not None
    rank = np.arange(len(ranked)) - np.searchsorted(ranked.pairs.source, ranked.pairs.source)
    first = {
        (source, target)
        for source, target, place in zip(ranked.pairs.source.tolist(), ranked.pairs.target.tolist(), rank, strict=True)
        if place < 10
    }
    wanted = list(zip(site.links.src[hidden].tolist(), site.links.dst[hidden].tolist(), strict=True))
    found = [pair for pair in wanted if pair in first]
    assert len(found) > 0.8 * len(wanted)
    place_of = {
        pair: place
        for place, pair in enumerate(zip(ranked.pairs.source.tolist(), ranked.pairs.target.tolist(), strict=True))
    }
    choices = ranked.anchor_choices(np.array([place_of[pair] for pair in found]))
    said = [choice[0].text if choice else "" for choice in choices]
    assert np.mean([text == site.h1s[target] for text, (_, target) in zip(said, found, strict=True)]) > 0.9


@pytest.mark.nightly
def test_the_same_input_gives_the_same_output() -> None:
    site = made_site()
    one, two = rank_site(site, SMALL), rank_site(site, SMALL)
    assert np.array_equal(one.probability, two.probability)
    assert np.array_equal(one.pairs.target, two.pairs.target)
    assert np.array_equal(one.pairs.features, two.pairs.features)


def test_features_do_not_see_links_that_are_hidden() -> None:
    """Whatever the hidden links say, and wherever they lead, the evidence of the visible ones is the same."""
    site = checked(made_site())
    visible = np.flatnonzero(np.arange(len(site.links)) % 5 > 0)
    hidden = np.flatnonzero(np.arange(len(site.links)) % 5 == 0)
    rng = np.random.default_rng(1)
    src, dst, anchors = site.links.src.copy(), site.links.dst.copy(), list(site.links.anchors)
    src[hidden], dst[hidden] = rng.permutation(src[hidden]), rng.permutation(dst[hidden])
    for place, other in zip(hidden.tolist(), rng.permutation(hidden).tolist(), strict=True):
        anchors[place] = f"weather of day {other}"
    changed = replace(site, links=Links(src, dst, anchors))
    sources = np.arange(len(site))
    skip = (site.links.src[visible], site.links.dst[visible])
    one = candidates(build_evidence(build_index(site), visible), sources, skip)
    two = candidates(build_evidence(build_index(changed), visible), sources, skip)
    assert np.array_equal(one.source, two.source)
    assert np.array_equal(one.target, two.target)
    assert np.array_equal(one.features, two.features)


@pytest.mark.nightly
def test_training_never_proposes_a_visible_link_and_counts_its_labels() -> None:
    site = checked(made_site())
    options = TrainOptions(rounds=20, threads=1)
    index = build_index(site)
    data = training_set(index, options)
    assert data.label.sum() <= data.hidden <= len(site.links)
    assert data.features.shape == (len(data.label), len(FEATURES))
    assert np.isfinite(data.features[:]).all()
    ranker = train(index, options)
    assert ranker is not None
    raw = ranker.raw(data.features[:])
    probability = ranker.probability(np.sort(raw))
    assert (np.diff(probability) >= 0).all()
    assert probability.min() >= 0
    assert probability.max() <= 1


@pytest.mark.nightly
def test_the_ranker_beats_chance_by_far_and_says_how_well() -> None:
    ranked = rank_site(made_site(), SMALL)
    assert ranked.quality is not None
    assert ranked.quality.recall_at_10 > 0.6
    assert 0 < ranked.quality.found <= ranked.quality.hidden


@pytest.mark.nightly
def test_links_rejects_and_forbidden_pairs_are_not_proposed() -> None:
    site = made_site()
    site = replace(site, forbidden=Pairs(np.array([0]), np.array([1])), rejected=Pairs(np.array([2]), np.array([3])))
    ranked = rank_site(site, SMALL)
    proposed = set(zip(ranked.pairs.source.tolist(), ranked.pairs.target.tolist(), strict=True))
    assert proposed.isdisjoint(zip(site.links.src.tolist(), site.links.dst.tolist(), strict=True))
    assert (0, 1) not in proposed
    assert (2, 3) not in proposed
    assert all(source != target for source, target in proposed)


@pytest.mark.nightly
def test_only_donors_give_and_only_targets_receive() -> None:
    site = made_site()
    source, target = np.arange(120) % 2 == 0, np.arange(120) % 3 == 0
    ranked = rank_site(replace(site, source=source, target=target), SMALL)
    assert source[ranked.pairs.source].all()
    assert target[ranked.pairs.target].all()


@pytest.mark.nightly
def test_generators_can_be_switched_off_and_bounded() -> None:
    site = made_site()
    only = rank_site(site, replace(SMALL, generators=("nearest",), pool=5))
    assert set(only.pairs.found.tolist()) == {bit_of("nearest")}
    assert np.bincount(only.pairs.source).max() <= 5


@pytest.mark.nightly
def test_without_links_the_formula_ranks() -> None:
    ranked = rank_site(without(made_site(), np.ones(len(made_site().links), dtype=bool)), SMALL)
    assert ranked.ranker == "formula"
    assert len(ranked)
    assert ((ranked.probability > 0) & (ranked.probability < 1)).all()
    assert ranked.why(0).sentence.endswith(".")


@pytest.mark.nightly
def test_links_that_all_stand_on_one_page_can_be_learned_from() -> None:
    site = made_site()
    targets = np.arange(1, len(site))
    links = Links(np.zeros(len(targets), dtype=np.int64), targets, [site.h1s[target] for target in targets])
    ranked = rank_site(replace(site, links=links), SMALL)
    assert np.isfinite(ranked.probability).all()


@pytest.mark.nightly
def test_accepts_alone_do_not_teach_that_everything_is_right() -> None:
    site = made_site()
    once = {(s, t) for s, t in zip(site.links.src.tolist(), site.links.dst.tolist(), strict=True) if s != t}
    source, target = (np.array(side) for side in zip(*sorted(once)[:200], strict=True))
    ranked = rank_site(replace(site, links=Links(), accepted=Pairs(source, target)), SMALL)
    assert ranked.quality is not None
    assert (ranked.quality.accepted, ranked.quality.rejected, ranked.quality.hidden) == (
        int(np.isin(source * len(site) + target, _proposed(site, source, target)).sum()), 0, 0,
    )  # fmt: skip
    assert np.median(ranked.probability) < 0.5 < ranked.probability.max()


@pytest.mark.nightly
def test_decisions_leave_the_ranker_of_a_site_with_links_enough_as_it_was() -> None:
    """What editors decide on was chosen by the ranker before: learned from, it brings more of the same than is good."""
    site = made_site()
    before = rank_site(site, SMALL)
    decided = Pairs(before.pairs.source[:40], before.pairs.target[:40])
    now = rank_site(replace(site, accepted=decided), SMALL)
    assert now.quality == before.quality
    assert (now.probability == before.probability).all()


def _proposed(site: Site, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Accepted pairs that are candidates where there are no links at all."""
    evidence = build_evidence(build_index(checked(replace(site, links=Links()))), np.empty(0, dtype=np.int64))
    nothing = np.empty(0, dtype=np.int64)
    found = candidates(evidence, np.unique(source), (nothing, nothing))
    return found.source * len(site) + found.target


def test_pages_that_do_not_say_their_language_have_that_of_the_others() -> None:
    site = made_site()
    half = replace(site, languages=[language if page % 3 else "" for page, language in enumerate(site.languages)])
    assert list(checked(half).languages) == list(site.languages)
    silent = replace(site, languages=[""] * len(site))
    assert set(checked(silent).languages) == {""}


def bare(**changes: object) -> Site:
    return replace(without(made_site(40), np.ones(len(made_site(40).links), dtype=bool)), **changes)  # type: ignore[arg-type]


@pytest.mark.sample(10)
@pytest.mark.parametrize(
    "site",
    [
        made_site(1),
        made_site(2, links_a_page=1),
        made_site(60, text=False),
        bare(),
        bare(unit=np.zeros((40, 4), np.float32)),
        bare(unit=np.full((40, 4), np.nan, np.float32)),
        bare(unit=np.ones((40, 4), np.float32)),
        bare(titles=[""] * 40, h1s=[""] * 40, bodies=[""] * 40),
        bare(titles=["Same"] * 40, h1s=["Same"] * 40, bodies=["Same text"] * 40, urls=["https://a.example/"] * 40),
        bare(bodies=["\x00\ud800" * 50] * 40),
        bare(languages=[""] * 40),
        bare(source=np.zeros(40, bool)),
        bare(target=np.zeros(40, bool)),
        replace(made_site(), unit=np.zeros((120, 4), np.float32)),
    ],
)
def test_odd_sites_give_a_result(site: Site) -> None:
    ranked = rank_site(site, SMALL)
    assert np.isfinite(ranked.probability).all()
    assert np.isfinite(ranked.pairs.features).all()
    for place in range(min(len(ranked), 20)):
        assert ranked.why(place).sentence


def test_a_donor_that_says_the_words_in_its_own_name_alone_has_no_reason_in_them() -> None:
    site = made_site(60)
    titles, bodies = list(site.titles), list(site.bodies)
    titles[:3] = ["Harpoon", "Osterby Harpoon 4", "Boats of Osterby"]
    bodies[1] = "Osterby Harpoon 4 weighs two kilos. The Osterby Harpoon 4 is light."
    bodies[2] = "On a boat a harpoon weighs two kilos."
    none = np.zeros(0, dtype=np.int64)
    unit = np.array(site.unit)
    unit[:3] = unit[0]
    ranked = rank_site(
        replace(site, titles=titles, h1s=titles, bodies=bodies, links=Links(none, none), unit=unit), SMALL
    )
    said = {
        donor: phrase_in(ranked.why(place).sentence)
        for donor in (1, 2)
        for place in np.flatnonzero((ranked.source == donor) & (ranked.target == 0))
    }
    assert said == {1: "", 2: "Harpoon"}


def test_a_site_without_pages_is_an_error_for_the_user() -> None:
    nothing = np.empty(0, dtype=np.int64)
    site = made_site(1)
    empty = Site(
        [], [], [], [], [], np.empty((0, 4), np.float32), nothing, site.tree, Links(), nothing > 0, nothing > 0
    )
    with pytest.raises(UserError, match="no pages"):
        rank_site(empty)


# ----------------------------------------------------------------------------------------------- what comes in its turn


def pairs_of(sources: list[int]) -> Candidates:
    """Pairs of these donors, ascending, each donor's targets numbered from 0."""
    source = np.array(sorted(sources), dtype=np.int64)
    target = np.arange(len(source)) - np.searchsorted(source, source)
    nothing = np.zeros(len(source), dtype=np.int32)
    return Candidates(source, target, nothing, np.zeros((len(source), 0), dtype=np.float32), nothing)


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(0, 2**32 - 1))
def test_a_donors_surest_come_first_and_then_what_its_site_would_link(sources: list[int], seed: int) -> None:
    pairs, draw = pairs_of(sources), np.random.default_rng(seed)
    probability, base = draw.random(len(pairs)), draw.normal(size=len(pairs))
    turn = allocation_scores(pairs, probability, base)
    for source in np.unique(pairs.source):
        mine = np.flatnonzero(pairs.source == source)
        surest = mine[np.argsort(-probability[mine])]
        wanted = [*surest[:SUREST], *sorted(surest[SUREST:], key=lambda place: -base[place])]
        assert mine[np.argsort(-turn[mine])].tolist() == [int(place) for place in wanted]
        assert sorted(turn[mine]) == sorted(probability[mine])  # shared out among the same pairs


def test_without_a_ranker_of_the_site_links_are_given_out_by_probability() -> None:
    pairs = pairs_of([0] * 10)
    probability = np.linspace(0.9, 0.1, 10)
    assert np.array_equal(allocation_scores(pairs, probability, np.full(10, np.nan)), probability)
