"""The bounds of the tiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.contrib import messages
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from linker.errors import UserError
from linker.models import Basis, Membership, Project, Role, Run
from linker.projects import access, overview
from linker.projects.policies.retier import TierChange, change_under_way
from linker.projects.policies.tiers import change_tiers, keep_bounds
from linker.projects.shown_share import SHARES
from linker.projects.tier_preview import Spread
from linker.query_strings import unknown_fields
from linker.reports import tier_notice
from linker.web.forms.cohorts import bounds_of_text
from linker.web.forms.tiers import TierFormSetBase, former_values, tier_formset
from linker.web.views.settings.cohorts import cohort_list
from linker.web.views.settings.histogram import histogram
from linker.web.views.settings.tab import FORM, render_tab, sent
from linker.web.views.settings.undo import offer_undo
from linker.wording import number

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse


TAB = "settings_tiers"
# What each basis means to who moves a bound.
BASES = {
    Basis.PROBABILITY: gettext_lazy(
        "How likely an editor is to approve the suggestion: of a hundred suggestions at 0.5, about "
        "fifty. Runs that rank by similarity have no probability."
    ),
    Basis.QUANTILE: gettext_lazy(
        "The position within the run, for any ranking: 0.9 is where the best tenth begins. Every run "
        "fills the tiers in the same proportions, even a weak one."
    ),
    Basis.COSINE: gettext_lazy(
        "How close the two pages are in meaning, between −1 and 1. Values can be compared "
        "between runs of one embedding model, but not between models."
    ),
}


@require_http_methods(FORM)
def tiers(request: HttpRequest, slug: str) -> HttpResponse:
    """The bounds of one basis, `?basis=`; those in use unless it says otherwise.

    POST with `check` shows what the bounds would change, and saves nothing.
    """
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    asked = request.GET.get("basis", "")
    basis = Basis(asked if asked in Basis.values else project.tier_basis)
    ignored = unknown_fields(request.GET, {"basis", "category", "role"})
    formset = tier_formset(project, basis, sent(request))
    is_checked = "check" in request.POST
    if request.method == "POST" and not is_checked and formset.is_valid():
        return _save(request, project, basis, formset)
    in_use = {tier.basis for tier in overview.tiers_in_use(project)}
    spread = Spread(project, basis)
    effect = None
    if is_checked and formset.is_valid():
        effect = spread.effect_of_saving(formset.bounds(), in_use=basis in in_use)
    shown: dict[str, Any] = {"effect": effect, "is_in_use": basis in in_use}
    if is_checked and request.headers.get("HX-Request"):
        return render(request, "linker/_tier_effect.html", shown)
    if effect is None and not formset.is_bound:
        shown["effect"] = spread.effect(spread.bounds(), in_use=basis in in_use)
    held = overview.open_by_tier(project)
    for form in formset.forms:
        setattr(form, "open", held.get(form.instance.pk, 0))  # noqa: B010 (a field of the template)
    return _tab(
        request,
        membership,
        formset=formset,
        histogram=histogram(spread),
        below=held.get(None),
        basis=basis,
        bases=[(one, Basis(one).label, one in in_use) for one in BASES],
        meaning=BASES[basis],
        is_chosen=basis == project.tier_basis,
        without_probability=project.tier_basis == Basis.PROBABILITY and Basis.COSINE in in_use,
        ignored=ignored if asked in ("", *Basis.values) else ("basis", *ignored),
        **cohort_list(project, basis, request.GET.get("category", "")),
        **shown,
    )


def _tab(request: HttpRequest, membership: Membership, **context: Any) -> HttpResponse:
    project = membership.project
    notice = tier_notice.tier_notice(project)
    return render_tab(request, membership, TAB, notice=notice, under_way=change_under_way(project), **context)


def _save(request: HttpRequest, project: Project, basis: Basis, formset: TierFormSetBase) -> HttpResponse:
    former, used = list(project.tiers.filter(basis=basis)), project.tier_basis
    formset.save(commit=False)
    changed = [*(tier for tier, _changes in formset.changed_objects), *formset.new_objects]
    asked = request.POST.get("use", "")
    use = Basis(asked) if asked in Basis.values else None
    # What takes back a change says what the former bounds were chosen for.
    share = next((one for one in SHARES if request.POST.get("share") == f"{one:g}"), None)
    former_share = project.expected_share
    try:
        change = change_tiers(
            project,
            changed,
            formset.deleted_objects,
            request.user,
            basis=basis,
            use=use,
            share=share,
            wordless=bounds_of_text(request.POST.get("wordless")),
        )
    except UserError as error:
        messages.error(request, str(error))
        return redirect(f"{reverse('settings_tiers', args=[project.slug])}?basis={basis}")
    address = f"{reverse('settings_tiers', args=[project.slug])}?basis={basis}"
    back = former_values(project, basis, former) + ([("use", used)] if use not in (None, used) else [])
    back += [("share", f"{former_share:g}")] if former_share is not None else []
    if not isinstance(change, Run):
        messages.success(request, moves_of(change))
        offer_undo(request, project, TAB, address, back)
    elif not (formset.new_objects or formset.deleted_objects):  # which the form that undoes it cannot name yet
        offer_undo(request, project, TAB, address, back, change)
    return redirect(address)


@access.posts("settings_tiers")
def bounds_keep(request: HttpRequest, slug: str) -> HttpResponse:
    """A manager's word that the bounds hold for a run that was ranked otherwise; `run` is the one that was shown."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    notice = tier_notice.tier_notice(membership.project)
    if notice is None or request.POST.get("run") != str(notice.run.pk):
        messages.warning(request, _("Nothing was kept: somebody has looked at the bounds, or another run stands now."))
    else:
        keep_bounds(membership.project, notice.run, notice.before, cast("User", request.user))
        messages.success(request, _("The bounds of the tiers stay as they are."))
    return redirect("project" if request.POST.get("from") == "overview" else "settings_tiers", slug)


def moves_of(change: TierChange) -> str:
    """What saving did to the open suggestions, in a sentence."""
    names = [name for name in {**change.after, **change.before} if name]
    moved = [
        f"{name} {number(change.before.get(name, 0))} \N{RIGHTWARDS ARROW} {number(change.after.get(name, 0))}"
        for name in names
        if change.before.get(name, 0) != change.after.get(name, 0)
    ]
    if not moved:
        return _("Saved. No suggestion changed its tier.")
    return _("Saved. Suggestions moved: %(moved)s.") % {"moved": ", ".join(moved)}
