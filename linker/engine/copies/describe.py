"""What pages say, in a few numbers each: sketches of their texts, and keys of their names and addresses.

Texts are compared by MinHash (Broder 1997): SKETCH minima of hashed runs of RUN words estimate the share of runs that
two texts have in common. Words for colours, sizes and sexes and bare numbers are left out of the runs, so that the
same jacket in two colours has the same text.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linker.engine.copies.addresses import read_address
from linker.engine.copies.variants import VARIANT_WORDS, Name, read_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

SKETCH = 128  # minima a text
RUN = 3  # words
MAX_WORDS = 4000  # of a text that are read
NAME_WORDS = 12  # words of a name that are kept
LONG_NAME = 3  # words of a name that is hardly given twice by chance
_TOKEN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\\W_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")


class PageText(NamedTuple):
    """What is read of a page."""

    url: str
    title: str
    h1: str
    body: str
    language: str


@dataclass(frozen=True)
class Described:
    """What n pages say, in some 400 bytes a page. Arrays [n].

    `sketch` uint16 [n, SKETCH], `runs` int32: the runs of words of a text. `words` uint32 [n, NAME_WORDS]: those of the
    name, 0 where it is shorter; `length` int16: how many it has; `varies` bool: whether it says a size, colour or sex.
    `keys` int64 [n, len(KEYS)], 0 where there is none: `whole_title` and `title`, with and without what the site's
    titles share, `h1`; `title_base`, `h1_base`: the bases of these where they can be a thing's name, `base`: of any
    name; `marks`: what tells parts of a series apart; `any_language`, `any_version`, `any_variant`, `address_base`,
    `version`, `variant` and `locale` of the address; `language` as the page says it, `own_or_address_language`: that,
    or else what the address says."""

    sketch: NDArray[np.uint16]
    runs: NDArray[np.int32]
    words: NDArray[np.uint32]
    length: NDArray[np.int16]
    varies: NDArray[np.bool_]
    keys: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.runs)

    def key(self, name: str) -> NDArray[np.int64]:
        """The key of each page by its name in KEYS, int64 [n]; 0 where there is none. Raises ValueError for another
        name."""
        return self.keys[:, KEYS.index(name)]


KEYS = (
    *("whole_title", "title", "h1", "title_base", "h1_base", "base", "marks"),
    *(
        "any_language",
        "any_version",
        "any_variant",
        "address_base",
        "version",
        "variant",
        "locale",
        "language",
        "own_or_address_language",
    ),
)
_FACTORS, _SHIFTS = np.random.default_rng(20).integers(0, 2**32, (2, SKETCH), dtype=np.uint64).astype(
    np.uint32
) | np.array([[1], [0]], dtype=np.uint32)


def describe(pages: Iterable[PageText], count: int, strip: Callable[[str], str] = str) -> Described:
    """What `count` pages say, in their order; they are read one after the other, so that no two texts are held at once.
    `strip` takes off a title what the site's titles share."""
    sketch = np.zeros((count, SKETCH), dtype=np.uint16)
    runs, length = np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.int16)
    words = np.zeros((count, NAME_WORDS), dtype=np.uint32)
    keys, varies = np.zeros((count, len(KEYS)), dtype=np.int64), np.zeros(count, dtype=bool)
    crc = _Crc()
    for place, page in enumerate(pages):
        runs[place] = _sketch(page.body, crc, sketch[place])
        bare = strip(page.title)
        read = {text: read_name(text) for text in {page.title, bare, page.h1}}  # mostly one and the same
        whole, title, h1 = read[page.title], read[bare], read[page.h1]
        name = title if title.words else h1
        distinct = sorted({_crc(word) for word in name.words})[:NAME_WORDS]
        words[place, : len(distinct)] = distinct
        length[place], varies[place] = len(name.words), name.is_variant
        address = read_address(page.url)
        keys[place] = (
            *(_key(whole.words), _key(title.words), _key(h1.words), _base_key(title), _base_key(h1), _key(name.base)),
            _key(name.marks),
            *(_key(address.any_language), _key(address.any_version), _key(address.any_variant), _key(address.base)),
            *(_key(address.version), _key(address.variant), _key(address.locale)),
            *(_key(page.language.casefold()[:2]), _key(page.language.casefold()[:2] or address.locale[:2])),
        )
    return Described(sketch, runs, words, length, varies, keys)


class _Crc(dict[str, int]):
    """Word -> its hash, of 32 bits, 0 for a number and a word for a variant; forgets when it has grown large."""

    def __missing__(self, word: str) -> int:
        if len(self) > 500_000:
            self.clear()
        counts = word not in VARIANT_WORDS and not word.isdigit()
        self[word] = found = _crc(word) if counts else 0
        return found


def _crc(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass")) or 1


def _key(text: str | tuple[str, ...]) -> int:
    """Eight bytes that stand for a text; 0 for none."""
    if not text:
        return 0
    joined = text if isinstance(text, str) else "\x1f".join(text)
    return int.from_bytes(
        hashlib.blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True
    )


def _base_key(name: Name) -> int:
    """The base of a name that is a thing's: of LONG_NAME words, or of two and a measure."""
    return _key(name.base) if len(name.base) >= (2 if name.measured else LONG_NAME) else 0


def _sketch(body: str, crc: _Crc, out: NDArray[np.uint16]) -> int:
    """Writes a text's minima; gives the number of its runs."""
    hashed = np.array([crc[word] for word in _TOKEN.findall(body[: 12 * MAX_WORDS].lower())], dtype=np.uint32)
    hashed = hashed[hashed > 0][:MAX_WORDS]
    if len(hashed) < RUN:
        return 0
    run = (hashed[:-2] * np.uint32(0x9E3779B1) + hashed[1:-1]) * np.uint32(0x85EBCA77) + hashed[2:]
    run = (run ^ (run >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
    run ^= run >> np.uint32(13)
    # The lowest bits of a minimum are as good as random, the highest all but 0.
    out[:] = (_FACTORS[:, None] * run + _SHIFTS[:, None]).min(axis=1).astype(np.uint16)
    return len(run)
