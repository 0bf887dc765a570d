"""RQ's entry points. Doors, not rooms: the work is in ingest.services."""

from ingest import services
from ingest.files import uploads
from linker.operations import outages
from linker.runs import lifecycle


def run_import(run_id: int) -> None:
    lifecycle.execute(run_id, services.run_import)


# Jobs that were queued before an upgrade have these names.
import_pages = import_links = import_queries = import_traffic = run_import


def clean_uploads() -> None:
    outages.outlast(uploads.clean)
