"""Real PostgreSQL, real Redis, a real browser. Each xdist worker has servers and files of its own."""

from __future__ import annotations

import gc
import inspect
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests import scratch

ROOT = Path(__file__).resolve().parent.parent
os.environ["DJANGO_SETTINGS_MODULE"] = "linker.settings"
os.environ["ANCHORLINE_VAR"] = str(scratch.folder() / f"test-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}")
os.environ["ANCHORLINE_EMBEDDED_PG_CONF"] = "fsync=off;synchronous_commit=off;full_page_writes=off;autovacuum=off"
for name in ("DATABASE_URL", "REDIS_URL", "PRODUCTION", "DEBUG", "SECRET_KEY", "UPLOAD_ROOT"):
    os.environ.pop(name, None)
os.environ["HF_HUB_OFFLINE"] = "1"  # a test that asks a hub fails at once
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright's loop runs in the thread of the tests

import pytest  # noqa: E402

SERVERS = frozenset({"db", "transactional_db", "live_server", "page"})  # fixtures that start one

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from django.contrib.auth.models import User
    from django.test import Client
    from xdist.remote import Producer
    from xdist.scheduler import Scheduling

    from linker.models import Project


def pytest_configure() -> None:
    """Reads the settings now, with the environment above; pytest-django then starts Django."""
    from django.conf import settings

    assert settings.DATABASES
    # Signing in is slow on purpose; hundreds of users of tests need not be.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def pytest_sessionstart() -> None:
    """Once Django has started."""
    from hypothesis import HealthCheck, settings

    from tests import emptying, signed_in
    from tests.examples import EVERYTHING, FEWEST

    emptying.use()
    signed_in.use()
    # Nothing is timed here: a machine with other work to do takes seconds over an example that takes microseconds.
    examples = settings.default.max_examples if EVERYTHING else FEWEST
    untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=examples)
    settings.register_profile("untimed", untimed)
    # CI says whether a change broke something, so it tries the same examples each time; people try new ones.
    settings.register_profile("repeated", untimed, derandomize=True, database=None)
    settings.load_profile("repeated" if "CI" in os.environ else "untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="only tests that need no database, browser or model")


def _is_whole(config: pytest.Config) -> bool:
    """Whether nothing is left out: the run is one of everything, or somebody has named a test."""
    from tests.examples import EVERYTHING

    return EVERYTHING or any("::" in argument for argument in config.args)


def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, obj: object) -> list[pytest.Item] | None:
    """Makes nothing of a test that the run leaves out: those and their cases are half of all, and each process spends
    seconds on them."""
    if not inspect.isfunction(obj) or _is_whole(collector.config):
        return None
    marks = [mark.name for mark in getattr(obj, "pytestmark", ())]
    return [] if "nightly" in marks or collector.get_closest_marker("nightly") else None


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Of a test with many cases makes as many as its mark `sample` says, spread evenly over them."""
    mark = metafunc.definition.get_closest_marker("sample")
    if mark is None or _is_whole(metafunc.config):
        return
    cases = metafunc._calls  # what parametrize has made of them; there is no public name for it
    number = min(mark.args[0], len(cases))
    metafunc._calls = [cases[place * len(cases) // number] for place in range(number)]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    def leave_out(is_out: Callable[[pytest.Item], bool]) -> None:
        out = {item for item in items if is_out(item)}
        config.hook.pytest_deselected(items=list(out))
        items[:] = [item for item in items if item not in out]

    if not _is_whole(config):  # cases that are marked themselves
        leave_out(lambda item: item.get_closest_marker("nightly") is not None)
    if config.getoption("--fast"):
        leave_out(_is_slow)
    # The longest first: what comes last is shared out among the processes, test by test.
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leaves what is there for good, modules and tests, out of every collection of garbage, and collects less often.

    Looking through it again and again took a quarter of the time of tests that ask for pages.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _is_slow(item: pytest.Item) -> bool:
    """Whether a test needs a server, a browser or an embedding model, or says that it takes long."""
    if any(item.get_closest_marker(name) for name in ("slow", "browser", "django_db")):
        return True
    return bool(SERVERS & set(getattr(item, "fixturenames", ()))) or item.path.parent == ROOT / "tests"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Workers inherit the environment; without the name they too read the settings after their own conftest."""
    os.environ.pop("DJANGO_SETTINGS_MODULE")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """Each process works off a half of its own, so that what a module sets up is set up in one of them alone; the one
    that has done its half takes from the other's."""
    if config.getvalue("dist") != "load":  # which is the default of -n
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    """The database of the tests is a copy of a migrated one (tests/migrated.py), so that nothing is migrated again."""
    from django.conf import settings
    from django.db import connection

    from tests import migrated

    migrated.copy_to(settings.VAR)
    connection.settings_dict["TEST"].update({"TEMPLATE": connection.settings_dict["NAME"], "MIGRATE": False})


@pytest.fixture(autouse=True)
def _files(settings, tmp_path: Path) -> None:
    """Uploads of a test go to a folder of its own."""
    settings.UPLOAD_ROOT = tmp_path / "uploads"


@pytest.fixture
def project(db) -> Project:
    from tests.factories import make_project

    return make_project()


def _member(project: Project, role: str) -> User:
    from tests.factories import make_member

    return make_member(project, role)


@pytest.fixture
def viewer(project: Project) -> User:
    return _member(project, "viewer")


@pytest.fixture
def editor(project: Project) -> User:
    return _member(project, "editor")


@pytest.fixture
def manager(project: Project) -> User:
    return _member(project, "manager")


@pytest.fixture
def outsider(db) -> User:
    """Signed in, and a manager of some other project."""
    from tests.factories import make_member, make_project

    return make_member(make_project(slug="elsewhere"), "manager", username="outsider")


@pytest.fixture
def client_for() -> Callable[[User], Client]:
    from django.test import Client

    def make(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return make


@pytest.fixture
def redis_server(db) -> Iterator[None]:
    """An empty Redis. Start it for tests that enqueue."""
    import django_rq
    from django.conf import settings

    from linker import embedded

    embedded.start_redis(settings.VAR)
    django_rq.get_connection("default").flushall()
    yield
    django_rq.get_connection("default").flushall()


@pytest.fixture
def run_jobs(redis_server) -> Callable[[], None]:
    """Works the queues off in this process until they are empty."""
    import django_rq
    from rq import SimpleWorker

    from linker.runs.job_queue import QUEUES

    def work() -> None:
        django_rq.get_worker(*QUEUES, worker_class=SimpleWorker).work(burst=True, logging_level="WARNING")

    return work


def process_environment() -> dict[str, str]:
    """The environment of a process that shares this test's database and Redis (needs a committed database)."""
    from urllib.parse import quote

    from django.conf import settings
    from django.db import connection

    params = connection.get_connection_params()
    return os.environ | {
        "DATABASE_URL": f"postgresql://postgres@{quote(params['host'], safe='')}:{params['port']}/{params['dbname']}",
        "REDIS_URL": settings.REDIS_URL,
        "UPLOAD_ROOT": str(settings.UPLOAD_ROOT),
        "SWEEP_SECONDS": "1",
    }


@pytest.fixture
def worker_processes(transactional_db, redis_server) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """start(n) runs `manage.py run_workers --workers n` beside the test, on the same database and Redis."""
    from django.db import connection

    running: list[subprocess.Popen[bytes]] = []

    def start(workers: int = 1) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "run_workers", "--workers", str(workers)],
            cwd=ROOT,
            env=process_environment(),
            start_new_session=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    # A job whose worker was killed may live on for a moment; the database is dropped after this.
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


# ------------------------------------------------------------------------------------------------------- browser


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict) -> dict:
    from tests.chromium import FLAGS, system_chromium

    return {**browser_type_launch_args, "executable_path": system_chromium(), "args": FLAGS}


@pytest.fixture
def sign_in(live_server, page, client_for) -> Callable[[User], None]:
    """Puts a user's session into the browser without the sign-in page."""

    def go(user: User) -> None:
        cookie = client_for(user).cookies["sessionid"]
        page.context.add_cookies([{"name": "sessionid", "value": cookie.value, "url": live_server.url}])

    return go
