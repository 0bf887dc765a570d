"""Events that somebody tells, in the order of their times, made into what pages are after the last of them.

Story reads what is known of the pages that the events name, takes events by the ids of pages, and fills the tables of
linker.pages.identity.record. What it reads and writes follows the events, whatever the size of the project.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Q
from django.db.models.functions import MD5

from linker.models import Page, PageEvent, PageEventKind, PageStatus
from linker.pages.identity import record
from linker.storage.copy import copy_rows_in
from linker.storage.cursors import batches

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import datetime

    from linker.models import Project

AT_A_TIME = 5_000  # pages, or addresses, that a query is given
NEW_IDS = 500  # ids that are drawn for pages that are created
# Kinds that change what a page is.
STATES = {
    PageEventKind.CREATED: PageStatus.LIVE,
    PageEventKind.RESTORED: PageStatus.LIVE,
    PageEventKind.MERGED: PageStatus.MERGED,
    PageEventKind.REDIRECTED: PageStatus.REDIRECTED,
    PageEventKind.REMOVED: PageStatus.REMOVED,
}
LEADS = (PageEventKind.MERGED, PageEventKind.REDIRECTED)
WITH_NEW_ADDRESS = (*LEADS, PageEventKind.MOVED)  # events that name two addresses: the page's and a new one
# Events that give a page an address: nothing that was told of the address before is of that page.
TAKES = (PageEventKind.CREATED, PageEventKind.MOVED)
# What is told in one word may be noted in another: a page that is created again is restored, and one that redirects to
# an address that no page has is moved.
_NOTED_AS = {PageEventKind.CREATED: PageEventKind.RESTORED, PageEventKind.MOVED: PageEventKind.REDIRECTED}


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
    """What events make of some pages of a project: `pages`, by id, and those that `addresses`, in full, were once of.

    Each event is told with the address, in full, that it was told of.
    """

    def __init__(self, project: Project, pages: Collection[int], addresses: Collection[str]) -> None:
        self.project = project
        self._states: dict[int, State] = {}
        self._leading: dict[int | None, set[int]] = defaultdict(set)
        self._told: set[tuple[str, PageEventKind, datetime, str]] = set()
        self._newest: dict[int, datetime] = {}
        self._taken: dict[tuple[int, str], datetime] = {}
        self._news: list[tuple[int, str, int | None, str, str, str | None, datetime]] = []
        self._changed: dict[int, State] = {}
        self._addresses: dict[int, tuple[str, str]] = {}
        self._created: dict[int, datetime] = {}
        self._ids: list[int] = []
        for some in batches(sorted(pages), AT_A_TIME):
            self._read_states(some)
            self._read_events(some)
        for urls in batches(sorted(addresses), AT_A_TIME):
            self._read_told(urls)

    def _read_states(self, pages: list[int]) -> None:
        """What the pages are, and those that lead to them or where they lead."""
        near = Page.objects.filter(pk__in=pages).values("successor")
        found = Page.objects.filter(Q(pk__in=pages) | Q(successor__in=pages) | Q(pk__in=near))
        for pk, status, to, since in found.values_list("pk", "status", "successor", "state_since"):
            self._states[pk] = State(PageStatus(status), to, since)
            self._leading[to].add(pk)

    def _read_events(self, pages: list[int]) -> None:
        """When the newest thing that is known of each page happened, and when it took the addresses that it had."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT page_id, max(at) FROM linker_pageevent WHERE page_id = ANY(%s) AND kind <> 'changed' "
                "GROUP BY 1",
                [pages],
            )
            self._newest.update(cursor.fetchall())
        took = PageEvent.objects.filter(page__in=pages, kind__in=TAKES).order_by("at")
        for page, kind, old, new, at in took.values_list("page", "kind", "old_url", "new_url", "at"):
            self._taken[page, new if kind == PageEventKind.MOVED else old] = at

    def _read_told(self, addresses: list[str]) -> None:
        told = PageEvent.objects.alias(digest=MD5("old_url")).filter(
            project=self.project, digest__in=[record.digest(address) for address in addresses]
        )
        for url, kind, at, new in told.values_list("old_url", "kind", "at", "new_url").iterator():
            self._told.add(_sign(PageEventKind(kind), url, at, new))

    def state(self, page: int) -> State:
        return self._states.get(page, LIVE)

    def is_known(self, kind: PageEventKind, url: str, at: datetime, new: str) -> bool:
        """Whether just this was told of that address before."""
        return _sign(kind, url, at, new) in self._told

    def is_late(self, page: int, url: str, at: datetime) -> bool:
        """Whether something newer was known of the page, or it has the address only since then."""
        if page in self._newest and at < self._newest[page]:
            return True
        return self.is_too_new(page, url, at)

    def is_too_new(self, page: int, url: str, at: datetime) -> bool:
        """Whether the page has had the address only since then, or since later, as far as earlier imports knew."""
        taken = self._taken.get((page, url))
        return taken is not None and at <= taken

    def tell(
        self, kind: PageEventKind, page: int, at: datetime, url: str, other: int | None = None, new: str = ""
    ) -> None:
        """Takes an event of a page; `other` is where it leads, at the address `new`, or none where that is no page of
        the project.

        Raises Loop where `other` leads back to the page.
        """
        if kind in STATES:
            self._take(kind, page, at, other)
        self._note(_NOTED_AS.get(kind, kind) if kind is PageEventKind.CREATED else kind, page, at, url, other, new)

    def move(self, page: int, at: datetime, url: str, new: str, key: str, left: str | None) -> None:
        """Takes that the page is at another address, with that key; `left` is the key that it had until now, or none
        where it had moved there already."""
        if left is not None:
            self._put(page, State(PageStatus.LIVE, None, at))
            self._addresses[page] = (new, key)
        self._note(PageEventKind.MOVED, page, at, url, None, new, left)

    def begin(self, at: datetime, url: str, key: str) -> int:
        """Takes that a page was created, with that key; returns its id."""
        if not self._ids:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT nextval(pg_get_serial_sequence('linker_page', 'id')) FROM generate_series(1, %s)", [NEW_IDS]
                )
                self._ids = [pk for (pk,) in cursor.fetchall()][::-1]
        page = self._ids.pop()
        self._created[page] = at
        self._put(page, LIVE)
        self._addresses[page] = (url, key)
        self._note(PageEventKind.CREATED, page, at, url, None, "")
        return page

    def _note(
        self,
        kind: PageEventKind,
        page: int,
        at: datetime,
        url: str,
        other: int | None,
        new: str,
        left: str | None = None,
    ) -> None:
        self._told.add(_sign(kind, url, at, new))
        self._news.append((page, kind.value, other, url, new, left, at))

    def _take(self, kind: PageEventKind, page: int, at: datetime, other: int | None) -> None:
        end = None
        if other is not None:
            end = self.state(other).successor or other
            if end == page:
                raise Loop
        state = State(STATES[kind], end, at)
        before = self.state(page)
        if (before.status, before.successor) == (state.status, state.successor):
            return
        self._put(page, state)
        if end is not None:  # no chain is longer than one step
            for leading in list(self._leading[page]):
                self._put(leading, State(self._states[leading].status, end, self._states[leading].since))

    def _put(self, page: int, state: State) -> None:
        self._leading[self.state(page).successor].discard(page)
        self._leading[state.successor].add(page)
        self._states[page] = self._changed[page] = state

    def write(self) -> None:
        """Makes the pages that were created, and fills the tables of linker.pages.identity.record."""
        for some in batches(self._created, AT_A_TIME):
            # Their addresses come with their states, when those of others are free.
            Page.objects.bulk_create(
                [Page(pk=pk, project=self.project, url=f"#{pk}", canonical_url=f"#{pk}") for pk in some]
            )
        record.begin()
        copy_rows_in("page_news", record.NEWS, self._news)
        copy_rows_in("page_state", record.STATE, self._rows())

    def _rows(self) -> Iterable[tuple[object, ...]]:
        for page, state in self._changed.items():
            url, key = self._addresses.get(page, (None, None))
            yield page, state.status.value, state.successor, state.since, url, key


def _sign(kind: PageEventKind, url: str, at: datetime, new: str) -> tuple[str, PageEventKind, datetime, str]:
    return url, _NOTED_AS.get(kind, kind), at, new
