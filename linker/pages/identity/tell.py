"""Events that somebody tells, one after the other, made into what pages are after the last of them.

No database is written here: Story reads what is known of pages that are no longer live, takes events by the ids of
pages, and fills the tables of linker.pages.identity.record.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from linker.models import Page, PageEvent, PageEventKind, PageStatus
from linker.models.querysets import LIVE_STATUS
from linker.pages.identity import record
from linker.storage.copy import copy_rows_in

if TYPE_CHECKING:
    from datetime import datetime

    from linker.models import Project

# Kinds that change what a page is.
STATES = {
    PageEventKind.CREATED: PageStatus.LIVE,
    PageEventKind.RESTORED: PageStatus.LIVE,
    PageEventKind.MERGED: PageStatus.MERGED,
    PageEventKind.REDIRECTED: PageStatus.REDIRECTED,
    PageEventKind.REMOVED: PageStatus.REMOVED,
}
LEADS = (PageEventKind.MERGED, PageEventKind.REDIRECTED)


class Loop(ValueError):
    """The page that another is to lead to leads back to it."""


@dataclass(frozen=True)
class State:
    """What a page is: the one that it leads to, and since when."""

    status: PageStatus
    successor: int | None = None
    since: datetime | None = None


LIVE = State(PageStatus.LIVE)


class Story:
    """What events make of the pages of a project. Each method returns whether the event is news."""

    def __init__(self, project: Project) -> None:
        gone = Page.objects.filter(project=project).exclude(LIVE_STATUS)
        rows = gone.values_list("pk", "status", "successor", "state_since")
        self._states = {pk: State(PageStatus(status), to, since) for pk, status, to, since in rows}
        self._leading = defaultdict(set)
        for page, state in self._states.items():
            self._leading[state.successor].add(page)
        told = PageEvent.objects.filter(project=project).values_list("page", "kind", "at", "new_url")
        self._told = set(told.iterator())
        self._newest: dict[int, datetime] = {}
        for page, kind, at, _ in self._told:
            if kind != PageEventKind.CHANGED:
                self._newest[page] = max(at, self._newest.get(page, at))
        self._news: list[tuple[int, str, int | None, str, str, datetime]] = []
        self._changed: dict[int, State] = {}
        self._moved: dict[int, tuple[str, str]] = {}

    def state(self, page: int) -> State:
        return self._states.get(page, LIVE)

    def is_late(self, kind: PageEventKind, page: int, at: datetime, new: str) -> bool:
        """Whether something newer is known of the page, and the event itself is not."""
        return page in self._newest and at < self._newest[page] and (page, kind.value, at, new) not in self._told

    def tell(
        self, kind: PageEventKind, page: int, at: datetime, old: str, other: int | None = None, new: str = ""
    ) -> bool:
        """Takes an event of a page, with its address; `other` is where it leads, at the address `new`.

        Raises Loop where `other` leads back to the page.
        """
        if (page, kind.value, at, new) in self._told:
            return False
        if kind in STATES and not self._take(kind, page, at, other):
            return False
        kind = PageEventKind.RESTORED if kind is PageEventKind.CREATED else kind
        self._note(kind, page, at, old, other, new)
        return True

    def move(self, page: int, at: datetime, old: str, new: str, key: str) -> None:
        """Takes that the page is at another address, with that key."""
        self._put(page, State(PageStatus.LIVE, None, at))
        self._moved[page] = (new, key)
        self._note(PageEventKind.MOVED, page, at, old, None, new)

    def begin(self, page: int, at: datetime, url: str) -> None:
        """Takes that the page, which is there by now, was created."""
        self._note(PageEventKind.CREATED, page, at, url, None, "")

    def _note(self, kind: PageEventKind, page: int, at: datetime, old: str, other: int | None, new: str) -> None:
        self._told.add((page, kind.value, at, new))
        self._newest[page] = max(at, self._newest.get(page, at))
        self._news.append((page, kind.value, other, old, new, at))

    def _take(self, kind: PageEventKind, page: int, at: datetime, other: int | None) -> bool:
        end = None
        if other is not None:
            end = self.state(other).successor or other
            if end == page:
                raise Loop
        state = State(STATES[kind], end, at)
        before = self.state(page)
        if (before.status, before.successor) == (state.status, state.successor):
            return False
        self._put(page, state)
        if end is not None:  # no chain is longer than one step
            for leading in list(self._leading[page]):
                self._put(leading, State(self._states[leading].status, end, self._states[leading].since))
        return True

    def _put(self, page: int, state: State) -> None:
        self._leading[self.state(page).successor].discard(page)
        self._leading[state.successor].add(page)
        self._states[page] = self._changed[page] = state

    def write(self) -> None:
        """Fills the tables of linker.pages.identity.record."""
        record.begin()
        copy_rows_in("page_news", record.NEWS, self._news)
        copy_rows_in(
            "page_state",
            record.STATE,
            (
                (page, state.status.value, state.successor, state.since, *self._moved.get(page, (None, None)))
                for page, state in self._changed.items()
            ),
        )
