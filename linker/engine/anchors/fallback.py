"""What a link may say where nothing else says what the page is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from linker.engine.anchors.address_words import segment_words, split_address
from linker.engine.anchors.own_texts import READ, OwnText, TargetText
from linker.engine.anchors.shorten import shorten
from linker.engine.text.clean import clean, has_word, visible
from linker.engine.text.generic import bare, is_address

_WWW = re.compile(r"^(?:www\.)+", re.IGNORECASE)


def fallback_anchor(target: TargetText, max_length: int, banned: Iterable[str]) -> OwnText:
    """The title as it is, else the H1, else the last segment of the path, else the host; never an address.

    What is banned is only taken where nothing else is left. Raises ValueError if the target has no address.
    """
    address = visible(target.url[:READ])
    if not clean(address):
        raise ValueError("a target without an address has no anchor")
    unwanted = {bare(clean(phrase)) for phrase in banned}
    usable = []
    for source, raw in _plain_texts(target, address):
        text = shorten(clean(raw), max_length)
        if has_word(text) and not is_address(text):
            usable.append(OwnText(text, source, visible(raw)))
    wanted = (candidate for candidate in usable if bare(candidate.text) not in unwanted)
    return next(wanted, usable[0] if usable else OwnText(shorten(clean(address), max_length), "url", address))


def _plain_texts(target: TargetText, address: str) -> Iterator[tuple[str, str]]:
    """Title, H1, the path's segments from the last on, the host, and the address without its punctuation."""
    yield "title", target.title[:READ]
    yield "h1", target.h1[:READ]
    host, path = split_address(address)
    for segment in reversed(path.split("/")):
        yield "url", segment_words(segment) or unquote(segment)
    yield "url", _WWW.sub("", host.rpartition("@")[2])
    yield "url", " ".join(re.findall(r"\w+", address))
