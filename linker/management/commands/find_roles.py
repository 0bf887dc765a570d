"""Finds what a project's pages are for."""

from typing import Any

from linker.management.commands._cli import ProgressBar, ProjectCommand
from linker.models import RunKind
from linker.pages.roles import run_find_roles
from linker.runs import lifecycle


class Command(ProjectCommand):
    help = (
        "Finds the roles of the pages (home, hub, article, product, utility, thin, event) and applies the rules, as "
        "every import of pages or links does. What was chosen by hand stays."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["slug"])
        run = lifecycle.start_run(project, RunKind.ROLES, {}, to_queue=False)
        bar = ProgressBar()

        def work(run: Any, progress: Any) -> Any:
            bar.also = progress
            return run_find_roles(run, bar)

        ended = lifecycle.execute(run.pk, work)
        bar.close()
        self.show(ended or run)
