"""A match of the whole site draws links that the site has, and keeps those that it would have suggested."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from linker.engine.params import MatchParams, PageFilter, Ranking
from linker.matching.start import run_match
from linker.models import CandidateEdge, ExistingLink, KnownAnswer, RunKind, SensitiveRule, SensitiveState
from linker.runs import lifecycle
from tests.factories import embed, make_category, make_edge, make_link, make_model, make_page

if TYPE_CHECKING:
    from linker.models import Page, Project, Run

pytestmark = pytest.mark.django_db

TOPICS = ("tent", "stove", "kayak", "rope")


def match(project: Project, **params) -> Run:
    values = MatchParams(**{"ranking": Ranking.SHIPPED, "threshold": 0.0, **params}).to_dict()
    run = lifecycle.start_run(project, RunKind.MATCH, values, to_queue=False)
    type(run).objects.filter(pk=run.pk).update(status="running")
    run.refresh_from_db()
    run_match(run)
    return run


@pytest.fixture
def site(project: Project) -> list[Page]:
    """40 guides that each link to three others of their subject by their names, and name a fourth."""
    project.known_share = 5
    project.save()
    chance = random.Random(4)
    pages = []
    for number in range(40):
        topic = TOPICS[number % len(TOPICS)]
        name = f"{topic.title()} guide {number}"
        pages.append(make_page(project, f"/{topic}/{number}", title=name, category=make_category(project, topic)))
        vector = [0.2 * chance.random() for _ in range(8)]
        vector[number % len(TOPICS)] += 1
        embed(pages[-1], vector, make_model(8))
    for number, page in enumerate(pages):
        others = chance.sample([other for other in pages[number % 4 :: 4] if other != page], 4)
        page.body = "\n".join(f"Please read {other.h1} before you go out in the rain." for other in others)
        page.save(update_fields=["body"])
        for other in others[:3]:
            make_link(page, other, other.h1)
    return pages


@pytest.mark.nightly
def test_it_keeps_links_of_the_site_as_it_would_have_suggested_them(project, site):
    run = match(project)
    answers = list(KnownAnswer.objects.select_related("source", "target", "tier"))
    assert 1 <= len(answers) <= 12  # a tenth of 120 links at most, drawn by hashes of their ids
    proposed = CandidateEdge.objects.filter(run=run)
    assert not {(a.source_id, a.target_id) for a in answers} & set(proposed.values_list("source_id", "target_id"))
    assert not {a.pk for a in answers} & set(proposed.values_list("pk", flat=True))
    assert len({a.source_id for a in answers}) == len(answers)
    for answer in answers:
        assert ExistingLink.objects.filter(source=answer.source, target=answer.target, anchor=answer.anchor).exists()
        assert answer.source.body[answer.span_start : answer.span_end] == answer.anchor == answer.target.h1
        assert answer.body_hash == answer.source.body_hash
        assert answer.why.endswith(".")
        assert answer.generators
        assert 0 < answer.probability <= 1
        assert 0 <= answer.quantile <= 1
        assert answer.tier is None or answer.tier.lower_bound <= answer.probability
        assert answer.anchor not in [other["text"] for other in answer.anchor_alternatives]
    likely = np.median([answer.probability for answer in answers])
    assert likely > np.median([edge.probability for edge in proposed])  # they are named in the text, as few others are


@pytest.mark.nightly
def test_what_is_drawn_changes_no_suggestion_and_keeps_its_number_in_the_next_run(project, site):
    pairs = CandidateEdge.objects.order_by("source_id", "target_id").values_list("source_id", "target_id", "score")
    project.known_share = 0
    project.save()
    match(project)
    assert not KnownAnswer.objects.exists()
    before = list(pairs.all())
    project.known_share = 5
    project.save()
    match(project)
    assert list(pairs.all()) == before
    first = dict(KnownAnswer.objects.values_list("pk", "anchor"))
    match(project, donors=PageFilter(url_pattern="tent"))  # a run over a part leaves the sample as it is
    assert not KnownAnswer.objects.filter(stale=True).exists()
    once, other = KnownAnswer.objects.order_by("pk")[:2]
    make_edge(project, once.source, once.target, status="exported")
    category = other.source.category
    SensitiveRule.objects.create(project=project, kind="medical", category=category, state=SensitiveState.CONFIRMED)
    match(project)
    fresh = KnownAnswer.objects.filter(stale=False)
    assert first.items() & dict(fresh.values_list("pk", "anchor")).items()
    assert not fresh.filter(pk=once.pk).exists()  # the site may have it from us
    assert not fresh.filter(source__category=category).exists()
