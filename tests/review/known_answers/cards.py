"""Cards whose answer is known, what is said of them, and what comes before them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from django.db import connection

from linker.models import CandidateEdge, KnownAnswer
from review.queue import known_cards
from tests.factories import make_edge, make_link, make_page, make_run

if TYPE_CHECKING:
    from linker.models import Page


def make_known(project, donor: Page, anchor: str = "warm winter boots", **fields: Any) -> KnownAnswer:
    """A link of the site that a match run has drawn, on words of the donor's text."""
    target = fields.pop("target", None) or make_page(project, title="Boots", h1="Boots")
    make_link(donor, target, anchor)
    start = donor.body.index(anchor)
    tier = project.tiers.filter(basis="cosine", lower_bound__lte=0.85).order_by("-lower_bound").first()
    defaults = {
        "generators": ["mention"], "ranked_by": "learned", "level": 0, "similarity": 0.8, "score": 0.85,
        "probability": None, "quantile": 0.9, "why": "Both are about boots.", "tier": tier,
        "placement": tier.placement, "rel": tier.rel, "anchor_source": "text", "section": donor.category_id or 0,
        "anchor_alternatives": [{"text": "Boots", "source": "h1", "raw": "Boots"}],
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence('linker_candidateedge', 'id'))")
        [number] = cursor.fetchone()
    run = project.runs.filter(kind="match").first() or make_run(project)
    return KnownAnswer.objects.create(
        id=number, project=project, source=donor, target=target, run=run, anchor=anchor, span_start=start,
        span_end=start + len(anchor), body_hash=donor.body_hash, **defaults | fields,
    )  # fmt: skip


def followed(project, *, is_followed: bool = True, **fields: Any) -> CandidateEdge:
    """A suggestion that a card with a known answer comes behind, or one that none does."""
    while known_cards.is_behind(project, (edge := make_edge(project, **fields)).pk) != is_followed:
        edge.delete()
    return edge


def said(known: KnownAnswer, do: str = "accept", **changes: object) -> dict[str, object]:
    """What the browser sends of the card."""
    form = {"do": do, "expected": "suggested", "run": known.run_id, "shown": known.anchor, "anchor": known.anchor}
    return {"key": str(uuid4()), "kind": "decide", "edge": known.pk, **form, **changes}
