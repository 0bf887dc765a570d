"""What the commands that import share: arguments, the run, its progress and its report."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from django.core.management.base import CommandError

from ingest import services
from ingest.asked_from import the_command_line
from ingest.fields.skipped import reason_in_words
from ingest.files.sniff import DELIMITERS
from ingest.files.text import ENCODINGS
from ingest.import_report import ImportReport
from ingest.kinds import registry
from ingest.preview import preview_file
from ingest.sources import registry as sources
from linker.errors import UserError
from linker.management.commands._cli import ProjectCommand, work_here
from linker.runs import lifecycle
from linker.runs.reports import report_of

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from ingest.fields.mapping import Columns
    from ingest.kinds.base import ImportKind
    from linker.models import Project, Run

MOST_REASONS = 3  # of what was left out


def parse_map(pairs: list[str]) -> Columns:
    """`field=Column` pairs as a mapping; a field given several times gets several columns, `field=` none.

    Raises CommandError (exit code 2) for a pair without `=`.
    """
    mapping: Columns = {}
    for pair in pairs:
        field, equals, column = pair.partition("=")
        if not equals:
            raise CommandError(f"--map {pair}: write it as field=Column, as in --map title='Title 1'.", returncode=2)
        mapping.setdefault(field.strip(), []).extend([column] if column else [])
    return mapping


def add_import_arguments(parser: ArgumentParser, kind: ImportKind) -> None:
    """The arguments of an import of one kind, after the project's."""
    fields = ", ".join(field.name for field in kind.fields.fields if not field.text)
    parser.add_argument("file", metavar="FILE", help="a CSV or TSV file, plain, .gz or .zip")
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="field=Column",
        help="which column fills a field, where the header does not say it; may be given several times, also for "
        f"one field; field= leaves it out. Fields: {fields}",
    )
    if "prefix" in kind.fields.names:
        parser.add_argument(
            "--prefix",
            metavar="TEXT",
            help="what stands before the address in each row, for a column of handles or of addresses without a "
            "host: --map url=Slug --prefix /blog/",
        )
    for option in kind.options:
        flag = f"--{option.name.replace('_', '-')}"
        if option.is_tick:
            parser.add_argument(flag, action="store_true", help=option.command_help)
        else:
            parser.add_argument(flag, default="", help=option.command_help)
    parser.add_argument(
        "--encoding", choices=sorted(ENCODINGS), default="", help="of a file that is neither UTF-8 nor UTF-16"
    )
    parser.add_argument("--delimiter", choices=sorted(DELIMITERS.values()), help="where it is guessed wrongly")
    parser.add_argument(
        "--no-header",
        action="store_true",
        help="the first row is no header; the columns are then called Column 1, Column 2 and so on: "
        "--map url='Column 1'",
    )
    if sources.sources():
        parser.add_argument(
            "--from",
            dest="source",
            choices=[sources.FILE, *(source.name for source in sources.sources())],
            default=sources.FILE,
            help="where the rows come from; FILE then names the place there",
        )


class ImportCommand(ProjectCommand):
    """Imports a file in this process, under a Run as the browser's imports are."""

    kind: ClassVar[str]

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        add_import_arguments(parser, registry.get(self.kind))

    def handle(self, *args: Any, **options: Any) -> None:
        self.import_rows(registry.get(self.kind), options)

    def execute(self, *args: Any, **options: Any) -> str | None:
        with the_command_line():
            return super().execute(*args, **options)

    def import_rows(self, kind: ImportKind, options: dict[str, Any]) -> None:
        """Imports what the arguments of add_import_arguments() name."""
        project = self.project(options["slug"])
        mapping = parse_map(options["map"])
        if options.get("prefix") is not None:
            mapping["prefix"] = [options["prefix"]] if options["prefix"] else []
        kind.check_options(options["file"], options)
        source = options.get("source", sources.FILE)
        if source == sources.FILE:
            params = self._params_of_file(project, kind, mapping, options)
        else:
            params = {"source": source, "where": options["file"], "mapping": mapping}
        run = lifecycle.start_run(project, kind.run_kind, params | kind.chosen_options(options), to_queue=False)
        ended = work_here(run, services.run_import)
        try:
            self.show(ended, verbose=options["verbose"], is_last=False)
        finally:
            self.say_what_was_left_out(ended)
        self.say_next(project)

    def say_what_was_left_out(self, run: Run) -> None:
        """The commonest reasons, and where the list of all rows is that were left out."""
        report = report_of(run)
        reasons = Counter(report.skipped or {}) if isinstance(report, ImportReport) else Counter[str]()
        for reason, count in reasons.most_common(MOST_REASONS):
            self.stdout.write(f"  {count:,} left out: {reason_in_words(reason)}")
        if report.has_skipped_list:
            self.stdout.write(f"skipped rows: {services.skipped_path(run.project_id, run.pk)}")

    def _params_of_file(
        self, project: Project, kind: ImportKind, mapping: Columns, options: dict[str, Any]
    ) -> dict[str, Any]:
        file = Path(options["file"])
        marks = {name: mark for mark, name in DELIMITERS.items()}
        delimiter = marks[options["delimiter"]] if options.get("delimiter") else ""
        reading = {
            "encoding": options["encoding"],
            "delimiter": delimiter,
            "no_header": bool(options.get("no_header")),
        }
        upload = services.register_file(project, kind.name, file, **reading)
        self._say_what_it_is(project, kind, file, mapping, reading)
        return {"upload": upload.pk, "mapping": mapping, **reading}

    def _say_what_it_is(
        self, project: Project, kind: ImportKind, file: Path, mapping: Columns, reading: dict[str, Any]
    ) -> None:
        """Says what a file is known for, where this import takes it; where it does not, the import itself says so."""
        try:
            found = preview_file(project, kind.name, file, file.name, mapping, **reading)
        except UserError:
            return
        if found.known is not None and found.is_for_this:
            self.stdout.write(found.known.text)
