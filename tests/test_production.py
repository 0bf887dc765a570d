"""Production serves with no key that others know and with no debug pages, by whichever door it is started."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
KNOWN = "development-only-and-not-secret-" + "0" * 32

DOORS = {
    "gunicorn": ["-m", "gunicorn", "--bind", "127.0.0.1:0", "--no-control-socket", "linker.wsgi"],
    "gunicorn, preloaded": ["-m", "gunicorn", "--preload", "-b", "127.0.0.1:0", "--no-control-socket", "linker.wsgi"],
    "any WSGI server": ["-c", "from linker.wsgi import application"],
    "any ASGI server": ["-c", "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'linker.settings'; "
                        "from django.core.asgi import get_asgi_application; get_asgi_application()"],
    "manage.py runserver": ["manage.py", "runserver", "--noreload", "127.0.0.1:0"],
    "manage.py run_workers": ["manage.py", "run_workers"],
    "a worker": ["manage.py", "run_workers", "--single"],
    "rq's own worker": ["manage.py", "rqworker"],
    "a script": ["-c", "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'linker.settings'; django.setup()"],
}  # fmt: skip
REFUSED = {
    "no key": {},
    "the key in the repository": {"SECRET_KEY": KNOWN},
    "an empty key": {"SECRET_KEY": ""},
    "a short key": {"SECRET_KEY": "build"},
    "a key of one letter": {"SECRET_KEY": "x" * 60},
    "debug pages": {"SECRET_KEY": secrets.token_urlsafe(50), "DEBUG": "1"},
}


def start(door: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *DOORS[door]],
        cwd=ROOT,
        env=os.environ | {"PRODUCTION": "1"} | environment,
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.nightly
@pytest.mark.parametrize("door", DOORS)
def test_no_door_opens_without_a_key_of_ones_own(door):
    ended = start(door)
    assert ended.returncode != 0
    assert "SECRET_KEY must be a long random string" in ended.stderr


@pytest.mark.sample(2)
@pytest.mark.parametrize("what", REFUSED)
def test_gunicorn_refuses(what):
    ended = start("gunicorn", **REFUSED[what])
    assert ended.returncode != 0
    assert ("SECRET_KEY must be" if "key" in what else "DEBUG=1 shows") in ended.stderr
    assert "Listening at" not in ended.stdout


@pytest.mark.nightly
@pytest.mark.parametrize("what", REFUSED)
def test_a_command_refuses_in_one_sentence(what):
    ended = start("manage.py run_workers", **REFUSED[what])
    assert ended.returncode == 1
    assert ended.stderr.startswith("Anchorline cannot start: ")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.nightly
def test_gunicorn_serves_with_a_key_of_ones_own():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    environment = {"PRODUCTION": "1", "SECRET_KEY": secrets.token_urlsafe(50), "REDIS_URL": "redis://127.0.0.1:1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--no-control-socket", "linker.wsgi"],
        cwd=ROOT,
        env=os.environ | environment | {"DATABASE_URL": "postgresql://me:word@127.0.0.1:1/none"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert _status(port) == 503, "it answers, and says that its servers are missing"
    finally:
        process.terminate()
        process.wait(30)


def _status(port: int) -> int:
    deadline = time.monotonic() + 40
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=20) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
