"""Reads: what a project's decisions teach the next match, by kind of link, in words and numbers; and what kinds are
called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from linker.engine.ranking.calibration import SOURCES, Family
from linker.engine.roles.policy import LABELS
from linker.matching.lessons import ALL, ROLES, decisions, kind_lessons, lesson_of, open_links, upcoming
from linker.models import Category
from linker.models.learning import left_aside

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable

    from linker.matching.report_types import KindLesson
    from linker.models import Project


@dataclass(frozen=True)
class KindRow:
    """A kind of link: its name, the decisions on it and how many of them approved, how many suggestions of it the queue
    shows and would show, and whether decisions on it count."""

    family: str
    code: int
    name: str
    decisions: int
    approved: int
    before: int
    now: int
    counts: bool


@dataclass(frozen=True)
class NextMatch:
    """What the next match would make of decisions: suggestions shown now (`before`) and then (`now`), and the kinds.
    `all_count`: nobody has disregarded the decisions on all links."""

    decisions: int
    before: int
    now: int
    rows: list[KindRow]
    all_count: bool = True


def next_match(project: Project) -> NextMatch | None:
    """What the next match would make of the decisions of today, among the suggestions that are open now. None where
    there is no run with probabilities to go by, or where tiers do not read them."""
    decided = decisions(project)
    waiting = open_links(project)
    lesson = lesson_of(project, decided, waiting)
    found = upcoming(project, lesson, waiting)
    if found is None:
        return None
    before, now = found
    kinds = kind_lessons(lesson, decided)
    aside = left_aside(project)
    rows = _rows(project, kinds, before, now, aside)
    known = {(row.family, row.code) for row in rows}
    names = kind_names(project, aside)
    rows += [
        KindRow(*kind, names[kind], 0, 0, before[kind], now[kind], counts=False)
        for kind in sorted(aside - known - {ALL})
        if kind in names
    ]
    return NextMatch(len(decided), before[ALL], now[ALL], rows, all_count=ALL not in aside)


def _rows(
    project: Project,
    kinds: Iterable[KindLesson],
    before: Counter[tuple[str, int]],
    now: Counter[tuple[str, int]],
    aside: set[tuple[str, int]],
) -> list[KindRow]:
    kinds = list(kinds)
    names = kind_names(project, [(kind.family.value, kind.code) for kind in kinds])
    rows = []
    for one in kinds:
        kind = (one.family.value, one.code)
        if kind in names:
            counts = (one.decisions, one.approved, before[kind], now[kind])
            rows.append(KindRow(*kind, names[kind], *counts, kind not in aside))
    return sorted(rows, key=lambda row: (-row.decisions, row.name))


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
            return _("Links from “%(category)s”") % {"category": categories[code]} if code in categories else ""
        case Family.TO:
            return _("Links to “%(category)s”") % {"category": categories[code]} if code in categories else ""
        case Family.PLACE:
            return _("Links in the text") if code else _("Links without words in the text")
        case Family.ACCEPTOR:
            return _("Links to pages on whose links somebody has decided")
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
        "anchor": _("Links on words of existing links"),
        "title": _("Links on words of titles"),
        "h1": _("Links on words of main headings"),
        "url": _("Links on words of addresses"),
        "text": _("Links on other words of the text"),
    }


def _traits_named() -> dict[Family, tuple[str, ...]]:
    """The kinds of the families of linker.engine.ranking.calibration.DIGIT, in their order."""
    return {
        Family.NEARNESS: (
            _("Links between pages that are far apart in meaning"),
            _("Links between pages that are less near in meaning than others"),
            _("Links between pages that are near in meaning"),
            _("Links between pages that are nearest in meaning"),
        ),
        Family.TITLE: (
            _("Links on words that are not in the acceptor’s title"),
            _("Links on words that say less than half of the acceptor’s title"),
            _("Links on words that say half or more of the acceptor’s title"),
            _("Links on words that say the whole title of the acceptor"),
        ),
        Family.CAPITALS: (
            _("Links on words in small letters"),
            _("Links on words of which some have a capital"),
            _("Links on words that all have a capital"),
        ),
        Family.SPREAD: (
            _("Links on words that hardly a page says"),
            _("Links on words that 3 to 29 pages say"),
            _("Links on words that 30 pages or more say"),
        ),
    }
