"""The list of one's projects, a new project, and a project's overview."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from linker.models import Role, Run
from linker.models.placements import Stands
from linker.pages.languages import model_advice
from linker.projects import access, overview
from linker.projects.own_bounds import other_cohorts, wordless_bounds
from linker.projects.queue_sum import queue_sum
from linker.reports import tier_notice
from linker.storage.site_figures import site_figures
from linker.web.forms.projects import ProjectCreateForm
from linker.web.page_context import shell

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.contrib.auth.models import AnonymousUser, User
    from django.http import HttpRequest, HttpResponse


def may_create(user: User | AnonymousUser) -> bool:
    """Staff, and users with Django's permission to add projects."""
    return user.is_staff or user.has_perm("linker.add_project")


@require_safe
def projects(request: HttpRequest) -> HttpResponse:
    context = {"memberships": overview.project_cards(request.user), "may_create": may_create(request.user)}
    return render(request, "linker/projects.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def project_create(request: HttpRequest) -> HttpResponse:
    if not may_create(request.user):
        raise PermissionDenied(_("Only staff, or users who may add projects, can create one"))
    posted = request.method == "POST"
    form = ProjectCreateForm(request.POST if posted else None)
    if posted and form.is_valid():
        project = form.create(request.user)
        messages.success(request, _("%(name)s has been created. You are its manager.") % {"name": project.name})
        return redirect("project", project.slug)
    return render(request, "linker/project_create.html", {"form": form}, status=422 if posted else 200)


@require_safe
def project(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug)
    kept = site_figures(membership.project)
    site = overview.site_figures(membership.project, kept)
    steps = overview.next_steps(membership.project, site)
    context = shell(
        membership,
        "overview",
        figures=site,
        steps=steps,
        notice=tier_notice.tier_notice(membership.project),
        advice=model_advice(membership.project, kept.languages),
        queue_sum=queue_sum(membership.project),
        next_step=overview.next_step(steps),
        is_manager=access.has_role(membership, Role.MANAGER),
        runs=Run.objects.filter(project=membership.project).select_related("created_by")[:6],
        tiers=overview.tiers_in_use(membership.project),
        wordless=wordless_bounds(membership.project),
        other_cohorts=other_cohorts(membership.project),
        held_by=(held_by := overview.open_by_place(membership.project)),
        nothing={},
        places=_places(held_by.values()),
        categories=overview.top_categories(membership.project, kept),
    )
    return render(request, "linker/project.html", context)


def _places(held_by: Iterable[Mapping[str, int]]) -> list[tuple[str, str]]:
    """The places that the table of the tiers has columns for, with their names: a line of its own and a content gap
    where a suggestion stands there."""
    rows, usual = list(held_by), (Stands.TEXT, Stands.LIST)
    return [(place.value, str(place.label)) for place in Stands if place in usual or any(row[place] for row in rows)]
