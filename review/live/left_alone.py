"""Why an action leaves released links as they are: said of those that were checked for it, before it is done."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from linker.models import EdgeStatus
from linker.models.querysets import LIVE_STATUS, UNDECIDED, holds
from linker.wording import number
from review.live.seeing import AT_REST
from review.models import GONE_STATES, Operation, PublishedLink
from review.releases.pages_back import is_page_back

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linker.models import Project


class Why(Enum):
    """Why a link stays as it is, as it is said behind a number of links."""

    CLOSED = _("closed")
    IN_QUEUE = _("in the queue again, to be decided on there")
    TO_GO = _("to be removed already")
    ASKED = _("with something asked for already")
    GONE = _("without one of the pages, and only to be withdrawn")
    AS_RELEASED = _("as released")
    SAME = _("with this person already")


def why_left(
    project: Project, edge_ids: Sequence[int], what: str, owner: int | None = None, *, shows_closed: bool = False
) -> Counter[Why]:
    """How many of the links an action (ask, reopen, close, withdraw, give) would leave as they are now, by the reason.
    `owner`: the id of who they would be given to; `shows_closed`: they were listed as closed ones."""
    links = PublishedLink.objects.filter(project=project, edge__in=edge_ids)
    links = links.select_related("edge__source", "edge__target", "edge__pending")
    links = links.defer("edge__source__body", "edge__target__body")
    found = (Why.CLOSED if link.closed_at and not shows_closed else _why(link, what, owner) for link in links)
    return Counter(why for why in found if why is not None)


def in_words(found: Counter[Why]) -> str:
    """The reasons behind their numbers; empty where there is none."""
    return "; ".join(f"{number(links)} {why.value}" for why, links in found.most_common())


def _why(link: PublishedLink, what: str, owner: int | None) -> Why | None:
    if what == "give":
        return Why.SAME if link.owner_id == owner else None
    if what == "close":
        return Why.CLOSED if link.closed_at is not None else Why.AS_RELEASED if link.state in AT_REST else None
    edge = link.edge
    if holds(UNDECIDED, edge):
        return Why.IN_QUEUE
    if not link.is_out or edge.status != EdgeStatus.EXPORTED:
        return Why.TO_GO
    pending = getattr(edge, "pending", None)
    if what == "withdraw":
        is_asked = pending is not None and pending.operation == Operation.REMOVE and not is_page_back(edge)
        return Why.TO_GO if is_asked else None
    if pending is not None and (what == "ask" or pending.decision_id is not None):
        return Why.ASKED
    if what == "ask":
        return Why.GONE if link.state in GONE_STATES else None
    if not all(holds(LIVE_STATUS, page) for page in (edge.source, edge.target)):
        return Why.GONE
    return Why.AS_RELEASED if link.state in AT_REST else None
