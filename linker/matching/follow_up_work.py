"""The work of a run that follows a result: see linker.matching.follow_up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from linker.matching import away
from linker.matching.content_gaps import find_paragraphs
from linker.matching.follow_up import Piece
from linker.matching.report_types import MatchReport
from linker.matching.run_comparison import compare_with_last
from linker.matching.suppressions import bring_back_allowed, hide
from linker.matching.tiers import catch_up
from linker.models import Run, RunKind
from linker.pages.identity.edges import settle as follow_pages
from linker.runs import lifecycle
from linker.runs.reports import Report
from linker.storage.edge_counts import fold, recount
from linker.storage.sections import settle as follow_categories

if TYPE_CHECKING:
    from collections.abc import Callable

    from linker.runs.lifecycle import Progress


@dataclass(frozen=True, kw_only=True)
class FollowUpReport(Report):
    """How many suggestions each piece has changed; None where it was not asked for.

    `sections`: their donor is in another category. `ruled_out`: taken out of the queue. `moved`: they follow their
    pages, or are closed with them. `left`, `back`: out of the queue and into it again with their pages. `reread`:
    looked at for another tier. `paragraphs`: content gaps with a paragraph. `allowed`: back in the queue, since what
    had ruled them out was lifted.
    """

    sections: int | None = None
    ruled_out: int | None = None
    moved: int | None = None
    left: int | None = None
    back: int | None = None
    reread: int | None = None
    paragraphs: int | None = None
    allowed: int | None = None


def run_follow_up(run: Run, progress: Progress = lifecycle.no_progress) -> FollowUpReport:
    """The work of the run. May run twice: each piece looks for what is still to be done."""
    report, pieces = FollowUpReport(), [Piece(name) for name in run.params["pieces"]]
    for done, piece in enumerate(pieces):
        stage, work = _WORK[piece]
        progress(done, len(pieces), stage)
        report = work(run, report, progress)
    fold(run.project_id)
    return report


def _count(run: Run, report: FollowUpReport, _: Progress) -> FollowUpReport:
    recount(run.project)
    return report


def _turn(run: Run, report: FollowUpReport, _: Progress) -> FollowUpReport:
    left, back = away.follow(run.project)
    return replace(report, left=left, back=back)


def _find_paragraphs(run: Run, report: FollowUpReport, _: Progress) -> FollowUpReport:
    match = _match_of(run)
    if match is None:
        return report
    found = find_paragraphs(match)
    of_match = replace(MatchReport.from_json(match.report), gaps_with_paragraph=found)
    Run.objects.filter(pk=match.pk).update(report=of_match.to_json())
    return replace(report, paragraphs=found)


def _compare(run: Run, report: FollowUpReport, _: Progress) -> FollowUpReport:
    match = _match_of(run)
    if match is not None:
        compare_with_last(match)
    return report


def _match_of(run: Run) -> Run | None:
    if run.follows_id is None:
        return None
    return Run.objects.select_related("project", "model").filter(pk=run.follows_id, kind=RunKind.MATCH).first()


_WORK: dict[Piece, tuple[str, Callable[[Run, FollowUpReport, Progress], FollowUpReport]]] = {
    Piece.COUNTS: ("Counting suggestions", _count),
    Piece.SECTIONS: (
        "Following categories",
        lambda run, report, _: replace(report, sections=follow_categories(run.project)),
    ),
    Piece.ALLOWED: (
        "Bringing back what may be suggested again",
        lambda run, report, progress: replace(report, allowed=bring_back_allowed(run.project, progress)),
    ),
    Piece.RULED_OUT: (
        "Taking out what is ruled out",
        lambda run, report, _: replace(report, ruled_out=len(hide(run.project))),
    ),
    Piece.MOVED: ("Following pages", lambda run, report, _: replace(report, moved=follow_pages(run.project))),
    Piece.TURNED: ("Following what may be linked", _turn),
    Piece.TIERS: (
        "Reading tiers",
        lambda run, report, _: replace(report, reread=catch_up(run.project, run.params.get("target"))),
    ),
    Piece.PARAGRAPHS: ("Choosing paragraphs for content gaps", _find_paragraphs),
    Piece.COMPARISON: ("Comparing with the run before", _compare),
}
