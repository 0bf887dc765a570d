"""Roles by the groups of the sign-in: read at each sign-in, given, changed and taken away.

What a manager gave by hand is left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction

from linker import audit
from linker.models import ChangeKind, Membership, Project, Role
from linker.operations.group_roles import ROLES

if TYPE_CHECKING:
    from collections.abc import Collection

    from django.contrib.auth.models import User


@transaction.atomic
def take_roles(user: User, groups: Collection[str]) -> None:
    """Gives the user the highest role that their groups give in each project, and takes away what groups gave before
    and give no more: also from the last manager of a project."""
    wanted = _wanted(groups)
    has = {one.project_id: one for one in Membership.objects.filter(user=user).select_for_update()}
    by_groups = [key for key, one in has.items() if one.by_groups]
    concerned = Project.objects.filter(slug__in=wanted) | Project.objects.filter(pk__in=by_groups)
    for project in concerned.order_by("pk"):
        _set(project, user, has.get(project.pk), wanted.get(project.slug))


def _wanted(groups: Collection[str]) -> dict[str, Role]:
    found: dict[str, Role] = {}
    for group in groups:
        for slug, role in settings.OIDC_GROUPS.get(group, {}).items():
            if slug not in found or ROLES.index(role) > ROLES.index(found[slug]):
                found[slug] = Role(role)
    return found


def _set(project: Project, user: User, membership: Membership | None, role: Role | None) -> None:
    if membership is None and role is not None:
        Membership.objects.create(project=project, user=user, role=role, by_groups=True)
        _record(project, user, None, role)
    elif membership is None or not membership.by_groups or role == membership.role:
        return
    elif role is None:
        membership.delete()
        _record(project, user, membership.role, None)
    else:
        before, membership.role = membership.role, role
        membership.save(update_fields=["role"])
        if role != Role.EXPERT:
            membership.sections.all().delete()
        _record(project, user, before, role)


def _record(project: Project, user: User, before: str | None, after: str | None) -> None:
    values = [{"role": role} if role else {} for role in (before, after)]
    subject = f"{user}, by the groups of the sign-in"
    audit.record(project, ChangeKind.MEMBERS, user=user, subject=subject, before=values[0], after=values[1])
