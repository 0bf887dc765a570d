"""Which encoding bytes may have that are no UTF-8. A guess for a message, never for reading. Pure.

Encodings of one byte a letter all read all bytes: what tells them apart is whether words come out. A word counts for an
encoding where one of its languages has all of the word's letters, and against it where no language has, where capitals
stand inside, or where scripts are mixed. Signs count by what stands around them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from charset_normalizer import from_bytes

# The letters beyond a to z, by encoding and language. The encodings in the order of how common they are.
LETTERS = {
    "cp1252": (
        *("äöüß", "àâæçéèêëîïôœùûüÿ", "áéíñóúü", "áâãàçéêíóôõúü", "àèéìíòóùúî", "ëïéèêöüáóíúà", "åäöéà", "æøåéòóôü"),
        *("äöåšžé", "áðéíóúýþæö", "àçèéíïòóúü", "éèêïñçâöü", "äöõüšž"),
    ),
    "iso8859-15": (
        *("äöüß", "àâæçéèêëîïôœùûüÿ", "áéíñóúü", "áâãàçéêíóôõúü", "àèéìíòóùúî", "ëïéèêöüáóíúà", "åäöéà", "æøåéòóôü"),
        *("äöåšžé", "áðéíóúýþæö", "äöõüšž"),
    ),
    "cp1250": (*("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž", "äöüß"),),
    "cp1251": (
        "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
        "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
        "абвгдежзийклмнопрстуфхцчшщъьюяѝ",
        "абвгдђежзијклљмнњопрстћуфхцчџш",
    ),
    "mac_roman": (
        *("äöüß", "àâæçéèêëîïôœùûüÿ", "áéíñóúü", "áâãàçéêíóôõúü", "àèéìíòóùúî", "ëïéèêöüáóíúà", "åäöéà", "æøåéòóôü"),
    ),
    "cp1254": ("çğıöşüâîû",),
    "cp1253": ("αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ",),
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž", "äöõüšž"),
}
EAST_ASIAN = ("shift_jis", "gb18030", "big5", "euc_kr")
MAX_LINES, MAX_BYTES = 400, 2**14  # lines looked at, and bytes of them
ENOUGH = 0.9  # of 1.5
LEAST = 24  # bytes: fewer of an East Asian text do not tell which
_WORD = re.compile(r"[^\W\d_]+")
_SIGN = re.compile(r"[^\w\x00-\x7f]")
_ANYWHERE = frozenset("“”„‟«»‹›‘’‚–—…•·°§©®™€£¥½¼¾×±µ†\u00a0\u00ad")


@dataclass(frozen=True)
class Guess:
    """`encoding` may be what the bytes have; `mostly_utf8`: all but a few are UTF-8."""

    encoding: str = ""
    mostly_utf8: bool = False


def guess(data: bytes) -> Guess:
    """What a piece of a file may be encoded in, one that is no UTF-8; nothing where that is unknown."""
    lines = [line for line in data.split(b"\n") if not line.isascii()][:MAX_LINES]
    sample = b"\n".join(lines)[:MAX_BYTES]
    text = sample.decode("utf-8", "replace")
    if sum(character > "\x7f" and character != "\ufffd" for character in text) > 2 * text.count("\ufffd"):
        return Guess(mostly_utf8=True)
    worth = {encoding: _worth(sample, encoding) for encoding in LETTERS}
    best = max(worth, key=worth.__getitem__)  # of equals the first: the most common
    if worth[best] > ENOUGH:
        return Guess(best)
    if sum(byte > 0x7F for byte in sample) < LEAST:
        return Guess()
    found = from_bytes(sample, cp_isolation=list(EAST_ASIAN), enable_fallback=False).best()
    return Guess(found.encoding if found is not None and found.encoding in EAST_ASIAN else "")


def _worth(sample: bytes, encoding: str) -> float:
    """How well some lines read: the mean of what their words and signs count, from -1 to 1, and as much as half a
    point more, the more of the words are of a single language."""
    text = sample.decode(encoding, "replace")
    languages = [frozenset(letters) for letters in LETTERS[encoding]]
    counts: list[float] = []
    of_language = [0] * len(languages)
    words = 0
    for match in _WORD.finditer(text):
        word = match[0].rstrip("ªº¹²³")
        if word.isascii():
            continue
        fitting = [place for place, letters in enumerate(languages) if _is_word(word, letters)]
        if len(word) == 1:  # as likely a sign of another encoding
            counts.append(0.5 if fitting else -1)
            continue
        words += 1
        counts.append(1 if fitting else -1)
        for place in fitting:
            of_language[place] += 1
    counts += [_sign(text, match.start()) for match in _SIGN.finditer(text)]
    if not counts:
        return -1
    return sum(counts) / len(counts) + (max(of_language) / words / 2 if words else 0.5)


def _is_word(word: str, letters: frozenset[str]) -> bool:
    beyond = [character for character in word.lower() if character > "\x7f" and character != "\u0307"]
    if not letters.issuperset(beyond):
        return False
    if not (word[1:].islower() or word.isupper() or len(word) == 1):
        return False
    is_latin = letters.isdisjoint("абвαβγ")
    own_share = len(beyond) / len(word)
    return (own_share <= 0.7 or len(word) < 4) if is_latin else own_share == 1


def _sign(text: str, place: int) -> float:
    """What a sign counts: 1 where such signs stand, -1 inside a word or where it is none."""
    character = text[place]
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if character in "’·\u00ad":
        return 1
    if before.isalpha() and after.isalpha():
        return -1
    if character in "¿¡":
        return 1 if after.isalpha() and not before.isalpha() else -1
    return 1 if character in _ANYWHERE else -1
