"""Looks through a project's pages for what is sensitive."""

from typing import Any

from linker.management.commands._cli import ProjectCommand, work_here
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
        self.show(work_here(run, run_find_sensitive), verbose=options["verbose"])
