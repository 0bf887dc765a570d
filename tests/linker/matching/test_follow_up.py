"""What follows a result is a run of its own, written with it: whoever dies in between leaves it to the sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User
from django.utils.module_loading import import_string

from ingest import services
from linker.engine.params import MatchParams
from linker.matching.follow_up_work import FollowUpReport
from linker.matching.start import run_match
from linker.models import Reach, Run, RunKind, SuppressedKind, Suppression
from linker.models.querysets import OPEN
from linker.reports.follow_up import sentences
from linker.runs import lifecycle
from linker.runs.kinds import job_type
from tests.factories import embed, make_edge, make_page
from tests.ingest.files import write
from tests.ingest.schedules.work import sweep, work_off

if TYPE_CHECKING:
    from linker.models import Project
    from linker.runs.reports import Report

pytestmark = pytest.mark.django_db(transaction=True)
WORK = "linker.matching.follow_up_work"


class Killed(BaseException):
    """A process that ends between two statements: nothing catches it."""


def kill(*args: object) -> None:
    raise Killed


@pytest.fixture
def site(project: Project, manager: User) -> Project:
    """Three pages like one another, and a rejection of a link from the first."""
    pages = [make_page(project, f"/{name}", title=f"Page {name}") for name in "abc"]
    for page in pages:
        embed(page, [1, 0, 0, 0])
    make_edge(project, pages[0], pages[1], status="rejected")
    return project


def match(project: Project) -> Run:
    params = MatchParams(threshold=-1.0).to_dict()
    return lifecycle.start_run(project, RunKind.MATCH, params, to_queue=False)


def run_match_while_an_editor_decides(run: Run, _also: object) -> Report:
    """The editor rules out all links of a donor, which the match has read before."""
    edge = run.project.edges.get(status="rejected")

    def progress(done: int, total: int, stage: str = "") -> None:
        if stage == "Cleaning up":
            Suppression.objects.create(
                project=run.project, kind=SuppressedKind.PAGE, reach=Reach.GOOD, edge=edge, source=edge.source,
                target=edge.target, made_by=User.objects.get(),
            )  # fmt: skip

    return run_match(run, progress)


def take_up(project: Project) -> None:
    """What becomes of a run whose worker died."""
    sweep()
    [lost] = Run.objects.filter(project=project, status="running")
    import_string(job_type(lost.kind).path)(lost.pk)


def open_links(project: Project) -> int:
    return project.edges.filter(OPEN, source__title="Page a").count()


def follow_ups(project: Project) -> list[tuple[str, int | None]]:
    rows = Run.objects.filter(project=project, kind=RunKind.FOLLOW_UP).order_by("pk")
    return list(rows.values_list("status", "follows"))


@pytest.mark.nightly
def test_a_match_whose_worker_dies_after_its_commit_is_followed_up(project, site, redis_server, monkeypatch):
    run = match(project)
    with monkeypatch.context() as patch:
        patch.setattr(f"{WORK}.hide", kill)
        with pytest.raises(Killed):
            lifecycle.execute(run.pk, run_match_while_an_editor_decides)
    run.refresh_from_db()
    assert (run.status, follow_ups(project)) == ("succeeded", [("running", run.pk)])
    assert open_links(project), "nobody has hidden them yet"
    take_up(project)
    assert follow_ups(project) == [("succeeded", run.pk)]
    assert not open_links(project)
    run.refresh_from_db()
    assert "gaps_with_paragraph" in run.report


@pytest.mark.nightly
def test_it_may_be_done_twice(project, site, redis_server):
    run = lifecycle.execute(match(project).pk, run_match_while_an_editor_decides)
    assert not open_links(project)
    before = list(project.edges.order_by("pk").values())
    Run.objects.filter(follows=run).update(status="queued")
    work_off(project)
    assert list(project.edges.order_by("pk").values()) == before


@pytest.mark.nightly
def test_an_import_whose_worker_dies_after_its_commit_is_followed_up(project, tmp_path, redis_server, monkeypatch):
    gone, there = make_page(project, "/gone"), make_page(project, "/there")
    make_edge(project, there, gone)
    rows = [("https://shop.example/there", 200, "There", "Indexable")]
    file = write(tmp_path / "internal_html.csv", ("Address", "Status Code", "Title 1", "Indexability"), rows)
    upload = services.register_file(project, "pages", file)
    run = services.start_import(project, upload, services.look_at_upload(project, upload), None, allow_shrink=True)
    with monkeypatch.context() as patch:
        patch.setattr(f"{WORK}.recount", kill)
        with pytest.raises(Killed):
            work_off(project)
    assert project.edges.filter(OPEN).exists()
    assert ("running", run.pk) in follow_ups(project)
    take_up(project)
    assert not project.edges.filter(OPEN).exists()
    assert ("succeeded", run.pk) in follow_ups(project)


@pytest.mark.nightly
def test_what_follows_a_run_starts_once_its_result_is_followed_up(project, site, redis_server, monkeypatch):
    started = []
    monkeypatch.setitem(lifecycle.FOLLOWED_BY, RunKind.MATCH, ("linker.runs.lifecycle.started",))
    monkeypatch.setattr(lifecycle, "started", started.append, raising=False)
    with monkeypatch.context() as patch:
        patch.setattr(f"{WORK}.hide", kill)
        with pytest.raises(Killed):
            lifecycle.execute(match(project).pk, run_match)
    assert started == []
    take_up(project)
    assert [run.kind for run in started] == [RunKind.MATCH]


@pytest.mark.nightly
def test_one_that_fails_is_told_and_leaves_the_result(project, site, redis_server, monkeypatch):
    monkeypatch.setattr(f"{WORK}.hide", lambda project: 1 / 0)
    run = match(project)
    with pytest.raises(ZeroDivisionError):
        lifecycle.execute(run.pk, run_match)
    run.refresh_from_db()
    assert (run.status, follow_ups(project)) == ("succeeded", [("failed", run.pk)])


def test_without_suggestions_nothing_follows(project, tmp_path):
    rows = [("https://shop.example/there", 200, "There", "Indexable")]
    file = write(tmp_path / "internal_html.csv", ("Address", "Status Code", "Title 1", "Indexability"), rows)
    services.import_file(project, "pages", file)
    assert follow_ups(project) == []


def test_its_report_says_that_suggestions_followed_their_pages():
    assert sentences(FollowUpReport(moved=25)) == [
        "25 suggestions have followed their pages, or were closed with them."
    ]
    assert sentences(FollowUpReport()) == ["The queue is as it was."]
