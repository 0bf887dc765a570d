"""The review queue: one open card, what follows it, and what a card shows on request."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from django.http import Http404, HttpResponse, HttpResponseBadRequest, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import path
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from linker.models import Reach, Role, RunKind
from linker.models.querysets import DECIDED, holds
from linker.models.subtrees import nearby
from linker.projects.access import has_role, member
from linker.projects.in_text import none_in_text
from linker.projects.queue_sum import queue_sum
from linker.query_strings import is_id
from linker.reports.tier_notice import tier_notice
from review import decisions
from review.link_places import where_of, why_elsewhere, why_not_there
from review.models import Reason, Where
from review.queue import known_cards, second_readings, selectors
from review.queue.assignments import assigned_to
from review.queue.chips import chips
from review.queue.counts import queue_counts
from review.queue.end_rows import end_rows
from review.queue.excerpt import excerpt_around
from review.queue.facets import facets
from review.queue.filter_choices import tier_choices
from review.queue.filters import QueueFilter
from review.queue.keys import Keys
from review.queue.opinions import colleagues
from review.queue.page_text import page_text
from review.queue.recent import recent_work, saved_keys
from review.queue.saved import saved_filters
from review.queue.selectors import Lines
from review.queue.text_links import links_of
from review.rulings import AnchorError, PlaceTaken
from review.second_person import why_not_second, why_not_those
from review.web.filter_forms import QueueFilterForm
from review.web.forms import WordsForm, cursor_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User
    from django.http import HttpRequest

    from linker.models import CandidateEdge, Membership, Project
    from review.queue.selectors import Card, Line

FOLLOWING = 8  # lines below the open card
DECK = 20  # cards that are fetched ahead at once
BAD_FORM = _("The form was incomplete. Reload the queue and try again.")


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
        after = cursor_of(request.GET, chosen)
        found = known_cards.mixed_in(project, chosen, user, selectors.lines(project, chosen, user, after), after)
        context |= {"lines": found.lines, "next": found.next}
        if chosen.second:
            links = [(line.edge, line.decision) for line in found.lines]
            context["not_second_of"] = why_not_those(membership, links)
        if is_fragment(request):
            return render(request, "review/_lines.html", context)
    else:
        at = request.GET.get("at", "")
        named = line_at(membership, chosen, int(at)) if is_id(at) else None
        first, following = _open_line(membership, chosen, user, named)
        context |= open_context(membership, chosen, first, following) | {"not_here": bool(at) and named is None}
    return render(request, "review/queue.html", context | _filter_context(membership, chosen, request, user))


@require_GET
def filters_view(request: HttpRequest, slug: str) -> HttpResponse:
    """The form of all filters, each value with its number: the bar fetches it once it is asked for."""
    membership = member(request, slug, needs=Role.VIEWER)
    project = membership.project
    chosen = QueueFilter.from_query(request.GET, project.queue_order)
    found = facets(project, chosen)
    form = QueueFilterForm(chosen, tier_choices(project), nearby(project, chosen.category), found)
    context = queue_context(membership, chosen) | _export_context(request, chosen) | {
        "filters": form,
        "saved": saved_filters(project, user_of(request)),
        "may_set_tiers": has_role(membership, Role.MANAGER),
    }  # fmt: skip
    return render(request, "review/_filters.html" if is_fragment(request) else "review/filters.html", context)


@require_GET
def deck(request: HttpRequest, slug: str) -> HttpResponse:
    """The cards that follow a cursor, as JSON: each with its line and its donor, made ready to be shown."""
    membership = member(request, slug, needs=Role.VIEWER)
    chosen = QueueFilter.from_query(request.GET, membership.project.queue_order)
    user = user_of(request)
    after = cursor_of(request.GET, chosen)
    found = selectors.lines(membership.project, chosen, user, after, DECK)
    if has_role(membership, Role.EDITOR):
        found = second_readings.mixed_in(membership.project, chosen, user, found, DECK)
        found = known_cards.mixed_in(membership.project, chosen, user, found, after)
    return JsonResponse({"cards": cards_as_json(membership, chosen, found.lines), "next": found.next})


@require_GET
def edge_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One card, by itself; to who is to read it as the second, as it was before the decision."""
    membership = member(request, slug, needs=Role.VIEWER)
    chosen = QueueFilter.from_query(request.GET, membership.project.queue_order)
    line = line_at(membership, chosen, pk)
    if line is None:
        get_object_or_404(membership.project.edges, pk=pk)
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"cards": cards_as_json(membership, chosen, [line] if line else [])})
    context = queue_context(membership, chosen) | open_context(membership, chosen, line, ())
    return render(request, "review/edge.html", context)


@require_GET
def page_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """A page as text, from what the import holds, to be looked at beside a card."""
    membership = member(request, slug, needs=Role.VIEWER)
    page = get_object_or_404(membership.project.pages.select_related("category"), pk=pk)
    start, end = (request.GET.get(name, "") for name in ("start", "end"))
    place = (int(start), int(end)) if is_id(start) and is_id(end) else None
    context = {
        "project": membership.project,
        "membership": membership,
        "section": "queue",
        "page": page,
        "text": page_text(page, request.GET.get("words", ""), place),
    }
    template = "review/_page_text.html" if is_fragment(request) else "review/page_text.html"
    return render(request, template, context)


@require_GET
def words(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """What an accept with these words would do, as JSON: `where` the link would go, and in the text its `place`; the
    `warnings` about it, each with code, text and whether it `stops` the accept; a `note` where words of the text can
    have no link; where the place is not the one that was picked, the paragraph that holds it; or an `error`."""
    membership = member(request, slug, needs=Role.EDITOR)
    edge = edge_or_404(membership.project, pk, user_of(request), "source", "target")
    form = WordsForm(request.GET)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    edge.project = membership.project
    if holds(DECIDED, edge):
        line = second_readings.due_line(membership.project, QueueFilter(), user_of(request), pk)
        edge = line.edge if line is not None else edge
    ruling, note = form.ruling, ""
    try:
        try:
            accepted = decisions.accepted_with(edge, ruling, user_of(request))
        except PlaceTaken as error:
            ruling, note = replace(ruling, span=None), str(error)
            accepted = decisions.accepted_with(edge, ruling, user_of(request))
        where = where_of(accepted)
        found = decisions.warnings_about_words(edge, form.cleaned_data["anchor"], where)
    except AnchorError as error:
        return JsonResponse({"warnings": [], "error": str(error)})
    warnings = [{"code": warning.code, "text": warning.text, "stops": warning.stops} for warning in found]
    if not note and not ruling.where:
        note = why_elsewhere(edge, accepted)
    if edge.content_gap and where != Where.TEXT:
        note = why_not_there(edge, form.cleaned_data["anchor"])
    has_place = where == Where.TEXT and accepted.span_start is not None
    place = (accepted.span_start, accepted.span_end) if has_place else None
    shown = "" if place == form.ruling.span else _excerpt_of(accepted)
    return JsonResponse({"warnings": warnings, "where": where, "place": place, "note": note, "excerpt": shown})


def _excerpt_of(edge: CandidateEdge) -> str:
    """The paragraph that the edge stands in, as its card shows it; empty where it has no place."""
    if edge.span_start is None or edge.span_end is None:
        return ""
    body = edge.source.body
    links = links_of(edge.project, [edge.source_id])[edge.source_id].places_in(body, edge)
    headings = [edge.source.h1, *edge.source.headings]
    shown = excerpt_around(body, edge.span_start, edge.span_end, links.anchors, links.places, headings)
    return render_to_string("review/_excerpt.html", {"e": shown, "of": edge.anchor})


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
        "reaches": Reach.choices,
        "keys": Keys(membership.user_id),
        "colleagues": colleagues(membership.project, membership.user_id),  # asked for when the first card lists them
    }


def open_context(
    membership: Membership, chosen: QueueFilter, line: Line | None, following: Sequence[Line]
) -> dict[str, Any]:
    """The open card with the head of its group, and the lines below it."""
    if line is None:
        return {"card": None, "head": None, "lines": following}
    head = known_cards.heads_of(membership.project, chosen, [line.edge], membership.user)[line.edge.pk]
    card = known_cards.cards_of_lines(membership.user, [line])[0]
    return {
        "card": card,
        "not_second": why_not_second(card.edge, membership, card.decision) if card.waits else "",
        "cursor": line.cursor,
        "head": head,
        "lines": following,
        # Their lines do not name it again.
        "same_donor": {
            below.edge.pk
            for above, below in pairwise([line, *following])
            if above.edge.source_id == below.edge.source_id
        },
    }


def line_at(membership: Membership, chosen: QueueFilter, pk: int) -> Line | None:
    """A suggestion or a known card, whether or not the filter lists it; to its second reader, as it was before."""
    line = known_cards.line_at(membership.project, chosen, pk, membership.user)
    if line is None or line.decision is None or not has_role(membership, Role.EDITOR):
        return line
    return second_readings.due_line(membership.project, chosen, membership.user, pk) or line


def _open_line(
    membership: Membership, chosen: QueueFilter, user: User, named: Line | None
) -> tuple[Line | None, Sequence[Line]]:
    """The card that was asked for, open or decided, or the first of the list, and the lines below it."""
    project = membership.project
    is_editor = has_role(membership, Role.EDITOR)
    if named is not None:
        found = (named, *selectors.lines(project, chosen, user, named.cursor, FOLLOWING).lines)
    else:
        listed = selectors.lines(project, chosen, user, size=FOLLOWING + 1)
        if not listed.lines and is_editor:
            listed = second_readings.mixed_in(project, chosen, user, listed, FOLLOWING + 1)
            listed = known_cards.mixed_in(project, chosen, user, listed)
        found = listed.lines
    if not found:
        return None, ()
    following = found[1:]
    if is_editor and not found[0].edge.is_known:  # as the deck does, so that no line comes in between
        following = known_cards.mixed_in(project, chosen, user, Lines(following, ""), at_end=False).lines
    return found[0], following[:FOLLOWING]


def _filter_context(membership: Membership, chosen: QueueFilter, request: HttpRequest, user: User) -> dict[str, Any]:
    project = membership.project
    counts = queue_counts(project, chosen, user)
    has_matched = bool(counts.total) or selectors.has_matched(project)
    before_cards = [] if has_matched else selectors.before_cards(project)
    is_queue = chosen.status == QueueFilter.status
    return _export_context(request, chosen) | {
        "counts": counts,
        "end_rows": end_rows(chosen, counts),
        "statuses": [(value, label, counts.of(value)) for value, label in selectors.statuses()],
        "chips": chips(project, chosen),
        "saved": saved_filters(project, user),
        "assigned": assigned_to(project, user),
        "recent": recent_work(project, user),
        "saved_keys": " ".join(map(str, saved_keys(project, user))),
        "notice": tier_notice(project),
        "may_set_tiers": has_role(membership, Role.MANAGER),
        "is_manager": has_role(membership, Role.MANAGER),
        "queue_sum": queue_sum(project) if is_queue else None,
        "none_in_text": none_in_text(project) if is_queue else None,
        "other_fields": [(name, value) for name, value in QueryDict(chosen.to_query()).items() if name != "text"],
        "has_matched": has_matched,
        "has_pages": has_matched or project.pages.exists(),
        "before_cards": before_cards,
        "match_is_under_way": any(run.kind == RunKind.MATCH for run in before_cards),
    }


def _export_context(request: HttpRequest, chosen: QueueFilter) -> dict[str, str]:
    # The export refuses what it does not know, rather than letting more leave than was asked for.
    return {
        "export_query": request.GET.urlencode() if chosen.ignored else chosen.export_query(),
        "export_only": request.GET.urlencode() if chosen.ignored else "",
    }


def cards_as_json(membership: Membership, chosen: QueueFilter, shown: Sequence[Line]) -> list[dict[str, Any]]:
    """Each card as the browser keeps it: its parts as HTML, which the templates have escaped."""
    if not shown:
        return []
    context = queue_context(membership, chosen)
    heads = heads_as_html(context, [line.edge for line in shown])
    return [
        card_as_json(context, line.edge, card) | {"head": heads[line.edge.pk], "cursor": str(line.cursor)}
        for line, card in zip(shown, known_cards.cards_of_lines(membership.user, shown), strict=True)
    ]


def heads_as_html(context: dict[str, Any], edges: Sequence[CandidateEdge]) -> dict[int, str]:
    """By edge, the head of its group, each made once."""
    heads = known_cards.heads_of(context["project"], context["chosen"], edges, context["membership"].user)
    by_id = {head.id: head for head in heads.values()}
    made = {pk: render_to_string("review/_head.html", context | {"head": head}) for pk, head in by_id.items()}
    return {edge: made[head.id] for edge, head in heads.items()}


def card_as_json(context: dict[str, Any], edge: CandidateEdge, card: Card, **more: Any) -> dict[str, Any]:
    return {
        "edge": edge.pk,
        "source": edge.source_id,
        "group": context["chosen"].group_of(edge),
        "open": card.is_open,
        "card": render_to_string("review/_card.html", context | {"card": card} | more),
        "line": render_to_string("review/_line.html", context | {"edge": edge}),
    }


def edge_or_404(project: Project, pk: int, user: User, *joined: str) -> CandidateEdge:
    """The suggestion with this number, or the card whose answer is known, as an edge that `is_known`."""
    edges = project.edges.select_related(*joined) if joined else project.edges.all()
    edge = edges.filter(pk=pk).first() or known_cards.edge_at(project, pk, user)
    if edge is None:
        raise Http404
    return edge


def is_fragment(request: HttpRequest) -> bool:
    return bool(request.headers.get("HX-Request")) and not request.headers.get("HX-Boosted")


def user_of(request: HttpRequest) -> User:
    return cast("User", request.user)


queue_urls = [
    path("queue/", queue_view, name="queue"),
    path("queue/deck/", deck, name="deck"),
    path("queue/all-filters/", filters_view, name="queue_filters"),
    path("queue/page/<int:pk>/", page_view, name="page_text"),
    path("queue/<int:pk>/", edge_view, name="edge"),
    path("queue/<int:pk>/words/", words, name="words"),
]
