"""What a link to a page may say, best first."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from linker.engine.anchors.search_queries import Query, usable_queries
from linker.engine.text.clean import clean, collapse, has_word, visible
from linker.engine.text.fold import fold
from linker.engine.text.generic import bare, is_address, is_generic, primary_language, stop_words
from linker.engine.text.template import Pattern, Template, strip_patterns

_READ = 2_000  # characters of a text that are looked at: no title needs more
_HEADINGS = 50  # headings that are looked at
_PARTS = re.compile(r"\s?[|¦｜•★—]+\s?|\s(?:-|–|~|»|::?)\s|[:：]\s")
_PARENTHESIS = re.compile(r"(?:(?:^|\s)[(\[（][^()\[\]（）]*[)\]）]|\(\))(?!\w)")
_EXTENSION = re.compile(r"\.(?:html?|php\d?|aspx?|jsp|cfm)$", re.IGNORECASE)
_WWW = re.compile(r"^(?:www\.)+", re.IGNORECASE)
_CODE = re.compile(r"(?=.*\d)(?=.*[a-z])[a-z0-9]{8,}", re.IGNORECASE)
_PHRASE_BREAK = re.compile(r"(?<![.!?])[.!?]++(?:\s|$)|[,;:()\[\]…|•—\"“”«»<>]|\s[-–]\s")


@dataclass(frozen=True, slots=True)
class TargetText:
    """What a crawl knows of the page a link leads to, as crawled. Only the address is always there."""

    url: str
    title: str = ""
    h1: str = ""
    headings: Sequence[str] = ()
    description: str = ""
    language: str = ""


class AnchorCandidate(NamedTuple):
    """`text` may become an anchor. `source` is "h1", "title", "heading", "description", "query" or "url"; `raw` is the
    crawled text it was made of, without characters that cannot be shown or stored; `impressions` are a query's.
    `whole`: an H1 or title with nothing left out but the site's template."""

    text: str
    source: str
    raw: str
    impressions: int | None = None
    whole: bool = False


def anchor_candidates(
    target: TargetText,
    *,
    template: Template,
    patterns: Sequence[Pattern] = (),
    banned: Iterable[str] = (),
    max_length: int = 60,
    limit: int = 8,
    taken: Container[str] = frozenset(),
    queries: Sequence[Query] = (),
    query_blend: float = 0.3,
) -> list[AnchorCandidate]:
    """Anchors for links to `target`, best first: at least one, at most `limit`, different when folded.

    H1 and title without the site's template and the project's `patterns`, then their short forms, headings and
    phrases of the description that share words with them. None is empty, generic in the page's language, banned, or
    longer than `max_length` characters; of long ones a part that fits is taken, else they are cut between words. Short
    forms, headings and phrases in `taken`, the folded names of the site's pages, are left out: they would promise
    another page. H1s and titles that name the site and no page come last, behind the words of the address. Where
    nothing is left: the title as it is, else the H1, else the last segment of the path in words, which alone may be
    generic. An address is never an anchor.

    `queries` are what people found the page by. The usable ones (`linker.engine.anchors.search_queries`) and the page's
    own texts are put in one order, by

        (1 - query_blend) * name_weight + query_blend * query_weight

    where the page's own texts have the name weights 1, 1/2, 1/3 ... in the order above (0 where neither its H1 nor its
    title names it), a query has the query weight weight / largest weight of the page's queries, and a text that is
    both has both and keeps its own wording and source. Ties: own texts first, then as above; queries by weight, then
    by text. So 0 means titles only, and 1 queries first.

    Raises ValueError if `limit` or `max_length` is below 1, `query_blend` is not from 0 to 1 or the address is empty.
    """
    if limit < 1 or max_length < 1:
        raise ValueError(f"limit and max_length must be at least 1, not {limit} and {max_length}")
    if not 0.0 <= query_blend <= 1.0:
        raise ValueError(f"query_blend must be from 0 to 1, not {query_blend}")
    banned = tuple(banned)
    stops = stop_words(primary_language(target.language))

    def strip(raw: str) -> str:
        return strip_patterns(template.strip(raw), patterns)

    names = [AnchorCandidate(strip(raw), source, raw, whole=True) for source, raw in _names(target)]
    own = [name for name in names if not template.is_repeated(name.text)]
    own = [name for name in own if not is_generic(name.text, target.language)]
    proposals = _proposals(target, names, own, strip, template, stops, taken)
    found: dict[str, AnchorCandidate] = {}
    for candidate in proposals:
        text = shorten(_own_part(candidate.text, max_length, template), max_length, stops)
        key = fold(text)
        if key not in found and has_word(text) and not is_generic(text, target.language, banned):
            whole = candidate.whole and text == candidate.text
            found[key] = AnchorCandidate(text, candidate.source, visible(candidate.raw), whole=whole)
        if len(found) == limit:
            break
    if queries and query_blend:
        usable = usable_queries(
            queries,
            url=target.url,
            names=[name.text for name in own],
            language=target.language,
            template=template,
            banned=banned,
            max_length=max_length,
        )
        heaviest = max(query.weight for query in queries) or 1.0
        weighed = [
            (AnchorCandidate(text, "query", visible(query.text[:_READ]), query.impressions), query.weight / heaviest)
            for text, query in usable
            if fold(text) in found or fold(text) not in taken
        ]
        blended = _blended(list(found.values()), weighed, query_blend, bool(own))[:limit]
    else:
        blended = list(found.values())
    return blended or [_last_resort(target, max_length, banned)]


def _blended(
    texts: Sequence[AnchorCandidate],
    queries: Sequence[tuple[AnchorCandidate, float]],
    blend: float,
    named: bool,
) -> list[AnchorCandidate]:
    """The page's own texts and its weighed queries in the order that `anchor_candidates` states, each once."""
    weights: dict[str, float] = {}
    for query, weight in queries:
        weights.setdefault(fold(query.text), weight)
    own = {fold(text.text) for text in texts}
    scored = [
        ((1 - blend) * (1 / place if named else 0.0) + blend * weights.get(fold(text.text), 0.0), text)
        for place, text in enumerate(texts, start=1)
    ]
    once = {fold(query.text): query for query, _ in reversed(queries)}
    scored += [(blend * weight, once[key]) for key, weight in weights.items() if key not in own]
    return [candidate for _, candidate in sorted(scored, key=lambda entry: -entry[0])]


def _own_part(text: str, max_length: int, template: Template) -> str:
    """What is longer than `max_length` by its first part that fits and does not begin or end many of the site's titles:
    of "A guide to relations, by country: Hungary" the country, not the beginning that all of them share."""
    if len(text) <= max_length:
        return text
    parts = [part.strip() for part in _PARTS.split(text)]
    fitting = (p for p in parts if has_word(p) and len(p) <= max_length and fold(p) not in template.series)
    return next(fitting, text)


def shorten(text: str, max_length: int, stops: frozenset[str] = frozenset()) -> str:
    """`text` of at most `max_length` characters, cut between words.

    A function word of `stops`, a separator or an open bracket is not left at the end of a text that was cut; a first
    word that is too long by itself is cut inside, but not between a letter and its accents.
    """
    if len(text) <= max_length:
        return text
    space = text.rfind(" ", 0, max_length + 1)
    if space <= 0:
        return _cut_word(text, max_length)
    kept = text[:space]
    words = kept.split()
    while len(words) > 1 and (not has_word(words[-1]) or fold(words[-1]) in stops):
        words.pop()
    trimmed = " ".join(words)
    if trimmed.count("(") > trimmed.count(")"):
        trimmed = trimmed[: trimmed.rindex("(")].rstrip()
    trimmed = trimmed.rstrip(",;:")
    return trimmed if has_word(trimmed) else kept


def _cut_word(word: str, max_length: int) -> str:
    end = max_length
    while end > 1 and (unicodedata.category(word[end])[0] == "M" or "\u200d" in (word[end], word[end - 1])):
        end -= 1
    return word[:end] if end > 1 else word[:max_length]


def _proposals(
    target: TargetText,
    names: Sequence[AnchorCandidate],
    own: Sequence[AnchorCandidate],
    strip: Callable[[str], str],
    template: Template,
    stops: frozenset[str],
    taken: Container[str],
) -> Iterator[AnchorCandidate]:
    """Texts in order of preference; they may be generic or too long, and one may come twice. `own` are those of the
    H1 and title that name the page and not the site."""
    address = [] if own else [AnchorCandidate(_address_words(target.url, target.language), "url", target.url[:_READ])]
    topic = _content_words((name.text for name in own or address), stops)
    yield from own
    for candidate in _alternatives(target, own, strip, topic, stops):
        key = fold(candidate.text)
        if key not in taken and key not in template.series:
            yield candidate
    if not own:
        yield from address
        yield from names


def _alternatives(
    target: TargetText,
    names: Sequence[AnchorCandidate],
    strip: Callable[[str], str],
    topic: set[str],
    stops: frozenset[str],
) -> Iterator[AnchorCandidate]:
    for name in names:
        for text in short_forms(name.text, stops):
            yield AnchorCandidate(text, name.source, name.raw)
    for heading in islice(target.headings, _HEADINGS):
        raw = heading[:_READ]
        text = strip(raw)
        if _is_specific(text, topic, stops):
            yield AnchorCandidate(text, "heading", raw)
    raw = target.description[:_READ]
    for text in _phrases(clean(raw), topic, stops):
        yield AnchorCandidate(text, "description", raw)


def _names(target: TargetText) -> Iterator[tuple[str, str]]:
    h1, title = target.h1[:_READ], target.title[:_READ]
    for source, raw in (("h1", h1), ("title", title if title != h1 else "")):
        if has_word(clean(raw)):
            yield source, raw


def _content_words(texts: Iterable[str], stops: frozenset[str]) -> set[str]:
    """Folded words that carry a topic: no function words, no numbers, none of one or two characters."""
    words = {word for text in texts for word in bare(text).split()}
    return {word for word in words if len(word) > 2 and word not in stops and not word.isdecimal()}


def short_forms(text: str, stops: frozenset[str]) -> list[str]:
    """`text` without its parentheses, and its parts between separators, those of more words first.

    Left out: a part that continues the one before ("For Men"), and a part of one word but for the first ("RTSP").
    """
    plain = collapse(_PARENTHESIS.sub("", text))
    first, *others = [part.strip(" ,;-–") for part in _PARTS.split(plain)]
    parts = [part for part in others if len(_content_words([part], stops)) > 1 and fold(part).split()[0] not in stops]
    if " " not in first or len(_content_words([first], stops)) > 1:
        parts.insert(0, first)
    return [plain, *sorted(parts, key=lambda part: -len(part.split()))]


def _is_specific(heading: str, topic: set[str], stops: frozenset[str]) -> bool:
    """Whether a heading is about its page and not a part of every page ("Features"): it shares a word with the name."""
    return " " in heading and not topic.isdisjoint(_content_words([heading], stops))


def _phrases(description: str, topic: set[str], stops: frozenset[str]) -> list[str]:
    """Phrases of two or more words about the topic; those with more of its words first, then as in the text.

    A phrase is a run of words without function words or punctuation, from its first to its last word of the topic if
    half of it is that, or a last word of the topic with the one before it. What follows an only one is often a verb.
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


def _split_address(url: str) -> tuple[str, str]:
    """Host and path; a text that is no address is all path."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", url
    return parts.netloc, parts.path


def _address_words(url: str, language: str) -> str:
    """The words of the last segments of the path that say something; "" if none do."""
    _, path = _split_address(url[:_READ])
    segments = [_segment_words(segment) for segment in path.split("/")]
    segments = [segment for segment in segments if len(segment) > 1 and not is_address(segment)]
    for start in range(len(segments) - 1, -1, -1):
        words = " ".join(segments[start:])
        if not is_generic(words, language):
            return words
    return ""


def _segment_words(segment: str) -> str:
    text = _EXTENSION.sub("", clean(unquote(segment)))
    return " ".join(word for word in re.split(r"[\s_+-]+", text) if word and not _CODE.fullmatch(word))


def _last_resort(target: TargetText, max_length: int, banned: Iterable[str]) -> AnchorCandidate:
    """What a link may say where nothing says what the page is about."""
    address = visible(target.url[:_READ])
    if not clean(address):
        raise ValueError("a target without an address has no anchor")
    unwanted = {bare(clean(phrase)) for phrase in banned}
    usable = []
    for source, raw in _plain_texts(target, address):
        text = shorten(clean(raw), max_length)
        if has_word(text) and not is_address(text):
            usable.append(AnchorCandidate(text, source, visible(raw)))
    wanted = (candidate for candidate in usable if bare(candidate.text) not in unwanted)
    return next(wanted, usable[0] if usable else AnchorCandidate(shorten(clean(address), max_length), "url", address))


def _plain_texts(target: TargetText, address: str) -> Iterator[tuple[str, str]]:
    """Title, H1, the path's segments from the last on, the host, and the address without its punctuation."""
    yield "title", target.title[:_READ]
    yield "h1", target.h1[:_READ]
    host, path = _split_address(address)
    for segment in reversed(path.split("/")):
        yield "url", _segment_words(segment) or unquote(segment)
    yield "url", _WWW.sub("", host.rpartition("@")[2])
    yield "url", " ".join(re.findall(r"\w+", address))
