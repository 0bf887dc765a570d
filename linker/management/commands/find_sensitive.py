"""Looks through a project's pages for what is sensitive."""

from typing import Any

from linker.management.commands._cli import ProgressBar, ProjectCommand
from linker.models import RunKind
from linker.pages.sensitivity import run_find_sensitive
from linker.runs import lifecycle


class Command(ProjectCommand):
    help = (
        "Looks through the pages and categories for what speaks of medicine, law or money, and proposes it as "
        "sensitive, as every import of pages does. What was decided stays."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["slug"])
        run = lifecycle.start_run(project, RunKind.SENSITIVE, {}, to_queue=False)
        bar = ProgressBar()

        def work(run: Any, progress: Any) -> Any:
            bar.also = progress
            return run_find_sensitive(run, bar)

        ended = lifecycle.execute(run.pk, work)
        bar.close()
        self.show(ended or run)
