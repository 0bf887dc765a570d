"""Work that is prepared before the project's row is locked, and counts if its settings are still the same then.

To find places and words for a million links takes minutes, for which nobody who changes a setting, releases or takes
a decision back should wait. The rows are new, so that nobody sees them before the commit, and what was there before is
written once everything is locked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from django.db import IntegrityError, OperationalError, transaction

from linker.models import Change, ChangeKind
from linker.operations.outages import PAUSES, is_lock_conflict
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from collections.abc import Callable

    from linker.models import Project

Result = TypeVar("Result")
# What no run reads: a change of these leaves what was prepared as it is.
_LEAVES_RUNS = (
    ChangeKind.MEMBERS, ChangeKind.IMPORT, ChangeKind.SOURCES, ChangeKind.RELEASE, ChangeKind.RUNS,
)  # fmt: skip


class _OtherSettings(Exception):
    """Somebody changed what the work had read."""


def prepared(project: Project, work: Callable[[Callable[[], None]], Result]) -> Result:
    """What `work(lock)` returns, in a transaction. It reads the project's settings, writes new rows alone, calls
    `lock`, and then writes the rest.

    `lock` takes the project's row. Where settings have changed since the work began, or somebody else has written a row
    that it has written too, all of it is undone and done once more, with the row locked from the beginning.
    """
    try:
        with transaction.atomic():
            project.refresh_from_db()
            read = _last_change(project)

            def lock() -> None:
                _lock_patiently(project)
                if _last_change(project) != read:
                    raise _OtherSettings

            return work(lock)
    except (_OtherSettings, IntegrityError):
        with transaction.atomic():
            lock_project(project.pk)
            project.refresh_from_db()
            return work(lambda: None)


def _lock_patiently(project: Project) -> None:
    """Locks the project's row, and asks as often as a run would begin again: what is prepared took longer than others
    take to give the row back. Raises OperationalError where they do not."""
    for _ in PAUSES:
        try:
            with transaction.atomic():
                lock_project(project.pk)
        except OperationalError as error:
            if not is_lock_conflict(error):
                raise
        else:
            return
    lock_project(project.pk)


def _last_change(project: Project) -> int | None:
    changes = Change.objects.filter(project=project).exclude(kind__in=_LEAVES_RUNS)
    return changes.order_by("-pk").values_list("pk", flat=True).first()
