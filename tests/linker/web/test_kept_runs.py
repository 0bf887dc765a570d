"""The pages of kept runs: two compared, pinned, taken again; and bounds that a manager keeps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from django.utils import timezone

from linker.matching.kept_runs import keep_links
from linker.matching.report_types import CompareReport
from linker.matching.run_comparison import compare, compare_runs
from linker.models import Change, KeptBounds, KeptRun, LinkChange, Run, RunComparison, RunKind
from linker.projects.policies.tiers import change_tiers
from linker.reports.run_changes import DONORS_SHOWN, changes_page, counts
from linker.reports.tier_notice import tier_notice
from tests.factories import make_edge, make_model, make_page, make_run

if TYPE_CHECKING:
    from linker.models import CandidateEdge, Project

pytestmark = pytest.mark.django_db

LEARNED = {"version": 1, "ranking": "learned", "basis": "cosine"}
COSINE = {"version": 1, "ranking": "cosine", "basis": "cosine"}


def ended(project: Project, report: dict, **fields) -> Run:
    """A match run that has just ended and left open what is open now."""
    run = make_run(project, report=report, finished_at=timezone.now(), **fields)
    keep_links(run)
    return run


@pytest.fixture
def edges(project) -> list[CandidateEdge]:
    """Three donors with three suggestions each; the best is first."""
    make_run(project, status="failed")
    targets = [make_page(project, f"/target-{number}") for number in range(3)]
    found = []
    for donor in range(3):
        source = make_page(project, f"/donor-{donor}")
        found += [make_edge(project, source, target, score=0.9 - place / 10) for place, target in enumerate(targets)]
    return found


@pytest.fixture
def two(project, edges) -> tuple[Run, Run]:
    """Two runs: of the later one each kind of change is known."""
    before = ended(project, COSINE)
    first, second, third, *others = edges
    first.score, second.score = 0.8, 0.9  # they change places
    second.anchor = "other words"
    third.stale = True
    others[0].status = "accepted"
    others[3].tier = None
    for edge in (first, second, third, others[0], others[3]):
        edge.save()
    make_edge(project, others[0].source, make_page(project, "/new"), score=0.5)
    after = ended(project, LEARNED)
    compare(KeptRun.objects.get(run=after), KeptRun.objects.get(run=before))
    return after, before


WANTED = {"new": 1, "gone": 1, "decided": 1, "moved": 2, "tier": 1, "words": 1}


@pytest.mark.nightly
def test_each_kind_of_change_is_counted_and_listed(project, two, client_for, viewer):
    after, before = two
    comparison = RunComparison.objects.get(run=after.pk, before=before.pk)
    assert {name: comparison.report[name] for name in WANTED} == WANTED
    for change in LinkChange:
        page = changes_page(comparison, change)
        assert sum(len(donor.links) for donor in page.donors) == WANTED[change]
        assert page.after is None
    [donor] = changes_page(comparison, LinkChange.MOVED).donors
    assert [(link.before.place, link.after.place) for link in donor.links] == [(2, 1), (1, 2)]
    [donor] = changes_page(comparison, LinkChange.WORDS).donors
    assert (donor.links[0].before.anchor, donor.links[0].after.anchor) == ("a good anchor", "other words")
    [donor] = changes_page(comparison, LinkChange.DECIDED).donors
    assert donor.links[0].status == "Accepted"
    client = client_for(viewer)
    address = reverse("run_comparison", args=[project.slug])
    for change in LinkChange:
        response = client.get(address, {"run": after.pk, "before": before.pk, "change": change})
        assert response.content.decode().count('<th scope="row" class="cell-main') == WANTED[change]


def test_a_list_of_changes_goes_on_by_keyset_and_asks_the_same_few_questions(project, django_assert_num_queries):
    make_run(project)
    target = make_page(project)
    before = ended(project, COSINE)
    for number in range(DONORS_SHOWN + 5):
        make_edge(project, make_page(project, f"/many-{number}"), target)
    after = ended(project, COSINE)
    compare(KeptRun.objects.get(run=after), KeptRun.objects.get(run=before))
    comparison = RunComparison.objects.get(run=after.pk)
    with django_assert_num_queries(5):
        first = changes_page(comparison, LinkChange.NEW)
    second = changes_page(comparison, LinkChange.NEW, first.after)
    assert [len(first.donors), len(second.donors), second.after] == [DONORS_SHOWN, 5, None]
    assert len({donor.source.pk for page in (first, second) for donor in page.donors}) == DONORS_SHOWN + 5


@pytest.mark.nightly
def test_two_runs_that_nobody_compared_are_compared_by_a_run_that_a_manager_starts(
    project, edges, client_for, manager, editor
):
    before, after = ended(project, COSINE), ended(project, COSINE)
    address = reverse("run_comparison", args=[project.slug])
    pair = {"run": before.pk, "before": after.pk}  # in either order
    assert "not been compared yet" in client_for(editor).get(address, pair).content.decode()
    assert client_for(editor).post(address, pair).status_code == 403
    assert client_for(manager).post(address, pair).status_code == 302
    run = Run.objects.get(kind=RunKind.COMPARE)
    assert run.params == {"run": after.pk, "before": before.pk}
    assert compare_runs(run).both == 9
    assert compare_runs(run).both == 9  # a job may run twice
    assert RunComparison.objects.count() == 1
    assert "There are none." in client_for(editor).get(address, pair).content.decode()


@pytest.mark.parametrize("asked", [{}, {"run": "7"}, {"run": "x", "before": "-1"}, {"run": 10**30, "before": 2}])
def test_what_is_not_kept_leads_to_what_is(project, edges, client_for, viewer, asked):
    ended(project, COSINE)
    response = client_for(viewer).get(reverse("run_comparison", args=[project.slug]), asked, follow=True)
    assert response.redirect_chain[-1][0] == reverse("kept_runs", args=[project.slug])
    assert "notice--warn" in response.content.decode()


@pytest.mark.nightly
def test_an_outsider_sees_no_comparison(project, two, client_for, outsider):
    for name in ("kept_runs", "run_comparison"):
        assert client_for(outsider).get(reverse(name, args=[project.slug])).status_code == 404
    for name in ("run_pin", "run_unpin", "run_take_again"):
        assert client_for(outsider).post(reverse(name, args=[project.slug, two[0].pk])).status_code == 404
    assert not KeptRun.objects.filter(pinned_at__isnull=False).exists()


def test_a_manager_pins_names_and_unpins_a_run(project, two, client_for, manager):
    client, run = client_for(manager), two[1]
    client.post(reverse("run_pin", args=[project.slug, run.pk]), {"name": "Before the relaunch"})
    page = client.get(reverse("kept_runs", args=[project.slug])).content.decode()
    assert "Before the relaunch" in page
    assert f"Pinned by {manager.username}" in re.sub(r"\s+", " ", page)
    client.post(reverse("run_unpin", args=[project.slug, run.pk]))
    kept = KeptRun.objects.get(run=run)
    assert (kept.name, kept.is_pinned) == ("Before the relaunch", False)
    assert Change.objects.filter(project=project, kind="runs").count() == 2


def test_the_run_that_stands_cannot_be_taken_again(project, two, client_for, manager):
    response = client_for(manager).post(reverse("run_take_again", args=[project.slug, two[0].pk]), follow=True)
    assert "stands already" in response.content.decode()
    assert not Run.objects.filter(kind=RunKind.STAND).exists()


@pytest.mark.nightly
def test_bounds_are_asked_for_after_another_ranking_until_a_manager_keeps_them(project, two, client_for, manager):
    after, before = two
    notice = tier_notice(project)
    assert (notice.run, notice.before, notice.moved.both) == (after, before, 7)
    client = client_for(manager)
    page = re.sub(r"\s+", " ", client.get(reverse("project", args=[project.slug])).content.decode())
    assert "Keep the bounds" in page
    address = reverse("bounds_keep", args=[project.slug])
    client.post(address, {"run": before.pk})
    assert not KeptBounds.objects.exists()  # of another run than the one that was shown
    client.post(address, {"run": after.pk, "from": "overview"})
    assert tier_notice(project) is None
    kept = KeptBounds.objects.get()
    assert (kept.run, kept.user) == (after, manager)
    assert Change.objects.get(kind="tiers", subject="Bounds kept").after == {"bounds hold for run": after.pk}
    again = ended(project, LEARNED)
    assert tier_notice(project) is None
    other = ended(project, COSINE, model=make_model(4, "another-model"))
    assert tier_notice(project).before == after
    assert tier_notice(project).run == other != again
    change_tiers(project, list(project.tiers.filter(basis="cosine")), user=manager)
    assert tier_notice(project) is None


def test_a_run_taken_again_asks_for_bounds_too(project, two, manager):
    after, before = two
    change_tiers(project, list(project.tiers.filter(basis="cosine")), user=manager)
    assert tier_notice(project) is None
    make_run(project, RunKind.STAND, params={"run": before.pk}, finished_at=timezone.now())
    notice = tier_notice(project)
    assert (notice.run, notice.before) == (before, after)
    assert notice.moved.both == 7


def test_the_tabs_count_what_the_comparison_found(two):
    report = CompareReport.from_json(RunComparison.objects.get().report)
    assert {change.value: links for change, links in counts(report)} == WANTED


def test_the_pages_of_kept_runs_ask_the_same_few_questions_however_many_there_are(
    project, two, client_for, viewer, django_assert_max_num_queries
):
    client, address = client_for(viewer), reverse("kept_runs", args=[project.slug])
    with django_assert_max_num_queries(8) as few:
        client.get(address)
    for _ in range(3):
        kept = KeptRun.objects.get(pk=ended(project, COSINE).pk)
        kept.pinned_at = timezone.now()
        kept.save()
    with django_assert_max_num_queries(len(few.captured_queries)):
        client.get(address)
