"""Events by the addresses that they name, told to the story of a project's pages: for files and for the command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from ingest.addresses.destinations import reason_without_page
from linker.errors import UserError
from linker.models import Page, PageEventKind
from linker.pages.identity.tell import LEADS, Loop, Story

if TYPE_CHECKING:
    from datetime import datetime

    from ingest.addresses.destinations import PageFinder
    from linker.models import Project

# What can be told; that a page moved is told as a redirect to an address that no page has.
TOLD = tuple(kind for kind in PageEventKind if kind is not PageEventKind.MOVED)


class BadEvent(UserError):
    """An event that cannot be: `field` is what is wrong in it."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


def kind_of(text: str) -> PageEventKind:
    """The kind of event that a cell names. Raises BadEvent."""
    word = text.strip().casefold()
    if word not in TOLD:
        said = _("“%(event)s” is no event. Write one of %(events)s.")
        raise BadEvent("event", said % {"event": text.strip()[:60], "events": ", ".join(TOLD)})
    return PageEventKind(word)


class Telling:
    """Tells events by addresses. `same` counts those that were known."""

    def __init__(self, project: Project, pages: PageFinder) -> None:
        self.project, self.pages, self.story = project, pages, Story(project)
        self.same = 0

    def tell(self, kind: PageEventKind, address: str, at: datetime, new: str = "") -> str:
        """Takes an event; returns why it was left out (a key of ingest.fields.skipped.REASONS), or nothing.

        Raises BadEvent where it cannot be.
        """
        address, new = address.strip(), new.strip()
        if kind in LEADS and not new:
            raise BadEvent("new_url", _("It says that the page leads elsewhere, and not where."))
        found = self.pages.find(address)
        if not isinstance(found, int):
            if found == "unknown" and kind is PageEventKind.CREATED:
                self._create(address, at)
                return ""
            return reason_without_page(found, address)
        if self.story.is_late(kind, found, at, new):
            return "event_late"
        return self._of_page(kind, found, address, at, new)

    def _of_page(self, kind: PageEventKind, page: int, address: str, at: datetime, new: str) -> str:
        if kind not in LEADS:
            self.same += not self.story.tell(kind, page, at, address)
            return ""
        other = self.pages.find(new)
        if other == "unknown" and kind is PageEventKind.REDIRECTED:
            self._move(page, address, at, new)
            return ""
        if not isinstance(other, int):
            return reason_without_page(other, new)
        if other == page:
            if self._key(address) == self._key(new):
                raise BadEvent("new_url", _("A page cannot lead to itself."))
            self.same += 1  # it has moved there already
            return ""
        try:
            self.same += not self.story.tell(kind, page, at, address, other, new)
        except Loop:
            said = _("%(new)s leads to %(old)s already, so %(old)s cannot lead there. Say first that it is live again.")
            raise BadEvent("new_url", said % {"new": new, "old": address}) from None
        return ""

    def _move(self, page: int, address: str, at: datetime, new: str) -> None:
        key = self._key(new)
        self.story.move(page, at, address, self.pages.site.full_address(new), key)
        self.pages.ids[key] = page  # type: ignore[index]
        self.pages.memo.clear()

    def _create(self, address: str, at: datetime) -> None:
        key = self._key(address)
        page = Page.objects.create(project=self.project, url=self.pages.site.full_address(address), canonical_url=key)
        self.pages.ids[key] = page.pk  # type: ignore[index]
        self.pages.memo.clear()
        self.story.begin(page.pk, at, address)

    def _key(self, address: str) -> str:
        return self.pages.site.canonical_url(address)
