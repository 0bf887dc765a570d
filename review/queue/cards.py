"""The cards of the review queue: what an editor sees of one suggestion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models.functions import Left

from linker.engine.anchors.source_labels import source_label
from linker.engine.candidates.registry import label_of
from linker.engine.text.clean import collapse, visible
from linker.engine.text.sentences import find_phrase, reads_as, shortened
from linker.models import Basis, Block, CandidateEdge, EdgeStatus, ExistingLink, Page, Placement, Project, Rel
from linker.models.linked import IN_BLOCK, TEXT_LINK, links_in_place
from linker.models.querysets import DECIDED, MISSING, UNDECIDED, holds
from review import anchor_warnings
from review.decisions import decisions_in_force, where_of
from review.models import Decision, Where
from review.queue.excerpt import Excerpt, excerpt_around

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from review.anchor_warnings import AnchorWarning

ALTERNATIVES = 3
OPENING = 260  # characters of a target's text that a card shows
NEAR = 0.02  # above a tier's bound
MAX_ANCHORS = 200  # of a donor's links, looked for in an excerpt
WARNING_NAMES = {
    "address": "Address as anchor",
    "banned": "Banned words",
    "generic": "Generic words",
    "misleading": "Another page's name",
    "unrelated": "Unrelated words",
    "too_long": "Long anchor",
    "identical": "Anchor in use",
}
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
JOINED = ("source__category", "target__category", "block", "tier", "run__model")
LONG = ("source__body", "source__headings", "target__body", "target__headings")


@dataclass(frozen=True)
class Alternative:
    """Another anchor: `origin` says in words where it came from; `span` is its place in the donor's text, None where
    the text does not hold it, and `excerpt` the paragraph around it where the card's own excerpt ends before."""

    text: str
    origin: str
    span: tuple[int, int] | None
    excerpt: Excerpt | None = None

    @property
    def in_text(self) -> bool:
        return self.span is not None


@dataclass(frozen=True)
class Sign:
    """A small warning on a card: its name, and in `text` what it means here."""

    name: str
    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of the donor's text that a sentence could follow: `text`, in the middle of a long one an ellipsis,
    and the heading above it, or ""."""

    text: str
    heading: str


@dataclass(frozen=True)
class Card:
    """What an editor sees of one edge.

    `excerpt` is None where the donor's body does not hold the anchor. `opening` is how the target begins. `decision` is
    the one in force, None on an open suggestion. `position` is the place in the list shown, from 1; None outside of a
    list. `rels` are the rel values an accept can give, the tier's first. `linked` warns where the site has the link
    already. `warnings` are what an accept with these words would be asked about. `paragraph` is where a sentence about
    the acceptor would fit that has no words in the donor's text yet.
    """

    edge: CandidateEdge
    level: str
    excerpt: Excerpt | None
    alternatives: tuple[Alternative, ...]
    decision: Decision | None
    rels: tuple[str, ...]
    position: int | None = None
    linked: str = ""
    warnings: tuple[AnchorWarning, ...] = ()
    paragraph: Paragraph | None = None
    opening: str = ""

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
        return "inline" if self.excerpt else "copy"

    @property
    def where(self) -> Where:
        """Where an accept puts the link unless the editor says otherwise."""
        return where_of(self.edge)

    @property
    def signs(self) -> list[Sign]:
        """What an editor should know before deciding, the gravest first."""
        edge, target = self.edge, self.edge.target
        signs = []
        if edge.sensitive:
            signs.append(Sign("Sensitive", edge.sensitive))
        if self.linked:
            signs.append(Sign("Already linked", self.linked))
        if edge.stale:
            signs.append(Sign("No longer proposed", "The newest run no longer proposes this link."))
        if target.redirect_url:
            signs.append(Sign("Redirects", f"The acceptor redirects to {target.redirect_url}."))
        if holds(MISSING, target):
            signs.append(Sign("Page gone", "The newest import no longer holds the acceptor."))
        if not target.indexable:
            signs.append(
                Sign("Not indexable", f"Search engines may not list the acceptor. {target.indexability_status}")
            )
        if self.is_near_a_bound:
            signs.append(Sign("Near a bound", "A little less, and it would be in the tier below."))
        signs += [Sign(WARNING_NAMES.get(warning.code, "Anchor"), warning.text) for warning in self.warnings]
        if self.of_pilot:
            signs.append(Sign("Pilot", "Proposed by a pilot run."))
        return signs

    @property
    def is_near_a_bound(self) -> bool:
        """Whether the number that the tier is read by is less than NEAR above the tier's bound."""
        tier = self.edge.tier
        if tier is None:
            return False
        read = {
            Basis.PROBABILITY: self.edge.probability,
            Basis.QUANTILE: self.edge.quantile,
            Basis.COSINE: self.edge.similarity,
        }[Basis(tier.basis)]
        return read is not None and 0 <= read - tier.lower_bound < NEAR

    @property
    def hint(self) -> str:
        """What an editor can do where the text does not hold the words."""
        return _HINTS.get(self.place, "")

    @property
    def missing(self) -> str:
        """What a sentence for a content gap would be about: the words proposed, or what the acceptor is called where an
        editor has written others."""
        return self.edge.target.title or self.edge.target.url if self.edge.edited else self.edge.anchor

    @property
    def of_pilot(self) -> bool:
        """Whether the run that proposed it last was a pilot."""
        return bool(self.edge.run.params.get("pilot"))

    @property
    def headline(self) -> tuple[str, str]:
        """The number a link is judged by, and what it is: its probability, or else its score."""
        if self.edge.probability is not None:
            return percent(self.edge.probability), "probability"
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
        """How much authority the donor has, in words; empty where nobody knows."""
        return authority_in_words(self.edge)

    @property
    def acceptor_href(self) -> str:
        return page_href(self.edge.target)


def cards_for(edges: Sequence[CandidateEdge], positions: Sequence[int | None]) -> list[Card]:
    """The cards of some edges of one project, in their order. The edges come with JOINED, and without LONG."""
    if not edges:
        return []
    project = edges[0].project
    for edge in edges:
        edge.project = project  # else each would ask for it
    donors = {edge.source_id for edge in edges}
    bodies = dict(Page.objects.filter(pk__in=donors).values_list("pk", "body"))
    openings = _openings({edge.target_id for edge in edges})
    last = decisions_of(project, edges)
    warned = anchor_warnings.beforehand(project, [edge for edge in edges if holds(UNDECIDED, edge)])
    there = links_in_place(edge for edge in edges if edge.status in (EdgeStatus.SUGGESTED, EdgeStatus.ACCEPTED))
    linked = _anchors_there(donors)
    cards = []
    for edge, position in zip(edges, positions, strict=True):
        body, anchors = bodies[edge.source_id], linked.get(edge.source_id, ())
        excerpt = _excerpt(body, edge, anchors)
        cards.append(
            Card(
                edge=edge,
                level=level_in_words(edge),
                excerpt=excerpt,
                alternatives=_alternatives(body, edge, excerpt, anchors),
                decision=last.get(edge.pk),
                rels=_rels(edge),
                position=position,
                linked=_linked(there[edge.pk]) if edge.pk in there else "",
                warnings=tuple(warned.get(edge.pk, ())),
                paragraph=_paragraph(body, edge),
                opening=openings.get(edge.target_id, ""),
            )
        )
    return cards


def decisions_of(project: Project, edges: Sequence[CandidateEdge]) -> dict[int, Decision]:
    """The decision in force on each of some edges of a project, by the id of the edge."""
    decided = [edge.pk for edge in edges if holds(DECIDED, edge)]
    found = decisions_in_force(project).filter(edge__in=decided).select_related("user") if decided else ()
    return {decision.edge_id: decision for decision in found}


def _openings(targets: Collection[int]) -> dict[int, str]:
    """What a reader sees of each page first: its description, or else the first words of its text."""
    rows = Page.objects.filter(pk__in=targets).annotate(first=Left("body", OPENING))
    return {
        pk: _cut(collapse(visible(description or first)))
        for pk, description, first in rows.values_list("pk", "description", "first")
    }


def _cut(text: str) -> str:
    if len(text) < OPENING - 1:
        return text
    return text[: OPENING - 20].rpartition(" ")[0] + "…"


def _anchors_there(donors: Collection[int]) -> dict[int, list[str]]:
    """The anchors of the links that each donor's text has already."""
    rows = ExistingLink.objects.filter(TEXT_LINK, source__in=donors).exclude(anchor="")
    there: dict[int, list[str]] = {}
    for donor, anchor in rows.order_by("pk").values_list("source", "anchor"):
        anchors = there.setdefault(donor, [])
        if len(anchors) < MAX_ANCHORS:
            anchors.append(anchor)
    return there


def _linked(link: ExistingLink) -> str:
    anchor = f" (“{link.anchor}”)" if link.anchor else ""
    return f"The donor links to this page already {IN_BLOCK[Block(link.block)]}{anchor}."


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


def _excerpt(body: str, edge: CandidateEdge, linked: Sequence[str]) -> Excerpt | None:
    """The anchor in the donor's text. A place that was looked for and not found, or not to be had, is none; one that
    an import has moved is looked for again."""
    if edge.span_start is None and (edge.content_gap or edge.edited):
        return None
    span = _place(body, edge.anchor, edge.span_start, edge.span_end)
    return excerpt_around(body, *span, linked) if span else None


def _paragraph(body: str, edge: CandidateEdge) -> Paragraph | None:
    """The paragraph that a match found for a content gap, as long as the donor's text is the one it was found in."""
    start, end = edge.paragraph_start, edge.paragraph_end
    if not edge.content_gap or start is None or end is None or edge.paragraph_hash != edge.source.body_hash:
        return None
    return Paragraph(shortened(body[start:end]), edge.paragraph_heading)


def _place(body: str, phrase: str, start: int | None, end: int | None) -> tuple[int, int] | None:
    if start is not None and end is not None and reads_as(body, start, end, phrase):
        return start, end
    return find_phrase(body, phrase)


def _alternatives(
    body: str, edge: CandidateEdge, shown: Excerpt | None, linked: Sequence[str]
) -> tuple[Alternative, ...]:
    others = [item for item in edge.anchor_alternatives if item["text"] != edge.anchor]
    return tuple(_alternative(body, edge, item, shown, linked) for item in others[:ALTERNATIVES])


def _alternative(
    body: str, edge: CandidateEdge, item: dict[str, Any], shown: Excerpt | None, linked: Sequence[str]
) -> Alternative:
    origin = source_label(item["source"], item.get("impressions"))
    if edge.content_gap and item.get("start") is None:
        return Alternative(item["text"], origin, None)
    span = _place(body, item["text"], item.get("start"), item.get("end"))
    if span is None or (shown is not None and shown.holds(*span)):
        return Alternative(item["text"], origin, span)
    return Alternative(item["text"], origin, span, excerpt_around(body, *span, linked))


def percent(share: float) -> str:
    """In whole percent; what is neither impossible nor certain is not rounded to it."""
    if 0.0 < share < 0.01:
        return "<1%"
    if 0.99 < share < 1.0:
        return ">99%"
    return f"{share:.0%}"


def _rels(edge: CandidateEdge) -> tuple[str, ...]:
    first = edge.tier.confirmed_rel if edge.tier else edge.rel
    return (first, *(rel for rel in Rel.values if rel != first))


def page_href(page: Page) -> str:
    """The page's address where a browser may be sent there; empty for anything that is not http."""
    return page.url if page.url.lower().startswith(("http://", "https://")) else ""
