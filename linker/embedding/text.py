"""The text that stands for a page. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BODY_CHARACTERS = 900
HEADING_CHARACTERS = 300


@dataclass(frozen=True)
class Recipe:
    """How a page becomes the text that a model reads. `version` counts up whenever the text of any page would differ
    for another reason than the page itself: vectors of two versions are never compared."""

    name: str
    version: int
    made_of: str

    @property
    def key(self) -> str:
        return f"{self.name} {self.version}"


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "full",
            1,
            "title without what the site's titles share, H1 where it says something else, headings (the first "
            f"{HEADING_CHARACTERS} characters), body (the first {BODY_CHARACTERS})",
        ),
        Recipe("title", 1, "title without what the site's titles share, H1 where it says something else"),
        Recipe("body", 1, f"body (the first {BODY_CHARACTERS + HEADING_CHARACTERS} characters)"),
    )
}
# Vectors that came with a crawl: what their maker read, a file does not say.
CRAWLER = "crawler"
MADE_BY_CRAWLER = "made by the crawler, which does not say of what"


def text_to_embed(recipe: str, *, title: str, h1: str, headings: Sequence[str], body: str) -> str:
    """What the model reads of a page.

    `full`: title, H1 where it says something else, the first 300 characters of the headings and the first 900 of the
    body; `title`: title and H1; `body`: the body's first 1,200. The parts of the site's template are to be removed
    from the title before: what all pages share says nothing about one. Empty where the page has none of it.
    """
    if recipe == "body":
        return _squeeze(body[: BODY_CHARACTERS + HEADING_CHARACTERS])
    parts = [title] if title == h1 else [title, h1]
    if recipe == "full":
        parts += [". ".join(headings)[:HEADING_CHARACTERS], body[:BODY_CHARACTERS]]
    return _squeeze(". ".join(part for part in map(str.strip, parts) if part))


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def digest(text: str) -> bytes:
    """sha256 of the text, 32 bytes: an unchanged text is never embedded again."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
