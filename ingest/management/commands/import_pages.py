"""Imports a pages file."""

from ingest.fields import schema
from ingest.management.commands._import import ImportCommand
from linker.models import RunKind


class Command(ImportCommand):
    kind = schema.PAGES
    run_kind = RunKind.IMPORT_PAGES
    help = (
        "Imports the pages of a crawl, in this process: Screaming Frog's internal_html.csv or internal_all.csv, or any "
        "CSV with --map. Pages that are there are updated, pages that are gone are marked, nothing is deleted. Exits "
        "with 1 and a message where nothing could be imported."
    )
