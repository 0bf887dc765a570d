"""No line of any log holds a secret or a local variable, and what is expected takes one line."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from django.conf import settings
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from linker.operations.logs import HIDDEN, ScrubbedFormatter, scrub

ROOT = Path(__file__).resolve().parents[3]

SIGNING_KEY = "signing-key-of-this-test-0123456789-abcdefghij"
LOCAL = "a-local-variable-7c1f"
PASSWORD = "the-visitors-password-55aa"
QUERY = "query-value-42d0"
COOKIE = "cookie-value-991b"
DATABASE_PASSWORD = "p%40ss%2Fword-of-postgres"
REDIS_PASSWORD = "redis-pass-word-31"
SECRETS = [SIGNING_KEY, LOCAL, QUERY, PASSWORD, COOKIE, DATABASE_PASSWORD, "p@ss/word-of-postgres", REDIS_PASSWORD]

# A program with everything in reach that must not be printed. Its views and its job break in the middle.
PROGRAM = """
import logging, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "linker.settings"
from django.conf import settings
import django
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
django.setup()
import structlog
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import path
from django.contrib.auth.decorators import login_not_required
from django.views.decorators.csrf import csrf_exempt
import linker.urls

LOCAL = sys.argv[1]
log = structlog.get_logger("program")

def work(secret):
    params = connection.get_connection_params()
    raise RuntimeError(f"could not reach {os.environ['DATABASE_URL']} with password={params['password']}")

@login_not_required
@csrf_exempt
def broken(request):
    everything = dict(request.META), request.POST.dict(), settings.SECRET_KEY, LOCAL
    work(LOCAL)

@login_not_required
def noted(request):
    try:
        work(LOCAL)
    except RuntimeError:
        log.exception("noted", headers=dict(request.headers), password=LOCAL, dsn=settings.REDIS_URL)
        logging.getLogger("other").error("redis at %s, session %s", settings.REDIS_URL, request.COOKIES, exc_info=True)
    return HttpResponse("")

linker.urls.urlpatterns += [path("broken/", broken), path("noted/", noted)]
client = Client(raise_request_exception=False, headers={"authorization": "Bearer " + sys.argv[3]})
client.cookies["sessionid"] = sys.argv[3]
form = {"username": "x", "password": sys.argv[2]}
print(client.post("/broken/?token=" + sys.argv[4] + "&key=" + sys.argv[4], form).content.decode())
print(client.get("/noted/?access_token=" + sys.argv[4]).content.decode())

from rq import SimpleWorker, Queue
from linker.runs import job_queue
import redis

class Job:
    pass

from rq.job import Job as RQJob
# The worker's own account of a job that broke, without a Redis.
worker = object.__new__(SimpleWorker)
worker.log, worker.name, worker._exc_handlers = logging.getLogger("rq.worker"), "w", []
job = object.__new__(RQJob)
job.__dict__.update(_func_name="linker.jobs.embed", _args=(1,), _kwargs={}, origin="default", _id="embed-1", _data=b"")
try:
    work(LOCAL)
except RuntimeError:
    worker.handle_exception(job, *sys.exc_info())
"""


def output_of(**environment: str) -> str:
    params = connection.get_connection_params()
    address = f"{quote(params['host'], safe='')}:{params['port']}/{params['dbname']}"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, LOCAL, PASSWORD, COOKIE, QUERY],
        cwd=ROOT,
        env=os.environ
        | {
            "SECRET_KEY": SIGNING_KEY,
            "DATABASE_URL": f"postgresql://postgres:{DATABASE_PASSWORD}@{address}",
            "REDIS_URL": f"redis://user:{REDIS_PASSWORD}@127.0.0.1:1/0",
            "SECURE_SSL_REDIRECT": "0",
            "ALLOWED_HOSTS": "testserver",
        }
        | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.nightly
@pytest.mark.parametrize(
    "environment",
    [{}, {"LOG_FORMAT": "json"}, {"PRODUCTION": "1"}, {"LOG_LEVEL": "DEBUG"}, {"DEBUG": "1", "LOG_LEVEL": "INFO"}],
    ids=["console", "json", "production", "everything", "with the debug page"],
)
@pytest.mark.django_db
def test_what_breaks_in_a_view_or_in_a_job_tells_no_secret_and_no_local_variable(environment):
    output = output_of(**environment)
    assert output.count("RuntimeError") >= 3, "the errors themselves are told"
    assert f"could not reach postgresql://postgres:{HIDDEN}@" in output
    shown_to_whoever_wrote_it = {QUERY} if "DEBUG" in environment else set()
    for secret in set(SECRETS) - shown_to_whoever_wrote_it:
        assert secret not in output, output[max(0, output.find(secret) - 300) :][:600]


@pytest.mark.nightly
@pytest.mark.django_db
def test_lines_in_json_stay_json():
    lines = [line for line in output_of(LOG_FORMAT="json").splitlines() if line.startswith("{")]
    assert len(lines) >= 3
    for line in lines:
        assert {"event", "level", "timestamp"} <= set(json.loads(line))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://me:geheim@host/db", "postgresql://me:***@host/db"),
        ("redis://:geheim@host:6379", "redis://:***@host:6379"),
        ("x=postgresql+psycopg://me:geheim@host", "x=postgresql+psycopg://me:***@host"),
        ("_" + "a-" * 100 + "b://me:geheim@host", "_" + "a-" * 100 + "b://me:***@host"),
        ("1-my-app-csrf_token=geheim", "1-my-app-csrf_token=***"),
        ("password=geheim host=x", "password=*** host=x"),
        ("DB_PASSWORD=geheim", "DB_PASSWORD=***"),
        ("{'password': 'geh eim', 'user': 'me'}", "{'password': '***', 'user': 'me'}"),
        ('{"api_key": "geheim"}', '{"api_key": "***"}'),
        ('{\\"token\\": \\"geheim\\"}', '{\\"token\\": \\"***\\"}'),
        ("Cookie: sessionid=abc; csrftoken=def", "Cookie: ***"),
        ("Authorization: Basic YTpi", "Authorization: ***"),
        ("'HTTP_COOKIE': 'a=b; c=d', 'x': 1", "'HTTP_COOKIE': '***', 'x': 1"),
        ("GET /x?key=geheim&page=2", "GET /x?key=***&page=2"),
        ("GET /x?reset_token=geheim", "GET /x?reset_token=***"),
        ("csrfmiddlewaretoken=abc&name=Anna", "csrfmiddlewaretoken=***&name=Anna"),
        ("row (1, pbkdf2_sha256$1000000$abc$def=, anna)", "row (1, ***, anna)"),
    ],
)
def test_what_is_named_like_a_secret_is_hidden(text, expected):
    assert scrub(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "https://shop.example/a?page=2",
        "3 tokens were compared",
        "Line 3: no address.",
        "{'pages': 3, 'keyword': 'tent'}",
    ],
)
def test_ordinary_text_stays_as_it_is(text):
    assert scrub(text) == text


@given(st.text(), st.text())
def test_scrubbing_never_fails_and_the_signing_key_never_survives_it(before, after):
    assert settings.SECRET_KEY not in scrub(before + settings.SECRET_KEY + after)


def test_a_servers_own_log_is_scrubbed_and_keeps_its_form(caplog):
    from linker.operations.logs import scrub_handlers_of

    stream = io.StringIO()
    logger, handler = logging.getLogger("some.server"), logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("[%(levelname)s] %(message)s"))
    logger.addHandler(handler)
    scrub_handlers_of("some.server")
    logger.error("lost %s", "redis://:geheim@host")
    assert stream.getvalue() == "[ERROR] lost redis://:***@host\n"


# ------------------------------------------------------------------------------------------------------- one line


@pytest.mark.django_db
def test_a_refusal_takes_one_line(project, viewer, client_for, capsys):
    formatter = next(
        one.formatter for one in logging.getLogger().handlers if isinstance(one.formatter, ScrubbedFormatter)
    )
    lines: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(formatter.format(record))

    kept = Kept()
    logging.getLogger().addHandler(kept)
    try:
        assert client_for(viewer).get(f"/p/{project.slug}/settings/").status_code == 403
    finally:
        logging.getLogger().removeHandler(kept)
    told = [line for line in lines if "[warning" in line or "[error" in line]
    assert len(told) == 1, lines
    assert "\n" not in told[0]
    assert "role of manager" in told[0]


@pytest.mark.django_db(transaction=True)
def test_a_run_that_broke_shows_its_reader_no_secret(project):
    from linker.models import RunKind
    from linker.runs import lifecycle

    def work(run, progress):
        raise RuntimeError("no answer from postgresql://me:geheim@host/db")

    run = lifecycle.start_run(project, RunKind.EMBED, {}, to_queue=False)
    with pytest.raises(RuntimeError):
        lifecycle.execute(run.pk, work)
    run.refresh_from_db()
    assert "postgresql://me:***@host/db" in run.error
