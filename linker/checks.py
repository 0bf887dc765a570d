"""What Django's checks ask of an installation, in addition to Django's own checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

if TYPE_CHECKING:
    from collections.abc import Iterable

APPS = {"linker", "ingest", "review"}
TOO_OLD = (
    "This database was made by an early state of version 0.1 and was not upgraded since: {missing} never ran. Run the "
    "last state of version 0.1 with `manage.py migrate` first, then this version."
)


@register(Tags.database)
def database_can_be_upgraded(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Whether every migration that this version has merged into one was applied, where any of them was.

    `migrate` asks before it does anything: it would otherwise end in an error about an unknown model.
    """
    errors: list[CheckMessage] = []
    for alias in databases or ():
        applied = MigrationRecorder(connections[alias]).applied_migrations()
        merged = MigrationLoader(None).disk_migrations
        for key, migration in merged.items():
            missing = sorted(".".join(one) for one in migration.replaces if one not in applied)
            if key[0] in APPS and key not in applied and 0 < len(missing) < len(migration.replaces):
                errors.append(Error(TOO_OLD.format(missing=", ".join(missing)), id="linker.E001"))
    return errors
