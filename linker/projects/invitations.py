"""Invitations by link: who opens the link signs in, or makes an account, and becomes a member.

Whoever has a link may use it, so only its hash is kept: a link is shown once, to the manager who made it.
"""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from linker import audit
from linker.errors import UserError
from linker.models import ChangeKind, Invitation, Membership, Project, Role
from linker.projects.members import add_member
from linker.storage.locks import lock_project
from linker.wording import in_english

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

LIFETIME = timedelta(days=7)
MOST_OPEN = 50
MOST_PAST = 20  # that the settings list


class NotUsable(UserError):
    """The link was used, has expired or was taken back."""


@transaction.atomic
def invite(project: Project, role: Role, email: str = "", *, by: User) -> tuple[Invitation, str]:
    """A new invitation and the secret of its link, which is not kept. Raises UserError where too many are open."""
    lock_project(project.pk)
    if open_invitations(project).count() >= MOST_OPEN:
        raise UserError(
            _("%(most)d invitations are open, which is the most. Revoke one that is not needed.") % {"most": MOST_OPEN}
        )
    token = token_urlsafe(32)
    invitation = Invitation.objects.create(
        project=project,
        role=role,
        email=email,
        token_hash=_hash(token),
        made_by=by,
        expires_at=timezone.now() + LIFETIME,
    )
    _record(invitation, by, after={"role": role})
    return invitation, token


@transaction.atomic
def revoke(project: Project, invitation_id: int, *, by: User) -> bool:
    """False where the invitation is not open any more."""
    found = open_invitations(project).filter(pk=invitation_id).select_for_update(of=("self",)).first()
    if found is None:
        return False
    found.revoked_at, found.revoked_by = timezone.now(), by
    found.save(update_fields=["revoked_at", "revoked_by"])
    _record(found, by, before={"role": found.role})
    return True


def find(token: str) -> Invitation | None:
    """The invitation of a link, usable or not."""
    return _with_names().filter(token_hash=_hash(token)).first()


def get(invitation_id: int) -> Invitation | None:
    return _with_names().filter(pk=invitation_id).first()


def _with_names() -> QuerySet[Invitation]:
    return Invitation.objects.select_related("project", "made_by", "used_by")


def refusal(invitation: Invitation) -> str:
    """Why the link cannot be used, and what to do; empty where it can."""
    if invitation.used_at is not None:
        return _("This link has been used. It works once: ask a manager of the project for another one.")
    if invitation.revoked_at is not None:
        return _("This link was revoked. Ask a manager of the project for another one.")
    if invitation.expires_at <= timezone.now():
        return _("This link has expired: it was good for 7 days. Ask a manager of the project for another one.")
    makers = Membership.objects.filter(project=invitation.project_id, role=Role.MANAGER, user__is_active=True)
    if not makers.filter(user=invitation.made_by_id).exists():
        return _("Who made this link does not manage the project any more. Ask a manager for another one.")
    return ""


@transaction.atomic
def accept(invitation_id: int, user: User) -> Membership:
    """Makes the user a member. Raises NotUsable, and UserError where they are a member already: the link is then as
    good as before."""
    invitation = Invitation.objects.select_for_update().get(pk=invitation_id)
    refused = refusal(invitation)
    if refused:
        raise NotUsable(refused)
    project, invited_by = invitation.project, str(invitation.made_by)
    membership = add_member(project, user, Role(invitation.role), by=user, invited_by=invited_by)
    invitation.used_at, invitation.used_by = timezone.now(), user
    invitation.save(update_fields=["used_at", "used_by"])
    return membership


@transaction.atomic
def accept_as_new(invitation_id: int, *, username: str, email: str, password: str) -> User:
    """Makes an account, which becomes a member: both, or neither. Raises NotUsable."""
    user: User = get_user_model().objects.create_user(username, email=email, password=password)
    accept(invitation_id, user)
    return user


def open_invitations(project: Project) -> QuerySet[Invitation]:
    """Those that can be used, the newest first."""
    return _with_names().filter(_is_open(), project=project)


def past_invitations(project: Project) -> QuerySet[Invitation]:
    """The last ones that cannot be used any more."""
    return _with_names().exclude(_is_open()).filter(project=project)[:MOST_PAST]


def _is_open() -> Q:
    """`refusal` finds nothing."""
    maker = Membership.objects.filter(
        project=OuterRef("project"), user=OuterRef("made_by"), role=Role.MANAGER, user__is_active=True
    )
    return Q(Exists(maker), used_at=None, revoked_at=None, expires_at__gt=timezone.now())


def _hash(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def _record(invitation: Invitation, by: User, **change: dict[str, str]) -> None:
    for_whom = f" for {invitation.email}" if invitation.email else ""
    label = in_english(Role(invitation.role).label).lower()
    subject = f"Invitation {invitation.pk} as {label}{for_whom}"
    audit.record(invitation.project, ChangeKind.MEMBERS, user=by, subject=subject, **change)
