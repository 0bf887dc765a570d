"""Django's `migrate`, one process at a time: two that start together on one database would both create its tables."""

from contextlib import suppress
from typing import Any

from django.core.management.commands import migrate
from django.db import DatabaseError, connections

LOCK_SPACE, LOCK = 7305, 1  # the numbers of PostgreSQL's advisory lock


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        """Whoever comes second waits, however long the first takes, and finds nothing left to do."""
        with connections[options["database"]].cursor() as cursor:
            cursor.execute("SELECT current_setting('lock_timeout'), set_config('lock_timeout', '0', false)")
            before = cursor.fetchone()[0]
            cursor.execute("SELECT pg_advisory_lock(%s, %s)", [LOCK_SPACE, LOCK])
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", [before])
        try:
            super().handle(*args, **options)
        finally:
            # Where the connection is lost, the lock is too.
            with suppress(DatabaseError), connections[options["database"]].cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCK_SPACE, LOCK])
