"""Pages of two safety classes are never linked: not proposed, not in the queue, not accepted, not exported."""

from __future__ import annotations

import re

import pytest
from django.db.models import F

from linker.explain.pair import why_not_pair
from linker.matching.safety_run import run_apply_safety, start_if_due
from linker.models import BarredPair, CandidateEdge, Change, RunKind, SafetyClass
from linker.models.policy import ExclusionRule
from linker.projects.policies.safety import allow_pair, bar_pair
from linker.storage.edge_counts import differences
from review.allowed import MayNotLink
from review.decisions import decide_edges
from review.models import Held, Verb
from review.rulings import Ruling
from review.undoing import undo
from tests.factories import make_category, make_edge, make_page, make_run
from tests.linker.matching.test_match import match, pairs
from tests.review.test_checks import held_of
from tests.review.test_suppressions import edge_of, listed, shop  # noqa: F401 - a fixture

pytestmark = pytest.mark.django_db

PAGE = "/p/shop/settings/safety/"
WHY = "Readers of the one are children."


@pytest.fixture
def tents(project, shop) -> SafetyClass:  # noqa: F811
    return SafetyClass.objects.create(project=project, name="Tents", category=make_category(project, "All", "Tents"))


@pytest.fixture
def others(project) -> SafetyClass:
    return SafetyClass.objects.create(project=project, name="Others", url_pattern="/(b|outside)$", disclaimer="Say so.")


@pytest.fixture
def pair(project, tents, others, redis_server, manager) -> BarredPair:
    """From a and inside to b and outside."""
    pair = BarredPair(project=project, source=tents, target=others, reason=WHY)
    bar_pair(pair, manager)
    return pair


def applied(project):
    """What the run does that the change has started."""
    project.runs.filter(kind=RunKind.SAFETY).update(status="succeeded")
    return run_apply_safety(make_run(project, RunKind.SAFETY))


BARRED = {("a", "b"), ("a", "outside"), ("inside", "b"), ("inside", "outside")}


@pytest.mark.nightly
@pytest.mark.parametrize("ranking", ["cosine", "formula"])
def test_a_pair_is_kept_from_a_match_and_from_the_queue_until_it_is_removed(
    project,
    shop,  # noqa: F811
    tents,
    others,
    manager,
    redis_server,
    ranking,
):
    # What the formula finds between such short pages is hardly likely.
    project.tiers.filter(basis="probability", name="Reserve").update(lower_bound=0.0)
    match(project, ranking=ranking, levels_up=9, related_per_donor=9)
    before = listed(project, manager)
    pair = BarredPair(project=project, source=tents, target=others, reason=WHY)
    bar_pair(pair, manager)
    report = applied(project)
    assert before - listed(project, manager) == BARRED & before
    assert report.taken_out == len(BARRED & before) > 0
    assert applied(project).taken_out == 0
    match(project, ranking=ranking, levels_up=9, related_per_donor=9)
    assert not BARRED & pairs(project, stale=False)
    assert pairs(project, stale=False) >= {("b", "a"), ("outside", "a")} & before
    project.runs.filter(kind=RunKind.MATCH).update(started_at=F("created_at"))
    allow_pair(project, pair.pk, manager)
    assert applied(project).back == 0  # the newest run passed them over
    match(project, ranking=ranking, levels_up=9, related_per_donor=9)
    assert listed(project, manager) == before
    assert not differences(project)


@pytest.mark.nightly
def test_what_left_the_queue_comes_back_with_the_pair_s_end_and_both_ways_where_it_says_so(
    project,
    shop,  # noqa: F811
    tents,
    others,
    manager,
    redis_server,
):
    match(project, levels_up=9, related_per_donor=9)
    before = listed(project, manager)
    pair = BarredPair(project=project, source=tents, target=others, reason=WHY, either=True)
    bar_pair(pair, manager)
    applied(project)
    assert before - listed(project, manager) == BARRED | {(target, source) for source, target in BARRED}
    allow_pair(project, pair.pk, manager)
    assert applied(project).back == 8
    assert listed(project, manager) == before
    assert not CandidateEdge.objects.filter(barred_by__isnull=False).exists()


def test_a_reason_without_a_full_stop_does_not_run_into_the_next_sentence(project, shop, pair):  # noqa: F811
    edge = make_edge(project, shop["a"], shop["b"])
    BarredPair.objects.filter(pk=pair.pk).update(reason="Our promise to parents")
    with pytest.raises(MayNotLink, match=r"Our promise to parents[.] Reject the suggestion"):
        decide_edges(project, [edge.pk], Verb.ACCEPT, pair.made_by)


def test_nobody_accepts_such_a_link_and_a_rejection_that_is_taken_back_does_not_bring_it_back(project, shop, pair):  # noqa: F811
    edge = make_edge(project, shop["a"], shop["b"])
    with pytest.raises(MayNotLink, match=f"Pages of “Tents” and “Others” may not be linked: {WHY}"):
        decide_edges(project, [edge.pk], Verb.ACCEPT, pair.made_by)
    with pytest.raises(MayNotLink):
        decide_edges(project, [edge.pk], Verb.EDIT, pair.made_by, Ruling(anchor="other words"))
    decide_edges(project, [edge.pk], Verb.REJECT, pair.made_by)
    undo(project, pair.made_by)
    edge.refresh_from_db()
    assert (edge.status, edge.stale, edge.barred_by_id) == ("suggested", True, pair.pk)


@pytest.mark.nightly
def test_a_link_accepted_before_is_held_back_and_the_answer_to_why_not_says_so(project, shop, pair):  # noqa: F811
    make_edge(project, shop["a"], shop["b"], status="accepted")
    make_edge(project, shop["b"], shop["a"], status="accepted")
    held = dict(held_of(project))
    assert held == {Held.BARRED: f"Pages of “Tents” may not link to those of “Others”: {WHY}"}
    found = {one.code: one for one in why_not_pair(project, shop["inside"], shop["b"]).findings}
    assert WHY in found["barred"].text
    assert "barred" not in {one.code for one in why_not_pair(project, shop["b"], shop["a"]).findings}


@pytest.mark.nightly
def test_a_card_says_why_and_shows_the_disclaimer_of_a_class(project, shop, pair, client_for, editor):  # noqa: F811
    edge, other = make_edge(project, shop["a"], shop["b"]), make_edge(project, shop["b"], shop["a"])
    page = client_for(editor).get(f"/p/shop/queue/{edge.pk}/").content.decode()
    assert "May not be linked." in page
    assert WHY in page
    assert re.search(r"<b>Others:</b>\s+Say so\.", page)
    page = client_for(editor).get(f"/p/shop/queue/{other.pk}/").content.decode()
    assert "Say so." in page
    assert "May not be linked." not in page


def test_an_import_of_pages_is_looked_through_and_a_change_meanwhile_as_well(project, shop, pair):  # noqa: F811
    project.runs.filter(kind=RunKind.SAFETY).update(status="succeeded")
    run = make_run(project, RunKind.SAFETY, started_at=Change.objects.latest("pk").at)
    assert start_if_due(run) is None
    imported = make_run(project, RunKind.IMPORT_PAGES, finished_at=Change.objects.latest("pk").at.replace(year=2100))
    again = start_if_due(imported)
    assert again is not None
    assert again.kind == RunKind.SAFETY


def test_a_run_ends_with_what_it_wrote_so_that_a_change_afterwards_starts_another(project, shop, pair):  # noqa: F811
    project.runs.filter(kind=RunKind.SAFETY).update(status="succeeded")
    run = make_run(project, RunKind.SAFETY, "running")
    run_apply_safety(run)
    allow_pair(project, pair.pk, None)
    assert project.runs.filter(kind=RunKind.SAFETY, pk__gt=run.pk).count() == 1


def fields(tents, others, **more):
    return {"pair-source": tents.pk, "pair-target": others.pk, "pair-either": "", "pair-reason": WHY, **more}


@pytest.mark.nightly
def test_a_manager_sees_what_a_pair_touches_saves_it_and_takes_it_back(
    project,
    shop,  # noqa: F811
    tents,
    others,
    client_for,
    manager,
    redis_server,
):
    make_edge(project, shop["a"], shop["b"])
    make_edge(project, shop["inside"], shop["b"], status="exported")
    client = client_for(manager)
    shown = client.post(f"{PAGE}pair/", fields(tents, others, check=1))
    assert (shown.context["touched"].open, shown.context["touched"].exported) == (1, 1)
    assert not BarredPair.objects.exists()
    assert client.post(f"{PAGE}pair/", fields(tents, others)).status_code == 302
    pair = BarredPair.objects.get(ended_at=None)
    assert client.post(f"{PAGE}pair/", fields(tents, others)).status_code == 422
    page = client.get(PAGE)
    assert WHY in page.content.decode()
    client.post(page.context["undo"].action)
    pair.refresh_from_db()
    assert pair.ended_at is not None
    undo_of = client.get(PAGE).context["undo"]
    client.post(undo_of.action, dict(undo_of.fields))
    assert BarredPair.objects.filter(ended_at=None, reason=WHY).count() == 1
    said = Change.objects.filter(kind="safety").latest("pk")
    assert (said.user, said.after) == (manager, {"links": "from Tents to Others", "reason": WHY})


@pytest.mark.nightly
def test_a_preview_that_looked_at_some_pages_alone_says_so(
    project,
    shop,  # noqa: F811
    tents,
    others,
    client_for,
    manager,
    monkeypatch,
):
    client, said = client_for(manager), "pages were looked at."
    assert said not in client.post(f"{PAGE}pair/", fields(tents, others, check=1)).content.decode()
    monkeypatch.setattr("linker.projects.safety_preview.SAMPLE", 2)
    shown = client.post(f"{PAGE}pair/", fields(tents, others, check=1)).content.decode()
    assert "Only the project’s first 2 pages were looked at." in shown


@pytest.mark.nightly
def test_a_class_is_made_changed_and_removed_by_form_and_one_in_use_stays(project, client_for, manager, redis_server):
    make_page(project, "/wine")
    client = client_for(manager)
    new = {"class-name": "Alcohol", "class-url_pattern": "/wine", "class-disclaimer": "18 and over."}
    assert client.post(f"{PAGE}class/", {"class-name": "Empty"}).status_code == 422
    assert client.post(f"{PAGE}class/", {**new, "class-url_pattern": "("}).status_code == 422
    assert client.post(f"{PAGE}class/", new).status_code == 302
    assert client.post(f"{PAGE}class/", new).status_code == 422  # the name is taken
    small = client.post(f"{PAGE}class/", {**new, "class-name": "alcohol"})
    assert "A class has this name already." in small.content.decode()
    one = SafetyClass.objects.get()
    assert "18 and over." in client.get(f"{PAGE}?class={one.pk}").content.decode()
    assert client.post(f"{PAGE}class/", {**new, "class": one.pk, "class-name": "Spirits"}).status_code == 302
    one.refresh_from_db()
    assert one.name == "Spirits"
    undo_of = client.get(PAGE).context["undo"]
    client.post(undo_of.action, dict(undo_of.fields))
    one.refresh_from_db()
    assert one.name == "Alcohol"
    bar_pair(BarredPair(project=project, source=one, target=one, reason=WHY), manager)
    refused = client.post(f"{PAGE}class/{one.pk}/end/", follow=True).content.decode()
    assert "Remove the pair first." in refused
    assert SafetyClass.objects.filter(ended_at=None).count() == 1


def test_outsiders_and_editors_see_nothing_of_it(project, outsider, editor, client_for):
    for user, status in ((outsider, 404), (editor, 403)):
        assert client_for(user).get(PAGE).status_code == status
        assert client_for(user).post(f"{PAGE}class/", {}).status_code == status
    assert not ExclusionRule.objects.exists()
