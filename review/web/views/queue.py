"""The review queue: a list of cards, and the four things that are done to them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBadRequest, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import path, reverse
from django.views.decorators.http import require_GET, require_http_methods

from linker.errors import UserError
from linker.models import Membership, Role
from linker.projects.access import has_role, member, posts
from linker.reports.tier_notice import tier_notice
from linker.wording import count
from review import decisions
from review.decisions import AnchorError, Doubt, NothingToUndo, Outcome, Ruling, Shown
from review.models import Reason, Verb
from review.queue import selectors
from review.queue.filters import QueueFilter, tier_choices
from review.web.filter_forms import QueueFilterForm
from review.web.forms import DecisionForm, GroupForm, PlaceForm, UndoForm, cursor_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User
    from django.http import HttpRequest

    from linker.models import CandidateEdge
    from review.queue.selectors import Card

MOST_CARDS_SWAPPED = 60  # more are shown by loading the page again
BAD_FORM = "The form was incomplete. Reload the queue and try again."


@dataclass(frozen=True)
class Answer:
    """What a write has to say: the cards it touched, with a word on those it could not change.

    `doubts`: by edge, what is to be said against the words that an editor wants to accept; `do` is the button that
    was pressed, and `typed` are the words.
    """

    cards: Sequence[Card]
    said: str
    notes: dict[int, str]
    errors: dict[int, str]
    typed: str = ""
    status: int = 200
    doubts: dict[int, Doubt] = field(default_factory=dict)
    do: str = "accept"

    @property
    def anyway(self) -> str:
        """The button that accepts in spite of the warnings, with the same rel."""
        return f"anyway{self.do.removeprefix('accept').removeprefix('anyway')}"


@require_GET
def queue_view(request: HttpRequest, slug: str) -> HttpResponse:
    """The list under the filters of the address; with htmx and a cursor, only what follows."""
    membership = member(request, slug, needs=Role.VIEWER)
    project = membership.project
    chosen = QueueFilter.from_query(request.GET, project.queue_order)
    cursor = cursor_of(request.GET, chosen)
    page = selectors.queue_page(project, chosen, cursor)
    place = chosen.to_query() if cursor is None else urlencode({"after": str(cursor)}) + "&" + chosen.to_query()
    context = {**_context(membership, chosen, place.rstrip("&")), "page": page, "continued": cursor is not None}
    if _is_fragment(request) and cursor is not None:
        return render(request, "review/_queue_rows.html", context)
    return render(
        request,
        "review/queue.html",
        {
            **context,
            "counts": selectors.queue_counts(project, chosen, _user(request)),
            "filters": QueueFilterForm(chosen, tier_choices(project), selectors.category_choices(project)),
            "notice": tier_notice(project),
            "may_set_tiers": has_role(membership, Role.MANAGER),
            # The export refuses what it does not know, rather than letting more leave than was asked for.
            "export_query": request.GET.urlencode() if chosen.ignored else chosen.export_query(),
            "has_matched": bool(page.groups) or selectors.has_matched(project),
        },
    )


@require_GET
def edge_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One card, by itself."""
    membership = member(request, slug, needs=Role.VIEWER)
    edge = get_object_or_404(membership.project.edges, pk=pk)
    template = "review/_card.html" if _is_fragment(request) else "review/card_page.html"
    chosen = QueueFilter.from_query(request.GET, membership.project.queue_order)
    return render(
        request,
        template,
        {**_context(membership, chosen, chosen.to_query()), "card": selectors.card_of(edge), "alone": True},
    )


@posts("queue")
def decide(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Accept, accept with an edit, or reject one edge."""
    membership = member(request, slug, needs=Role.EDITOR)
    edge = get_object_or_404(membership.project.edges, pk=pk)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    try:
        outcome = decisions.decide_edges(
            membership.project,
            [edge.pk],
            form.verb,
            _user(request),
            form.ruling(edge.pk),
            form.what_was_shown(edge.pk),
        )
    except AnchorError as error:
        card = selectors.card_of(edge, form.cleaned_data["position"])
        wrong = Answer([card], str(error), {}, {edge.pk: str(error)}, form.settled_anchor, status=422)
        return _answer(request, membership, form, wrong)
    cards = [selectors.card_of(edge, form.cleaned_data["position"])]
    if outcome.doubts:
        asking = _in_answer(outcome, cards)
        asking = replace(asking, status=422, do=form.cleaned_data["do"], typed=outcome.doubts[0].anchor)
        return _answer(request, membership, form, asking)
    return _answer(request, membership, form, _in_answer(outcome, cards), go_on_after=edge)


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
        outcome = decisions.undo(membership.project, _user(request), decision)
    except NothingToUndo as error:
        cards = [selectors.card_of(decision.edge)] if decision else []
        refused = Answer(cards, str(error), {card.edge.pk: str(error) for card in cards}, {}, status=409)
        return _answer(request, membership, form, refused)
    cards = selectors.cards_of(membership.project, _touched(outcome))
    return _answer(request, membership, form, _in_answer(outcome, cards), go_to=cards[0].edge if cards else None)


@require_http_methods(["GET", "HEAD", "POST"])
def accept_group(request: HttpRequest, slug: str) -> HttpResponse:
    """GET lists what would be accepted of one donor; POST accepts what was left checked."""
    membership = member(request, slug, needs=Role.EDITOR)
    form = GroupForm(request.POST if request.method == "POST" else request.GET)
    if not form.is_valid():
        return HttpResponseBadRequest(BAD_FORM)
    donor = get_object_or_404(membership.project.pages, pk=form.cleaned_data["donor"])
    if request.method != "POST":
        chosen = form.chosen_in(membership.project)
        cards = selectors.group_suggestions(membership.project, chosen, donor.pk)
        template = "review/_queue_preview.html" if _is_fragment(request) else "review/accept_group.html"
        context = _context(membership, chosen, form.cleaned_data["query"])
        warnings = decisions.warnings_beforehand(membership.project, [card.edge for card in cards])
        return render(request, template, {**context, "donor": donor, "cards": cards, "warnings": warnings})
    try:
        outcome = decisions.decide_edges(
            membership.project,
            list(form.seen_runs),
            Verb.ACCEPT,
            _user(request),
            Ruling(overrules=form.overrules),
            shown=Shown(runs=form.seen_runs, anchors=form.seen_anchors),
        )
    except UserError as error:
        return HttpResponseBadRequest(str(error))
    cards = selectors.cards_of(membership.project, _touched(outcome))
    return _answer(request, membership, form, _in_answer(outcome, cards, in_bulk=True), preview_of=donor.pk)


# ------------------------------------------------------------------------------------------------------- answers


def _answer(
    request: HttpRequest,
    membership: Membership,
    form: PlaceForm,
    answer: Answer,
    *,
    go_on_after: CandidateEdge | None = None,
    go_to: CandidateEdge | None = None,
    preview_of: int | None = None,
) -> HttpResponse:
    """To htmx the cards, the heads of their groups and the counters; to a plain browser a page or a redirect."""
    project, chosen = membership.project, form.chosen_in(membership.project)
    context = {**_context(membership, chosen, form.cleaned_data["query"]), "answer": answer}
    if _is_fragment(request):
        if len(answer.cards) > MOST_CARDS_SWAPPED:
            return HttpResponse(headers={"HX-Refresh": "true"})
        context |= {
            "heads": selectors.heads_of(project, answer.cards),
            "counts": selectors.queue_counts(project, chosen, _user(request)),
            "preview_of": preview_of,
            "has_matched": True,
        }
        return render(request, "review/_decision_answer.html", context, status=answer.status)
    if answer.status != 200 and len(answer.cards) == 1:
        context |= {"card": answer.cards[0], "alone": True}
        return render(request, "review/card_page.html", context, status=answer.status)
    if answer.said:
        level = messages.SUCCESS if answer.status == 200 else messages.WARNING
        messages.add_message(request, level, answer.said)
    following = selectors.next_edge(project, chosen, go_on_after) if go_on_after else go_to
    place = f"?{form.cleaned_data['query']}" if form.cleaned_data["query"] else ""
    fragment = f"#edge-{following.pk}" if following else ""
    return HttpResponseRedirect(reverse("queue", args=[project.slug]) + place + fragment)


def _in_answer(outcome: Outcome, cards: Sequence[Card], *, in_bulk: bool = False) -> Answer:
    notes = {conflict.edge.pk: conflict.message for conflict in outcome.conflicts}
    return Answer(
        cards=cards,
        said=_in_words(outcome),
        notes=notes,
        errors={},
        status=409 if outcome.conflicts and not (in_bulk and outcome.decided) else 200,
        doubts={doubt.edge.pk: doubt for doubt in outcome.doubts},
    )


def _in_words(outcome: Outcome) -> str:
    """One sentence on what was done, for the status line."""
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
    return " ".join(words)


def _touched(outcome: Outcome) -> list[int]:
    held_up = [conflict.edge.pk for conflict in outcome.conflicts] + [doubt.edge.pk for doubt in outcome.doubts]
    return [decision.edge_id for decision in outcome.decided] + held_up


def _context(membership: Membership, chosen: QueueFilter, place: str) -> dict[str, Any]:
    return {
        "project": membership.project,
        "membership": membership,
        "section": "queue",
        "chosen": chosen,
        "query": place,
        "can_decide": has_role(membership, Role.EDITOR),
        "reasons": Reason.choices,
        "statuses": selectors.statuses(),
    }


def _is_fragment(request: HttpRequest) -> bool:
    return bool(request.headers.get("HX-Request")) and not request.headers.get("HX-Boosted")


def _user(request: HttpRequest) -> User:
    return cast("User", request.user)


queue_urls = [
    path("queue/", queue_view, name="queue"),
    path("queue/undo/", undo, name="undo"),
    path("queue/group/", accept_group, name="accept_group"),
    path("queue/<int:pk>/", edge_view, name="edge"),
    path("queue/<int:pk>/decide/", decide, name="decide"),
]
