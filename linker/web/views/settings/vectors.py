"""The sets of vectors that a project has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from linker.embedding import vector_sets
from linker.embedding.text import RECIPES
from linker.errors import UserError
from linker.models import Role, Run
from linker.pages.languages import model_advice
from linker.projects import access
from linker.reports.vectors import sentences
from linker.storage.site_figures import site_figures
from linker.web.views.settings.tab import render_tab

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@require_safe
def vector_list(request: HttpRequest, slug: str) -> HttpResponse:
    """The sets of vectors there are, and what the settings ask for."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    sets = vector_sets.vector_sets(project)
    return render_tab(
        request,
        membership,
        "settings_vectors",
        sets=sets,
        recipe=RECIPES[project.text_recipe],
        advice=model_advice(project, site_figures(project).languages),
    )


@access.posts("settings_vectors")
def vectors_drop(request: HttpRequest, slug: str, model_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    try:
        dropped = vector_sets.drop_vectors(membership.project, model_id, request.user)
    except UserError as error:
        messages.error(request, str(error))
    else:
        if isinstance(dropped, Run):
            return redirect("run", slug, dropped.pk)
        messages.success(request, " ".join(sentences(dropped)))
    return redirect("settings_vectors", slug)
