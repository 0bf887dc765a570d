"""Who may see the project, and do what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from linker.errors import UserError
from linker.models import Membership, Role
from linker.projects import access, members
from linker.web.forms.members import MemberForm, RoleForm
from linker.web.views.settings.tab import FORM, render_tab, sent

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


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
            messages.success(request, f"{form.cleaned_data['username']} is {_a_role(added)} now.")
            return redirect("settings_members", slug)
    rows = Membership.objects.filter(project=membership.project).select_related("user").order_by("user__username")
    return render_tab(request, membership, "settings_members", form=form, rows=rows, roles=Role.choices)


def _a_role(membership: Membership) -> str:
    return f"{'an' if membership.role == Role.EDITOR else 'a'} {membership.get_role_display().lower()}"


@access.posts("settings_members")
def member_change(request: HttpRequest, slug: str, membership_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose one of the roles.")
        return redirect("settings_members", slug)
    try:
        changed = members.change_role(
            membership.project, membership_id, Role(form.cleaned_data["role"]), by=request.user
        )
    except UserError as error:
        messages.error(request, str(error))
        return redirect("settings_members", slug)
    if changed is None:
        messages.warning(request, "That member had already been removed.")
        return redirect("settings_members", slug)
    messages.success(request, f"{changed.user} is {_a_role(changed)} now.")
    if changed.pk == membership.pk and changed.role != Role.MANAGER:
        return redirect("project", slug)
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
        messages.warning(request, "That member had already been removed.")
        return redirect("settings_members", slug)
    messages.success(request, f"{removed.user} is no longer a member.")
    if removed.pk == membership.pk:
        return redirect("projects")
    return redirect("settings_members", slug)
