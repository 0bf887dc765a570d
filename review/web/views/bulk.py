"""Deciding on all that a filter lists, and filters under a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBadRequest, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from linker.errors import UserError
from linker.models import Role
from linker.projects.access import has_role, member, posts
from review.models import SavedFilter
from review.queue.bulk import MAX_AT_ONCE, bulk_preview, decide_all
from review.queue.chips import chips
from review.queue.filters import QueueFilter
from review.queue.saved import save_filter
from review.web.forms import BulkForm, PlaceForm, SaveFilterForm
from review.web.views.deciding import in_words
from review.web.views.queue import BAD_FORM, queue_context, user_of

if TYPE_CHECKING:
    from django.http import HttpRequest

    from linker.models import Membership


@require_http_methods(["GET", "HEAD", "POST"])
def bulk(request: HttpRequest, slug: str) -> HttpResponse:
    """GET shows what a decision on all that the filter lists would be about; POST decides on what was shown."""
    membership = member(request, slug, needs=Role.EDITOR)
    project, user = membership.project, user_of(request)
    if request.method != "POST":
        chosen = QueueFilter.from_query(request.GET, project.queue_order)
        if chosen.ignored:  # the queue says which fields it does not know
            return HttpResponseRedirect(f"{reverse('queue', args=[slug])}?{request.GET.urlencode()}")
        context = queue_context(membership, chosen) | {
            "preview": bulk_preview(project, chosen, user),
            "chips": chips(project, chosen),
            "most": MAX_AT_ONCE,
        }
        return render(request, "review/bulk.html", context)
    form = BulkForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    try:
        outcome = decide_all(project, user, form.cleaned_data["seen"], form.verb, form.ruling)
    except UserError as error:
        messages.error(request, str(error))
        return _back(membership, form)
    is_whole = outcome.decided and not outcome.conflicts and not outcome.doubts
    messages.add_message(request, messages.SUCCESS if is_whole else messages.WARNING, in_words(outcome))
    return _back(membership, form)


@posts("queue")
def save(request: HttpRequest, slug: str) -> HttpResponse:
    """Keeps the filter under a name; a manager may share it with the team."""
    membership = member(request, slug, needs=Role.EDITOR)
    form = SaveFilterForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Give the filter a name of up to 40 characters."))
        return HttpResponseRedirect(reverse("queue", args=[slug]))
    shared = form.cleaned_data["shared"] and has_role(membership, Role.MANAGER)
    project = membership.project
    try:
        save_filter(project, user_of(request), form.cleaned_data["name"], form.chosen_in(project), shared=shared)
    except UserError as error:
        messages.error(request, str(error))
    return _back(membership, form)


@posts("queue")
def forget(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Removes a saved filter: one's own, or as a manager a shared one."""
    membership = member(request, slug, needs=Role.EDITOR)
    kept = get_object_or_404(SavedFilter, project=membership.project, pk=pk)
    if kept.owner_id != user_of(request).pk and not (kept.shared and has_role(membership, Role.MANAGER)):
        return HttpResponseBadRequest(_("This filter belongs to somebody else."))
    kept.delete()
    messages.success(request, _("The filter “%(name)s” was removed.") % {"name": kept.name})
    return HttpResponseRedirect(reverse("queue", args=[slug]))


def _back(membership: Membership, form: PlaceForm) -> HttpResponse:
    query = form.cleaned_data["query"]
    return HttpResponseRedirect(reverse("queue", args=[membership.project.slug]) + (f"?{query}" if query else ""))


bulk_urls = [
    path("queue/bulk/", bulk, name="bulk"),
    path("queue/filters/", save, name="save_filter"),
    path("queue/filters/<int:pk>/remove/", forget, name="forget_filter"),
]
