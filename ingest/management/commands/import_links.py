"""Imports a links file."""

from ingest.fields import schema
from ingest.management.commands._import import ImportCommand
from linker.models import RunKind


class Command(ImportCommand):
    kind = schema.LINKS
    run_kind = RunKind.IMPORT_LINKS
    help = (
        "Imports the links of a crawl, in this process: Screaming Frog's all_inlinks.csv or all_outlinks.csv, or any "
        "CSV with --map. Links in the text are told from template links. Import the pages first. Exits with 1 and a "
        "message where nothing could be imported."
    )
