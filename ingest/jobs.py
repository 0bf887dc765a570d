"""RQ's entry points. Doors, not rooms: the work is in ingest.services."""

from ingest import services
from ingest.fetching.restore import run_restore
from ingest.fetching.run import run_fetch
from ingest.files import uploads
from ingest.kinds.links.reread import run_read_links
from ingest.schedules import due
from linker.operations import outages
from linker.runs import lifecycle


def run_import(run_id: int) -> None:
    lifecycle.execute(run_id, services.run_import)


def fetch(run_id: int) -> None:
    lifecycle.execute(run_id, run_fetch)


def restore_pages(run_id: int) -> None:
    lifecycle.execute(run_id, run_restore)


def read_links(run_id: int) -> None:
    lifecycle.execute(run_id, run_read_links)


def start_schedule(schedule_id: int, _for_time: int) -> None:
    outages.outlast(lambda: due.start_due(schedule_id))


# Jobs that were queued before an upgrade have these names.
import_pages = import_links = import_queries = import_traffic = run_import


def clean_uploads() -> None:
    outages.outlast(uploads.clean)
