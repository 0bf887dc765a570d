"""Who may see the project, and do what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from linker.errors import UserError
from linker.models import Membership, Role
from linker.projects import access, invitations, members
from linker.web.forms.members import InvitationForm, MemberForm, RoleForm
from linker.web.views.settings.tab import FORM, render_tab, sent

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from linker.models import Project

INVITATION_LINK = "invitation_link"  # in the session


@require_http_methods(FORM)
def member_list(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = MemberForm(sent(request))
    if form.is_valid():
        try:
            added = members.add_member(
                membership.project, form.cleaned_data["username"], form.cleaned_data["role"], by=request.user
            )
        except UserError as error:
            form.add_error("username", str(error))
        else:
            messages.success(request, _role_now(added))
            return redirect("settings_members", slug)
    return members_page(request, membership, form=form)


def members_page(
    request: HttpRequest,
    membership: Membership,
    form: MemberForm | None = None,
    invite_form: InvitationForm | None = None,
) -> HttpResponse:
    project = membership.project
    rows = Membership.objects.filter(project=project).select_related("user").order_by("user__username")
    return render_tab(
        request,
        membership,
        "settings_members",
        form=form or MemberForm(),
        invite_form=invite_form or InvitationForm(prefix="invite"),
        link=_shown_once(request, project),
        rows=rows.prefetch_related("sections__category"),
        roles=Role.choices,
        invitations=invitations.open_invitations(project),
        past_invitations=invitations.past_invitations(project),
    )


def show_once(request: HttpRequest, project: Project, link: str) -> None:
    """Has the next page of the project's members show the link of an invitation that has just been made."""
    request.session[INVITATION_LINK] = {"project": project.pk, "link": link}


def _shown_once(request: HttpRequest, project: Project) -> str:
    """The link that is to be shown, which the session forgets."""
    kept = request.session.get(INVITATION_LINK)
    if kept is None or kept["project"] != project.pk:
        return ""
    link: str = request.session.pop(INVITATION_LINK)["link"]
    return link


def _role_now(membership: Membership) -> str:
    said = {
        Role.VIEWER: _("%(user)s is a viewer now."),
        Role.EDITOR: _("%(user)s is an editor now."),
        Role.EXPERT: _("%(user)s is an expert now."),
        Role.MANAGER: _("%(user)s is a manager now."),
    }
    return said[Role(membership.role)] % {"user": membership.user}


@access.posts("settings_members")
def member_change(request: HttpRequest, slug: str, membership_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Choose one of the roles."))
        return redirect("settings_members", slug)
    try:
        changed = members.change_role(
            membership.project, membership_id, Role(form.cleaned_data["role"]), by=request.user
        )
    except UserError as error:
        messages.error(request, str(error))
        return redirect("settings_members", slug)
    if changed is None:
        messages.warning(request, _("That member had already been removed."))
        return redirect("settings_members", slug)
    messages.success(request, _role_now(changed))
    if changed.pk == membership.pk and changed.role != Role.MANAGER:
        return redirect("project", slug)
    if changed.role == Role.EXPERT and not changed.sections.exists():
        return redirect("member_sections", slug, changed.pk)
    return redirect("settings_members", slug)


@access.posts("settings_members")
def member_remove(request: HttpRequest, slug: str, membership_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    try:
        removed = members.remove_member(membership.project, membership_id, by=request.user)
    except UserError as error:
        messages.error(request, str(error))
        return redirect("settings_members", slug)
    if removed is None:
        messages.warning(request, _("That member had already been removed."))
        return redirect("settings_members", slug)
    messages.success(request, _("%(user)s is no longer a member.") % {"user": removed.user})
    if removed.pk == membership.pk:
        return redirect("projects")
    return redirect("settings_members", slug)
