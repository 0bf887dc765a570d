"""Reads for the review queue. Each function asks a constant number of queries, whatever it lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db.models import Count, Q
from django.utils import timezone

from linker.engine.anchors.source_labels import source_label
from linker.engine.candidates.registry import label_of
from linker.engine.text.sentences import Context, find_phrase, reads_as, sentence_around, shortened
from linker.models import (
    Block,
    CandidateEdge,
    Category,
    EdgeStatus,
    ExistingLink,
    Page,
    Placement,
    Project,
    Rel,
    Run,
    RunKind,
)
from linker.models.linked import IN_BLOCK, links_in_place
from linker.models.querysets import ACCEPTED, ACTIVE, APPROVED, DECIDED, PROPOSED, STALE, UNDECIDED, holds
from linker.runs.pilot_progress import open_pilot
from review import anchor_warnings
from review.decisions import decisions_in_force
from review.models import Decision, Verb
from review.queue.filters import ALL, Cursor, QueueFilter, of_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User

    from review.anchor_warnings import AnchorWarning

PAGE_SIZE = 20
ALTERNATIVES = 3
# From which share of the run's links on a link is called what. Words are read off the run and never off a fixed score:
# another model, or another way to rank, spreads its scores elsewhere.
QUANTILE_WORDS = ((0.9, "Among the best 10% of this run"), (0.75, "Among the best 25% of this run"),
             (0.5, "In the upper half of this run"), (0.0, "In the lower half of this run"))  # fmt: skip
_HINTS = {
    "gap": "Write the sentence and edit the anchor to its words, or accept the link for the related block.",
    "copy": "Write the sentence, or take an anchor that stands in the text.",
}
# What the numbers behind a suggestion are called; any other is called as its feature.
_MEASURES = {
    "cosine": "alike by meaning",
    "similarity": "alike by meaning",
    "words": "alike by words",
    "share": "of the phrase's links lead here",
    "keyness": "of the phrase's mentions are links",
    "named": "how wholly it is named",
    "times": "mentions in the text",
    "neighbour_links": "of the nearest pages link to it",
    "similar_linkers": "of similar linkers link to it",
    "cocited": "linked together with it",
    "category_links": "of its category link to it",
    "links_back": "links back",
    "level": "levels up the tree",
}
_JOINED = ("source__category", "target__category", "block", "tier", "run__model")
_LONG = ("source__body", "source__headings", "target__body", "target__headings")


@dataclass(frozen=True)
class Alternative:
    """Another anchor: `origin` says in words where it came from; `context` is None where the donor's body does not
    hold it."""

    text: str
    origin: str
    context: Context | None

    @property
    def in_text(self) -> bool:
        return self.context is not None


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of the donor's text that a sentence could follow: `text`, in the middle of a long one an ellipsis,
    and the heading above it, or ""."""

    text: str
    heading: str


@dataclass(frozen=True)
class Card:
    """What an editor sees of one edge.

    `context` is None where the donor's body does not hold the anchor. `decision` is the one in force, None on an
    open suggestion. `position` is the place in the list shown, from 1; None outside of a list. `rels` are the rel
    values an accept can give, the tier's first. `linked` warns where the site has the link already. `warnings` are what
    an accept with these words would be asked about. `paragraph` is where a sentence about the acceptor would fit that
    has no words in the donor's text yet.
    """

    edge: CandidateEdge
    level: str
    context: Context | None
    alternatives: tuple[Alternative, ...]
    decision: Decision | None
    rels: tuple[str, ...]
    position: int | None = None
    linked: str = ""
    warnings: tuple[AnchorWarning, ...] = ()
    paragraph: Paragraph | None = None

    @property
    def is_open(self) -> bool:
        return holds(UNDECIDED, self.edge)

    @property
    def is_related(self) -> bool:
        return self.edge.placement == Placement.RELATED

    @property
    def place(self) -> str:
        """Where the link goes: "inline", "gap", "copy" (words that the text does not hold yet) or "related"."""
        if self.edge.content_gap:
            return "copy" if self.edge.edited else "gap"
        if self.is_related:
            return "related"
        return "inline" if self.context else "copy"

    @property
    def hint(self) -> str:
        """What an editor can do where the text does not hold the words."""
        return _HINTS.get(self.place, "")

    @property
    def of_pilot(self) -> bool:
        """Whether the run that proposed it last was a pilot."""
        return bool(self.edge.run.params.get("pilot"))

    @property
    def headline(self) -> tuple[str, str]:
        """The number a link is judged by, and what it is: its probability, or else its score."""
        if self.edge.probability is not None:
            return _percent(self.edge.probability), "probability"
        return f"{self.edge.score:.3f}", "score"

    @property
    def quantile_in_words(self) -> str:
        """How the link ranks among the links of its run."""
        return next(words for least, words in QUANTILE_WORDS if self.edge.quantile >= least)

    @property
    def generators(self) -> list[str]:
        """Who proposed it, readable."""
        return [label_of(name) for name in self.edge.generators]

    @property
    def evidence(self) -> list[tuple[str, float]]:
        """The numbers behind it with their names, readable."""
        return [(_MEASURES.get(name, name.replace("_", " ")), value) for name, value in self.edge.evidence.items()]

    @property
    def authority(self) -> str:
        """How much authority the donor has, in words; empty if unknown."""
        return authority_in_words(self.edge)

    @property
    def donor_href(self) -> str:
        return _href(self.edge.source)

    @property
    def acceptor_href(self) -> str:
        return _href(self.edge.target)


@dataclass(frozen=True)
class Quota:
    """A donor's links: `total` leaves out what was rejected, withdrawn or is no longer proposed."""

    accepted: int
    total: int
    open: int


@dataclass
class DonorGroup:
    """Neighbouring cards of one donor. `authority`: how much it has, in words; empty if unknown."""

    donor: Page
    quota: Quota
    authority: str
    cards: list[Card] = field(default_factory=list)

    @property
    def donor_href(self) -> str:
        return _href(self.donor)


@dataclass(frozen=True)
class QueuePage:
    """A part of the list. `next` is the cursor of what follows, empty at the end."""

    groups: tuple[DonorGroup, ...]
    next: str

    @property
    def cards(self) -> list[Card]:
        return [card for group in self.groups for card in group.cards]


@dataclass(frozen=True)
class Counts:
    """Edges under a filter's scope, by what can be done with them; `today` is the user's own decisions."""

    to_review: int
    sensitive: int
    held: int
    stale: int
    accepted: int
    rejected: int
    exported: int
    withdrawn: int
    today: int

    @property
    def total(self) -> int:
        return self.to_review + self.held + self.stale + self.decided

    @property
    def decided(self) -> int:
        return self.accepted + self.rejected + self.exported + self.withdrawn

    @property
    def percent(self) -> int:
        """Decided, of what is decided or to review; 100 only when nothing is left."""
        known = self.decided + self.to_review
        return self.decided * 100 // known if known else 0


def queue_page(project: Project, chosen: QueueFilter, after: Cursor | None = None, size: int = PAGE_SIZE) -> QueuePage:
    """At most `size` edges that follow `after`, grouped by donor where the filter's order is donor by donor.

    The open suggestions of an open pilot come before all others.
    """
    edges = chosen.queryset(project).select_related(*_JOINED).defer(*_LONG)
    pilot = _put_first(project, chosen)
    if pilot is None and after is not None and after.in_pilot:
        after = None  # the pilot has ended since: from the top, so that nothing is left out
    following = edges.filter(chosen.after(after)) if after is not None else edges
    if pilot is None:
        found = list(following[: size + 1])
    elif after is None or after.in_pilot:
        found = list(following.filter(of_runs([pilot.pk]))[: size + 1])
        found += edges.exclude(run=pilot)[: size + 1 - len(found)]
    else:
        found = list(following.exclude(run=pilot)[: size + 1])
    shown = found[:size]
    start = after.position if after is not None else 0
    cards = _cards(shown, range(start + 1, start + 1 + len(shown)))
    last = None
    if len(found) > size:
        in_pilot = pilot is not None and shown[-1].run_id == pilot.pk
        last = Cursor.of(shown[-1], chosen.order, start + len(shown), in_pilot=in_pilot)
    return QueuePage(tuple(_groups(project, cards)), str(last) if last else "")


def card_of(edge: CandidateEdge, position: int | None = None) -> Card:
    """The card of one edge, read afresh."""
    fresh = CandidateEdge.objects.select_related(*_JOINED).defer(*_LONG).get(pk=edge.pk)
    return _cards([fresh], [position])[0]


def cards_of(project: Project, edge_ids: Sequence[int]) -> list[Card]:
    """The cards of some of a project's edges, read afresh, the best first."""
    edges = CandidateEdge.objects.filter(project=project, pk__in=edge_ids).order_by("-score", "id")
    found = list(edges.select_related(*_JOINED).defer(*_LONG))
    return _cards(found, [None] * len(found))


def next_edge(project: Project, chosen: QueueFilter, edge: CandidateEdge) -> CandidateEdge | None:
    """The open suggestion that follows `edge` in the filter's order, or else the first of the list."""
    suggestions = chosen.queryset(project).filter(UNDECIDED).exclude(pk=edge.pk)
    following = suggestions.filter(chosen.after(Cursor.of(edge, chosen.order, 0)))
    pilot = _put_first(project, chosen)
    if pilot is None:
        return following.first() or suggestions.first()
    first, rest = suggestions.filter(of_runs([pilot.pk])), suggestions.exclude(run=pilot)
    if edge.run_id == pilot.pk:
        return following.filter(of_runs([pilot.pk])).first() or rest.first() or first.first()
    return following.exclude(run=pilot).first() or first.first() or rest.first()


def _put_first(project: Project, chosen: QueueFilter) -> Run | None:
    """The pilot whose suggestions come first in the list; None where there is none, or the list asks for more than
    what is to be reviewed."""
    if chosen.status != EdgeStatus.SUGGESTED or chosen.pilot:
        return None
    return open_pilot(project)


def queue_counts(project: Project, chosen: QueueFilter, user: User) -> Counts:
    """Counts under every field of the filter but its status; what is held or stale counts where it is shown."""
    shown = UNDECIDED & chosen.hidden_left_out()
    # An empty condition hides nothing, and its negation is empty as well.
    hidden = UNDECIDED & ~chosen.hidden_left_out() if chosen.hidden_left_out() else Q(pk__in=[])
    sums = chosen.scope(project).aggregate(
        to_review=Count("pk", filter=shown),
        sensitive=Count("pk", filter=shown & ~Q(sensitive="")),
        held=Count("pk", filter=hidden & PROPOSED),
        stale=Count("pk", filter=hidden & STALE),
        accepted=Count("pk", filter=ACCEPTED),
        rejected=Count("pk", filter=Q(status=EdgeStatus.REJECTED)),
        exported=Count("pk", filter=Q(status=EdgeStatus.EXPORTED)),
        withdrawn=Count("pk", filter=Q(status=EdgeStatus.WITHDRAWN)),
    )
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    decided = Decision.objects.filter(project=project, user=user, at__gte=midnight, undone_by__isnull=True)
    return Counts(**sums, today=decided.exclude(verb=Verb.UNDO).count())


def quotas(project: Project, donor_ids: Sequence[int]) -> dict[int, Quota]:
    """How many links each donor gives and could give, over the whole project whatever the filter."""
    rows = (
        CandidateEdge.objects.filter(ACTIVE, project=project, source__in=donor_ids)
        .values("source_id")
        .annotate(
            total=Count("pk"),
            accepted=Count("pk", filter=APPROVED),
            open=Count("pk", filter=UNDECIDED),
        )
    )
    known = {row["source_id"]: Quota(row["accepted"], row["total"], row["open"]) for row in rows}
    return {donor: known.get(donor, Quota(0, 0, 0)) for donor in donor_ids}


def group_suggestions(project: Project, chosen: QueueFilter, donor_id: int) -> list[Card]:
    """What "accept the group" would accept: the donor's open suggestions under the filter, the best first."""
    edges = (
        chosen.queryset(project)
        .filter(UNDECIDED, source_id=donor_id)
        .order_by("-score", "id")
        .select_related(*_JOINED)
        .defer(*_LONG)
    )
    found = list(edges)
    return _cards(found, [None] * len(found))


def has_matched(project: Project) -> bool:
    """Whether the project has ever been matched: an empty queue means something else before."""
    return project.runs.filter(kind=RunKind.MATCH).exists() and project.edges.exists()


def category_choices(project: Project) -> list[Category]:
    """The project's categories in the order of the tree."""
    return sorted(Category.objects.filter(project=project), key=lambda category: category.path)


def statuses() -> list[tuple[str, str]]:
    return [*EdgeStatus.choices, (ALL, "All")]


# --------------------------------------------------------------------------------------------------------- cards


def _cards(edges: Sequence[CandidateEdge], positions: Sequence[int | None]) -> list[Card]:
    bodies = dict(Page.objects.filter(pk__in={edge.source_id for edge in edges}).values_list("pk", "body"))
    decided = [edge.pk for edge in edges if holds(DECIDED, edge)]
    last, warned = {}, {}
    if edges:
        project = edges[0].project
        for edge in edges:
            edge.project = project  # else each would ask for it
        found = decisions_in_force(project).filter(edge__in=decided).select_related("user")
        last = {decision.edge_id: decision for decision in found}
        warned = anchor_warnings.beforehand(project, [edge for edge in edges if holds(UNDECIDED, edge)])
    there = links_in_place(edge for edge in edges if edge.status in (EdgeStatus.SUGGESTED, EdgeStatus.ACCEPTED))
    return [
        Card(
            edge=edge,
            level=level_in_words(edge),
            context=_context(bodies[edge.source_id], edge),
            alternatives=_alternatives(bodies[edge.source_id], edge),
            decision=last.get(edge.pk),
            rels=_rels(edge),
            position=position,
            linked=_linked(there[edge.pk]) if edge.pk in there else "",
            warnings=tuple(warned.get(edge.pk, ())),
            paragraph=_paragraph(bodies[edge.source_id], edge),
        )
        for edge, position in zip(edges, positions, strict=True)
    ]


def _linked(link: ExistingLink) -> str:
    anchor = f" (“{link.anchor}”)" if link.anchor else ""
    return f"The donor links to this page already {IN_BLOCK[Block(link.block)]}{anchor}."


def heads_of(project: Project, cards: Sequence[Card]) -> list[DonorGroup]:
    """The groups of some cards, one a donor, without the cards."""
    donors = {card.edge.source_id: card for card in cards}
    known = quotas(project, list(donors))
    return [DonorGroup(card.edge.source, known[pk], card.authority) for pk, card in donors.items()]


def _groups(project: Project, cards: Sequence[Card]) -> list[DonorGroup]:
    known = quotas(project, sorted({card.edge.source_id for card in cards}))
    groups: list[DonorGroup] = []
    for card in cards:
        donor = card.edge.source
        if not groups or groups[-1].donor.pk != donor.pk:
            groups.append(DonorGroup(donor, known[donor.pk], card.authority))
        groups[-1].cards.append(card)
    return groups


def level_in_words(edge: CandidateEdge) -> str:
    """How far up the tree the pair was found."""
    if edge.level == 0:
        return "same category"
    if edge.block is None:
        return "whole site"
    return f"{edge.level} level{'s' if edge.level > 1 else ''} up"


def authority_in_words(edge: CandidateEdge) -> str:
    """How the donor ranks among the site's pages by authority, with the number of the import where one gave it."""
    if edge.authority is None:
        return ""
    imported = edge.source.authority
    number = f"authority {imported:,.2f}".rstrip("0").rstrip(".") if imported is not None else "authority by PageRank"
    half, share = ("top", 1 - edge.authority) if edge.authority >= 0.5 else ("lower", edge.authority)
    return f"{number}, in the {half} {max(1, round(100 * share))}%"


def _context(body: str, edge: CandidateEdge) -> Context | None:
    """The anchor in the donor's text. None if a place was looked for and none was free; a place that an import has
    moved is looked for again."""
    if edge.span_start is None and (edge.content_gap or edge.edited):
        return None
    return _around(body, edge.anchor, edge.span_start, edge.span_end)


def _paragraph(body: str, edge: CandidateEdge) -> Paragraph | None:
    """The paragraph that a match found for a content gap, as long as the donor's text is the one it was found in."""
    start, end = edge.paragraph_start, edge.paragraph_end
    if not edge.content_gap or start is None or end is None or edge.paragraph_hash != edge.source.body_hash:
        return None
    return Paragraph(shortened(body[start:end]), edge.paragraph_heading)


def _around(body: str, phrase: str, start: int | None, end: int | None) -> Context | None:
    if start is not None and end is not None and reads_as(body, start, end, phrase):
        return sentence_around(body, start, end)
    span = find_phrase(body, phrase)
    return sentence_around(body, *span) if span else None


def _alternatives(body: str, edge: CandidateEdge) -> tuple[Alternative, ...]:
    others = [item for item in edge.anchor_alternatives if item["text"] != edge.anchor]
    return tuple(
        Alternative(
            item["text"],
            source_label(item["source"], item.get("impressions")),
            None
            if edge.content_gap and item.get("start") is None
            else _around(body, item["text"], item.get("start"), item.get("end")),
        )
        for item in others[:ALTERNATIVES]
    )


def _percent(share: float) -> str:
    """In whole percent; what is neither impossible nor certain is not rounded to it."""
    if 0.0 < share < 0.01:
        return "<1%"
    if 0.99 < share < 1.0:
        return ">99%"
    return f"{share:.0%}"


def _rels(edge: CandidateEdge) -> tuple[str, ...]:
    first = edge.tier.confirmed_rel if edge.tier else edge.rel
    return (first, *(rel for rel in Rel.values if rel != first))


def _href(page: Page) -> str:
    """The page's address where a browser may be sent there; empty for anything that is not http."""
    return page.url if page.url.lower().startswith(("http://", "https://")) else ""
