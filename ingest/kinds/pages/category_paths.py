"""The paths of categories that a file of pages names."""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PathOfNames = tuple[str, ...]
HOME_SHARE = 0.9
_HOME = re.compile(
    r"home(?:page| page)?|start(?:seite|page)?|accueil|page d'accueil|inicio|início|página inicial|hem|forside|hjem"
    r"|strona główna|главная|ホーム|トップ|top|index|hauptseite|⌂|🏠",
    re.IGNORECASE,
)


class CategoryPaths:
    """The paths of categories met so far, each with a number, in the order they were met.

    A breadcrumb that ends in the page itself makes a category of each page. Where the last name is the page's title or
    H1 the parser drops it; a shorter or older name only shows in the whole: OWN_CRUMBS and more of the paths that end
    at a depth, and most of them, then stand for one page alone and name it. The last name of these is dropped, and so
    is one that is a part of its only page's H1, however few do it: a category of one page would be worth nothing.
    """

    OWN_CRUMBS = 5

    def __init__(self) -> None:
        self.numbers: dict[PathOfNames, int] = {}
        self.rows: Counter[int] = Counter()
        self._only: dict[int, str] = {}  # number: key of the only page, of those that name it
        self._certain: set[int] = set()  # those of them that are the page's name for certain

    def number(self, path: PathOfNames) -> int | None:
        return self.numbers.setdefault(path, len(self.numbers)) if path else None

    def number_of(
        self, path: PathOfNames, key: str, is_named: Callable[[str], bool], is_certain: Callable[[str], bool]
    ) -> int | None:
        """As number(), of a breadcrumb of the page with that key; `is_named` tells whether a name may be the page's,
        and `is_certain` of such a name whether it is, as long as no other page is below it."""
        if not path:
            return None
        known = len(self.numbers)
        number = self.numbers.setdefault(path, known)
        if number == known and is_named(path[-1]):
            self._only[number] = key
            if is_certain(path[-1]):
                self._certain.add(number)
        elif number in self._only and self._only[number] != key:
            del self._only[number]
        return number

    def count(self, numbers: Iterable[int | None]) -> None:
        """Notes the numbers of some rows."""
        self.rows.update(number for number in numbers if number is not None)

    def paths(self) -> list[PathOfNames]:
        """Path by number, without the page's own name and a “Home” that nearly all begin with; some may be empty."""
        home, own = self._home(), self._own_crumbs
        found = []
        for path, number in self.numbers.items():
            rest = path[:-1] if number in own else path
            found.append(rest[1:] if rest and rest[0] == home else rest)
        return found

    @property
    def own_crumbs(self) -> int:
        """How many paths ended in a page."""
        return len(self._own_crumbs)

    @cached_property
    def _own_crumbs(self) -> frozenset[int]:
        """The numbers of the paths whose last name is dropped; to be asked for when all rows were met."""
        inner: set[PathOfNames] = set()
        for path in self.numbers:
            while (path := path[:-1]) and path not in inner:
                inner.add(path)
        leaves: dict[int, list[int]] = {}
        for path, number in self.numbers.items():
            if path not in inner:
                leaves.setdefault(len(path), []).append(number)
        own: set[int] = set()
        for numbers in leaves.values():
            named = [number for number in numbers if number in self._only]
            if len(named) >= self.OWN_CRUMBS and len(named) * 2 > len(numbers):
                own.update(named)
            own.update(number for number in named if number in self._certain)
        return frozenset(own)

    def _home(self) -> str | None:
        rows: Counter[str] = Counter()
        for path, number in self.numbers.items():
            rows[path[0]] += self.rows[number]
        for name, count in rows.most_common(1):
            if _HOME.fullmatch(name) and count >= HOME_SHARE * rows.total():
                return name
        return None
