"""What a run fetched of a site, as a source of the imports that follow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from ingest.models import SiteSource
from ingest.sources.base import Source, SourceKind
from ingest.sources.stored_rows import StoredLinks, StoredPages
from linker.errors import UserError
from linker.models import Run, RunKind

if TYPE_CHECKING:
    from pathlib import Path

    from ingest.sources.stored_rows import StoredRows
    from linker.models import Project

FETCHED = "fetched"
ROWS: dict[str, type[StoredRows]] = {"pages": StoredPages, "links": StoredLinks}


def store_path(run: Run) -> Path:
    """Where the store of a fetch lies."""
    return settings.FETCH_ROOT / str(run.project_id) / f"{run.pk}.sqlite3"


def source_of(run: Run) -> SiteSource:
    """The source that a run fetches. Raises SiteSource.DoesNotExist."""
    return SiteSource.objects.get(pk=run.params["source"], project=run.project_id)


class Fetched(SourceKind):
    """`where` is the number of the run that fetched it."""

    name = FETCHED
    label = "Fetched"
    where_label = "Run"

    def open(self, project: Project, kind: str, where: str) -> Source:
        run = Run.objects.filter(pk=int(where), project=project, kind=RunKind.FETCH).first()
        if run is None or not store_path(run).is_file():
            raise UserError(f"What run {where} fetched is no longer there. Fetch the source again.")
        source = source_of(run)
        rows = ROWS[kind](store_path(run), f"{source.name}, run {run.pk}")
        rows.site_source = source.pk
        return rows
