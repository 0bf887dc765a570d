"""What import_pages, import_links and import_queries share: arguments, the run, its progress and its report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from django.core.management.base import CommandError

from ingest import schema, services
from ingest.sniff import ENCODINGS
from linker import runs
from linker.management.commands._cli import ProgressBar, ProjectCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from linker.models import Run, RunKind
    from linker.runs import Progress


def parse_map(pairs: list[str]) -> schema.Columns:
    """`field=Column` pairs as a mapping; a field given several times gets several columns, `field=` none.

    Raises CommandError (exit code 2) for a pair without `=`.
    """
    mapping: schema.Columns = {}
    for pair in pairs:
        field, equals, column = pair.partition("=")
        if not equals:
            raise CommandError(f"--map {pair}: write it as field=Column, as in --map title='Title 1'.", returncode=2)
        mapping.setdefault(field.strip(), []).extend([column] if column else [])
    return mapping


class ImportCommand(ProjectCommand):
    """Imports a file in this process, under a Run as the browser's imports are."""

    kind: ClassVar[str]
    run_kind: ClassVar[RunKind]

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        fields = ", ".join(field.name for field in schema.FIELDS[self.kind])
        parser.add_argument("file", metavar="FILE", help="a CSV or TSV file, plain, .gz or .zip")
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            metavar="field=Column",
            help="which column fills a field, where the header does not say it; may be given several times, also for "
            f"one field; field= leaves it out. Fields: {fields}",
        )
        if self.kind != schema.QUERIES:
            parser.add_argument(
                "--allow-shrink",
                action="store_true",
                help="import although the file holds far less than the project has",
            )
        parser.add_argument(
            "--encoding", choices=sorted(ENCODINGS), default="", help="of a file that is neither UTF-8 nor UTF-16"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["slug"])
        mapping = parse_map(options["map"])
        upload = services.register_file(project, self.kind, Path(options["file"]), encoding=options["encoding"])
        params = {"upload": upload.pk, "mapping": mapping, "encoding": options["encoding"]}
        if "allow_shrink" in options:
            params["allow_shrink"] = options["allow_shrink"]
        run = runs.start_run(project, self.run_kind, params, to_queue=False)
        bar = ProgressBar()

        def work(run: Run, progress: Progress) -> services.Report:
            bar.also = progress
            return services.run_import(run, bar)

        try:
            ended = runs.execute(run.pk, work) or run
        finally:
            bar.close()
        try:
            self.show(ended)
        finally:
            if ended.report.get("skipped_file"):
                self.stdout.write(f"skipped rows: {services.skipped_path(project.pk, run.pk)}")
