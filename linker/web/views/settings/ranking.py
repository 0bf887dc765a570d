"""The weights of the stated formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from linker.models import Role
from linker.projects import access
from linker.projects.policies.ranking import set_formula_weights
from linker.web.forms.ranking import FormulaForm
from linker.web.views.settings.tab import FORM, render_tab, sent

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@require_http_methods(FORM)
def ranking(request: HttpRequest, slug: str) -> HttpResponse:
    """The weights of the stated formula."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    if request.method == "POST" and "reset" in request.POST:
        set_formula_weights(membership.project, {}, request.user)
        messages.success(request, "The default weights apply again from the next match run.")
        return redirect("settings_ranking", slug)
    form = FormulaForm(sent(request), chosen=membership.project.formula_weights)
    if form.is_valid():
        set_formula_weights(membership.project, form.weights(), request.user)
        messages.success(request, "Saved. The weights apply from the next match run by the formula.")
        return redirect("settings_ranking", slug)
    return render_tab(request, membership, "settings_ranking", form=form)
