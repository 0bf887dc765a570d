#!/usr/bin/env python3
"""Puts the links of a release into a folder of HTML files.

    apply_links.py RELEASE FOLDER [--dry-run] [--from-root] [--only PATTERN]

RELEASE is a release of Anchorline as CSV or as JSON lines (.jsonl), FOLDER holds the site: the page of
https://www.shop.example/tents/ is looked for as tents/index.html, tents.html and tents, with and without a folder of
the host's name above. A file without <html> or <body>, such as the text of a post, is a text from its beginning to its
end, and the comments around the blocks of WordPress stay whole. --from-root writes links within the site as paths
("/tents/"), --dry-run writes nothing.

It needs Python 3.10 and nothing else. No parser that one installs is used on purpose: those write a page anew, while
this script changes the few characters that a link needs and leaves every other byte of the file as it is.

A link is put on its words only where the page has them with the same words before and after, across elements such as
<b> and entities such as &amp;, and never inside a link, a heading, a button, code, a caption or a script, nor across
paragraphs. What is there already stays, so that a second run changes nothing. What cannot be done is said in a line
each on standard error; the exit code is 0 where all could be done, 1 where something could not, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import codecs
import csv
import html
import json
import re
import sys
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

csv.field_size_limit(2**31 - 1)

VOID = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
}  # fmt: skip
INLINE = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "dfn", "em", "font",
    "i", "img", "input", "ins", "kbd", "label", "mark", "q", "ruby", "s", "samp", "small", "span", "strike",
    "strong", "sub", "sup", "time", "tt", "u", "var", "wbr", "button", "svg",
}  # fmt: skip
# Elements within which no link may stand.
CLOSED = {
    "a", "h1", "h2", "h3", "h4", "h5", "h6", "button", "code", "pre", "samp", "kbd", "figcaption", "caption",
    "title", "label", "option", "select", "textarea", "summary", "nav", "legend",
}  # fmt: skip
# What a text is made of.
OF_TEXT = {"blockquote", "dl", "figure", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "table", "ul"}
UNREAD = {"script", "style", "template", "noscript", "textarea", "title", "svg", "math", "iframe", "head"}
ENDS_PARAGRAPH = {
    "address", "article", "aside", "blockquote", "details", "div", "dl", "fieldset", "figure", "footer", "form",
    "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "nav", "ol", "p", "pre", "section", "table",
    "ul",
}  # fmt: skip
ENDS_LIKE = {"li": {"li"}, "dt": {"dt", "dd"}, "dd": {"dt", "dd"}, "tr": {"tr", "td", "th"}, "td": {"td", "th"},
             "th": {"td", "th"}, "option": {"option"}}  # fmt: skip
SIGNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
LIST = "more-links"  # the class of the list at the end of a text
WHOLE = re.compile(r"<!doctype|<(?:html|head|body|title)\b", re.IGNORECASE)  # what a page has, and a text alone lacks
# What a paragraph may be a part of, below which a line of its own goes.
PARTED = {"ul", "ol", "dl", "table", "figure"}
# A block of WordPress begins and ends with a comment.
BLOCK, BLOCK_ENDS = "<!-- wp:", re.compile(r"\s*<!-- /wp:[\w/-]+ -->")
BLOCK_BEFORE = re.compile(r"\n{0,2}<!-- wp:(?:paragraph|html) -->\n\Z")
BLOCK_AFTER = re.compile(r"\n<!-- /wp:(?:paragraph|html) -->")


# ------------------------------------------------------------------------------------------------------- the release


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a release, by column; what is empty is ""."""
    if path.suffix in (".jsonl", ".ndjson"):
        with path.open(encoding="utf-8-sig") as lines:
            return [{name: _text(value) for name, value in json.loads(line).items()} for line in lines if line.strip()]
    with path.open(encoding="utf-8-sig", newline="") as lines:
        return [{name: _plain(cell or "") for name, cell in row.items()} for row in csv.DictReader(lines)]


def _text(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _plain(cell: str) -> str:
    """The cell without the apostrophe that keeps a spreadsheet from running it."""
    rest = cell[1:]
    is_escaped = cell[:1] == "'" and (rest[:1] in "\t\r\n" or _seen(rest).startswith(SIGNS))
    return rest if rest and is_escaped else cell


def _seen(text: str) -> str:
    return text.lstrip("".join(char for char in set(text) if char.isspace() or unicodedata.category(char)[0] == "C"))


# ------------------------------------------------------------------------------------------------------ a page's text


@dataclass
class Element:
    """`start`, `inner`, `stop`, `end`: where its first tag begins and ends, and its last one does, in the file."""

    name: str
    start: int
    inner: int
    attributes: dict[str, str]
    parent: Element | None
    stop: int = -1
    end: int = -1
    first: int = 0  # of its text
    last: int = -1

    def within(self, names: set[str]) -> str:
        """The nearest element of these names that it is in, itself included, or ""."""
        one: Element | None = self
        while one is not None:
            if one.name in names:
                return one.name
            one = one.parent
        return ""

    def above(self) -> list[Element]:
        """The elements that it is in, the nearest first."""
        found, one = [], self.parent
        while one is not None:
            found.append(one)
            one = one.parent
        return found

    def nearest(self, name: str) -> Element | None:
        one: Element | None = self
        while one is not None and one.name != name:
            one = one.parent
        return one


@dataclass
class Text:
    """The text of a page as Anchorline reads it: blanks are one, what has no width is left out, and each paragraph is a
    line. For each character: where it begins and ends in the file, and the element it is in."""

    chars: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    inside: list[Element] = field(default_factory=list)


class Reader(HTMLParser):
    """Reads a page: its text, and its elements in the order of the file."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=False)
        self.source, self.text = source, Text()
        self.elements: list[Element] = []
        self.lines = [0]
        self.lines += [found.end() for found in re.finditer("\n", source)]
        self.is_fragment = not WHOLE.search(source)
        # WordPress makes a paragraph of what blank lines part, and a line of each line of a text without any tag <p>.
        self.ends_line = ""
        if self.is_fragment:
            self.ends_line = r"\n\s*\n" if BLOCK in source or re.search(r"<p\b", source) else r"\n"
        root = Element("", 0, 0, {}, None)
        self.stack = [root]
        self.blank: tuple[int, int, Element] | None = None
        self.break_due = False
        self.feed(source)
        self.close()
        for element in [*self.stack[1:]]:
            self._end(element, len(source), len(source))
        self.shown = "".join(self.text.chars)

    def place(self) -> int:
        line, column = self.getpos()
        return self.lines[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        start = self.place()
        inner = start + len(self.get_starttag_text() or "")
        if tag in ENDS_PARAGRAPH and self.stack[-1].nearest("p"):
            self._close("p", start, start)
        self._end_like(tag, start)
        if tag not in INLINE or tag == "br":
            self._break()
        element = Element(tag, start, inner, {name: value or "" for name, value in attrs}, self.stack[-1])
        element.first = len(self.text.chars)
        self.elements.append(element)
        if tag in VOID:
            element.stop = element.end = inner
            element.last = element.first
        else:
            self.stack.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID and self.stack[-1].within({"svg", "math"}):
            self._close(tag, self.stack[-1].inner, self.stack[-1].inner)

    def handle_endtag(self, tag: str) -> None:
        start = self.place()
        stop = self.source.find(">", start)
        self._close(tag, start, len(self.source) if stop < 0 else stop + 1)
        if tag not in INLINE:
            self._break()

    def _end_like(self, tag: str, place: int) -> None:
        for element in reversed(self.stack):
            if element.name in ENDS_LIKE.get(tag, ()):
                self._close(element.name, place, place)
                return
            if element.name in ("ul", "ol", "dl", "table", "select"):
                return

    def _close(self, tag: str, stop: int, end: int) -> None:
        for depth in range(len(self.stack) - 1, 0, -1):
            if self.stack[depth].name == tag:
                for element in self.stack[depth + 1 :]:
                    self._end(element, stop, stop)
                self._end(self.stack[depth], stop, end)
                del self.stack[depth:]
                return

    def _end(self, element: Element, stop: int, end: int) -> None:
        element.stop, element.end, element.last = stop, end, len(self.text.chars)

    def handle_data(self, data: str) -> None:
        start = self.place()
        breaks = set()
        if self.ends_line and not self.stack[-1].within({"p", "pre"}):
            breaks = {found.start() for found in re.finditer(self.ends_line, data)}
        for number, char in enumerate(data):
            if number in breaks:
                self._break()
            self._add(char, start + number, start + number + 1)

    def handle_entityref(self, name: str) -> None:
        self._reference(f"&{name}")

    def handle_charref(self, name: str) -> None:
        self._reference(f"&#{name}")

    def _reference(self, written: str) -> None:
        start = self.place()
        end = start + len(written)
        if self.source[end : end + 1] == ";":
            end += 1
        for char in html.unescape(self.source[start:end]):
            self._add(char, start, end)

    def _add(self, char: str, start: int, end: int) -> None:
        element = self.stack[-1]
        if element.within(UNREAD):
            return
        if element.within({"pre"}) and char == "\n":
            self._break()
            return
        if char.isspace():
            self.blank = self.blank or (start, end, element)
            return
        if unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs") and char not in "\u200c\u200d":
            return
        chars = self.text.chars
        if self.break_due and chars:
            self._append("\n", start, start, element)
        elif self.blank and chars:
            self._append(" ", *self.blank)
        self.break_due, self.blank = False, None
        self._append(char, start, end, element)

    def _append(self, char: str, start: int, end: int, element: Element) -> None:
        self.text.chars.append(char)
        self.text.starts.append(start)
        self.text.ends.append(end)
        self.text.inside.append(element)

    def _break(self) -> None:
        self.break_due, self.blank = True, None

    def words_of(self, element: Element) -> str:
        return collapse(self.shown[element.first : element.last])


# A page of a crawl has its blanks collapsed; what is compared with it has, too.
def collapse(text: str) -> str:
    return " ".join(text.split())


def alike(text: str) -> str:
    """A text without what writers vary. As long as the text, so that places stay."""
    return "".join(_alike(char) for char in text)


def _alike(char: str) -> str:
    if char.isspace() and char != "\n":
        return " "
    lower = char.lower()
    return _TYPOGRAPHY.get(char, lower if len(lower) == 1 else char)


_TYPOGRAPHY = {"‘": "'", "’": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "–": "-", "—": "-",
               "‐": "-", "‑": "-"}  # fmt: skip


# ----------------------------------------------------------------------------------------------------------- addresses


def normal(url: str, base: str = "") -> str:
    """An address without what makes no other page of it."""
    parts = urlsplit(urljoin(base, url.strip()))
    path = unquote(parts.path).rstrip("/") or "/"
    for last in ("/index.html", "/index.htm"):
        path = path.removesuffix(last) or "/"
    host = (parts.hostname or "").removeprefix("www.")
    return f"{host}{f':{parts.port}' if parts.port else ''}{path}{f'?{parts.query}' if parts.query else ''}"


def file_of(folder: Path, url: str) -> Path | None:
    parts = urlsplit(url)
    path = unquote(parts.path).strip("/")
    if ".." in path.split("/"):
        return None
    hosts = (parts.netloc, (parts.hostname or ""), "")
    for above in (folder / host if host else folder for host in hosts):
        for name in (f"{path}/index.html", f"{path}.html", path, f"{path}/index.htm", f"{path}.htm"):
            file = above / name.lstrip("/")
            if file.is_file():
                return file
    return None


# ------------------------------------------------------------------------------------------------------------ changes


class CannotPlace(Exception):
    """Why a link cannot be put there, taken away or changed."""


@dataclass
class Page:
    """A page while links are put in it. Each change is made in the file's text and read again: a page has few."""

    url: str
    source: str
    from_root: bool = False

    def __post_init__(self) -> None:
        self.read = Reader(self.source)

    def apply(self, row: dict[str, str]) -> str:
        """Does what a row asks for: "done", or "there" where nothing was left to do. Raises CannotPlace."""
        operation = row.get("operation") or "add"
        if operation == "remove":
            return self.remove(row)
        if operation == "change":
            return self.change(row)
        return self.add(row)

    # ------------------------------------------------------------------------------------------------------------ add

    def add(self, row: dict[str, str]) -> str:
        stands = row.get("stands") or ("text" if row.get("placement") == "inline" else "list")
        if stands == "text" and row.get("anchor_start"):
            return self.put_on_words(row)
        if stands in ("line", "sentence"):
            return self.put_after_paragraph(row)
        if stands == "list":
            return self.put_in_list(row)
        raise CannotPlace("the text lacks its words, and nobody has written a sentence yet")

    def put_on_words(self, row: dict[str, str]) -> str:
        start, end = self.find_words(row)
        standing = self.read.text.inside[start].nearest("a")
        if standing is not None and self.leads_to(standing, row["acceptor_url"]):
            return "there"
        self.refuse_closed(start, end)
        first, last = self.balanced(start, end)
        link = self.open_tag(row)
        self.write([(first, first, link), (last, last, "</a>")])
        return "done"

    def find_words(self, row: dict[str, str]) -> tuple[int, int]:
        """Where the words of the row stand in the page's text: those with the same words before and after."""
        words, shown = row["anchor_text"], self.read.shown
        before, after = row.get("context_before", ""), row.get("context_after", "")
        if not (before or after) and row.get("sentence"):
            lead, tail = around_words(row["sentence"], words)
            before, after = lead.split("…")[-1], tail.split("…")[0]
        for same in (str, alike):
            text, around = same(shown), same(_inner(before) + words + _inner(after))
            offset = len(_inner(before))
            places = [place + offset for place in all_of(text, around)]
            if places:
                start = places[0] if len(places) == 1 else self.which(row, len(words), places)
                return start, start + len(words)
        if not all_of(alike(shown), alike(words)):
            raise CannotPlace("the page does not have these words")
        raise CannotPlace("the page has these words, but other words before and after them")

    def which(self, row: dict[str, str], size: int, places: list[int]) -> int:
        """Of several places that read the same, the one of the row's occurrence in the part of the page that has them
        all: in the text before it, the words stand one time less, and what overlaps counts once."""
        shown, inside = self.read.shown, self.read.text.inside
        part = next((name for name in ("article", "main") if all(inside[place].within({name}) for place in places)), "")
        found = []
        for place in places:
            every = all_of(shown[:place], shown[place : place + size])
            before = apart([one for one in every if not part or inside[one].within({part})], size)
            if str(len(before) + 1) == row.get("occurrence"):
                found.append(place)
        if len(found) == 1:
            return found[0]
        raise CannotPlace(f"{len(places)} places of the page read the same")

    def refuse_closed(self, start: int, end: int) -> None:
        if "\n" in self.read.shown[start:end]:
            raise CannotPlace("the words stand in two paragraphs")
        for place in range(start, end):
            if name := self.read.text.inside[place].within(CLOSED):
                said = "a link" if name == "a" else f"<{name}>"
                raise CannotPlace(f"the words stand in {said}")

    def balanced(self, start: int, end: int) -> tuple[int, int]:
        """Where the link begins and ends in the file, so that it holds elements as a whole or not at all."""
        text = self.read.text
        first, last = text.starts[start], text.ends[end - 1]
        for element in self.read.elements:
            if element.end < 0 or element.name in VOID or element.stop == element.end:
                continue
            begins_in, ends_in = first <= element.start < last, first < element.end <= last
            holds_start, holds_end = element.inner <= first < element.end, element.inner < last <= element.stop
            if holds_start and not holds_end:  # it ends within the words: fine where it begins with them
                if self.read.shown[element.first : start].strip():
                    raise CannotPlace(f"the words begin in <{element.name}> and end behind it")
                first = min(first, element.start)
            elif begins_in and not ends_in and not holds_start:
                if self.read.shown[end : element.last].strip():
                    raise CannotPlace(f"the words begin before <{element.name}> and end in it")
                last = max(last, element.end)
        return first, last

    def put_after_paragraph(self, row: dict[str, str]) -> str:
        """A line of its own, or a sentence, behind the paragraph that the row names."""
        block, paragraph = row.get("html", ""), row.get("paragraph", "")
        if not block:
            raise CannotPlace("the release has no HTML for it")
        said = collapse(Reader(block).shown)
        if self.lines_that_say(said):
            return "there"
        if not paragraph:
            raise CannotPlace("the release names no paragraph")
        element, place = self.paragraph(paragraph)
        if element.parent is None:  # a text without tags
            return self.put_after_line(row, place)
        inside = row.get("stands") == "sentence" and element.name in ("p", "li", "dd", "td", "blockquote", "div")
        link = self.with_addresses(block, row)
        if inside:
            if said and f" {said}" in f" {self.read.words_of(element)}":
                return "there"
            self.write([(element.stop, element.stop, f" {_inner_html(link)}")])
        else:
            self.write([self.behind(element, link)])
        return "done"

    def behind(self, element: Element, line: str) -> tuple[int, int, str]:
        """The change that sets a line behind a paragraph; as a block where it ends one."""
        if self.read.is_fragment:
            while (above := next((one for one in element.above() if one.name in PARTED), None)) is not None:
                element = above
            if ends := BLOCK_ENDS.match(self.source, element.end):
                block = f"\n\n<!-- wp:paragraph -->\n{line}\n<!-- /wp:paragraph -->"
                return ends.end(), ends.end(), block
        return element.end, element.end, f"\n{line}"

    def put_after_line(self, row: dict[str, str], place: int) -> str:
        """The same where blank lines part the paragraphs; `place`: behind the last character of the paragraph's."""
        end = self.source.find("\n", place)
        end = place + len(self.source[place : end if end >= 0 else None].rstrip())
        block = self.with_addresses(row["html"], row)
        if row.get("stands") == "sentence":
            if f" {collapse(Reader(block).shown)}" in f" {collapse(self.read.shown)}":
                return "there"
            self.write([(end, end, f" {_inner_html(block)}")])
        else:
            self.write([(end, end, f"\n\n{block}")])
        return "done"

    def lines_that_say(self, said: str) -> list[Element]:
        return [one for one in self.read.elements if one.name in ("p", "li") and self.read.words_of(one) == said]

    def paragraph(self, words: str) -> tuple[Element, int]:
        """The block that holds a paragraph's words, and where in the file these end."""
        text, wanted = self.read.shown, collapse(words)
        for same in (str, alike):
            places = [place for place in all_of(same(text), same(wanted)) if self.is_line(place, place + len(wanted))]
            if len(places) > 1:
                inside = self.read.text.inside
                places = [place for place in places if inside[place].within({"article", "main"})] or places
            if places:
                element: Element | None = self.read.text.inside[places[0]]
                while element is not None and element.name in INLINE:
                    element = element.parent
                is_text = element is not None and element.parent is None and self.read.is_fragment
                if element is None or element.within(CLOSED - {"a"}) or (element.stop < 0 and not is_text):
                    raise CannotPlace("the paragraph stands where no link may stand")
                return element, self.read.text.ends[places[0] + len(wanted) - 1]
        raise CannotPlace("the page does not have the paragraph")

    def is_line(self, start: int, end: int) -> bool:
        text = self.read.shown
        return (start == 0 or text[start - 1] == "\n") and (end == len(text) or text[end] in "\n ")

    def put_in_list(self, row: dict[str, str]) -> str:
        """An item of the list at the end of the text; the list is made where there is none."""
        words = row["anchor_text"]
        lists = [one for one in self.read.elements if LIST in one.attributes.get("class", "").split()]
        item = f"<li>{self.open_tag(row)}{html.escape(words, quote=False)}</a></li>"
        if lists:
            if any(self.leads_to(link, row["acceptor_url"]) for link in self.links() if link.nearest("ul") is lists[0]):
                return "there"
            self.write([(lists[0].stop, lists[0].stop, f"{item}\n")])
            return "done"
        made = f'<ul class="{LIST}">\n{item}\n</ul>'
        if self.read.is_fragment and not self.marks_text():
            place = len(self.source.rstrip())
            block = f"\n\n<!-- wp:html -->\n{made}\n<!-- /wp:html -->" if BLOCK in self.source else f"\n{made}"
            self.write([(place, place, block)])
            return "done"
        place = self.end_of_text()
        self.write([(place, place, f"{made}\n")])
        return "done"

    def marks_text(self) -> bool:
        """Whether an element around the whole of a text alone says that it is one."""
        whole = self.source.strip().lower()
        return any(whole.startswith(f"<{name}") and whole.endswith(f"</{name}>") for name in ("article", "main"))

    def end_of_text(self) -> int:
        """Where in the file the text of the page ends: that of <article> or <main>; on a page with neither, behind the
        last block beside most of its paragraphs, which leaves out what a theme sets below."""
        parts = [one for name in ("article", "main") for one in self.read.elements if one.name == name]
        if parts:
            return parts[0].stop
        size: Counter[int] = Counter()
        for one in self.read.elements:
            if one.name == "p" and not one.within({"nav", "aside", "footer", "header", "form"}):
                size[id(one.parent)] += one.last - one.first
        fullest = max(size, key=lambda parent: size[parent], default=None)
        blocks = [one for one in self.read.elements if id(one.parent) == fullest and one.name in OF_TEXT]
        if blocks:
            return blocks[-1].end
        parts = [one for one in self.read.elements if one.name in ("body", "footer")]
        if not parts:
            raise CannotPlace("the page has no <article>, <main> or <body>")
        return parts[-1].start if parts[-1].name == "footer" else parts[-1].stop  # below a footer nobody reads

    # -------------------------------------------------------------------------------------------------- remove, change

    def remove(self, row: dict[str, str]) -> str:
        words = {alike(collapse(row[name])) for name in ("anchor_text", "previous_anchor") if row.get(name)}
        found = self.links_of(row, words)
        if not found:
            return "there"
        self.take_away(self.the_one(row, found), row)
        return "done"

    def take_away(self, link: Element, row: dict[str, str]) -> None:
        """The link, and with it the line or item that it was put into; its words stay where the text had them."""
        block = link.nearest("li") or link.nearest("p")
        line = Reader(row["html"]) if row.get("html") else None
        own = self.read.words_of(block) if block is not None else ""
        listed = link.nearest("ul")
        if block is not None and listed is not None and LIST in listed.attributes.get("class", "").split():
            only = sum(one.name == "li" and one.nearest("ul") is listed for one in self.read.elements) == 1
            gone = listed if only else block
            self.write([(*self.with_block(gone.start, self.line_end(gone.end)), "")])
        elif block is not None and row.get("stands") == "line" and line is not None and own == collapse(line.shown):
            before = block.start - 1 if self.source[block.start - 1 : block.start] == "\n" else block.start
            self.write([(*self.with_block(before, block.end), "")])
        else:
            self.write([(link.start, link.inner, ""), (link.stop, link.end, "")])

    def with_block(self, start: int, end: int) -> tuple[int, int]:
        """What was set into a text alone, with the comments of its block and the empty line before it."""
        if not self.read.is_fragment:
            return start, end
        inner = start + (self.source[start] == "\n"), end - (self.source[end - 1] == "\n")
        before, after = BLOCK_BEFORE.search(self.source[: inner[0]]), BLOCK_AFTER.match(self.source, inner[1])
        if before and after:
            return before.start(), after.end()
        is_list = self.source[inner[0] :].startswith("<ul")
        newlines = re.search(r"\n{0,2}\Z" if not is_list else r"\n?\Z", self.source[: inner[0]])
        return (newlines.start() if newlines else inner[0]), inner[1]

    def line_end(self, place: int) -> int:
        return place + 1 if self.source[place : place + 1] == "\n" else place

    def change(self, row: dict[str, str]) -> str:
        new = alike(collapse(row["anchor_text"]))
        old = alike(collapse(row.get("previous_anchor") or row["anchor_text"]))
        found = self.links_of(row, {old}) or self.links_of(row, {new})
        if not found:
            raise CannotPlace("the page does not have the link that is to be changed")
        link = self.the_one(row, found)
        if alike(self.read.words_of(link)) != new and row.get("stands", "text") != "text":
            self.write([(link.inner, link.stop, html.escape(row["anchor_text"], quote=False))])
            return self.change({**row, "previous_anchor": ""}) and "done"
        if alike(self.read.words_of(link)) != new:
            self.write([(link.start, link.inner, ""), (link.stop, link.end, "")])
            return self.put_on_words(row)
        if self.leads_to(link, row["acceptor_url"]) and rel_of(link) == wanted_rel(row, link):
            return "there"
        self.write([(link.start, link.inner, self.changed_tag(row, link))])
        return "done"

    def links(self) -> list[Element]:
        return [one for one in self.read.elements if one.name == "a" and one.attributes.get("href") and one.stop >= 0]

    def links_of(self, row: dict[str, str], words: set[str]) -> list[Element]:
        targets = {row["acceptor_url"], row.get("previous_acceptor_url") or row["acceptor_url"]}
        found = [link for link in self.links() if any(self.leads_to(link, target) for target in targets)]
        return [link for link in found if alike(self.read.words_of(link)) in words]

    def the_one(self, row: dict[str, str], found: list[Element]) -> Element:
        """Of several links that say the same, the one in the row's place, else the one in the text."""
        if len(found) == 1:
            return found[0]
        try:
            start, _ = self.find_words(row)
        except CannotPlace:
            start = -1
        there = [link for link in found if link.first <= start < link.last]
        if there:
            return there[0]
        inside = [link for link in found if link.within({"article", "main", "p"}) and not link.within({"nav", "aside"})]
        if len(inside) == 1:
            return inside[0]
        raise CannotPlace(f"{len(found)} links of the page say the same")

    # ----------------------------------------------------------------------------------------------------------- words

    def leads_to(self, link: Element, url: str) -> bool:
        return normal(link.attributes.get("href", ""), self.url) == normal(url)

    def address(self, url: str) -> str:
        own, other = urlsplit(self.url), urlsplit(url)
        if not self.from_root or own.netloc != other.netloc:
            return url
        return other._replace(scheme="", netloc="").geturl() or "/"

    def open_tag(self, row: dict[str, str]) -> str:
        rel = row.get("rel", "follow")
        said = "" if rel in ("", "follow") else f' rel="{html.escape(rel)}"'
        return f'<a href="{html.escape(self.address(row["acceptor_url"]))}"{said}>'

    def with_addresses(self, block: str, row: dict[str, str]) -> str:
        url = row["acceptor_url"]
        return block.replace(f'href="{html.escape(url)}"', f'href="{html.escape(self.address(url))}"')

    def changed_tag(self, row: dict[str, str], link: Element) -> str:
        attributes = dict(link.attributes)
        if not self.leads_to(link, row["acceptor_url"]):
            attributes["href"] = self.address(row["acceptor_url"])
        rel = wanted_rel(row, link)
        attributes.pop("rel", None)
        if rel:
            attributes["rel"] = " ".join(rel)
        written = [f'{name}="{html.escape(value)}"' for name, value in attributes.items()]
        return f"<a {' '.join(written)}>"

    def write(self, changes: list[tuple[int, int, str]]) -> None:
        for start, end, text in sorted(changes, reverse=True):
            self.source = self.source[:start] + text + self.source[end:]
        self.read = Reader(self.source)


def rel_of(link: Element) -> list[str]:
    return link.attributes.get("rel", "").split()


def wanted_rel(row: dict[str, str], link: Element) -> list[str]:
    """The link's rel with what the row asks for in place of nofollow, ugc and sponsored."""
    kept = [one for one in rel_of(link) if one.lower() not in ("nofollow", "ugc", "sponsored")]
    return kept if row.get("rel", "follow") in ("", "follow") else [*kept, row["rel"]]


def all_of(text: str, words: str) -> list[int]:
    found, place = [], text.find(words)
    while place >= 0:
        found.append(place)
        place = text.find(words, place + 1)
    return found


def apart(places: list[int], size: int) -> list[int]:
    """The places without those that begin within the words of the one before."""
    found: list[int] = []
    for place in places:
        if not found or place >= found[-1] + size:
            found.append(place)
    return found


def around_words(sentence: str, words: str) -> tuple[str, str]:
    """What stands before and after the words, where they stand as words of their own before where they are a part of a
    longer one."""
    places = all_of(sentence, words)
    own = [place for place in places if is_apart(sentence, place) and is_apart(sentence, place + len(words))]
    place = (own or places or [len(sentence)])[0]
    return sentence[:place], sentence[place + len(words) :]


def is_apart(text: str, place: int) -> bool:
    return not (text[:place][-1:].isalnum() and text[place : place + 1].isalnum())


def _inner(context: str) -> str:
    """A context as the page's text has it: blanks are one, and those at its ends stay."""
    lead, tail = " " * context[:1].isspace(), " " * context[-1:].isspace()
    return f"{lead}{collapse(context)}{tail}" if context.strip() else context[:1]


def _inner_html(block: str) -> str:
    """A sentence without the paragraph around it."""
    found = re.fullmatch(r"\s*<p\b[^>]*>(.*)</p>\s*", block, re.DOTALL)
    return found[1] if found else block


# ---------------------------------------------------------------------------------------------------- the command line


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dry-run", action="store_true", help="write nothing, say what would be done")
    parser.add_argument("--from-root", action="store_true", help="write links within the site as paths")
    parser.add_argument("--only", default="", metavar="PATTERN", help="pages whose address matches")
    options = parser.parse_args(arguments)
    if not options.release.is_file() or not options.folder.is_dir():
        parser.error("RELEASE is a file, and FOLDER the folder of the site")
    rows = [row for row in rows_of(options.release) if re.search(options.only, row.get("donor_url", ""))]
    counts = apply(rows, options.folder, dry_run=options.dry_run, from_root=options.from_root)
    would = "would be " if options.dry_run else ""
    print(
        f"{counts['done']} {would}done, {counts['there']} there already, {counts['failed']} not possible; "
        f"{counts['files']} files {would}changed"
    )
    return 1 if counts["failed"] else 0


def apply(rows: list[dict[str, str]], folder: Path, *, dry_run: bool, from_root: bool = False) -> Counter[str]:
    counts: Counter[str] = Counter(done=0, there=0, failed=0, files=0)
    # Removals first: what comes in place of a link finds its words free.
    order = {"remove": 0, "change": 1}
    rows = sorted(rows, key=lambda row: (row["donor_url"], order.get(row.get("operation", ""), 2)))
    for url, own in groupby(rows, key=lambda row: row["donor_url"]):
        donor = list(own)
        file = file_of(folder, url) or file_of(folder, donor[0].get("previous_donor_url") or url)
        if file is None:
            for row in donor:
                refuse(row, "no file of the folder is this page", counts)
            continue
        before = file.read_bytes()
        encoding = encoding_of(before)
        page = Page(url, before.decode(encoding, "surrogateescape"), from_root)
        was = page.source
        for row in donor:
            try:
                counts[page.apply(row)] += 1
            except CannotPlace as reason:
                refuse(row, str(reason), counts)
        if page.source != was:
            counts["files"] += 1
            if not dry_run:
                file.write_bytes(page.source.encode(encoding, "surrogateescape"))
    return counts


def encoding_of(page: bytes) -> str:
    if page.startswith(b"\xef\xbb\xbf"):
        return "utf-8"
    found = re.search(rb"<meta[^>]+charset=[\"']?([\w-]+)", page[:2048], re.IGNORECASE)
    named = found[1].decode() if found else "utf-8"
    try:
        codecs.lookup(named)
    except LookupError:
        return "utf-8"
    return named


def refuse(row: dict[str, str], reason: str, counts: Counter[str]) -> None:
    counts["failed"] += 1
    said = f"{row.get('operation') or 'add'} “{row.get('anchor_text', '')}”"
    print(f"{row['donor_url']} -> {row['acceptor_url']}: {said}: {reason}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
