"""The filters in force as chips: what each says, and the query string without it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linker.models import Category, Page, Placement, RankedBy, Tier
from review.queue.filters import GAP, OfPilot, Order, QueueFilter, Sensitive, generator_label

if TYPE_CHECKING:
    from linker.models import Project


@dataclass(frozen=True)
class Chip:
    """`name` is the filter's field; `without` the query string that leaves it out."""

    name: str
    says: str
    without: str


def chips(project: Project, chosen: QueueFilter) -> list[Chip]:
    """A chip for each field that restricts the list, but for its status."""
    said = {
        "text": f"“{chosen.text}”" if chosen.text else "",
        "tier": _tier(project, chosen.tier),
        "category": _category(project, chosen.category),
        "donor": _page(project, chosen.donor, "On"),
        "acceptor": _page(project, chosen.acceptor, "To"),
        "sensitive": chosen.sensitive.label if chosen.sensitive != Sensitive.ANY else "",
        "placement": _placement(chosen.placement),
        "generator": f"Found by {generator_label(chosen.generator)}" if chosen.generator else "",
        "ranked_by": f"Ranked by {RankedBy(chosen.ranked_by).label.lower()}" if chosen.ranked_by else "",
        "probability": f"From {chosen.probability}%" if chosen.probability is not None else "",
        "pilot": chosen.pilot.label if chosen.pilot != OfPilot.ANY else "",
        "order": Order(chosen.order).label if chosen.order != chosen.usual else "",
        "held": "Held back, too" if chosen.held else "",
        "stale": "No longer proposed, too" if chosen.stale else "",
        "later": "Set aside for later" if chosen.later else "",
    }
    return [Chip(name, says, _without(chosen, name)) for name, says in said.items() if says]


def _without(chosen: QueueFilter, name: str) -> str:
    usual: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(QueueFilter)}
    usual["order"] = chosen.usual
    return dataclasses.replace(chosen, **{name: usual[name]}).to_query()


def _tier(project: Project, pk: int | None) -> str:
    tier = Tier.objects.filter(project=project, pk=pk).first() if pk is not None else None
    return tier.name if tier else ("A tier that is gone" if pk is not None else "")


def _category(project: Project, pk: int | None) -> str:
    category = Category.objects.filter(project=project, pk=pk).first() if pk is not None else None
    return str(category) if category else ("A category that is gone" if pk is not None else "")


def _page(project: Project, pk: int | None, says: str) -> str:
    if pk is None:
        return ""
    page = Page.objects.filter(project=project, pk=pk).only("title", "url").first()
    return f"{says} {page.title or page.url}" if page else f"{says} a page that is gone"


def _placement(placement: str) -> str:
    if placement == GAP:
        return "Content gap"
    return str(Placement(placement).label) if placement else ""
