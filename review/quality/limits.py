"""From where on something is an alert: the usual limits, and those of a project."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Self

from django.db import transaction

from linker import audit
from linker.models import ChangeKind, Project
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.contrib.auth.models import User


@dataclass(frozen=True)
class Limits:
    """`near`: percent of the open suggestions within two hundredths of a bound. `donor`: links that a donor gained by
    releases of a week. `anchors`: percent of the links to a page with the same words. `histogram`: hundredths of the
    Jensen-Shannon distance between two match runs. `acceptance`: points by which the share accepted fell. `lost`,
    `dead`: links. `stuck`: days. `shrunk`: percent of the suggestions in the queue, decided ones left out, that a match
    took out of it."""

    near: int = 25
    donor: int = 10
    anchors: int = 60
    histogram: int = 20
    acceptance: int = 10
    lost: int = 10
    dead: int = 0
    stuck: int = 30
    shrunk: int = 40

    @classmethod
    def of(cls, project: Project) -> Self:
        known = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in project.alert_limits.items() if name in known})


@transaction.atomic
def change_limits(project: Project, user: User, values: Mapping[str, Any]) -> None:
    """Sets the limits of a project; what is as usual is not stored."""
    project = lock_project(project.pk)
    before, usual = asdict(Limits.of(project)), asdict(Limits())
    project.alert_limits = {name: value for name, value in values.items() if value != usual[name]}
    project.save(update_fields=["alert_limits"])
    after = asdict(Limits.of(project))
    audit.record(project, ChangeKind.SETTINGS, user=user, subject="Limits of alerts", before=before, after=after)
