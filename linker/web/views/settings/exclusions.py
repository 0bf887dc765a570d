"""Addresses that neither give nor receive links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from linker.models import ExclusionRule, Role
from linker.models.policy import Side
from linker.projects import access
from linker.projects.patterns import pattern_matches
from linker.projects.policies.exclusions import EXCLUSION_FIELDS, add_exclusion, remove_exclusion
from linker.projects.rule_preview import excluded
from linker.web.forms.exclusions import ExclusionForm, PatternPreviewForm
from linker.web.page_context import shell
from linker.web.views.settings.tab import FORM, render_tab, sent
from linker.web.views.settings.undo import offer_undo

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from linker.models import Project

TAB = "settings_exclusions"


@require_http_methods(FORM)
def exclusions(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    asked = {name: request.GET[name][:300] for name in ("pattern", "side") if name in request.GET}
    form = ExclusionForm(sent(request), project=project, initial=asked)
    preview: dict[str, Any] = {}
    if form.is_valid():
        if "check" not in request.POST:
            rule = form.save(commit=False)
            add_exclusion(rule, request.user)
            offer_undo(request, project, TAB, reverse("exclusion_remove", args=[slug, rule.pk]), [])
            messages.success(request, _("Saved. This applies from the next match run."))
            return redirect("settings_exclusions", slug)
        preview = _preview(project, form.cleaned_data["pattern"], form.cleaned_data["side"])
    elif not form.is_bound and asked:  # as a card of the queue asks
        question = PatternPreviewForm(asked)
        if question.is_valid() and asked.get("side") in Side.values:
            preview = _preview(project, question.cleaned_data["pattern"], asked["side"])
    rules = list(ExclusionRule.objects.filter(project=project).order_by("pk"))
    found = pattern_matches(project, [rule.pattern for rule in rules])
    return render_tab(
        request,
        membership,
        "settings_exclusions",
        form=form,
        rules=list(zip(rules, found, strict=True)),
        **preview,
    )


def _preview(project: Project, pattern: str, side: str) -> dict[str, Any]:
    return {"matches": pattern_matches(project, [pattern])[0], "touched": excluded(project, pattern, side)}


@require_safe
def exclusion_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """What the pattern in the query would find; with a side, also the suggestions that would go."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = PatternPreviewForm({"pattern": request.GET.get("pattern", "")[:300]})
    context = shell(membership, "settings")
    if not form.is_valid():
        context["fault"] = form.errors["pattern"][0]
    elif pattern := form.cleaned_data["pattern"]:
        if (side := request.GET.get("side")) in Side.values:
            context |= _preview(membership.project, pattern, side)
        else:
            context["matches"] = pattern_matches(membership.project, [pattern])[0]
    return render(request, "linker/_matches.html", context)


@access.posts("settings_exclusions")
def exclusion_remove(request: HttpRequest, slug: str, rule_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    former = ExclusionRule.objects.filter(project=membership.project, pk=rule_id).first()
    if remove_exclusion(membership.project, rule_id, request.user):
        if former is not None:
            fields = [(name, getattr(former, name)) for name in EXCLUSION_FIELDS]
            offer_undo(request, membership.project, TAB, reverse("settings_exclusions", args=[slug]), fields)
        messages.success(request, _("Removed. The rule no longer applies from the next match run."))
    else:
        messages.warning(request, _("That rule had already been removed."))
    return redirect("settings_exclusions", slug)
