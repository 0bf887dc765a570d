"""Requests for an opinion and comments, one form each without a script; and who has the same card open."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBadRequest, HttpResponseRedirect, JsonResponse
from django.urls import path, reverse
from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.models import Role
from linker.projects.access import member, posts
from review.queue import operations, opinions, selectors
from review.queue.operations import Ask, Say
from review.queue.presence import look
from review.web.forms import AskForm, CommentForm
from review.web.views.deciding import of_known, to_queue
from review.web.views.queue import BAD_FORM, edge_or_404, user_of

if TYPE_CHECKING:
    from django.http import HttpRequest


@posts("queue")
def ask(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Asks for an opinion and goes on to the next suggestion, or takes the request back."""
    membership = member(request, slug, needs=Role.EDITOR)
    project, user = membership.project, user_of(request)
    edge = edge_or_404(project, pk, user)
    form = AskForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    if edge.is_known:
        sent = form.cleaned_data
        return of_known(request, membership, form, Ask(uuid4(), pk, sent["asked_of"], sent["text"], sent["back"]))
    if form.cleaned_data["back"]:
        opinions.take_back(project, user, edge.pk)
        return to_queue(membership, form, edge)
    following = selectors.next_edge(project, form.chosen_in(project), user, edge)
    try:
        operations.ask(project, user, edge.pk, form.cleaned_data["asked_of"], form.cleaned_data["text"])
    except UserError as error:
        messages.warning(request, str(error))
        return HttpResponseRedirect(reverse("edge", args=[slug, edge.pk]))
    who = form.cleaned_data["asked_of"] or _("anybody")
    said = _("You asked %(person)s for an opinion. The suggestion comes back to your list with it.")
    messages.success(request, said % {"person": who})
    return to_queue(membership, form, following)


@posts("queue")
def comment(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Adds a comment and shows the card again."""
    membership = member(request, slug, needs=Role.EDITOR)
    edge = edge_or_404(membership.project, pk, user_of(request))
    form = CommentForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    if edge.is_known:
        return of_known(request, membership, form, Say(uuid4(), pk, form.cleaned_data["text"]))
    opinions.say(membership.project, user_of(request), edge.pk, form.cleaned_data["text"])
    query = form.cleaned_data["query"]
    return HttpResponseRedirect(reverse("edge", args=[slug, edge.pk]) + (f"?{query}" if query else ""))


@posts("queue")
def presence(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Notes that the card is open, and names the others who have it open, as JSON."""
    membership = member(request, slug, needs=Role.EDITOR)
    edge = edge_or_404(membership.project, pk, user_of(request))
    return JsonResponse({"names": [] if edge.is_known else look(user_of(request), edge)})


opinion_urls = [
    path("queue/<int:pk>/ask/", ask, name="ask"),
    path("queue/<int:pk>/comment/", comment, name="comment"),
    path("queue/<int:pk>/presence/", presence, name="presence"),
]
