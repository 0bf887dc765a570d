"""What a match run left open is kept with it, compared with another run, and can stand again."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from linker.engine.params import MatchParams, Ranking
from linker.errors import UserError
from linker.matching import kept_runs
from linker.matching.run_comparison import compare
from linker.matching.standing import start_standing, take_again
from linker.matching.start import run_match
from linker.models import (
    CandidateEdge,
    Change,
    ChangedDonors,
    KeptLinks,
    KeptRun,
    LinkChange,
    Run,
    RunComparison,
    RunKind,
)
from linker.models.querysets import OPEN
from linker.runs import lifecycle
from linker.storage.edge_counts import differences
from review.quality import watch
from tests.factories import embed, make_category, make_member, make_model, make_page
from tests.follow_ups import follow_up

if TYPE_CHECKING:
    from linker.models import Page, Project

pytestmark = pytest.mark.django_db

TOPICS = ("tent", "stove", "kayak", "rope")


def match(project: Project, **params) -> Run:
    values = MatchParams(
        **{"ranking": Ranking.COSINE, "threshold": 0.0, "inline_per_donor": 2, "related_per_donor": 2, **params}
    ).to_dict()
    run = lifecycle.start_run(project, RunKind.MATCH, values, to_queue=False)
    type(run).objects.filter(pk=run.pk).update(status="running")
    run.refresh_from_db()
    run_match(run)
    follow_up(run)
    run.refresh_from_db()
    return run


@pytest.fixture
def site(project: Project) -> list[Page]:
    chance = random.Random(4)
    pages = []
    for number in range(24):
        topic = TOPICS[number % len(TOPICS)]
        name = f"{topic.title()} guide {number}"
        pages.append(make_page(project, f"/{topic}/{number}", title=name, category=make_category(project, topic)))
        turn(pages[-1], number, chance)
    for number, page in enumerate(pages):
        others = [other for other in pages[number % 4 :: 4] if other != page]
        page.body = "\n".join(f"Please read {other.h1} before you go out in the rain." for other in others)
        page.save(update_fields=["body"])
    return pages


def turn(page: Page, number: int, chance: random.Random) -> None:
    vector = [0.5 * chance.random() for _ in range(8)]
    vector[number % len(TOPICS)] += 1
    page.embeddings.all().delete()
    embed(page, vector, make_model(8))


def open_pairs(project: Project) -> dict[tuple[int, int], tuple]:
    rows = CandidateEdge.objects.filter(OPEN, project=project).order_by("source", "target")
    return {
        (edge.source_id, edge.target_id): (
            edge.score,
            edge.similarity,
            edge.quantile,
            edge.tier_id,
            edge.placement,
            edge.anchor,
            edge.anchor_source,
            edge.span_start,
            edge.span_end,
            edge.ranked_by,
            edge.run_id,
            edge.donor_best,
            edge.worth,
        )
        for edge in rows
    }


@pytest.mark.nightly
def test_a_run_keeps_what_it_left_open(project, site):
    run = match(project)
    kept = KeptRun.objects.get(run=run)
    edges = CandidateEdge.objects.filter(OPEN, project=project)
    assert kept.links == edges.count() > 40
    assert kept.donors == edges.values("source").distinct().count()
    for row in KeptLinks.objects.filter(kept=kept):
        own = list(edges.filter(source=row.source).order_by("-score", "target_id"))
        assert row.targets == [edge.target_id for edge in own]
        assert row.anchors == [edge.anchor for edge in own]
        assert [kept.tiers[tier - 1] if tier else None for tier in row.tiers] == [
            edge.tier.name if edge.tier else None for edge in own
        ]
        assert np.allclose(row.scores, [edge.score for edge in own], atol=1e-6)
        assert row.starts == [edge.span_start for edge in own]


@pytest.mark.nightly
def test_the_newest_runs_are_kept_and_the_pinned_ones(project, site):
    manager = make_member(project, "manager")
    first = match(project)
    kept_runs.pin(first, manager, "Before the relaunch")
    others = [match(project) for _ in range(kept_runs.KEPT + 1)]
    assert {kept.pk for kept in kept_runs.kept_runs(project)} == {first.pk, *(run.pk for run in others[1:])}
    assert not KeptLinks.objects.filter(kept=others[0].pk).exists()
    change = Change.objects.get(project=project, kind="runs")
    assert (change.before, change.after) == (
        {"pinned": False, "name": ""},
        {"pinned": True, "name": "Before the relaunch"},
    )
    with pytest.raises(UserError, match="no longer kept"):
        kept_runs.pin(others[0], manager, "")


@pytest.mark.nightly
def test_two_runs_are_compared_link_by_link(project, site):
    before = match(project)
    was = open_pairs(project)
    gone = next(iter(was))
    CandidateEdge.objects.filter(source=gone[0], target=gone[1]).update(status="accepted", reviewed=True)
    chance = random.Random(9)
    for number, page in enumerate(site):
        turn(page, number, chance)
    after = match(project)
    now = open_pairs(project)
    comparison = RunComparison.objects.get(run=after.pk, before=before.pk)
    report = comparison.report
    assert report["new"] == len(now.keys() - was.keys()) > 0
    assert report["gone"] + report["decided"] == len(was.keys() - now.keys())
    assert report["decided"] >= 1
    assert report["both"] == len(now.keys() & was.keys())
    assert report["words"] == sum(was[pair][5] != now[pair][5] for pair in now.keys() & was.keys())
    assert 0 < report["moved"] <= report["both"]
    assert -1 <= report["rho"] < 1
    assert 0 < report["within"]["divergence"] <= 1
    donors = ChangedDonors.objects.filter(comparison=comparison, change=LinkChange.NEW)
    assert sorted(donor for row in donors for donor in row.sources) == sorted(
        {source for source, _ in now.keys() - was.keys()}
    )


@pytest.mark.nightly
def test_an_alert_is_raised_where_two_matches_rank_otherwise_which_nobody_asked_to_compare(project, site, monkeypatch):
    before = match(project)
    chance = random.Random(9)
    for number, page in enumerate(site):
        turn(page, number, chance)
    after = match(project)

    assert list(watch.histogram(project, 1)) == [], "these few links say nothing"
    monkeypatch.setattr(watch, "LEAST_OPEN", 10)
    [(_kind, cause, found)] = watch.histogram(project, 1)

    assert (cause, found["run"], found["before"]) == (f"run:{after.pk}", after.pk, before.pk)
    assert list(watch.histogram(project, 100)) == []


@pytest.mark.nightly
def test_a_match_that_is_like_the_one_before_raises_none(project, site):
    match(project)
    match(project)
    assert list(watch.histogram(project, 0)) == []


@pytest.mark.nightly
def test_a_run_compared_with_its_like_has_not_changed(project, site):
    before, after = match(project), match(project)
    report = compare(KeptRun.objects.get(pk=after.pk), KeptRun.objects.get(pk=before.pk))
    assert (report.new, report.gone, report.moved, report.tier, report.words) == (0, 0, 0, 0, 0)
    assert report.rho == report.tau == 1
    assert report.within.divergence == report.within.shift == 0


def said(values: tuple) -> tuple:
    """What a run says of a pair, without where it goes, which depends on the donor's other links."""
    return *values[:4], *values[5:10]


def killed(*_: object) -> None:
    raise RuntimeError("killed")


def take_half(run: Run) -> None:
    with transaction.atomic():
        take_again(run)


def take(project: Project, run: Run, user) -> Run:
    taken = start_standing(project, run, user)
    take_again(taken)
    taken.refresh_from_db()
    assert taken.status == "succeeded"
    return taken


@pytest.mark.nightly
def test_a_content_gap_that_had_its_words_in_the_earlier_run_has_them_again(project, site):
    manager = make_member(project, "manager")
    first = match(project)
    edge = project.edges.filter(span_start__isnull=False, status="suggested", stale=False).first()
    assert edge is not None
    match(project)
    project.edges.filter(pk=edge.pk).update(
        content_gap=True, placement="related", anchor="words of the title", span_start=None, span_end=None
    )

    take(project, first, manager)

    now = CandidateEdge.objects.get(pk=edge.pk)
    assert (now.anchor, now.span_start, now.span_end) == (edge.anchor, edge.span_start, edge.span_end)
    assert not now.content_gap


@pytest.mark.nightly
def test_an_earlier_run_stands_again_and_the_other_one_after_it(project, site, monkeypatch):
    manager = make_member(project, "manager")
    first = match(project)
    was = open_pairs(project)
    chance = random.Random(9)
    for number, page in enumerate(site):
        turn(page, number, chance)
    second = match(project)
    now = open_pairs(project)
    decided = next(pair for pair in now if pair in was)
    CandidateEdge.objects.filter(source=decided[0], target=decided[1]).update(status="accepted", reviewed=True)
    lost = next(pair for pair in now if pair not in was)  # was live, and is gone: it waits for an editor
    CandidateEdge.objects.filter(source=lost[0], target=lost[1]).update(regressed=True)
    accepted = CandidateEdge.objects.values().get(source=decided[0], target=decided[1])
    begun = start_standing(project, first, manager)
    with monkeypatch.context() as broken:
        broken.setattr("linker.matching.standing.retier", killed)
        with pytest.raises(RuntimeError, match="killed"):
            take_half(begun)
    del was[decided], now[decided]
    assert open_pairs(project) == now  # nothing is half done
    take_again(begun)  # by the worker that takes it up
    again = open_pairs(project)
    assert again.keys() == was.keys() | {lost}
    for pair in was:
        assert said(again[pair]) == said(was[pair]), pair
        assert again[pair][10] == first.pk
        if pair[0] not in (decided[0], lost[0]):  # the room of these donors is taken by the link that was accepted
            assert again[pair][4] == was[pair][4], pair
    assert CandidateEdge.objects.values().get(pk=accepted["id"]) == accepted | {
        "donor_best": CandidateEdge.objects.get(pk=accepted["id"]).donor_best,
        "donor_worth": CandidateEdge.objects.get(pk=accepted["id"]).donor_worth,
    }
    assert kept_runs.standing_run(project) == first
    with pytest.raises(UserError, match="stands already"):
        start_standing(project, first, manager)
    take(project, second, manager)
    back = open_pairs(project)
    assert back.keys() == now.keys()
    assert all(said(back[pair]) == said(now[pair]) for pair in now)
    assert Change.objects.filter(project=project, kind="runs").count() == 2


def embed_anew(page: Page, vector: list[float]) -> None:
    page.embeddings.all().delete()
    embed(page, vector)


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_an_earlier_run_follows_pages_that_lead_elsewhere_by_now(project):
    """What it had found of a page is found of the one that it leads to; what both had stays as it was, and a pair of
    one page is none."""
    manager = make_member(project, "manager")
    category = make_category(project, "All")
    donor, old, new, other = (make_page(project, f"/{name}", title=name, category=category) for name in "dont")
    for page in (donor, old, other):
        embed(page, [1, 0, 0, 0])
    embed(new, [0, 1, 0, 0])
    first = match(project, threshold=0.5)
    had = set(open_pairs(project))
    assert had == {(one.pk, two.pk) for one in (donor, old, other) for two in (donor, old, other) if one != two}
    call_command("page_event", project.slug, "redirected", old.url, new.url)
    moved = {tuple(new.pk if page == old.pk else page for page in pair) for pair in had}
    assert set(open_pairs(project)) == moved
    embed_anew(new, [1, 0, 0, 0])
    embed_anew(other, [0, 1, 0, 0])
    second = match(project, threshold=0.5)
    assert set(open_pairs(project)) == {(donor.pk, new.pk), (new.pk, donor.pk)}

    take(project, first, manager)

    assert set(open_pairs(project)) == moved
    take(project, second, manager)
    assert set(open_pairs(project)) == {(donor.pk, new.pk), (new.pk, donor.pk)}
    assert differences(project) == []


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_run_that_is_left_closes_what_moved_since(project):
    manager = make_member(project, "manager")
    category = make_category(project, "All")
    donor, old, new = (make_page(project, f"/{name}", title=name, category=category) for name in "don")
    for page in (donor, new):
        embed(page, [1, 0, 0, 0])
    embed(old, [0, 1, 0, 0])
    first = match(project, threshold=0.5)
    embed_anew(old, [1, 0, 0, 0])
    project.pages.filter(pk=new.pk).update(missing_since=timezone.now())
    match(project, threshold=0.5)
    project.pages.filter(pk=new.pk).update(missing_since=None)
    assert set(open_pairs(project)) == {(donor.pk, old.pk), (old.pk, donor.pk)}
    third = make_page(project, "/third", title="third", category=category)
    call_command("page_event", project.slug, "redirected", old.url, third.url)
    assert set(open_pairs(project)) == {(donor.pk, third.pk), (third.pk, donor.pk)}

    take(project, first, manager)

    assert set(open_pairs(project)) == {(donor.pk, new.pk), (new.pk, donor.pk)}
