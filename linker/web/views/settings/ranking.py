"""The weights of the stated formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from linker.models import Role
from linker.projects import access
from linker.projects.overview import open_by_ranking
from linker.projects.policies.ranking import set_formula_weights
from linker.web.forms.ranking import FormulaForm
from linker.web.views.settings.tab import FORM, render_tab, sent
from linker.web.views.settings.undo import offer_undo

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from linker.models import Project


@require_http_methods(FORM)
def ranking(request: HttpRequest, slug: str) -> HttpResponse:
    """The weights of the stated formula."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    former = membership.project.formula_weights
    if request.method == "POST" and "reset" in request.POST:
        set_formula_weights(membership.project, {}, request.user)
        _offer_undo(request, membership.project, former)
        messages.success(request, _("The default weights apply again from the next match run."))
        return redirect("settings_ranking", slug)
    form = FormulaForm(sent(request), chosen=membership.project.formula_weights)
    is_checked = form.is_valid() and "check" in request.POST
    if form.is_valid() and not is_checked:
        set_formula_weights(membership.project, form.weights(), request.user)
        _offer_undo(request, membership.project, former)
        messages.success(request, _("Saved. The weights apply from the next match run by the formula."))
        return redirect("settings_ranking", slug)
    effect = {"changes": form.changes(), "ranked": open_by_ranking(membership.project)} if is_checked else {}
    return render_tab(request, membership, "settings_ranking", form=form, **effect)


def _offer_undo(request: HttpRequest, project: Project, former: dict[str, float]) -> None:
    fields = [(name, str(weight)) for name, weight in (FormulaForm.defaults() | former).items()]
    offer_undo(request, project, "settings_ranking", reverse("settings_ranking", args=[project.slug]), fields)
