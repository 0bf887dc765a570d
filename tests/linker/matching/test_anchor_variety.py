"""Suggestions of one target keep apart, however the tiers move and whatever the site has already."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from linker.engine.anchors.diversity import word_set
from linker.engine.params import PageFilter
from linker.engine.text.template import Template
from linker.matching.placing import Placer
from linker.matching.tiers import keep_apart, retier
from linker.models import CandidateEdge, Project, Tier
from linker.projects.policies.tiers import change_tiers
from tests.factories import embed, make_edge, make_link, make_page
from tests.linker.matching.test_match import match

pytestmark = pytest.mark.django_db

BODY = "Walkers like snow boots. Others wear winter boots in town. Warm footwear is best."


def name(text: str) -> dict[str, Any]:
    return {"text": text, "source": "title", "raw": text, "whole": True}


def in_text(text: str, **more: Any) -> dict[str, Any]:
    start = BODY.index(text)
    return {**name(text), "start": start, "end": start + len(text), **more}


def placed(project: Project, target: Any, others: list[dict[str, Any]], **fields: Any) -> CandidateEdge:
    start = BODY.index("snow boots")
    donor = make_page(project, body=BODY)
    return make_edge(
        project, donor, target, anchor="snow boots", span_start=start, span_end=start + 10, anchor_alternatives=others,
        **fields,
    )  # fmt: skip


def anchors(project: Project, **filters: Any) -> Counter[str]:
    return Counter(word_set(edge.anchor) for edge in CandidateEdge.objects.filter(project=project, **filters))


def lower_the_reserve(project: Project) -> None:
    """What was held back is seen."""
    related = Tier.objects.get(project=project, basis="cosine", name="Related")
    related.lower_bound = 0.2
    change_tiers(project, [related], list(Tier.objects.filter(project=project, basis="cosine", name="Reserve")))


def test_suggestions_that_come_to_be_seen_keep_to_the_limit_and_the_best_keep_their_words(project):
    target = make_page(project)
    others = [name("Winter boots"), name("Warm boots"), name("Boots guide")]
    held = [
        make_edge(project, target=target, score=0.5 + n / 100, anchor="Snow boots", anchor_alternatives=others)
        for n in range(10)
    ]
    lower_the_reserve(project)
    assert anchors(project) == {"boots snow": 3, "boots winter": 3, "boots warm": 3, "boots guide": 1}
    best = CandidateEdge.objects.filter(pk__in=[edge.pk for edge in held[-3:]])
    assert {edge.anchor for edge in best} == {"Snow boots"}
    moved = CandidateEdge.objects.get(pk=held[0].pk)
    assert (moved.anchor, moved.anchor_source) == ("Boots guide", "title")
    assert [other["text"] for other in moved.anchor_alternatives] == ["Snow boots", "Winter boots", "Warm boots"]


def test_the_second_reading_changes_nothing(project):
    target = make_page(project)
    for n in range(8):
        others = [name("Winter boots")]
        make_edge(project, target=target, score=0.7 + n / 100, anchor="Snow boots", anchor_alternatives=others)
    retier(project)
    first = list(CandidateEdge.objects.order_by("pk").values_list("anchor", flat=True))
    assert Counter(first) == {"Snow boots": 4, "Winter boots": 4}  # nothing else fits, and they stay level
    retier(project)
    assert list(CandidateEdge.objects.order_by("pk").values_list("anchor", flat=True)) == first


def test_links_of_the_site_and_settled_ones_count_and_what_a_person_wrote_stays(project):
    target = make_page(project)
    make_link(make_page(project), target, "Snow Boots")
    make_edge(project, target=target, anchor="snow boots", status="accepted")
    mine = make_edge(project, target=target, anchor="Boots for snow", edited=True)
    make_edge(project, target=target, anchor="Snow boots", anchor_alternatives=[name("Winter boots")])
    retier(project)
    assert anchors(project) == {"boots snow": 2, "boots winter": 1}
    assert CandidateEdge.objects.get(pk=mine.pk).anchor == "Boots for snow"


def test_a_link_in_the_text_moves_to_words_of_the_text_with_their_sentence(project):
    target = make_page(project)
    for _ in range(3):
        make_link(make_page(project), target, "snow boots")
    edge = placed(project, target, [name("Boots"), in_text("winter boots", fit=0.9)], score=0.9)
    retier(project)
    edge.refresh_from_db()
    assert (edge.anchor, edge.placement, edge.content_gap) == ("winter boots", "inline", False)
    assert BODY[edge.span_start : edge.span_end] == "winter boots"
    assert edge.sentence == "Others wear winter boots in town."
    assert edge.anchor_alternatives[0] | {"raw": "", "whole": True} == in_text(
        "snow boots", raw="", source="h1", whole=True
    )


@pytest.mark.parametrize("fit", [{"fit": 0.5}, {"end": 5, "start": 0}])
def test_a_link_in_the_text_stays_where_nothing_else_there_fits(project, fit):
    """Words that fit much less, and words that the text no longer holds there."""
    target = make_page(project)
    for _ in range(3):
        make_link(make_page(project), target, "snow boots")
    edge = placed(project, target, [name("Boots"), in_text("winter boots") | fit], score=0.9)
    retier(project)
    edge.refresh_from_db()
    assert (edge.anchor, edge.placement) == ("snow boots", "inline")


@pytest.mark.parametrize("words", ["boots", "Walkers like snow boots"])
def test_words_around_or_inside_those_used_too_often_are_no_others(project, words):
    target = make_page(project)
    for _ in range(3):
        make_link(make_page(project), target, "snow boots")
    start = BODY.index(words)
    other = {"text": words, "source": "text", "raw": words, "start": start, "end": start + len(words), "fit": 0.85}
    edge = placed(project, target, [other], score=0.9)
    retier(project)
    edge.refresh_from_db()
    assert edge.anchor == "snow boots"


def test_two_links_of_a_donor_never_move_to_the_same_words(project):
    target, other = make_page(project), make_page(project)
    for _ in range(3):
        make_link(make_page(project), target, "snow boots")
        make_link(make_page(project), other, "warm footwear")
    edge = placed(project, target, [in_text("winter boots")], score=0.9)
    start = BODY.index("Warm footwear")
    second = make_edge(
        project, edge.source, other, anchor="Warm footwear", span_start=start, span_end=start + 13, score=0.88,
        anchor_alternatives=[in_text("winter boots")],
    )  # fmt: skip
    retier(project)
    edge.refresh_from_db()
    second.refresh_from_db()
    assert (edge.anchor, second.anchor) == ("winter boots", "Warm footwear")


def test_a_link_beside_the_text_takes_a_name_and_comes_back_into_the_text_when_its_tier_wants_it_there(project):
    target = make_page(project)
    links = [make_link(make_page(project), target, "snow boots") for _ in range(3)]
    edge = placed(project, target, [name("Boots guide")], score=0.7)
    retier(project)
    edge.refresh_from_db()
    assert (edge.anchor, edge.span_start, edge.placement) == ("Boots guide", None, "related")
    links[0].delete()
    inline = Tier.objects.get(project=project, basis="cosine", name="Likely")
    inline.lower_bound = 0.69
    change_tiers(project, [inline])
    edge.refresh_from_db()
    assert (edge.anchor, edge.placement, edge.content_gap) == ("snow boots", "inline", False)
    assert edge.sentence == "Walkers like snow boots."


def test_only_what_is_seen_counts(project):
    target = make_page(project)
    others = [name("Winter boots")]
    for fields in (
        {"score": 0.55},
        {"score": 0.1},
        {"score": 0.9, "stale": True},
        {"score": 0.9, "status": "rejected"},
    ):
        for _ in range(2):
            make_edge(project, target=target, anchor="Snow boots", anchor_alternatives=others, **fields)
    for _ in range(3):
        make_edge(project, target=target, anchor="Snow boots", anchor_alternatives=others)
    retier(project)
    assert anchors(project) == {"boots snow": 11}


def test_of_some_suggestions_only_those_move(project):
    target = make_page(project)
    edges = [
        make_edge(project, target=target, score=0.8 + n / 100, anchor="Snow boots", anchor_alternatives=[name("Boots")])
        for n in range(4)
    ]
    retier(project, [edges[3].pk])
    assert anchors(project, pk=edges[3].pk) == {"boots": 1}
    assert anchors(project) == {"boots snow": 3, "boots": 1}


def test_after_a_decision_those_of_its_target_move(project):
    target = make_page(project)
    for n in range(3):
        make_edge(project, target=target, score=0.8 + n / 100, anchor="Snow boots", anchor_alternatives=[name("Boots")])
    make_edge(project, target=target, anchor="snow boots", status="accepted")
    assert keep_apart(project, [target.pk]) == 1
    assert anchors(project) == {"boots snow": 3, "boots": 1}
    assert keep_apart(project, [target.pk]) == 0


@pytest.mark.nightly
def test_a_match_keeps_apart_from_what_the_site_has(project):
    target = make_page(project, "/boots", title="Boots for winter walks", h1="Snow boots")
    embed(target, [1, 0, 0, 0])
    for n in range(4):
        donor = make_page(project, f"/d{n}", indexable=False)
        embed(donor, [1, 0.01 * n, 0, 0])
    for _ in range(2):
        make_link(make_page(project), target, "snow boots")
    match(project, donors=PageFilter(indexable_only=False))
    found = anchors(project, target=target)
    assert found["boots snow"] == 1
    assert found.total() == 4


@pytest.mark.nightly
def test_a_match_of_some_pages_keeps_apart_from_the_suggestions_it_leaves_standing(project):
    target = make_page(project, "/boots", title="Boots for winter walks", h1="Snow boots")
    embed(target, [1, 0, 0, 0])
    for n in range(6):
        donor = make_page(project, f"/{'first' if n < 3 else 'second'}-{n}", indexable=False)
        embed(donor, [1, 0.01 * n, 0, 0])
    match(project, donors=PageFilter(url_pattern="/first", indexable_only=False))
    match(project, donors=PageFilter(url_pattern="/second", indexable_only=False))
    assert anchors(project, stale=False) == {"boots snow": 3, "boots walks winter": 3}


def test_parts_of_names_do_not_take_turns_beside_the_text(project):
    target = make_page(project)
    part = name("Winter boots") | {"whole": False}
    held = [
        make_edge(project, target=target, score=0.5 + n / 100, anchor="Snow boots", anchor_alternatives=[part])
        for n in range(10)
    ]
    lower_the_reserve(project)
    assert anchors(project) == {"boots snow": len(held)}


class _Said:
    """Words of one text, as the engine finds them."""

    least, template = 0.75, Template()

    def __init__(self, *phrases: tuple[str, str, float], starts: dict[str, int] | None = None) -> None:
        self.phrases, self._starts = phrases, starts or {}

    def starts(self, source: int, target: int) -> dict[str, int]:
        return self._starts

    def traits(self, source: int, target: int) -> dict[str, int]:
        return {}

    def read(self, rows: Any) -> None: ...

    def of(self, source: int, target: int) -> tuple[tuple[str, str, float], ...]:
        return self.phrases


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([("Walkers like snow boots", "text", 0.8), ("boots", "url", 0.8)], "snow boots"),
        ([("Walkers like snow boots", "text", 0.8), ("winter boots", "text", 0.78)], "winter boots"),
    ],
)
def test_a_match_takes_no_words_around_those_used_too_often(project, others, expected):
    donor, target = make_page(project, body=BODY), make_page(project, title="Boots")
    for _ in range(3):
        make_link(make_page(project), target, "snow boots")
    rows = np.array([(donor.pk, target.pk)], dtype=[("source", "i8"), ("target", "i8")])
    placer = Placer(project, rows["source"], rows["target"], _Said(("snow boots", "anchor", 1.0), *others))
    placer.read(rows)
    assert placer.place(donor.pk, target.pk).anchor == expected


def test_words_become_a_link_where_the_engine_would_put_it(project):
    body = "Boots keep out rain.\nWalkers like boots for the snow.\nMore on boots below."
    donor, target = make_page(project, body=body), make_page(project, title="Boots")
    rows = np.array([(donor.pk, target.pk)], dtype=[("source", "i8"), ("target", "i8")])
    best = body.rindex("boots")
    placer = Placer(project, rows["source"], rows["target"], _Said(("boots", "anchor", 1.0), starts={"boots": best}))
    placer.read(rows)
    assert placer.place(donor.pk, target.pk).span == (best, best + len("boots"))
