"""Finds what a project's pages are for."""

from typing import Any

from linker.management.commands._cli import ProjectCommand, work_here
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
        self.show(work_here(run, run_find_roles), verbose=options["verbose"])
