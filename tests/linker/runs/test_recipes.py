"""The recipe for a kind of run: a report, a job and a line in the registry, and it starts, runs, is listed, and shows
its report on its page and in a command."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from linker.errors import UserError
from linker.management.commands._cli import ProjectCommand, work_here
from linker.models import Run, RunStatus
from linker.reports.table import Table
from linker.runs import lifecycle
from linker.runs.kinds import RUN_KINDS, JobType, RunType
from linker.runs.lost_work import find_lost
from linker.runs.recovery import recover
from linker.runs.reports import Report, ReportKind
from tests.factories import make_page
from tests.linker.runs.test_lifecycle import lose_waiting_jobs
from tests.markup import compact

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from linker.models import Project
    from linker.runs.lifecycle import Progress

pytestmark = pytest.mark.django_db(transaction=True)  # progress goes through a connection of its own

KIND = "titles"


class Length(StrEnum):
    SHORT = "short"
    LONG = "long"


@dataclass(frozen=True, kw_only=True)
class TitlesReport(Report):
    """Pages read, and titles by how long they are."""

    pages: int = 0
    by_length: dict[Length, int] = field(default_factory=dict)


def measure_titles(run: Run, progress: Progress = lifecycle.no_progress) -> TitlesReport:
    titles = list(run.project.pages.order_by("pk").values_list("title", flat=True))
    if not titles:
        raise UserError("The project has no pages. Import them first.")
    counts = dict.fromkeys(Length, 0)
    for done, title in enumerate(titles, 1):
        counts[Length.LONG if len(title) > run.params["most"] else Length.SHORT] += 1
        progress(done, len(titles), "Measuring titles")
    return TitlesReport(pages=len(titles), by_length=counts)


def titles_job(run_id: int) -> None:
    lifecycle.execute(run_id, measure_titles)


def sentences(report: TitlesReport) -> list[str]:
    return [f"{report.by_length.get(Length.LONG, 0)} of {report.pages} titles are too long."]


TITLES = ReportKind(TitlesReport, sentences, Table({"by_length": "Titles"}).rows)


class Command(ProjectCommand):
    def handle(self, *args: Any, **options: Any) -> None:
        run = lifecycle.start_run(self.project(options["slug"]), KIND, {"most": 10}, to_queue=False)
        self.show(work_here(run, measure_titles), verbose=options["verbose"], is_last=False)


@pytest.fixture
def titles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registers the kind."""
    here = __name__
    monkeypatch.setitem(RUN_KINDS, KIND, RunType(f"{here}.TITLES", JobType(f"{here}.titles_job", 60)))


@pytest.fixture
def pages(project: Project) -> None:
    for number, title in enumerate(("Tents", "Stoves", "How to choose a tent for the mountains")):
        make_page(project, f"/{number}", title=title)


def shown(client: Client, run: Run) -> str:
    return client.get(reverse("run", args=[run.project.slug, run.pk])).content.decode()


@pytest.mark.nightly
def test_a_new_kind_of_run_waits_for_a_worker_runs_and_shows_its_report(
    titles: None, pages: None, project: Project, manager: User, client_for: Callable[..., Client], run_jobs: Any
) -> None:
    client = client_for(manager)
    run = lifecycle.start_run(project, KIND, {"most": 10}, manager)
    assert "No worker is running." in shown(client, run)
    with pytest.raises(lifecycle.RunIsActive):
        lifecycle.start_run(project, KIND, {"most": 10}, manager)
    run_jobs()
    run.refresh_from_db()
    assert (run.status, run.done, run.total) == (RunStatus.SUCCEEDED, 3, 3)
    assert run.report == {"version": 1, "pages": 3, "by_length": {"short": 2, "long": 1}}
    page = shown(client, run)
    assert "1 of 3 titles are too long." in page
    assert '<th scope="row">Titles: long</th><td>1</td>' in page
    assert "<dt>Most</dt><dd>10</dd>" in page, "what it was asked to do"


@pytest.mark.nightly
def test_runs_of_a_new_kind_are_listed_and_can_be_filtered_by(
    titles: None, pages: None, project: Project, viewer: User, client_for: Callable[..., Client], run_jobs: Any
) -> None:
    run = lifecycle.start_run(project, KIND, {"most": 10})
    run_jobs()
    listed = compact(client_for(viewer).get(reverse("runs", args=[project.slug]), {"kind": KIND}).content.decode())
    assert f'<a href="?kind={KIND}" aria-current="page">Titles</a>' in listed
    assert f"#{run.pk}" in listed


@pytest.mark.nightly
def test_a_run_of_a_new_kind_that_cannot_work_says_why(
    titles: None, project: Project, viewer: User, client_for: Callable[..., Client], run_jobs: Any
) -> None:
    run = lifecycle.start_run(project, KIND, {"most": 10})
    run_jobs()
    assert "The project has no pages. Import them first." in shown(client_for(viewer), run)


@pytest.mark.nightly
def test_a_new_kind_of_run_that_lost_its_worker_is_taken_up_again(
    titles: None, pages: None, project: Project, run_jobs: Any
) -> None:
    run = lifecycle.start_run(project, KIND, {"most": 10})
    lose_waiting_jobs()
    assert recover(find_lost()) == 1
    run_jobs()
    run.refresh_from_db()
    assert (run.status, run.attempts) == (RunStatus.SUCCEEDED, 1)


def test_a_command_does_the_work_of_a_new_kind_of_run_in_its_own_process(
    titles: None, pages: None, project: Project
) -> None:
    short, full = StringIO(), StringIO()
    call_command(Command(), project.slug, stdout=short)
    call_command(Command(), project.slug, "--verbose", stdout=full)
    assert short.getvalue() == "1 of 3 titles are too long.\n"
    counted = {"Pages: 3", "Titles: long: 1", "Titles: short: 2"}
    assert counted <= set(full.getvalue().splitlines())
