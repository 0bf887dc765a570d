"""When sources are fetched and the project is matched by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from ingest.models import Schedule, SiteSource
from ingest.schedules.manage import schedules_of, set_schedule, subject_of
from ingest.schedules.words import Rhythm, matched, said
from ingest.web.source_forms import MatchScheduleForm, ScheduleForm
from ingest.web.source_views import source_context, source_of
from linker.errors import UserError
from linker.models import Membership, Role
from linker.projects import access
from linker.web.page_context import shell
from linker.web.views.settings.stale import refused
from linker.web.views.settings.undo import seen

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@require_safe
def schedules(request: HttpRequest, slug: str) -> HttpResponse:
    """What ran, when next, what failed."""
    return _page(request, access.member(request, slug))


def _page(request: HttpRequest, membership: Membership, form: ScheduleForm | None = None) -> HttpResponse:
    of_match = Schedule.objects.filter(project=membership.project, source=None).first()
    context = shell(
        membership,
        "sources",
        schedules=[(schedule, *said(schedule), matched(schedule)) for schedule in schedules_of(membership.project)],
        form=form or MatchScheduleForm(schedule=of_match),
        is_manager=access.has_role(membership, Role.MANAGER),
        seen=seen(membership.project, "sources", subject_of(None)),
    )
    return render(request, "ingest/schedules.html", context, status=422 if form is not None else 200)


@access.posts("schedules")
def match_schedule(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    if refused(request, {"slug": slug}, subject_of(None)):
        return redirect("schedules", slug)
    schedule = Schedule.objects.filter(project=membership.project, source=None).first()
    form = MatchScheduleForm(request.POST, schedule=schedule)
    if not _set(request, membership, None, form):
        return _page(request, membership, form)
    return redirect("schedules", slug)


@access.posts("schedules")
def source_schedule(request: HttpRequest, slug: str, source_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    source = source_of(membership, source_id)
    if refused(request, {"slug": slug}, subject_of(source)):
        return redirect("source", slug, source.pk)
    form = ScheduleForm(request.POST, schedule=Schedule.objects.filter(source=source).first())
    if not _set(request, membership, source, form):
        return render(request, "ingest/source.html", source_context(request, membership, source, form), status=422)
    return redirect("source", slug, source.pk)


def _set(request: HttpRequest, membership: Membership, source: SiteSource | None, form: ScheduleForm) -> bool:
    """Whether the schedule is set; if not, the form says why."""
    if not form.is_valid():
        return False
    enabled = form.cleaned_data["rhythm"] != Rhythm.OFF
    if not enabled and form.schedule is None:
        return True
    try:
        set_schedule(
            membership.project,
            source,
            membership.user,
            cron=form.cleaned_data["expression"],
            enabled=enabled,
            whole_site=form.cleaned_data.get("whole_site", False),
        )
    except UserError as error:
        form.add_error(None, str(error))
        return False
    messages.success(request, _("Saved."))
    return True
