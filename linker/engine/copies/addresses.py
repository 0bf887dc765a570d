"""What an address says of a page's variant: its language, its version, its size or colour."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from linker.engine.copies.variants import VARIANT_WORDS, folded_words, has_digit, words_of
from linker.engine.text.fold import fold

VARIANT_PARAMETERS = folded_words(
    """color colour farbe couleur size groesse taille talla variant variation variante sku pid style material edition
    format width length option version v ver model"""
)
LANGUAGE_PARAMETERS = frozenset(["lang", "language", "locale", "hl", "sprache", "langue", "idioma", "lng"])
LANGUAGES = folded_words(
    """en de fr es it pt nl pl cs sk sl hr hu ro bg el tr ru uk sr sv no nb nn da fi et lv lt is ga mt eu ca gl ja zh ko
    ar he fa hi th vi id ms bn ur ta"""
)
_LOCALE = re.compile(r"([a-z]{2})(?:[-_]([a-z]{2}|[a-z]{4}|[0-9]{3}))?", re.IGNORECASE)
_VERSION = re.compile(r"v\d+(?:[._-]\d+)*(?:[._-]?x)?|\d+(?:\.\d+)+(?:\.x)?|\d+\.x|v?\d+[._]\d+", re.IGNORECASE)
_VERSION_WORDS = frozenset(["latest", "stable", "current", "next", "dev", "nightly", "lts", "canary", "edge"])


@dataclass(frozen=True)
class Address:
    """An address without what tells variants apart.

    `locale`: the language it names ("de", "en-us"), or ""; `any_language`: the address without it; `version` and
    `any_version`: the same for a version; `base`: its folders and the words of its last part without sizes, colours and
    numbers, no query; `variant` and `any_variant`: the parameters that choose a variant, and the address without them.
    """

    locale: str
    any_language: str
    version: str
    any_version: str
    base: str
    variant: str
    any_variant: str


def read_address(url: str) -> Address:
    """What an address says of language, version and variant."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return Address("", url, "", url, url, "", url)
    host = parts.netloc.casefold().removeprefix("www.")
    segments = [segment for segment in unquote(parts.path).split("/") if segment]
    query = parse_qsl(parts.query, keep_blank_values=True) if parts.query else []
    locale, bare_host, bare_segments, bare_query = _locale(host, segments, query)
    rest = "&".join(f"{name}={value}" for name, value in query)
    versions = [segment for segment in segments if _is_version(segment)]
    unversioned = [segment for segment in segments if not _is_version(segment)]
    kept = [(name, value) for name, value in query if name.casefold() not in VARIANT_PARAMETERS]
    words = words_of(fold(segments[-1])) if segments else []
    last = [word for word in words if word not in VARIANT_WORDS and not has_digit(word)]
    return Address(
        locale,
        _joined(bare_host, bare_segments, bare_query),
        "/".join(versions),
        f"{host}/{'/'.join(unversioned)}?{rest}",
        f"{host}/{'/'.join(segments[:-1])}/{' '.join(last)}",
        "&".join(f"{name}={value}" for name, value in query if name.casefold() in VARIANT_PARAMETERS),
        _joined(host, segments, kept),
    )


def _joined(host: str, segments: list[str], query: list[tuple[str, str]]) -> str:
    return f"{host}/{'/'.join(segments)}?{'&'.join(f'{name}={value}' for name, value in query)}"


def _is_version(segment: str) -> bool:
    return segment.casefold() in _VERSION_WORDS or _VERSION.fullmatch(segment) is not None


def _locale(
    host: str, segments: list[str], query: list[tuple[str, str]]
) -> tuple[str, str, list[str], list[tuple[str, str]]]:
    """The language an address names in its host, in one of its first two folders or in a parameter, and the address
    without it."""
    for place, segment in enumerate(segments[:2]):
        if (locale := as_locale(segment)) is not None:
            return locale, host, segments[:place] + segments[place + 1 :], query
    for place, (name, value) in enumerate(query):
        if name.casefold() in LANGUAGE_PARAMETERS and (locale := as_locale(value)) is not None:
            return locale, host, segments, query[:place] + query[place + 1 :]
    label, dot, rest = host.partition(".")
    if dot and "." in rest and (locale := as_locale(label)) is not None:
        return locale, rest, segments, query
    return "", host, segments, query


def as_locale(text: str) -> str | None:
    """ "de", "en-us" where the text is the name of a language, with or without a region."""
    found = _LOCALE.fullmatch(text)
    if found is None or found[1].casefold() not in LANGUAGES:
        return None
    return text.casefold().replace("_", "-")
