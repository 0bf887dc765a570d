"""Who works on a project: adding, changing and removing members. A project keeps at least one manager."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from linker import audit
from linker.errors import UserError
from linker.models import ChangeKind, Membership, Project, Role
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    Actor = AbstractBaseUser | AnonymousUser | None


class LastManager(UserError):
    """The change would leave the project without a manager."""

    def __init__(self) -> None:
        super().__init__(_("A project needs a manager. Make another member a manager first."))


def find_user(username: str) -> AbstractBaseUser:
    """The active user of that name. Raises UserError where there is none."""
    user = get_user_model().objects.filter(username=username, is_active=True).first()
    if user is None:
        raise UserError(
            _("There is no active user named “%(name)s”. An administrator can add one.") % {"name": username}
        )
    return user


def add_member(
    project: Project, user: AbstractBaseUser, role: Role, *, by: Actor = None, invited_by: str = ""
) -> Membership:
    """`by` is who adds them. Raises UserError where the user is a member already."""
    try:
        with transaction.atomic():
            membership = Membership.objects.create(project=project, user_id=user.pk, role=role)
            invited = {"invited_by": invited_by} if invited_by else {}
            _record(membership, by, before={}, after={"role": role, **invited})
            return membership
    except IntegrityError:
        raise UserError(_("%(user)s is already a member. Change the role in the list.") % {"user": user}) from None


def _record(membership: Membership, by: Actor, *, before: Mapping[str, object], after: Mapping[str, object]) -> None:
    audit.record(
        membership.project, ChangeKind.MEMBERS, user=by, subject=str(membership.user), before=before, after=after
    )


@transaction.atomic
def change_role(project: Project, membership_id: int, role: Role, *, by: Actor = None) -> Membership | None:
    """None where the membership is gone. Who is no expert any more has no sections either. Raises LastManager,
    and UserError where a group of the sign-in gave the role."""
    membership = _locked(project, membership_id)
    if membership is None:
        return None
    if membership.by_groups:
        raise UserError(
            _("%(user)s has this role by a group of the sign-in. Change the group there.") % {"user": membership.user}
        )
    if role != Role.MANAGER:
        _keep_a_manager(membership)
    before: dict[str, object] = {"role": membership.role, **_sections(membership)}
    membership.role = role
    membership.save(update_fields=["role"])
    if role != Role.EXPERT:
        membership.sections.all().delete()
    _record(membership, by, before=before, after={"role": role, **_sections(membership)})
    return membership


def _sections(membership: Membership) -> dict[str, list[str]]:
    """What an expert is named for, for the log; nothing where there is none."""
    named = sorted(str(one.category) for one in membership.sections.select_related("category"))
    return {"sections": named} if named else {}


@transaction.atomic
def remove_member(project: Project, membership_id: int, *, by: Actor = None) -> Membership | None:
    """Returns who was removed, None where the membership is gone already. Raises LastManager."""
    membership = _locked(project, membership_id)
    if membership is None:
        return None
    _keep_a_manager(membership)
    before = {"role": membership.role, **_sections(membership)}
    Membership.objects.filter(pk=membership.pk).delete()
    _record(membership, by, before=before, after={})
    return membership


def _locked(project: Project, membership_id: int) -> Membership | None:
    """The membership, with the project's row locked: two managers cannot remove each other at once."""
    lock_project(project.pk)
    return Membership.objects.select_related("user").filter(project=project, pk=membership_id).first()


def _keep_a_manager(membership: Membership) -> None:
    managers = Membership.objects.filter(project=membership.project_id, role=Role.MANAGER, user__is_active=True)
    if membership.role == Role.MANAGER and not managers.exclude(pk=membership.pk).exists():
        raise LastManager
