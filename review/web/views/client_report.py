"""Reports that a client can be given: the newest, earlier ones, and the button that writes another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from linker.models import Role, Run, RunKind, RunStatus
from linker.projects import access
from linker.runs.lifecycle import RunIsActive, start_run
from linker.web.page_context import shell
from review.client_report import ClientReport

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

    from linker.models import Membership, Project

MOST_LISTED = 24  # earlier reports


def _reports(project: Project) -> QuerySet[Run]:
    return Run.objects.filter(project=project, kind=RunKind.CLIENT_REPORT, status=RunStatus.SUCCEEDED)


@require_http_methods(["GET", "HEAD", "POST"])
def client_reports(request: HttpRequest, slug: str) -> HttpResponse:
    """The newest report; POST writes another, in a run of its own."""
    if request.method == "POST":
        membership = access.member(request, slug, needs=Role.MANAGER)
        try:
            run = start_run(membership.project, RunKind.CLIENT_REPORT, {}, request.user)
        except RunIsActive as active:
            run = active.run
        return redirect("run", slug, run.pk)
    membership = access.member(request, slug)
    return _show(request, membership, _reports(membership.project).first())


@require_safe
def client_report(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    membership = access.member(request, slug)
    run = _reports(membership.project).filter(pk=run_id).first()
    if run is None:
        messages.warning(request, _("There is no such report. This is the newest."))
        return redirect("client_reports", slug)
    return _show(request, membership, run)


def _show(request: HttpRequest, membership: Membership, run: Run | None) -> HttpResponse:
    found = _reports(membership.project)
    last = found.count()
    earlier = found.defer("params", "report")[:MOST_LISTED] if run else ()
    context = shell(
        membership,
        "report",
        run=run,
        report=ClientReport.from_json(run.report) if run else None,
        number=found.filter(pk__lte=run.pk).count() if run else 0,  # reports count from 1 in each project
        earlier=[(last - at, one) for at, one in enumerate(earlier)],
        is_manager=access.has_role(membership, Role.MANAGER),
    )
    return render(request, "review/client_report.html", context)


client_report_urls = [
    path("report/", client_reports, name="client_reports"),
    path("report/<int:run_id>/", client_report, name="client_report"),
]
