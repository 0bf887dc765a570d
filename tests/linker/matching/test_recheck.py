"""Every day a twentieth of the open suggestions is verified, the oldest first; what does not hold leaves the queue."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from linker.matching.recheck import SLICES, RecheckReport, run_recheck, start, start_due, verified, verified_at
from linker.matching.tiers import retier
from linker.models import Block, CandidateEdge, Page, Project, Run, RunKind
from linker.models.querysets import OPEN
from tests.factories import embed, make_edge, make_link, make_model, make_page, make_run

pytestmark = pytest.mark.django_db


def recheck(project: Project) -> RecheckReport:
    run = start(project, to_queue=False)
    report = run_recheck(run)
    Run.objects.filter(pk=run.pk).update(status="succeeded", report=report.to_json(), finished_at=timezone.now())
    return report


def all_slices(project: Project) -> RecheckReport:
    reports = [recheck(project) for _ in range(SLICES)]
    names = ("checked", "pages", "linked", "words")
    return RecheckReport(**{name: sum(getattr(report, name) for report in reports) for name in names})


@pytest.fixture
def matched(project) -> list[CandidateEdge]:
    """Forty suggestions of two donors, whose run ended two days ago; each donor's text has the words."""
    model = make_model(4)
    run = make_run(project, model=model, finished_at=timezone.now() - timedelta(days=2), params={})
    donors = [make_page(project, f"/d{number}", body="Look at our fine tents today.") for number in range(2)]
    targets = [make_page(project, f"/t{number}") for number in range(20)]
    for page in [*donors, *targets]:
        embed(page, [1, 0, 0, 0], model)
    return [
        make_edge(
            project, donor, target, run=run, anchor="fine tents", placement="inline", span_start=12, span_end=22,
            body_hash=donor.body_hash,
        )
        for donor in donors for target in targets
    ]  # fmt: skip


def left(project: Project) -> set[int]:
    return set(project.edges.exclude(OPEN).values_list("pk", flat=True))


@pytest.mark.nightly
def test_all_are_verified_in_twenty_runs_and_none_twice(project, matched):
    sizes = [recheck(project).checked for _ in range(SLICES)]
    assert sum(sizes) == len(matched)
    assert max(sizes) <= len(matched) / SLICES + 1
    assert left(project) == set()
    dates = verified(project)
    assert sorted(dates) == list(range(SLICES))
    assert recheck(project).checked == sizes[0]
    now = verified(project)
    assert [number for number in range(SLICES) if now[number] != dates[number]] == [min(dates, key=dates.__getitem__)]


@pytest.mark.nightly
def test_a_suggestion_says_when_it_was_verified_last(project, matched):
    edge = matched[0]
    assert verified_at(edge) == edge.updated_at
    all_slices(project)
    assert verified_at(edge) == verified(project)[edge.pk % SLICES] > edge.updated_at


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"missing_since": timezone.now()}, "pages"),
        ({"status": "removed"}, "pages"),
        ({"indexable": False}, "pages"),
        ({"redirect_url": "https://shop.example/else"}, "pages"),
    ],
)
def test_what_leads_to_a_page_that_takes_no_part_leaves(project, matched, change, reason):
    gone = matched[3].target
    Page.objects.filter(pk=gone.pk).update(**change)
    report = all_slices(project)
    assert (getattr(report, reason), report.left) == (2, 2)
    assert left(project) == {edge.pk for edge in matched if edge.target_id == gone.pk}


@pytest.mark.nightly
def test_what_the_site_links_by_now_leaves(project, matched):
    edge = matched[5]
    make_link(edge.source, edge.target)
    make_link(matched[6].source, matched[6].target, block=Block.FOOTER)
    report = all_slices(project)
    assert (report.linked, report.left) == (1, 1)
    assert left(project) == {edge.pk}


@pytest.mark.nightly
def test_what_has_lost_its_words_leaves_and_words_that_moved_do_not(project, matched):
    first, second = matched[0].source, matched[-1].source
    Page.objects.filter(pk=first.pk).update(body="All about our \n Fine  tents, at length.")
    Page.objects.filter(pk=second.pk).update(body="All about stoves.")
    beside = matched[-1]
    CandidateEdge.objects.filter(pk=beside.pk).update(placement="related")
    report = all_slices(project)
    assert (report.words, report.left) == (19, 19)
    gone = {edge.pk for edge in matched if edge.source_id == second.pk and edge.pk != beside.pk}
    assert left(project) == gone
    retier(project)
    assert left(project) == gone, "other tiers do not bring them back"


@pytest.mark.nightly
def test_what_is_decided_and_what_was_live_and_is_gone_stays(project, matched):
    accepted, lost = matched[0], matched[1]
    CandidateEdge.objects.filter(pk=accepted.pk).update(status="accepted", reviewed=True)
    CandidateEdge.objects.filter(pk=lost.pk).update(regressed=True)
    Page.objects.filter(pk=accepted.source_id).update(body="All about stoves.")
    all_slices(project)
    stale = set(project.edges.filter(stale=True).values_list("pk", flat=True))
    assert stale == {edge.pk for edge in matched if edge.source_id == accepted.source_id} - {accepted.pk, lost.pk}


def test_a_run_that_is_done_twice_does_nothing_more(project, matched):
    Page.objects.filter(pk=matched[3].target_id).update(indexable=False)
    run = start(project, to_queue=False)
    first = run_recheck(run)
    assert run_recheck(run) == RecheckReport(checked=first.checked - first.left)


def test_it_starts_once_a_day_and_only_where_there_is_something_to_verify(
    project, matched, redis_server, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        [run] = start_due()
    assert (run.kind, run.params) == (RunKind.RECHECK, {"slice": 0})
    Run.objects.filter(pk=run.pk).update(status="failed", finished_at=timezone.now())
    assert start_due() == []
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(days=1, seconds=1), status="succeeded")
    [after] = start_due()
    assert after.params == {"slice": 1}
    Run.objects.filter(kind=RunKind.RECHECK).delete()
    project.runs.filter(kind=RunKind.MATCH).update(finished_at=timezone.now())
    assert start_due() == []
    project.runs.filter(kind=RunKind.MATCH).update(finished_at=timezone.now() - timedelta(days=2))
    project.edges.update(stale=True)
    assert start_due() == []
