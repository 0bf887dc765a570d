"""RQ's entry points. Doors, not rooms: the work is in ingest.services."""

from ingest import services
from ingest.files import uploads
from linker.operations import outages
from linker.runs import lifecycle


def import_pages(run_id: int) -> None:
    lifecycle.execute(run_id, services.run_import)


def import_links(run_id: int) -> None:
    lifecycle.execute(run_id, services.run_import)


def import_queries(run_id: int) -> None:
    lifecycle.execute(run_id, services.run_import)


def import_traffic(run_id: int) -> None:
    lifecycle.execute(run_id, services.run_import)


def clean_uploads() -> None:
    outages.outlast(uploads.clean)
