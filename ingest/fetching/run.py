"""A fetch: from a source into a store, which the imports read."""

from __future__ import annotations

import time
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.translation import gettext as _

from ingest.fetching.faults import broken_addresses, find_faulty, forget_unlisted
from ingest.fetching.report import FetchReport
from ingest.kinds.project_pages import site_of
from ingest.models import SiteSource
from ingest.sources.connectors import registry
from ingest.sources.connectors.base import Fetching
from ingest.sources.fetched import source_of, store_path
from ingest.sources.outgoing import Rules
from ingest.sources.store import DONE, FetchStore
from linker.errors import UserError
from linker.models import Run, RunKind, RunStatus
from linker.operations.version import code_version
from linker.runs import lifecycle

if TYPE_CHECKING:
    from pathlib import Path

    from django.contrib.auth.models import AbstractBaseUser
    from django.db.models import QuerySet

    from linker.runs.lifecycle import Progress

KEPT = 2  # stores of each source, for conditional requests and for those who want to look


def start_fetch(
    source: SiteSource,
    user: AbstractBaseUser | None = None,
    *,
    steps: bool = True,
    to_queue: bool = True,
    **options: Any,
) -> Run:
    """Starts a fetch; `options` replace the source's for this time. Without `steps` nothing follows by itself: the
    caller starts it (ingest.fetching.steps.start_step). Without `to_queue` the caller does the work. Raises
    RunIsActive where the project has one under way, UserError where the source was removed or cannot be read."""
    if source.removed_at is not None:
        raise UserError(f"The source “{source}” was removed.")
    connector = registry.get(source.kind)
    connector.Options.of(source.options | options)
    params = {"source": source.pk, "options": source.options | options} | ({} if steps else {"steps": False})
    return lifecycle.start_run(source.project, RunKind.FETCH, params, user, to_queue=to_queue)


def can_go_on(fetch: Run) -> bool:
    """Whether a fetch was cancelled, and what it has fetched is still there and the newest of its source."""
    if fetch.status != RunStatus.CANCELLED or not store_path(fetch).is_file():
        return False
    later = Run.objects.filter(project=fetch.project_id, kind=RunKind.FETCH, params__source=fetch.params["source"])
    return not later.filter(pk__gt=fetch.pk).exists()


def go_on_with(fetch: Run, user: AbstractBaseUser | None = None) -> Run:
    """Starts a fetch that goes on where a cancelled one ended. Raises UserError where that cannot be gone on with,
    RunIsActive where the project has a fetch under way."""
    if not can_go_on(fetch):
        raise UserError(_("Run %(run)d cannot be gone on with. Fetch the source again.") % {"run": fetch.pk})
    return lifecycle.start_run(fetch.project, RunKind.FETCH, fetch.params | {"goes_on": fetch.pk}, user)


def fetch_again(fetch: Run, user: AbstractBaseUser | None) -> Run:
    """Starts a fetch that failed again, from its beginning. Raises UserError where its source was removed."""
    source = SiteSource.objects.filter(pk=fetch.params["source"], project=fetch.project_id, removed_at=None).first()
    if source is None:
        raise UserError(_("The source of run %(run)d was removed. Add it again.") % {"run": fetch.pk})
    params = {name: value for name, value in fetch.params.items() if name != "goes_on"}
    return lifecycle.start_run(fetch.project, RunKind.FETCH, params, user)


def run_fetch(run: Run, progress: Progress = lifecycle.no_progress) -> FetchReport:
    """The work of a fetch. May run twice, and then goes on where it was."""
    source = source_of(run)
    connector = registry.get(source.kind)
    started = time.monotonic()
    _take_over(run)
    with FetchStore(store_path(run)) as store:
        fetching = Fetching(
            source=source,
            site=site_of(run.project),
            store=store,
            earlier=_earlier(source, run),
            rules=Rules.in_force(),
            progress=progress,
            user_agent=f"Anchorline/{code_version()} (internal links; {settings.SITE_URL or source.address})",
            options=connector.Options.of(run.params["options"]),
        )
        forget_unlisted(store)
        connector.fetch(fetching)
        find_faulty(store, fetching.site, lists_all=connector.lists_all)
        if connector.lists_all:
            fetching.counts["broken"] = broken_addresses(store)
        report = _report(fetching, time.monotonic() - started)
        store.note("is_whole", store.is_whole)
        says_nothing = not report.pages and not (store.noted("texts_only") and store.counts().get(DONE))
    _forget_old(source, run)
    if says_nothing:
        raise UserError(
            f"{source.address}: no page could be read. {report.stopped_by or 'Check the address and what it answers.'}"
        )
    return report


def _take_over(run: Run) -> None:
    """Takes the store of the fetch that this one goes on with, the file of the pages last: it may be called again."""
    store = store_path(run)
    if "goes_on" not in run.params or store.exists():
        return
    earlier = store.with_name(f"{run.params['goes_on']}{store.suffix}")
    for ending in ("-wal", "-shm", ""):
        part = earlier.with_name(earlier.name + ending)
        if part.exists():
            part.rename(store.with_name(store.name + ending))


def _report(fetching: Fetching, seconds: float) -> FetchReport:
    store = fetching.store
    pages, links, unchanged, needy = store.connection.execute(
        "SELECT (SELECT count(*) FROM reading r JOIN page p ON p.id = r.page WHERE p.fault = ''), "
        "(SELECT count(*) FROM link), (SELECT count(*) FROM page WHERE unchanged AND fault = ''), "
        "(SELECT count(*) FROM reading WHERE needs_browser)"
    ).fetchone()
    known = {field.name for field in fields(FetchReport)}
    counted = {name: value for name, value in fetching.counts.items() if name in known}
    return FetchReport(
        source=fetching.source.name,
        pages=pages,
        links=links,
        unchanged=unchanged,
        need_browser=needy,
        seconds=round(seconds, 1),
        is_whole=store.is_whole,
        stopped_by=store.noted("stopped_by", ""),
        unread_sitemaps=tuple(store.noted("unread_sitemaps", ())),
        endless=tuple(store.noted("endless", ())),
        **counted,
    )


def fetches_of(source: SiteSource) -> QuerySet[Run]:
    """Every fetch of a source."""
    return Run.objects.filter(project=source.project_id, kind=RunKind.FETCH, params__source=source.pk)


def _earlier(source: SiteSource, run: Run) -> list[Path]:
    """The stores of the last fetches of the source that ended well and are still there, the newest first."""
    ended = fetches_of(source).filter(status=RunStatus.SUCCEEDED, pk__lt=run.pk).order_by("-pk")[:KEPT]
    return [path for path in map(store_path, ended) if path.is_file()]


def _forget_old(source: SiteSource, run: Run) -> None:
    """Removes the stores of earlier fetches but for the newest that ended well."""
    earlier = fetches_of(source).filter(pk__lt=run.pk)
    kept = set(earlier.filter(status=RunStatus.SUCCEEDED).order_by("-pk").values_list("pk", flat=True)[: KEPT - 1])
    for old in earlier.exclude(pk__in=kept).only("pk", "project_id"):
        path = store_path(old)
        for part in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            part.unlink(missing_ok=True)


def newest_store(source: SiteSource) -> Path | None:
    """What the newest fetch of a source that ended well has fetched; None where it is no longer there."""
    newest = fetches_of(source).filter(status=RunStatus.SUCCEEDED).order_by("-pk").first()
    return path if newest is not None and (path := store_path(newest)).is_file() else None
