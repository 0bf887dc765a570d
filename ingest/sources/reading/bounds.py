"""Bounds for a page before it is parsed: parsers take the square of a page's size where its elements are nested
without end, where an element has attributes without end, or where formatting is opened again in each paragraph.

A page that keeps within them, as nearly all do, comes back as it is. Browsers have such bounds as well: Chrome nests no
deeper than 512.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

MAX_CHARACTERS = 8_000_000
MAX_DEPTH = 400
MAX_FORMATTING = 24  # elements such as b and font that are open at a time
MAX_TAG = 4096  # characters of a tag that may have any attributes
MAX_ATTRIBUTES = 200
MANY_VALUES = 8_000  # signs of equality on a page that need not be looked at one by one
SMALL = 32_768  # characters: a page so short cannot take long, but for its formatting

_FORMATTING_NAMES = "b big code em font i nobr s small strike strong tt u"
_VOID_NAMES = "area base br col embed hr img input keygen link meta param source track wbr"
# Elements that the next of their kind closes: they nest only where another element is between them.
_CLOSED_BY_NEXT = "a colgroup dd dt li optgroup option p rp rt tbody td tfoot th thead tr"
_SCOPE_NAMES = "applet caption html marquee object table template svg math"
_FORMATTING = frozenset(_FORMATTING_NAMES.split())
_FLAT = frozenset((*_VOID_NAMES.split(), *_CLOSED_BY_NEXT.split()))
_ENDS_OF_FLAT = frozenset("/" + name for name in _FLAT)
_SCOPES = frozenset(_SCOPE_NAMES.split())
_RAW = "script|style|textarea|title|xmp|iframe|noembed|noframes|plaintext"
_NAME = re.compile(r"<(/?[a-z][a-z0-9]*)")
# A start tag by the standard's tokenizer: names, and values with or without quotes. The end of the page ends all.
_VALUE = r"""(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>"'][^\s>]*+)?+"""
_ATTRIBUTE = re.compile(rf"[^\s/>][^\s/>=]*+(?:\s*+=\s*+{_VALUE})?+")
_TOKEN = re.compile(
    rf"<!--.*?(?:-->|\Z)|<(?P<raw>{_RAW})\b[^>]*+(?:>|\Z).*?(?:(?=</(?P=raw)\b)|\Z)"
    rf"|<(?P<open>[a-zA-Z][^\s/>]*+)(?P<attributes>(?:[\s/]++|[^\s/>][^\s/>=]*+(?:\s*+=\s*+{_VALUE})?+)*+)(?:>|\Z)"
    r"|</(?P<close>[a-zA-Z][^\s/>]*+)[^>]*+(?:>|\Z)",
    re.IGNORECASE | re.DOTALL,
)


def bounded(html: str) -> str:
    """The page within the bounds; tags beyond them are left out, the text stays."""
    html = html[:MAX_CHARACTERS]
    tags = _NAME.findall(html.lower())
    if html.count("=") <= MANY_VALUES and not _has_long_tag(html) and not _may_be_too_much(tags, len(html)):
        return html
    return _Bounds().cut(html)


def _may_be_too_much(tags: list[str], size: int) -> bool:
    counts = Counter(tags)
    open_formatting = sum(max(0, counts[name] - counts["/" + name]) for name in _FORMATTING)
    if open_formatting > MAX_FORMATTING:
        return True
    nesting = sum(count for name, count in counts.items() if name[0] != "/" and name not in _FLAT)
    if size < SMALL or nesting <= MAX_DEPTH:
        return False
    simulated = _Bounds()
    for name in tags:
        if name in _FLAT or name in _ENDS_OF_FLAT:
            continue
        if name[0] == "/":
            simulated.close(name[1:])
        elif not simulated.may_open(name):
            return True
    return False


def _has_long_tag(html: str) -> bool:
    at, size = 0, len(html)
    if size < MAX_TAG:
        return False
    while at < size:  # a long tag has no other's end within as many characters
        following = html.find(">", at)
        if following < 0:
            return size - at > MAX_TAG
        if following - at > MAX_TAG and "<" in html[at:following]:
            return True
        at = following + 1
    return False


class _Bounds:
    """Which elements are open, by the standard's rules of scope."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.formatting: Counter[str] = Counter()

    def may_open(self, name: str) -> bool:
        if name in _FORMATTING:
            if self.formatting.total() >= MAX_FORMATTING:
                return False
            self.formatting[name] += 1
        if name in _FLAT:
            return True
        if len(self.open) >= MAX_DEPTH:
            return False
        self.open.append(name)
        return True

    def close(self, name: str) -> None:
        if self.formatting[name] > 0:
            self.formatting[name] -= 1
        for place in range(len(self.open) - 1, -1, -1):
            if self.open[place] == name:
                del self.open[place:]
                return
            if self.open[place] in _SCOPES and name not in _SCOPES:
                return

    def cut(self, html: str) -> str:
        return _TOKEN.sub(self._kept, html)

    def _kept(self, token: re.Match[str]) -> str:
        name = token["open"]
        if token["raw"] is not None:
            tag_end = token[0].find(">")
            return token[0] if tag_end <= MAX_TAG else f"<{token['raw']}{token[0][tag_end:]}"
        if name is None:
            if token["close"] is not None:
                self.close(token["close"].lower())
            return token[0]
        if not self.may_open(name.lower()):
            return " "
        if len(token[0]) <= MAX_TAG:
            return token[0]
        attributes = [found[0] for found in islice(_ATTRIBUTE.finditer(token["attributes"]), MAX_ATTRIBUTES)]
        return f"<{' '.join([name, *attributes])}>"
