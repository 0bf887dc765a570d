"""Imports a file of search queries."""

from ingest.fields import schema
from ingest.management.commands._import import ImportCommand
from linker.models import RunKind


class Command(ImportCommand):
    kind = schema.QUERIES
    run_kind = RunKind.IMPORT_QUERIES
    help = (
        "Imports what people searched for, page by page, in this process: Search Console's rows of page and query, "
        "a file of url, query and importance, or any CSV with --map. Import the pages first. Queries that are there "
        "are updated, nothing is deleted. Exits with 1 and a message where nothing could be imported."
    )
