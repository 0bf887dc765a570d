"""The review queue: one open card, what follows it, and what a card shows on request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.http import HttpResponse, HttpResponseBadRequest, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import path
from django.views.decorators.http import require_GET

from linker.models import Role
from linker.projects.access import has_role, member
from linker.query_strings import is_id
from linker.reports.tier_notice import tier_notice
from review import decisions
from review.models import Reason, Where
from review.queue import selectors
from review.queue.chips import chips
from review.queue.counts import queue_counts
from review.queue.filters import QueueFilter, tier_choices
from review.queue.page_text import page_text
from review.queue.saved import saved_filters
from review.web.filter_forms import QueueFilterForm
from review.web.forms import WordsForm, cursor_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User
    from django.http import HttpRequest

    from linker.models import CandidateEdge, Membership
    from review.queue.selectors import Card, Line

FOLLOWING = 8  # lines below the open card
DECK = 20  # cards that are fetched ahead at once
BAD_FORM = "The form was incomplete. Reload the queue and try again."


@require_GET
def queue_view(request: HttpRequest, slug: str) -> HttpResponse:
    """The first card of the list under the filters of the address, or the one named by `at`, and the lines below it.

    Of a list of decided links, the lines alone; with htmx and a cursor, the lines that follow it.
    """
    membership = member(request, slug, needs=Role.VIEWER)
    project, user = membership.project, user_of(request)
    chosen = QueueFilter.from_query(request.GET, project.queue_order)
    context = queue_context(membership, chosen)
    if context["in_lines"]:
        found = selectors.lines(project, chosen, user, cursor_of(request.GET, chosen))
        context |= {"lines": found.lines, "next": found.next}
        if is_fragment(request):
            return render(request, "review/_lines.html", context)
    else:
        first, following = _open_line(membership, chosen, user, request.GET.get("at", ""))
        context |= open_context(membership, first, following)
    return render(request, "review/queue.html", context | _filter_context(membership, chosen, request, user))


@require_GET
def deck(request: HttpRequest, slug: str) -> HttpResponse:
    """The cards that follow a cursor, as JSON: each with its line and its donor, made ready to be shown."""
    membership = member(request, slug, needs=Role.VIEWER)
    chosen = QueueFilter.from_query(request.GET, membership.project.queue_order)
    found = selectors.lines(membership.project, chosen, user_of(request), cursor_of(request.GET, chosen), DECK)
    return JsonResponse({"cards": cards_as_json(membership, chosen, found.lines), "next": found.next})


@require_GET
def edge_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One card, by itself."""
    membership = member(request, slug, needs=Role.VIEWER)
    chosen = QueueFilter.from_query(request.GET, membership.project.queue_order)
    line = selectors.line_at(membership.project, chosen, pk)
    if line is None:
        get_object_or_404(membership.project.edges, pk=pk)
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"cards": cards_as_json(membership, chosen, [line] if line else [])})
    context = queue_context(membership, chosen) | open_context(membership, line, ())
    return render(request, "review/edge.html", context)


@require_GET
def page_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """A page as text, from what the import holds, to be looked at beside a card."""
    membership = member(request, slug, needs=Role.VIEWER)
    page = get_object_or_404(membership.project.pages.select_related("category"), pk=pk)
    context = {"project": membership.project, "page": page, "text": page_text(page, request.GET.get("words", ""))}
    template = "review/_page_text.html" if is_fragment(request) else "review/page_text.html"
    return render(request, template, context)


@require_GET
def words(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """What an accept with these words would be asked about, as JSON: `warnings` with code and text, or an `error`."""
    membership = member(request, slug, needs=Role.EDITOR)
    edge = get_object_or_404(membership.project.edges.select_related("source", "target"), pk=pk)
    form = WordsForm(request.GET)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    edge.project = membership.project
    try:
        found = decisions.warnings_about_words(edge, form.cleaned_data["anchor"])
    except decisions.AnchorError as error:
        return JsonResponse({"warnings": [], "error": str(error)})
    return JsonResponse({"warnings": [{"code": warning.code, "text": warning.text} for warning in found]})


# ------------------------------------------------------------------------------------------------------ contexts


def queue_context(membership: Membership, chosen: QueueFilter) -> dict[str, Any]:
    """What every part of the queue's pages needs to know."""
    return {
        "project": membership.project,
        "membership": membership,
        "section": "queue",
        "chosen": chosen,
        "query": chosen.to_query(),
        "in_lines": chosen.status != QueueFilter.status,
        "can_decide": has_role(membership, Role.EDITOR),
        "reasons": Reason.choices,
        "wheres": Where.choices,
    }


def open_context(membership: Membership, line: Line | None, following: Sequence[Line]) -> dict[str, Any]:
    """The open card with its donor, and the lines below it."""
    if line is None:
        return {"card": None, "donor": None, "lines": following}
    donor = selectors.donors_of(membership.project, [line.edge])[line.edge.source_id]
    return {
        "card": selectors.cards_of_lines([line])[0],
        "cursor": line.cursor,
        "donor": donor,
        "lines": following,
    }


def _open_line(membership: Membership, chosen: QueueFilter, user: User, at: str) -> tuple[Line | None, Sequence[Line]]:
    project = membership.project
    line = selectors.line_at(project, chosen, int(at)) if is_id(at) else None
    if line is not None and line.edge.status == chosen.status:
        return line, selectors.lines(project, chosen, user, line.cursor, FOLLOWING).lines
    found = selectors.lines(project, chosen, user, size=FOLLOWING + 1).lines
    return (found[0], found[1:]) if found else (None, ())


def _filter_context(membership: Membership, chosen: QueueFilter, request: HttpRequest, user: User) -> dict[str, Any]:
    project = membership.project
    counts = queue_counts(project, chosen, user)
    return {
        "counts": counts,
        "statuses": [(value, label, counts.of(value)) for value, label in selectors.statuses()],
        "chips": chips(project, chosen),
        "saved": saved_filters(project, user),
        "recent": selectors.recent_decisions(project, user),
        "filters": QueueFilterForm(chosen, tier_choices(project), selectors.category_choices(project)),
        "notice": tier_notice(project),
        "may_set_tiers": has_role(membership, Role.MANAGER),
        "other_fields": [(name, value) for name, value in QueryDict(chosen.to_query()).items() if name != "text"],
        # The export refuses what it does not know, rather than letting more leave than was asked for.
        "export_query": request.GET.urlencode() if chosen.ignored else chosen.export_query(),
        "export_only": request.GET.urlencode() if chosen.ignored else "",
        "has_matched": bool(counts.total) or selectors.has_matched(project),
    }


def cards_as_json(membership: Membership, chosen: QueueFilter, shown: Sequence[Line]) -> list[dict[str, Any]]:
    """Each card as the browser keeps it: its parts as HTML, which the templates have escaped."""
    if not shown:
        return []
    donors = selectors.donors_of(membership.project, [line.edge for line in shown])
    context = queue_context(membership, chosen)
    heads = {pk: render_to_string("review/_donor.html", context | {"donor": donor}) for pk, donor in donors.items()}
    return [
        card_as_json(context, line.edge, card) | {"donor": heads[line.edge.source_id], "cursor": str(line.cursor)}
        for line, card in zip(shown, selectors.cards_of_lines(shown), strict=True)
    ]


def card_as_json(context: dict[str, Any], edge: CandidateEdge, card: Card, **more: Any) -> dict[str, Any]:
    return {
        "edge": edge.pk,
        "source": edge.source_id,
        "open": card.is_open,
        "card": render_to_string("review/_card.html", context | {"card": card} | more),
        "line": render_to_string("review/_line.html", context | {"edge": edge}),
    }


def is_fragment(request: HttpRequest) -> bool:
    return bool(request.headers.get("HX-Request")) and not request.headers.get("HX-Boosted")


def user_of(request: HttpRequest) -> User:
    return cast("User", request.user)


queue_urls = [
    path("queue/", queue_view, name="queue"),
    path("queue/deck/", deck, name="deck"),
    path("queue/page/<int:pk>/", page_view, name="page_text"),
    path("queue/<int:pk>/", edge_view, name="edge"),
    path("queue/<int:pk>/words/", words, name="words"),
]
