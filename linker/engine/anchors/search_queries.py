"""Search queries as anchors: what people typed to find a page, without what leads to the site and not to the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from linker.engine.text.clean import clean, has_word
from linker.engine.text.fold import fold
from linker.engine.text.generic import is_generic
from linker.engine.text.sentences import find_phrase
from linker.engine.text.template import Template
from linker.engine.text.words import SITE_PLACES

_READ = 500  # characters of a query that are looked at: no anchor needs more
_OPERATOR = re.compile(
    r"(?:^|\s)-?(?:site|inurl|intitle|allinurl|allintitle|related|cache|link|filetype):", re.IGNORECASE
)
_ADDRESS = re.compile(
    r"(?:https?|www)\b.*|(?:[\w-]+\.)+(?:com|org|edu|gov|info|(?:co|ac|gov|org)\.[a-z]{2})(?:[/?#:]\S*)?", re.IGNORECASE
)
_SECOND_LEVEL = {"co", "com", "net", "org", "ac", "edu", "gov", "gob", "gouv", "or", "ne", "go"}  # example.co.uk
_QUOTES = "\"'“”„«»‘’`"
_PLACES = frozenset(SITE_PLACES.split())


@dataclass(frozen=True, slots=True)
class Query:
    """What people searched for and found a page by: `weight` is its share of all the page's queries, from 0 to 1;
    `impressions` how often the page was shown for it, None where that is not known."""

    text: str
    weight: float
    impressions: int | None = None


def usable_queries(
    queries: Iterable[Query],
    *,
    url: str,
    names: Iterable[str],
    language: str,
    template: Template,
    banned: Iterable[str] = (),
    max_length: int = 60,
) -> Iterator[tuple[str, Query]]:
    """The queries that may be an anchor for the page at `url`, each after its wording; heaviest first, ties by text.

    The wording is cleaned and otherwise as the searchers wrote it; a query that is part of one of `names`, the page's
    own H1 and title, is written as there. Left out: queries that are generic in the language, banned or longer than
    `max_length` (cut, they would be other queries), addresses and search operators, the site's name alone or with words
    such as "login" (the name is known from the site's titles and its host), and parts that several titles of the site
    share.
    """
    names, banned = tuple(names), tuple(banned)
    for query in sorted(queries, key=lambda query: (-query.weight, query.text)):
        text = clean(query.text[:_READ]).strip(_QUOTES + " ,;.-?!")
        if len(text) > max_length or not has_word(text) or is_generic(text, language, banned):
            continue
        if _OPERATOR.search(text) or _ADDRESS.fullmatch(text) or leads_to_the_site(text, url, template):
            continue
        if template.is_repeated(text) or fold(text) in template.series:
            continue
        yield _as_named(text, names), query


def leads_to_the_site(text: str, url: str, template: Template) -> bool:
    """Whether a query asks for the site and not for one of its pages: its name or the beginning of it, its host with
    or without the ending, or the name with words such as "login" and "contact"."""
    words = fold(text).split()
    names = _site_names(url, template)
    if "".join(words) in names:
        return True
    rest = [word for word in words if word not in _PLACES]
    return bool(rest) and len(rest) < len(words) and "".join(rest) in names


def _site_names(url: str, template: Template) -> set[str]:
    """The site's names, folded and without spaces, for people write them apart and together."""
    names = {"".join(name.split()) for name in template.site_names()}
    try:
        host = fold((urlsplit(url).hostname or "").removeprefix("www."))
    except ValueError:
        host = ""
    labels = host.split(".")
    if len(labels) > 1:
        name = labels[-3] if len(labels) > 2 and labels[-2] in _SECOND_LEVEL else labels[-2]
        names |= {host, "www." + host, "".join(labels).replace("-", ""), name, name.replace("-", "")}
    return names


def _as_named(text: str, names: Iterable[str]) -> str:
    for name in names:
        # A name in capitals throughout shouts; a single word of them is often right (RTSP).
        shouts = name.isupper() and " " in name
        span = None if shouts else find_phrase(name, text)
        if span is not None:
            return name[slice(*span)]
    return text
