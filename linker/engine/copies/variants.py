"""What a name and an address say of a page's variant: its size, colour, sex, edition, version or language. Pure.

Words are folded (linker.engine.text.fold). They say something only of two pages that are alike otherwise: alone,
"green" is a word like any other.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from linker.engine.text.fold import fold

COLOURS = """black white red blue green yellow orange purple pink brown grey gray silver gold golden beige cream ivory
    navy maroon violet turquoise teal olive khaki lime magenta cyan coral burgundy charcoal multicolor multicolour
    multicolored multi skyblue royalblue transparent clear dark light
    schwarz weiss rot blau grun gelb orange lila rosa braun grau silber creme dunkel hell dunkelblau hellblau bunt
    noir noire blanc blanche rouge bleu bleue vert verte jaune violet violette rose marron gris grise argent or dore
    negro negra blanco blanca rojo roja azul verde amarillo amarilla morado rosa gris plata dorado naranja
    nero nera bianco bianca rosso rossa blu giallo gialla viola grigio grigia argento oro arancione"""
SIZES = """xxs xs s m l xl xxl xxxl xxxxl 2xl 3xl 4xl 5xl small medium large extra big mini petite tall regular single
    double twin king queen sized size
    klein kleine gross grosse mittel grosse einzel doppel petit petite grand grande moyen taille
    pequeno pequena mediano grande talla piccolo piccola medio taglia"""
SEXES = """men man mens women woman womens male female boy boys girl girls unisex kids kid children child baby adult
    adults junior couple lady ladies gents
    herren damen manner frauen jungen madchen kinder erwachsene homme hommes femme femmes garcon garcons fille filles
    enfant enfants hombre hombres mujer mujeres nino nina ninos ninas uomo uomini donna donne bambino bambina"""
EDITIONS = """hardcover hardback paperback ebook kindle audiobook softcover
    gebunden taschenbuch hardcover horbuch broche relie poche rustica bolsillo"""


def _set(words: str) -> frozenset[str]:
    return frozenset(fold(words).split())


VARIANT_WORDS = _set(f"{COLOURS} {SIZES} {SEXES} {EDITIONS}")

_NUMBER = r"\d+(?:[.,]\d+){0,6}"
_UNITS = (
    "mm|cm|km|m|ml|cl|ltr|litres?|liters?|l|mg|kg|gm|gms|g|oz|lbs?|inch(?:es)?|ft|mtr|watts?|w|volts?|v|mah|wh|gb|tb|mb|"
    "hz|ghz|mhz|lm|pcs|pieces?|stuck|pack|pk|er[ -]pack|er[ -]set|cell|ply|zoll|pouces|pulgadas"
)
_MEASURE = re.compile(
    rf"\b(?:(?:pack|set|box|lot|case|combo) (?:of|a|de|mit) {_NUMBER}|(?:pack|pk) {_NUMBER}"
    rf"|(?:size|grosse|taille|talla|taglia|eu|uk|us) {_NUMBER}"
    rf"|{_NUMBER}(?:st|nd|rd|th|\.|e|a)? ?(?:edition|auflage|ed\.|edicion|edizione)"
    rf"|{_NUMBER}(?: ?(?:x|×) ?{_NUMBER}){{0,6}} ?(?:{_UNITS}))\b"
)
_FOR = re.compile(rf"\b(?:for|fur|pour|para|per) (?=(?:{'|'.join(fold(SEXES).split())})\b)")
_FOR_WORD = re.compile(r"\b(?:for|fur|pour|para|per) ")  # quick to look for, and seldom there
_WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"(?<=\w)'s\b")
_ROMAN = _set("i ii iii iv v vi vii viii ix x xi xii xiii xiv xv")
_MONTHS = _set(
    """january february march april may june july august september october november december
    januar februar märz mai juni juli oktober dezember janvier février mars avril juin juillet août septembre octobre
    novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
    spring summer autumn fall winter first second third fourth fifth monday tuesday wednesday thursday friday saturday
    sunday"""
)


@dataclass(frozen=True)
class Name:
    """A page's name: all its `words`, those left without size, colour, sex and measure (`base`), and those that tell
    the parts of a series apart (`marks`: numbers, numerals, letters, months). `measured`: whether it says a measure;
    `is_variant`: whether it says anything that `base` leaves out."""

    words: tuple[str, ...]
    base: tuple[str, ...]
    marks: tuple[str, ...]
    measured: bool
    is_variant: bool


def read_name(text: str) -> Name:
    """The name as words, folded."""
    folded = _POSSESSIVE.sub("", fold(text))
    words = tuple(_WORD.findall(folded))
    rest = _FOR.sub("", folded) if _FOR_WORD.search(folded) else folded
    plain = _WORD.findall(_MEASURE.sub(" ", rest)) if _has_digit(folded) else _WORD.findall(rest)
    base = tuple(word for word in plain if word not in VARIANT_WORDS)
    left_out = (Counter(words) - Counter(base)).elements()
    marks = tuple(
        sorted({word for word in words if word in _ROMAN or word in _MONTHS or len(word) == 1 or _has_digit(word)})
    )
    return Name(words, base, marks, len(plain) < len(words), any(len(word) > 1 for word in left_out))


def _has_digit(word: str) -> bool:
    return not word.isalpha() and any(char.isdigit() for char in word)


# ------------------------------------------------------------------------------------------------------- addresses

VARIANT_PARAMETERS = _set(
    """color colour farbe couleur size groesse taille talla variant variation variante sku pid style material edition
    format width length option version v ver model"""
)
LANGUAGE_PARAMETERS = frozenset(["lang", "language", "locale", "hl", "sprache", "langue", "idioma", "lng"])
LANGUAGES = _set(
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
    words = _WORD.findall(fold(segments[-1])) if segments else []
    last = [word for word in words if word not in VARIANT_WORDS and not _has_digit(word)]
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
