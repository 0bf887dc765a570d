"""Which words of a donor's text are links: those of the site, and those that were accepted and are to come."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from linker.engine.ranking.reasons import phrase_in
from linker.engine.text.sentences import find_phrase, reads_as
from linker.matching.donor_texts import pairwise_spans
from linker.models import CandidateEdge, ExistingLink, Placement
from linker.models.linked import IN_BODY
from linker.models.querysets import APPROVED
from linker.pages.posed_links import without_posed

if TYPE_CHECKING:
    from collections.abc import Collection

    from linker.models import Project

MOST = 200  # links of a donor that are looked for, of each kind


@dataclass(frozen=True)
class AcceptedLink:
    """A link that is to come, and where in the text it was placed; None where nobody knows."""

    edge: int
    anchor: str
    start: int | None
    end: int | None


@dataclass(frozen=True)
class LinkPlaces:
    """Where a text is linked: at `places`, and on the words of `anchors` wherever these stand."""

    anchors: tuple[str, ...]
    places: tuple[tuple[int, int], ...]

    def hold_words_of(self, body: str, why: str) -> bool:
        """Whether the words that a link is proposed for stand in a link of the text; `why` is the sentence on it."""
        phrase = phrase_in(why)
        linked = (*self.anchors, *(body[start:end] for start, end in self.places))
        return bool(phrase) and any(find_phrase(anchor, phrase) is not None for anchor in linked)


@dataclass(frozen=True)
class TextLinks:
    """The links in the text of one donor: the anchors of those that it has, with the places that a crawl told, and
    those that are to come."""

    there: list[tuple[str, int | None]] = field(default_factory=list)
    accepted: list[AcceptedLink] = field(default_factory=list)

    def places_in(self, body: str, edge: CandidateEdge) -> LinkPlaces:
        """Where they are in the donor's text, as the card of the edge shows it: without its own link, and with those
        that lead to no other page of the site. A link that an import has moved is known by its words. Where a crawl has
        told places, a link without one is not in the text that is kept, as a tag of a byline: words of the text that
        read like it are no link."""
        anchors: list[str] = []
        donor = edge.source
        is_known = donor.linked_elsewhere_hash == donor.body_hash
        places = pairwise_spans(donor.linked_elsewhere) if is_known else []
        tells_places = any(place is not None for _anchor, place in self.there)
        for anchor, start in self.there:
            if start is not None and reads_as(body, start, start + len(anchor), anchor):
                places.append((start, start + len(anchor)))
            elif start is not None or not tells_places:
                anchors.append(anchor)
        for link in self.accepted:
            if link.edge == edge.pk:
                continue
            if link.start is not None and link.end is not None and reads_as(body, link.start, link.end, link.anchor):
                places.append((link.start, link.end))
            else:
                anchors.append(link.anchor)
        return LinkPlaces(tuple(anchors), tuple(places))


def links_of(project: Project, donors: Collection[int]) -> dict[int, TextLinks]:
    """The links in the text of each donor, without those that are shown as suggestions. Two queries, however many
    donors."""
    found = {donor: TextLinks() for donor in donors}
    links = ExistingLink.objects.filter(IN_BODY, source__in=donors).exclude(anchor="")
    there = without_posed(project, links).order_by("pk")
    for donor, anchor, start in there.values_list("source", "anchor", "place"):
        if len(found[donor].there) < MOST:
            found[donor].there.append((anchor, start))
    to_come = CandidateEdge.objects.filter(APPROVED, project=project, source__in=donors, placement=Placement.INLINE)
    rows = to_come.order_by("pk").values_list("source", "pk", "anchor", "span_start", "span_end")
    for donor, edge, anchor, start, end in rows:
        if len(found[donor].accepted) < MOST:
            found[donor].accepted.append(AcceptedLink(edge, anchor, start, end))
    return found
