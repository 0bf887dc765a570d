"""The whole of it on one machine: `make demo`."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from functools import partial
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.utils.text import slugify

from ingest import services
from ingest.fetching.run import start_fetch
from ingest.fetching.steps import start_step
from ingest.folder import LINKS, PAGES, QUERIES, SAMPLE, find_crawl
from ingest.kinds import registry
from ingest.management.commands.crawl_site import crawl_source
from ingest.models import Upload
from ingest.sources.outgoing import Rules
from linker.engine.params import MatchParams
from linker.errors import UserError
from linker.management.commands._cli import ProgressBar
from linker.models import Membership, Project, Role, Run, RunKind, RunStatus
from linker.models.run import IMPORTS
from linker.projects.create import create_project
from linker.runs import job_queue
from linker.runs.lifecycle import RunIsActive, start_run
from linker.runs.workers import WorkerPool

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from types import FrameType

    from django.contrib.auth.models import User

    from ingest.folder import Crawl

LOGIN, PASSWORD = "demo", "demo-anchorline"
LEVELS_UP = 4
STARTING_SECONDS, STOPPING_SECONDS = 60, 20


class Stopped(Exception):
    """A signal asked the demo to stop."""


class Command(BaseCommand):
    requires_system_checks: list[str] = []  # a demo is to start soon; its web server reads the pages' code anyway
    help = (
        "Imports a crawl into servers of its own, embeds and matches it, and serves it until Ctrl-C, which stops "
        "everything that was started. Run again, it starts in seconds and keeps the data."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--site",
            type=Path,
            default=SAMPLE,
            metavar="DIR",
            help="folder with Screaming Frog files (default: a sample)",
        )
        parser.add_argument(
            "--url",
            default="",
            metavar="ADDRESS",
            help="crawl this site instead; where it is in a network of yours, this command allows its address",
        )
        parser.add_argument(
            "--max-pages", type=int, default=2000, help="of a crawl: ask for so many addresses (default: %(default)s)"
        )
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--workers", type=int, default=2, help="worker processes (default: %(default)s)")
        parser.add_argument(
            "--play",
            action="store_true",
            help="of the sample: accept and release some links, and import two later crawls, so that the page “On the "
            "site” has something to show",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        _refuse_other_servers()
        _refuse_busy_port(options["port"])
        # Signals are noted and looked for in _pause(): an exception out of the blue could be swallowed by a library, or
        # interrupt the stopping. SIGINT too, since shells in scripts switch it off.
        self.is_stopping = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._note_signal)
        try:
            if options["url"]:
                self._demo_of_address(options["url"], options)
                return
            crawl = find_crawl(options["site"])
            if options["play"] and not crawl.later:
                raise UserError("Only the sample has later crawls to play: leave out --play or --site.")
            self._demo(crawl, options["port"], options["workers"], plays=options["play"])
        except UserError as error:
            raise CommandError(str(error)) from error
        except Stopped:
            self._say("\nStopped.")

    def _demo(self, crawl: Crawl, port: int, workers: int, *, plays: bool) -> None:
        user = self._start_servers()
        project = _project(crawl.slug, crawl.name, crawl.base_url, user)
        with WorkerPool(workers) as pool:
            self._prepare(crawl, project, user, pool)
            if plays:
                self._play(crawl, project, user, pool)
            self._serve(project, port, pool)

    def _demo_of_address(self, address: str, options: dict[str, Any]) -> None:
        base_url, host = allow_site(address)
        user = self._start_servers()
        project = _project(slugify(host.replace(".", "-").replace(":", "-"))[:50], host, base_url, user)
        with WorkerPool(options["workers"]) as pool:
            self._crawl(project, address, options["max_pages"], user, pool)
            self._embed_and_match(project, user, pool)
            self._serve(project, options["port"], pool)

    def _start_servers(self) -> User:
        self._say("Starting PostgreSQL and Redis ...")
        call_command("migrate", verbosity=0)
        self._say(_servers())
        return _demo_user()

    def _serve(self, project: Project, port: int, pool: WorkerPool) -> None:
        with _web(port) as web:
            self._wait_until_it_answers(web, port)
            self._say(
                f"\n  {project.name}: http://127.0.0.1:{port}/p/{project.slug}/\n"
                f"  Sign in as {LOGIN} with the password {PASSWORD}\n\n"
                "Ctrl-C stops everything; the data stay."
            )
            while web.poll() is None:
                pool.watch()
                self._pause(0.5)
            raise CommandError(f"The web server ended by itself, with the exit code {web.returncode}.")

    def _crawl(self, project: Project, address: str, max_pages: int, user: User, pool: WorkerPool) -> None:
        """Crawls the site and imports it, unless that was done before; a crawl that was stopped goes on."""
        source = crawl_source(project, address)
        if _last(project, RunKind.FETCH) is None:
            self._say(f"Crawling {address}: up to {max_pages:,} addresses, as robots.txt allows.")
            self._run(pool, lambda: start_fetch(source, user, steps=False, max_pages=max_pages))
        fetch = _last(project, RunKind.FETCH)
        assert fetch is not None
        for kind in (RunKind.IMPORT_PAGES, RunKind.IMPORT_LINKS):
            if _last(project, kind) is None:
                self._run(pool, partial(_start_step, fetch, kind))

    def _prepare(self, crawl: Crawl, project: Project, user: User, pool: WorkerPool) -> None:
        """Whatever has not been done yet, or was done before what it rests on."""
        if not _played(crawl, project):
            self._import_crawl(crawl, project, user, pool)
        if crawl.queries is not None:
            self._import(QUERIES, crawl.queries, project, user, pool)
        self._embed_and_match(project, user, pool)

    def _import_crawl(self, crawl: Crawl, project: Project, user: User, pool: WorkerPool) -> None:
        self._import(PAGES, crawl.pages, project, user, pool)
        if crawl.links is not None:
            self._import(LINKS, crawl.links, project, user, pool)
        else:
            self._say(f"{crawl.pages.parent} holds no all_inlinks.csv: links that are there already are not known.")

    def _embed_and_match(self, project: Project, user: User, pool: WorkerPool) -> None:
        if _is_due(project, RunKind.EMBED, RunKind.IMPORT_PAGES):
            self._run(pool, lambda: start_run(project, RunKind.EMBED, {}, user))
        if _is_due(project, RunKind.MATCH, *IMPORTS, RunKind.EMBED):
            self._run(pool, lambda: start_run(project, RunKind.MATCH, _match_params(project), user))

    def _play(self, crawl: Crawl, project: Project, user: User, pool: WorkerPool) -> None:
        """The life of links: before each later crawl some are decided on and released, and the crawl shows what became
        of them. Goes on where it was stopped."""
        for number in range(_played(crawl, project), len(crawl.later)):
            later = crawl.later[number]
            call_command("decide_links", project.slug, later.decisions, user=user.get_username(), stdout=self.stdout)
            self._import_crawl(later.crawl, project, user, pool)
            self._run(pool, lambda: start_run(project, RunKind.VERIFY, {}, user))
        self._embed_and_match(project, user, pool)

    def _import(self, kind: str, file: Path, project: Project, user: User, pool: WorkerPool) -> None:
        """Imports a file unless the newest import was of the same bytes. Where it cannot, older data will do."""
        last = _last(project, registry.get(kind).run_kind)
        if _is_of(last, file):
            return

        def start() -> Run:
            upload = services.register_file(project, kind, file, user)
            return services.start_import(project, upload, services.look_at_upload(project, upload), user)

        try:
            self._run(pool, start)
        except UserError as error:
            if last is None:
                raise
            self._say(f"{error}\nWhat was imported before is served.")

    def _run(self, pool: WorkerPool, start: Callable[[], Run]) -> None:
        """Starts a run, or finds the one that an earlier demo left, and watches it to its end."""
        try:
            run = start()
        except RunIsActive as active:
            run = active.run
        began, bar = time.monotonic(), ProgressBar()
        try:
            while run.is_active:
                pool.watch()
                self._pause(0.2)
                run.refresh_from_db()
                bar(run.done, run.total, run.stage or run.get_kind_display())
        finally:
            bar.close()
        if run.status != RunStatus.SUCCEEDED:
            raise UserError(run.error or f"{run} was {run.get_status_display().lower()}.")
        self._say(f"{run.get_kind_display()}: done in {time.monotonic() - began:.0f} s")

    def _wait_until_it_answers(self, web: subprocess.Popen[bytes], port: int) -> None:
        deadline = time.monotonic() + STARTING_SECONDS
        while web.poll() is None:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
                return
            if time.monotonic() > deadline:
                raise CommandError(f"The web server did not answer within {STARTING_SECONDS} s.")
            self._pause(0.1)

    def _pause(self, seconds: float) -> None:
        """Raises Stopped where a signal has asked for it."""
        time.sleep(seconds)
        if self.is_stopping:
            raise Stopped

    def _note_signal(self, number: int, frame: FrameType | None) -> None:
        self.is_stopping = True

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


# ---------------------------------------------------------------------------------------------------- conditions


def _refuse_other_servers() -> None:
    """The demo makes a login whose password is printed here: never on servers that others use."""
    if (
        settings.PRODUCTION
        or settings.DATABASES["default"]["ENGINE"] != "linker.embedded"
        or not settings.REDIS_IS_EMBEDDED
    ):
        raise CommandError(
            "The demo runs on PostgreSQL and Redis of its own: unset PRODUCTION, DATABASE_URL and REDIS_URL. For other "
            "servers, docs/install.md says how."
        )


def _refuse_busy_port(port: int) -> None:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            raise CommandError(
                f"Port {port} cannot be used ({error}). Stop what listens there, another demo perhaps, or choose "
                "another port: make demo PORT=8001"
            ) from error


def allow_site(address: str) -> tuple[str, str]:
    """The base and the host of a site that whoever runs this command may have crawled: its addresses are allowed to
    this process and its workers, even in a network of their own. Raises UserError for what is no such address."""
    Rules((ip_network("0.0.0.0/0"), ip_network("::/0"))).check_url(address)
    parts = urlsplit(address)
    host = parts.hostname or ""
    try:
        found = {str(sockaddr[0]) for *_, sockaddr in socket.getaddrinfo(host, parts.port, type=socket.SOCK_STREAM)}
    except OSError as error:
        raise UserError(f"{host} is not known to the name servers ({error}).") from None
    rules = Rules.in_force()
    own = tuple(ip_network(text) for text in sorted(found) if not rules.allows(ip_address(text)))
    settings.OUTGOING_ALLOW = (*rules.allowed, *own)
    os.environ["OUTGOING_ALLOW"] = ",".join(map(str, settings.OUTGOING_ALLOW))
    return f"{parts.scheme}://{parts.netloc}", parts.netloc


# ------------------------------------------------------------------------------------------------- rows it needs


def _servers() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version')")
        (postgres,) = cursor.fetchone()
    found = job_queue.server()
    return f"PostgreSQL {postgres} and {found.name} {found.version} ({found.path}) run."


def _demo_user() -> User:
    user, created = get_user_model().objects.get_or_create(
        username=LOGIN, defaults={"is_staff": True, "is_superuser": True}
    )
    if created:
        user.set_password(PASSWORD)
        user.save()
    return user


def _project(slug: str, name: str, base_url: str, user: User) -> Project:
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        project = create_project(slug=slug, name=name, base_url=base_url, manager=user)
    Membership.objects.get_or_create(project=project, user=user, defaults={"role": Role.MANAGER})
    return project


def _start_step(fetch: Run, kind: RunKind) -> Run:
    started = start_step(fetch, kind)
    if started is None:
        raise UserError("What was crawled is no longer there. Remove the demo's data with make clean-data.")
    return started


def _last(project: Project, kind: str) -> Run | None:
    return Run.objects.filter(project=project, kind=kind, status=RunStatus.SUCCEEDED).order_by("-pk").first()


def _is_of(last: Run | None, file: Path) -> bool:
    """Whether a run imported a file of the same bytes."""
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return last is not None and Upload.objects.filter(pk=last.params.get("upload", 0), sha256=digest).exists()


def _played(crawl: Crawl, project: Project) -> int:
    """How many later crawls were played: the newest import of links was of the last of them."""
    last = _last(project, registry.get(LINKS).run_kind)
    files = [later.crawl.links for later in crawl.later]
    return next((number + 1 for number, file in enumerate(files) if file is not None and _is_of(last, file)), 0)


def _is_due(project: Project, kind: RunKind, *rests_on: RunKind) -> bool:
    """Whether a run of the kind has yet to succeed on what the others have left."""
    last = _last(project, kind)
    others = filter(None, (_last(project, other) for other in rests_on))
    return last is None or any(_finished(other) > _finished(last) for other in others)


def _finished(run: Run) -> datetime:
    assert run.finished_at is not None
    return run.finished_at


def _match_params(project: Project) -> dict[str, Any]:
    """Up to the whole site, since a magazine's articles and a shop's products meet at the top of the tree."""
    return MatchParams(levels_up=LEVELS_UP, weights=project.formula_weights).to_dict()


# ------------------------------------------------------------------------------------------------------ processes


@contextlib.contextmanager
def _web(port: int) -> Iterator[subprocess.Popen[bytes]]:
    """gunicorn on the loopback address, in a session of its own so that Ctrl-C reaches the demo alone."""
    options = ("--bind", f"127.0.0.1:{port}", "--workers", "2", "--threads", "4", "--log-level", "warning")
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", *options, "--no-control-socket", "linker.wsgi"],
        cwd=settings.BASE_DIR,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOPPING_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
