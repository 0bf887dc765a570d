"""What is not set up yet, or set up wrongly, is told in one sentence that says what to do: by commands and by pages."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.servers import ROOT, Servers

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

# Asks for the sign-in, and prints the answer's status and text.
VISIT = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "linker.settings"
import django
django.setup()
from django.test import Client
client = Client(raise_request_exception=False, HTTP_HOST="localhost")
answer = client.post("/login/", {"username": "anna", "password": "wrong"})
print(answer.status_code, answer.content.decode())
"""


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with tempfile.TemporaryDirectory(prefix="al-") as folder, Servers(Path(folder)) as running:
        with psycopg.connect(running.database_url, autocommit=True) as connection:
            for name in ("empty", "bare", "plain"):
                connection.execute(f"CREATE DATABASE {name}")
            connection.execute("CREATE ROLE clerk LOGIN PASSWORD 'right'")
            connection.execute("ALTER DATABASE plain OWNER TO clerk")
        yield running


def _url(servers: Servers, database: str, user: str = "postgres") -> str:
    return servers.database_url.replace("/anchorline", f"/{database}").replace("postgres@", f"{user}@")


COMMANDS = [
    ["create_project", "shop", "--base-url", "https://shop.example"],
    ["import_pages", "shop", "README.md"],
    ["match_project", "shop"],
    ["run_workers"],
    ["unlock_sign_in", "anna"],
    ["createsuperuser", "--noinput", "--username", "anna", "--email", "anna@shop.example"],
]


@pytest.mark.nightly
@pytest.mark.parametrize(
    "command",
    [COMMANDS[0], *(pytest.param(command, marks=pytest.mark.nightly) for command in COMMANDS[1:])],
    ids=lambda words: words[0],
)
def test_a_command_before_migrate_says_to_run_it(servers, command):
    ended = servers.manage(*command, DATABASE_URL=_url(servers, "empty"), DJANGO_SUPERUSER_PASSWORD="x" * 12)
    assert ended.returncode == 1
    lines = ended.stderr.strip().splitlines()
    assert len(lines) == 1, ended.stderr
    assert "./manage.py migrate" in lines[0]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("postgresql://me:geheim9@127.0.0.1:1/db", "PostgreSQL does not answer (connection failed"),
        pytest.param(
            "postgresql://me:geheim9@no-such-host.invalid/db", "PostgreSQL does not answer (", marks=pytest.mark.nightly
        ),
        pytest.param("nonsense://", "Anchorline cannot start: ", marks=pytest.mark.nightly),
    ],
)
def test_a_database_that_is_not_there_is_told_without_its_password(servers, url, sentence):
    ended = servers.manage("migrate", DATABASE_URL=url)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (1, 1), ended.stderr
    assert ended.stderr.startswith(sentence)
    assert "geheim9" not in ended.stderr


@pytest.mark.nightly
def test_a_database_that_does_not_exist_is_told_with_what_to_do(servers):
    ended = servers.manage("migrate", DATABASE_URL=_url(servers, "nowhere"))
    assert ended.stderr.startswith("PostgreSQL has no such database")
    assert "createdb" in ended.stderr


@pytest.mark.nightly
def test_a_wrong_password_is_told(servers):
    configuration = servers.var / "postgres" / "data" / "pg_hba.conf"
    usual = configuration.read_text()
    configuration.write_text("local all clerk scram-sha-256\n" + usual)
    _reload(servers)
    try:
        ended = servers.manage("migrate", DATABASE_URL=_url(servers, "plain", "clerk:wrong9"))
        assert ended.stderr == "PostgreSQL refuses the user name or password in DATABASE_URL. Correct them there.\n"
    finally:
        configuration.write_text(usual)
        _reload(servers)


def _reload(servers: Servers) -> None:
    with psycopg.connect(servers.database_url, autocommit=True) as connection:
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("SELECT pg_sleep(0.5)")


@pytest.mark.nightly
def test_a_server_without_pgvector_is_told_with_what_to_do(servers):
    with psycopg.connect(servers.database_url, autocommit=True) as connection:
        if connection.info.server_version < 180000:
            pytest.skip("only PostgreSQL 18 can look for extensions elsewhere")
        connection.execute("ALTER DATABASE bare SET extension_control_path = '/nowhere'")
    try:
        ended = servers.manage("migrate", DATABASE_URL=_url(servers, "bare"))
    finally:
        with psycopg.connect(servers.database_url, autocommit=True) as connection:
            connection.execute("ALTER DATABASE bare RESET extension_control_path")
    assert ended.stderr.startswith("PostgreSQL lacks pgvector"), ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.nightly
def test_a_role_that_may_not_create_pgvector_is_told_with_what_to_do(servers):
    ended = servers.manage("migrate", DATABASE_URL=_url(servers, "plain", "clerk"))
    assert "have a superuser run CREATE EXTENSION vector" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.nightly
def test_more_can_be_seen_on_request(servers):
    ended = servers.manage("embed_pages", "shop", "--traceback", DATABASE_URL=_url(servers, "empty"))
    assert "Traceback" in ended.stderr


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("database", "text"),
    [
        ("empty", "has to run ./manage.py migrate"),
        pytest.param("nowhere", "The database does not answer", marks=pytest.mark.nightly),
    ],
)
def test_the_page_says_so_too_and_nothing_about_where_the_server_is(servers, database, text):
    done = subprocess.run(
        [sys.executable, "-c", VISIT],
        cwd=ROOT,
        env=servers.environment(DATABASE_URL=_url(servers, database)),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.startswith("503 "), done.stdout + done.stderr
    assert text in done.stdout
    assert str(servers.var) not in done.stdout
    assert "Traceback" not in done.stderr
