"""Addresses that neither give nor receive links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from linker.models import ExclusionRule, Role
from linker.projects import access
from linker.projects.patterns import pattern_matches
from linker.projects.policies.exclusions import add_exclusion, remove_exclusion
from linker.web.forms.exclusions import ExclusionForm, PatternPreviewForm
from linker.web.page_context import shell
from linker.web.views.settings.tab import FORM, render_tab, sent

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@require_http_methods(FORM)
def exclusions(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    form = ExclusionForm(sent(request), project=project)
    preview = None
    if form.is_valid():
        if "check" not in request.POST:
            add_exclusion(form.save(commit=False), request.user)
            messages.success(request, "Saved. This applies from the next match run.")
            return redirect("settings_exclusions", slug)
        preview = pattern_matches(project, [form.cleaned_data["pattern"]])[0]
    rules = list(ExclusionRule.objects.filter(project=project).order_by("pk"))
    found = pattern_matches(project, [rule.pattern for rule in rules])
    return render_tab(
        request,
        membership,
        "settings_exclusions",
        form=form,
        rules=list(zip(rules, found, strict=True)),
        matches=preview,
    )


@require_safe
def exclusion_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """What the pattern in the query would find."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = PatternPreviewForm({"pattern": request.GET.get("pattern", "")[:300]})
    context = shell(membership, "settings")
    if not form.is_valid():
        context["fault"] = form.errors["pattern"][0]
    elif pattern := form.cleaned_data["pattern"]:
        context["matches"] = pattern_matches(membership.project, [pattern])[0]
    return render(request, "linker/_matches.html", context)


@access.posts("settings_exclusions")
def exclusion_remove(request: HttpRequest, slug: str, rule_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    if remove_exclusion(membership.project, rule_id, request.user):
        messages.success(request, "Removed. The rule no longer applies from the next match run.")
    else:
        messages.warning(request, "That rule had already been removed.")
    return redirect("settings_exclusions", slug)
