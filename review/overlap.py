"""Controlled overlap: a share of the suggestions is read by two people, the second of whom does not see the first
decision. Which ones they are follows from their ids, so that nobody has to look for them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from django.db import transaction
from django.db.models import Exists, OuterRef

from linker import audit
from linker.models import ChangeKind, Membership, Project, Role
from linker.storage.locks import lock_project
from review.models import Decision, DueReading, SecondReading, Verb

if TYPE_CHECKING:
    from collections.abc import Collection

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

MOST = 20  # percent
LOOKED_AT = 1000  # of what a user is to read as the second, for what a list would have held: the newest


def is_read_twice(project: Project, edge_id: int) -> bool:
    """Whether a suggestion is among the share of the project."""
    return crc32(str(edge_id).encode()) % 100 < project.read_twice


def offer_again(project: Project, decision: Decision) -> None:
    """Another editor shall read the suggestion of this decision, if it is among the share. Of several decisions on one
    suggestion, the last is what a second reading is compared with."""
    if is_read_twice(project, decision.edge_id):
        first = {"project": project, "decision": decision, "reader_id": decision.user_id}
        DueReading.objects.update_or_create(edge_id=decision.edge_id, defaults=first)


def offer_no_longer(decisions: Collection[int]) -> None:
    """These decisions have been taken back: there is nothing to compare a second reading with."""
    DueReading.objects.filter(decision__in=decisions).delete()


def decides(project: Project, user: User) -> Exists:
    """Whether the user may decide in a project."""
    return Exists(Membership.objects.filter(project=project, user=user).exclude(role=Role.VIEWER))


def due_to(project: Project, user: User) -> QuerySet[DueReading]:
    """What others have decided, and this user has neither decided nor read: the user is to decide on it without knowing
    the first decision."""
    if not project.read_twice:
        return DueReading.objects.none()
    own = Decision.objects.filter(edge=OuterRef("edge"), user=user)
    due = DueReading.objects.filter(decides(project, user), ~Exists(own), project=project)
    return due.exclude(Exists(read_by(user).filter(edge=OuterRef("edge")))).exclude(reader=user)


def newest_due(project: Project, user: User) -> list[int]:
    """The suggestions that the user is to read as the second, as far as lists look for them."""
    return list(due_to(project, user).order_by("-pk").values_list("edge", flat=True)[:LOOKED_AT])


def read_by(user: User) -> QuerySet[SecondReading]:
    """What the user has said as the second, and not taken back."""
    return SecondReading.objects.filter(reader=user, undone_by=None).exclude(verb=Verb.UNDO)


def set_share(project: Project, user: User, percent: int) -> None:
    """From now on, `percent` of the suggestions are read by two people; 0 ends it."""
    change_share(project, user, "read_twice", percent, "Suggestions that two people read", "percent")


def change_share(project: Project, user: User, field: str, share: int, subject: str, unit: str) -> None:
    """Sets a share of the project, of so many of a hundred, and logs the change."""
    with transaction.atomic():
        kept = lock_project(project.pk)
        before = getattr(kept, field)
        setattr(kept, field, share)
        kept.save(update_fields=[field])
        audit.record(
            project, ChangeKind.SETTINGS, user=user, subject=subject, before={unit: before}, after={unit: share}
        )
    setattr(project, field, share)
