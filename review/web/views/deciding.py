"""What is done to the cards of the queue: several operations from the browser, or one form each without a script."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBadRequest, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.views.decorators.http import require_http_methods

from linker.errors import UserError
from linker.models import Role
from linker.models.querysets import UNDECIDED
from linker.projects.access import member, posts
from linker.wording import count
from review import decisions
from review.decisions import AnchorError, NothingToUndo, Outcome, Ruling, Shown
from review.models import SetAside, Verb
from review.queue import selectors
from review.queue.counts import AtLeast, queue_counts
from review.queue.operations import MAX_OPERATIONS, Answer, Result, carry_out
from review.web.forms import AsideForm, DecisionForm, GroupForm, PlaceForm, UndoForm, held_in, operations_in
from review.web.views.queue import (
    BAD_FORM,
    card_as_json,
    is_fragment,
    open_context,
    queue_context,
    user_of,
)

if TYPE_CHECKING:
    from django.http import HttpRequest

    from linker.models import CandidateEdge, Membership
    from review.queue.filters import QueueFilter

MAX_BODY = 1_000_000  # bytes of one request
MAX_CHANGED = 40  # cards that are sent anew with an answer


@posts("queue")
def operations(request: HttpRequest, slug: str) -> HttpResponse:
    """Carries out what the browser has kept of an editor's work, in order, and answers each operation by itself."""
    membership = member(request, slug, needs=Role.EDITOR)
    try:
        sent: Any = json.loads(request.body) if len(request.body) <= MAX_BODY else None
        asked = operations_in(sent, MAX_OPERATIONS)
    except (ValueError, RecursionError):  # the second where lists hold lists without end
        return HttpResponseBadRequest(BAD_FORM)
    user, project = user_of(request), membership.project
    place = PlaceForm({"query": str(sent.get("query", ""))})
    if not place.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    chosen = place.chosen_in(project)
    answers = carry_out(project, user, asked)
    changed = _changed(membership, chosen, answers, held_in(sent))
    counts = queue_counts(project, chosen, user)
    left = counts.later if chosen.later else counts.to_review
    return JsonResponse(
        {
            "answers": _answers(membership, chosen, answers),
            "changed": changed,
            "counts": {
                "left": left,
                **({"more": True} if isinstance(left, AtLeast) else {}),  # counting stopped there
                "today": counts.today,
                "percent": counts.percent,
            },
        }
    )


def _answers(membership: Membership, chosen: QueueFilter, answers: list[Answer]) -> list[dict[str, Any]]:
    """The answers as JSON; with one that brings a card back, or leaves it open, the card as it is now."""
    back = [
        edge
        for answer in answers
        for edge in answer.edges
        if answer.result != Result.SAVED or (answer.decision is not None and answer.decision.verb == Verb.UNDO)
    ]
    cards = {card.edge.pk: card for card in selectors.cards_of(membership.project, back)} if back else {}
    donors = selectors.donors_of(membership.project, [card.edge for card in cards.values()])
    context = queue_context(membership, chosen)
    found = []
    for answer in answers:
        shown = [
            card_as_json(
                context, cards[edge].edge, cards[edge],
                doubt=answer.doubt, typed=answer.doubt.anchor if answer.doubt else "",
                note=answer.message if answer.result == Result.REFUSED else "",
            )
            | {"donor": render_to_string("review/_donor.html", context | {"donor": donors[cards[edge].edge.source_id]})}
            for edge in answer.edges
            if edge in cards
        ]  # fmt: skip
        found.append(
            {
                "key": str(answer.key),
                "result": answer.result,
                "message": answer.message,
                "decision": answer.decision.pk if answer.decision else None,
                "cards": shown,
            }
        )
    return found


def _changed(
    membership: Membership, chosen: QueueFilter, answers: list[Answer], held: list[int]
) -> list[dict[str, Any]]:
    """Of the open cards that the browser holds ready, those of acceptors that were decided on: their words or warnings
    may be others now. What others have decided in the meantime keeps its place, so that no card moves under the hands
    of who reads ahead; it is refused when it is decided on."""
    project = membership.project
    decided = [edge for answer in answers if answer.result == Result.SAVED for edge in answer.edges]
    targets = project.edges.filter(pk__in=decided).values("target")
    touched = project.edges.filter(UNDECIDED, pk__in=held, target__in=targets)
    cards = selectors.cards_of(project, list(touched.values_list("pk", flat=True)[:MAX_CHANGED]))
    context = queue_context(membership, chosen)
    return [card_as_json(context, card.edge, card) for card in cards]


# --------------------------------------------------------------------------------------------- without a script


@posts("queue")
def decide(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Accept, accept with an edit, or reject one edge."""
    membership = member(request, slug, needs=Role.EDITOR)
    project, user = membership.project, user_of(request)
    edge = get_object_or_404(project.edges, pk=pk)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    chosen = form.chosen_in(project)
    try:
        outcome = decisions.decide_edges(
            project, [edge.pk], form.verb, user, form.ruling(edge.pk), form.what_was_shown(edge.pk)
        )
    except AnchorError as error:
        return _card_again(request, membership, edge, chosen, 422, error=str(error), typed=form.settled_anchor)
    if outcome.doubts:
        doubt = outcome.doubts[0]
        do = f"anyway{form.cleaned_data['do'].removeprefix('accept').removeprefix('anyway')}"
        return _card_again(request, membership, edge, chosen, 422, doubt=doubt, typed=doubt.anchor, anyway=do)
    if outcome.conflicts:
        conflict = outcome.conflicts[0]
        status = 200 if conflict.is_saved else 409
        return _card_again(request, membership, edge, chosen, status, note=conflict.message)
    SetAside.objects.filter(project=project, user=user, edge=edge).delete()
    messages.success(request, in_words(outcome))
    return _to_queue(membership, form, selectors.next_edge(project, chosen, user, edge))


@posts("queue")
def undo(request: HttpRequest, slug: str) -> HttpResponse:
    """Takes back the decision named, or else the user's newest, with its batch."""
    membership = member(request, slug, needs=Role.EDITOR)
    form = UndoForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    named = form.cleaned_data["decision"]
    decision = get_object_or_404(membership.project.decisions.exclude(verb=Verb.UNDO), pk=named) if named else None
    try:
        outcome = decisions.undo(membership.project, user_of(request), decision)
    except NothingToUndo as error:
        if decision is None:
            messages.warning(request, str(error))
            return _to_queue(membership, form, None)
        chosen = form.chosen_in(membership.project)
        return _card_again(request, membership, decision.edge, chosen, 409, note=str(error))
    level = messages.SUCCESS if outcome.decided else messages.WARNING
    messages.add_message(request, level, in_words(outcome))
    return _to_queue(membership, form, outcome.decided[0].edge if outcome.decided else None)


@posts("queue")
def set_aside(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Sets a suggestion aside for later, or takes it back among the others."""
    membership = member(request, slug, needs=Role.EDITOR)
    project, user = membership.project, user_of(request)
    edge = get_object_or_404(project.edges, pk=pk)
    form = AsideForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    following = selectors.next_edge(project, form.chosen_in(project), user, edge)
    if form.cleaned_data["back"]:
        SetAside.objects.filter(project=project, user=user, edge=edge).delete()
    else:
        SetAside.objects.get_or_create(project=project, user=user, edge=edge)
    return _to_queue(membership, form, following)


@require_http_methods(["GET", "HEAD", "POST"])
def accept_group(request: HttpRequest, slug: str) -> HttpResponse:
    """GET lists what would be accepted of one donor; POST accepts what was left checked."""
    membership = member(request, slug, needs=Role.EDITOR)
    project = membership.project
    form = GroupForm(request.POST if request.method == "POST" else request.GET)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    donor = get_object_or_404(project.pages, pk=form.cleaned_data["donor"])
    if request.method != "POST":
        chosen = form.chosen_in(project)
        cards = selectors.group_suggestions(project, chosen, user_of(request), donor.pk)
        template = "review/_group.html" if is_fragment(request) else "review/accept_group.html"
        warnings = decisions.warnings_beforehand(project, [card.edge for card in cards])
        context = queue_context(membership, chosen) | {"donor": donor, "cards": cards, "warnings": warnings}
        return render(request, template, context)
    try:
        outcome = decisions.decide_edges(
            project,
            list(form.seen_runs),
            Verb.ACCEPT,
            user_of(request),
            Ruling(overrules=form.overrules),
            shown=Shown(runs=form.seen_runs, anchors=form.seen_anchors),
        )
    except UserError as error:
        return HttpResponseBadRequest(str(error))
    is_whole = outcome.decided and not outcome.conflicts and not outcome.doubts
    messages.add_message(request, messages.SUCCESS if is_whole else messages.WARNING, in_words(outcome))
    return _to_queue(membership, form, None)


# ------------------------------------------------------------------------------------------------------- answers


def _card_again(
    request: HttpRequest, membership: Membership, edge: CandidateEdge, chosen: QueueFilter, status: int, **more: Any
) -> HttpResponse:
    """The card by itself, with what is to be said about it."""
    line = selectors.line_at(membership.project, chosen, edge.pk)
    context = queue_context(membership, chosen) | open_context(membership, line, ()) | more
    return render(request, "review/edge.html", context, status=status)


def _to_queue(membership: Membership, form: PlaceForm, at: CandidateEdge | None) -> HttpResponse:
    query = form.cleaned_data["query"]
    parts = [query] if query else []
    if at is not None:
        parts.append(f"at={at.pk}")
    place = f"?{'&'.join(parts)}" if parts else ""
    return HttpResponseRedirect(reverse("queue", args=[membership.project.slug]) + place)


def in_words(outcome: Outcome) -> str:
    """One sentence on what was done."""
    words = []
    if len(outcome.decided) == 1:
        done = outcome.decided[0]
        words.append(
            f"{done.get_verb_display()}: “{done.anchor_after}” → {done.edge.target.title or done.edge.target.url}"
        )
    elif outcome.decided:
        words.append(f"{outcome.decided[0].get_verb_display()}: {len(outcome.decided)} links, undone as one.")
    if len(outcome.conflicts) == 1:
        words.append(outcome.conflicts[0].message)
    elif outcome.conflicts:
        saved = sum(conflict.is_saved for conflict in outcome.conflicts)
        changed = len(outcome.conflicts) - saved
        if saved:
            words.append(f"{count(saved, 'decision of yours was', 'decisions of yours were')} already saved.")
        if changed:
            words.append(f"{count(changed, 'link was', 'links were')} decided by another editor and left unchanged.")
    if len(outcome.doubts) == 1:
        about = outcome.doubts[0]
        words.append(f"Not accepted yet: “{about.anchor}”. {about.warnings[0].text}")
    elif outcome.doubts:
        words.append(f"{len(outcome.doubts)} links were left open: too many other links now use the same anchor.")
    return " ".join(words) or "Nothing was checked, so nothing was accepted."


deciding_urls = [
    path("queue/operations/", operations, name="operations"),
    path("queue/undo/", undo, name="undo"),
    path("queue/group/", accept_group, name="accept_group"),
    path("queue/<int:pk>/decide/", decide, name="decide"),
    path("queue/<int:pk>/later/", set_aside, name="set_aside"),
]
