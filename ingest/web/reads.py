"""Reads for the import's pages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ingest.import_report import ImportReport, left_out
from ingest.kinds import registry
from ingest.models import Upload
from linker.models import Run, RunStatus
from linker.models.run import IMPORT_PREFIX
from linker.runs.reports import report_of

if TYPE_CHECKING:
    from ingest.kinds.base import ImportKind
    from linker.models import Project


IMPORTS_SHOWN = 20


@dataclass(frozen=True)
class PastImport:
    """An import's run with its file, where the file is still known."""

    run: Run
    upload: Upload | None

    @cached_property
    def report(self) -> ImportReport:
        found = report_of(self.run)
        assert isinstance(found, ImportReport)
        return found

    @property
    def loaded(self) -> int | None:
        """Pages, links or queries the file held, or pages with traffic, where the import went through."""
        if self.run.status != RunStatus.SUCCEEDED:
            return None
        return self.report.loaded

    @property
    def kind(self) -> ImportKind:
        return registry.of_run(self.run.kind)

    @property
    def left_out(self) -> str:
        """Such as "2 rows, 1 cell"."""
        return left_out(self.report)


def recent_imports(project: Project) -> list[PastImport]:
    """The latest imports, newest first."""
    imports = Run.objects.filter(project=project, kind__startswith=IMPORT_PREFIX).select_related("created_by")
    runs = list(imports[:IMPORTS_SHOWN])
    uploads = Upload.objects.filter(project=project).in_bulk([run.params.get("upload", 0) for run in runs])
    return [PastImport(run, uploads.get(run.params.get("upload", 0))) for run in runs]
