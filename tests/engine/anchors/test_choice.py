"""The words that become a link are learned from the site's own links, of which none describes itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from linker.engine.anchors.boundaries import learn_boundaries, link_positions
from linker.engine.anchors.choice import anchor_choices
from linker.engine.anchors.spans import SpanFinder, text_blocks
from linker.engine.anchors.tokenized import SpanReader, TokenizedTexts
from linker.engine.anchors.training import AnchorOptions, AnchorRanker, examples, train_anchors
from linker.engine.evidence import Evidence, build_evidence
from linker.engine.index import build_index, no_progress
from linker.engine.rank import rank_site
from linker.engine.ranking.approval import shipped
from linker.engine.ranking.boosted_trees import TrainOptions
from linker.engine.ranking.options import EngineOptions
from linker.engine.site import Links, Site, checked
from tests.engine.sites import made_site
from tests.engine.strategies import hostile_text
from tests.examples import tried

OPTIONS = AnchorOptions(min_links=40, rounds=30, threads=1)


def worded_site() -> Site:
    """Editors link the name together with the words after it, which no page is called."""
    site = made_site(pages=240, links_a_page=1)
    bodies = [body.replace(" before you go out.", " safety notes before you go out.") for body in site.bodies]
    anchors = [f"{anchor} safety notes" for anchor in site.links.anchors]
    return replace(site, bodies=bodies, links=Links(site.links.src, site.links.dst, anchors))


def split(site: Site, seed: int = 5) -> tuple[Site, np.ndarray]:
    """The site without a fifth of its links, and which those are."""
    hidden = np.random.default_rng(seed).random(len(site.links)) < 0.2
    keep = np.flatnonzero(~hidden)
    anchors = [site.links.anchors[place] for place in keep]
    return replace(site, links=Links(site.links.src[keep], site.links.dst[keep], anchors)), np.flatnonzero(hidden)


def everything(site: Site) -> Evidence:
    return build_evidence(build_index(checked(site)), np.arange(len(site.links)))


@pytest.fixture(scope="module")
def learned() -> tuple[Evidence, AnchorRanker]:
    site, _ = split(worded_site())
    evidence = everything(site)
    ranker = train_anchors(evidence.index, OPTIONS)
    assert ranker is not None
    return evidence, ranker


def test_the_words_that_editors_link_come_back(learned: tuple[Evidence, AnchorRanker]) -> None:
    evidence, ranker = learned
    site = worded_site()
    _, hidden = split(site)
    source, target = site.links.src[hidden], site.links.dst[hidden]
    wanted = [site.links.anchors[place] for place in hidden.tolist()]
    by_weight = [choice[0].text for choice in anchor_choices(evidence, source, target, shipped())]
    by_model = [choice[0].text for choice in anchor_choices(evidence, source, target, shipped(), ranker=ranker)]
    assert np.mean([one == other for one, other in zip(by_model, wanted, strict=True)]) > 0.85
    assert np.mean([one == other for one, other in zip(by_weight, wanted, strict=True)]) < 0.7


def test_choices_are_words_of_the_text_that_carry_no_link_yet(learned: tuple[Evidence, AnchorRanker]) -> None:
    evidence, ranker = learned
    site = evidence.index.site
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, len(site), 300), rng.integers(0, len(site), 300)
    linked: dict[int, set[str]] = {}
    for page, anchor in zip(site.links.src.tolist(), site.links.anchors, strict=True):
        linked.setdefault(page, set()).add(anchor)
    choices = anchor_choices(evidence, source, target, shipped(), 4, ranker)
    for page, found in zip(source.tolist(), choices, strict=True):
        assert len(found) <= 4
        assert [choice.weight for choice in found] == sorted((choice.weight for choice in found), reverse=True)
        assert len({choice.text.lower() for choice in found}) == len(found)
        for choice in found:
            assert site.bodies[page][choice.start : choice.end] == choice.text
            assert "\n" not in choice.text
            taken = [site.bodies[page].index(anchor) for anchor in linked.get(page, set())]
            assert not any(start <= choice.start < start + 5 for start in taken)


@pytest.mark.nightly
def test_a_link_is_not_described_by_itself() -> None:
    """Whatever one link's anchor says, the spans of its own pair are described alike."""
    site = checked(worded_site())
    link = 7
    anchors = list(site.links.anchors)
    anchors[link] = f"weather of day {site.links.src[link]}"
    changed = replace(site, links=Links(site.links.src, site.links.dst, anchors))
    found = []
    for one in (site, changed):
        reader = SpanReader(build_index(one))
        found.append(examples(reader, list(text_blocks(reader, np.arange(len(site)))), OPTIONS, no_progress))
    before, after = found
    right_before, right_after = (
        {query: data.features[data.query == query][data.right[data.query == query]] for query in np.unique(data.query)}
        for data in found
    )
    moved = [query for query in right_before if not np.array_equal(right_before[query], right_after[query])]
    own = [
        query for query in moved if np.array_equal(*(data.features[data.query == query] for data in (before, after)))
    ]
    assert len(own) == 1
    # All that is hidden with the link is described alike too; what sees the link may differ.
    assert before.links == after.links == len({*zip(site.links.src.tolist(), site.links.dst.tolist(), strict=True)})


def test_hidden_links_change_nothing_of_the_spans() -> None:
    site = checked(worded_site())
    hidden = np.flatnonzero(np.arange(len(site.links)) % 5 == 0)
    visible = np.setdiff1d(np.arange(len(site.links)), hidden)
    rng = np.random.default_rng(1)
    dst, anchors = site.links.dst.copy(), list(site.links.anchors)
    dst[hidden] = rng.permutation(dst[hidden])
    for place in hidden.tolist():
        anchors[place] = f"weather of day {place}"
    pages, target = np.arange(len(site)), site.links.dst[hidden]
    found = []
    for one in (site, replace(site, links=Links(site.links.src, dst, anchors))):
        reader = SpanReader(build_index(one))
        evidence = build_evidence(reader.index, visible)
        texts = TokenizedTexts(reader, pages)
        finder = SpanFinder(
            evidence, reader, learn_boundaries(reader, link_positions(evidence.index, evidence.visible), [texts])
        )
        found.append(finder.find(texts, site.links.src[hidden], target))
    assert np.array_equal(found[0].first, found[1].first)
    assert np.array_equal(found[0].last, found[1].last)
    assert np.array_equal(found[0].features, found[1].features)


def test_the_same_site_gives_the_same_choices(learned: tuple[Evidence, AnchorRanker]) -> None:
    evidence, ranker = learned
    again = train_anchors(evidence.index, OPTIONS)
    source, target = np.arange(40), np.arange(40)[::-1].copy()
    assert anchor_choices(evidence, source, target, shipped(), ranker=ranker) == anchor_choices(
        evidence, source, target, shipped(), ranker=again
    )


def test_sites_with_little_to_learn_from_learn_nothing() -> None:
    site = made_site(pages=40)
    none = replace(site, links=Links())
    silent = made_site(pages=40, text=False)
    for poor in (none, silent, made_site(pages=12, links_a_page=1)):
        assert train_anchors(build_index(checked(poor)), OPTIONS) is None
    absent = replace(site, links=Links(site.links.src, site.links.dst, ["no such words"] * len(site.links)))
    assert train_anchors(build_index(checked(absent)), OPTIONS) is None


@pytest.mark.nightly
def test_identical_pages_are_no_trouble() -> None:
    site = made_site(pages=80)
    body = "\n".join(dict.fromkeys("\n".join(site.bodies).split("\n")))
    same = replace(site, bodies=[body] * 80, titles=["Guide"] * 80, h1s=["Guide"] * 80)
    evidence = everything(same)
    ranker = train_anchors(evidence.index, OPTIONS)
    found = anchor_choices(evidence, np.arange(10), np.arange(10, 20), shipped(), ranker=ranker)
    assert len(found) == 10


@pytest.mark.nightly
@given(hostile_text, hostile_text, hostile_text)
@tried(25)
def test_any_text_is_read(learned: tuple[Evidence, AnchorRanker], body: str, title: str, other: str) -> None:
    site = made_site(pages=6)
    bodies = [body, other, f"{title}\n{body}", f"{other} {title}", "", site.bodies[5]]
    strange = checked(replace(site, bodies=bodies, titles=[title, other, body, "", title, title]))
    evidence = everything(strange)
    _, ranker = learned
    reader = SpanReader(evidence.index)
    texts = TokenizedTexts(reader, np.arange(6))
    own = AnchorRanker(
        ranker.model, ranker.places, learn_boundaries(reader, link_positions(evidence.index, evidence.visible), [texts])
    )
    source, target = np.repeat(np.arange(6), 6), np.tile(np.arange(6), 6)
    choices = anchor_choices(evidence, source, target, shipped(), ranker=own)
    for page, found in zip(source.tolist(), choices, strict=True):
        assert all(bodies[page][choice.start : choice.end] == choice.text for choice in found)


@pytest.mark.nightly
def test_a_ranked_site_offers_words_for_its_pairs() -> None:
    site, _ = split(worded_site())
    ranked = rank_site(site, EngineOptions(training=TrainOptions(rounds=20, threads=1), anchors=OPTIONS))
    places = np.arange(len(ranked))
    choices = ranked.anchor_choices(places)
    source, target = ranked.pairs.source.tolist(), ranked.pairs.target.tolist()
    named = [
        mine
        for page, other, mine in zip(source, target, choices, strict=True)
        if f"read {site.h1s[other]} safety" in site.bodies[page]
    ]
    assert len(named) > 40
    assert all(named)
    for page, mine in zip(source, choices, strict=True):
        assert [choice.weight for choice in mine] == sorted((choice.weight for choice in mine), reverse=True)
        assert all(site.bodies[page][choice.start : choice.end] == choice.text for choice in mine)
    assert ranked.anchor_choices(places[5:6])[0] == choices[5]
