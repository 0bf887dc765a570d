"""Reads: what the last match changed of what the queue shows, as a sum that adds up: what was there, what left and why,
what came, what is there now."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.engine.ranking.calibration import Family
from linker.matching.kept_runs import standing_run
from linker.matching.report_types import KindLesson, MatchReport, QueueReason, RetierReport
from linker.models import Run, RunKind, RunStatus
from linker.models.edge_counts import kept_counts, total
from linker.models.learning import left_aside
from linker.models.querysets import TO_REVIEW
from linker.projects.learning import kind_names
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from linker.matching.report_types import QueueChange, QueueMove
    from linker.models import Project

SHRUNK = 0.5  # of what was there before: with less left, the queue says so by itself
MOST_KINDS = 5
REASONS = {
    QueueReason.HELD: gettext_lazy("held back: they now score below the tiers that the queue shows"),
    QueueReason.WORDLESS: gettext_lazy("held back: they have no words in the text, and only surer ones are shown"),
    QueueReason.STALE: gettext_lazy("no longer proposed"),
    QueueReason.DECIDED: gettext_lazy("decided while the match was under way"),
    QueueReason.GONE: gettext_lazy("deleted with a page"),
    QueueReason.NEW: gettext_lazy("new"),
    QueueReason.RAISED: gettext_lazy("were held back, and now score high enough"),
    QueueReason.BACK: gettext_lazy("proposed again"),
}


_HELD = (QueueReason.HELD, QueueReason.WORDLESS)


@dataclass(frozen=True)
class KindPart:
    """How many of a line's suggestions decisions on one kind of link moved, and the words for it. `family`, `code` and
    `name` are the kind's; `counts`: decisions on it count for the next match."""

    links: int
    said: str
    name: str
    family: str
    code: int
    query: str
    counts: bool


@dataclass(frozen=True)
class Line:
    """A number of suggestions that left or came, signed, with the reason; `query` shows them in the queue, where it
    can. `parts` are the kinds that had most part in it, and `others` are left."""

    links: int
    said: str
    query: str
    reason: QueueReason
    parts: tuple[KindPart, ...] = ()
    others: int = 0


@dataclass(frozen=True)
class BoundsLine:
    """How many suggestions came into what the queue shows, or left it, signed, by bounds of tiers that were changed
    since the match; `run` is the newest that changed them so."""

    links: int
    said: str
    run: Run


@dataclass(frozen=True)
class QueueSum:
    """`before` and the `lines` add up to `now`, when the `run` had ended; that, `bounds` and `since`, what was decided
    or changed afterwards, to `left`, what is to be reviewed today."""

    run: Run
    before: int
    lines: tuple[Line, ...]
    now: int
    bounds: tuple[BoundsLine, ...]
    since: int
    left: int

    @property
    def is_shrunk(self) -> bool:
        """Whether the match left few of what there was, and they have not come back since."""
        return max(self.now, self.left) < SHRUNK * self.before

    @property
    def wordless(self) -> Line | None:
        """What it holds back because links without words in the text have to be surer."""
        return next((line for line in self.lines if line.reason is QueueReason.WORDLESS), None)

    @property
    def held(self) -> Line | None:
        """What the match holds back that was shown before it."""
        return next((line for line in self.lines if line.reason is QueueReason.HELD), None)


def queue_sum(project: Project) -> QueueSum | None:
    """What the standing run made of the queue; None where it found none to change, or an earlier version did not
    count."""
    run = standing_run(project)
    report = MatchReport.from_json(run.report) if run is not None else None
    if run is None or report is None or report.queue is None or not report.queue.before:
        return None
    left = kept_counts(project).aggregate(links=total(TO_REVIEW))["links"]
    kinds = {(one.family.value, one.code): one for one in (report.approval.kinds if report.approval else ())}
    lines = _lines(project, run, report.queue, kinds)
    change, bounds = report.queue, _bounds(project, run)
    since = left - change.now - sum(line.links for line in bounds)
    return QueueSum(run, change.before, lines, change.now, bounds, since, left)


BOUNDS = {
    True: gettext_lazy("bounds of the tiers chosen anew, by the share that “More links – surer links” was set to"),
    False: gettext_lazy("tiers or their bounds changed by people"),
}


def _bounds(project: Project, run: Run) -> tuple[BoundsLine, ...]:
    """What changes of tiers have made of the queue since the run ended: those that the product made by itself, and
    those of people. What the queue shows is told by the tiers as they are called and held back today."""
    later = Run.objects.filter(project=project, kind=RunKind.RETIER, status=RunStatus.SUCCEEDED)
    later = later.filter(finished_at__gt=run.finished_at or run.created_at).order_by("pk")
    shown = set(project.tiers.filter(held=False).values_list("name", flat=True))
    links, newest = dict.fromkeys(BOUNDS, 0), dict[bool, Run]()
    for one in later:
        report = RetierReport.from_json(one.report)
        for side, sign in ((report.before, -1), (report.after, 1)):
            links[one.by_itself] += sign * sum(tier.links for tier in side if tier.name in shown)
        newest[one.by_itself] = one
    return tuple(
        BoundsLine(links[by_itself], str(said), newest[by_itself])
        for by_itself, said in BOUNDS.items()
        if links[by_itself]
    )


def _lines(
    project: Project, run: Run, change: QueueChange, kinds: dict[tuple[str, int], KindLesson]
) -> tuple[Line, ...]:
    names = kind_names(project, {(move.family, move.code) for move in change.moves if move.family})
    aside, order = left_aside(project), list(QueueReason)
    found = []
    moves = sorted(change.moves, key=lambda move: (order.index(move.reason), -move.links))
    for reason, of_reason in groupby(moves, key=lambda move: move.reason):
        mine = list(of_reason)
        links, sign = sum(move.links for move in mine), -1 if reason.leaves else 1
        parts = tuple(_parts(mine, names, kinds, aside))[:MOST_KINDS]
        rest = links - sum(part.links for part in parts) if parts else 0
        found.append(Line(sign * links, str(REASONS[reason]), _query(project, run, reason), reason, parts, rest))
    return tuple(found)


def _parts(
    moves: Iterable[QueueMove],
    names: dict[tuple[str, int], str],
    kinds: dict[tuple[str, int], KindLesson],
    aside: set[tuple[str, int]],
) -> Iterable[KindPart]:
    for move in moves:
        kind = (move.family, move.code)
        if kind in names:
            said = _said(names[kind], move.reason, kinds.get(kind))
            yield KindPart(move.links, said, names[kind], *kind, _kind_query(move), kind not in aside)


def _said(name: str, reason: QueueReason, lesson: KindLesson | None) -> str:
    """Such as: "Links to pages with the role “Hub”: 14 of 15 rejected or reworded"."""
    if lesson is None:  # nothing is decided on it any more
        return name
    some = lesson.decisions - lesson.approved if reason.leaves else lesson.approved
    counts = {"kind": name, "some": number(some), "all": number(lesson.decisions)}
    if reason.leaves:
        return _("%(kind)s: %(some)s of %(all)s rejected or reworded") % counts
    return _("%(kind)s: %(some)s of %(all)s approved as they were") % counts


def _query(project: Project, run: Run, reason: QueueReason) -> str:
    """The query of the queue's address that lists them, among others of the same state; empty where none does."""
    if reason in _HELD:
        return "held=1"
    if reason is QueueReason.STALE:
        return "stale=1"
    if reason is QueueReason.NEW:
        return urlencode({"since": localtime(run.created_at, ZoneInfo(project.time_zone)).date().isoformat()})
    return ""


def _kind_query(move: QueueMove) -> str:
    asked: dict[str, str | int] = {"held": 1} if move.reason in _HELD else {}
    if move.family == Family.PLACE:
        asked["placement"] = "inline" if move.code else "related"
    if move.family == Family.FROM:
        asked["category"] = move.code
    return urlencode(asked)
