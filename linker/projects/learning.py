"""Reads: what a project's decisions teach the next match, by kind of link, in words and numbers; and what kinds are
called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from linker.engine.ranking.calibration import SOURCES, Family
from linker.engine.roles.policy import LABELS
from linker.engine.text.names import page_name
from linker.matching.lessons import ALL, ROLES, decisions, kind_lessons, lesson_of, open_links, upcoming
from linker.models import Category
from linker.models.learning import left_aside

if TYPE_CHECKING:
    from collections.abc import Iterable

    from linker.models import Project


MOST_FIRST = 8  # kinds that are told of without asking


@dataclass(frozen=True)
class Example:
    """A suggestion by its number, with what its pages are called and its words."""

    pk: int
    donor: str
    words: str
    acceptor: str


@dataclass(frozen=True)
class KindRow:
    """A kind of link: its name, the decisions on it and how many of them approved, how many suggestions of it the queue
    shows and would show, and whether decisions on it count. `moved`: how many suggestions leave the queue (-) or come
    into it (+) because of this kind; each is counted under the kind that moves it most. `examples`: some of these,
    or of others of the kind."""

    family: str
    code: int
    name: str
    decisions: int
    approved: int
    before: int
    now: int
    counts: bool
    moved: int = 0
    examples: tuple[Example, ...] = ()

    @property
    def leaving(self) -> int:
        return max(0, -self.moved)


@dataclass(frozen=True)
class NextMatch:
    """What the next match would make of decisions: suggestions shown now (`before`) and then (`now`), and the kinds.
    `all_count`: nobody has disregarded the decisions on all links."""

    decisions: int
    before: int
    now: int
    rows: list[KindRow]
    all_count: bool = True

    @property
    def first(self) -> list[KindRow]:
        """The kinds that move most into the queue or out of it, and those that somebody has disregarded."""
        moving = sorted((row for row in self.rows if row.moved), key=lambda row: (-abs(row.moved), row.name))
        return moving[:MOST_FIRST] + [row for row in self.rows if not row.counts and not row.moved]

    @property
    def more(self) -> list[KindRow]:
        first = self.first
        return [row for row in self.rows if row not in first]


def next_match(project: Project) -> NextMatch | None:
    """What the next match would make of the decisions of today, among the suggestions that are open now. None where
    there is no run with probabilities to go by, or where tiers do not read them."""
    decided = decisions(project)
    waiting = open_links(project)
    lesson = lesson_of(project, decided, waiting)
    found = upcoming(project, lesson, waiting)
    if found is None:
        return None
    aside = left_aside(project)
    learned = {(one.family.value, one.code): one for one in kind_lessons(lesson, decided)}
    names = kind_names(project, [*learned, *(aside - {ALL})])
    examples = _examples(project, {kind: found.examples.get(kind, []) for kind in names})
    rows = [
        KindRow(
            *kind, name, *((one.decisions, one.approved) if (one := learned.get(kind)) else (0, 0)),
            found.before[kind], found.now[kind], kind not in aside, found.moved[kind],
            examples[kind][: 3 if found.moved[kind] else 2],
        )
        for kind, name in names.items()
    ]  # fmt: skip
    rows.sort(key=lambda row: (-row.decisions, row.name))
    return NextMatch(len(decided), found.before[ALL], found.now[ALL], rows, all_count=ALL not in aside)


def _examples(project: Project, wanted: dict[tuple[str, int], list[int]]) -> dict[tuple[str, int], tuple[Example, ...]]:
    """The suggestions by kind, from their ids."""
    pages = [f"{side}__{name}" for side in ("source", "target") for name in ("title", "h1", "url")]
    ids = {edge for of_kind in wanted.values() for edge in of_kind}
    found = {}
    for pk, anchor, *names in project.edges.filter(pk__in=ids).values_list("pk", "anchor", *pages):
        donor, acceptor = (page_name(title, h1) or url for title, h1, url in (names[:3], names[3:]))
        found[pk] = Example(pk, donor, anchor, acceptor)
    return {kind: tuple(found[pk] for pk in of_kind if pk in found) for kind, of_kind in wanted.items()}


def kind_names(project: Project, kinds: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """What kinds are called, in the language of who asks; those of categories that are gone are left out."""
    wanted = set(kinds)
    sections = [code for family, code in wanted if family in (Family.FROM, Family.TO)]
    categories = dict(Category.objects.filter(project=project, pk__in=sections).values_list("pk", "name"))
    found = {kind: _name(*kind, categories) for kind in wanted}
    return {kind: name for kind, name in found.items() if name}


def _name(family: str, code: int, categories: dict[int, str]) -> str:
    match family:
        case "":
            return _("All links")
        case Family.GIVER:
            return _("Links from pages with the role “%(role)s”") % {"role": _(LABELS[ROLES[code]])}
        case Family.RECEIVER:
            return _("Links to pages with the role “%(role)s”") % {"role": _(LABELS[ROLES[code]])}
        case Family.FROM:
            return (
                _("Links from pages in “%(category)s”") % {"category": categories[code]} if code in categories else ""
            )
        case Family.TO:
            return _("Links to pages in “%(category)s”") % {"category": categories[code]} if code in categories else ""
        case Family.PLACE:
            return _("Links in the text") if code else _("Links without words in the text")
        case Family.ACCEPTOR:
            return _("Further links to pages that decisions were about")
        case Family.WORDS:
            return _words_named()[SOURCES[code]]
        case _trait:
            return _traits_named()[Family(family)][code]


def is_kind(family: str, code: str) -> bool:
    """Whether a form names a kind: all links, or one of a family."""
    if not (code.isascii() and code.isdigit() and len(code) < 19):
        return False
    most = {
        "": 1,
        Family.GIVER: len(ROLES),
        Family.RECEIVER: len(ROLES),
        Family.PLACE: 2,
        Family.ACCEPTOR: 1,
        Family.WORDS: len(SOURCES),
        Family.FROM: 2**63,
        Family.TO: 2**63,
        **{family.value: len(names) for family, names in _traits_named().items()},
    }
    return family in most and int(code) < most[family]


def kind_name(project: Project, family: str, code: int) -> str:
    """What a kind is called in the language of who asks; of a category that is gone, its number."""
    return kind_names(project, [(family, code)]).get((family, code), str(code))


def _words_named() -> dict[str, str]:
    return {
        "anchor": _("Links on words that the site’s own links use"),
        "title": _("Links on words from the acceptor’s title"),
        "h1": _("Links on words from the acceptor’s main heading"),
        "url": _("Links on words from the acceptor’s address"),
        "text": _("Links on other words of the text"),
    }


def _traits_named() -> dict[Family, tuple[str, ...]]:
    """The kinds of the families of linker.engine.ranking.calibration.DIGIT, in their order."""
    return {
        Family.NEARNESS: (
            _("Links between pages about quite different things"),
            _("Links between pages about loosely related things"),
            _("Links between pages about related things"),
            _("Links between pages about nearly the same thing"),
        ),
        Family.TITLE: (
            _("Links on words that are not in the acceptor’s title"),
            _("Links on words that say less than half of the acceptor’s title"),
            _("Links on words that say half or more of the acceptor’s title"),
            _("Links on words that say the whole title of the acceptor"),
        ),
        Family.CAPITALS: (
            _("Links on words in small letters"),
            _("Links on words of which some begin with a capital"),
            _("Links on words that all begin with a capital"),
        ),
        Family.SPREAD: (
            _("Links on words that fewer than 3 pages use"),
            _("Links on words that 3 to 29 pages use"),
            _("Links on words that 30 pages or more use"),
        ),
    }
