"""The phrases a site's pages are known by: their names, and the anchors of the links to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linker.engine.address_tree import segments
from linker.engine.arrays.disk import DiskTexts
from linker.engine.text.clean import clean, has_word
from linker.engine.text.fold import fold
from linker.engine.text.generic import primary_language, stop_words
from linker.engine.text.mentions import PhraseBook
from linker.engine.text.names import short_forms
from linker.engine.text.written_forms import written_forms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from linker.engine.site import Site
    from linker.engine.text.template import Template
    from linker.engine.text.tokens import Vocabulary

TITLE, H1, SHORT, SLUG = 1, 2, 4, 8  # where a name of a page comes from; bits


@dataclass(frozen=True)
class Names:
    """Names of pages as phrases, one row per (phrase, page), ascending; arrays [m].

    `phrase` int32; `page` int64; `bits` int32: TITLE, H1, SHORT (a short form of these) and SLUG, added up.
    """

    phrase: NDArray[np.int32]
    page: NDArray[np.int64]
    bits: NDArray[np.int32]


@dataclass(frozen=True)
class SitePhrases:
    """`book` finds the phrases in texts; `text` [phrases]: one wording of each; `anchor_phrase` int32 [links]: the
    phrase of each link's anchor, -1 for an anchor that cannot be one; `names`: the names of the targets."""

    book: PhraseBook
    text: Sequence[str]
    anchor_phrase: NDArray[np.int32]
    names: Names


class _Name(NamedTuple):
    text: str
    language: str
    page: int
    bit: int


def read_phrases(site: Site, vocabulary: Vocabulary, template: Template) -> SitePhrases:
    """The names of a site's targets and the anchors of its links; `template`: what the site's titles share.

    An anchor that leads to pages in several languages is read in that of the first of them.
    """
    names = list(_names(site, template))
    anchor_language: dict[str, str] = {}
    for target, anchor in zip(site.links.dst.tolist(), site.links.anchors, strict=True):
        anchor_language.setdefault(anchor, site.languages[target])
    texts = [*(name.text for name in names), *anchor_language]
    book = PhraseBook(vocabulary, texts, [*(name.language for name in names), *anchor_language.values()])
    number = {anchor: len(names) + place for place, anchor in enumerate(anchor_language)}
    of_anchor = np.array([number[anchor] for anchor in site.links.anchors], dtype=np.int64)
    return SitePhrases(
        book=book,
        text=DiskTexts(texts[first] for first in book.first.tolist()),
        anchor_phrase=book.phrase_of[of_anchor] if len(of_anchor) else np.empty(0, np.int32),
        names=_name_rows(book.phrase_of[: len(names)], names),
    )


def _names(site: Site, template: Template) -> Iterator[_Name]:
    for page, (url, title, h1, language) in enumerate(
        zip(site.urls, site.titles, site.h1s, site.languages, strict=True)
    ):
        if not site.target[page]:
            continue
        stops = stop_words(primary_language(language))
        forms: dict[str, list[str]] = {}  # most H1s say what the title does
        for raw, bit in ((title, TITLE), (h1, H1)):
            name = template.strip(raw) if raw else ""
            if name and not template.is_repeated(name):
                yield _Name(name, language, page, bit)
                if name not in forms:
                    short = [
                        form
                        for form in short_forms(name, stops)
                        if form and form != name and fold(form) not in template.series
                    ]
                    spoken = primary_language(language)
                    ways = [way for form in (name, *short) for way in written_forms(form, spoken, stops)]
                    forms[name] = list(dict.fromkeys([*short, *ways]))
                for form in forms[name]:
                    yield _Name(form, language, page, SHORT)
        words = _slug_words(url)
        if has_word(words) and not words.isdecimal():
            yield _Name(words, language, page, SLUG)


def _slug_words(url: str) -> str:
    """The words of the last segment of an address; "" for the address of a site's home page."""
    parts = segments(url)
    return clean(re.sub(r"[-_+]+|\.\w{2,5}$", " ", parts[-1])) if len(parts) > 1 else ""


def _name_rows(phrase: NDArray[np.int32], names: Sequence[_Name]) -> Names:
    """Names whose phrases are known, those of one phrase and page taken together."""
    pages = np.array([name.page for name in names], dtype=np.int64)
    bits = np.array([name.bit for name in names], dtype=np.int32)
    known = phrase >= 0
    phrase, pages, bits = phrase[known], pages[known], bits[known]
    order = np.lexsort((pages, phrase))
    phrase, pages, bits = phrase[order], pages[order], bits[order]
    if not len(phrase):
        return Names(phrase, pages, bits)
    first = np.flatnonzero(np.concatenate([[True], (phrase[1:] != phrase[:-1]) | (pages[1:] != pages[:-1])]))
    return Names(phrase[first], pages[first], np.bitwise_or.reduceat(bits, first))
