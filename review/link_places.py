"""Where a link goes: on which words of the donor's text, beside it, or into copy that is still to be written."""

from __future__ import annotations

from collections import defaultdict
from copy import copy
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from linker.engine.anchors.placement import LinkableText
from linker.engine.anchors.source_labels import EDITOR
from linker.engine.text.sentences import find_phrase, reads_as, sentence_and_heading
from linker.matching.donor_texts import pairwise_spans
from linker.models import CandidateEdge, EdgeStatus, ExistingLink, Placement
from linker.models.linked import IN_BODY
from linker.models.querysets import APPROVED
from review.models import Decision, Verb, Where
from review.rulings import AnchorError, PlaceTaken, Ruling, clean_sentence, words_in

if TYPE_CHECKING:
    from collections.abc import Iterable

PLACEMENT_OF = {
    Where.TEXT: Placement.INLINE,
    Where.LINE: Placement.RELATED,
    Where.BESIDE: Placement.RELATED,
    Where.GAP: Placement.RELATED,
}


class DonorTexts:
    """What stands in the texts of the donors of some edges: approved links, and the links that the site has. Two
    queries, however many edges."""

    def __init__(self, edges: Iterable[CandidateEdge]) -> None:
        donors = {edge.source_id for edge in edges}
        self._approved: dict[int, list[tuple[int, int, int, str]]] = defaultdict(list)  # edge, start, end, anchor
        self._links: dict[int, list[tuple[int, str, int | None]]] = defaultdict(list)  # acceptor, anchor, place
        approved = CandidateEdge.objects.filter(APPROVED, source__in=donors, span_start__isnull=False)
        for donor, pk, start, end, anchor in approved.values_list("source", "pk", "span_start", "span_end", "anchor"):
            if start is not None and end is not None:
                self._approved[donor].append((pk, start, end, anchor))
        links = ExistingLink.objects.filter(IN_BODY, source__in=donors).exclude(anchor="")
        for donor, target, anchor, place in links.values_list("source", "target", "anchor", "place"):
            self._links[donor].append((target, anchor, place))
        self._page: tuple[tuple[bool, int], LinkableText, list[tuple[int, int]]] | None = None

    def page(self, edge: CandidateEdge) -> tuple[LinkableText, list[tuple[int, int]]]:
        """The text of the edge's donor, where links may stand in it, with the places that are taken. That of the edge
        asked for last is kept: a card asks for several words."""
        key = (edge.is_known, edge.pk)
        if self._page is None or self._page[0] != key:
            taken = self.taken(edge)
            headings = [edge.source.h1, *edge.source.headings]
            self._page = key, LinkableText(edge.source.body, self.linked(edge), taken, headings), taken
        return self._page[1:]

    def taken(self, edge: CandidateEdge) -> list[tuple[int, int]]:
        """Where other approved links stand in the text of the edge's donor, and links of the site whose place is
        known."""
        body, others = edge.source.body, self._approved[edge.source_id]
        approved = [
            (start, end) for pk, start, end, anchor in others if pk != edge.pk and reads_as(body, start, end, anchor)
        ]
        links = [(place, place + len(words)) for words, place in self._on_the_site(edge) if place is not None]
        if edge.source.linked_elsewhere_hash == edge.source.body_hash:
            links += pairwise_spans(edge.source.linked_elsewhere)
        return approved + links

    def linked(self, edge: CandidateEdge) -> list[str]:
        """The words of the links that the site has somewhere in the text."""
        return [words for words, place in self._on_the_site(edge) if place is None]

    def _on_the_site(self, edge: CandidateEdge) -> list[tuple[str, int | None]]:
        """Words and place of the links that the site has there, as far as the text still has them in it; without the
        link itself, where it is one of them."""
        body, links = edge.source.body, self._links[edge.source_id]
        return [
            (words, place if place is not None and body[place : place + len(words)] == words else None)
            for target, words, place in links
            if not (edge.is_known and target == edge.target_id)
        ]


def make_accepted(
    edge: CandidateEdge, decision: Decision, anchor: str, ruling: Ruling, texts: DonorTexts | None = None
) -> None:
    """Makes the edge, unsaved, an accepted link. `texts`: of its donor and others, where many are accepted."""
    before, lacks_words = where_of(edge), False
    is_gap = (ruling.where or by_itself(edge, ruling.proposed)) == Where.GAP
    sentence = clean_sentence(ruling.sentence) if is_gap else ""
    if sentence:
        anchor = words_in(sentence, anchor)
    edge.status, edge.reviewed = EdgeStatus.ACCEPTED, True
    edge.rel = ruling.rel or (edge.tier.confirmed_rel if edge.tier else edge.rel)
    decision.verb = Verb.ACCEPT
    if anchor != edge.anchor:
        edge.anchor, edge.anchor_source, edge.edited, decision.verb = anchor, EDITOR, True, Verb.EDIT
        edge.span_start, edge.span_end = allowed_place(edge, ruling.span, texts) or (None, None)
        read_around(edge)
        if edge.span_start is not None:  # in every tier: whoever picks words of the text wants the link there
            edge.content_gap, edge.placement = False, Placement.INLINE
        elif before == Where.TEXT and edge.source.body:  # and a link on words that it lacks cannot stand there
            edge.content_gap, edge.placement, lacks_words = True, PLACEMENT_OF[Where.GAP], True
    where = ruling.where or (Where.TEXT if _is_picked(edge, ruling.span, texts) else by_itself(edge, ruling.proposed))
    if lacks_words or where != where_of(edge) or ruling.where not in (None, before):
        _move(edge, where, ruling.span, texts)
        decision.moved_to = where
    elif decision.verb == Verb.ACCEPT and ruling.span is not None and _stand_there(edge, ruling.span, texts):
        decision.moved_to = Where.TEXT
    edge.new_sentence = decision.sentence = sentence if where_of(edge) == Where.GAP else ""
    _refuse_another_place(edge, ruling)


def _refuse_another_place(edge: CandidateEdge, ruling: Ruling) -> None:
    """Raises PlaceTaken where the words that the editor saw marked stand there still, and the link would not."""
    if ruling.span is None or ruling.where not in (None, Where.TEXT) or ruling.span == (edge.span_start, edge.span_end):
        return
    if reads_as(edge.source.body, *ruling.span, edge.anchor):
        raise PlaceTaken(
            _(
                "The link cannot stand on “%(anchor)s” where you picked the words: they are in a link, in a heading, "
                "or where no link may stand."
            )
            % {"anchor": edge.anchor}
        )


def _is_picked(edge: CandidateEdge, span: tuple[int, int] | None, texts: DonorTexts | None) -> bool:
    """Whether the editor picked these very words at a place of the text where the link may stand."""
    return span is not None and allowed_place(edge, span, texts) == span


def _stand_there(edge: CandidateEdge, span: tuple[int, int], texts: DonorTexts | None) -> bool:
    """Puts a link in the text on its own words at another place; False where it has that place, or may not have it."""
    if (
        where_of(edge) != Where.TEXT
        or span == (edge.span_start, edge.span_end)
        or allowed_place(edge, span, texts) != span
    ):
        return False
    edge.span_start, edge.span_end = span
    read_around(edge)
    return True


def where_of(edge: CandidateEdge) -> Where:
    """Where the link goes as the edge is now."""
    if edge.content_gap:
        return Where.GAP
    if edge.placement == Placement.INLINE:
        return Where.TEXT
    return Where.LINE if edge.own_line else Where.BESIDE


def has_paragraph(edge: CandidateEdge) -> bool:
    """Whether it is known which paragraph of the donor's text, as it is now, a line or a sentence could follow."""
    return edge.paragraph_start is not None and edge.paragraph_hash == edge.source.body_hash


def by_itself(edge: CandidateEdge, said: Where | None = None) -> Where:
    """Where an accept puts the link unless the editor says otherwise: one whose words the text does not hold goes where
    the project has such links go, or where the card `said`, should that have changed since."""
    where = where_of(edge)
    if where not in (Where.GAP, Where.BESIDE):
        return where
    wanted = Where(edge.project.gap_links)
    if where == Where.BESIDE:  # a tier put it there: a line is all that a project may prefer to that
        wanted = Where.LINE if wanted == Where.LINE else where
    if said in (Where.LINE, Where.BESIDE) or (said == Where.GAP and where == Where.GAP):
        wanted = said
    return wanted if wanted != Where.LINE or has_paragraph(edge) else Where.BESIDE


def why_not_there(edge: CandidateEdge, anchor: str) -> str:
    """What is to be said where the text holds the words and the link cannot go there; else empty."""
    if find_phrase(edge.source.body, anchor) is None or place_with(edge, anchor) is not None:
        return ""
    return _("The text holds these words only in a link, in a heading, or where no link may stand.")


def why_elsewhere(edge: CandidateEdge, accepted: CandidateEdge) -> str:
    """What is to be said where a link that has a place in the text loses it with the words that `accepted` has; else
    empty."""
    if where_of(edge) != Where.TEXT or not accepted.edited or accepted.span_start is not None:
        return ""
    if find_phrase(edge.source.body, accepted.anchor) is not None:
        return _("The text holds these words only in a link, in a heading, or where no link may stand.")
    if where_of(accepted) == Where.GAP:
        return _("The text does not hold these words, so the link waits for somebody to write them.")
    return _("The text does not hold these words, so the link goes into the list at the end.")


def _move(edge: CandidateEdge, where: Where, span: tuple[int, int] | None, texts: DonorTexts | None) -> None:
    """Puts the link elsewhere. Raises AnchorError where the text does not hold its words."""
    place = allowed_place(edge, span, texts) if where == Where.TEXT else None
    if where == Where.TEXT and place is None:
        raise AnchorError(
            _(
                "The text does not hold “%(anchor)s” where a link may stand. Pick words of the text, or put the link "
                "elsewhere."
            )
            % {"anchor": edge.anchor}
        )
    if where == Where.LINE and not has_paragraph(edge):
        raise AnchorError(_("No paragraph of the text is known that the line could follow. Choose another place."))
    edge.span_start, edge.span_end = place or (None, None)
    edge.own_line = where == Where.LINE
    edge.placement = PLACEMENT_OF[where]
    edge.content_gap = where == Where.GAP
    read_around(edge)


def allowed_place(
    edge: CandidateEdge, span: tuple[int, int] | None = None, texts: DonorTexts | None = None
) -> tuple[int, int] | None:
    """Where the edge's anchor may stand in the donor's text, by the rules of a match run, or None: what a card marks,
    what a decision stores, and what a release looks for again where the text has changed.

    The span that an editor picked comes first, then the place it has, then those of its alternatives, where they read
    as the anchor.
    """
    page, taken = (texts or DonorTexts([edge])).page(edge)
    body = edge.source.body
    known: list[tuple[int | None, int | None]] = [span] if span is not None else []
    known += [(edge.span_start, edge.span_end)]
    known += [(item.get("start"), item.get("end")) for item in edge.anchor_alternatives]
    for start, end in known:
        if start is None or end is None or not reads_as(body, start, end, edge.anchor):
            continue
        if page.suits((start, end)) and not any(start < stop and first < end for first, stop in taken):
            return start, end
    found = page.places([(edge.anchor, "", 1.0)])
    return (found[0].start, found[0].end) if found else None


def place_with(edge: CandidateEdge, words: str, texts: DonorTexts | None = None) -> tuple[int, int] | None:
    """Where a decision would put the link with these words, unless its editor picks another place."""
    other = copy(edge)
    other.anchor = words
    return allowed_place(other, texts=texts)


def read_around(edge: CandidateEdge) -> None:
    """Sentence and heading of the edge's place, if its text still reads so there."""
    edge.sentence, edge.section_heading, edge.body_hash = "", "", None
    start, end = edge.span_start, edge.span_end
    if start is None or end is None:
        return
    body, headings = edge.source.body, [edge.source.h1, *edge.source.headings]
    if reads_as(body, start, end, edge.anchor):
        edge.sentence, edge.section_heading = sentence_and_heading(body, start, end, headings)
        edge.body_hash = edge.source.body_hash
