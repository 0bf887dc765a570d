"""Brings back pages that an import marked as missing although they are there: a part of a site that was taken for the
whole. The next whole fetch or file says again which pages are gone.

An import marks pages with the time at which it ran, and a project has one import of pages at a time: what was marked
between its start and its end was marked by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, override

from ingest.kinds.links.merge import count_page_links
from ingest.kinds.sql import execute, fetch_number
from linker import audit
from linker.errors import UserError
from linker.matching import away
from linker.matching.tiers import catch_up
from linker.models import ChangeKind, Run, RunKind, RunStatus
from linker.models.querysets import MISSING, sql
from linker.pages.roles import find_roles
from linker.reports.table import Table
from linker.runs import lifecycle
from linker.runs.reports import Report, ReportKind
from linker.storage.locks import lock_pages
from linker.storage.page_writes import KEEP_PLANS
from linker.wording import number

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

    from linker.runs.lifecycle import Progress

# Ids of pages that an import has marked and that are still missing; by the index page_missing.
MARKED = (
    f"SELECT p.id FROM linker_page p WHERE p.project_id = %(project)s AND {sql(MISSING, 'p')} "
    "AND p.missing_since BETWEEN %(start)s AND %(end)s"
)


@dataclass(frozen=True, kw_only=True)
class RestoreReport(Report):
    """Pages that are no longer missing, and links of theirs that count again."""

    pages: int = 0
    links: int = 0


def count_marked(imported: Run) -> int:
    """How many pages an import has marked as missing that are so still."""
    return fetch_number(f"SELECT count(*) FROM ({MARKED}) marked", _values(imported)) if _may_mark(imported) else 0


def start_restore(imported: Run, user: AbstractBaseUser | None, *, to_queue: bool = True) -> Run:
    """Starts the run for an import of pages. Raises UserError where nothing that it marked is missing any more,
    RunIsActive where such a run is under way."""
    if not count_marked(imported):
        raise UserError(_("No page is missing that run %(run)d marked.") % {"run": imported.pk})
    return lifecycle.start_run(
        imported.project, RunKind.RESTORE_PAGES, {"import": imported.pk}, user, to_queue=to_queue
    )


def run_restore(run: Run, progress: Progress = lifecycle.no_progress) -> RestoreReport:
    """The work of the run. May run twice."""
    project = run.project
    imported = Run.objects.get(pk=run.params["import"], project=project)
    progress(0, 3, "Bringing pages back")
    with transaction.atomic():
        lock_pages(project.pk)
        report = _bring_back(imported)
        progress(1, 3, "Counting links")
        count_page_links(project)
        find_roles(project)
        with override(settings.LANGUAGE_CODE):
            subject = f"{run.get_kind_display()}, run {run.pk}"
        audit.record(project, ChangeKind.IMPORT, user=run.created_by, subject=subject, after={"restored": report.pages})
    progress(2, 3, "Bringing suggestions back")
    away.follow(project)
    catch_up(project)
    return report


def _bring_back(imported: Run) -> RestoreReport:
    values = _values(imported)
    execute(f"CREATE TEMP TABLE page_back ON COMMIT DROP AS {MARKED} ORDER BY 1", values)
    execute("ANALYZE page_back")
    pages = execute(f"UPDATE linker_page p SET missing_since = NULL, {KEEP_PLANS} FROM page_back b WHERE p.id = b.id")
    links = execute(
        "UPDATE linker_existinglink l SET missing_since = NULL FROM page_back b "
        f"WHERE l.source_id = b.id AND {sql(MISSING, 'l')} AND l.missing_since >= %(start)s",
        values,
    )
    if source := _source_of(imported):  # which says of them with its next fetch whether they are gone
        execute(
            "INSERT INTO ingest_sourcepage (source_id, page_id) SELECT %s, id FROM page_back ON CONFLICT DO NOTHING",
            [source],
        )
    return RestoreReport(pages=pages, links=links)


def _may_mark(imported: Run) -> bool:
    return (
        imported.kind == RunKind.IMPORT_PAGES
        and imported.status == RunStatus.SUCCEEDED
        and bool(imported.report.get("missing"))
    )


def _values(imported: Run) -> dict[str, object]:
    return {"project": imported.project_id, "start": imported.started_at, "end": imported.finished_at}


def _source_of(imported: Run) -> int | None:
    """The number of the source whose fetch was imported; None for a file."""
    fetch = imported.follows
    return fetch.params.get("source") if fetch is not None and fetch.kind == RunKind.FETCH else None


def sentences(report: RestoreReport) -> list[str]:
    pages = ngettext(
        "%(n)s page is back. The next whole fetch or file decides again whether it is gone.",
        "%(n)s pages are back. The next whole fetch or file decides again whether they are gone.",
        report.pages,
    )
    return [pages % {"n": number(report.pages)}]


RESTORE = ReportKind(
    RestoreReport,
    sentences,
    Table(labels={"pages": gettext_lazy("Pages brought back"), "links": gettext_lazy("Links brought back")}).rows,
)
