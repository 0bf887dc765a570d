"""The filters in force as chips: what each says, and the query string without it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from linker.models import Category, Page, RankedBy, Tier
from linker.wording import day_in_words, within
from review.queue.card_words import name_of
from review.queue.filter_choices import generator_label
from review.queue.filters import PLACEMENTS, OfPilot, Order, QueueFilter, Sensitive

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
        "donor": _page(project, chosen.donor, _("On %(page)s")),
        "acceptor": _page(project, chosen.acceptor, _("To %(page)s")),
        "sensitive": str(chosen.sensitive.label) if chosen.sensitive != Sensitive.ANY else "",
        "placement": _placement(chosen.placement),
        "generator": _("Found by %(label)s") % {"label": generator_label(chosen.generator)} if chosen.generator else "",
        "ranked_by": _ranked_by(chosen.ranked_by),
        "probability": "" if chosen.probability is None else _("From %(percent)d%%") % {"percent": chosen.probability},
        "pilot": str(chosen.pilot.label) if chosen.pilot != OfPilot.ANY else "",
        "since": _("New since %(day)s") % {"day": day_in_words(chosen.since)} if chosen.since else "",
        "order": str(Order(chosen.order).label) if chosen.order != chosen.usual else "",
        "held": _("Held back, too") if chosen.held else "",
        "stale": _("No longer proposed, too") if chosen.stale else "",
        "regressed": _("Back from the site") if chosen.regressed else "",
        "second": _("Waits for a second person") if chosen.second else "",
        "later": _("Set aside for later") if chosen.later else "",
        "asked": _("Asked of me") if chosen.asked else "",
        "waiting": _("Asked by me") if chosen.waiting else "",
    }
    return [Chip(name, says, _without(chosen, name)) for name, says in said.items() if says]


def _without(chosen: QueueFilter, name: str) -> str:
    usual: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(QueueFilter)}
    usual["order"] = chosen.usual
    return dataclasses.replace(chosen, **{name: usual[name]}).to_query()


def _tier(project: Project, pk: int | None) -> str:
    tier = Tier.objects.filter(project=project, pk=pk).first() if pk is not None else None
    if tier is not None:
        return _("Tier %(name)s") % {"name": tier.name}
    return _("A tier that is gone") if pk is not None else ""


def _category(project: Project, pk: int | None) -> str:
    category = Category.objects.filter(project=project, pk=pk).first() if pk is not None else None
    return str(category) if category else (_("A category that is gone") if pk is not None else "")


def _page(project: Project, pk: int | None, says: str) -> str:
    if pk is None:
        return ""
    page = Page.objects.filter(project=project, pk=pk).only("title", "h1", "url").first()
    return says % {"page": name_of(page) if page else _("a page that is gone")}


def _ranked_by(ranked_by: str) -> str:
    return _("Ranked by %(how)s") % {"how": within(RankedBy(ranked_by).label)} if ranked_by else ""


def _placement(placement: str) -> str:
    return str(PLACEMENTS[placement]) if placement else ""
