"""What a page's own texts offer as anchors: its names, their short forms, its headings and its description."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from linker.engine.anchors.address_words import address_words
from linker.engine.text.clean import clean, has_word
from linker.engine.text.fold import fold
from linker.engine.text.generic import bare, is_generic, primary_language, stop_words
from linker.engine.text.names import content_words, short_forms
from linker.engine.text.template import Pattern, Template, strip_patterns

READ = 2_000  # characters of a text that are looked at: no title needs more
_HEADINGS = 50  # headings that are looked at
_PHRASE_BREAK = re.compile(r"(?<![.!?])[.!?]++(?:\s|$)|[,;:()\[\]…|•—\"“”«»<>]|\s[-–]\s")


@dataclass(frozen=True, slots=True)
class TargetText:
    """What a crawl knows of the page that a link leads to, as crawled. Only the address is always known."""

    url: str
    title: str = ""
    h1: str = ""
    headings: Sequence[str] = ()
    description: str = ""
    language: str = ""


class OwnText(NamedTuple):
    """A text that may become an anchor; it may be generic or too long. `source` is "h1", "title", "heading",
    "description" or "url"; `raw` is the crawled text it was made from; `whole`: an H1 or title of which only the site's
    template was left out."""

    text: str
    source: str
    raw: str
    whole: bool = False


class OwnTexts:
    """The texts of one page, read without the site's `template` and the project's `patterns`.

    `names`: H1 and title; `own`: those of them that name the page, and neither the site nor something generic.
    """

    def __init__(self, target: TargetText, template: Template, patterns: Sequence[Pattern] = ()) -> None:
        self.target, self.template, self.patterns = target, template, patterns
        self.stops = stop_words(primary_language(target.language))
        self.names = [OwnText(self._strip(raw), source, raw, whole=True) for source, raw in self._crawled_names()]
        self.own = [
            name
            for name in self.names
            if not template.is_repeated(name.text) and not is_generic(name.text, target.language)
        ]

    def proposals(self, taken: Container[str]) -> Iterator[OwnText]:
        """Texts in order of preference; one may come twice.

        `taken`: folded names of the site's pages, which only count where they are the page's own H1 or title.
        """
        target = self.target
        address = []
        if not self.own:
            address = [OwnText(address_words(target.url[:READ], target.language), "url", target.url[:READ])]
        topic = content_words((name.text for name in self.own or address), self.stops)
        yield from self.own
        for text in self._alternatives(topic):
            key = fold(text.text)
            if key not in taken and key not in self.template.series:
                yield text
        if not self.own:
            yield from address
            yield from self.names

    def _alternatives(self, topic: set[str]) -> Iterator[OwnText]:
        """Short forms of the page's names, and headings and phrases of the description that are about its topic."""
        for name in self.own:
            for text in short_forms(name.text, self.stops):
                yield OwnText(text, name.source, name.raw)
        for heading in islice(self.target.headings, _HEADINGS):
            raw = heading[:READ]
            text = self._strip(raw)
            if _is_specific(text, topic, self.stops):
                yield OwnText(text, "heading", raw)
        raw = self.target.description[:READ]
        for text in _phrases(clean(raw), topic, self.stops):
            yield OwnText(text, "description", raw)

    def _crawled_names(self) -> Iterator[tuple[str, str]]:
        h1, title = self.target.h1[:READ], self.target.title[:READ]
        for source, raw in (("h1", h1), ("title", title if title != h1 else "")):
            if has_word(clean(raw)):
                yield source, raw

    def _strip(self, raw: str) -> str:
        return strip_patterns(self.template.strip(raw), self.patterns)


def _is_specific(heading: str, topic: set[str], stops: frozenset[str]) -> bool:
    """Whether a heading shares a word with the page's name, unlike one that any page may have ("Features")."""
    return " " in heading and not topic.isdisjoint(content_words([heading], stops))


def _phrases(description: str, topic: set[str], stops: frozenset[str]) -> list[str]:
    """Phrases of two or more words about the topic; those with more of its words first, then as in the text.

    A phrase is a run of words without function words or punctuation, from its first to its last word of the topic if
    at least half of these are topic words, or a last word of the topic with the word before it: what follows a single
    word of the topic is often a verb.
    """
    phrases: dict[str, int] = {}
    for segment in _PHRASE_BREAK.split(description):
        for run in _runs(segment.split(), stops):
            places = [place for place, word in enumerate(run) if bare(word) in topic]
            if len(places) > 1:
                core = run[places[0] : places[-1] + 1]
                if len(core) <= 2 * len(places):
                    phrases.setdefault(" ".join(core), len(places))
            elif places and places[0] == len(run) - 1:
                phrases.setdefault(" ".join(run[-2:]), 1)
    return sorted((phrase for phrase in phrases if " " in phrase), key=lambda phrase: -phrases[phrase])


def _runs(words: Iterable[str], stops: frozenset[str]) -> Iterator[list[str]]:
    run: list[str] = []
    for word in words:
        if has_word(word) and bare(word) not in stops:
            run.append(word)
        elif run:
            yield run
            run = []
    if run:
        yield run
