"""The team's page: who decided how much, and what was accepted; what is given to whom, and what two people read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from linker.errors import UserError
from linker.models import Role
from linker.projects.access import has_role, member, posts
from linker.wording import number
from review import overlap
from review.queue import assignments, known_readings
from review.queue.agreement import agreement
from review.queue.filters import QueueFilter
from review.queue.known_rates import known_rates
from review.queue.known_remarks import known_remarks
from review.queue.saved import saved_filters
from review.queue.team import DAYS, since, team
from review.web.team_forms import AssignForm, KnownShareForm, ReadTwiceForm
from review.web.views.queue import user_of

if TYPE_CHECKING:
    from datetime import timedelta

    from django.http import HttpRequest, HttpResponse

    from linker.models import Membership


@require_GET
def team_view(request: HttpRequest, slug: str) -> HttpResponse:
    """Decisions of the last week, four weeks or three months."""
    return _page(request, member(request, slug, needs=Role.MANAGER))


@posts("queue")
def read_twice(request: HttpRequest, slug: str) -> HttpResponse:
    """Sets how many of the suggestions two people read."""
    membership = member(request, slug, needs=Role.MANAGER)
    form = ReadTwiceForm(request.POST)
    if not form.is_valid():
        return _page(request, membership, read_twice_form=form, status=422)
    percent = form.cleaned_data["percent"]
    overlap.set_share(membership.project, user_of(request), percent)
    if percent:
        said = _("%(percent)s%% of the suggestions are read by two people from now on.") % {"percent": percent}
        messages.success(request, said)
    else:
        messages.success(request, _("Each suggestion is read by one person from now on."))
    return redirect("team", slug)


@posts("queue")
def known_share(request: HttpRequest, slug: str) -> HttpResponse:
    """Sets how many cards whose answer is known come among the suggestions."""
    membership = member(request, slug, needs=Role.MANAGER)
    form = KnownShareForm(request.POST)
    if not form.is_valid():
        return _page(request, membership, known_share_form=form, status=422)
    cards = form.cleaned_data["cards"]
    known_readings.set_share(membership.project, user_of(request), cards)
    if cards:
        said = _("%(cards)s cards whose answer is known come with each hundred suggestions from now on.")
        messages.success(request, said % {"cards": cards})
    else:
        messages.success(request, _("Cards whose answer is known come no more."))
    return HttpResponseRedirect(reverse("team", args=[slug]) + "#known")


@posts("queue")
def assign(request: HttpRequest, slug: str) -> HttpResponse:
    """Gives a list of the queue to a person."""
    membership = member(request, slug, needs=Role.MANAGER)
    project, user = membership.project, user_of(request)
    form = AssignForm(request.POST)
    if not form.is_valid():
        return _page(request, membership, assign_form=form, status=422)
    sent = form.cleaned_data
    names = {one.query: one.name for one in saved_filters(project, user)}
    try:
        given = assignments.assign(
            project, user, sent["person"], sent["query"], sent["due"], sent["note"], names.get(sent["query"], "")
        )
    except UserError as error:
        form.add_error(None, str(error))
        return _page(request, membership, assign_form=form, status=422)
    messages.success(request, _("%(person)s has “%(name)s” now.") % {"person": given.person, "name": given.name})
    return HttpResponseRedirect(reverse("team", args=[slug]) + "#assignments")


@posts("queue")
def close_assignment(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Closes an assignment: the person's own, or, for a manager, anybody's."""
    membership = member(request, slug, needs=Role.EDITOR)
    is_manager = has_role(membership, Role.MANAGER)
    may_close = membership.project.assignments.select_related("project", "person")
    if not is_manager:
        may_close = may_close.filter(person=user_of(request))
    assignment = get_object_or_404(may_close, pk=pk)
    if assignments.close(assignment, user_of(request)):
        messages.success(request, _("“%(name)s” is closed.") % {"name": assignment.name})
    else:
        messages.warning(request, _("“%(name)s” had been closed already.") % {"name": assignment.name})
    if is_manager and request.POST.get("from") == "team":
        return HttpResponseRedirect(reverse("team", args=[slug]) + "#assignments")
    return redirect("queue", slug)


@posts("queue")
def give_on(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Gives what one person has to another."""
    membership = member(request, slug, needs=Role.MANAGER)
    assignment = get_object_or_404(
        membership.project.assignments.select_related("project", "person"), pk=pk, closed_at=None
    )
    try:
        given = assignments.give_on(assignment, user_of(request), request.POST.get("person", "")[:150])
    except UserError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("%(person)s has “%(name)s” now.") % {"person": given.person, "name": given.name})
    return HttpResponseRedirect(reverse("team", args=[slug]) + "#assignments")


def _page(
    request: HttpRequest,
    membership: Membership,
    read_twice_form: ReadTwiceForm | None = None,
    known_share_form: KnownShareForm | None = None,
    assign_form: AssignForm | None = None,
    status: int = 200,
) -> HttpResponse:
    project, user = membership.project, user_of(request)
    asked = request.GET.get("days", "")
    days = int(asked) if asked in map(str, DAYS) else DAYS[1]
    found = team(project, days)
    chosen = QueueFilter.from_query(request.GET, project.queue_order)
    assign_form = assign_form or AssignForm(initial={"query": chosen.to_query()})
    people = assignments.people(project)
    assign_form.offer(
        people,
        saved_filters(project, user),
        assignments.categories(project),
        chosen={chosen.to_query(): assignments.in_words(project, chosen)},
    )
    context = {
        "project": project,
        "membership": membership,
        "section": "queue",
        "team": found,
        "days": days,
        "choices": DAYS,
        "waited": _in_words(found.waited),
        "tables": [
            (_("By person"), found.people),
            (_("By tier"), found.tiers),
            (_("By stated probability"), found.bands),
            (_("By what found the link"), found.generators),
            (_("By the donor’s category"), found.categories),
        ],
        "assigned": assignments.all_assigned(project),
        "people": people,
        "closed": assignments.closed(project),
        "assign_form": assign_form,
        "read_twice_form": read_twice_form or ReadTwiceForm(initial={"percent": project.read_twice}),
        "agreement": agreement(project, since(days)),
        "known_share_form": known_share_form or KnownShareForm(initial={"cards": project.known_share}),
        "known": known_rates(project, since(days)),
        "known_remarks": known_remarks(project, since(days)),
    }
    return render(request, "review/team.html", context, status=status)


def _in_words(waited: timedelta | None) -> str:
    """A time in days, hours or minutes, whichever is the largest that it fills."""
    if waited is None:
        return "–"
    minutes = round(waited.total_seconds() / 60)
    if minutes >= 24 * 60:
        days = round(minutes / (24 * 60))
        return ngettext("%(days)s day", "%(days)s days", days) % {"days": number(days)}
    if minutes >= 60:
        hours = round(minutes / 60)
        return ngettext("%(hours)s hour", "%(hours)s hours", hours) % {"hours": number(hours)}
    return ngettext("%(minutes)s minute", "%(minutes)s minutes", minutes) % {"minutes": number(minutes)}


team_urls = [
    path("queue/team/", team_view, name="team"),
    path("queue/team/read-twice/", read_twice, name="read_twice"),
    path("queue/team/known-answers/", known_share, name="known_share"),
    path("queue/team/assign/", assign, name="assign"),
    path("queue/team/assignments/<int:pk>/close/", close_assignment, name="close_assignment"),
    path("queue/team/assignments/<int:pk>/give-on/", give_on, name="give_on"),
]
