"""The list of what editors have ruled out; each can be allowed again, and that can be taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponseBadRequest, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from linker.errors import UserError
from linker.matching.suppressions import lift, suppress_again
from linker.models import Role
from linker.projects.access import has_role, member, posts
from review.queue.suppressed import MOST_HELD, SuppressedFilter, just_lifted, people, suppressed
from review.web.filter_forms import SuppressedFilterForm
from review.web.forms import PlaceForm
from review.web.views.queue import BAD_FORM, user_of

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@require_GET
def suppressed_view(request: HttpRequest, slug: str) -> HttpResponse:
    """What is ruled out now, the newest first."""
    membership = member(request, slug)
    project, chosen = membership.project, SuppressedFilter.from_query(request.GET)
    rows, following = suppressed(project, chosen, user_of(request))
    context = {
        "project": project,
        "membership": membership,
        "section": "queue",
        "can_decide": has_role(membership, Role.EDITOR),
        "rows": rows,
        "most_held": MOST_HELD,
        "ignored": chosen.ignored,
        "filters": SuppressedFilterForm(chosen, people(project)),
        "query": urlencode(chosen.to_query()),
        "next": urlencode({**chosen.to_query(), "after": following}) if following else "",
        "is_first": chosen.after is None,
        "lifted": just_lifted(project, request.GET.get("lifted", "")),
    }
    return render(request, "review/suppressed.html", context)


@posts("suppressed")
def allow_again(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Allows again what a row rules out."""
    membership = member(request, slug, needs=Role.EDITOR)
    row = get_object_or_404(membership.project.suppressions, pk=pk)
    form = PlaceForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    if lift(membership.project, [row.pk], user_of(request)):
        messages.info(request, _("A run is bringing the suggestions back into the queue."))
    return _to_list(slug, form.cleaned_data["query"], f"lifted={row.pk}")


@posts("suppressed")
def rule_out_again(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Takes back that it was allowed again."""
    membership = member(request, slug, needs=Role.EDITOR)
    row = get_object_or_404(membership.project.suppressions, pk=pk)
    form = PlaceForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    try:
        suppress_again(row, user_of(request))
    except UserError as error:
        messages.warning(request, str(error))
    return _to_list(slug, form.cleaned_data["query"])


def _to_list(slug: str, *parts: str) -> HttpResponse:
    query = "&".join(part for part in parts if part)
    return HttpResponseRedirect(reverse("suppressed", args=[slug]) + (f"?{query}" if query else ""))


suppressed_urls = [
    path("queue/suppressed/", suppressed_view, name="suppressed"),
    path("queue/suppressed/<int:pk>/allow/", allow_again, name="allow_again"),
    path("queue/suppressed/<int:pk>/again/", rule_out_again, name="rule_out_again"),
]
