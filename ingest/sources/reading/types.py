"""What is read of a page."""

from __future__ import annotations

from dataclasses import dataclass, field

CONTENT, ASIDE, HEADER, FOOTER, NAVIGATION = "content", "aside", "header", "footer", "navigation"
LIST = "list"  # of pages, which a page is


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link as a page has it.

    `target` is absolute and keeps its fragment. `anchor` has its blanks collapsed; without words it is the alternative
    text of a picture. `block` is one of the words above, by the names of linker.models.Block. `follow`: neither the
    link nor the page says otherwise. `place` counts the characters of the page's text before the anchor, so that
    `text[place : place + len(anchor)] == anchor`; None for a link that is not in the text.
    """

    target: str
    anchor: str
    block: str
    follow: bool
    place: int | None = None


@dataclass(frozen=True, slots=True)
class HeadLink:
    """A link as it is seen while crawling: where to, with which words, and whether to follow it."""

    target: str
    anchor: str
    follow: bool


@dataclass(frozen=True, slots=True)
class PageHead:
    """What a crawl has to know of a page at once.

    Addresses are absolute, empty where there is none. `robots` has the directives of the meta elements `robots` and
    `googlebot` in lower case. `hreflang` leads from languages to addresses. `refresh` is where a meta element sends
    browsers to, `redirect` the same where it does so at once.
    """

    title: str = ""
    canonical: str = ""
    robots: frozenset[str] = frozenset()
    hreflang: dict[str, str] = field(default_factory=dict)
    next_page: str = ""
    previous_page: str = ""
    refresh: str = ""
    redirect: str = ""
    links: list[HeadLink] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ReadPage:
    """All that is read of a page.

    `headings` are those of the text, in their order, and the H1s after the first. `breadcrumb` begins at the root; its
    last name may be the page's own. `published` and `modified` are as the page writes them. `text` has a paragraph, a
    heading, an item of a list or a row of a table a line, without the H1. `needs_browser`: the page is empty until
    scripts have run.
    """

    title: str
    h1: str
    headings: list[str]
    description: str
    language: str
    canonical: str
    robots: frozenset[str]
    hreflang: dict[str, str]
    next_page: str
    previous_page: str
    breadcrumb: list[str]
    published: str
    modified: str
    text: str
    links: list[PageLink]
    word_count: int
    needs_browser: bool
