"""A site is crawled by a process of its own; this one shows how far it has come and stops it."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from ingest.models import SourceKind, SourcePage
from ingest.sources.connectors.base import Connector
from ingest.sources.connectors.crawler.frontier import KNOWN, prepare
from ingest.sources.connectors.crawler.options import MAX_PAGE, Options
from ingest.sources.connectors.crawler.plan import Plan
from ingest.sources.outgoing import OutgoingSession, read_bytes, why_unread
from linker.errors import UserError
from linker.models import Page, PageEvent, PageEventKind, PageStatus
from linker.models.querysets import LIVE_STATUS, PRESENT
from linker.wording import number

if TYPE_CHECKING:
    from ingest.models import SiteSource
    from ingest.sources.connectors.base import Fetching
    from ingest.sources.outgoing import Rules

WAIT_SECONDS, STOP_SECONDS = 1.0, 5.0
KILLED_AT_MOST = 3
MAX_CORES = 8
ASKED_ON = timedelta(days=30)  # for which a page that was removed is asked for
LAST_WORDS = 2000  # bytes of what a process wrote before it ended


class Crawler(Connector):
    kind = SourceKind.CRAWL.value
    Options = Options

    def fetch(self, fetching: Fetching) -> None:
        if fetching.options.texts_only:
            _seed_pages_without_text(fetching)
        plan = self.plan(fetching)
        if plan.follows:
            _note_known_pages(fetching)
        _watch(fetching, plan)
        fetching.counts.update(fetching.store.noted("counts", {}))

    def plan(self, fetching: Fetching) -> Plan:
        """What the process is to do."""
        return plan_of(fetching)

    def check(self, source: SiteSource, rules: Rules, secret: str = "") -> str:
        """Asks for the home page."""
        with OutgoingSession(rules, "Anchorline") as session:
            try:
                answer = session.get(source.address, stream=True)
                size = len(read_bytes(answer, MAX_PAGE))
            except OSError as error:  # which requests' errors are
                raise UserError(why_unread(source.address, error, rules)) from None
        if answer.status_code >= 400:
            raise UserError(
                _("%(address)s answers with the error %(code)s.")
                % {"address": source.address, "code": answer.status_code}
            )
        kind = answer.headers.get("Content-Type", "").partition(";")[0]
        if kind != "text/html":
            raise UserError(
                _("%(address)s answers with the type “%(kind)s”, which is no page.")
                % {"address": source.address, "kind": kind or "–"}
            )
        return _("%(address)s answers with a page of %(size)s bytes.") % {"address": answer.url, "size": number(size)}


def plan_of(fetching: Fetching) -> Plan:
    site = fetching.site
    return Plan(
        store=str(fetching.store.path),
        previous=str(fetching.previous) if fetching.previous is not None else "",
        address=fetching.source.address,
        base_url=site.base_url,
        strip_slash=site.strip_slash,
        strip_www=site.strip_www,
        allowed=tuple(map(str, fetching.rules.allowed)),
        ca_file=fetching.rules.ca_file,
        user_agent=fetching.user_agent,
        parent=os.getpid(),
        cores=min(MAX_CORES, os.cpu_count() or 1),
        options=asdict(fetching.options),
    )


def _seed_pages_without_text(fetching: Fetching) -> None:
    """Puts the project's pages without text into an empty store."""
    store = fetching.store
    if store.noted("texts_only"):
        return
    pages = fetching.source.project.pages.filter(PRESENT, body="").order_by("pk")
    with store.transaction() as rows:
        rows.executemany(
            "INSERT OR IGNORE INTO page (key, url, depth, origin) VALUES (?, ?, 0, 'project')",
            pages.values_list("canonical_url", "url").iterator(),
        )
        store.note("texts_only", True)


def _note_known_pages(fetching: Fetching) -> None:
    """Tells the crawl which pages the source holds, so that those are asked for that nothing leads to any more; those
    that were removed for a while too, since what comes back may be a redirect; and those that an event alone knows."""
    store, source = fetching.store, fetching.source
    if store.noted("known_pages"):
        return
    lately = Q(status=PageStatus.REMOVED, state_since__gte=timezone.now() - ASKED_ON)
    held = SourcePage.objects.filter(source=source).values("page")
    told = PageEvent.objects.filter(project=source.project, kind=PageEventKind.CREATED).values("page")
    known = (  # apart, since of the two in one query PostgreSQL would look for each page in both lists
        Page.objects.filter(PRESENT & (LIVE_STATUS | lately), pk__in=held),
        Page.objects.filter(PRESENT & LIVE_STATUS, pk__in=told, title="", body=""),
    )
    prepare(store)
    with store.transaction() as rows:
        for pages in known:
            rows.executemany(
                f"INSERT OR IGNORE INTO {KNOWN} (key, url) VALUES (?, ?)",
                pages.order_by("pk").values_list("canonical_url", "url").iterator(),
            )
        store.note("known_pages", True)


def _watch(fetching: Fetching, plan: Plan) -> None:
    """Runs the process to its end; one that is killed, as for want of memory, is begun again and goes on where it was.
    Raises what `progress` raises, and UserError where the process cannot go on."""
    for _time in range(KILLED_AT_MOST):
        if _comes_to_its_end(fetching, plan):
            return
    raise UserError(
        _("The crawler was killed %(times)s times: the machine may lack memory. What it has fetched is kept.")
        % {"times": KILLED_AT_MOST}
    )


def _comes_to_its_end(fetching: Fetching, plan: Plan) -> bool:
    """Runs the process once; False where it was killed. Raises as _watch does."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "ingest.sources.connectors.crawler.process"],
            cwd=settings.BASE_DIR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        try:
            with contextlib.suppress(BrokenPipeError), process.stdin as told:  # type: ignore[union-attr]
                told.write(plan.to_json().encode())
            fault = _follow(fetching, process)
        finally:
            _end(process)
        if fault:
            raise UserError(fault)
        if process.returncode < 0:
            return False
        if process.returncode:
            errors.seek(0, os.SEEK_END)
            errors.seek(max(0, errors.tell() - LAST_WORDS))
            last = errors.read().decode("utf-8", "replace").strip().splitlines()
            raise RuntimeError(f"the crawler ended with {process.returncode}: {' | '.join(last[-3:])}")
        return True


def _follow(fetching: Fetching, process: subprocess.Popen[bytes]) -> str:
    """Passes on what the process tells, until it closes its output. Returns its error."""
    assert process.stdout is not None
    fault, at, buffer = "", (0, 0, "Starting the crawler"), b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if selector.select(WAIT_SECONDS):
                part = os.read(process.stdout.fileno(), 65536)
                if not part:
                    return fault
                *lines, buffer = (buffer + part).split(b"\n")
                for said in map(_said, lines):
                    fault = said.get("error", fault)
                    if "done" in said:
                        at = (int(said["done"]), int(said["total"]), str(said["stage"]))
            fetching.progress(*at)


def _said(line: bytes) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        found = json.loads(line)
        if isinstance(found, dict):
            return found
    return {}


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None and process.stdout is not None and not process.stdout.closed:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()
