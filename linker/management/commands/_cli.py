"""What the commands share: finding a project, showing progress, turning errors into exit codes."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from linker.errors import UserError
from linker.models import Project, Run, RunStatus
from linker.projects import overview
from linker.reports.words import IN_SENTENCES, reading_rows, report_rows, summary
from linker.runs import lifecycle

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable

    from linker.runs.lifecycle import Progress
    from linker.runs.reports import Report

MOST_SENTENCES = 5
LINE_EVERY = 10.0  # seconds, where progress is written in lines


class ProjectCommand(BaseCommand):
    """A command about one project. A UserError ends it with exit code 1 and its text on stderr."""

    requires_system_checks: list[str] = []  # they read every page's code, which takes as long as all else at the start

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the project's slug")
        parser.add_argument("--verbose", action="store_true", help="also print everything that was counted")

    def project(self, slug: str) -> Project:
        try:
            return Project.objects.get(slug=slug)
        except Project.DoesNotExist:
            known = ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True)[:10]) or "none yet"
            raise CommandError(
                f"There is no project “{slug}” (projects: {known}). Make it with "
                f"./manage.py create_project {slug} --base-url https://..."
            ) from None

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except UserError as error:
            raise CommandError(str(error)) from error

    def show(self, run: Run, *, verbose: bool = False, is_last: bool = True) -> None:
        """Prints how the run ended and, after the last of a command, what comes next; `verbose`, also what the run
        counted. Raises CommandError where it did not succeed."""
        if run.status == RunStatus.FAILED:
            raise CommandError(run.error)
        if run.status != RunStatus.SUCCEEDED:
            raise CommandError(f"The run was {run.get_status_display().lower()}.")
        said = summary(run)
        if not verbose and len(said) > MOST_SENTENCES:  # a report begins with what was done, and ends with what was not
            said = [*said[: MOST_SENTENCES - 2], *said[-2:]]
        for sentence in said:
            self.stdout.write(sentence)
        if verbose:
            self.stdout.write(f"run: {run.pk}")
            for name, value in [*report_rows(run, without=IN_SENTENCES), *reading_rows(run)]:
                self.stdout.write(f"{name}: {value}")
        if is_last:
            self.say_next(run.project)

    def say_next(self, project: Project) -> None:
        """Prints what makes sense next, with its command; nothing where nothing is left to do."""
        steps = overview.next_steps(project, overview.site_figures(project))
        step = next((step for step in steps if step.command and not (step.done or step.optional)), None)
        if step is not None:
            self.stdout.write(f"Next: {step.text} ./manage.py {step.command.format(slug=project.slug)}")


def work_here(run: Run, work: Callable[[Run, Progress], Report | dict[str, Any] | None]) -> Run:
    """Does the work of a run in this process, with a bar on stderr beside the progress that the run keeps. Returns the
    run as it ended."""
    bar = ProgressBar()

    def work_with_bar(run: Run, progress: Progress) -> Report | dict[str, Any] | None:
        bar.also = progress
        return work(run, bar)

    try:
        return lifecycle.execute(run.pk, work_with_bar) or Run.objects.get(pk=run.pk)
    finally:
        bar.close()


class ProgressBar:
    """A `progress(done, total, stage)` that draws a bar on stderr, and passes it on to `also`. Where stderr is no
    terminal, it writes a line now and then."""

    def __init__(self, also: Any = None) -> None:
        self.bar: tqdm[Any] | None = None
        self.stage = ""
        self.also = also
        self.is_drawn = sys.stderr.isatty()
        self.written_at = time.monotonic()

    def __call__(self, done: int, total: int, stage: str = "") -> None:
        if self.also is not None:
            self.also(done, total, stage)
        stage = stage or self.stage
        if self.is_drawn:
            self._draw(done, total, stage)
        elif time.monotonic() - self.written_at >= LINE_EVERY:
            self.written_at = time.monotonic()
            amount = f": {done:,} of {total:,}" if total else f": {done:,}" if done else ""
            print(f"{stage}{amount}", file=sys.stderr, flush=True)
        self.stage = stage

    def _draw(self, done: int, total: int, stage: str) -> None:
        if self.bar is None or stage != self.stage:
            self.close()
            self.bar = tqdm(
                total=total or None, desc=stage, file=sys.stderr, unit="", unit_scale=True, dynamic_ncols=True
            )
        self.bar.total = total or None
        self.bar.n = done
        self.bar.refresh()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None
