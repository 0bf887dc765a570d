"""Pages of governance ask as much for many rows as for few."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from linker.matching.kept_runs import keep_links
from linker.matching.run_comparison import compare
from linker.models import BarredPair, EdgeStatus, ExistingLink, Gate, KeptRun, RunKind, SafetyClass
from review.client_report import write_report
from review.decisions import decide_edges
from review.live.verify import verify
from review.models import Alert, AlertClosing, Grade, Judgement, RolloutRule, Sample, SampleLink, Verb
from review.releases import drafts, outgoing
from review.releases.preview import AT_ONCE
from tests.factories import lenient_tiers, make_category, make_edge, make_link, make_member, make_page, make_run
from tests.markup import compact
from tests.review.test_release import release_of

if TYPE_CHECKING:
    from linker.models import Project

pytestmark = pytest.mark.django_db
PAGES = [
    "quality/", "quality/judge/", "quality/alerts/", "quality/calibrations/", "quality/calibrations/{calibration}/",
    "export/", "export/held/", "export/{release}/links/", "export/{release}/links/?reason=gone",
    "export/{release}/withdraw/", "export/diff/?older=0&newer={release}", "export/drafts/{draft}/",
    "export/drafts/{draft}/?reason=gone", "export/links/", "export/links/?release={release}", "export/live/",
    "export/live/?closed=on", "export/live/?owner=0", "export/live/?category={category}", "export/live/{link}/",
    "report/", "settings/safety/", "settings/rollout/", "runs/kept/", "runs/compare/?run={run}&before={before}",
]  # fmt: skip


def grow(project: Project, manager, number: int, links: int) -> None:
    """One more of everything, with so many links."""
    judge = make_member(project, username=f"judge-{number}")
    category = make_category(project, f"Section {number}")
    edges = [
        make_edge(project, make_page(project, category=category), probability=0.8, anchor=f"words {number} {n}")
        for n in range(links + 2)
    ]
    decide_edges(project, [edge.pk for edge in edges], Verb.ACCEPT, manager)
    gone = edges[0].target
    gone.missing_since = timezone.now()
    gone.save()
    release_of(project)
    for edge in edges[1:]:
        make_link(edge.source, edge.target, edge.anchor)
    verify(project)
    ExistingLink.objects.filter(source=edges[1].source).delete()
    verify(project)
    outgoing.withdraw(project, project.edges.filter(pk=edges[-1].pk), manager)
    _sample(project, edges, judge)
    classes = [SafetyClass.objects.create(project=project, name=f"{side} {number}") for side in ("From", "To")]
    BarredPair.objects.create(project=project, source=classes[0], target=classes[1], reason="The law")
    if number == 1:  # each is asked where its category lies: gates are few, whatever the site
        Gate.objects.create(project=project, category=category, made_by=manager)
    RolloutRule.objects.create(project=project, pattern=f"/never-{number}/")
    waiting = [make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True) for _ in range(links)]
    make_edge(project, target=gone, status=EdgeStatus.ACCEPTED, reviewed=True)
    assert waiting
    drafts.fill(drafts.make_draft(project, manager, {}, drafts.ReleaseFormat.FULL))


def _sample(project: Project, edges, judge) -> None:
    for kind, run_kind in (("audit", RunKind.AUDIT), ("calibration", RunKind.CALIBRATE)):
        run, now = make_run(project, run_kind), timezone.now()
        strata = [{"low": 0.0, "high": 1.0, "links": 10, "drawn": 5}]
        sample = Sample.objects.create(project=project, kind=kind, run=run, seed=1, until=now, strata=strata)
        for place, edge in enumerate(edges):
            grade = ["", Grade.BAD, Grade.GOOD][place % 3]
            link = SampleLink.objects.create(
                sample=sample, project=project, edge=edge, place=place, reader=judge, drawn_from="approved",
                generators=["nearest"], probability=0.8, grade=grade,
            )  # fmt: skip
            if grade:
                Judgement.objects.create(link=link, judge=judge, grade=grade, reason="other")
    for is_closed in (False, True):
        found = {"links": 3}
        alert = Alert.objects.create(project=project, kind="lost", cause=f"{run.pk} {is_closed}", found=found)
        if is_closed:
            Alert.objects.filter(pk=alert.pk).update(closed_at=timezone.now())
            AlertClosing.objects.create(alert=alert, user=judge, note="Known")


def keep_two(project: Project) -> None:
    runs = []
    for score in (0.7, 0.75):
        run = make_run(project)
        make_edge(project, run=run, score=score)
        keep_links(run)
        runs.append(KeptRun.objects.get(run=run))
    compare(runs[1], runs[0])


def addresses(project: Project) -> list[str]:
    after, before = KeptRun.objects.filter(run__project=project).order_by("-pk")[:2]
    named = {
        "calibration": project.samples.filter(kind="calibration").first().pk,
        "release": project.releases.first().number,
        "draft": project.drafts.first().pk,
        "category": project.categories.first().pk,
        "link": project.edges.filter(status=EdgeStatus.EXPORTED).first().pk,
        "run": after.pk,
        "before": before.pk,
    }
    return [f"/p/shop/{page.format(**named)}" for page in PAGES]


@pytest.mark.nightly
def test_a_page_asks_as_much_for_many_rows_as_for_few(project, client_for, manager):
    lenient_tiers(project)
    client = client_for(manager)

    def asked() -> dict[str, int]:
        found = {}
        for page, address in zip(PAGES, addresses(project), strict=True):
            client.get(address)
            with CaptureQueriesContext(connection) as queries:
                assert client.get(address).status_code == 200, address
            found[page] = len(queries)
        return found

    grow(project, manager, 1, 5)
    keep_two(project)
    report = make_run(project, RunKind.CLIENT_REPORT)
    report.report = write_report(report).to_json()
    report.save()
    few = asked()
    for number in (2, 3):
        grow(project, manager, number, 9)
    keep_two(project)
    many = asked()
    assert {page: (few[page], many[page]) for page in PAGES if many[page] > few[page]} == {}


@pytest.mark.nightly
def test_the_export_and_a_draft_look_at_no_link_by_itself_where_there_are_many(project, client_for, manager):
    """Their pages come at once, and ask for what looking at each link finds."""
    client = client_for(manager)

    def asked(address: str) -> list[str]:
        client.get(address)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(address).status_code == 200
        return [query["sql"] for query in queries]

    found = []
    for _ in range(2):
        for _ in range(AT_ONCE):
            make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)
        make_edge(project, status=EdgeStatus.ACCEPTED, reviewed=True)
        draft = drafts.make_draft(project, manager, {}, drafts.ReleaseFormat.FULL)
        drafts.fill(draft)
        addresses = ["/p/shop/export/", f"/p/shop/export/drafts/{draft.pk}/"]
        found.append([asked(address) for address in addresses])
        assert not [sql for pages in found[-1] for sql in pages if "leaving" in sql]
        assert [any("leaving" in sql for sql in asked(f"{address}?look=1")) for address in addresses] == [True, True]
    few, many = found
    assert [len(asked) for asked in few] == [len(asked) for asked in many]
    for address in addresses:
        page, looked = client.get(address).content.decode(), client.get(f"{address}?look=1").content.decode()
        assert 'hx-get="?look=1" hx-trigger="load"' in page
        assert 'hx-get="?look=1"' not in looked
    assert "More than 100 links are approved" in compact(client.get(addresses[0]).content.decode())
    assert f"<strong>{2 * AT_ONCE + 2} links</strong> would be exported now" in compact(
        client.get(f"{addresses[0]}?look=1").content.decode()
    )
