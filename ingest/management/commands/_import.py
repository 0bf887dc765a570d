"""What the commands that import a file share: arguments, the run, its progress and its report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from django.core.management.base import CommandError

from ingest import services
from ingest.fields import schema
from ingest.files.text import ENCODINGS
from linker.errors import UserError
from linker.management.commands._cli import ProgressBar, ProjectCommand
from linker.runs import lifecycle
from linker.runs.reports import report_of

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from linker.models import Project, Run, RunKind
    from linker.runs.lifecycle import Progress


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
        fields = ", ".join(field.name for field in schema.FIELDS[self.kind] if not field.text)
        parser.add_argument("file", metavar="FILE", help="a CSV or TSV file, plain, .gz or .zip")
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            metavar="field=Column",
            help="which column fills a field, where the header does not say it; may be given several times, also for "
            f"one field; field= leaves it out. Fields: {fields}",
        )
        if any(field.name == "prefix" for field in schema.FIELDS[self.kind]):
            parser.add_argument(
                "--prefix",
                metavar="TEXT",
                help="what stands before the address in each row, for a column of handles or of addresses without a "
                "host: --map url=Slug --prefix /blog/",
            )
        if self.kind in schema.MARKS_MISSING:
            parser.add_argument(
                "--allow-shrink",
                action="store_true",
                help="import although the file holds far less than the project has",
            )
        if self.kind == schema.TRAFFIC:
            parser.add_argument(
                "--period",
                default="",
                help="the days the numbers were counted on, where the file does not tell them: 2026-01, or "
                "'2026-01-01 to 2026-03-31'",
            )
        parser.add_argument(
            "--encoding", choices=sorted(ENCODINGS), default="", help="of a file that is neither UTF-8 nor UTF-16"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["slug"])
        mapping = parse_map(options["map"])
        if options.get("prefix") is not None:
            mapping["prefix"] = [options["prefix"]] if options["prefix"] else []
        services.read_period(options["file"], options.get("period", ""))
        file = Path(options["file"])
        upload = services.register_file(project, self.kind, file, encoding=options["encoding"])
        self._say_what_it_is(project, file, mapping, options["encoding"])
        params = {"upload": upload.pk, "mapping": mapping, "encoding": options["encoding"]}
        params |= {name: options[name] for name in ("allow_shrink", "period") if options.get(name) not in (None, "")}
        run = lifecycle.start_run(project, self.run_kind, params, to_queue=False)
        bar = ProgressBar()

        def work(run: Run, progress: Progress) -> services.Report:
            bar.also = progress
            return services.run_import(run, bar)

        try:
            ended = lifecycle.execute(run.pk, work) or run
        finally:
            bar.close()
        try:
            self.show(ended)
        finally:
            if report_of(ended).has_skipped_list:
                self.stdout.write(f"skipped rows: {services.skipped_path(project.pk, run.pk)}")

    def _say_what_it_is(self, project: Project, file: Path, mapping: schema.Columns, encoding: str) -> None:
        """Says what a file is known for, where this import takes it; where it does not, the import itself says so."""
        try:
            looked = services.look(project, self.kind, file, file.name, mapping, encoding)
        except UserError:
            return
        if looked.known is not None and looked.is_for_this:
            self.stdout.write(looked.known.text)
