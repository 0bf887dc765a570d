"""What a second person does with links of pages that have a gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.contrib import messages
from django.http import HttpResponseBadRequest, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.urls import path, reverse
from django.utils.translation import gettext as _

from linker.models import Role
from linker.models.querysets import WAITING
from linker.projects.access import member, posts
from review import second_person
from review.second_person import NotTheSecond
from review.web.forms import PlaceForm
from review.web.views.queue import BAD_FORM, user_of

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from linker.models import CandidateEdge


LIST = "status=accepted&second=1"  # of the queue, all that wait


class SecondForm(PlaceForm):
    do = forms.ChoiceField(choices=[("approve", "approve"), ("reject", "reject")])
    note = forms.CharField(required=False, max_length=500)


@posts("queue")
def second_person_decides(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Approves or rejects an accepted link, and goes on to the next that waits."""
    membership = member(request, slug, needs=Role.EDITOR)
    edge = get_object_or_404(membership.project.edges, pk=pk)
    form = SecondForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    act = second_person.approve if form.cleaned_data["do"] == "approve" else second_person.reject
    try:
        decision = act(membership, pk, user_of(request), form.cleaned_data["note"])
    except NotTheSecond as error:
        messages.error(request, str(error))
        return redirect("edge", slug, pk)
    messages.success(request, f"{decision.get_verb_display()}: “{edge.anchor}”.")
    place = f"?{form.cleaned_data['query'] or LIST}"
    following = _next(edge)
    if following is None:
        messages.info(request, _("Nothing else waits for a second person."))
        return HttpResponseRedirect(reverse("queue", args=[slug]) + place)
    return HttpResponseRedirect(reverse("edge", args=[slug, following.pk]) + place)


def _next(edge: CandidateEdge) -> CandidateEdge | None:
    """The first link that waits, in the order of the queue's list of them."""
    waiting = edge.project.edges.filter(WAITING).exclude(pk=edge.pk)
    return waiting.order_by("-donor_best", "source", "-score", "pk").first()


second_urls = [path("queue/<int:pk>/second/", second_person_decides, name="second_person")]
