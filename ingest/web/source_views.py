"""The sources of a project: the list, one of them with its fetches, and what a manager does with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from ingest.fetching import steps
from ingest.fetching.manage import asked_once, change_source, consequences, create_source, remove_source, sources_of
from ingest.fetching.restore import start_restore
from ingest.fetching.run import can_go_on, fetches_of, go_on_with, start_fetch
from ingest.models import Schedule, SiteSource, SourceKind
from ingest.schedules.manage import subject_of
from ingest.schedules.words import said
from ingest.sources.connectors import registry
from ingest.web import source_reads as reads
from ingest.web.option_words import by_label
from ingest.web.source_forms import ScheduleForm, SiteSourceForm
from linker.errors import UserError
from linker.models import Role, RunKind
from linker.projects import access
from linker.query_strings import is_id
from linker.runs.lifecycle import RunIsActive, request_cancel
from linker.web.page_context import shell
from linker.web.views.settings.stale import refused
from linker.web.views.settings.undo import seen

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from ingest.sources.connectors.base import Connector
    from linker.models import Membership

FORM = ["GET", "HEAD", "POST"]


def source_of(membership: Membership, source_id: int) -> SiteSource:
    """Raises Http404 where the project has no such source, or it was removed."""
    return get_object_or_404(sources_of(membership.project).select_related("project"), pk=source_id)


@require_safe
def sources(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug)
    kinds = [SourceKind(connector.kind) for connector in registry.connectors()]
    context = shell(membership, "sources", rows=reads.source_rows(membership.project), kinds=kinds)
    return render(request, "ingest/sources.html", context)


@require_http_methods(FORM)
def source_add(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = _form(request, membership, _connector(kind), None)
    found = ""
    if form.is_bound and form.is_valid():
        try:
            if "check" in request.POST:
                found = asked_once(SiteSource(project=membership.project, kind=kind), **form.values())
            else:
                source = create_source(membership.project, membership.user, kind=kind, **form.values())
                messages.success(request, _("The source is added. Fetch it now, or set when it is fetched."))
                return redirect("source", slug, source.pk)
        except UserError as error:
            form.add_error(None, by_label(str(error)))
    is_wrong = form.is_bound and not form.is_valid()
    context = shell(membership, "sources", form=form, kind=SourceKind(kind), found=found)
    return render(request, "ingest/source_form.html", context, status=422 if is_wrong else 200)


@require_http_methods(FORM)
def source_edit(request: HttpRequest, slug: str, source_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    source = source_of(membership, source_id)
    if (back := refused(request, {"slug": slug}, source.name)) is not None:
        return back
    form = _form(request, membership, _connector(source.kind), source)
    found = ""
    if form.is_bound and form.is_valid():
        try:
            if "check" in request.POST:
                found = asked_once(source, **form.values())
            else:
                before = SiteSource.objects.get(pk=source.pk)
                change_source(source, membership.user, **form.values())
                messages.success(request, _("Saved."))
                for sentence in consequences(before, source):
                    messages.warning(request, sentence)
                return redirect("source", slug, source.pk)
        except UserError as error:
            form.add_error(None, by_label(str(error)))
    is_wrong = form.is_bound and not form.is_valid()
    source = source_of(membership, source_id)  # as it is stored
    # What was entered into a page that was open earlier is of then, until it is saved.
    shown = request.POST.get("seen") or seen(membership.project, "sources", source.name)
    kind = SourceKind(source.kind)
    context = shell(membership, "sources", form=form, kind=kind, source=source, found=found, seen=shown)
    return render(request, "ingest/source_form.html", context, status=422 if is_wrong else 200)


def _form(
    request: HttpRequest, membership: Membership, connector: Connector, source: SiteSource | None
) -> SiteSourceForm:
    posted = request.POST if request.method == "POST" else None
    return SiteSourceForm(posted, project=membership.project, connector=connector, source=source)


def _connector(kind: str) -> Connector:
    try:
        return registry.get(kind)
    except UserError as error:
        raise Http404(str(error)) from None


@require_safe
def source(request: HttpRequest, slug: str, source_id: int) -> HttpResponse:
    membership = access.member(request, slug)
    return render(request, "ingest/source.html", source_context(request, membership, source_of(membership, source_id)))


@require_safe
def source_state(request: HttpRequest, slug: str, source_id: int) -> HttpResponse:
    """The part of a source's page that changes while it is fetched."""
    membership = access.member(request, slug)
    context = source_context(request, membership, source_of(membership, source_id))
    return render(request, "ingest/_fetches.html", context)


def source_context(
    request: HttpRequest, membership: Membership, source: SiteSource, schedule_form: ScheduleForm | None = None
) -> dict[str, Any]:
    before = request.GET.get("before", "")
    rows, following = reads.fetch_rows(source, int(before) if is_id(before) else None)
    schedule = Schedule.objects.filter(source=source).select_related("last_run").first()
    words, is_odd = said(schedule) if schedule is not None else ("", False)
    newest, counts = reads.fault_counts(source)
    return shell(
        membership,
        "sources",
        source=source,
        rows=rows,
        is_first=not is_id(before),
        before=following,
        is_active=any(row.is_active for row in rows),
        schedule=schedule,
        schedule_words=words,
        is_odd=is_odd,
        newest=newest,
        fault_counts=counts,
        seen=seen(membership.project, "sources", subject_of(source)),
        schedule_form=schedule_form or ScheduleForm(schedule=schedule),
        is_manager=access.has_role(membership, Role.MANAGER),
        options=reads.options_in_words(source),
    )


@access.posts("sources")
def source_check(request: HttpRequest, slug: str, source_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    source = source_of(membership, source_id)
    try:
        messages.success(request, asked_once(source))
    except UserError as error:
        messages.error(request, str(error))
    return redirect("source", slug, source.pk)


@require_http_methods(FORM)
def source_remove(request: HttpRequest, slug: str, source_id: int) -> HttpResponse:
    """Asks, and removes it once that is answered."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    source = source_of(membership, source_id)
    if request.method != "POST":
        return render(request, "ingest/source_remove.html", shell(membership, "sources", source=source))
    remove_source(source, membership.user)
    messages.success(request, _("The source is removed. Its pages, links and runs stay."))
    return redirect("sources", slug)


@access.posts("sources")
def source_fetch(request: HttpRequest, slug: str, source_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    source = source_of(membership, source_id)
    try:
        start_fetch(source, membership.user)
    except UserError as error:
        messages.error(request, str(error))
    return redirect("source", slug, source.pk)


@access.posts("sources")
def source_cancel(request: HttpRequest, slug: str, source_id: int, run_id: int) -> HttpResponse:
    """Cancels a fetch, or the step after it that is under way."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    source = source_of(membership, source_id)
    fetch = get_object_or_404(fetches_of(source).prefetch_related("followed_by"), pk=run_id)
    active = reads.fetch_row(fetch, source, is_newest=False).active_run
    if active is not None and request_cancel(active):
        messages.success(request, _("The run will stop after the current step."))
    else:
        messages.warning(request, _("The run had already ended."))
    return redirect("source", slug, source.pk)


@access.posts("sources")
def source_go_on(request: HttpRequest, slug: str, source_id: int, run_id: int) -> HttpResponse:
    """Goes on with a cancelled fetch, or with the steps after one; with `anyway`, although far less came."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    source = source_of(membership, source_id)
    fetch = get_object_or_404(fetches_of(source).select_related("project"), pk=run_id)
    try:
        if can_go_on(fetch):
            go_on_with(fetch, membership.user)
        else:
            steps.again(fetch, membership.user, allow_shrink="anyway" in request.POST)
    except RunIsActive as active:
        messages.warning(request, str(active))
    except UserError as error:
        messages.error(request, str(error))
    return redirect("source", slug, source.pk)


@access.posts("sources")
def source_restore(request: HttpRequest, slug: str, source_id: int, run_id: int) -> HttpResponse:
    """Brings back the pages that the import of a fetch marked as missing."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    source = source_of(membership, source_id)
    fetch = get_object_or_404(fetches_of(source), pk=run_id)
    imported = fetch.followed_by.filter(kind=RunKind.IMPORT_PAGES).select_related("project").order_by("-pk").first()
    if imported is None:
        raise Http404
    try:
        return redirect("run", slug, start_restore(imported, membership.user).pk)
    except RunIsActive as active:
        messages.warning(request, str(active))
    except UserError as error:
        messages.error(request, str(error))
    return redirect("source", slug, source.pk)
