"""A site that changes from day to day, and what a project has to know of it after each fetch."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.ingest.sources.crawler.sites import Reply, page, redirect

if TYPE_CHECKING:
    from collections.abc import Iterable

SHELVES = 6
ASKED = ("live", "removed")  # by each crawl, if the page was removed within thirty days, which no test takes
WORDS = ("canvas", "pole", "peg", "rope", "valley", "storm", "lake", "summit", "meadow", "gravel", "lantern", "kettle")


@dataclass
class Doc:
    """A page: what it says, and the paths that it links to in its text, each once."""

    text: str
    links: list[str] = field(default_factory=list)


class ChangingSite:
    """Pages by their paths; `moved` says where an address leads, `gone` which answer 404. The home page links to
    shelves, a shelf to its pages, and the pages to each other. The same seed changes the same things."""

    def __init__(self, seed: int, pages: int = 30) -> None:
        self.random = random.Random(seed)
        self.docs: dict[str, Doc] = {"/": Doc("A shop for tents.")}
        self.moved: dict[str, str] = {}
        self.gone: set[str] = set()
        self.numbers = 0
        for shelf in range(SHELVES):
            self._put(f"/shelf{shelf}", Doc(f"What stands on shelf {shelf}."), linked_from="/")
        for _ in range(pages):
            self.add()
        for path in self._items():  # those that were first would have the links of all that followed
            self.docs[path].links = [to for to in self.random.sample(self._items(), 3) if to != path]

    # --------------------------------------------------------------------------------------------------- what changes

    def day(self) -> None:
        """One day: each kind of change, to pages that are drawn."""
        for change in (self.add, self.add, self.rewrite, self.rewrite, self.link, self.link, self.unlink):
            change()
        for change in self.random.sample([self.move, self.move, self.merge, self.remove, self.forget, self.restore], 3):
            change()

    def add(self) -> None:
        self.numbers += 1
        doc = Doc(self._text(), self.random.sample(self._items(), min(2, len(self._items()))))
        self._put(f"/tent{self.numbers}", doc, linked_from=self._shelf())

    def rewrite(self) -> None:
        self.docs[self._item()].text = self._text()

    def link(self) -> None:
        source, target = self.random.sample(self._items(), 2)
        if target not in self.docs[source].links:
            self.docs[source].links.append(target)

    def unlink(self) -> None:
        """Takes a link out of a text. The target may be reached by others still, or by none."""
        links = self.docs[self.random.choice([path for path in self._items() if self.docs[path].links])].links
        links.remove(self.random.choice(links))

    def move(self) -> None:
        """A page gets a new address; the old one leads there, and half of the links to it are changed."""
        old, self.numbers = self._item(), self.numbers + 1
        new = f"/tent{self.numbers}"
        self.docs[new] = self.docs.pop(old)
        self.moved[old] = new
        for source in self._linking(old)[::2]:
            source.links[source.links.index(old)] = new

    def merge(self) -> None:
        """A page goes, and its address leads to another that was there before."""
        old, to = self.random.sample(self._items(), 2)
        del self.docs[old]
        self.moved[old] = to

    def remove(self) -> None:
        """A page goes, and the links to it stay."""
        old = self._item()
        del self.docs[old]
        self.gone.add(old)

    def forget(self) -> None:
        """A page goes, and all links to it with it."""
        self.remove()
        for doc in self.docs.values():
            doc.links = [to for to in doc.links if self.end_of(to) not in self.gone]

    def restore(self) -> None:
        """A page that went is back at its address."""
        if self.gone:
            path = self.random.choice(sorted(self.gone))
            self.gone.remove(path)
            self._put(path, Doc(self._text()), linked_from=self._shelf())

    def _put(self, path: str, doc: Doc, *, linked_from: str) -> None:
        self.docs[path] = doc
        links = self.docs[linked_from].links
        if path not in links:
            links.append(path)

    def _items(self) -> list[str]:
        return [path for path in self.docs if path.startswith("/tent")]

    def _item(self) -> str:
        return self.random.choice(self._items())

    def _shelf(self) -> str:
        return f"/shelf{self.random.randrange(SHELVES)}"

    def _linking(self, path: str) -> list[Doc]:
        return [doc for doc in self.docs.values() if path in doc.links]

    def _text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=8))

    # ------------------------------------------------------------------------------------------------- what it answers

    def replies(self) -> dict[str, Reply]:
        found = {path: page(self.title(path), *doc.links, text=doc.text) for path, doc in self.docs.items()}
        return found | {path: redirect(to) for path, to in self.moved.items()}

    @staticmethod
    def title(path: str) -> str:
        return f"Page {path}"

    def end_of(self, path: str) -> str:
        """Where an address leads in the end."""
        while path in self.moved:
            path = self.moved[path]
        return path

    def reached(self, known: Iterable[str] = ()) -> list[str]:
        """Every address that links and redirects lead to from the home page, and from pages that are known."""
        todo = list(dict.fromkeys(["/", *known]))
        found = dict.fromkeys(todo)
        for path in todo:
            following: Iterable[str] = [self.moved[path]] if path in self.moved else ()
            if path in self.docs:
                following = [*self.docs[path].links, "/"]
            new = [to for to in following if to not in found]
            found.update(dict.fromkeys(new))
            todo.extend(dict.fromkeys(new))
        return list(found)


@dataclass(eq=False)
class KnownPage:
    """What a project has to know of one page of the site."""

    path: str
    status: str = "live"
    successor: KnownPage | None = None
    is_missing: bool = False
    former: set[str] = field(default_factory=set)


class Oracle:
    """What a project has to know once it has seen the whole site, each of the days it did: worked out page by page."""

    def __init__(self) -> None:
        self.pages: dict[str, KnownPage] = {}
        self.links: set[tuple[str, str, str]] = set()

    def see(self, site: ChangingSite) -> None:
        """The project sees the site as it is now: what links lead to, and what the pages it knew have become."""
        reached = site.reached(
            path for path, page in self.pages.items() if page.status in ASKED and not page.is_missing
        )
        self._move(site, reached)
        former = {path for known in self.pages.values() for path in known.former if site.end_of(path) == known.path}
        # An address that nobody knew and that answers that it is gone is no page.
        new = site.docs.keys() | site.moved.keys()
        seen = [path for path in reached if path not in former and (path in self.pages or path in new)]
        for path in seen:
            self.pages.setdefault(path, KnownPage(path))
        for known in self.pages.values():
            known.is_missing = known.path not in seen
        for path in seen:
            self._judge(self.pages[path], site)
        self.links = {
            (source, site.end_of(target), f"the page {target}")
            for source in seen
            if source in site.docs
            for target in site.docs[source].links
            if site.end_of(target) != source and site.end_of(target) in self.pages
        }

    def _move(self, site: ChangingSite, reached: list[str]) -> None:
        """A page whose address leads to one that nobody knew is the same page there."""
        for old in list(self.pages):
            known, new = self.pages[old], site.end_of(old)
            if old in reached and old != new and known.status == "live" and new in site.docs and new not in self.pages:
                del self.pages[old]
                known.former.add(old)
                known.path = new
                self.pages[new] = known

    def _judge(self, known: KnownPage, site: ChangingSite) -> None:
        if known.path in site.moved:
            known.status, known.successor = "redirected", self.pages.get(site.end_of(known.path))
        else:
            known.status, known.successor = ("live" if known.path in site.docs else "removed"), None

    def state(self) -> dict[str, tuple[str, str, bool]]:
        """Status, successor's path and whether it is missing, by path."""
        return {
            path: (known.status, known.successor.path if known.successor else "", known.is_missing)
            for path, known in self.pages.items()
        }
