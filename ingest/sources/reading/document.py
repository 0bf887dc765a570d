"""A page as lists of its nodes, in the order of the page: what is looked at several times is walked once.

Parsed by Lexbor as browsers do, which copes with every page; how deep and how wide a page may be is bounded first, in
`bounds`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ingest.sources.reading.bounds import bounded

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_NODES = 400_000
TEXT = ""  # the name of a text node
_TEXT_TAG = 2  # Lexbor's number of a text node
_NAMES: dict[int, str] = {_TEXT_TAG: TEXT}  # Lexbor's numbers of the elements of HTML are always the same
_MAX_KNOWN = 512  # those above are given for a document alone
_NO_ATTRIBUTES: dict[str, str] = {}


@dataclass(slots=True)
class Document:
    """The nodes of a page, one place in each list: elements, and text nodes under the name TEXT.

    `parents` and `ends` are places: the nodes of an element are those from its own place to its end, which is not
    included. The root is its own parent. `texts` holds the text of text nodes, and nothing for elements.
    """

    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    attributes: list[dict[str, str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.names)

    def text_below(self, place: int) -> str:
        """The text of an element, blanks collapsed."""
        return " ".join("".join(self.texts[place : self.ends[place]]).split())

    def ancestors(self, place: int) -> Iterator[int]:
        """The places of an element's ancestors, the nearest first."""
        while place:
            place = self.parents[place]
            yield place


def parse(html: str) -> LexborHTMLParser:
    """A page as a tree. NUL and halves of surrogate pairs, which no text may have, are left out or replaced."""
    return LexborHTMLParser(bounded(html).replace("\0", "").encode("utf-8", "replace"))


def flatten(tree: LexborHTMLParser) -> Document:
    """The nodes of a tree, as many as MAX_NODES."""
    document = Document()
    names, parents, ends = document.names, document.parents, document.ends
    attributes, texts = document.attributes, document.texts
    node: LexborNode | None = tree.root
    above: list[tuple[LexborNode, int]] = []
    parent = 0
    while node is not None and len(names) < MAX_NODES:
        place = len(names)
        number = node.tag_id
        child = None
        if number == _TEXT_TAG:
            names.append(TEXT)
            texts.append(node.text_content or "")
            attributes.append(_NO_ATTRIBUTES)
        else:
            names.append(_NAMES.get(number) or _name(node, number))
            texts.append("")
            attributes.append(_attributes(node))
            child = node.first_child
        parents.append(parent)
        ends.append(place + 1)
        if child is not None:
            above.append((node, place))
            node, parent = child, place
            continue
        follower = node.next
        while follower is None and above:
            node, place = above.pop()
            ends[place] = len(names)
            parent = parents[place]
            follower = node.next
        node = follower
    for _, place in above:
        ends[place] = len(names)
    _leave_out_signs(document)
    return document


def _leave_out_signs(document: Document) -> None:
    """Takes the text of links within the page that have no letter or digit: the sign after a heading that links to it,
    such as the pilcrow of manuals, the arrow back from a note. It belongs to no heading and no sentence."""
    texts, ends = document.texts, document.ends
    for place, name in enumerate(document.names):
        if name == "a" and (document.attributes[place].get("href") or "").startswith("#"):
            inner = range(place, ends[place])
            if not any(sign.isalnum() for at in inner for sign in texts[at]):
                for at in inner:
                    texts[at] = ""


def _name(node: LexborNode, number: int) -> str:
    name = node.tag or "-"
    if number < _MAX_KNOWN:
        _NAMES[number] = name
    return name


def _attributes(node: LexborNode) -> dict[str, str]:
    found = node.attributes
    return found if found else _NO_ATTRIBUTES  # type: ignore[return-value]
