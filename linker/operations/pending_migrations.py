"""Whether migrations wait to be applied: one query, since load balancers ask again and again."""

from __future__ import annotations

from functools import cache

from django.db import ProgrammingError, connection
from django.db.migrations.loader import MigrationLoader


def are_pending() -> bool:
    """Raises django.db.Error where the database does not answer."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT app, name FROM django_migrations")
            applied = set(cursor.fetchall())
    except ProgrammingError:  # no table: nothing was ever applied
        return True
    return not all(name in applied or (replaced and replaced <= applied) for name, replaced in _known())


@cache
def _known() -> tuple[tuple[tuple[str, str], frozenset[tuple[str, str]]], ...]:
    """Each migration of this program's code, as app and name, with those that it replaces; read once a process."""
    loader = MigrationLoader(None)
    replaced = {old for migration in loader.disk_migrations.values() for old in migration.replaces}
    return tuple(
        (name, frozenset(migration.replaces))
        for name, migration in loader.disk_migrations.items()
        if name not in replaced
    )
