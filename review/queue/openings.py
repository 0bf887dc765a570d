"""How a page begins, as a card shows it: its description, or where that says nothing of this page, its own first words.

A site often gives all of its pages one description, or a page that of another one that it was copied from.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from django.db.models.functions import Left

from linker.engine.text.clean import clean
from linker.engine.text.fold import fold
from linker.engine.text.generic import stop_words
from linker.engine.text.stems import stem
from linker.models import Page

if TYPE_CHECKING:
    from collections.abc import Collection

    from linker.models import Project

OPENING = 260  # characters that are shown
READ = 4_000  # characters of the text that a description is compared with
SAMPLE = 300  # pages of the project whose descriptions are compared
SHARED = 3  # of these with one description: it is the site's
LEAST_OWN = 1 / 3  # of a description's words that its page has to say as well
_WORD = re.compile(r"\w+")


def openings_of(project: Project, pages: Collection[int]) -> dict[int, str]:
    """What a reader sees of each page first, at most OPENING characters. Two queries, whatever the site's size."""
    rows = Page.objects.filter(pk__in=pages).annotate(first=Left("body", READ))
    found = list(rows.values_list("pk", "description", "first", "title", "h1", "own_language"))
    shared = _shared(project) if any(description for _, description, *_ in found) else frozenset()
    return {pk: _cut(clean(_opening(shared, *texts))) for pk, *texts in found}


def _opening(shared: frozenset[str], description: str, body: str, title: str, h1: str, language: str | None) -> str:
    if not description or description in shared:
        return body
    return description if not body or _is_own(description, f"{title} {h1} {body}", language or "") else body


def _shared(project: Project) -> frozenset[str]:
    """Descriptions that several of the project's pages have, as far as some of its pages tell."""
    some = Page.objects.filter(project=project).order_by().values_list("description", flat=True)[:SAMPLE]
    counts = Counter(some)
    return frozenset(description for description, pages in counts.items() if pages >= SHARED and description)


def _is_own(description: str, said: str, language: str) -> bool:
    """Whether enough of the description's words, in any form, are among what the page says and is called."""
    folded, stops = fold(said), stop_words(language)
    words = {word for word in _WORD.findall(fold(description)) if word not in stops}
    there = {stem(word, language) for word in _WORD.findall(folded)}
    own = [word for word in words if stem(word, language) in there or word in folded]  # the latter without spaces
    return len(own) >= LEAST_OWN * len(words)


def _cut(text: str) -> str:
    if len(text) < OPENING - 1:
        return text
    return text[: OPENING - 20].rpartition(" ")[0] + "…"
