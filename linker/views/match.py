"""Starting embed and match runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_safe

from linker import access, figures
from linker import pages as reads
from linker.forms import MatchForm, PageFilterForm, match_initial
from linker.languages import model_advice
from linker.models import Project, Role, Run, RunKind, RunStatus
from linker.runs import RunIsActive, start_run
from linker.views.shell import shell

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse, QueryDict

    from linker.models import Membership

SIDES = ("donors", "acceptors")


def _forms(project: Project, data: QueryDict | None) -> tuple[MatchForm, dict[str, PageFilterForm]]:
    initial = match_initial(project)
    sides = {
        side: PageFilterForm(
            data, prefix=side, project=project, initial=initial.get(side), use_required_attribute=False
        )
        for side in SIDES
    }
    return MatchForm(data, initial=initial), sides


def _counts(project: Project, sides: dict[str, PageFilterForm]) -> dict[str, int | None]:
    """Pages that each side's filters leave; None where they cannot be read."""
    return {
        side: reads.count_chosen(project, form.chosen()) if form.is_valid() else None for side, form in sides.items()
    }


@require_http_methods(["GET", "HEAD", "POST"])
def match(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    form, sides = _forms(project, request.POST if request.method == "POST" else None)
    posted = request.method == "POST"
    valid = posted and all([form.is_valid(), *(side.is_valid() for side in sides.values())])
    if valid and "count" not in request.POST:
        try:
            params = form.params(project, sides["donors"].chosen(), sides["acceptors"].chosen())
        except ValueError as error:
            form.add_error(None, str(error))
            valid = False
        else:
            return _start(request, membership, RunKind.MATCH, params.to_dict())
    counts = _counts(project, sides) if posted else {}
    site = figures.site_figures(project)
    context = shell(membership, "match", form=form, sides=sides, counts=counts, figures=site)
    context["advice"] = model_advice(project)
    context["active_runs"] = Run.objects.filter(
        project=project, kind__in=[RunKind.EMBED, RunKind.MATCH], status__in=[RunStatus.QUEUED, RunStatus.RUNNING]
    )
    return render(request, "linker/match.html", context, status=422 if posted and not valid else 200)


@require_safe
def match_count(request: HttpRequest, slug: str) -> HttpResponse:
    """How many donors and acceptors the filters in the query leave."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    _, sides = _forms(membership.project, request.GET)
    context = shell(membership, "match", counts=_counts(membership.project, sides))
    return render(request, "linker/_match_count.html", context)


@access.posts("match")
def embed(request: HttpRequest, slug: str) -> HttpResponse:
    return _start(request, access.member(request, slug, needs=Role.MANAGER), RunKind.EMBED, {})


def _start(request: HttpRequest, membership: Membership, kind: RunKind, params: dict[str, Any]) -> HttpResponse:
    """Starts the run and shows it; where one of its kind is not finished yet, says so and shows that one."""
    try:
        run = start_run(membership.project, kind, params, request.user)
    except RunIsActive as error:
        run = error.run
        address = reverse("run", args=[membership.project.slug, run.pk])
        messages.warning(request, format_html('{} <a href="{}">Run {}</a>', str(error), address, run.pk))
        return redirect("match", membership.project.slug)
    return redirect("run", membership.project.slug, run.pk)
