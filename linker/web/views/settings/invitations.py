"""Links by which people become members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.models import Role
from linker.projects import access, invitations
from linker.web.forms.members import InvitationForm
from linker.web.views.settings.members import members_page, show_once

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@access.posts("settings_members")
def invite(request: HttpRequest, slug: str) -> HttpResponse:
    """Makes a link and leads to the page that shows it once; it is not kept."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = InvitationForm(request.POST, prefix="invite")
    if not form.is_valid():
        return members_page(request, membership, invite_form=form)
    try:
        _invitation, token = invitations.invite(
            membership.project, Role(form.cleaned_data["role"]), form.cleaned_data["email"], by=membership.user
        )
    except UserError as error:
        form.add_error(None, str(error))
        return members_page(request, membership, invite_form=form)
    show_once(request, membership.project, request.build_absolute_uri(f"{reverse('join')}?token={token}"))
    return redirect(reverse("settings_members", args=[slug]) + "#invitations")


@access.posts("settings_members")
def revoke(request: HttpRequest, slug: str, invitation_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    if invitations.revoke(membership.project, invitation_id, by=membership.user):
        messages.success(request, _("The link is revoked: nobody can use it any more."))
    else:
        messages.warning(request, _("That link could not be used any more as it was."))
    return redirect("settings_members", slug)
