"""The pages that hold the words of a search, each word as the start of one of theirs, by the index of words.

In the address and the title, or in an address that the page had or that leads to it. All words must stand in the same
of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import BooleanField, Q
from django.db.models.expressions import RawSQL

from linker.models import Page, PageAddress
from linker.models.search_words import Holds

if TYPE_CHECKING:
    from linker.models import Project

# Where more pages hold the words, a list meets one of them soon enough, and asks each of its rows.
MANY_PAGES = 10_000


def pages_with_words(project: Project, text: str) -> list[int]:
    """The ids of the pages, of more than MANY_PAGES some."""
    pages = Page.objects.filter(Holds("url", "title", text=text), project=project)
    found = list(pages.values_list("pk", "successor")[: MANY_PAGES + 1])
    moved = PageAddress.objects.filter(Holds("url", text=text), project=project)
    former = moved.values_list("page", flat=True)[: MANY_PAGES + 1]
    led_on = (successor for _, successor in found if successor is not None)
    return list(dict.fromkeys([*(pk for pk, _ in found), *led_on, *former]))


def with_words(project: Project, text: str, column: str, **page: str) -> Any:
    """The condition for rows whose page holds the words. `column`: the one with the page's id, as SQL has it; `page`:
    what the ORM calls the page's `url` and `title` from there."""
    found = pages_with_words(project, text)
    if len(found) > MANY_PAGES:
        return Q(Holds(page.get("url", "url"), page.get("title", "title"), text=text))
    # An array, and not a list of values: the planner makes a table to look up in of one, however long it is.
    return RawSQL(f"{column} = ANY (%s::bigint[])", [found], output_field=BooleanField())  # noqa: S611 - a constant
