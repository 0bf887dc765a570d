"""What two pages count is the same number on both."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from linker.models import EdgeStatus, Page, RunKind
from linker.projects import overview
from review.client_report import write_report
from review.live.funnel import funnel
from review.models import LiveState, PublishedLink
from tests.factories import make_edge, make_page, make_run
from tests.review.test_release import release_of

pytestmark = pytest.mark.django_db

OFF = (LiveState.REMOVED, LiveState.STILL_THERE)


@pytest.fixture
def played(project):
    """Released links in every state, of each one more than of the one before, and one that somebody has closed."""
    links = sum(range(1, len(LiveState) + 1))
    edges = [make_edge(project, status=EdgeStatus.ACCEPTED, anchor=f"words {n}", reviewed=True) for n in range(links)]
    release_of(project)
    for number, state in enumerate(LiveState, start=1):
        some = [edges.pop().pk for _ in range(number)]
        PublishedLink.objects.filter(edge__in=some).update(
            state=state, is_out=state not in OFF, looked_at=timezone.now()
        )
        project.edges.filter(pk__in=some).update(status=EdgeStatus.WITHDRAWN if state in OFF else EdgeStatus.EXPORTED)
    PublishedLink.objects.filter(edge=PublishedLink.objects.filter(state=LiveState.LOST).first().pk).update(
        closed_at=timezone.now(), closed_note="fine"
    )
    for _ in range(2):
        make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)
    make_edge(project, status=EdgeStatus.REJECTED, reviewed=True)
    return project


def test_the_report_counts_what_on_the_site_counts(played):
    on_site = funnel(played)
    steps = {step.name: step.links for step in on_site.steps}
    report = write_report(make_run(played, RunKind.CLIENT_REPORT, status="running"))
    work, risks = report.work, report.risks

    released = sum(range(1, len(LiveState) + 1))
    assert work.released == steps["Released"] == released
    assert work.released + work.accepted == steps["Approved"] == released + 2
    assert work.live == steps["Found on the site"]
    assert work.live - on_site.states[LiveState.LIVE] == on_site.found_otherwise
    assert work.to_go == on_site.states[LiveState.STILL_THERE]
    assert work.taken_off == on_site.states[LiveState.STILL_THERE] + on_site.states[LiveState.REMOVED]
    assert (risks.missing, risks.lost) == (on_site.states[LiveState.MISSING], on_site.states[LiveState.LOST])
    assert risks.lost == steps["Lost"] - on_site.closed
    assert (risks.targets_gone, risks.donors_gone) == (
        on_site.states[LiveState.TARGET_GONE],
        on_site.states[LiveState.DONOR_GONE],
    )


@pytest.mark.nightly
def test_the_report_counts_what_the_overview_counts(played, client_for, viewer):
    for path, fields in (("/removed", {"status": "removed"}), ("/missing", {"missing_since": timezone.now()})):
        Page.objects.filter(pk=make_page(played, path).pk).update(**fields)
    report = write_report(make_run(played, RunKind.CLIENT_REPORT, status="running"))
    figures = overview.site_figures(played)

    assert report.site.pages == figures.pages == played.pages.count() - 2
    assert (figures.missing, figures.left) == (1, 1)
    assert report.site.indexable == figures.indexable
    assert report.work.out == figures.out
    assert (report.work.to_review, report.work.rejected) == (figures.to_review, figures.rejected)
    assert report.work.awaiting == figures.accepted
    page = client_for(viewer).get(reverse("pages", args=[played.slug])).text
    assert f"{figures.pages} pages" in re.sub(r"\s+", " ", page)


@pytest.mark.nightly
def test_a_link_that_came_back_and_is_accepted_again_is_accepted_in_the_report_as_in_the_overview(
    played, client_for, viewer
):
    """It was released once, and waits for the next release."""
    back = PublishedLink.objects.filter(state=LiveState.LOST).values("edge")
    played.edges.filter(pk__in=back).update(status=EdgeStatus.ACCEPTED, regressed=True)
    again = PublishedLink.objects.filter(state=LiveState.REMOVED).values("edge")
    played.edges.filter(pk__in=again).update(status=EdgeStatus.ACCEPTED)
    report = write_report(make_run(played, RunKind.CLIENT_REPORT, status="running"))

    assert report.work.awaiting == overview.site_figures(played).accepted == back.count() + again.count() + 2
    assert report.work.released + report.work.accepted == {s.name: s.links for s in funnel(played).steps}["Approved"]


@pytest.mark.parametrize("show", ["live", "indexable", "orphans", "missing"])
def test_the_list_of_pages_counts_what_the_overview_counts(project, client_for, viewer, show):
    for number, fields in enumerate([{}, {"indexable": False}, {"inlinks": 1}, {"status": "removed"}]):
        Page.objects.filter(pk=make_page(project, f"/{number}").pk).update(**fields)
    Page.objects.filter(pk=make_page(project, "/gone").pk).update(missing_since=timezone.now())
    page = client_for(viewer).get(reverse("pages", args=[project.slug]), {"show": show})
    assert page.context["count"] == len(page.context["rows"])


def said(page) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.text))


def test_the_overview_says_why_it_has_more_links_than_the_queue_has_exported_ones(played, client_for, viewer):
    back = PublishedLink.objects.filter(state=LiveState.LOST).values("edge")
    played.edges.filter(pk__in=back).update(status=EdgeStatus.SUGGESTED, regressed=True)
    overviews = said(client_for(viewer).get(reverse("project", args=[played.slug])))
    exported = played.edges.filter(status=EdgeStatus.EXPORTED).count()
    assert f"Exported {exported + 8} and not withdrawn since 8 of them are back in the queue" in overviews


def test_on_the_site_says_why_it_finds_more_links_than_are_live(played, client_for, viewer):
    page = said(client_for(viewer).get(reverse("live_links", args=[played.slug])))
    states = dict.fromkeys(LiveState, 0) | {state: at for at, state in enumerate(LiveState, start=1)}
    otherwise = states[LiveState.DIFFERENT] + states[LiveState.MOVED] + states[LiveState.NOT_INDEXABLE]
    assert f"Found on the site {states[LiveState.LIVE] + otherwise} " in page
    assert f"Live {states[LiveState.LIVE]} " in page
    assert f"{otherwise} links of those found on the site do not stand there as they were released." in page
