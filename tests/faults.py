"""Faults injected into a running Anchorline, and what became of its work: `make faults`, in part by test_faults.py.

A web server, two workers, PostgreSQL and Redis of their own. Piece of work by piece of work (an import, an embedding, a
match, a release) a fault comes at a random moment; then nobody touches anything, and the work has to end as it did
without a fault: the same rows, none missing, none twice.

    python -m tests.faults [--repeat N] [--seed N] [--work match ...] [--fault "PostgreSQL restarts" ...]

prints a line a fault and the figures as JSON at the end; exit code 1 where anything was lost, doubled or stuck.
"""

from __future__ import annotations

import argparse
import csv
import http.client
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import redis

from tests.servers import ROOT, Servers, is_gone, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_SECONDS = 180
PAGES, EMBEDDED_PAGES, MATCHED_PAGES = 6_000, 30, 3_000


@dataclass
class Outcome:
    """One fault. `hit`: in the middle of the work. `seconds`: from the end of the fault to the end of the work."""

    work: str
    fault: str
    hit: bool
    seconds: float
    lost: int
    doubled: int
    ended: str


# ------------------------------------------------------------------------------------------------------ the system


class System:
    """The processes that a production server has, below one folder."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.log = (servers.var / "faults.log").open("w")
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port: int = listener.getsockname()[1]

    def start(self) -> None:
        self.start_pool()
        options = ["--bind", f"127.0.0.1:{self.port}", "--workers", "2", "--threads", "4", "--no-control-socket"]
        self.web = self._start("-m", "gunicorn", *options, "linker.wsgi")

    def start_pool(self) -> None:
        self.pool = self._start("manage.py", "run_workers", "--workers", "2")

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, *words],
            cwd=ROOT,
            env=self.servers.environment(),
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )

    def stop(self) -> None:
        for process in (self.pool, self.web):
            process.terminate()
        for process in (self.pool, self.web):
            try:
                process.wait(40)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.log.close()

    def workers(self) -> list[psutil.Process]:
        return psutil.Process(self.pool.pid).children()

    def jobs(self) -> list[psutil.Process]:
        """The processes of jobs: each leads a group of its own, which a worker's scheduler does not."""
        children = [child for worker in self.workers() for child in worker.children()]
        return [child for child in children if os.getpgid(child.pid) == child.pid]


# ---------------------------------------------------------------------------------------------------------- faults


def _restart(stop: Callable[[], None], start: Callable[[], None], away: float) -> None:
    stop()
    time.sleep(away)
    start()


def _kill(processes: list[psutil.Process], number: signal.Signals = signal.SIGKILL) -> None:
    for process in processes[:1]:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def _kill_pool(system: System, number: signal.Signals) -> None:
    family = psutil.Process(system.pool.pid).children(recursive=True)
    system.pool.send_signal(number)
    system.pool.wait(60)
    wait_for(lambda: all(is_gone(one.pid) for one in family), 30, "the pool's processes")
    system.start_pool()


def _forget(system: System) -> None:
    with redis.Redis.from_url(system.servers.redis_url) as client:
        client.flushall()


def faults(system: System, away: float) -> dict[str, Callable[[], None]]:
    """Each returns when it is over; `away` seconds is how long a server is gone or mute."""
    servers = system.servers

    def postgres(number: signal.Signals) -> Callable[[], None]:
        return lambda: _restart(lambda: servers.stop_postgres(number), servers.start_postgres, away)

    def store(number: signal.Signals) -> Callable[[], None]:
        return lambda: _restart(lambda: servers.stop_redis(number), servers.start_redis, away)

    return {
        "PostgreSQL restarts": postgres(signal.SIGINT),
        "PostgreSQL crashes": postgres(signal.SIGQUIT),
        "PostgreSQL is killed": postgres(signal.SIGKILL),
        "PostgreSQL is mute": lambda: servers.pause(servers.postgres, away),
        "Redis restarts": store(signal.SIGTERM),
        "Redis is killed": store(signal.SIGKILL),
        "Redis is mute": lambda: servers.pause(servers.redis, away),
        "Redis forgets": lambda: _forget(system),
        "a job is killed": lambda: _kill(system.jobs() or system.workers()),
        "a worker is killed": lambda: _kill(system.workers()),
        "a worker is stopped": lambda: _kill(system.workers(), signal.SIGTERM),
        "the pool is killed": lambda: _kill_pool(system, signal.SIGKILL),
        "the pool is stopped": lambda: _kill_pool(system, signal.SIGTERM),
        "the web server's process is killed": lambda: _kill(psutil.Process(system.web.pid).children()),
    }


# ------------------------------------------------------------------------------------------------------------ work


def steady(read: Callable[[], Any]) -> Any:
    """What `read` returns, once PostgreSQL is there for it."""
    from linker.operations import outages

    return outages.outlast(read)


class Work:
    """A kind of work. `start` begins it, `is_over` and `found` look at it; all of them outlast the faults."""

    name = ""

    def prepare(self) -> None:
        """What is there before the work, made without faults."""

    def start(self) -> None:
        raise NotImplementedError

    def is_over(self) -> bool:
        raise NotImplementedError

    def found(self) -> set[Any]:
        raise NotImplementedError

    def ended(self) -> str:
        return "done"


class RunWork(Work):
    """Work that is a run of the workers."""

    def launch(self) -> Any:
        raise NotImplementedError

    def start(self) -> None:
        from linker.runs.lifecycle import RunIsActive

        def launch() -> Any:
            try:
                return self.launch()
            except RunIsActive as active:  # the first try was committed, and its answer lost
                return active.run

        self.run = steady(launch)
        self.done = -1

    def is_over(self) -> bool:
        steady(self.run.refresh_from_db)
        return not self.run.is_active

    def ended(self) -> str:
        return f"{self.run.status} {self.run.error}".strip()


class ImportPages(RunWork):
    name = "import"

    def __init__(self, folder: Path) -> None:
        self.file = folder / "pages.csv"
        with self.file.open("w", newline="") as handle:
            write = csv.writer(handle).writerow
            write(["Address", "Status Code", "Title 1", "Meta Description 1"])
            for number in range(PAGES):
                write(
                    [
                        f"https://shop.example/t{number % 20}/{number}",
                        200,
                        f"Tent {number}",
                        "How to choose a tent. " * 20,
                    ]
                )

    def prepare(self) -> None:
        self.project = _project()
        from ingest import services

        self.upload = services.register_file(self.project, "pages", self.file, None)
        self.looked = services.look_at_upload(self.project, self.upload)

    def launch(self) -> Any:
        from ingest import services

        return services.start_import(self.project, self.upload, self.looked, None)

    def found(self) -> set[Any]:
        return set(steady(lambda: list(self.project.pages.values_list("canonical_url", "title"))))


class Embed(RunWork):
    name = "embedding"

    def __init__(self, folder: Path) -> None:
        self.file = folder / "few.csv"
        with self.file.open("w", newline="") as handle:
            write = csv.writer(handle).writerow
            write(["Address", "Status Code", "Title 1", "Meta Description 1"])
            for number in range(EMBEDDED_PAGES):
                write([f"https://shop.example/{number}", 200, f"Stove {number}", f"Stove {number} boils water. " * 30])

    def prepare(self) -> None:
        from ingest import services

        self.project = _project(model_name="all-MiniLM-L6-v2")
        services.import_file(self.project, "pages", self.file)

    def launch(self) -> Any:
        from linker.models import RunKind
        from linker.runs.lifecycle import start_run

        return start_run(self.project, RunKind.EMBED, {})

    def found(self) -> set[Any]:
        from linker.models import PageEmbedding

        rows = PageEmbedding.objects.filter(page__project=self.project).values_list(
            "page__canonical_url", "model__name"
        )
        return set(steady(lambda: list(rows)))


class Match(RunWork):
    name = "match"

    def __init__(self, folder: Path) -> None:
        from django.db import connection

        from tests.linker.runs.test_lifecycle import site

        self.project = _project()
        site(self.project, MATCHED_PAGES)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")

    def launch(self) -> Any:
        from linker.engine.params import MatchParams
        from linker.models import RunKind
        from linker.runs.lifecycle import start_run

        params = MatchParams(
            ranking="cosine", threshold=0.2, levels_up=1, pool=10,
            inline_per_donor=0, related_per_donor=5, per_target=0, target_share=1.0,
        )  # fmt: skip
        return start_run(self.project, RunKind.MATCH, params.to_dict())

    def found(self) -> set[Any]:
        rows = self.project.edges.filter(run=self.run).values_list("source_id", "target_id", "score")
        return set(steady(lambda: list(rows)))


class Release(Work):
    """Accepted links leave through the web server; whoever gets no answer asks again."""

    name = "release"

    def __init__(self, folder: Path, port: int) -> None:
        self.port, self.match = port, Match(folder)

    def prepare(self) -> None:
        from django.conf import settings
        from django.contrib.sessions.backends.db import SessionStore
        from django.db import connection

        from linker.models import CandidateEdge
        from tests.factories import make_member

        if not self.match.project.edges.exists():
            self.match.start()
            wait_for(self.match.is_over, LONGEST_SECONDS, "the match before the releases")
        self.project = self.match.project
        with connection.cursor() as cursor:  # as if nothing had ever left
            cursor.execute("SET session_replication_role = replica")
            cursor.execute("TRUNCATE review_release CASCADE")
            CandidateEdge.objects.filter(project=self.project).update(status="accepted", reviewed=True)
            cursor.execute("SET session_replication_role = DEFAULT")
        user = make_member(self.project, "editor", username=f"editor{time.monotonic_ns()}")
        session = SessionStore()
        from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

        session[SESSION_KEY], session[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
        session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
        session.save()
        self.cookie = f"sessionid={session.session_key}; csrftoken={'a' * 32}"
        self.over, self.answers = False, []

    def start(self) -> None:
        threading.Thread(target=self._ask_until_it_left, daemon=True).start()

    def _ask_until_it_left(self) -> None:
        headers = {
            "Cookie": self.cookie,
            "X-CSRFToken": "a" * 32,
            "Content-Type": "application/x-www-form-urlencoded",
        }
        deadline = time.monotonic() + LONGEST_SECONDS
        while not self.over and time.monotonic() < deadline:
            with suppress(OSError, http.client.HTTPException):
                asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
                asked.request("POST", f"/p/{self.project.slug}/export/", "format=full", headers)
                self.answers.append(asked.getresponse().status)
                # 409: there is nothing left, so an earlier try whose answer was lost has released everything.
                self.over = self.answers[-1] in {302, 409}
            time.sleep(0.1)

    def is_over(self) -> bool:
        from linker.models import Run

        # Many links leave by a run of the workers, which the answer does not wait for.
        return self.over and not steady(Run.objects.filter(project=self.project, finished_at=None).exists)

    def found(self) -> set[Any]:
        """Links as (link, how often it left): once each."""
        from collections import Counter

        from linker.models import CandidateEdge
        from review.models import Release as Made
        from review.releases import create

        def read() -> set[Any]:
            times: Counter[tuple[str, ...]] = Counter()
            for made in Made.objects.filter(project=self.project):
                text = b"".join(create.release_pieces(made)).decode("utf-8-sig")
                times.update(tuple(row[:4]) for row in list(csv.reader(text.splitlines()))[1:])
            left = CandidateEdge.objects.filter(project=self.project, status="exported").count()
            return {*times.items(), ("links marked as gone", left)}

        found: set[Any] = steady(read)
        return found

    def ended(self) -> str:
        return "done" if self.over else f"no release: {self.answers}"


def _project(**fields: Any) -> Any:
    from tests.factories import make_project

    return make_project(slug=f"site{time.monotonic_ns()}", base_url="https://shop.example", **fields)


# ------------------------------------------------------------------------------------------------------- the trial


class Trial:
    """Runs pieces of work with and without faults."""

    def __init__(self, system: System, seed: int) -> None:
        self.system, self.random = system, random.Random(seed)
        self.expected: dict[str, set[Any]] = {}
        self.seconds: dict[str, float] = {}

    def without_fault(self, work: Work) -> None:
        for _ in range(2):  # the first time is slower: the models and the code are read
            work.prepare()
            began = time.monotonic()
            work.start()
            wait_for(work.is_over, LONGEST_SECONDS, work.name)
        self.seconds[work.name], self.expected[work.name] = time.monotonic() - began, work.found()
        assert work.ended() in {"done", "succeeded"}, work.ended()
        assert len(self.expected[work.name]) > 20, "there is something to lose"

    def with_fault(self, work: Work, fault: str) -> Outcome:
        work.prepare()
        work.start()
        time.sleep(self.random.uniform(0, 0.9) * self.seconds[work.name])
        hit = not work.is_over()
        faults(self.system, self.random.uniform(0.5, 4))[fault]()
        try:
            seconds = wait_for(work.is_over, LONGEST_SECONDS, work.name)
        except TimeoutError as error:
            return Outcome(work.name, fault, hit, LONGEST_SECONDS, len(self.expected[work.name]), 0, f"stuck: {error}")
        expected, found = self.expected[work.name], work.found()
        self._settle()
        lost, doubled = len(expected - found), len(found - expected)
        return Outcome(work.name, fault, hit, round(seconds, 1), lost, doubled, work.ended())

    def _settle(self) -> None:
        """The next fault meets a whole system."""
        wait_for(lambda: len(self.system.workers()) == 2, 60, "two workers")


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=3, help="times that each fault meets each piece of work")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", nargs="*", default=["import", "embedding", "match", "release"])
    parser.add_argument("--fault", nargs="*")
    options = parser.parse_args(words)
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["ANCHORLINE_EMBEDDED_PG_CONF"] = "shared_buffers=64MB"
    with tempfile.TemporaryDirectory(prefix="al-") as folder, Servers(Path(folder)) as servers:
        os.environ.update(servers.environment(DJANGO_SETTINGS_MODULE="linker.settings"))
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        system = System(servers)
        system.start()
        try:
            outcomes, without = _try_all(system, options)
        finally:
            system.stop()
        tracebacks = (servers.var / "faults.log").read_text().count("Traceback (most recent call last)")
        from django.db import connection

        connection.close()
    return _tell(outcomes, without, tracebacks)


def _try_all(system: System, options: argparse.Namespace) -> tuple[list[Outcome], dict[str, float]]:
    trial, folder = Trial(system, options.seed), system.servers.var
    makers: dict[str, Callable[[], Work]] = {
        "import": lambda: ImportPages(folder),
        "embedding": lambda: Embed(folder),
        "match": lambda: Match(folder),
        "release": lambda: Release(folder, system.port),
    }
    chosen = [makers[name]() for name in options.work]
    for work in chosen:
        trial.without_fault(work)
        print(f"{work.name}: {trial.seconds[work.name]:.1f} s without a fault", flush=True)
    outcomes = []
    for number in range(options.repeat):
        for fault in options.fault or faults(system, 0):
            for work in chosen:
                outcome = trial.with_fault(work, fault)
                outcomes.append(outcome)
                print(f"{number + 1} {' '.join(f'{k}={v}' for k, v in asdict(outcome).items())}", flush=True)
    return outcomes, trial.seconds


def _tell(outcomes: list[Outcome], without: dict[str, float], tracebacks: int) -> int:
    bad = [one for one in outcomes if one.lost or one.doubled or one.ended not in {"done", "succeeded"}]
    figures = {
        "faults": len(outcomes),
        "in the middle of the work": sum(one.hit for one in outcomes),
        "lost": sum(one.lost for one in outcomes),
        "doubled": sum(one.doubled for one in outcomes),
        "not ended well": len(bad),
        "tracebacks in the logs": tracebacks,
        "seconds without a fault": {name: round(seconds, 1) for name, seconds in without.items()},
        "seconds from the end of a fault in the middle to the end of the work: median, longest": {
            fault: [statistics.median(seconds), max(seconds)]
            for fault in dict.fromkeys(one.fault for one in outcomes)
            if (seconds := [one.seconds for one in outcomes if one.fault == fault and one.hit])
        },
    }
    print(json.dumps(figures, indent=1))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
