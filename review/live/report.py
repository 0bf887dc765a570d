"""What a look for released links found, counted and in words."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from linker.reports.table import Table
from linker.runs.reports import Report, ReportKind
from linker.wording import number
from review.models import LiveState


@dataclass(frozen=True, kw_only=True)
class VerifyReport(Report):
    """`looked_for` released links, of which `changed` are in another state than before and `reopened` are back in the
    queue; `states` counts them all."""

    looked_for: int = 0
    changed: int = 0
    reopened: int = 0
    states: dict[LiveState, int] = field(default_factory=dict)


TABLE = Table(
    labels={
        "looked_for": gettext_lazy("Released links"),
        "changed": gettext_lazy("In another state than before"),
        "reopened": gettext_lazy("Back in the queue"),
        "states": gettext_lazy("State"),
    },
    keys={"states": lambda state: str(LiveState(state).label)},
)


def sentences(report: VerifyReport) -> list[str]:
    live = report.states.get(LiveState.LIVE, 0)
    back = ngettext(
        "%(links)s link was live and has gone; it is back in the queue.",
        "%(links)s links were live and have gone; they are back in the queue.",
        report.reopened,
    )
    dead = report.states.get(LiveState.DEAD, 0)
    nowhere = ngettext(
        "%(links)s link leads nowhere: its acceptor is gone.",
        "%(links)s links lead nowhere: their acceptors are gone.",
        dead,
    )
    return [
        _("%(live)s of %(all)s released links are live as they were released.")
        % {"live": number(live), "all": number(report.looked_for)},
        back % {"links": number(report.reopened)} if report.reopened else "",
        nowhere % {"links": number(dead)} if dead else "",
    ]


VERIFY = ReportKind(VerifyReport, sentences, TABLE.rows)
