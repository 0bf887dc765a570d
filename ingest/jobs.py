"""RQ's entry points. Doors, not rooms: the work is in ingest.services."""

from ingest import services, uploads
from linker import outages, runs


def import_pages(run_id: int) -> None:
    runs.execute(run_id, services.run_import)


def import_links(run_id: int) -> None:
    runs.execute(run_id, services.run_import)


def import_queries(run_id: int) -> None:
    runs.execute(run_id, services.run_import)


def import_traffic(run_id: int) -> None:
    runs.execute(run_id, services.run_import)


def clean_uploads() -> None:
    outages.outlast(uploads.clean)
