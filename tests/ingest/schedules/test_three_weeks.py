"""A schedule keeps a project current over three weeks in which its site changes every day and much goes wrong.

The site is a real server that real crawls read. What the project has to know each day is worked out beside it, page by
page (tests.ingest.sources.crawler.changing_site), and in the end it knows what a project does that sees the site for
the first time.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import django_rq
import pytest

from ingest.fetching.manage import create_source
from ingest.fetching.run import start_fetch
from ingest.models import Schedule
from ingest.schedules.due import start_due
from ingest.schedules.manage import set_schedule
from linker.models import Block, ExistingLink, Notification, Page, Project, Run, RunKind, RunStatus
from linker.models.querysets import APPROVED, LINKABLE, OPEN, PRESENT
from review.decisions import decide_edges
from review.models import PublishedLink, Verb
from tests.examples import few
from tests.factories import make_member, make_project
from tests.ingest.schedules.work import kill_a_worker_once, sweep
from tests.ingest.sources.crawler.changing_site import ChangingSite, Oracle
from tests.ingest.sources.crawler.sites import Reply, served
from tests.review.test_release import release_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ingest.models import SiteSource
    from tests.ingest.sources.crawler.sites import SiteServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

BERLIN = ZoneInfo("Europe/Berlin")
FIRST = datetime(2031, 3, 17, 2, 30, tzinfo=BERLIN)
DAYS = few(21, at_least=12)  # all that goes wrong in the first half, and the day after it
# On the last Sunday of March the clocks in Berlin go from 2:00 to 3:00.
SLOTS = [(FIRST + timedelta(days=n)).astimezone(UTC) for n in range(22)]
SLOTS[SLOTS.index(datetime(2031, 3, 30, 1, 30, tzinfo=UTC))] = datetime(2031, 3, 30, 1, 0, tzinfo=UTC)
# What goes wrong on which day, counted from 0. The site changes all the same.
MISSED, FORGOTTEN, JOB_KILLED, WORKER_KILLED = {5}, {7}, {3}, {16}
REFUSED, BROKEN, LOGIN, HALF = {9}, {10}, {13}, {18}
FAILED = "The scheduled fetch of “Site” in Shop has failed"
AGAIN = "The fetch of “Site” in Shop works again"
# What is told on which day.
TOLD = {9: FAILED, 10: FAILED, 11: AGAIN, 13: FAILED, 14: AGAIN, 18: FAILED, 19: AGAIN}
QUICK = {"pages_a_second": 200, "concurrent": 8}


@pytest.fixture
def site() -> ChangingSite:
    return ChangingSite(seed=1)


@pytest.fixture
def project(settings, tmp_path, monkeypatch, redis_server) -> Project:
    """Of a site at a port that was free a moment ago, with a manager who wants mails."""
    settings.FETCH_ROOT = tmp_path / "fetched"
    settings.OUTGOING_ALLOW = (ipaddress.ip_network("127.0.0.0/8"),)
    settings.EMAIL_HOST, settings.SITE_URL = "mail.example", "https://links.example.com"
    monkeypatch.setenv("FETCH_ROOT", str(settings.FETCH_ROOT))
    monkeypatch.setenv("OUTGOING_ALLOW", "127.0.0.0/8")
    with served({}) as server:
        base = server.base
    project = make_project("shop", base_url=base, time_zone="Europe/Berlin", model_name="all-MiniLM-L6-v2")
    ann = make_member(project, "manager", "ann")
    ann.email = "ann@example.com"
    ann.save()
    return project


@pytest.fixture
def schedule(project) -> Schedule:
    """Daily at half past two; the first time is that of the first day."""
    schedule = set_schedule(project, make_source(project), None, cron="30 2 * * *")
    Schedule.objects.filter(pk=schedule.pk).update(next_at=SLOTS[0], planned_at=SLOTS[0] - timedelta(days=1))
    return schedule


def make_source(project: Project) -> SiteSource:
    values = {"kind": "crawl", "name": "Site", "address": f"{project.base_url}/", "options": QUICK}
    return create_source(project, None, refresh_matches=False, **values)


@contextmanager
def online(project: Project, site: ChangingSite) -> Iterator[SiteServer]:
    with served(site.replies(), int(project.base_url.rpartition(":")[2])) as server:
        yield server


@pytest.mark.nightly
def test_three_weeks(project, schedule, site, run_jobs):
    oracle, fetches = Oracle(), 0
    for day, slot in enumerate(SLOTS[:DAYS]):
        site.day()
        if day in MISSED:
            continue
        if day - 1 not in MISSED:
            assert start_due(now=slot - timedelta(minutes=1)) == []
        [fetch] = start_due(now=slot + timedelta(seconds=40))  # also where two are due
        assert start_due(now=slot + timedelta(seconds=45)) == []
        went_well = go_through(day, project, site, run_jobs)
        assert start_due(now=slot + timedelta(hours=12)) == []
        fetches += 1
        if went_well:
            oracle.see(site)
        assert_current(project, oracle, day)
        schedule.refresh_from_db()
        assert (schedule.next_at, schedule.last_run) == (SLOTS[day + 1], fetch)
        assert (schedule.failed_since is None) == went_well
    assert Run.objects.filter(kind=RunKind.FETCH).count() == fetches == DAYS - len(MISSED)
    assert told() == [subject for day, subject in TOLD.items() if day < DAYS]
    assert_as_if_new(project, site, run_jobs)


def go_through(day: int, project: Project, site: ChangingSite, run_jobs: Callable[[], None]) -> bool:
    """Does the work of a day, with what goes wrong on it. Whether the site could be seen."""
    if day in REFUSED:
        run_jobs()
        return False
    with online(project, site) as server:
        if day in FORGOTTEN:
            django_rq.get_connection("default").flushall()
            run_jobs()
            assert Run.objects.filter(status=RunStatus.QUEUED).exists()
            sweep()
        elif day in JOB_KILLED | WORKER_KILLED:
            kill_in_the_middle(server, whole_worker=day in WORKER_KILLED)
            sweep()
        elif day in BROKEN:
            server.before = lambda path: Reply("Down", 500)
        elif day in LOGIN:
            server.before = lambda path: Reply("<title>Sign in</title><form><input type='password'></form>")
        elif day in HALF:
            for path in list(site.docs)[1::2]:
                del server.replies[path]
        run_jobs()
        if day in JOB_KILLED | WORKER_KILLED:
            twice = [path for path in site.docs if path != "/" and server.asked[path] > 1]
            assert len(twice) <= QUICK["concurrent"], "what was fetched before the kill is not fetched again"
    return day not in BROKEN | LOGIN | HALF


def kill_in_the_middle(server: SiteServer, *, whole_worker: bool) -> None:
    """Has a worker fetch, and kills it, or the process of its job alone, when the server has answered 20 times."""
    reached = threading.Event()

    def slowly(path: str) -> None:
        if server.asked.total() > 20:
            reached.set()
            time.sleep(0.2)

    server.before = slowly
    kill_a_worker_once(reached, whole_worker=whole_worker)
    server.before = lambda path: None


def told() -> list[str]:
    return list(Notification.objects.order_by("pk").values_list("subject", flat=True))


def assert_current(project: Project, oracle: Oracle, day: int) -> None:
    """The project knows of each page and each link what it has to, and of no other."""

    def path(url: str) -> str:
        return url.removeprefix(project.base_url)

    pages = Page.objects.filter(project=project).select_related("successor")
    known = {
        path(page.url): (
            page.status,
            path(page.successor.url) if page.successor else "",
            page.missing_since is not None,
        )
        for page in pages
    }
    assert not known.items() ^ oracle.state().items(), f"pages of day {day}"
    links = ExistingLink.objects.filter(PRESENT, project=project, block=Block.CONTENT)
    found = {
        (path(one.source.url), path(one.target.url), one.anchor) for one in links.select_related("source", "target")
    }
    assert not found ^ oracle.links, f"links of day {day}"


def assert_as_if_new(project: Project, site: ChangingSite, run_jobs: Callable[[], None]) -> None:
    """Its live pages and their links are those of a project that sees the site for the first time."""
    new = make_project("new", base_url=project.base_url)
    with online(new, site):
        start_fetch(make_source(new))
        run_jobs()
    assert Run.objects.filter(project=new, status=RunStatus.SUCCEEDED).count() == 3
    assert what_is_known(project) == what_is_known(new)
    assert len(what_is_known(new)["pages"]) == len([path for path in site.reached() if path in site.docs])


def what_is_known(project: Project) -> dict[str, list[Any]]:
    columns = (
        "url",
        "title",
        "h1",
        "body",
        "language",
        "crawl_depth",
        "inlinks",
        "outlinks",
        "status_code",
        "indexable",
    )
    pages = Page.objects.filter(LINKABLE, project=project)
    # Of pages that are gone, a new project knows nothing.
    links = ExistingLink.objects.filter(PRESENT, project=project, target__in=pages.values("pk"))
    named = ("source__url", "target__url", "block", "anchor", "follow", "place")
    return {
        "pages": sorted(pages.values_list(*columns)),
        "links": sorted(links.values_list(*named)),
    }


# ------------------------------------------------------------------------------------------------------ with matches

WITH_MATCHES = 10  # days
BREAKS_ON = {4}


@pytest.mark.nightly
def test_matches_follow_the_site_and_lose_no_decision(project, site, run_jobs):
    """Ten days of the same changes, each fetch followed by an embedding and a match. Editors accept on the second day,
    the links are released on the third, and on the fifth the site answers nothing."""
    values = {"kind": "crawl", "name": "Site", "address": f"{project.base_url}/", "options": QUICK}
    schedule = set_schedule(
        project, create_source(project, None, refresh_matches=True, **values), None, cron="30 2 * * *"
    )
    Schedule.objects.filter(pk=schedule.pk).update(next_at=SLOTS[0], planned_at=SLOTS[0] - timedelta(days=1))
    editor, released = make_member(project, username="eva"), dict[int, list[str]]()
    for day, slot in enumerate(SLOTS[:WITH_MATCHES]):
        site.day()
        [_fetch] = start_due(now=slot + timedelta(seconds=40))
        if day in BREAKS_ON:
            run_jobs()
        else:
            with online(project, site):
                run_jobs()
        assert_worth_reviewing(project, day)
        if day == 1:
            best = project.edges.filter(OPEN).order_by("-score").values_list("pk", "source__url", "target__url")[:6]
            released = {edge: [url.removeprefix(project.base_url) for url in urls] for edge, *urls in best}
            decide_edges(project, list(released), Verb.ACCEPT, editor)
        if day == 2:
            release_of(project)
    runs = Run.objects.filter(project=project, status=RunStatus.SUCCEEDED)
    assert runs.filter(kind=RunKind.MATCH).count() == WITH_MATCHES - len(BREAKS_ON)
    for link in PublishedLink.objects.select_related("edge__source", "edge__target"):
        assert (link.is_out, link.edge.status) == (True, "exported")
        paths = [site.end_of(path) for path in released.pop(link.edge_id)]
        ends = [f"{project.base_url}{path}" for path in paths]
        is_kept = project.edges.filter(APPROVED, source__url=ends[0], target__url=ends[1]).exclude(pk=link.edge_id)
        if ends[0] == ends[1] or is_kept.exists() or not site.docs.keys() >= set(paths):
            continue  # it stays where it was, to be withdrawn
        assert [link.edge.source.url, link.edge.target.url] == ends, "its pages where they are now"
    assert not released


def assert_worth_reviewing(project: Project, day: int) -> None:
    """What the queue offers can be linked and is not linked yet, by pages as they are now."""
    offered = list(project.edges.filter(OPEN).select_related("source", "target"))
    assert offered, f"day {day}"
    linkable = set(Page.objects.filter(LINKABLE, project=project).values_list("pk", flat=True))
    linked = set(ExistingLink.objects.filter(PRESENT, project=project).values_list("source", "target"))
    assert {edge.source_id for edge in offered} | {edge.target_id for edge in offered} <= linkable, f"day {day}"
    assert not {(edge.source_id, edge.target_id) for edge in offered} & linked, f"day {day}"
