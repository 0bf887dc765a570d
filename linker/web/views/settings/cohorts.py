"""Bounds of their own for links from a category, to pages with a role, or without words in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from linker.errors import UserError
from linker.matching.cohorts import ASKED, OwnBounds, cohorts_of
from linker.models import Basis, Category, Cohort, Project, Role, Run
from linker.models.subtrees import nearby
from linker.projects import access, overview
from linker.projects.policies.cohorts import WORDLESS, CohortName, name_of, set_bounds
from linker.projects.policies.retier import change_under_way
from linker.projects.tier_effect import NOT_USED
from linker.projects.tier_preview import Spread
from linker.query_strings import is_id, unknown_fields
from linker.web.forms.cohorts import CohortBoundsForm, CohortChoiceForm, former_bounds
from linker.web.views.settings.histogram import histogram
from linker.web.views.settings.tab import FORM, render_tab, sent
from linker.web.views.settings.undo import offer_undo

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from linker.projects.tier_effect import Effect

TAB = "settings_tiers"


@require_http_methods(FORM)
def cohort(request: HttpRequest, slug: str) -> HttpResponse:
    """The bounds of `?basis=` for the links of `?category=` or `?role=`; with `?wordless=1`, for links without words.

    POST with `check` shows what they would change, with `without` what their removal would, and saves nothing; with
    `remove` it removes them.
    """
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    name = _named(project, request)
    if name is None:
        messages.error(request, _("Choose a category or a role: one of the two."))
        return redirect(TAB, slug)
    saved = name.find(project)
    if request.method == "POST" and "remove" in request.POST:
        return _save(request, project, name, {})
    basis = Basis(name.basis)
    spread = Spread(project, basis, _as_read(project, name, saved))
    is_removal = "without" in request.POST
    form = CohortBoundsForm(spread.bounds(), basis, None if is_removal else sent(request))
    is_checked = "check" in request.POST
    if request.method == "POST" and not (is_checked or is_removal) and form.is_valid():
        return _save(request, project, name, {one.tier or 0: one.lower for one in form.bounds()})
    in_use = basis in {tier.basis for tier in overview.tiers_in_use(project)}
    effect = _effect(spread, form, is_checked=is_checked, is_removal=is_removal, in_use=in_use)
    shown: dict[str, Any] = {"effect": effect, "is_in_use": in_use}
    if is_checked and request.headers.get("HX-Request"):
        return render(request, "linker/_tier_effect.html", shown)
    return render_tab(
        request,
        membership,
        TAB,
        template="settings_cohort",
        form=form,
        histogram=histogram(spread),
        saved=saved,
        named=name.unsaved(project),
        basis=basis,
        is_removal=is_removal,
        under_way=change_under_way(project),
        ignored=unknown_fields(request.GET, {"basis", "category", "role", "wordless"}),
        **shown,
    )


def _named(project: Project, request: HttpRequest) -> CohortName | None:
    """What the address asks about; None where that is not one thing of the project."""
    basis = request.GET.get("basis", "")
    basis = basis if basis in Basis.values else project.tier_basis
    if request.GET.get("wordless"):
        return WORDLESS if basis == Basis.PROBABILITY else None
    category, role = request.GET.get("category", ""), request.GET.get("role", "")
    if category and not role and is_id(category):
        found = Category.objects.filter(project=project, pk=int(category)).first()
        return CohortName(basis, category=found) if found is not None else None
    is_role = role in dict(CohortChoiceForm.roles())
    return CohortName(basis, role=role) if is_role and not category else None


def _as_read(project: Project, name: CohortName, saved: Cohort | None) -> OwnBounds:
    known = {one.id: one for one in cohorts_of(project, name.basis)}
    if saved is not None and saved.pk in known:
        return known[saved.pk]
    category = name.category.pk if name.category is not None else None
    return OwnBounds(ASKED, name.basis, category, name.role, wordless=name.wordless)


def _effect(
    spread: Spread, form: CohortBoundsForm, *, is_checked: bool, is_removal: bool, in_use: bool
) -> Effect | None:
    if is_removal:
        return spread.effect_of_removing(in_use=in_use)
    if is_checked and form.is_valid():
        return spread.effect_of_saving(form.bounds(), in_use=in_use)
    return None if form.is_bound else spread.effect(spread.bounds(), in_use=in_use)


def _save(request: HttpRequest, project: Project, name: CohortName, lowers: dict[int, float]) -> HttpResponse:
    """Sets these bounds; removes those that there are where it is given none."""
    before = name.find(project)
    former = {bound.tier_id: bound.lower_bound for bound in before.bounds.all()} if before is not None else {}
    bounds = {tier: lower for tier, lower in lowers.items() if lower != NOT_USED}
    if not (bounds or former):
        messages.warning(request, _("These links had no bounds of their own any more."))
    else:
        try:
            change = set_bounds(project, name, bounds, request.user)
        except UserError as error:
            messages.error(request, str(error))
            return redirect(address_of(project, name))
        run = change if isinstance(change, Run) else None
        offer_undo(request, project, TAB, address_of(project, name), former_bounds(former), run)
        if run is None:
            done = _("Saved. Suggestions were assigned to tiers again.") if bounds else _("Removed.")
            messages.success(request, done)
    return redirect(f"{reverse(TAB, args=[project.slug])}?basis={name.basis}")


def address_of(project: Project, name: CohortName) -> str:
    asked = ("role", name.role) if name.category is None else ("category", str(name.category.pk))
    if name.wordless:
        asked = ("wordless", "1")
    return f"{reverse('settings_cohort', args=[project.slug])}?{urlencode([('basis', name.basis), asked])}"


def cohort_list(project: Project, basis: str, asked: str) -> dict[str, Any]:
    """What the tab of the tiers shows of cohorts; `asked`: the category that a large tree is opened at."""
    at = Category.objects.filter(project=project, pk=int(asked)).first() if is_id(asked) else None
    offered = nearby(project, at.pk if at else None)
    cohorts = list(Cohort.objects.filter(project=project, basis=basis).select_related("category").order_by("pk"))
    bounds = {one.id: one.bounds for one in cohorts_of(project, basis)} if cohorts else {}
    tiers = project.tiers.filter(basis=basis)
    rows = [
        (
            one,
            address_of(project, name_of(one)),
            [(tier.name, bounds[one.pk].get(tier.pk)) for tier in tiers],
        )
        for one in cohorts
    ]
    return {
        "cohorts": rows,
        "cohort_form": CohortChoiceForm(offered, {"category": at.pk if at else ""}),
        "is_cut": Category.objects.filter(project=project).exclude(pk__in=[one.pk for one in offered]).exists(),
        "opened_at": at,
        "may_be_wordless": basis == Basis.PROBABILITY and not any(one.wordless for one in cohorts),
    }
