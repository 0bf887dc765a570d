"""Who works on a project: adding, changing and removing members. A project keeps at least one manager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction

from linker import audit
from linker.errors import UserError
from linker.models import ChangeKind, Membership, Project, Role

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    Actor = AbstractBaseUser | AnonymousUser | None


class LastManager(UserError):
    """The change would leave the project without a manager."""

    def __init__(self) -> None:
        super().__init__("A project needs a manager. Make another member a manager first.")


def find_user(username: str) -> AbstractBaseUser:
    """The active user of that name. Raises UserError where there is none."""
    user = get_user_model().objects.filter(username=username, is_active=True).first()
    if user is None:
        raise UserError(f"There is no active user named “{username}”. An administrator can add one.")
    return user


def add_member(project: Project, user: AbstractBaseUser, role: Role, *, by: Actor = None) -> Membership:
    """`by` is who adds them. Raises UserError where the user is a member already."""
    try:
        with transaction.atomic():
            membership = Membership.objects.create(project=project, user_id=user.pk, role=role)
            _record(membership, by, before={}, after={"role": role})
            return membership
    except IntegrityError:
        raise UserError(f"{user} is already a member. Change the role in the list.") from None


def _record(membership: Membership, by: Actor, *, before: dict[str, str], after: dict[str, str]) -> None:
    audit.record(
        membership.project, ChangeKind.MEMBERS, user=by, subject=str(membership.user), before=before, after=after
    )


@transaction.atomic
def change_role(project: Project, membership_id: int, role: Role, *, by: Actor = None) -> Membership | None:
    """None where the membership is gone. Raises LastManager."""
    membership = _locked(project, membership_id)
    if membership is None:
        return None
    if role != Role.MANAGER:
        _keep_a_manager(membership)
    before, membership.role = membership.role, role
    membership.save(update_fields=["role"])
    _record(membership, by, before={"role": before}, after={"role": role})
    return membership


@transaction.atomic
def remove_member(project: Project, membership_id: int, *, by: Actor = None) -> Membership | None:
    """Returns who was removed, None where the membership is gone already. Raises LastManager."""
    membership = _locked(project, membership_id)
    if membership is None:
        return None
    _keep_a_manager(membership)
    Membership.objects.filter(pk=membership.pk).delete()
    _record(membership, by, before={"role": membership.role}, after={})
    return membership


def _locked(project: Project, membership_id: int) -> Membership | None:
    """The membership, with the project's row locked: two managers cannot remove each other at once."""
    Project.objects.select_for_update().get(pk=project.pk)
    return Membership.objects.select_related("user").filter(project=project, pk=membership_id).first()


def _keep_a_manager(membership: Membership) -> None:
    managers = Membership.objects.filter(project=membership.project_id, role=Role.MANAGER)
    if membership.role == Role.MANAGER and not managers.exclude(pk=membership.pk).exists():
        raise LastManager
