"""What a name says of a page's variant: its size, colour, sex or edition.

Words are folded (linker.engine.text.fold). They say something only of two pages that are alike otherwise: alone,
"green" is a word like any other.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

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


def folded_words(words: str) -> frozenset[str]:
    """The words of a list, separated by space."""
    return frozenset(fold(words).split())


VARIANT_WORDS = folded_words(f"{COLOURS} {SIZES} {SEXES} {EDITIONS}")

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
_ROMAN = folded_words("i ii iii iv v vi vii viii ix x xi xii xiii xiv xv")
_MONTHS = folded_words(
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
    words = tuple(words_of(folded))
    rest = _FOR.sub("", folded) if _FOR_WORD.search(folded) else folded
    plain = words_of(_MEASURE.sub(" ", rest)) if has_digit(folded) else words_of(rest)
    base = tuple(word for word in plain if word not in VARIANT_WORDS)
    left_out = (Counter(words) - Counter(base)).elements()
    marks = tuple(
        sorted({word for word in words if word in _ROMAN or word in _MONTHS or len(word) == 1 or has_digit(word)})
    )
    return Name(words, base, marks, len(plain) < len(words), any(len(word) > 1 for word in left_out))


def words_of(folded: str) -> list[str]:
    """The words of a folded text, without underscores and punctuation."""
    return _WORD.findall(folded)


def has_digit(word: str) -> bool:
    """Whether a digit is in the word."""
    return not word.isalpha() and any(char.isdigit() for char in word)
