"""Starting embed and match runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from linker.matching.changes_since import changes_since
from linker.matching.changes_start import start_changes
from linker.models import PageList, Project, Role, Run, RunKind, RunStatus
from linker.pages import listing as reads
from linker.pages.languages import model_advice
from linker.pages.page_lists import addresses
from linker.projects import access, overview
from linker.reports.changes import WHY_WHOLE
from linker.runs.lifecycle import RunIsActive, start_run
from linker.storage.site_figures import site_figures
from linker.web.forms.match import RunForms, run_forms, sent_to
from linker.web.page_context import shell

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

    from linker.models import Membership


def _counts(project: Project, forms: RunForms) -> dict[str, int | None]:
    """Pages that each side's filters leave, and of the donors those that a pilot takes; None where they cannot be
    read."""
    counts = {
        side: reads.count_remembered(project, form.chosen()) if form.is_valid() else None
        for side, form in forms.sides.items()
    }
    sample = forms.pilot.chosen() if forms.pilot.is_valid() else None
    if sample is not None and counts["donors"] is not None:
        donors = reads.count_remembered(project, forms.sides["donors"].chosen(), sample.categories)
        counts["pilot"] = min(donors, sample.pages or donors)
    return counts


@require_http_methods(["GET", "HEAD", "POST"])
def match(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    forms = run_forms(project, request.POST if request.method == "POST" else None)
    if "kept" in request.GET:  # back from reading a list
        for form in forms.all:
            form.initial = {**form.initial, **sent_to(form, request.GET)}
    posted = request.method == "POST"
    valid = posted and forms.are_valid()
    if valid and "count" not in request.POST:
        try:
            params = forms.params(project)
        except ValueError as error:
            forms.match.add_error(None, str(error))
            valid = False
        else:
            return _start(request, membership, RunKind.MATCH, params.to_dict())
    counts = _counts(project, forms) if posted else {}
    kept = site_figures(project)
    site = overview.site_figures(project, kept)
    context = shell(
        membership, "match", form=forms.match, sides=forms.sides, pilot=forms.pilot, counts=counts, figures=site
    )
    context["since"] = since = changes_since(project)
    context["why_whole"] = WHY_WHOLE[since.whole] if since.whole else ""
    context["advice"] = model_advice(project, kept.languages)
    context["active_runs"] = Run.objects.filter(
        project=project,
        kind__in=[RunKind.EMBED, RunKind.MATCH, RunKind.CHANGES],
        status__in=[RunStatus.QUEUED, RunStatus.RUNNING],
    )
    return render(request, "linker/match.html", context, status=422 if posted and not valid else 200)


@require_safe
def match_count(request: HttpRequest, slug: str) -> HttpResponse:
    """How many donors and acceptors the filters in the query leave."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    context = shell(membership, "match", counts=_counts(membership.project, run_forms(membership.project, request.GET)))
    return render(request, "linker/_match_count.html", context)


@access.posts("match")
def embed(request: HttpRequest, slug: str) -> HttpResponse:
    return _start(request, access.member(request, slug, needs=Role.MANAGER), RunKind.EMBED, {})


@access.posts("match")
def match_changes(request: HttpRequest, slug: str) -> HttpResponse:
    """Starts a match over what changed since the last one."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    return _shown(request, membership, lambda: start_changes(membership.project, request.user))


@access.posts("runs")
def match_whole(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """Starts a match with the settings of a pilot, over all of its donors."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    pilot = get_object_or_404(Run, project=membership.project, kind=RunKind.MATCH, pk=run_id)
    if not pilot.params.get("pilot"):
        messages.warning(request, _("Run %(run)d is not a pilot: it covered all of its donors.") % {"run": pilot.pk})
        return redirect("run", slug, pilot.pk)
    return _start(request, membership, RunKind.MATCH, pilot.params | {"pilot": None})


@require_safe
def page_list(request: HttpRequest, slug: str, list_id: int) -> StreamingHttpResponse:
    """The addresses of the pages of a list, one a line."""
    membership = access.member(request, slug)
    found = get_object_or_404(PageList, project=membership.project, pk=list_id)
    response = StreamingHttpResponse(addresses(found), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{membership.project.slug}-list-{found.pk}.txt"'
    return response


def _start(request: HttpRequest, membership: Membership, kind: RunKind, params: dict[str, Any]) -> HttpResponse:
    return _shown(request, membership, lambda: start_run(membership.project, kind, params, request.user))


def _shown(request: HttpRequest, membership: Membership, start: Callable[[], Run]) -> HttpResponse:
    """Starts the run and shows it; where one is not finished yet that would be in its way, says so and shows that."""
    try:
        run = start()
    except RunIsActive as error:
        run = error.run
        address = reverse("run", args=[membership.project.slug, run.pk])
        messages.warning(
            request, format_html('{} <a href="{}">{}</a>', str(error), address, _("Run %(pk)s") % {"pk": run.pk})
        )
        return redirect("match", membership.project.slug)
    return redirect("run", membership.project.slug, run.pk)
