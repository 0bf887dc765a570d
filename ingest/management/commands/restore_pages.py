"""Brings back pages that an import marked as missing although they are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ingest.fetching.restore import run_restore, start_restore
from linker.errors import UserError
from linker.management.commands._cli import ProjectCommand, work_here
from linker.models import Run, RunKind

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(ProjectCommand):
    help = (
        "Brings back the pages, with their links and suggestions, that an import of pages has marked as missing, in "
        "this process. The next whole fetch or file decides again which are gone. Exits with 1 and a message where "
        "none of them is missing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("run", type=int, metavar="RUN", help="the number of the import")

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["slug"])
        imported = Run.objects.filter(project=project, kind=RunKind.IMPORT_PAGES, pk=options["run"]).first()
        if imported is None:
            raise UserError(f"{project.slug} has no import of pages with the number {options['run']}.")
        self.show(work_here(start_restore(imported, None, to_queue=False), run_restore))
