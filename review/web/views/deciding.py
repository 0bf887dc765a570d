"""What is done to the cards of the queue: several operations from the browser, or one form each without a script."""

from __future__ import annotations

import json
from collections import Counter
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from django.contrib import messages
from django.db.models import Exists, OuterRef, Q
from django.http import HttpResponse, HttpResponseBadRequest, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods

from linker.errors import UserError
from linker.models import Role
from linker.models.querysets import DECIDED, UNDECIDED, holds
from linker.projects.access import member, posts
from linker.query_strings import is_id
from linker.wording import AtLeast, number
from review import decisions, undoing
from review.allowed import MayNotLink
from review.models import RULES_OUT, RULES_OUT_WIDELY, Decision, SetAside, Verb, Where
from review.queue import known_cards, second_readings, selectors
from review.queue.assignments import assigned_to
from review.queue.card_words import name_of
from review.queue.counts import Counts, queue_counts
from review.queue.excerpt import REACH
from review.queue.filters import QueueFilter
from review.queue.operations import (
    MAX_OPERATIONS,
    Answer,
    Aside,
    Ask,
    Decide,
    Result,
    Say,
    Undo,
    carry_out,
    take_back_last,
)
from review.queue.recent import recent_work
from review.rulings import AnchorError, NothingToUndo, Outcome, Ruling
from review.web.forms import AsideForm, DecisionForm, GroupForm, PlaceForm, UndoForm, held_in, operations_in
from review.web.views.queue import (
    BAD_FORM,
    card_as_json,
    cards_as_json,
    edge_or_404,
    heads_as_html,
    is_fragment,
    line_at,
    open_context,
    queue_context,
    user_of,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet
    from django.http import HttpRequest

    from linker.models import CandidateEdge, Membership, Project

MAX_BODY = 1_000_000  # bytes of one request
MAX_CHANGED = 40  # cards that are sent anew with an answer
LINKING = (Verb.ACCEPT, Verb.EDIT, Verb.UNDO)  # a link comes to a text, or leaves it


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
    if sent.get("by", user.pk) != user.pk:  # somebody else has signed in since the page was loaded
        return HttpResponse(status=HTTPStatus.CONFLICT)
    place = PlaceForm({"query": str(sent.get("query", ""))})
    if not place.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    chosen = place.chosen_in(project)
    answers = carry_out(project, user, asked)
    hidden = _hidden(project, answers, held_in(sent))
    context = queue_context(membership, chosen)
    changed = _changed(context, answers, held_in(sent))
    return JsonResponse(
        {
            "answers": _answers(context, user, answers, hidden),
            "changed": changed,
            "counts": _counts(project, chosen, user),
        }
    )


@require_GET
def meanwhile(request: HttpRequest, slug: str) -> HttpResponse:
    """What the user's other windows, and other people, may have changed of a queue page that is open, as JSON: the
    lines of the user's last decisions, the counts, the `head` of the open card's group, and the card itself where it is
    decided by now (`closed`). `mark` names the project's newest decision: where the page has `seen` that, nothing more
    is said."""
    membership = member(request, slug, needs=Role.EDITOR)
    project, user = membership.project, user_of(request)
    mark = str(Decision.objects.filter(project=project).order_by("-pk").values_list("pk", flat=True).first() or 0)
    if request.GET.get("seen") == mark:
        return JsonResponse({"mark": mark})
    chosen = QueueFilter.from_query(request.GET, project.queue_order)
    context = queue_context(membership, chosen)
    edge = request.GET.get("edge", "")
    line = line_at(membership, chosen, int(edge)) if is_id(edge) else None
    is_closed = line is not None and holds(DECIDED, line.edge)
    return JsonResponse(
        {
            "mark": mark,
            "recent": [
                render_to_string("review/_recent.html", context | {"done": done}) for done in recent_work(project, user)
            ],
            "counts": _counts(project, chosen, user),
            "group": chosen.group_of(line.edge) if line else None,
            "head": heads_as_html(context, [line.edge])[line.edge.pk] if line else "",
            "closed": cards_as_json(membership, chosen, [line])[0] if line and is_closed else None,
        }
    )


def _counts(project: Project, chosen: QueueFilter, user: User) -> dict[str, Any]:
    """The numbers of the bar and the menu."""
    counts = queue_counts(project, chosen, user)
    left = counts.left(chosen)
    return {
        "left": left,
        **({"more": True} if isinstance(left, AtLeast) else {}),  # counting stopped there
        "today": counts.today,
        "percent": counts.percent,
        "menu": _menu(counts) | _assigned(project, user),
    }


def _menu(counts: Counts) -> dict[str, str]:
    """The numbers of the menu of statuses, in words."""
    known = {value: counts.of(value) for value, _label in selectors.statuses()}
    own = {name: getattr(counts, name) for name in ("later", "asked", "waiting", "today")}
    return {name: number(count) for name, count in (known | own).items()}


def _assigned(project: Project, user: User) -> dict[str, str]:
    """What is left of the lists that the user was given: the number on the tab, and the sentence above the list."""
    found: dict[str, str] = {}
    for one in assigned_to(project, user):
        found |= {f"assigned-{one.assignment.pk}": number(one.left), f"left-of-{one.assignment.pk}": one.says}
    return found


def _hidden(project: Project, answers: list[Answer], held: list[int]) -> dict[int, list[int]]:
    """Of the cards that the browser holds ready, those that left the queue with a rejection, by the rejected edge."""
    rejected = [
        answer.decision.edge_id
        for answer in answers
        if answer.decision is not None
        and answer.decision.verb == Verb.REJECT
        and answer.decision.reason in RULES_OUT | RULES_OUT_WIDELY
    ]
    hidden: dict[int, list[int]] = {}
    if rejected:
        rows = project.edges.filter(pk__in=held, suppressed_by__edge__in=rejected)
        for rejection, edge in rows.values_list("suppressed_by__edge", "pk"):
            hidden.setdefault(rejection, []).append(edge)
    return hidden


def _answers(
    context: dict[str, Any], user: User, answers: list[Answer], hidden: dict[int, list[int]]
) -> list[dict[str, Any]]:
    """The answers as JSON; with one that brings a card back, or leaves it open, the card as it is now."""
    back = [edge for answer in answers if answer.shows_cards for edge in answer.edges]
    project = context["project"]
    cards = {card.edge.pk: card for card in second_readings.cards_of(project, user, back)} if back else {}
    if known := [pk for pk in back if pk not in cards]:
        cards |= {card.edge.pk: card for card in known_cards.cards_of(project, known, user)}
    heads = heads_as_html(context, [card.edge for card in cards.values()])
    found = []
    for answer in answers:
        shown = [
            card_as_json(
                context, cards[edge].edge, cards[edge],
                doubt=answer.doubt, typed=answer.doubt.anchor if answer.doubt else "",
                note=answer.message if answer.result == Result.REFUSED else "",
            )
            | {"head": heads[edge]}
            for edge in cards  # the best first, as the list had them
            if edge in answer.edges
        ]  # fmt: skip
        found.append(
            {
                "key": str(answer.key),
                "result": answer.result,
                "message": answer.message,
                "decision": answer.decision.pk if answer.decision else None,
                "verb": answer.verb,
                "cards": shown,
                "hidden": hidden.get(answer.decision.edge_id, []) if answer.decision else [],
            }
        )
    return found


def _changed(context: dict[str, Any], answers: list[Answer], held: list[int]) -> list[dict[str, Any]]:
    """Of the open cards that the browser holds ready, those of acceptors that were decided on: their words or warnings
    may be others now; and those whose paragraph may show a link that was accepted or taken back just now. What others
    have decided in the meantime keeps its place, so that no card moves under the hands of who reads ahead; it is
    refused when it is decided on."""
    project = context["project"]
    saved = [answer for answer in answers if answer.result == Result.SAVED]
    decided = [edge for answer in saved for edge in answer.edges]
    linked = [edge for answer in saved if answer.decision and answer.decision.verb in LINKING for edge in answer.edges]
    targets = project.edges.filter(pk__in=decided).values("target")
    alike = Q(target__in=targets) | Q(Exists(_placed_near(project.edges.filter(pk__in=linked))))
    touched = project.edges.filter(UNDECIDED, alike, pk__in=held)
    cards = selectors.cards_of(project, list(touched.values_list("pk", flat=True)[:MAX_CHANGED]))
    return [card_as_json(context, card.edge, card) for card in cards]


def _placed_near(edges: QuerySet[CandidateEdge]) -> QuerySet[CandidateEdge]:
    """Those of the edges that stand where the excerpt of the outer one might show them."""
    start = OuterRef("span_start")
    return edges.filter(source=OuterRef("source"), span_start__gt=start - REACH, span_start__lt=start + REACH)


# --------------------------------------------------------------------------------------------- without a script


@posts("queue")
def decide(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Accept, accept with an edit, or reject one edge."""
    membership = member(request, slug, needs=Role.EDITOR)
    project, user = membership.project, user_of(request)
    edge = edge_or_404(project, pk, user)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    if edge.is_known:
        operation = Decide(uuid4(), pk, form.verb, form.ruling(pk), form.what_was_shown(pk))
        return of_known(request, membership, form, operation)
    chosen = form.chosen_in(project)
    try:
        outcome = decisions.decide_edges(
            project, [edge.pk], form.verb, user, form.ruling(edge.pk), form.what_was_shown(edge.pk)
        )
    except (AnchorError, MayNotLink) as error:
        return _card_again(
            request,
            membership,
            edge,
            chosen,
            422,
            error=str(error),
            typed=form.settled_anchor,
            sentence=form.cleaned_data["sentence"],
        )
    if outcome.doubts:
        doubt = outcome.doubts[0]
        do = f"anyway{form.cleaned_data['do'].removeprefix('accept').removeprefix('anyway')}"
        return _card_again(
            request,
            membership,
            edge,
            chosen,
            422,
            doubt=doubt,
            typed=doubt.anchor,
            anyway=do,
            sentence=form.cleaned_data["sentence"],
        )
    if outcome.conflicts:
        conflict = outcome.conflicts[0]
        said = (form.verb, form.ruling(edge.pk), form.what_was_shown(edge.pk), uuid4())
        if not conflict.is_saved and second_readings.take(project, user, edge.pk, *said):
            return to_queue(membership, form, selectors.next_edge(project, chosen, user, edge))
        status = 200 if conflict.is_saved else 409
        return _card_again(request, membership, edge, chosen, status, note=conflict.message)
    messages.success(request, in_words(outcome))
    return to_queue(membership, form, selectors.next_edge(project, chosen, user, edge))


@posts("queue")
def undo(request: HttpRequest, slug: str) -> HttpResponse:
    """Takes back the decision named, or what the user said with a key, or else what the user did last, of decisions
    with their batch."""
    membership = member(request, slug, needs=Role.EDITOR)
    form = UndoForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    named = form.cleaned_data["decision"]
    if form.cleaned_data["of"]:
        carry_out(membership.project, user_of(request), [Undo(uuid4(), form.cleaned_data["of"])])
        return to_queue(membership, form, None)
    other = take_back_last(membership.project, user_of(request), uuid4()) if named is None else None
    if other is not None:
        return to_queue(membership, form, edge_or_404(membership.project, other.edges[0], user_of(request)))
    decision = get_object_or_404(membership.project.decisions.exclude(verb=Verb.UNDO), pk=named) if named else None
    try:
        outcome = undoing.undo(membership.project, user_of(request), decision)
    except NothingToUndo as error:
        if decision is None:
            messages.warning(request, str(error))
            return to_queue(membership, form, None)
        chosen = form.chosen_in(membership.project)
        return _card_again(request, membership, decision.edge, chosen, 409, note=str(error))
    level = messages.SUCCESS if outcome.decided else messages.WARNING
    messages.add_message(request, level, in_words(outcome))
    return to_queue(membership, form, outcome.decided[0].edge if outcome.decided else None)


@posts("queue")
def set_aside(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Sets a suggestion aside for later, or takes it back among the others."""
    membership = member(request, slug, needs=Role.EDITOR)
    project, user = membership.project, user_of(request)
    edge = edge_or_404(project, pk, user)
    form = AsideForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    if edge.is_known:
        return of_known(request, membership, form, Aside(uuid4(), pk, back=form.cleaned_data["back"]))
    following = selectors.next_edge(project, form.chosen_in(project), user, edge)
    if form.cleaned_data["back"]:
        SetAside.objects.filter(project=project, user=user, edge=edge).delete()
    else:
        SetAside.objects.get_or_create(project=project, user=user, edge=edge)
    return to_queue(membership, form, following)


@require_http_methods(["GET", "HEAD", "POST"])
def accept_group(request: HttpRequest, slug: str) -> HttpResponse:
    """GET lists what would be accepted of one donor, acceptor or category; POST accepts what was left checked."""
    membership = member(request, slug, needs=Role.EDITOR)
    project = membership.project
    form = GroupForm(request.POST if request.method == "POST" else request.GET)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM) if request.method == "POST" else redirect("queue", slug)
    side, group = form.side
    common = get_object_or_404(project.categories if side == "category" else project.pages, pk=group) if group else None
    if request.method != "POST":
        chosen = form.chosen_in(project)
        cards = selectors.group_suggestions(project, chosen, user_of(request), side, group)
        template = "review/_group.html" if is_fragment(request) else "review/accept_group.html"
        warnings = decisions.warnings_beforehand(project, [card.edge for card in cards])
        places = Counter(card.where for card in cards)
        context = queue_context(membership, chosen) | {
            "common": common, "side": side, "group": group, "cards": cards, "warnings": warnings,
            "places": [(where, places[where]) for where in Where if places[where]],
            "none_ticked": all(card.edge.sensitive or card.edge.pk in warnings for card in cards),
        }  # fmt: skip
        return render(request, template, context)
    shown = form.what_was_shown
    at = project.edges.filter(pk=form.cleaned_data["at"] or next(iter(shown.runs), 0)).first()
    try:
        outcome = decisions.decide_edges(
            project, list(shown.runs), Verb.ACCEPT, user_of(request), Ruling(overrules=form.overrules), shown
        )
    except UserError as error:
        messages.error(request, str(error))
        return to_queue(membership, form, at)
    if at is not None and not project.edges.filter(UNDECIDED, pk=at.pk).exists():
        at = selectors.next_edge(project, form.chosen_in(project), user_of(request), at)
    is_whole = outcome.decided and not outcome.conflicts and not outcome.doubts
    messages.add_message(request, messages.SUCCESS if is_whole else messages.WARNING, in_words(outcome))
    return to_queue(membership, form, at)


def of_known(
    request: HttpRequest, membership: Membership, form: PlaceForm, operation: Decide | Aside | Ask | Say
) -> HttpResponse:
    """The same of a card whose answer is known."""
    project, user, chosen = membership.project, user_of(request), form.chosen_in(membership.project)
    edge = edge_or_404(project, operation.edge, user)
    [answer] = carry_out(project, user, [operation])
    if answer.doubt is not None:
        return _card_again(request, membership, edge, chosen, 422, doubt=answer.doubt, typed=answer.doubt.anchor)
    if answer.result != Result.SAVED:
        return _card_again(request, membership, edge, chosen, 422, error=answer.message)
    if answer.message:
        messages.success(request, answer.message)
    return to_queue(membership, form, selectors.next_edge(project, chosen, user, edge))


# ------------------------------------------------------------------------------------------------------- answers


def _card_again(
    request: HttpRequest, membership: Membership, edge: CandidateEdge, chosen: QueueFilter, status: int, **more: Any
) -> HttpResponse:
    """The card by itself, with what is to be said about it."""
    line = known_cards.line_at(membership.project, chosen, edge.pk, membership.user)
    context = queue_context(membership, chosen) | open_context(membership, chosen, line, ()) | more
    return render(request, "review/edge.html", context, status=status)


def to_queue(membership: Membership, form: PlaceForm, at: CandidateEdge | None) -> HttpResponse:
    query = form.cleaned_data["query"]
    parts = [query] if query else []
    if at is not None:
        parts.append(f"at={at.pk}")
    place = f"?{'&'.join(parts)}" if parts else ""
    return HttpResponseRedirect(reverse("queue", args=[membership.project.slug]) + place)


def in_words(outcome: Outcome) -> str:
    """What was done, in a few sentences."""
    words = [*_decided(outcome), *_left(outcome), *_doubted(outcome)]
    return " ".join(words) or _("Nothing was checked, so nothing was accepted.")


def _decided(outcome: Outcome) -> list[str]:
    if not outcome.decided:
        return []
    done, links = outcome.decided[0], len(outcome.decided)
    if links == 1:
        return [f"{done.get_verb_display()}: “{done.anchor_after}” → {name_of(done.edge.target)}"]
    if done.verb == Verb.UNDO:
        return [_("Undone: the decisions on %(links)s links.") % {"links": number(links)}]
    return [_("%(verb)s: %(links)d links, undone as one.") % {"verb": done.get_verb_display(), "links": links}]


def _left(outcome: Outcome) -> list[str]:
    """What others, or the same editor elsewhere, had decided already."""
    if len(outcome.conflicts) == 1:
        return [outcome.conflicts[0].message]
    saved = sum(conflict.is_saved for conflict in outcome.conflicts)
    moved = sum(conflict.is_moved for conflict in outcome.conflicts)
    rerun = sum(conflict.is_rerun for conflict in outcome.conflicts)
    changed = len(outcome.conflicts) - saved - moved - rerun
    words = []
    if moved:
        said = ngettext(
            "%(number)s link was left unchanged: a page of it was merged, redirected or removed since you looked.",
            "%(number)s links were left unchanged: pages of theirs were merged, redirected or removed since you "
            "looked.",
            moved,
        )
        words.append(said % {"number": number(moved)})
    if rerun:
        said = ngettext(
            "%(number)s link was left unchanged: a newer match run, or a decision on another link, has changed it "
            "since you looked.",
            "%(number)s links were left unchanged: a newer match run, or decisions on other links, have changed them "
            "since you looked.",
            rerun,
        )
        words.append(said % {"number": number(rerun)})
    if saved:
        said = ngettext(
            "%(number)s decision of yours was already saved.",
            "%(number)s decisions of yours were already saved.",
            saved,
        )
        words.append(said % {"number": number(saved)})
    if changed:
        said = ngettext(
            "%(number)s link was decided by another editor and left unchanged.",
            "%(number)s links were decided by another editor and left unchanged.",
            changed,
        )
        words.append(said % {"number": number(changed)})
    return words


def _doubted(outcome: Outcome) -> list[str]:
    if not outcome.doubts:
        return []
    if len(outcome.doubts) == 1:
        about = outcome.doubts[0]
        found = {"anchor": about.anchor, "warning": about.warnings[0].text}
        return [_("Not accepted yet: “%(anchor)s”. %(warning)s") % found]
    said = _("%(links)d links were left open: too many other links now use the same anchor.")
    return [said % {"links": len(outcome.doubts)}]


deciding_urls = [
    path("queue/operations/", operations, name="operations"),
    path("queue/meanwhile/", meanwhile, name="meanwhile"),
    path("queue/undo/", undo, name="undo"),
    path("queue/group/", accept_group, name="accept_group"),
    path("queue/<int:pk>/decide/", decide, name="decide"),
    path("queue/<int:pk>/later/", set_aside, name="set_aside"),
]
