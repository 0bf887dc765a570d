"""A PostgreSQL and a Redis of a test's own, to be stopped, killed, paused and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import psutil
import redis

if TYPE_CHECKING:
    from typing import Any

ROOT = Path(__file__).resolve().parent.parent

# Starts what it is told to, line by line, and stops everything when its standard input ends.
KEEPER = """
import json, sys
from pathlib import Path
from linker import embedded
var = Path(sys.argv[1])
for line in sys.stdin:
    if line.strip() == "postgres":
        address = embedded.start_postgres(var)
        print(json.dumps([address.host, address.port]), flush=True)
    else:
        print(json.dumps([str(embedded.start_redis(var)), 0]), flush=True)
"""


def wait_for(holds: Any, seconds: float, what: str = "it") -> float:
    """Seconds until `holds()` is true. Raises TimeoutError after `seconds`."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > seconds:
            raise TimeoutError(f"{what} took more than {seconds} s")
        time.sleep(0.05)
    return time.monotonic() - began


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


class Servers:
    """Servers below `var`, whose path must be short. Use as a context manager."""

    def __init__(self, var: Path) -> None:
        self.var = var

    def __enter__(self) -> Servers:
        environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
        self.keeper = subprocess.Popen(
            [sys.executable, "-c", KEEPER, str(self.var)],
            cwd=ROOT,
            env=environment | {"ANCHORLINE_VAR": str(self.var)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.start_postgres()
        self.start_redis()
        return self

    def __exit__(self, *rest: object) -> None:
        self.start_postgres()  # whoever was killed or paused has to answer in order to be stopped
        self.start_redis()
        self.keeper.communicate(timeout=60)

    def _tell(self, name: str) -> list[Any]:
        assert self.keeper.stdin is not None
        assert self.keeper.stdout is not None
        self.keeper.stdin.write(name + "\n")
        self.keeper.stdin.flush()
        answer: list[Any] = json.loads(self.keeper.stdout.readline())
        return answer

    def start_postgres(self) -> None:
        host, port = self._tell("postgres")
        self.database_url = f"postgresql://postgres@{quote(host, safe='')}:{port}/anchorline"
        self.postgres = psutil.Process(
            int((self.var / "postgres" / "data" / "postmaster.pid").read_text().splitlines()[0])
        )

    def start_redis(self) -> None:
        socket, _ = self._tell("redis")
        self.redis_url = f"unix://{socket}"
        with redis.Redis.from_url(self.redis_url) as client:
            self.redis = psutil.Process(client.info()["process_id"])

    def stop_postgres(self, number: signal.Signals = signal.SIGINT) -> None:
        """SIGINT: as an administrator restarts it. SIGQUIT: as after a crash. SIGKILL: the machine's doing."""
        family = [self.postgres, *self.postgres.children(recursive=True)]
        self.postgres.send_signal(number)
        wait_for(lambda: all(is_gone(one.pid) for one in family), 60, "stopping PostgreSQL")

    def stop_redis(self, number: signal.Signals = signal.SIGTERM) -> None:
        self.redis.send_signal(number)
        wait_for(lambda: is_gone(self.redis.pid), 60, "stopping Redis")

    def pause(self, server: psutil.Process, seconds: float) -> None:
        """As a network that swallows everything: connections stay and nothing answers."""
        family = [server, *server.children(recursive=True)]
        for one in family:
            one.suspend()
        time.sleep(seconds)
        for one in reversed(family):
            one.resume()

    def environment(self, **more: str) -> dict[str, str]:
        return os.environ | {
            "ANCHORLINE_VAR": str(self.var),
            "UPLOAD_ROOT": str(self.var / "uploads"),
            "DATABASE_URL": self.database_url,
            "REDIS_URL": self.redis_url,
            "SWEEP_SECONDS": "1",
            **more,
        }

    def manage(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )
