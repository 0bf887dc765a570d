"""The bounds of the tiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from linker.models import Basis, Role
from linker.projects import access, overview
from linker.projects.policies.tiers import TierChange, change_tiers
from linker.query_strings import unknown_fields
from linker.reports import tier_notice
from linker.reports.ranking import newest_match
from linker.web.forms.tiers import tier_formset
from linker.web.views.settings.tab import FORM, render_tab, sent

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


# What each basis means to who moves a bound.
BASES = {
    Basis.PROBABILITY: "How likely an editor is to approve the suggestion: of a hundred suggestions at 0.5, about "
    "fifty. Runs that rank by similarity have no probability.",
    Basis.QUANTILE: "The position within the run, for any ranking: 0.9 is where the best tenth begins. Every run "
    "fills the tiers in the same proportions, even a weak one.",
    Basis.COSINE: "How close the two pages are in meaning, between \N{MINUS SIGN}1 and 1. Values can be compared "
    "between runs of one embedding model, but not between models.",
}


@require_http_methods(FORM)
def tiers(request: HttpRequest, slug: str) -> HttpResponse:
    """The bounds of one basis, `?basis=`; those in use unless it says otherwise."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    asked = request.GET.get("basis", "")
    basis = Basis(asked if asked in Basis.values else project.tier_basis)
    ignored = unknown_fields(request.GET, {"basis"})
    formset = tier_formset(project, basis, sent(request))
    if request.method == "POST" and formset.is_valid():
        formset.save(commit=False)
        changed = [*(tier for tier, _ in formset.changed_objects), *formset.new_objects]
        use = basis if "use" in request.POST else None
        change = change_tiers(project, changed, formset.deleted_objects, request.user, basis=basis, use=use)
        messages.success(request, _moves(change))
        return redirect(f"{reverse('settings_tiers', args=[slug])}?basis={basis}")
    newest = newest_match(project)
    held = overview.tier_figures(project, newest)
    for form in formset.forms:
        setattr(form, "counts", held.get(form.instance.pk))  # noqa: B010 (a field of the template)
    in_use = {tier.basis for tier in overview.tiers_in_use(project)}
    return render_tab(
        request,
        membership,
        "settings_tiers",
        formset=formset,
        below=held.get(None),
        newest=newest,
        basis=basis,
        bases=[(one, Basis(one).label, one in in_use) for one in BASES],
        meaning=BASES[basis],
        is_in_use=basis in in_use,
        is_chosen=basis == project.tier_basis,
        without_probability=project.tier_basis == Basis.PROBABILITY and Basis.COSINE in in_use,
        notice=tier_notice.tier_notice(project),
        ignored=ignored if asked in ("", *Basis.values) else ("basis", *ignored),
    )


def _moves(change: TierChange) -> str:
    """What saving did to the open suggestions, in a sentence."""
    names = [name for name in {**change.after, **change.before} if name]
    moved = [
        f"{name} {change.before.get(name, 0):,} \N{RIGHTWARDS ARROW} {change.after.get(name, 0):,}"
        for name in names
        if change.before.get(name, 0) != change.after.get(name, 0)
    ]
    return f"Saved. Suggestions moved: {', '.join(moved)}." if moved else "Saved. No suggestion changed its tier."
