"""Alerts: what is open, what was closed and why, and from where on something is one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from django import forms
from django.contrib import messages
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from linker.errors import UserError
from linker.models import Role, RunKind
from linker.projects.access import member, posts
from linker.web.page_context import shell
from linker.web.views.settings.stale import refused
from linker.web.views.settings.tab import start_or_show
from linker.web.views.settings.undo import seen
from review.models import Alert
from review.quality import alerts
from review.quality.limits import Limits, change_limits
from review.web.views.queue import user_of

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from linker.models import Membership

MOST_OPEN, MOST_CLOSED = 200, 50


class LimitsForm(forms.Form):
    """The limits of a project, see review.quality.limits.Limits."""

    near = forms.IntegerField(label=gettext_lazy("Open suggestions near a bound, %"), min_value=1, max_value=100)
    donor = forms.IntegerField(label=gettext_lazy("Links a donor gains in a week"), min_value=1, max_value=1000)
    anchors = forms.IntegerField(label=gettext_lazy("Links to a page that say the same, %"), min_value=1, max_value=100)
    histogram = forms.IntegerField(
        label=gettext_lazy("Distance of two runs’ histograms, hundredths"), min_value=1, max_value=100
    )
    acceptance = forms.IntegerField(label=gettext_lazy("Fall of the share accepted, points"), min_value=1, max_value=99)
    lost = forms.IntegerField(label=gettext_lazy("Lost links"), min_value=0, max_value=5000)
    dead = forms.IntegerField(label=gettext_lazy("Links that lead nowhere"), min_value=0, max_value=5000)
    shrunk = forms.IntegerField(
        label=gettext_lazy("Suggestions a match takes out of the queue, %"), min_value=1, max_value=99
    )
    stuck = forms.IntegerField(label=gettext_lazy("Days a link may wait for somebody"), min_value=1, max_value=1000)


@require_GET
def alert_list(request: HttpRequest, slug: str) -> HttpResponse:
    """The open alerts, the newest first, and those that were closed last."""
    return _page(request, member(request, slug, needs=Role.MANAGER))


@posts("project")
def alerts_look(request: HttpRequest, slug: str) -> HttpResponse:
    """Looks for alerts now, without waiting for the day to end."""
    return start_or_show(request, slug, RunKind.ALERTS)


@posts("project")
def alerts_limits(request: HttpRequest, slug: str) -> HttpResponse:
    """Sets the limits."""
    membership = member(request, slug, needs=Role.MANAGER)
    if refused(request, {"slug": slug}):
        return redirect("alerts", slug)
    form = LimitsForm(request.POST)
    if not form.is_valid():
        return _page(request, membership, form, status=422)
    change_limits(membership.project, user_of(request), form.cleaned_data)
    messages.success(request, _("Saved. The next look for alerts goes by these limits."))
    return redirect("alerts", slug)


@posts("project")
def alert_close(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Closes an alert with a word why."""
    membership = member(request, slug, needs=Role.MANAGER)
    try:
        if alerts.close(membership.project, user_of(request), pk, request.POST.get("note", "")):
            messages.success(request, _("Closed. It does not come again within a week."))
        else:
            messages.warning(request, _("Nothing was changed: the alert had been closed already."))
    except UserError as error:
        messages.error(request, str(error))
    return redirect("alerts", slug)


def _page(
    request: HttpRequest, membership: Membership, form: LimitsForm | None = None, status: int = 200
) -> HttpResponse:
    project = membership.project
    found = Alert.objects.filter(project=project).select_related("project")
    closed = found.filter(closed_at__isnull=False).select_related("closing__user").order_by("-closed_at")
    context = shell(
        membership,
        "quality",
        tab="alerts",
        alerts=[(one, alerts.in_words(one), alerts.place_of(one)) for one in found.filter(closed_at=None)[:MOST_OPEN]],
        closed=[(one, alerts.in_words(one)) for one in closed[:MOST_CLOSED]],
        seen=seen(project, "settings"),
        form=form or LimitsForm(initial=asdict(Limits.of(project))),
    )
    return render(request, "review/alerts.html", context, status=status)


alert_urls = [
    path("quality/alerts/", alert_list, name="alerts"),
    path("quality/alerts/look/", alerts_look, name="alerts_look"),
    path("quality/alerts/limits/", alerts_limits, name="alerts_limits"),
    path("quality/alerts/<int:pk>/close/", alert_close, name="alert_close"),
]
