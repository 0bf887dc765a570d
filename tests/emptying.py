"""What a test has committed is taken out again, with as little work as that needs.

Django truncates every table and then has each app make its permissions anew. That makes the files of hundreds of
indexes, which takes most of a second, and four hundred tests commit. Most have written into a dozen tables.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from django.db import connection, transaction
from django.test import TransactionTestCase

from linker.operations import limits

if TYPE_CHECKING:
    from typing import Any

# They belong to the schema: Django would make the same rows again, under other numbers.
KEPT = {"auth_permission", "django_content_type"}


def use() -> None:
    TransactionTestCase._fixture_teardown = _empty_tables


@cache
def _tables() -> list[str]:
    return sorted(set(connection.introspection.django_table_names(only_existing=True, include_views=False)) - KEPT)


def _empty_tables(self: TransactionTestCase) -> None:
    limits.limit(limits.of_jobs())  # a request of the test has left its own
    with transaction.atomic(), connection.cursor() as cursor:
        # As TRUNCATE does: whatever another connection is about is over by then.
        cursor.execute(f"LOCK TABLE {', '.join(_tables())} IN ACCESS EXCLUSIVE MODE")
        cursor.execute("SET LOCAL session_replication_role = replica")  # neither foreign keys nor append-only tables
        while filled := _filled(cursor):  # once more, where a trigger has counted what went
            cursor.execute("; ".join(f"DELETE FROM {table}" for table in filled))


def _filled(cursor: Any) -> list[str]:
    cursor.execute(" UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT FROM {table})" for table in _tables()))
    return [table for (table,) in cursor.fetchall()]
