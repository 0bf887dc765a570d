"""Events by the addresses that they name, told to the story of a project's pages: for files and for the command."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from django.utils import timezone
from django.utils.translation import gettext as _

from ingest.addresses.destinations import reason_without_page, variants
from ingest.kinds.project_pages import find_named_pages
from linker.errors import UserError
from linker.models import PageEventKind
from linker.pages.identity.tell import LEADS, STATES, WITH_NEW_ADDRESS, Loop, Story

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from linker.models import Project

TOLD = tuple(PageEventKind)
AHEAD = timedelta(days=1)  # of our clock: a time without a zone may be that of another


class BadEvent(UserError):
    """An event that cannot be: `field` is what is wrong in it."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


class LeftOut(NamedTuple):
    """An event that was left out: `reason` is a key of ingest.fields.skipped.REASONS, `field` names the address that it
    is about, "url" or "new_url"."""

    reason: str
    field: str = "url"


def kind_of(text: str) -> PageEventKind:
    """The kind of event that a cell names. Raises BadEvent."""
    word = text.strip().casefold()
    if word not in TOLD:
        said = _("“%(event)s” is no event. Write one of %(events)s.")
        raise BadEvent("event", said % {"event": text.strip()[:60], "events": ", ".join(TOLD)})
    return PageEventKind(word)


def check(kind: PageEventKind, new: str, at: datetime) -> None:
    """Raises BadEvent where an event that leads elsewhere does not say where, or has not happened yet."""
    if at > timezone.now() + AHEAD:
        raise BadEvent("at", _("“%(time)s” is in the future.") % {"time": at.isoformat(sep=" ", timespec="minutes")})
    if not new.strip() and kind in WITH_NEW_ADDRESS:
        raise BadEvent("new_url", _("It says that the page leads elsewhere, and not where."))


class Telling:
    """Tells events by addresses, in the order of their times: `addresses` are those that they name. `same` counts those
    that were known.

    Raises FileError, with the file's `name`, where the project has no pages.
    """

    def __init__(self, project: Project, name: str, addresses: Iterable[str]) -> None:
        self.pages, self._own, named = find_named_pages(project, name, addresses, first=_("Import the pages first."))
        self._keys = {page: key for key, page in self._own.items()}
        self.story = Story(project, set(self.pages.ids.values()), named)
        self.same = 0

    def tell(self, kind: PageEventKind, address: str, at: datetime, new: str = "") -> LeftOut | None:
        """Takes an event, or says why it was left out. Raises BadEvent where it cannot be."""
        check(kind, new, at)
        found = self.pages.find(address)
        url, to = self.pages.in_full(address), self.pages.in_full(new)
        if self.story.is_known(kind, url, at, to):
            self.same += 1
            return None
        if kind is PageEventKind.CREATED and self._is_free(found, address):
            return self._create(found, url, at)
        if not isinstance(found, int):
            return LeftOut(reason_without_page(found, address))
        if self.story.is_late(found, url, at):
            return LeftOut("event_late")
        if kind in WITH_NEW_ADDRESS:
            return self._lead(kind, found, url, at, to)
        self.story.tell(kind, found, at, url)
        return None

    def is_so(self, kind: PageEventKind, address: str, new: str) -> bool:
        """Whether the page is what the event would make of it, whenever that came about."""
        page = self.pages.find(address)
        if isinstance(page, int) and kind is PageEventKind.MOVED:
            return self._is_former(page, address) and self.pages.find(new) == page
        if not isinstance(page, int) or kind not in STATES:
            return False
        if kind is PageEventKind.CREATED and self._is_free(page, address):
            return False
        state = self.story.state(page)
        return state.status == STATES[kind] and (kind not in LEADS or state.successor == self.pages.find(new))

    def _lead(self, kind: PageEventKind, page: int, url: str, at: datetime, new: str) -> LeftOut | None:
        """A page that leads elsewhere."""
        other = self.pages.find(new)
        if other == "external" and kind is PageEventKind.REDIRECTED:
            self.story.tell(kind, page, at, url, None, new)
            return None
        if other == "bad" or other == "external" or (other == "unknown" and kind is PageEventKind.MERGED):
            return LeftOut(reason_without_page(str(other), new), "new_url")
        if kind is PageEventKind.MOVED or other in ("unknown", page):
            self._move(page, url, at, new)
            return None
        if self.story.is_too_new(int(other), new, at):
            return LeftOut("event_late", "new_url")
        try:
            self.story.tell(kind, page, at, url, int(other), new)
        except Loop:
            said = _("%(new)s leads to %(old)s already, so %(old)s cannot lead there. Say first that it is live again.")
            raise BadEvent("new_url", said % {"new": new, "old": url}) from None
        return None

    def _move(self, page: int, url: str, at: datetime, new: str) -> None:
        """A page that is at another address: from the one that it has; what is told of a former one is over."""
        key, left, had = self.pages.key(new), self.pages.key(url), self._keys[page]
        if key == left:
            raise BadEvent("new_url", _("A page cannot lead to itself."))
        moves = key != had and had in variants(left)
        if moves and self._own.get(key, page) != page:
            said = _(
                "%(new)s is the address of another page. Say that the page redirects there, or first where that one "
                "went."
            )
            raise BadEvent("new_url", said % {"new": new})
        self.story.move(page, at, url, new, key, had if moves else None)
        if moves:
            del self._own[had]
            self._take(page, key)

    def _is_free(self, found: int | str, address: str) -> bool:
        """Whether a page may be created there: no page has the address, though one may have had it before it moved."""
        return found == "unknown" or (isinstance(found, int) and self._is_former(found, address))

    def _is_former(self, page: int, address: str) -> bool:
        key = self.pages.key(address)
        return self.pages.ids.get(key) == page and key not in self._own

    def _create(self, found: int | str, url: str, at: datetime) -> LeftOut | None:
        if isinstance(found, int) and self.story.is_late(found, url, at):
            return LeftOut("event_late")
        key = self.pages.key(url)
        self._take(self.story.begin(at, url, key), key)
        return None

    def _take(self, page: int, key: str) -> None:
        """The page has the address from here on; what it had before still leads to it."""
        self._own[key] = page
        self._keys[page] = key
        self.pages.ids[key] = page
        self.pages.memo.clear()
