"""Reads: why a project has no suggestion in the text of a page, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from linker.engine.roles.policy import PageRole
from linker.matching.kept_runs import standing_run
from linker.matching.report_types import LinkPlace, MatchReport
from linker.models import Placement, Side
from linker.models.edge_counts import kept_counts, total
from linker.models.querysets import DECIDED, HELD, TO_REVIEW
from linker.wording import number

if TYPE_CHECKING:
    from linker.models import Project, Run

MOSTLY = 0.8  # of the pages that could give links


@dataclass(frozen=True)
class NoneInText:
    """Why, and the query of the queue's address that shows them; empty where there are none."""

    said: str
    query: str = ""


def none_in_text(project: Project, run: Run | None = None) -> NoneInText | None:
    """The reason where nothing to review stands in the text; None where something does, or all of it is decided, or no
    match has run. `run`: asked on the page of this one, and answered for the run that stands. Two queries."""
    standing = standing_run(project)
    if standing is None or run not in (None, standing):
        return None
    in_text = kept_counts(project).filter(placement=Placement.INLINE)
    counts = in_text.aggregate(shown=total(TO_REVIEW), held=total(HELD), decided=total(DECIDED))
    if counts["shown"]:
        return None
    if counts["held"]:
        said = ngettext(
            "No suggestion in the text is shown: the one that there is scores below the tiers that the queue shows.",
            "No suggestion in the text is shown: all %(links)s score below the tiers that the queue shows.",
            counts["held"],
        )
        return NoneInText(said % {"links": number(counts["held"])}, "placement=inline&held=1")
    report = MatchReport.from_json(standing.report)
    if counts["decided"] and (report.placements is None or report.placements.get(LinkPlace.INLINE)):
        return None  # what the run proposed there is decided
    return NoneInText(_by_report(report))


def _by_report(report: MatchReport) -> str:
    donors, hubs = report.donors or 0, _hubs(report)
    if hubs and hubs >= MOSTLY * (hubs + donors):
        said = ngettext(
            "No suggestion is in the text: %(hubs)s page is a hub, a list of other pages, which gives no links.",
            "No suggestion is in the text: %(hubs)s pages are hubs, lists of other pages, which give no links.",
            hubs,
        )
        return said % {"hubs": number(hubs)}
    if not donors:
        return _("No suggestion is in the text: no page may give links.")
    if report.donors_with_text == 0:
        return _("No suggestion is in the text: no text of the pages that may give links was imported.")
    return _("No suggestion is in the text: no words of the texts fit a link well.")


def _hubs(report: MatchReport) -> int:
    return sum(one.pages for one in report.left_out or () if one.role is PageRole.HUB and one.side != Side.ACCEPTOR)
