"""HTML to the text a reader sees. Pure."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME = re.compile(r"/?([A-Za-z][A-Za-z0-9]*)")
_TAG = re.compile(r"</?(?:p|div|br|ul|ol|li|span|h[1-6]|table|strong|b|em|a)\b[^<>]*>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_UNSEEN = frozenset({"script", "style", "template", "noscript", "svg", "iframe"})
_INLINE = frozenset(
    {"a", "abbr", "b", "bdi", "cite", "code", "em", "font", "i", "img", "kbd", "mark", "q", "s", "small", "span"}
    | {"strong", "sub", "sup", "time", "u", "var", "wbr"}
)


def is_markup(cells: Sequence[str]) -> bool:
    """Whether most of some cells hold HTML."""
    return bool(cells) and sum(_TAG.search(cell) is not None for cell in cells) * 2 > len(cells)


def text_of(markup: str) -> str:
    """The text of a piece of HTML: a paragraph a line, without scripts, styles and comments. Takes linear time."""
    if "<" not in markup:
        return _tidy(html.unescape(markup))
    parts: list[str] = []
    at, size = 0, len(markup)
    while at < size:
        start = markup.find("<", at)
        if start < 0:
            break
        parts.append(markup[at:start])
        if markup.startswith("<!--", start):
            at = _after(markup, "-->", start + 4)
            continue
        name = _NAME.match(markup, start + 1)
        if name is None and not markup.startswith(("!", "?"), start + 1):
            parts.append("<")  # a sign, as in 3 < 4
            at = start + 1
            continue
        at = _after(markup, ">", start + 1)
        tag = name[1].lower() if name is not None else ""
        if tag in _UNSEEN and markup[start + 1] != "/" and not markup.endswith("/>", start, at):
            closing = re.compile(rf"</{tag}\b", re.IGNORECASE).search(markup, at)
            at = _after(markup, ">", closing.end()) if closing is not None else size
        if tag not in _INLINE:
            parts.append("\n")
    parts.append(markup[at:])
    return _tidy(html.unescape("".join(parts)))


def without_entities(text: str) -> str:
    """Plain text with its entities decoded (`R&amp;D`, `&nbsp;`), as some sites and exports leave them.

    A text with `&lt;` or `&gt;` speaks of markup, and means what it says.
    """
    if "&" not in text or "&lt;" in text or "&gt;" in text:
        return text
    return _ENTITY.sub(lambda found: html.unescape(found[0]), text)


def _after(text: str, end: str, start: int) -> int:
    """The place behind the next `end`; the text's own end where there is none, so that nothing is looked at twice."""
    found = text.find(end, start)
    return len(text) if found < 0 else found + len(end)


def _tidy(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)
