"""The other words that a card offers for its link, each with where it came from and where in the text it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from linker.engine.anchors.diversity import word_set
from linker.engine.anchors.placement import line_of
from linker.engine.text.clean import clean
from linker.engine.text.generic import bare
from linker.engine.text.headings import looks_like_heading
from review.link_places import place_with
from review.queue.card_words import source_in_words
from review.queue.excerpt import Excerpt, excerpt_around

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linker.models import CandidateEdge
    from review.anchor_warnings import AnchorWarning
    from review.link_places import DonorTexts
    from review.queue.text_links import LinkPlaces

MOST = 5
AROUND = 24  # characters on each side of words that stand elsewhere


@dataclass(frozen=True)
class Alternative:
    """Another anchor: `origin` says in words where it came from; `span` is its place in the donor's text, None where
    the text does not hold it where a link may stand, and `place` says where that is; `excerpt` is the paragraph around
    it where the card's own excerpt ends before."""

    text: str
    origin: str
    span: tuple[int, int] | None
    place: str = ""
    excerpt: Excerpt | None = None


def alternatives_of(
    edge: CandidateEdge,
    texts: DonorTexts,
    shown: Excerpt | None,
    links: LinkPlaces,
    warnings: Sequence[AnchorWarning] = (),
    headings: Sequence[str] = (),
) -> tuple[Alternative, ...]:
    """In the order of the run, those that the text holds first. Of those that say the same with other marks, the
    shortest alone; where the card warns that the anchor is used too often, none that is the same but for small words.
    """
    items: dict[str, dict[str, Any]] = {}
    overused = word_set(edge.anchor) if any(warning.code == "identical" for warning in warnings) else ""
    for item in edge.anchor_alternatives:
        words = bare(item["text"])
        if word_set(item["text"]) == overused:
            continue
        if item["text"] != edge.anchor and (words not in items or len(item["text"]) < len(items[words]["text"])):
            items[words] = item
    others = [_alternative(edge, texts, item, shown, links, headings) for item in items.values()]
    others.sort(key=lambda other: other.span is None)
    return tuple(others[:MOST])


def _alternative(
    edge: CandidateEdge,
    texts: DonorTexts,
    item: dict[str, Any],
    shown: Excerpt | None,
    links: LinkPlaces,
    headings: Sequence[str],
) -> Alternative:
    text, origin = item["text"], source_in_words(item["source"], item.get("impressions"))
    body, span = edge.source.body, place_with(edge, text, texts)
    if span is None or (item.get("start") is None and _may_be_heading(body, span[0])):
        return Alternative(text, origin, None)
    if shown is not None and shown.holds(*span):
        return Alternative(text, origin, span, _("in this paragraph"))
    excerpt = excerpt_around(body, *span, links.anchors, links.places, headings)
    return Alternative(text, origin, span, _("in the text: %(words)s") % {"words": _around(body, *span)}, excerpt)


def _may_be_heading(body: str, start: int) -> bool:
    """Whether words that no run has placed seem to stand in a heading: not every one of them is known."""
    return looks_like_heading(body[slice(*line_of(body, start))].strip())


def _around(body: str, start: int, end: int) -> str:
    """The words with a few before and after them, of the same line."""
    line_start, line_end = body.rfind("\n", 0, start) + 1, body.find("\n", end)
    line_end = len(body) if line_end < 0 else line_end
    before, after = body[max(line_start, start - AROUND) : start], body[end : min(line_end, end + AROUND)]
    if start - AROUND > line_start:
        before = "…" + before.partition(" ")[2]
    if end + AROUND < line_end:
        after = after.rpartition(" ")[0] + "…"
    return clean(before + body[start:end] + after)
