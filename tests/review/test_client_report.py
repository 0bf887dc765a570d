"""A report for a client: counted once, kept, and printed as it stands."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from django.utils import timezone, translation

from ingest.kinds.links.merge import count_page_links
from linker.models import Block, ExistingLink, Gate, Page, Run, RunKind
from linker.projects import overview
from linker.projects.policies.gates import add_gate
from linker.runs.reports import report_of
from linker.storage.site_figures import keep_figures
from review.client_report import ClientReport, NextStep, Rate, WorkFigures, write_report
from review.live.funnel import funnel
from review.live.verify import verify
from review.models import Held, PublishedLink
from review.releases import outgoing
from review.releases.create import create_release
from review.rollout_models import RolloutRule, Stage
from tests.chromium import FLAGS, system_chromium
from tests.factories import make_edge, make_link, make_page, make_run

if TYPE_CHECKING:
    from linker.models import Project

pytestmark = pytest.mark.django_db


def written(project: Project, **changes) -> Run:
    """A report that was written now."""
    run = make_run(project, RunKind.CLIENT_REPORT, status="running")
    report = write_report(run).to_json() | changes
    Run.objects.filter(pk=run.pk).update(report=report, status="succeeded", finished_at=timezone.now())
    run.refresh_from_db()
    return run


@pytest.fixture
def site(project, manager):
    """Five pages: the home page links to the first; the others are orphans, one of them deep. A link to the deep one is
    released, another one beside the text, and one waits."""
    home = make_page(project, "/", indexable=True, crawl_depth=0)
    pages = [make_page(project, f"/{n}", indexable=True, crawl_depth=depth) for n, depth in enumerate((1, 5, 2, None))]
    make_link(home, pages[0])
    type(home).objects.filter(pk=pages[0].pk).update(inlinks=1)
    placed = {"placement": "inline", "status": "accepted", "reviewed": True}
    make_edge(project, home, pages[1], **placed)
    make_edge(project, home, pages[2], status="accepted", reviewed=True, placement="related")
    create_release(project, project.edges.all(), user=manager)
    make_edge(project, home, pages[3], **placed)
    make_edge(project, pages[0], pages[2], status="rejected", reviewed=True)
    make_edge(project, pages[0], pages[3], sensitive="medical: page")
    make_edge(project, pages[1], pages[3], sensitive="medical: page", tier=None)  # held back, and in no count
    return project


@pytest.mark.nightly
def test_it_counts_the_site_before_and_with_the_released_links(site):
    report = report_of(written(site))
    assert isinstance(report, ClientReport)
    figures = report.site
    assert (figures.pages, figures.text_links, figures.text_links_after) == (5, 1, 2)
    assert (figures.ours_in_text, figures.ours_beside) == (1, 1)
    assert (figures.orphans, figures.orphans_after) == (4, 3)
    assert (figures.depth, figures.depth_after) == (2.0, 1.0)
    assert (figures.deep, figures.deep_after, figures.nearer) == (1, 0, 1)
    assert (report.work.out, report.work.live, report.work.accepted, report.work.rejected) == (2, None, 1, 1)
    assert report.work.share == 0.75
    assert report.risks.sensitive_open == 1
    assert report.release.number == 1
    assert "release" in report.steps


@pytest.mark.nightly
def test_links_that_the_site_has_or_cannot_have_are_not_counted_as_to_come(site):
    home = Page.objects.get(project=site, url__endswith="/")
    [link] = PublishedLink.objects.filter(edge__placement="inline")
    assert report_of(written(site)).site.text_links_after == 2
    there = make_link(home, link.edge.target)
    figures = report_of(written(site)).site
    assert (figures.text_links, figures.text_links_after) == (2, 2), "a change of it was released: it is there"
    PublishedLink.objects.filter(pk=link.pk).update(is_out=False, state="sent")
    assert report_of(written(site)).site.text_links_after == 1, "its removal was released"
    PublishedLink.objects.filter(pk=link.pk).update(is_out=True)
    there.delete()
    Page.objects.filter(pk=home.pk).update(status_code=404, indexable=False)
    verify(site)
    report = report_of(written(site))
    assert report.site.text_links_after == report.site.text_links
    assert report.risks.donors_gone == 2
    assert report.risks.are_known


@pytest.mark.nightly
def test_released_links_that_are_live_are_not_counted_before(site):
    home = Page.objects.get(project=site, url__endswith="/")
    [link] = PublishedLink.objects.filter(edge__placement="inline")
    make_link(home, link.edge.target)
    Page.objects.filter(pk=link.edge.target_id).update(inlinks=1)
    verify(site)
    figures = report_of(written(site)).site
    assert (figures.text_links, figures.text_links_after) == (1, 2)
    assert (figures.orphans, figures.orphans_after) == (4, 3)


def text_pairs(project: Project) -> Counter[tuple[int, int]]:
    """The links that stand in texts, by the pages they join: read row by row, an oracle for what is counted."""
    links = ExistingLink.objects.filter(project=project, block=Block.CONTENT, missing_since=None)
    return Counter(links.values_list("source", "target"))


def without_links(project: Project, pairs: Counter[tuple[int, int]]) -> int:
    """Articles that none of these links reaches from another page."""
    reached = {target for (source, target), links in pairs.items() if links > 0 and source != target}
    pages = Page.objects.filter(project=project, indexable=True, status="live", missing_since=None)
    return sum(page.role_in_force == "article" and page.pk not in reached for page in pages)


def test_figures_of_the_site_are_those_of_its_rows(project, manager):
    """Released in a text and in a list, which the site has in its texts too: one of each that the site has, one in a
    list that was never put in, one that stands beside a link of the editors' own; one that was taken off and is still
    there; and one that was taken off and has gone."""
    home = make_page(project, "/", indexable=True, role="home", crawl_depth=0)
    hub = make_page(project, "/all", indexable=True, role="hub")
    donor, *pages = [make_page(project, f"/{n}", indexable=True, role="article") for n in range(9)]
    make_link(home, pages[0])
    places = ("inline", "related", "related", "inline", "inline", "inline")
    edges = [
        make_edge(project, donor, page, placement=place, status="accepted", reviewed=True, anchor=f"words {page.pk}")
        for page, place in zip(pages[1:], places, strict=False)
    ]
    create_release(project, project.edges.all(), user=manager)
    make_link(donor, pages[4], "our own words")
    for at in (0, 1, 3, 4):
        make_link(donor, edges[at].target, edges[at].anchor)
    PublishedLink.objects.filter(edge__in=[edges[4].pk, edges[5].pk]).update(is_out=False)
    project.edges.filter(pk__in=[edges[4].pk, edges[5].pk]).update(status="withdrawn")
    verify(project)
    count_page_links(project)
    states = dict(PublishedLink.objects.values_list("edge", "state"))
    assert [states[edge.pk] for edge in edges] == ["live", "live", "missing", "live", "still", "removed"]
    assert hub.pk

    report = report_of(written(project))
    figures, now = report.site, text_pairs(project)
    ours = Counter((edges[at].source_id, edges[at].target_id) for at in (0, 1, 3, 4))
    to_go = Counter([(edges[4].source_id, edges[4].target_id)])
    before, after = Counter(now), Counter(now)
    before.subtract(ours)
    after.subtract(to_go)
    assert (figures.text_links, figures.text_links_after) == (sum(before.values()), sum(after.values())) == (2, 5)
    assert figures.orphans == without_links(project, before) == 7
    assert figures.orphans_after == without_links(project, after) == 5

    on_site = funnel(project)
    steps = {step.name: step.links for step in on_site.steps}
    assert figures.ours_in_text + figures.ours_beside == report.work.out == overview.site_figures(project).out == 4
    assert (report.work.released, report.work.live) == (steps["Released"], steps["Found on the site"]) == (6, 3)
    make_link(home, edges[5].target)
    ExistingLink.objects.filter(source=donor, target=edges[4].target).delete()
    verify(project)
    count_page_links(project)
    assert (
        report_of(written(project)).site.orphans_after == overview.site_figures(project, keep_figures(project)).orphans
    )


def test_links_that_were_looked_for_need_no_import(site):
    [_missing, live] = PublishedLink.objects.order_by("edge__placement").reverse()
    assert NextStep.CHECK in report_of(written(site)).steps
    make_link(live.edge.source, live.edge.target, live.anchor)
    verify(site)
    report = report_of(written(site))
    assert (report.work.out, report.work.live, report.risks.missing) == (2, 1, 1)
    assert NextStep.CHECK not in report.steps
    assert NextStep.REPAIR in report.steps


def test_clicks_are_left_out_where_no_import_tells_depths(site, client_for, viewer):
    """A content system says which page is the home page, and no more."""
    said = re.sub(
        r"\s+", " ", client_for(viewer).get(reverse("client_report", args=[site.slug, written(site).pk])).text
    )
    assert "Clicks from the home page, on average" in said
    assert "The clicks from the home page are known of 4 pages." in said
    Page.objects.filter(project=site, crawl_depth__gt=0).update(crawl_depth=None)
    figures = report_of(run := written(site)).site
    assert (figures.depth, figures.deep, figures.nearer) == (None, None, None)
    said = re.sub(r"\s+", " ", client_for(viewer).get(reverse("client_report", args=[site.slug, run.pk])).text)
    assert "Clicks from the home page, on average" not in said
    assert "How many clicks pages are from the home page is not known: no import told it." in said


@pytest.mark.nightly
def test_a_change_that_waits_is_not_called_an_approved_link(site, editor, client_for, viewer):
    create_release(site, site.edges.filter(status="accepted"), user=editor)
    [link] = PublishedLink.objects.filter(edge__placement="inline")[:1]
    outgoing.confirm(site, site.edges.filter(pk=link.edge_id), editor, "ugc")
    report = report_of(written(site))
    assert (report.work.accepted, report.work.to_release, report.work.changing) == (0, 0, 1)
    page = client_for(viewer).get(reverse("client_reports", args=[site.slug])).content.decode()
    said = re.sub(r"\s+", " ", page)
    assert "Release the change or removal that was asked for." in said
    assert "Release the approved link" not in said
    row = said.split("Changes and removals of released links, not released yet")[1]
    assert re.match(r'</th> <td class="num">1</td>', row)


@pytest.mark.nightly
def test_it_says_tomorrow_what_it_says_today(site, client_for, viewer):
    first = written(site)
    make_edge(site, make_page(site), make_page(site), status="accepted", placement="inline")
    client = client_for(viewer)
    page = client.get(reverse("client_report", args=[site.slug, first.pk])).content.decode()
    assert "Release the approved link that has not left yet." in re.sub(r"\s+", " ", page)
    written(site)
    newest = re.sub(r"\s+", " ", client.get(reverse("client_reports", args=[site.slug])).content.decode())
    assert "Release the 2 approved links that have not left yet." in newest
    assert reverse("client_report", args=[site.slug, first.pk]) in newest


@pytest.mark.nightly
def test_reports_are_numbered_from_one_whatever_else_has_run(site, client_for, viewer):
    first, _other = written(site), make_run(site, RunKind.EMBED)
    second, client = written(site), client_for(viewer)
    assert second.pk > first.pk + 1
    for run, number in ((first, 1), (second, 2)):
        page = client.get(reverse("client_report", args=[site.slug, run.pk])).content.decode()
        assert f"report {number} ·" in page
        assert f"Report {number}, counted by Anchorline" in page
        assert re.search(rf"<title>\s*Report {number}\b", page)
        assert ">Report 1</a>" in page
        assert ">Report 2</a>" in page


@pytest.mark.nightly
def test_rates_of_audits_stand_where_there_are_some_and_nowhere_else(site, client_for, viewer):
    address, client = reverse("client_reports", args=[site.slug]), client_for(viewer)
    written(site)
    assert "as audited" not in client.get(address).content.decode()
    rate = Rate(label="Tier High", good=19, looked_at=20, low=0.76, high=0.99)
    report = ClientReport(audits=(rate,)).to_json()["audits"]
    written(site, audits=report)
    page = re.sub(r"\s+", " ", client.get(address).content.decode())
    assert "as audited" in page
    assert "76% – 99%" in page


@pytest.mark.nightly
def test_it_is_in_german_for_a_german_reader(site, client_for, viewer):
    written(site)
    page = client_for(viewer).get(reverse("client_reports", args=[site.slug]), headers={"accept-language": "de"})
    with translation.override("de"):
        assert "Die Website vorher und nachher" in page.content.decode()


@pytest.mark.nightly
def test_an_outsider_sees_none_and_an_editor_writes_none(site, client_for, outsider, editor, manager):
    address = reverse("client_reports", args=[site.slug])
    assert client_for(outsider).get(address).status_code == 404
    assert client_for(editor).post(address).status_code == 403
    assert "A manager can write one." in client_for(editor).get(address).content.decode()
    assert client_for(manager).post(address).status_code == 302
    assert Run.objects.filter(kind=RunKind.CLIENT_REPORT).count() == 1


def everything() -> dict:
    """Risks, steps and audits, as many as a report can have."""
    rates = [{"label": "Approved by people", "good": 70, "looked_at": 90, "low": 0.68, "high": 0.85}] * 2
    counts = dict.fromkeys(("sensitive_open", "sensitive_out", "targets_gone", "donors_gone", "missing", "lost"), 1_234)
    held = [{"reason": reason.value, "links": 1_234} for reason in list(Held)[:4]]
    return {"audits": rates, "risks": {**counts, "held": held}, "steps": [step.value for step in NextStep]}


@pytest.mark.nightly
@pytest.mark.browser
@pytest.mark.parametrize("changes", [{}, everything()], ids=["little", "everything"])
def test_it_prints_on_one_page_without_what_is_around_it(site, client_for, viewer, tmp_path, settings, changes):
    written(site, **changes)
    page = client_for(viewer).get(reverse("client_reports", args=[site.slug])).content.decode()
    static = settings.BASE_DIR / "static"
    shown, paper = tmp_path / "report.html", tmp_path / "report.pdf"
    shown.write_text(re.sub(r"/static/(\w+)/([\w-]+)(?:\.\w+)?\.(css|js)", rf"file://{static}/\1/\2.\3", page))
    browser = system_chromium()
    if browser is None:
        pytest.skip("no Chromium of the system that prints")
    command = [browser, "--headless", *FLAGS, "--no-pdf-header-footer", f"--print-to-pdf={paper}", shown.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    content = paper.read_bytes()
    assert content.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", content)) == 1
    assert re.search(rb"/MediaBox\s*\[\s*0 0 59[45]\S* 84[12]", content)  # A4, in points


@pytest.mark.nightly
def test_what_waits_for_a_second_person_is_not_called_ready(site, client_for, viewer, manager, redis_server):
    address, client = reverse("client_reports", args=[site.slug]), client_for(viewer)
    site.pages.filter(url__endswith="/3").update(clicks=100)
    add_gate(Gate(project=site, min_clicks=100), manager)
    written(site)
    page = re.sub(r"\s+", " ", client.get(address).content.decode())
    assert "Let a second person look at the approved link that waits for one." in page
    assert "Release the approved link" not in page


def test_a_released_link_that_came_back_to_the_queue_counts_as_approved():
    work = WorkFigures(accepted=1, exported=10, out=11, withdrawn=2, rejected=4)
    assert (work.decided, round(work.share or 0, 3)) == (18, 0.778)


@pytest.mark.nightly
def test_what_the_roll_out_holds_is_not_called_ready(site, client_for, viewer):
    address, client = reverse("client_reports", args=[site.slug]), client_for(viewer)
    written(site)
    assert "Release the approved link that has not left yet." in re.sub(
        r"\s+", " ", client.get(address).content.decode()
    )
    RolloutRule.objects.create(project=site, pattern=".*", stage=Stage.OFF)
    report = report_of(written(site))
    assert isinstance(report, ClientReport)
    assert report.work
    assert (report.work.accepted, report.work.ready, report.work.waiting) == (1, 0, 0)
    assert NextStep.RELEASE not in report.steps
