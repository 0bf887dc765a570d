"""Embeds a project's pages."""

from argparse import ArgumentParser
from typing import Any

from linker.embedding.service import run_embed
from linker.management.commands._cli import ProjectCommand, work_here
from linker.models import RunKind
from linker.projects.create import save_project
from linker.runs import lifecycle


class Command(ProjectCommand):
    help = "Embeds the pages whose text has changed since it was last embedded, in this process."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--model",
            help="a sentence-transformers model, by name or folder, “static:” before it for word vectors fitted to it; "
            "becomes the project's (default: the project's)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["slug"])
        if options["model"]:
            project.model_name = options["model"]
            save_project(project, None, ["model_name"])
        run = lifecycle.start_run(project, RunKind.EMBED, {"model": project.model_name}, to_queue=False)
        self.show(work_here(run, run_embed), verbose=options["verbose"])
