"""Counts suggestions and compares them with the counts that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from linker.management.commands._cli import ProjectCommand
from linker.models import Project
from linker.storage.edge_counts import Difference, differences, recount

if TYPE_CHECKING:
    from argparse import ArgumentParser

SHOWN = 20


class Command(ProjectCommand):
    help = (
        "Counts the suggestions of a project, or of all, and compares them with the counts that pages show. "
        "Differences are listed and mended; with --check they are listed alone, and the exit status is 1."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", nargs="?", help="the project's slug; all projects without it")
        parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 where a count differs")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = [self.project(options["slug"])] if options["slug"] else list(Project.objects.order_by("slug"))
        differ = [project.slug for project in chosen if self._compare(project, mend=not options["check"])]
        if differ and options["check"]:
            raise CommandError(f"The counts of {', '.join(differ)} differ. Mend them: ./manage.py recount_edges")

    def _compare(self, project: Project, *, mend: bool) -> bool:
        found = differences(project)
        for difference in found[:SHOWN]:
            self.stdout.write(f"{project.slug}: {_in_words(difference)}")
        if len(found) > SHOWN:
            self.stdout.write(f"{project.slug}: and {len(found) - SHOWN:,} more differences")
        if not found:
            self.stdout.write(f"{project.slug}: every count is right")
        if mend:
            recount(project)
            if found:
                self.stdout.write(f"{project.slug}: {len(found):,} {'count' if len(found) == 1 else 'counts'} mended")
        return bool(found)


def _in_words(difference: Difference) -> str:
    kind = ", ".join(
        f"{name.removesuffix('_id')} {value}" for name, value in difference.kind.items() if name != "project_id"
    )
    number = abs(difference.missing)
    return f"{number:,} too {'few' if difference.missing > 0 else 'many'} of {kind}"
