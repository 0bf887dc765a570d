"""Whether an editor would approve: a model that ships with the product, and moves with a project's own decisions."""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.panel.train import curve, good_words, has_words, judged, pairs, raw, relevance
from linker.engine.anchors.choice import span_finder
from linker.engine.anchors.context import in_context
from linker.engine.anchors.doubts import NAME_GOES_ON, NEVER_LINKED, OF_DONOR, SAID_ONCE
from linker.engine.anchors.features import CONTEXT_FEATURES, WORD_FEATURES
from linker.engine.anchors.longer_names import LEAVES_OUT
from linker.engine.anchors.ownership import OWN_WORDS
from linker.engine.anchors.title_words import PART_OF_TITLE
from linker.engine.anchors.tokenized import TokenizedTexts
from linker.engine.anchors.training import AnchorOptions
from linker.engine.evidence import Evidence, build_evidence
from linker.engine.index import build_index
from linker.engine.rank import rank_site
from linker.engine.ranking.approval import (
    BASE_WEIGHT,
    GOOD_WORDS,
    LARGEST,
    PAIR_FEATURES,
    SHIPPED,
    VERSION,
    Curve,
    bits,
    log_odds_shift,
    places,
    shipped,
)
from linker.engine.ranking.boosted_trees import TrainOptions
from linker.engine.ranking.calibration import Calibration, calibrate
from linker.engine.ranking.options import EngineOptions
from linker.engine.ranking.other_subjects import OF_ANOTHER_SUBJECT
from linker.engine.ranking.siblings import FAR_OFF, NAMESAKE, OF_ANOTHER
from linker.engine.site import Links, Site, checked
from tests.engine.sites import made_site
from tests.engine.test_rank import without

chances = st.floats(0.001, 0.999)


@pytest.mark.nightly
def test_the_shipped_model_is_what_training_on_the_judged_suggestions_gives() -> None:
    rows = judged([])
    model = shipped()
    assert model.judged == len(rows)
    again = relevance(rows)
    table = pairs(rows[:300])
    assert np.allclose(raw(again, table) + log_odds_shift(table), model.relevant(table), atol=0.02)


# What makes the scores of each version: the model, and what rules add to its log-odds.
SCORES = {"approval-8": "929d6b3fc01d"}


def test_what_makes_other_scores_is_another_version() -> None:
    """A run of what changed goes on from a run of the same version alone."""
    added = (
        OWN_WORDS,
        PART_OF_TITLE,
        SAID_ONCE,
        OF_DONOR,
        NAME_GOES_ON,
        OF_ANOTHER,
        OF_ANOTHER_SUBJECT,
        BASE_WEIGHT,
        GOOD_WORDS,
        NAMESAKE,
        NEVER_LINKED,
        LEAVES_OUT,
        FAR_OFF,
    )
    made_of = gzip.decompress(SHIPPED.read_bytes()) + repr(added).encode()
    found = hashlib.sha256(made_of).hexdigest()[:12]
    assert SCORES.get(VERSION) == found, "Raise approval.VERSION, and enter it here"


@pytest.mark.nightly
def test_no_judged_suggestion_holds_a_text() -> None:
    for path in Path("bench/panel").glob("*.jsonl.gz"):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            assert all(len(json.loads(line)["anchor"]) <= 200 and "sentence" not in json.loads(line) for line in lines)


@pytest.mark.nightly
def test_judged_words_are_told_apart() -> None:
    rows = [row for row in judged([]) if has_words(row) and row["relevant"]]
    table = np.array([[row["words"].get(name) for name in WORD_FEATURES] for row in rows], dtype=np.float32)
    said = shipped().good_words(table)
    right = np.array([good_words(row) for row in rows])
    assert said[right].mean() - said[~right].mean() > 1.5


def test_a_model_of_other_numbers_is_refused(tmp_path: Path) -> None:
    kept = json.loads(gzip.decompress(SHIPPED.read_bytes()))
    other = tmp_path / "other.json.gz"
    other.write_bytes(gzip.compress(json.dumps(kept | {"pair_features": PAIR_FEATURES[:-1]}).encode()))
    with pytest.raises(ValueError, match="make it anew"):
        shipped(other)


def test_a_curve_gives_back_the_chance_it_was_drawn_from() -> None:
    rng = np.random.default_rng(4)
    log_odds = rng.normal(0, 2, 5000)
    right = rng.random(5000) < 1 / (1 + np.exp(-(0.5 + 0.8 * log_odds)))
    bias, weight = curve(log_odds, label=right.tolist())
    assert (bias, weight) == (pytest.approx(0.5, abs=0.1), pytest.approx(0.8, abs=0.1))
    assert Curve(bias, (weight,))(np.zeros(1))[0] == pytest.approx(1 / (1 + np.exp(-bias)))


def test_without_decisions_the_shipped_model_stands() -> None:
    stated = np.array([0.1, 0.5, 0.9])
    assert calibrate(np.empty(0), np.empty(0, dtype=bool)) == Calibration()
    assert np.array_equal(Calibration()(stated), stated)


def test_many_decisions_move_it_to_what_the_editors_approve() -> None:
    rng = np.random.default_rng(1)
    stated = rng.uniform(0.2, 0.95, 4000)
    truth = stated / 2
    moved = calibrate(stated, rng.random(4000) < truth)
    assert moved.decisions == 4000
    assert np.abs(moved(stated) - truth).mean() < 0.04


def test_one_decision_moves_it_a_little() -> None:
    moved = calibrate(np.array([0.8]), np.array([False]))
    assert 0.7 < moved(np.array([0.8]))[0] < 0.8


def test_one_rejection_of_the_surest_moves_the_others_hardly_at_all() -> None:
    moved = calibrate(np.full(6, 0.97), np.array([True] * 5 + [False]))
    assert 0.72 < moved(np.array([0.75]))[0] < 0.75


@given(st.lists(st.tuples(chances, st.booleans()), max_size=60), chances, chances)
def test_a_calibration_never_turns_the_order_around(
    decisions: list[tuple[float, bool]], one: float, other: float
) -> None:
    stated, approved = np.array([d[0] for d in decisions]), np.array([d[1] for d in decisions], dtype=bool)
    low, high = calibrate(stated, approved)(np.array(sorted([one, other])))
    assert 0 <= low <= high <= 1


@given(st.lists(st.integers(0, 2**31 - 1), max_size=20))
def test_bits_are_counted(values: list[int]) -> None:
    assert bits(np.array(values, dtype=np.int64)).tolist() == [value.bit_count() for value in values]


def test_a_place_counts_as_a_share_of_the_pages_in_reach() -> None:
    pages = np.array([500, 10_000, 10_000, 500, 1_000_000, LARGEST])
    found = places(np.array([0, 0, 19, -1, 3, 3]), pages)
    assert found[1] < found[0], "the first of many is nearer than the first of few"
    assert found[2] == pytest.approx(found[0]), "the twentieth of 10,000 is where the first of 500 is"
    assert np.isnan(found[3])
    assert found[4] == found[5], "no larger site was learned from"


def test_pages_of_another_language_are_out_of_reach() -> None:
    site = made_site(5)
    assert site.within_reach.tolist() == [5] * 5
    assert replace(site, language_ids=np.array([7, 7, 0, 9, 7])).within_reach.tolist() == [4, 4, 5, 2, 4]


def test_the_sites_own_ranker_weighs_in_where_the_donor_has_a_text() -> None:
    table = np.zeros((3, len(PAIR_FEATURES)), dtype=np.float32)
    table[:, PAIR_FEATURES.index("base")] = [2.0, 2.0, np.nan]
    table[:, PAIR_FEATURES.index("donor_tokens")] = [6.0, 0.7, 6.0]
    leans = log_odds_shift(table)
    assert leans[0] > 0
    assert leans[1:].tolist() == [0, 0]


# ------------------------------------------------------------------------------------------- the words and their place


def evidence_of(site: Site) -> Evidence:
    return build_evidence(build_index(checked(site)), np.arange(len(site.links)))


def described(body: str, title: str, words: str) -> dict[str, float]:
    """The numbers of `words` in a donor's text, as the link to a page with that title."""
    site = made_site(pages=6)
    bodies = [body, *site.bodies[1:]]
    names = [site.titles[0], title, *site.titles[2:]]
    evidence = evidence_of(replace(site, bodies=bodies, titles=names, h1s=names, links=Links()))
    finder = span_finder(evidence, None)
    texts = TokenizedTexts(finder.reader, np.array([0]))
    found = finder.find(texts, np.array([0]), np.array([1]))
    spans = [
        body[texts.start[first] : texts.stop[last - 1]] for first, last in zip(found.first, found.last, strict=True)
    ]
    one = found.take(np.array([spans.index(words)]))
    return dict(zip(CONTEXT_FEATURES, in_context(finder, texts, np.array([1]), one)[0].tolist(), strict=True))


def test_a_year_that_the_sentence_does_not_say_is_missing() -> None:
    there = described("We met at the summit 2015 agenda again.", "Summit 2015 agenda", "summit 2015 agenda")
    other = described("We met at the summit agenda in 2014 again.", "Summit 2015 agenda", "summit agenda")
    assert (there["numbers_missing"], there["numbers_other"]) == (0, 0)
    assert (other["numbers_missing"], other["numbers_other"]) == (1, 1)


def test_words_torn_from_a_name_are_seen() -> None:
    torn = described("Learn Responsive Web Design today.", "Web Design", "Web Design")
    whole = described("Learn about Web Design today.", "Web Design", "Web Design")
    assert torn["name_before"] == 1
    assert whole["name_before"] == 0


def test_words_of_the_donors_own_title_are_seen() -> None:
    site = made_site(pages=6)
    own = described(f"All about {site.titles[0]} here.", f"{site.titles[0]} care", site.titles[0])
    other = described("All about kettles here.", "Kettles care", "kettles")
    assert own["own_title_part"] > 0.5
    assert other["own_title_part"] == 0


def test_what_neither_words_nor_sentence_say_of_the_title_is_missing() -> None:
    less = described("We sell the kettle here.", "Kettle repair manual", "kettle")
    more = described("The repair manual of the kettle is here.", "Kettle repair manual", "kettle")
    assert less["title_missing"] > more["title_missing"]
    assert more["title_missing"] == pytest.approx(0, abs=0.01)


# -------------------------------------------------------------------------------------------------------- the whole


@pytest.mark.nightly
def test_decisions_of_the_project_move_the_probabilities_and_not_the_order() -> None:
    site = made_site()
    plain = rank_site(site, EngineOptions(ranking="formula"))
    strict = rank_site(site, EngineOptions(ranking="formula", calibration=Calibration(1.0, -1.0, 40)))
    assert np.array_equal(plain.pairs.target, strict.pairs.target)
    assert (strict.probability < plain.probability).all()
    assert np.array_equal(strict.uncalibrated, plain.uncalibrated)


@pytest.mark.nightly
def test_a_link_in_the_text_stands_on_words_that_are_good_enough() -> None:
    options = EngineOptions(training=TrainOptions(rounds=20, threads=1), anchors=AnchorOptions(min_links=40, rounds=30))
    site = made_site(pages=240)
    ranked = rank_site(without(site, np.random.default_rng(0).random(len(site.links)) < 0.2), options)
    choices = ranked.anchor_choices(np.arange(len(ranked)))
    best = np.array([max((choice.weight for choice in mine), default=0.0) for mine in choices])
    differs = np.flatnonzero(ranked.probability != ranked.beside)
    assert len(differs)
    assert (best[differs] >= 0.75).all()
