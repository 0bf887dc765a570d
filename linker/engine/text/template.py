"""What a site adds to its titles (" | MDN", "Brand: "), found by counting, and titles without it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, zip_longest
from typing import Any, Protocol, Self

from linker.engine.text.clean import clean, collapse, has_word, visible
from linker.engine.text.fold import fold

# What sets a template off: a bar, bullet, angle quote or em dash anywhere, a dash or slash between spaces, a colon
# before one.
_SEPARATOR = re.compile(r"\s?[|¦｜·•»›«‹⋅∙●★—]+\s?|\s(?:-|–|~|/|\\|>|<|::?)\s|[:：]\s")
_DANGLING = "|¦·•»›–—~:/-"
_WORD = re.compile(r"\w+")
# Of two parts and more, with a full stop: "2. Bundesliga" and "3.5 mm plugs" are names.
_SECTION_NUMBER = re.compile(r"\A(?:[A-Z]|\d{1,3})(?:\.\d{1,3})+\.\s+")

MIN_TITLES = 5  # fewer different titles than this share nothing but by chance
_MAX_AFFIX = 120  # characters; what is longer is content
_LOOK = 3  # separators looked at on each side of a title
_MOST = 0.5  # share of the titles that speaks for itself
_SECTION = 0.05  # share that is enough where the H1s agree
_PART = 0.15  # share that is enough without H1s, in a set of affixes that covers nearly all titles
_NEARLY_ALL = 0.8
_CARRIED = 0.2  # of the H1s with the affix's words in them: from here on it is content
_REPEATED = 5  # different titles over one H1, or the reverse: the text names no page


class Pattern(Protocol):
    """A compiled RE2 expression."""

    def sub(self, repl: str, text: str, /) -> str: ...


@dataclass(frozen=True, slots=True)
class Template:
    """What a site adds to its titles, separators included, longest first.

    `repeated` holds folded texts that name the site or a section and no page: one H1 over many different titles, or
    one title over many different H1s. `series` holds folded parts that several titles begin or end with ("Trends on
    Tuesday"): not template, but alone the name of no page.
    """

    prefixes: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    repeated: frozenset[str] = frozenset()
    series: frozenset[str] = frozenset()

    def strip(self, title: str) -> str:
        """`title` cleaned and without the site's prefixes and suffixes, and without the number of a section before it
        ("55.4. "), which changes with the next edition; only cleaned if no word would be left."""
        text = clean(title)
        start, end = 0, len(text)
        while True:
            suffix = next((s for s in self.suffixes if s and text.endswith(s, start, end)), "")
            end -= len(suffix)
            prefix = next((p for p in self.prefixes if p and text.startswith(p, start, end)), "")
            start += len(prefix)
            if not suffix and not prefix:
                return _unless_wordless(_SECTION_NUMBER.sub("", text[start:end]), text)

    def is_repeated(self, text: str) -> bool:
        """Whether `text`, a stripped title or H1, names the site or a section and no page."""
        return fold(text) in self.repeated

    def site_names(self) -> frozenset[str]:
        """The folded names that the site adds to its titles, and what each begins with: "fernpeak outfitters",
        "fernpeak"."""
        return _site_names(self.prefixes + self.suffixes)

    def to_dict(self) -> dict[str, list[str]]:
        """Plain lists, for JSON."""
        return {
            "prefixes": list(self.prefixes),
            "suffixes": list(self.suffixes),
            "repeated": sorted(self.repeated),
            "series": sorted(self.series),
        }

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        """The template that `to_dict` wrote; missing keys are empty."""
        return cls(
            prefixes=tuple(stored.get("prefixes", ())),
            suffixes=tuple(stored.get("suffixes", ())),
            repeated=frozenset(stored.get("repeated", ())),
            series=frozenset(stored.get("series", ())),
        )


def strip_patterns(title: str, patterns: Iterable[Pattern]) -> str:
    """`title` cleaned and without what a project's own expressions match; one that leaves no word is not applied.

    A separator that the removal leaves dangling at an end goes too.
    """
    text = clean(title)
    for pattern in patterns:
        rest = collapse(visible(pattern.sub("", text)))
        if rest != text:
            text = _unless_wordless(_undangled(rest), text)
    return text


def _undangled(text: str) -> str:
    """A collapsed text without the separators that are words of their own at its ends."""
    words = text.split(" ")
    kept = [place for place, word in enumerate(words) if word.strip(_DANGLING)]
    return " ".join(words[kept[0] : kept[-1] + 1]) if kept else text


def _unless_wordless(text: str, otherwise: str) -> str:
    stripped = text.strip()
    return stripped if has_word(stripped) else otherwise


def find_template(titles: Sequence[str], h1s: Sequence[str] = ()) -> Template:
    """The prefixes and suffixes that a site adds to its titles.

    `h1s`, where given, are the H1s of the same pages in the same order ("" where there is none); giving them makes
    the answer safer and finds more. An affix counts if half of the different titles carry it. A rarer one, of a
    section, counts if the H1s of its pages do without its words (from 5% of the titles), or, where the H1s are not
    known, if it belongs to a set that covers nearly all titles (from 15%). Fewer than five different titles have no
    template. Linear in the length of all titles, and independent of their order.
    """
    h1_of: dict[str, str] = {}
    for title, h1 in zip_longest(titles, h1s, fillvalue=""):
        text, heading = clean(title), clean(h1)
        if has_word(text):
            h1_of[text] = max(heading, h1_of.get(text, ""))
    if len(h1_of) < MIN_TITLES:
        return Template()
    found = Template(
        prefixes=_shared({title: _prefixes(title) for title in h1_of}, h1_of, inner=-1),
        suffixes=_shared({title: _suffixes(title) for title in h1_of}, h1_of, inner=0),
    )
    names = {found.strip(title) for title in h1_of}
    return replace(found, repeated=_repeated(titles, h1s, found), series=_series(names))


def _suffixes(title: str) -> list[str]:
    """What follows each of the last separators, outermost (shortest) first, separators included."""
    tail = title[-_MAX_AFFIX:]
    starts = [match.start() for match in _SEPARATOR.finditer(tail)][-_LOOK:]
    base = len(title) - len(tail)
    return [tail[start:] for start in reversed(starts) if has_word(title[: base + start]) and has_word(tail[start:])]


def _prefixes(title: str) -> list[str]:
    """What precedes each of the first separators, outermost (shortest) first, separators included."""
    head = title[:_MAX_AFFIX]
    ends = [match.end() for match in islice(_SEPARATOR.finditer(head), _LOOK)]
    return [head[:end] for end in ends if has_word(head[:end]) and has_word(title[end:])]


def _parts(affix: str) -> list[str]:
    """The folded texts between the separators of an affix."""
    return [fold(part) for part in _SEPARATOR.split(affix) if has_word(part)]


@lru_cache(maxsize=8)
def _site_names(affixes: tuple[str, ...]) -> frozenset[str]:
    names = (part.split() for affix in affixes for part in _parts(affix))
    return frozenset(" ".join(words[:end]) for words in names for end in range(1, len(words) + 1))


def _spaced(text: str) -> str:
    """The folded words of a text between single spaces, so that "in" finds whole words only."""
    return f" {' '.join(_WORD.findall(fold(text)))} "


def _shared(affixes_of: dict[str, list[str]], h1_of: dict[str, str], inner: int) -> tuple[str, ...]:
    """The affixes that are template, longest first, then by text.

    `affixes_of` holds each title's affixes, outermost first; part `inner` of an affix is the one next to the name.
    """
    total = len(affixes_of)
    count = Counter(affix for affixes in affixes_of.values() for affix in affixes)
    outermost = Counter(affixes[0] for affixes in affixes_of.values() if affixes)
    frequent = {affix for affix, times in count.items() if times >= max(MIN_TITLES, _SECTION * total)}
    words = {affix: _spaced(_parts(affix)[inner]) for affix in frequent}
    without = _h1s_do_without(affixes_of, h1_of, words, count)
    template = {affix for affix in frequent if count[affix] >= _MOST * total or without.get(affix)}
    parts = {affix for affix in frequent - without.keys() if outermost[affix] >= _PART * total}
    if sum(outermost[affix] for affix in template | parts) >= _NEARLY_ALL * total:
        template |= parts
    return tuple(sorted(template, key=lambda affix: (-len(affix), affix)))


def _h1s_do_without(
    affixes_of: dict[str, list[str]], h1_of: dict[str, str], words: dict[str, str], count: Counter[str]
) -> dict[str, bool]:
    """Whether the H1s lack the `words` of an affix; affixes of which too few H1s can say so are left out.

    An H1 can say so if it is a part of its title or holds the words, and is not on many pages.
    """
    pages = Counter(h1_of.values())
    carried: Counter[str] = Counter()
    free: Counter[str] = Counter()
    for title, affixes in affixes_of.items():
        looked = words.keys() & affixes
        if not looked or pages[h1_of[title]] >= _REPEATED or not has_word(h1_of[title]):
            continue
        h1 = _spaced(h1_of[title])
        is_part = h1 in _spaced(title)
        for affix in looked:
            if words[affix] in h1:
                carried[affix] += 1
            elif is_part:
                free[affix] += 1
    known = carried + free
    return {a: carried[a] < _CARRIED * known[a] for a in words if known[a] >= count[a] / 2}


def _series(names: set[str]) -> frozenset[str]:
    """Folded parts at either end of at least five of the stripped titles."""
    count = Counter(
        fold(_SEPARATOR.sub(" ", affix)) for name in names for affix in (*_prefixes(name), *_suffixes(name))
    )
    return frozenset(part for part, times in count.items() if times >= _REPEATED)


def _repeated(titles: Sequence[str], h1s: Sequence[str], template: Template) -> frozenset[str]:
    """Folded stripped H1s over many different titles, and titles over many different H1s."""
    partners: defaultdict[str, set[str]] = defaultdict(set)
    for title, h1 in zip(titles, h1s, strict=False):
        if title == h1:
            continue
        left, right = fold(template.strip(title)), fold(template.strip(h1))
        if left and right and left != right:
            for text, partner in ((left, right), (right, left)):
                if len(partners[text]) < _REPEATED:
                    partners[text].add(partner)
    return frozenset(text for text, others in partners.items() if len(others) >= _REPEATED)
