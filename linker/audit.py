"""The log of changes: one row a change, written by the functions that make it, in their transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Model

from linker.models import Change, ChangeKind, Project
from linker.operations.version import code_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
    from django.db.models import QuerySet


def record(
    project: Project,
    kind: ChangeKind,
    *,
    user: AbstractBaseUser | AnonymousUser | None,
    subject: str = "",
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> Change | None:
    """Writes down a change; None, and nothing written, where `before` and `after` are the same.

    Values are JSON's, or mappings of names to such values. What is in both and equal is left out. `user` is None for
    work that no signed-in user started, such as a command.
    """
    old, new = _differing(before or {}, after or {})
    if not old and not new:
        return None
    return Change.objects.create(
        project=project,
        kind=kind,
        user_id=user.pk if user is not None else None,
        subject=subject[:300],
        before=old,
        after=new,
        code_version=code_version(),
    )


def values(row: Model, names: Iterable[str]) -> dict[str, Any]:
    """Fields of a row as JSON's values, for `record`.

    Another row that a field names is written as it is called now: its number says nothing once it is gone.
    """
    return {name: _value(row, name) for name in names}


def _value(row: Model, name: str) -> Any:
    if not row._meta.get_field(name).is_relation:
        return row.serializable_value(name)
    other = getattr(row, name)
    return str(other) if other is not None else None


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    old = {name: value for name, value in before.items() if name not in after or after[name] != value}
    new = {name: value for name, value in after.items() if name not in before or before[name] != value}
    return old, new


def changes(project: Project, kind: str) -> QuerySet[Change]:
    """The project's changes, newest first, of one kind or all."""
    found = Change.objects.filter(project=project).select_related("user")
    return found.filter(kind=kind) if kind in ChangeKind.values else found
