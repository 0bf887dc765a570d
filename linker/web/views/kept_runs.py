"""Match runs that are kept: pinned and named, compared link by link, taken as the standing one again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.db.models import F
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from linker.errors import UserError
from linker.matching import kept_runs
from linker.matching.report_types import CompareReport
from linker.matching.run_comparison import start_comparison
from linker.matching.standing import start_standing
from linker.models import Role, Run, RunKind
from linker.projects import access
from linker.reports import run_changes
from linker.reports.compare import TABLE, tier_name
from linker.runs.lifecycle import RunIsActive
from linker.web.forms.kept_runs import CompareQuery, PinForm
from linker.web.page_context import shell

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from linker.models import Membership

# Shown otherwise than as rows of the table.
_NOT_IN_TABLE = ("run", "before", "new", "gone", "decided", "moved", "tier", "words", "tier_moves")


@require_safe
def kept(request: HttpRequest, slug: str) -> HttpResponse:
    """The runs that are kept, and two of them to compare."""
    membership = access.member(request, slug)
    runs = list(kept_runs.kept_runs(membership.project).annotate(changes=F("run__matched_pages__changes")))
    standing = kept_runs.standing_run(membership.project)
    context = _context(
        membership,
        runs=runs,
        query=CompareQuery(request.GET, runs),
        standing=standing,
        newest=kept_runs.KEPT,
        most_pinned=kept_runs.MOST_PINNED,
    )
    return render(request, "linker/kept_runs.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Two runs link by link; POST compares them anew, in a run of its own."""
    membership = access.member(request, slug, needs=Role.MANAGER if request.method == "POST" else Role.VIEWER)
    runs = list(kept_runs.kept_runs(membership.project))
    query = CompareQuery(request.POST if request.method == "POST" else request.GET, runs)
    if not query.is_asked or query.run is None or query.before is None:
        if query.unknown:
            messages.warning(request, _("One of these runs is no longer kept. Choose two of those that are."))
        else:
            messages.warning(request, _("Choose two different runs that are kept."))
        return redirect("kept_runs", slug)
    if request.method == "POST":
        try:
            started = start_comparison(membership.project, query.run.run, query.before.run, request.user)
        except RunIsActive as active:
            started = active.run
        return redirect("run", slug, started.pk)
    comparison = run_changes.comparison_of(membership.project, query.run, query.before)
    if comparison is None:
        return render(request, "linker/run_comparison.html", _context(membership, query=query, runs=runs))
    report = CompareReport.from_json(comparison.report)
    context = _context(
        membership,
        query=query,
        runs=runs,
        comparison=comparison,
        report=report,
        rows=TABLE.rows(report, _NOT_IN_TABLE),
        counts=run_changes.counts(report),
        moves=[(tier_name(move.before), tier_name(move.after), move.links) for move in report.tier_moves],
        page=run_changes.changes_page(comparison, query.change, query.after),
    )
    return render(request, "linker/run_comparison.html", context)


def _context(membership: Membership, **more: object) -> dict[str, object]:
    return shell(membership, "runs", is_manager=access.has_role(membership, Role.MANAGER), **more)


def _match(membership: Membership, run_id: int) -> Run:
    return get_object_or_404(Run, project=membership.project, kind=RunKind.MATCH, pk=run_id)


@access.posts("kept_runs")
def run_pin(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    run, form = _match(membership, run_id), PinForm(request.POST)
    try:
        if form.is_valid():
            kept_runs.pin(run, request.user, form.cleaned_data["name"])
        else:
            messages.error(request, _("The name is too long: 80 characters are the most."))
    except UserError as error:
        messages.error(request, str(error))
    return redirect("kept_runs", slug)


@access.posts("kept_runs")
def run_unpin(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    kept_runs.unpin(_match(membership, run_id), request.user)
    return redirect("kept_runs", slug)


@access.posts("kept_runs")
def run_take_again(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """Starts to take the run as the one that stands again."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    try:
        started = start_standing(membership.project, _match(membership, run_id), request.user)
    except RunIsActive as active:
        started = active.run
    except UserError as error:
        messages.error(request, str(error))
        return redirect("kept_runs", slug)
    return redirect("run", slug, started.pk)
