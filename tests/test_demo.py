"""`make demo` on a site of one's own: it serves, stops everything it started, and does nothing twice."""

from __future__ import annotations

import gzip
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
TOPICS = ("tents", "boots", "stoves", "jackets")


@pytest.fixture(scope="module")
def var() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="al-") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    rows = [
        f"https://shop.example/{topic}/{number},text/html,200,How to choose {topic} part {number},"
        f"Advice on {topic} for hikers: what to look for when you buy {topic} and how to care for them."
        for topic in TOPICS
        for number in range(3)
    ]
    pages = "\n".join(["Address,Content Type,Status Code,Title 1,Meta Description 1", *rows]) + "\n"
    (folder / "internal_html.csv.gz").write_bytes(gzip.compress(pages.encode()))
    (folder / "all_inlinks.csv").write_text(
        "Type,Source,Destination,Anchor,Link Position\n"
        "Hyperlink,https://shop.example/tents/0,https://shop.example/tents/1,tents,Content\n"
    )
    return folder


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _command(site: Path, port: int) -> list[str]:
    return [sys.executable, "manage.py", "demo", "--site", str(site), "--port", str(port), "--workers", "1"]


class Demo:
    """A demo that is being served; `text` is what it has printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.text = process, ""

    def read_until(self, mark: str) -> None:
        assert self.process.stdout is not None
        while mark not in self.text:
            line = self.process.stdout.readline()
            assert line, f"the demo ended before it said “{mark}”:\n{self.text}"
            self.text += line

    def get(self, path: str) -> str:
        address = re.search(r"http://127\.0\.0\.1:\d+", self.text)
        assert address is not None
        with urllib.request.urlopen(address[0] + path, timeout=20) as answer:  # noqa: S310
            return answer.read().decode()

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def stop(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


@contextmanager
def _demo(var: Path, site: Path) -> Iterator[Demo]:
    process = subprocess.Popen(
        _command(site, _free_port()),
        cwd=ROOT,
        env=os.environ | {"ANCHORLINE_VAR": str(var), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield Demo(process)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(60)
        assert process.stdout is not None
        process.stdout.close()


def _servers(var: Path) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["name", "cmdline"])
        if process.info["name"] in {"postgres", "redis-server"} and str(var) in " ".join(process.info["cmdline"] or [])
    ]


def _ended(processes: list[psutil.Process]) -> bool:
    deadline = time.monotonic() + 10
    while any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.slow
def test_the_demo_serves_stops_all_it_started_and_does_nothing_twice(var, site):
    with _demo(var, site) as first:
        first.read_until("Ctrl-C stops everything")
        for step in ("Import pages", "Import links", "Embed pages", "Match"):
            assert f"{step}: done" in first.text
        assert "/p/shop-example/" in first.text
        assert "Sign in" in first.get("/login/")
        assert '"database": "ok"' in first.get("/healthz")
        family, servers = first.family(), _servers(var)
        assert len(family) >= 3, "gunicorn, its processes and a worker"
        assert len(servers) >= 2, "PostgreSQL and Redis"
        assert first.stop(signal.SIGINT) == 0
    assert _ended(family)
    assert _ended(servers)

    with _demo(var, site) as again:
        again.read_until("Ctrl-C stops everything")
        assert "done" not in again.text
        family, servers = again.family(), _servers(var)
        assert again.stop(signal.SIGTERM) == 0
    assert _ended(family)
    assert _ended(servers)


@pytest.mark.slow
def test_a_demo_stopped_in_the_middle_leaves_nothing_and_goes_on_the_next_time(site, tmp_path):
    with tempfile.TemporaryDirectory(prefix="al-") as folder:
        var = Path(folder)
        with _demo(var, site) as stopped:
            stopped.read_until("Import pages: done")
            family, servers = stopped.family(), _servers(var)
            assert stopped.stop(signal.SIGINT) == 0
        assert _ended(family)
        assert _ended(servers)
        with _demo(var, site) as again:
            again.read_until("Ctrl-C stops everything")
            assert "Import pages" not in again.text
            assert "Match: done" in again.text
            again.stop(signal.SIGINT)


def _write_pages(folder: Path, *parts: int) -> None:
    rows = [
        f"https://tall.example/{t}/{n},200,How to choose {t} part {n},Advice on {t}." for t in TOPICS for n in parts
    ]
    (folder / "internal_html.csv").write_text(
        "\n".join(["Address,Status Code,Title 1,Meta Description 1", *rows]) + "\n"
    )


@pytest.mark.slow
def test_a_demo_stopped_after_a_new_import_embeds_and_matches_it_the_next_time_and_outlives_a_shrunken_crawl(tmp_path):
    _write_pages(tmp_path, *range(5))
    with tempfile.TemporaryDirectory(prefix="al-") as folder:
        var = Path(folder)
        with _demo(var, tmp_path) as first:
            first.read_until("Ctrl-C stops everything")
            first.stop(signal.SIGINT)
        _write_pages(tmp_path, *range(6))
        with _demo(var, tmp_path) as stopped:
            stopped.read_until("Import pages: done")
            stopped.stop(signal.SIGINT)
        with _demo(var, tmp_path) as again:
            again.read_until("Ctrl-C stops everything")
            assert "Import pages" not in again.text
            assert "Match: done" in again.text  # embedding may have been finished while the demo stopped
            again.stop(signal.SIGINT)
        _write_pages(tmp_path, 0, 1)
        with _demo(var, tmp_path) as shrunken:
            shrunken.read_until("Ctrl-C stops everything")
            assert "8 pages where the project has 24" in shrunken.text
            assert "What was imported before is served" in shrunken.text
            assert "done" not in shrunken.text
            assert "Sign in" in shrunken.get("/login/")
            shrunken.stop(signal.SIGINT)


def _refusal(site: Path, port: int, **environment: str) -> str:
    ended = subprocess.run(
        _command(site, port), cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1
    return ended.stderr


def test_a_port_in_use_is_said_before_anything_starts(site):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        assert f"Port {port} cannot be used" in _refusal(site, port)


@pytest.mark.parametrize(
    "environment",
    [
        {"DATABASE_URL": "postgresql://localhost/real"},
        {"REDIS_URL": "redis://localhost"},
        {"PRODUCTION": "1", "SECRET_KEY": "0123456789abcdef" * 4},
    ],
    ids=lambda environment: next(iter(environment)),
)
def test_the_demo_and_its_known_password_keep_away_from_servers_that_others_use(site, environment):
    assert "PostgreSQL and Redis of its own" in _refusal(site, _free_port(), **environment)
