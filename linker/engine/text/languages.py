"""The language a text is in, and which languages are too much alike to be distinguished.

py3langid's model reads texts as it does itself (naive Bayes over runs of bytes, which an automaton finds), but
thousands of them a step, since an import has up to a million: 12 µs a text instead of 250.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from linker.engine.text.generic import primary_language

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

READ = 200  # bytes of a text that are read
ENOUGH = 40  # bytes below which no language is named
AT_A_TIME = 4096  # texts
SURE = 0.9  # from this sureness on the text is believed, whatever the page says of itself

# Languages of which one is easily taken for another: between these nothing is kept apart. The first stands for all.
ALIKE = (
    ("da", "no", "nb", "nn"),
    ("hr", "bs", "sr", "sh", "cnr"),
    ("cs", "sk"),
    ("id", "ms"),
    ("pt", "gl"),
    ("es", "an", "ext"),
    ("de", "lb", "gsw", "bar"),
    ("nl", "af", "li"),
    ("en", "pcm", "sco"),
    ("it", "vec", "lij"),
    ("ar", "ary", "arz"),
    ("zh", "yue", "wuu", "cmn"),
    ("he", "iw", "hbo"),
    ("el", "grc"),
)
# Found in a few words of the language that they are like far more often than pages are in them; such a page says so.
_DIALECTS = {
    "pcm": "en", "sco": "en", "gsw": "de", "bar": "de", "vec": "it", "lij": "it", "an": "es", "ext": "es"
}  # fmt: skip
_KIN = {language: group[0] for group in ALIKE for language in group}


class Detected(NamedTuple):
    """A language as a two- or three-letter code, "" where there is too little text, and how sure it is that the text is
    in that one or one much like it, 0 to 1."""

    language: str
    sureness: float


NOTHING = Detected("", 0.0)


def kin(tag: str) -> str:
    """What languages that are much alike share: Danish and Norwegian are "da". "" for none."""
    language = primary_language(tag)
    return _KIN.get(language, language)


def agreed(found: Detected, said: str) -> Detected:
    """What was detected, in the name that the page itself gives to a language much like it: a text may be Danish or
    Norwegian, and the page knows which."""
    return Detected(primary_language(said), found.sureness) if said and kin(said) == kin(found.language) else found


def detect(texts: Iterable[str]) -> Iterator[Detected]:
    """The language of each text, by its first READ bytes, in order."""
    texts = iter(texts)
    while some := list(islice(texts, AT_A_TIME)):
        yield from _detect(some)


def _detect(texts: Sequence[str]) -> list[Detected]:
    found = [NOTHING] * len(texts)
    # As the model encodes them: composed, and capitals throughout as small letters.
    encoded = [_encoded(text) for text in texts]
    worth = [place for place, text in enumerate(encoded) if text]
    worth.sort(key=lambda place: -len(encoded[place]))  # so that those still read are the first ones
    if not worth:
        return found
    model = _model()
    sizes = np.array([len(encoded[place]) for place in worth])
    codes = np.zeros((len(worth), int(sizes[0])), dtype=np.uint8)
    read = b"".join(encoded[place] for place in worth)
    codes[np.arange(sizes[0]) < sizes[:, None]] = np.frombuffer(read, dtype=np.uint8)
    odds = model.odds(codes, sizes)
    best = odds.argmax(axis=1)
    for group in model.alike:
        odds[:, group] = odds[:, group].sum(axis=1, keepdims=True)
    sure = odds[np.arange(len(best)), best]
    for place, language, sureness in zip(worth, best.tolist(), sure.tolist(), strict=True):
        name = _DIALECTS.get(model.languages[language], model.languages[language])
        found[place] = NOTHING if name == "zxx" else Detected(name, min(round(sureness, 4), 1.0))  # zxx: in no language
    return found


def _encoded(text: str) -> bytes:
    """What is read of a text; nothing where it is too short."""
    start = text[:READ]
    start = unicodedata.normalize("NFC", start.lower() if start.isupper() else start)
    encoded = start.encode("utf-8", "replace")[:READ]
    return encoded if len(encoded) >= ENOUGH else b""


def apart(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether pages with these `language_ids` are kept apart: both are known and differ. bool, of the shape that numpy
    gives the two together."""
    different: NDArray[np.bool_] = (left != right) & (left != 0) & (right != 0)
    return different


class _Model:
    """py3langid's model, with its own automaton and weights."""

    def __init__(self) -> None:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        self.languages: list[str] = list(model.nb_classes)
        self._next = np.asarray(model.tk_nextmove)
        self._row = np.asarray(model.tk_row, dtype=np.int64) << 8
        self._out = np.asarray(model.tk_output, dtype=np.int32)
        self._weights = model.nb_ptc.astype(np.float32)
        self._prior = model.nb_pc.astype(np.float32)
        first: dict[str, int] = {}
        self.alike = [[place for place, name in enumerate(self.languages) if kin(name) == group[0]] for group in ALIKE]
        self._same = [(first.setdefault(name, n), n) for n, name in enumerate(self.languages)]

    def odds(self, codes: NDArray[np.uint8], sizes: NDArray[np.int64]) -> NDArray[Any]:
        """How likely each of `languages` is for the texts `codes` [n, longest], whose lengths fall; float32 [n, k]."""
        columns = np.ascontiguousarray(codes.T)
        found = np.full(columns.shape, -1, dtype=np.int32)
        state = np.zeros(len(sizes), dtype=np.int64)
        reading = np.searchsorted(-sizes, -np.arange(len(columns)), side="left")  # how many texts are that long
        for place, count in enumerate(reading.tolist()):
            now = self._next[self._row[state[:count]] + columns[place, :count]]
            state[:count] = now
            found[place, :count] = self._out[now]
        at, text = np.nonzero(found >= 0)
        ones = np.ones(len(text), dtype=np.float32)
        shape = len(sizes), len(self._weights)
        seen = sparse.coo_array((ones, (text, found[at, text])), shape=shape).tocsr()
        seen.data = np.log1p(seen.data)
        score = seen @ self._weights + self._prior
        # Divided so that how sure the model is holds for texts of any length.
        score = score / np.sqrt(sizes)[:, None].astype(np.float32)
        odds = np.exp(score - score.max(axis=1, keepdims=True))
        odds /= odds.sum(axis=1, keepdims=True)
        for one, other in self._same:  # a language in two scripts has two columns
            if one != other:
                odds[:, one] += odds[:, other]
                odds[:, other] = 0
        return np.asarray(odds)


@cache
def _model() -> _Model:
    """Loaded once, where pages are read: it takes 130 MB and two seconds."""
    return _Model()
