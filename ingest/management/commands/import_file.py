"""Imports a file of any kind, or rows of another source: `import_file KIND SLUG FILE`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ingest.kinds import registry
from ingest.management.commands._import import ImportCommand, add_import_arguments
from linker.management.commands._cli import ProjectCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(ImportCommand):
    help = "Imports a file, in this process. Exits with 1 and a message where nothing could be imported."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parsers = parser.add_subparsers(dest="import_kind", metavar="KIND", required=True)
        for kind in registry.kinds():
            of_kind = parsers.add_parser(kind.name, help=str(kind.choice), description=kind.command_help)
            ProjectCommand.add_arguments(self, of_kind)
            add_import_arguments(of_kind, kind)

    def handle(self, *args: Any, **options: Any) -> None:
        self.import_rows(registry.get(options["import_kind"]), options)
