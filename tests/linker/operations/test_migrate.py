"""Two processes that migrate one database at once come one after the other."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import call_command
from django.db import connection

from linker.management.commands.migrate import LOCK, LOCK_SPACE
from linker.operations import limits
from tests.barriers import another_connection

pytestmark = pytest.mark.django_db(transaction=True)


def migrate() -> float:
    try:
        call_command("migrate", verbosity=0)
        return time.monotonic()
    finally:
        connection.close()


def locks() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = %s", [LOCK_SPACE])
        return cursor.fetchone()[0]


@pytest.mark.nightly
def test_the_second_waits_for_the_first_however_long_it_takes(settings):
    settings.JOB_LOCK_SECONDS = 0.05
    with another_connection() as first, ThreadPoolExecutor(1) as pool:
        first.autocommit = True
        first.execute("SELECT pg_advisory_lock(%s, %s)", [LOCK_SPACE, LOCK])
        second = pool.submit(migrate)
        deadline = time.monotonic() + 60
        while locks() < 2:
            assert time.monotonic() < deadline
            assert not second.done()
            time.sleep(0.02)
        time.sleep(0.2)
        assert not second.done()
        ended = time.monotonic()
        first.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCK_SPACE, LOCK])
        assert second.result(60) > ended
    assert locks() == 0


def test_who_has_migrated_waits_for_locks_no_longer_than_before():
    limits.limit(limits.of_jobs())
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone()[0] == "1min"
    assert locks() == 0
