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

from tests import migrated

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
TOPICS = ("tents", "boots", "stoves", "jackets")


@pytest.fixture
def var() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="al-") as folder:
        yield Path(folder)


@pytest.fixture
def site(tmp_path) -> Path:
    _write_pages(tmp_path, 3)
    return tmp_path


def _write_pages(folder: Path, parts: int) -> None:
    """The crawl holds so many pages of each topic."""
    rows = [
        f"https://shop.example/{topic}/{number},text/html,200,How to choose {topic} part {number},"
        f"Advice on {topic} for hikers: what to look for when you buy {topic} and how to care for them."
        for topic in TOPICS
        for number in range(parts)
    ]
    pages = "\n".join(["Address,Content Type,Status Code,Title 1,Meta Description 1", *rows]) + "\n"
    (folder / "internal_html.csv.gz").write_bytes(gzip.compress(pages.encode()))


def _write_links(folder: Path) -> None:
    (folder / "all_inlinks.csv").write_text(
        "Type,Source,Destination,Anchor,Link Position\n"
        "Hyperlink,https://shop.example/tents/0,https://shop.example/tents/1,tents,Content\n"
    )


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


def _stop(demo: Demo, var: Path, number: signal.Signals = signal.SIGINT) -> None:
    """Stops it, and sees that nothing it started is left."""
    family, servers = demo.family(), _servers(var)
    assert len(servers) >= 2, "PostgreSQL and Redis"
    assert demo.stop(number) == 0
    assert _ended(family)
    assert _ended(servers)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_demo_imports_matches_serves_and_stops_everything_it_started(var, site):
    migrated.copy_to(var)
    _write_links(site)
    with _demo(var, site) as whole:
        whole.read_until("Ctrl-C stops everything")
        for step in ("Import pages", "Import links", "Match"):
            assert f"{step}: done" in whole.text
        assert "Sign in" in whole.get("/login/")
        assert '"database": "ok"' in whole.get("/healthz")
        assert len(whole.family()) >= 3, "gunicorn, its processes and a worker"
        _stop(whole, var)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_demo_serves_goes_on_where_it_was_stopped_does_nothing_twice_takes_a_new_crawl_and_outlives_a_shrunken_one(
    var, site
):
    with _demo(var, site) as stopped:
        stopped.read_until("Import pages: done")
        _stop(stopped, var)

    _write_links(site)
    with _demo(var, site) as whole:
        whole.read_until("Ctrl-C stops everything")
        assert "Import pages" not in whole.text
        for step in ("Import links", "Match"):  # embedding may have been finished while the demo stopped
            assert f"{step}: done" in whole.text
        assert "/p/shop-example/" in whole.text
        _stop(whole, var)

    with _demo(var, site) as again:
        again.read_until("Ctrl-C stops everything")
        assert "done" not in again.text
        _stop(again, var, signal.SIGTERM)

    _write_pages(site, 6)
    with _demo(var, site) as stopped:
        stopped.read_until("Import pages: done")
        _stop(stopped, var)
    with _demo(var, site) as renewed:
        renewed.read_until("Ctrl-C stops everything")
        assert "Import pages" not in renewed.text
        assert "Match: done" in renewed.text
        _stop(renewed, var)

    _write_pages(site, 2)
    with _demo(var, site) as shrunken:
        shrunken.read_until("Ctrl-C stops everything")
        assert "8 pages where the project has 24" in shrunken.text
        assert "What was imported before is served" in shrunken.text
        assert "done" not in shrunken.text
        assert "Sign in" in shrunken.get("/login/")
        _stop(shrunken, var)


def _refusal(site: Path, port: int, **environment: str) -> str:
    ended = subprocess.run(
        _command(site, port), cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1
    return ended.stderr


@pytest.mark.nightly
def test_a_port_in_use_is_said_before_anything_starts(site):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        assert f"Port {port} cannot be used" in _refusal(site, port)


@pytest.mark.nightly
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
