"""Imports a file of clicks, impressions or hits."""

from ingest.fields import schema
from ingest.management.commands._import import ImportCommand
from linker.models import RunKind


class Command(ImportCommand):
    kind = schema.TRAFFIC
    run_kind = RunKind.IMPORT_TRAFFIC
    help = (
        "Imports clicks, impressions and positions, or hits, in this process: Search Console's export (the .zip or its "
        "Pages.csv), a report of Google Analytics, url,hits, or any CSV with --map. Import the pages first. Numbers "
        "are added to the pages that the addresses mean and replace those of the same source and period; nothing else "
        "of a page changes. Exits with 1 and a message where nothing could be imported."
    )
