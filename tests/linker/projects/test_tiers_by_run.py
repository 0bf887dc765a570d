"""In a large project a run makes a change of tiers or bounds: all of it or nothing, and the former ones hold until
then."""

from __future__ import annotations

from html import unescape

import pytest

from linker.errors import RunCancelled, UserError
from linker.models import Basis, Change, ChangeKind, Cohort, CohortBound, Run, RunKind, Tier
from linker.projects.policies import retier as policy
from linker.projects.policies.cohorts import CohortName, set_bounds
from linker.projects.policies.retier_run import run_retier
from linker.projects.policies.tiers import change_tiers
from linker.reports.params import param_rows
from linker.runs.lifecycle import RunIsActive
from linker.storage import slices
from tests.factories import make_category, make_edge
from tests.linker.web.test_cohort_pages import undo_form
from tests.linker.web.test_views import tier_form, tiers_url

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _two_at_once(monkeypatch):
    monkeypatch.setattr(policy, "AT_ONCE", 2)


@pytest.fixture
def edges(project):
    return [make_edge(project, score=score) for score in (0.9, 0.7, 0.66)]


def tiers(project) -> list[tuple[str, float]]:
    return list(Tier.objects.filter(project=project, basis="cosine").values_list("name", "lower_bound"))


def read_as(edges) -> list[str]:
    for edge in edges:
        edge.refresh_from_db()
    return [edge.tier.name if edge.tier else "" for edge in edges]


def lowered(project) -> Tier:
    tier = Tier.objects.get(project=project, basis="cosine", name="Likely")
    tier.lower_bound = 0.68
    return tier


def changed(project) -> Run:
    """A change that moves a bound, adds a tier and deletes one."""
    gone = Tier.objects.get(project=project, basis="cosine", name="Reserve")
    new = Tier(basis="cosine", name="Far", lower_bound=0.1, placement="related", rel="nofollow")
    run = change_tiers(project, [lowered(project), new], [gone])
    assert isinstance(run, Run)
    return run


def changes(project) -> int:
    return Change.objects.filter(project=project, kind=ChangeKind.TIERS).count()


def test_until_the_run_has_ended_everything_is_as_it_was(project, edges, manager):
    before, read = tiers(project), read_as(edges)

    run = changed(project)

    assert (tiers(project), read_as(edges), changes(project)) == (before, read, 0)
    assert run.status == "queued"
    assert "Wanted" not in " ".join(label for label, _value in param_rows(run))


def test_the_run_makes_the_change_and_ends_with_it(project, edges, manager):
    run = change_tiers(project, [lowered(project)], user=manager)

    report = run_retier(run)

    run.refresh_from_db()
    assert run.status == "succeeded"
    assert read_as(edges) == ["Likely", "Likely", "Related"]
    assert {tier.name: tier.links for tier in report.after} == {"Likely": 2, "Related": 1, "Reserve": 0}
    assert Change.objects.get(project=project, kind=ChangeKind.TIERS).user == manager
    assert run.params["after"]["Likely"].startswith("from 0.68")


@pytest.mark.parametrize("stage", ["Reading tiers", "Assigning suggestions to tiers"])
def test_a_run_that_is_cancelled_leaves_nothing_half_done_and_one_that_was_killed_begins_again(project, edges, stage):
    before, read = tiers(project), read_as(edges)
    run = changed(project)

    def stop(_done: int, _total: int, now: str = "") -> None:
        if now == stage:
            raise RunCancelled

    with pytest.raises(RunCancelled):
        run_retier(run, stop)
    assert (tiers(project), read_as(edges), changes(project)) == (before, read, 0)

    run_retier(run)
    assert [name for name, _bound in tiers(project)] == ["Likely", "Related", "Far"]
    assert (read_as(edges), changes(project)) == (["Likely", "Likely", "Related"], 1)


def test_one_change_is_made_at_a_time(project, edges):
    run = changed(project)
    with pytest.raises(RunIsActive, match=f"run {run.pk}"):
        change_tiers(project, [lowered(project)])
    with pytest.raises(RunIsActive):
        set_bounds(project, CohortName("cosine", role="hub"), {}, None)


def test_bounds_of_their_own_are_set_by_a_run_too(project, edges, manager):
    category = make_category(project, "Boots")
    edges[0].source.category = category
    edges[0].source.save()
    inline = Tier.objects.get(project=project, basis="cosine", name="Likely")
    run = set_bounds(project, CohortName(Basis.COSINE, category), {inline.pk: 0.95}, manager)
    assert isinstance(run, Run)
    assert not Cohort.objects.exists()

    run_retier(run)

    assert CohortBound.objects.get().lower_bound == 0.95
    assert read_as(edges) == ["", "Related", "Related"]


def test_bounds_of_a_category_that_went_meanwhile_are_refused_with_a_sentence(project, edges):
    category = make_category(project, "Boots")
    inline = Tier.objects.get(project=project, basis="cosine", name="Likely")
    run = set_bounds(project, CohortName(Basis.COSINE, category), {inline.pk: 0.95}, None)
    category.delete()

    with pytest.raises(UserError, match="this category is no more"):
        run_retier(run)
    assert not Cohort.objects.exists()


def test_suggestions_are_read_alike_in_one_piece_and_in_many(project, monkeypatch):
    edges = [make_edge(project, score=0.5 + number / 20) for number in range(8)]
    monkeypatch.setattr(slices, "ROWS", 3)
    run_retier(change_tiers(project, [lowered(project)]))
    assert read_as(edges) == ["Reserve"] * 3 + ["Related"] + ["Likely"] * 4


@pytest.mark.nightly
def test_the_page_says_what_is_under_way_and_offers_to_undo_it_afterwards(project, edges, manager, client_for):
    browser = client_for(manager)

    def page() -> str:
        return " ".join(unescape(browser.get(tiers_url(project)).content.decode()).split())

    browser.post(tiers_url(project), tier_form(project, **{"tiers-0-lower_bound": "0.68"}))
    run = Run.objects.get(project=project, kind=RunKind.RETIER)
    assert f"Run {run.pk}, started by {manager}, assigns all open suggestions" in page()
    refused = browser.post(tiers_url(project), tier_form(project, **{"tiers-0-lower_bound": "0.9"}), follow=True)
    assert "is already waiting for this project" in refused.content.decode()
    assert "notice undo" not in page()

    run_retier(run)
    assert f"Run {run.pk}, started by" not in page()
    address, fields = undo_form(page())
    browser.post(address, fields)
    run_retier(Run.objects.get(project=project, kind=RunKind.RETIER, status="queued"))
    assert dict(tiers(project))["Likely"] == 0.8
