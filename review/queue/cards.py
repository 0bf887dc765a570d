"""The cards of the review queue: what an editor sees of one suggestion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.html import format_html
from django.utils.translation import gettext as _

from linker import lines, wording
from linker.engine.candidates.registry import label_of
from linker.engine.ranking.reasons import phrase_in, without_words
from linker.engine.text.clean import clean, visible
from linker.engine.text.sentences import beginning_and_end, find_phrase, reads_as
from linker.matching.cohorts import readers
from linker.models import Basis, Block, CandidateEdge, EdgeStatus, ExistingLink, Page, Placement, Project, Rel
from linker.models.linked import IN_BLOCK, links_in_place
from linker.models.querysets import DECIDED, UNDECIDED, WAITING, holds
from linker.pages.safety import barring, disclaimers_of, has_classes
from review import anchor_warnings, full_pages
from review.allowed import barred_in_words
from review.approvals import approvals_of
from review.link_places import DonorTexts, allowed_place, by_itself, where_of
from review.models import Comment, Decision, Operation, OpinionRequest, Verb, Where
from review.queue import opinions
from review.queue.alternatives import Alternative, alternatives_of
from review.queue.card_words import (
    FOR_RUNS_ALONE,
    HINTS,
    MEASURES,
    PLACES_OF_GAPS,
    QUANTILE_WORDS,
    STALE,
    WARNING_NAMES,
    authority_in_words,
    gone_in_words,
    level_in_words,
    name_of,
    percent,
    replaces_in_words,
)
from review.queue.excerpt import Excerpt, excerpt_around, with_links_marked
from review.queue.openings import openings_of
from review.queue.page_dates import years_apart
from review.queue.sentences import in_words
from review.queue.text_links import links_of
from review.replacements import replacements_of
from review.undoing import decisions_in_force

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from django.utils.safestring import SafeString

    from linker.matching.cohorts import ReadBy
    from review.anchor_warnings import AnchorWarning
    from review.queue.text_links import LinkPlaces

NEAR = 0.02  # above a tier's bound
JOINED = ("source__category", "target__category", "block", "tier", "run__model")
LONG = ("source__body", "source__headings", "target__body", "target__headings")


@dataclass(frozen=True)
class Sign:
    """A small warning on a card: its name, and in `text` what it means here; `is_mild` where it is only said."""

    name: str
    text: str
    is_mild: bool = False


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of the donor's text that a sentence could follow: its `html`, with links marked, and the heading
    above it, or "". Of a long one `html` has the first and the last sentences, and `whole` all."""

    html: SafeString
    heading: str
    whole: SafeString | None = None


@dataclass(frozen=True)
class Card:
    """What an editor sees of one edge.

    `excerpt` is None where the donor's body does not hold the anchor. `opening` is how the target begins. `decision` is
    the one in force, None on an open suggestion. `position` is the place in the list shown, from 1; None outside of a
    list. `rels` are the rel values an accept can give, the tier's first. `linked` warns where the site has the link
    already. `warnings` are what is to be said against these words. `paragraph` is where a sentence about
    the acceptor would fit that has no words in the donor's text yet. `requests` are those for an opinion that are open.
    `barred` says why the link may not be made; `disclaimers` are what the classes of its pages ask for. `read_by`:
    whose bounds its tier goes by, None for the project's. `is_inside_link`: the words that it is proposed for are.
    `accepted` is the decision that `decision`, of a second person, approved; None where no such decision is in force.
    `replaces` says which released link it would take the place of, and how probable both are.
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
    comments: tuple[Comment, ...] = ()
    requests: tuple[OpinionRequest, ...] = ()
    barred: str = ""
    disclaimers: tuple[Sign, ...] = ()
    read_by: ReadBy | None = None
    is_inside_link: bool = False
    accepted: Decision | None = None
    replaces: tuple[str, str] | None = None

    @property
    def overruled(self) -> list[str]:
        """The warnings about its words that whoever accepted it overruled."""
        made = self.accepted or self.decision
        return [str(warning["text"]) for warning in made.overruled] if made is not None else []

    @property
    def asks(self) -> tuple[AnchorWarning, ...]:
        """The warnings that an accept with these words would be asked about; the others are only said."""
        return anchor_warnings.stopping(self.warnings)

    @property
    def is_open(self) -> bool:
        return holds(UNDECIDED, self.edge)

    @property
    def waits(self) -> bool:
        """Whether it is accepted and needs a second person before it leaves."""
        return holds(WAITING, self.edge)

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
        return by_itself(self.edge) if self.is_open else where_of(self.edge)

    @property
    def line(self) -> tuple[str, str]:
        """What a line of its own says before the link and behind it."""
        return lines.around(self.edge.project.line_wording, self.edge.source.own_language or "")

    @property
    def wheres(self) -> list[tuple[str, str]]:
        """Where the editor may put it: on a line of its own where a paragraph is known that it could follow."""
        has_line = self.paragraph is not None
        return [(value, str(label)) for value, label in Where.choices if value != Where.LINE or has_line]

    @property
    def places(self) -> list[tuple[str, str]]:
        """What the card is labelled with, by where the link goes."""
        if self.place == "gap" and not self.named_words:
            return [(str(where), str(label)) for where, label in PLACES_OF_GAPS.items()]
        # Where the reason names words of the text, the hint says what became of them.
        wheres = (Where.LINE, Where.BESIDE, Where.GAP) if self.place == "gap" else (Where.LINE, Where.BESIDE)
        return [(str(where), str(where.label)) for where in wheres]

    @property
    def named_words(self) -> str:
        """The words of the donor's text that it is proposed for; empty where the reason names none."""
        return phrase_in(self.edge.why)

    @property
    def signs(self) -> list[Sign]:
        """What an editor should know before deciding, the gravest first."""
        edge, target = self.edge, self.edge.target
        signs = [
            Sign(
                _("Opinion asked by %(person)s") % {"person": request.asked_by},
                _("They ask %(person)s.") % {"person": request.asked_of or _("anybody")},
            )
            for request in self.requests
        ]
        if edge.regressed:
            said = _("It was released, and an import of links found it otherwise than released, or not at all.")
            signs.append(Sign(_("Back from the site"), said))
        if edge.sensitive:
            signs.append(Sign(_("Sensitive"), self.sensitive))
        if self.linked:
            signs.append(Sign(_("Already linked"), self.linked))
        if edge.stale and not self.barred:
            signs.append(Sign(_("No longer proposed"), str(STALE[bool(self.linked)])))
        if target.redirect_url:
            signs.append(Sign(_("Redirects"), _("The acceptor redirects to %(url)s.") % {"url": target.redirect_url}))
        signs += [Sign(_("Page gone"), said) for said in self.gone]
        if not target.indexable:
            said = _("Search engines may not list the acceptor.")
            signs.append(Sign(_("Not indexable"), f"{said} {target.indexability_status}"))
        if edge.tier is not None and self.is_borderline:
            said = _("Only just in the tier “%(tier)s”: a little less, and it would be in the one below.")
            signs.append(Sign(_("Borderline"), said % {"tier": edge.tier.name}))
        if apart := years_apart(edge):
            said = _("The acceptor’s name says %(year)d, and the donor is of %(other)d.")
            signs.append(Sign(_("Another year"), said % {"year": apart[0], "other": apart[1]}))
        for warning in self.warnings:
            name = str(WARNING_NAMES.get(warning.code, _("Anchor")))
            signs.append(Sign(name % warning.values, warning.text, is_mild=not warning.stops))
        if self.of_pilot:
            signs.append(Sign(_("Pilot"), _("Proposed by a pilot run.")))
        return signs

    @property
    def why(self) -> str:
        """Why it is proposed, in one sentence; empty where that is nothing but words of the text that it does not take
        and that its hints name."""
        takes_none = self.is_open and self.place == "gap"
        return in_words(without_words(self.edge.why) if takes_none else self.edge.why)

    @property
    def lacks(self) -> str:
        """What the acceptor lacks; empty where that is nothing."""
        return in_words(self.edge.lacks)

    @property
    def gone(self) -> list[str]:
        """Which of its pages are gone, a sentence each."""
        return gone_in_words(self.edge)

    @property
    def sensitive(self) -> str:
        """Why a person must look; empty where nobody need."""
        return in_words(self.edge.sensitive)

    @property
    def asked_by(self) -> set[int]:
        """Who waits for an opinion on it, by id."""
        return {request.asked_by_id for request in self.requests}

    @property
    def is_borderline(self) -> bool:
        """Whether the number that the tier is read by is less than NEAR above the tier's bound."""
        tier = self.edge.tier
        if tier is None:
            return False
        read = {
            Basis.PROBABILITY: self.edge.probability,
            Basis.QUANTILE: self.edge.quantile,
            Basis.COSINE: self.edge.similarity,
        }[Basis(tier.basis)]
        return read is not None and 0 <= read - self.tier_begins < NEAR

    @property
    def tier_begins(self) -> float:
        """Where its tier begins, for links like this one."""
        tier = self.edge.tier
        assert tier is not None
        return tier.lower_bound if self.read_by is None else self.read_by.bounds.get(tier.pk, tier.lower_bound)

    @property
    def hints(self) -> list[tuple[str, str]]:
        """What an editor can do where the text does not hold the words, each with where the link goes for it to be
        said; empty where that does not matter."""
        if self.place == "copy":
            return [("", str(HINTS["copy"]))]
        if self.place != "gap":
            return []
        why = "linked" if self.is_inside_link else "named" if self.named_words else "beside"
        hint = str(HINTS[why]) % {"words": self.named_words}
        beside = [(str(self.where), hint)] if self.where in (Where.BESIDE, Where.LINE) else []
        return [*beside, (str(Where.GAP), str(HINTS["gap"]))]

    @property
    def missing(self) -> str:
        """What a sentence for a content gap would be about: the words proposed, or what the acceptor is called where an
        editor has written others."""
        return name_of(self.edge.target) if self.edge.edited else self.edge.anchor

    @property
    def of_pilot(self) -> bool:
        """Whether the run that proposed it last was a pilot."""
        return bool(self.edge.run.params.get("pilot"))

    @property
    def headline(self) -> tuple[str, str]:
        """The number a link is judged by, and what it is: its probability, or else its score."""
        if self.edge.probability is not None:
            return percent(self.edge.probability), _("probability")
        return wording.decimal(self.edge.score, 3), _("score")

    @property
    def quantile_in_words(self) -> str:
        """How the link ranks among the links of its run."""
        return next(str(words) for least, words in QUANTILE_WORDS if self.edge.quantile >= least)

    @property
    def generators(self) -> list[str]:
        """Who proposed it, readable."""
        return [_(label_of(name)) for name in self.edge.generators]

    @property
    def evidence(self) -> list[tuple[str, float]]:
        """The numbers behind it with their names, readable."""
        return [
            (str(MEASURES.get(name, name.replace("_", " "))), value)
            for name, value in self.edge.evidence.items()
            if name not in FOR_RUNS_ALONE
        ]

    @property
    def authority(self) -> str:
        """How much authority the donor has, in words; empty where nobody knows."""
        return authority_in_words(self.edge)

    @property
    def donor_href(self) -> str:
        return page_href(self.edge.source)

    @property
    def acceptor_href(self) -> str:
        return page_href(self.edge.target)


def cards_for(
    edges: Sequence[CandidateEdge], positions: Sequence[int | None], until: Mapping[int, datetime] | None = None
) -> list[Card]:
    """The cards of some edges of one project, in their order. The edges come with JOINED, and without LONG. Of those in
    `until`, comments as they stood then."""
    if not edges:
        return []
    project = edges[0].project
    for edge in edges:
        edge.project = project  # else each would ask for it
    donors = {edge.source_id for edge in edges}
    rows = Page.objects.filter(pk__in=donors).values_list("pk", "body", "h1", "headings")
    texts = {pk: (body, [h1, *headings]) for pk, body, h1, headings in rows}
    openings = openings_of(project, {edge.target_id for edge in edges})
    last = decisions_of(project, edges)
    accepted = _accepted_before(last.values())
    own = readers(project, edges)
    undecided = [edge for edge in edges if holds(UNDECIDED, edge)]
    warned, full = anchor_warnings.beforehand(project, undecided), full_pages.beforehand(project, undecided)
    open_or_accepted = [edge for edge in edges if edge.status in (EdgeStatus.SUGGESTED, EdgeStatus.ACCEPTED)]
    there = links_in_place(edge for edge in open_or_accepted if not edge.is_known)
    linked = links_of(project, donors)
    comments, requests = opinions.comments_on(edges, until or {}), opinions.open_requests(edges)
    barred, disclaimers = _safety_of(project, edges)
    replacing, places = replacements_of(edges), DonorTexts(edges)
    cards = []
    for edge, position in zip(edges, positions, strict=True):
        body, headings = texts[edge.source_id]
        edge.source.body, edge.source.headings = body, headings[1:]  # else each would be asked for
        links = linked[edge.source_id].places_in(body, edge)
        excerpt = _excerpt(edge, places, links, headings)
        cards.append(
            Card(
                edge=edge,
                level=level_in_words(edge),
                excerpt=excerpt,
                alternatives=alternatives_of(edge, places, excerpt, links, warned.get(edge.pk, ()), headings),
                decision=last.get(edge.pk),
                rels=_rels(edge),
                position=position,
                linked=_linked(there[edge.pk]) if edge.pk in there else "",
                warnings=(*warned.get(edge.pk, ()), *full.get(edge.pk, ())),
                paragraph=_paragraph(body, edge, links),
                opening=openings.get(edge.target_id, ""),
                comments=tuple(comments.get(edge.pk, ())),
                requests=tuple(requests.get(edge.pk, ())),
                barred=barred.get(edge.pk, ""),
                disclaimers=disclaimers.get(edge.pk, ()),
                read_by=own.get(edge.pk),
                is_inside_link=links.hold_words_of(body, edge.why),
                accepted=accepted.get(edge.pk),
                replaces=replaces_in_words(replacing[edge.pk]) if edge.pk in replacing else None,
            )
        )
    return cards


def _safety_of(project: Project, edges: Sequence[CandidateEdge]) -> tuple[dict[int, str], dict[int, tuple[Sign, ...]]]:
    """By edge: why it may not be linked, and what the classes of its pages ask for, by the name of the class."""
    if not has_classes(project):
        return {}, {}
    barred = barring(project, ((edge.source, edge.target) for edge in edges))
    asked = disclaimers_of(project, {page.pk: page for edge in edges for page in (edge.source, edge.target)}.values())
    disclaimers = {}
    for edge in edges:
        classes = {one.pk: one for page in (edge.source_id, edge.target_id) for one in asked.get(page, ())}
        disclaimers[edge.pk] = tuple(Sign(one.name, one.disclaimer) for one in classes.values())
    pairs = {edge.pk: barred.get((edge.source_id, edge.target_id)) for edge in edges}
    return {pk: barred_in_words(pair) for pk, pair in pairs.items() if pair is not None}, disclaimers


def decisions_of(project: Project, edges: Sequence[CandidateEdge]) -> dict[int, Decision]:
    """The decision in force on each of some edges of a project, by the id of the edge."""
    decided = [edge.pk for edge in edges if holds(DECIDED, edge)]
    found = decisions_in_force(project).filter(edge__in=decided).select_related("user") if decided else ()
    return {decision.edge_id: decision for decision in found}


def _accepted_before(decisions: Iterable[Decision]) -> dict[int, Decision]:
    """What second persons approved with some of these decisions, by the id of the edge."""
    approved = {one.edge_id: Operation.ADD for one in decisions if one.verb == Verb.APPROVE}
    return {edge: one.decision for edge, one in approvals_of(approved).items()} if approved else {}


def _linked(link: ExistingLink) -> str:
    anchor = f" (“{clean(link.anchor)}”)" if link.anchor else ""
    said = {"where": IN_BLOCK[Block(link.block)], "anchor": anchor}
    return _("The donor links to this page already %(where)s%(anchor)s.") % said


def _excerpt(edge: CandidateEdge, texts: DonorTexts, links: LinkPlaces, headings: Sequence[str]) -> Excerpt | None:
    """The anchor in the donor's text. A place that was looked for and not found, or not to be had, is none; one that
    an import has moved is looked for again."""
    if edge.span_start is None and (edge.content_gap or edge.edited):
        return None
    body, start, end = edge.source.body, edge.span_start, edge.span_end
    span: tuple[int, int] | None
    if start is not None and end is not None and reads_as(body, start, end, edge.anchor):
        span = start, end
    elif edge.status in (EdgeStatus.SUGGESTED, EdgeStatus.ACCEPTED):
        span = allowed_place(edge, texts=texts)
    else:  # it goes nowhere any more, or its own link stands there
        span = find_phrase(body, edge.anchor)
    return excerpt_around(body, *span, links.anchors, links.places, headings) if span else None


def _paragraph(body: str, edge: CandidateEdge, links: LinkPlaces) -> Paragraph | None:
    """The paragraph that a match found for a content gap, as long as the donor's text is the one it was found in."""
    start, end = edge.paragraph_start, edge.paragraph_end
    is_beside = edge.content_gap or edge.placement == Placement.RELATED
    if not is_beside or start is None or end is None or edge.paragraph_hash != edge.source.body_hash:
        return None
    linked = [*links.anchors, *(body[one:other] for one, other in links.places if start <= one and other <= end)]
    heading, text = clean(edge.paragraph_heading), body[start:end]
    whole = with_links_marked(visible(text).strip(), linked)
    first, last = beginning_and_end(text)
    if not last:
        return Paragraph(whole, heading)
    ends = (with_links_marked(part, linked) for part in (first, last))
    return Paragraph(format_html("{} … {}", *ends), heading, whole)


def _rels(edge: CandidateEdge) -> tuple[str, ...]:
    first = edge.tier.confirmed_rel if edge.tier else edge.rel
    return (first, *(rel for rel in Rel.values if rel != first))


def page_href(page: Page) -> str:
    """The page's address where a browser may be sent there; empty for anything that is not http."""
    return page.url if page.url.lower().startswith(("http://", "https://")) else ""
