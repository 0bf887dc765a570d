"""What pages are for: rules, and what each role gives and receives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from linker.models import Membership, Role, RoleRule, Run, RunKind
from linker.pages.roles import links_by_role, role_choices
from linker.projects import access
from linker.projects.patterns import pattern_matches
from linker.projects.policies.roles import add_role_rule, remove_role_rule, reset_role_links, set_role_links
from linker.web.forms.roles import RoleLinksForm, RoleRuleForm
from linker.web.views.settings.tab import FORM, render_tab, sent, start_or_show

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@require_http_methods(FORM)
def roles(request: HttpRequest, slug: str) -> HttpResponse:
    """What pages are for: how many have which role, rules, and what each role gives and receives."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    form = RoleRuleForm(sent(request), project=project)
    preview = None
    if form.is_valid():
        if "check" not in request.POST:
            run = add_role_rule(form.save(commit=False), request.user)
            if run is not None:
                messages.success(request, _("Saved. A run that assigns the roles to the pages has started."))
                return redirect("run", slug, run.pk)
            messages.success(request, _("Saved. The pages have their new roles, which apply from the next match run."))
            return redirect("settings_roles", slug)
        preview = pattern_matches(project, [form.cleaned_data["pattern"]])[0]
    return _roles_page(request, membership, form, RoleLinksForm(links=links_by_role(project)), matches=preview)


def _roles_page(
    request: HttpRequest, membership: Membership, form: RoleRuleForm, links_form: RoleLinksForm, **context: Any
) -> HttpResponse:
    project = membership.project
    rules = list(RoleRule.objects.filter(project=project).order_by("pk"))
    found = pattern_matches(project, [rule.pattern for rule in rules])
    return render_tab(
        request,
        membership,
        "settings_roles",
        form=form,
        links_form=links_form,
        rules=list(zip(rules, found, strict=True)),
        counts=[one for one in role_choices(project) if one[2]],
        **context,
    )


@access.posts("settings_roles")
def role_links(request: HttpRequest, slug: str) -> HttpResponse:
    """Saves what pages of each role give and receive."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    if "reset" in request.POST:
        reset_role_links(project, request.user)
        messages.success(request, _("The default settings apply again from the next match run."))
        return redirect("settings_roles", slug)
    links_form = RoleLinksForm(request.POST, links=links_by_role(project))
    if not links_form.is_valid():
        return _roles_page(request, membership, RoleRuleForm(project=project), links_form)
    set_role_links(project, links_form.chosen(), request.user)
    messages.success(request, _("Saved. This applies from the next match run."))
    return redirect("settings_roles", slug)


@access.posts("settings_roles")
def role_rule_remove(request: HttpRequest, slug: str, rule_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    removed = remove_role_rule(membership.project, rule_id, request.user)
    if isinstance(removed, Run):
        messages.success(request, _("Removed. A run that assigns the roles to the pages is under way."))
        return redirect("run", slug, removed.pk)
    if removed:
        messages.success(request, _("Removed. The rule no longer applies from the next match run."))
    else:
        messages.warning(request, _("That rule had already been removed."))
    return redirect("settings_roles", slug)


@access.posts("settings_roles")
def roles_find(request: HttpRequest, slug: str) -> HttpResponse:
    """Starts a run that finds all roles again."""
    return start_or_show(request, slug, RunKind.ROLES)
