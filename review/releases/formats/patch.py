"""A patch of the donors' texts, as far as they are kept: a unified diff that puts each link on its words.

A text is patched where it still has the words in their place, in the sentence that the release has. A line of its own,
or a new sentence, is put as a line behind its paragraph, where the text still has that. What is not patched
stands above, in a line that begins with "#", which the tools that apply patches pass over.
"""

from __future__ import annotations

import difflib
import re
from abc import abstractmethod
from array import array
from bisect import bisect_left
from dataclasses import dataclass
from hashlib import md5
from itertools import groupby, islice
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from django.db.models.functions import MD5
from django.utils.translation import gettext_lazy as _

from linker.models import Page, Placement
from review.models import Operation
from review.releases.formats.base import Format, collected, kept_rows
from review.releases.formats.markup import anchor_element, markdown_link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from review.models import Release
    from review.releases.formats.base import Row

DONORS_AT_A_TIME = 50


@dataclass(frozen=True)
class Placed:
    """A link and the characters of the text that it stands on; none, where it follows a paragraph on its own line."""

    start: int
    end: int
    row: Row


class Patch(Format):
    content_type = "text/x-diff; charset=utf-8"
    ending: ClassVar[str]  # of the files that the patch names

    def pieces(self, release: Release) -> Iterator[bytes]:
        return collected(part.encode() for part in self._parts(release))

    markup: ClassVar[str]  # the column of the release with what is put behind a paragraph

    @staticmethod
    @abstractmethod
    def link(url: str, words: str, rel: str) -> str:
        """The link as it stands in the text."""

    def _parts(self, release: Release) -> Iterator[str]:
        pages = _Donors(release)
        donors = groupby(kept_rows(release), lambda row: row["donor_url"])
        grouped = ((donor, list(rows)) for donor, rows in donors)
        while some := list(islice(grouped, DONORS_AT_A_TIME)):
            texts = pages.texts([donor for donor, _rows in some])
            for donor, rows in some:
                yield self._of_donor(donor, texts.get(donor), rows)

    def _of_donor(self, donor: str, text: str | None, rows: list[Row]) -> str:
        placed: list[Placed] = []
        said = []
        for row in rows:
            if reason := _why_not(row, text, placed):
                said.append(f"# not patched: {_line(donor)} -> {_line(row['acceptor_url'])} ({reason})\n")
        if text is None or not placed:
            return "".join(said)
        return "".join([*said, *_diff(_path(donor) + self.ending, text, self._linked(text, placed))])

    def _linked(self, text: str, placed: list[Placed]) -> str:
        # From the end; of what follows one paragraph, the last first, so that it stands in the order of the release.
        for _place, one in sorted(enumerate(placed), key=lambda at: (-at[1].start, -at[0])):
            words = text[one.start : one.end]
            if words:
                put = self.link(one.row["acceptor_url"], words, one.row["rel"])
            else:
                put = f"\n{_line(one.row[self.markup])}"
            text = text[: one.start] + put + text[one.end :]
        return text


class MarkdownPatch(Patch):
    name = "patch-md"
    label = _("Patch, Markdown")
    help = _("a unified diff that puts links into the donors’ texts")
    suffix = "-markdown.patch"
    ending = ".md"
    markup = "markdown"
    link = staticmethod(markdown_link)


class HtmlPatch(Patch):
    name = "patch-html"
    label = _("Patch, HTML")
    help = _("the same with HTML links")
    suffix = "-html.patch"
    ending = ".html"
    markup = "html"
    link = staticmethod(anchor_element)


class _Donors:
    """The donors of a release, found by address: sixteen bytes each, however long the addresses are."""

    def __init__(self, release: Release) -> None:
        self.keys, self.ids = array("Q"), array("q")
        pages = Page.objects.filter(pk__in=release.release_links.values("edge__source"))
        keyed = pages.annotate(key=MD5("url")).order_by("key").values_list("key", "pk")
        for key, page in keyed.iterator(chunk_size=2000):
            self.keys.append(int(key[:16], 16))
            self.ids.append(page)

    def texts(self, urls: list[str]) -> dict[str, str]:
        """The texts of these donors, as far as they are kept."""
        found = [page for url in urls if (page := self._page(url)) is not None]
        return dict(Page.objects.filter(pk__in=found).values_list("url", "body"))

    def _page(self, url: str) -> int | None:
        key = int(md5(url.encode(), usedforsecurity=False).hexdigest()[:16], 16)
        place = bisect_left(self.keys, key)
        return self.ids[place] if place < len(self.keys) and self.keys[place] == key else None


def _why_not(row: Row, text: str | None, placed: list[Placed]) -> str:
    """Why the link is not patched; empty where it is, and stands in `placed` then."""
    if row["operation"] != Operation.ADD:
        return f"{row['operation']}: the text that is kept has no links"
    if row.get("stands") in ("line", "sentence"):
        return _why_not_behind(row, text, placed)
    if not row["anchor_start"]:
        is_beside = row["placement"] == Placement.RELATED
        return "it goes into the list at the end" if is_beside else "the text lacks its words"
    start, end, sentence = int(row["anchor_start"]), int(row["anchor_end"]), row["sentence"]
    if not text:
        return "the text of the donor is not kept"
    around = text[max(start - len(sentence), 0) : end + len(sentence)]
    if text[start:end] != row["anchor_text"] or sentence not in around:
        return "the text has changed since"
    if any(start < other.end and other.start < end for other in placed):
        return "another link stands on these words"
    placed.append(Placed(start, end, row))
    return ""


def _why_not_behind(row: Row, text: str | None, placed: list[Placed]) -> str:
    """The same of a line of its own and of a new sentence: each is put behind its paragraph, as a line."""
    if not row["paragraph_start"]:
        return "no paragraph is known that it could follow"
    if not text:
        return "the text of the donor is not kept"
    start, end = int(row["paragraph_start"]), int(row["paragraph_end"])
    if text[start:end] != row["paragraph"] or text[end : end + 1] not in ("", "\n"):
        return "the text has changed since"
    placed.append(Placed(end, end, row))
    return ""


def _diff(path: str, before: str, after: str) -> Iterator[str]:
    old, new = ([f"{line}\n" for line in text.removesuffix("\n").split("\n")] for text in (before, after))
    return difflib.unified_diff(old, new, f"a/{path}", f"b/{path}")


def _path(url: str) -> str:
    """A path for the text of an address: its host and path, without what a file system or a patch would mind."""
    parts = urlsplit(url)
    path = re.sub(r"[^\w/.%~-]", "_", parts.netloc + parts.path + (f"_{parts.query}" if parts.query else ""))
    return "/".join(part.replace("..", "_") for part in path.split("/") if part)


def _line(text: str) -> str:
    return " ".join(text.split())
