"""Runs: the list, one run with its progress, and the request to stop it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.contrib import messages
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from linker.errors import UserError
from linker.matching.changes_since import instead_of, whole_instead
from linker.models import Role, Run, RunKind, RunStatus
from linker.pages import page_lists
from linker.projects import access, overview
from linker.projects.in_text import none_in_text
from linker.query_strings import is_id
from linker.reports import match_page, params, words
from linker.reports.link_kinds import link_kinds
from linker.runs import again, job_queue, under_way
from linker.runs import lifecycle as life
from linker.runs.pilot_progress import pilot_figures
from linker.runs.reports import report_of
from linker.web.forms.runs import RunListForm
from linker.web.page_context import shell

if TYPE_CHECKING:
    from typing import Any

    from django.http import HttpRequest, HttpResponse

    from linker.models import Membership

PAGE_SIZE = 30


@require_safe
def runs(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug)
    rows = Run.objects.filter(project=membership.project).select_related("created_by").defer("params", "report")
    filters = RunListForm(request.GET)
    if filters.chosen:
        rows = rows.filter(kind=filters.chosen)
    before = request.GET.get("before", "")
    if is_id(before):
        rows = rows.filter(pk__lt=int(before))
    found = list(rows[: PAGE_SIZE + 1])
    is_manager = access.has_role(membership, Role.MANAGER)
    shows_all = not before and not filters.chosen
    context = shell(
        membership,
        "runs",
        **(_under_way(membership) if shows_all else {"is_manager": is_manager}),
        runs=found[:PAGE_SIZE],
        to_try_again={run.pk for run in found if is_manager and again.may_be_tried_again(run)},
        before=found[PAGE_SIZE - 1].pk if len(found) > PAGE_SIZE else None,
        is_first=not before,
        filters=filters,
        kind=filters.chosen,
        ignored=filters.ignored,
    )
    return render(request, "linker/runs.html", context)


@require_safe
def runs_under_way(request: HttpRequest, slug: str) -> HttpResponse:
    """The part of the list that changes while something runs; asked for again and again until nothing does. Whoever
    opens it by itself is shown the list."""
    membership = access.member(request, slug)
    if not request.headers.get("HX-Request"):
        return redirect("runs", slug)
    return render(request, "linker/_under_way.html", shell(membership, "runs", **_under_way(membership)))


def _under_way(membership: Membership) -> dict[str, Any]:
    project, is_manager = membership.project, access.has_role(membership, Role.MANAGER)
    return {
        "is_manager": is_manager,
        "under_way": under_way.under_way(project),
        "waiting": under_way.waiting(project),
        "has_faults": is_manager and bool(job_queue.maintenance_faults()),
    }


def _run_context(membership: Membership, run_id: int) -> dict[str, Any]:
    rows = Run.objects.select_related("created_by", "model", "project")
    run = get_object_or_404(rows, project=membership.project, pk=run_id)
    is_manager = access.has_role(membership, Role.MANAGER)
    match = match_page.match_page(run)
    in_text = none_in_text(run.project, run) if match else None
    return shell(
        membership,
        "runs",
        run=run,
        summary=words.summary(run),
        none_in_text=in_text,
        report=words.report_rows(run, match_page.ON_PAGE if match else ()),
        reading=words.reading_rows(run),
        match=match,
        whole=whole_instead(run),
        instead_of=instead_of(run),
        pilot=pilot_figures(run),
        lists=page_lists.lists_of(run),
        link_kinds=link_kinds(run),
        params=params.param_rows(run),
        may_cancel=run.is_active and is_manager,
        may_try_again=is_manager and again.may_be_tried_again(run),
        waits_for=next((row.waits_for for row in under_way.under_way(run.project) if row.run.pk == run.pk), "")
        if run.is_active
        else "",
        is_manager=is_manager,
        skipped_url=reverse("import_skipped", args=[run.project.slug, run.pk])
        if is_manager and report_of(run).has_skipped_list
        else "",
        next_step=_next_step(run, is_manager),
    )


def _next_step(run: Run, is_manager: bool) -> dict[str, str] | None:
    """Where the reader goes once the run has succeeded: to the file it made, else to what the project needs next."""
    if run.status != RunStatus.SUCCEEDED:
        return None
    if run.kind == RunKind.RELEASE:
        return {"url": reverse("releases", args=[run.project.slug]), "name": _("Download the release")}
    if run.kind == RunKind.CLIENT_REPORT:
        return {"url": reverse("client_report", args=[run.project.slug, run.pk]), "name": _("Open the report")}
    if run.kind == RunKind.COMPARE:
        query = urlencode(run.params)
        return {
            "url": f"{reverse('run_comparison', args=[run.project.slug])}?{query}",
            "name": _("Open the comparison"),
        }
    steps = overview.next_steps(run.project, overview.site_figures(run.project))
    step = overview.next_step(steps if is_manager else overview.own_steps(steps))
    if step is None:
        return None
    return {"url": reverse(step.url_name, args=[run.project.slug]), "name": step.name, "text": step.text}


@require_safe
def run(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    context = _run_context(access.member(request, slug), run_id)
    follow_ups = Run.objects.filter(follows=run_id, project=context["project"], kind=RunKind.RETIER)
    return render(request, "linker/run.html", context | {"bound_again": follow_ups.order_by("-pk").first()})


@require_safe
def run_state(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """The part of the page that changes while the run goes on; asked for again and again until it has ended. Whoever
    opens it by itself is shown the page."""
    context = _run_context(access.member(request, slug), run_id)
    if not request.headers.get("HX-Request"):
        return redirect("run", slug, run_id)
    return render(request, "linker/_run.html", context)


@access.posts("runs")
def run_cancel(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    found = get_object_or_404(Run, project=membership.project, pk=run_id)
    if life.request_cancel(found):
        messages.success(request, _("The run will stop after the current step."))
    else:
        messages.warning(request, _("The run had already ended."))
    return redirect("run", slug, run_id)


@access.posts("runs")
def run_again(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """A new run with the same parameters as one that failed; where that makes no sense, its page says why."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    found = get_object_or_404(Run.objects.select_related("project"), project=membership.project, pk=run_id)
    try:
        return redirect("run", slug, again.try_again(found, request.user).pk)
    except life.RunIsActive as active:
        messages.warning(request, str(active))
        return redirect("run", slug, active.run.pk)
    except UserError as error:
        messages.error(request, str(error))
        return redirect("run", slug, run_id)
