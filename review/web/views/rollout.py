"""Sections that links are rolled out to in stages: a tab of the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from linker.models import Role
from linker.projects import access
from linker.web.views.settings.tab import FORM, render_tab, sent
from linker.web.views.settings.undo import offer_undo
from review.releases.rollout import rules_of
from review.releases.rollout_rules import effect_of, remove_rule, set_rule
from review.web.rollout_forms import RolloutForm

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from review.models import RolloutRule

TAB = "settings_rollout"


@require_http_methods(FORM)
def rollout(request: HttpRequest, slug: str) -> HttpResponse:
    """The rules; a new one is saved once its effect was shown, or at once."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    form = RolloutForm(sent(request), project=project)
    effect = None
    if form.is_valid():
        rule = form.save(commit=False)
        if "check" not in request.POST:
            former = next((one for one in rules_of(project) if str(one) == str(rule)), None)
            saved = set_rule(rule, request.user)
            if former is None:
                offer_undo(request, project, TAB, reverse("rollout_remove", args=[slug, saved.pk]), [])
            else:
                offer_undo(request, project, TAB, reverse(TAB, args=[slug]), _fields(former))
            messages.success(request, _("Saved. This applies from the next release."))
            return redirect(TAB, slug)
        effect = effect_of(rule)
    return render_tab(request, membership, TAB, form=form, rules=rules_of(project), effect=effect)


@access.posts(TAB)
def rollout_remove(request: HttpRequest, slug: str, rule_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    former = remove_rule(membership.project, rule_id, request.user)
    if former is None:
        messages.warning(request, _("That rule had already been removed."))
    else:
        offer_undo(request, membership.project, TAB, reverse(TAB, args=[slug]), _fields(former))
        messages.success(request, _("Removed. The rule no longer applies from the next release."))
    return redirect(TAB, slug)


def _fields(rule: RolloutRule) -> list[tuple[str, str]]:
    """The form that makes the rule."""
    category = str(rule.category_id or "")
    return [("category", category), ("pattern", rule.pattern), ("stage", rule.stage), ("share", str(rule.share))]


rollout_urls = [
    path("settings/rollout/", rollout, name=TAB),
    path("settings/rollout/<int:rule_id>/remove/", rollout_remove, name="rollout_remove"),
]
