"""Reads: what became of a page, for its own screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from linker.models import Page, PageAddress, PageEvent

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST = 50  # events and addresses that are shown, the newest


@dataclass(frozen=True)
class Identity:
    """`here` are pages that lead to this one, with how many there are."""

    addresses: Sequence[PageAddress]
    events: Sequence[PageEvent]
    here: Sequence[Page]
    here_count: int

    def __bool__(self) -> bool:
        return bool(self.addresses or self.events or self.here)


def identity_of(page: Page) -> Identity:
    """The addresses that the page had, its events, and pages that lead to it, the newest first. Four queries."""
    events = PageEvent.objects.filter(page=page).select_related("other", "run", "user").order_by("-at", "-pk")
    here = Page.objects.filter(successor=page).only("url", "status", "state_since", "project")
    return Identity(
        list(PageAddress.objects.filter(page=page).order_by("-until")[:MOST]),
        list(events.defer("other__body")[:MOST]),
        list(here.order_by("-state_since", "pk")[:MOST]),
        here.count(),
    )
