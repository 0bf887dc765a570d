"""Names of pages: their parts, their short forms, and the words in them that carry a topic."""

from __future__ import annotations

import re
from collections.abc import Iterable

from linker.engine.text.clean import clean, collapse
from linker.engine.text.fold import fold
from linker.engine.text.generic import bare

_PARTS = re.compile(r"\s?[|¦｜•★—]+\s?|\s(?:-|–|~|»|::?)\s|[:：]\s")
_SITE_NAME = re.compile(r"\s+[|·•:–—-]+\s")  # what parts the name of a page from that of its site
_PARENTHESIS = re.compile(r"(?:(?:^|\s)[(\[（][^()\[\]（）]*[)\]）]|\(\))(?!\w)")


def page_name(title: str, h1: str) -> str:
    """What a reader would call a page: its title as a browser shows it, without the site's name behind the heading;
    without a title nothing."""
    name, heading = clean(title), clean(h1)
    is_heading = heading and name.startswith(heading) and _SITE_NAME.match(name.removeprefix(heading))
    return heading if is_heading else name


def says_only_in_names(text: str, phrase: str, names: Iterable[str]) -> bool:
    """Whether a text says a phrase, and only where it says one of the names, in any case of the letters."""
    words = re.compile(rf"(?<!\w){re.escape(phrase.casefold())}(?!\w)")
    own = sorted({name.casefold() for name in names if words.search(name.casefold())}, key=len, reverse=True)
    if not own:
        return False
    said = text.casefold()
    rest = re.sub("|".join(re.escape(name) for name in own), "\n", said)
    return bool(words.search(said)) and not words.search(rest)


def name_parts(text: str) -> list[str]:
    """The parts of a name between separators ("|", " - ", ": "), in order."""
    return _PARTS.split(text)


def short_forms(text: str, stops: frozenset[str]) -> list[str]:
    """`text` without its parentheses, and its parts between separators, those of more words first.

    Left out: a part that continues the one before ("For Men"), and a part of one word but for the first ("RTSP").
    """
    plain = collapse(_PARENTHESIS.sub("", text))
    first, *others = [part.strip(" ,;-–") for part in name_parts(plain)]
    parts = [part for part in others if len(content_words([part], stops)) > 1 and fold(part).split()[0] not in stops]
    if " " not in first or len(content_words([first], stops)) > 1:
        parts.insert(0, first)
    return [plain, *sorted(parts, key=lambda part: -len(part.split()))]


def content_words(texts: Iterable[str], stops: frozenset[str]) -> set[str]:
    """Folded words that carry a topic: no function words, no numbers, none of one or two characters."""
    words = {word for text in texts for word in bare(text).split()}
    return {word for word in words if len(word) > 2 and word not in stops and not word.isdecimal()}
