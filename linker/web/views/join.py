"""Opening an invitation: sign in or make an account, and become a member.

The secret of the link leaves the address bar at once; the session keeps which invitation it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from linker.errors import UserError
from linker.models import Invitation, Membership, Role
from linker.projects import invitations
from linker.web.forms.members import AccountForm
from linker.web.views.settings.tab import FORM, sent
from linker.wording import within

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse

SESSION_KEY = "invitation"


@login_not_required
@require_http_methods(FORM)
def join(request: HttpRequest) -> HttpResponse:
    if "token" in request.GET:
        return _open_link(request, request.GET["token"])
    invitation = invitations.get(request.session.get(SESSION_KEY, 0))
    if invitation is None:
        return _refuse(request, _("Open the link of your invitation again."), status=404)
    if refused := invitations.refusal(invitation):
        return _refuse(request, refused)
    if request.POST.get("invitation", "") not in ("", str(invitation.pk)):
        messages.warning(request, _("You have opened another invitation since, this one. Join here if it is the one."))
        return redirect("join")
    if request.user.is_authenticated:
        return _as_signed_in(request, invitation, request.user)
    return _as_new(request, invitation)


def _open_link(request: HttpRequest, token: str) -> HttpResponse:
    invitation = invitations.find(token)
    if invitation is None:
        said = _("This is not the link of an invitation. Copy the whole link, or ask a manager for another one.")
        return _refuse(request, said, status=404)
    if refused := invitations.refusal(invitation):
        return _refuse(request, refused)
    request.session[SESSION_KEY] = invitation.pk
    return redirect("join")


def _as_signed_in(request: HttpRequest, invitation: Invitation, user: User) -> HttpResponse:
    if Membership.objects.filter(project=invitation.project_id, user=user).exists():
        messages.info(request, _("You are a member of %(project)s already.") % {"project": invitation.project})
        return redirect("project", invitation.project.slug)
    if request.method != "POST":
        return _page(request, invitation)
    try:
        invitations.accept(invitation.pk, user)
    except UserError as error:
        return _refuse(request, str(error))
    return _welcome(request, invitation)


def _as_new(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    if not settings.PASSWORD_SIGN_IN:
        return _page(request, invitation)
    form = AccountForm(sent(request), initial={"email": invitation.email})
    if not form.is_valid():
        return _page(request, invitation, form, status=422 if form.is_bound else 200)
    made = form.cleaned_data
    try:
        user = invitations.accept_as_new(
            invitation.pk, username=made["username"], email=made["email"], password=made["password1"]
        )
    except invitations.NotUsable as error:
        return _refuse(request, str(error))
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return _welcome(request, invitation)


def _welcome(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    request.session.pop(SESSION_KEY, None)
    messages.success(request, _("You are a member of %(project)s now.") % {"project": invitation.project})
    return redirect("project", invitation.project.slug)


def _page(
    request: HttpRequest, invitation: Invitation, form: AccountForm | None = None, status: int = 200
) -> HttpResponse:
    role = within(Role(invitation.role).label)
    return render(request, "linker/join.html", {"invitation": invitation, "role": role, "form": form}, status=status)


def _refuse(request: HttpRequest, said: str, status: int = 410) -> HttpResponse:
    request.session.pop(SESSION_KEY, None)
    return render(request, "linker/join_refused.html", {"said": said}, status=status)
