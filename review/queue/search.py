"""The search of the queue: which edges hold the words asked for, each word as the start of one.

In the address and the title of either page, in an address that the page had or that leads to it, or in the anchor. All
words must stand in the same of these. The pages are found first, by their index of words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import BooleanField, Q
from django.db.models.expressions import RawSQL

from linker.models.search_words import PATTERN, WORDS, Holds
from linker.pages.search import MANY_PAGES, pages_with_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linker.models import Project

# Edges of so many pages are counted, of each a few dozen.
COUNTED_PAGES = 300
_OF_PAGES = "linker_candidateedge.source_id = ANY (%s::bigint[]) OR linker_candidateedge.target_id = ANY (%s::bigint[])"
_IN_ANCHOR = f"{WORDS}(linker_candidateedge.anchor) @@ {PATTERN}(%s)"


class Search:
    """The pages of a project that hold the words of `text`."""

    def __init__(self, project: Project, text: str) -> None:
        self.text, self.pages = text, pages_with_words(project, text)

    def holds(self) -> Q | RawSQL:
        """The condition for the edges that hold the words."""
        if len(self.pages) > MANY_PAGES:
            return (
                Q(Holds("source__url", "source__title", text=self.text))
                | Q(Holds("target__url", "target__title", text=self.text))
                | Q(Holds("anchor", text=self.text))
            )
        return _edges_of(self.pages, or_in_anchor=self.text)

    @property
    def is_wide(self) -> bool:
        """Whether there are too many pages to count the edges of."""
        return len(self.pages) > COUNTED_PAGES

    def counted(self) -> RawSQL:
        """The condition for the edges that are counted: where the search is wide, those of some pages alone."""
        if self.is_wide:
            return _edges_of(self.pages[:COUNTED_PAGES])
        return _edges_of(self.pages, or_in_anchor=self.text)


def search_of(project: Project, text: str) -> Search:
    """The search for `text`. The pages are looked for once for a project as it was read for a request."""
    known: dict[str, Search] = vars(project).setdefault("_searches", {})
    if text not in known:
        known[text] = Search(project, text)
    return known[text]


def _edges_of(pages: Sequence[int], or_in_anchor: str = "") -> RawSQL:
    """Arrays, and not lists of values: the planner makes a table to look up in of one, however long it is."""
    found = list(pages)
    if not or_in_anchor:
        return RawSQL(f"({_OF_PAGES})", [found, found], output_field=BooleanField())  # noqa: S611 - a constant
    either = f"({_OF_PAGES} OR {_IN_ANCHOR})"
    return RawSQL(either, [found, found, or_in_anchor], output_field=BooleanField())  # noqa: S611 - constants
