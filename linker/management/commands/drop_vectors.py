"""Lists a project's sets of vectors, and drops one."""

from argparse import ArgumentParser
from typing import Any

from django.template.defaultfilters import filesizeformat

from linker.embedding.vector_sets import drop_vectors, run_drop_vectors, vector_sets
from linker.management.commands._cli import ProjectCommand, work_here
from linker.models import Run


class Command(ProjectCommand):
    help = "Lists a project's sets of vectors with their pages and size on disk; with --set, drops that one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--set", type=int, metavar="NUMBER", help="the number of the set to drop, as listed")

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["slug"])
        if options["set"] is not None:
            dropped = drop_vectors(project, options["set"], to_queue=False)
            if isinstance(dropped, Run):
                self.show(work_here(dropped, run_drop_vectors), verbose=options["verbose"])
            else:
                self.stdout.write(f"Dropped {dropped.set}: {dropped.pages:,} vectors.")
            return
        for one in vector_sets(project):
            self.stdout.write(
                f"{one.model.pk}: {one.model}, {one.pages:,} pages, about {_size(one.bytes)}, "
                f"{one.suggestions:,} open suggestions{', a match takes it' if one.is_in_use else ''}"
            )


def _size(count: int) -> str:
    return str(filesizeformat(count)).replace("\xa0", " ")
