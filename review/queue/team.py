"""What a team has decided: by day and person, and how much of it was accepted, by what the editors saw."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import connection
from django.utils import timezone
from django.utils.translation import gettext as _

from linker.wording import percent
from review.models import Reason
from review.queue.filter_choices import generator_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from linker.models import Project

DAYS = (7, 28, 90)
MOST_ROWS = 30  # of one table
_NONE = "–"

# The decisions of the time asked for that still hold. An undo takes itself and what it undid out of the count. Nobody
# reviews oneself: of several decisions of one person on a suggestion, the last counts.
_DECIDED = """
    FROM review_decision d JOIN linker_candidateedge e ON e.id = d.edge_id
    WHERE d.project_id = %(project)s AND d.at >= %(since)s AND d.verb IN ('accept', 'edit', 'reject')
      AND NOT EXISTS (SELECT 1 FROM review_decision u WHERE u.undoes_id = d.id)
      AND NOT EXISTS (
        SELECT 1 FROM review_decision own
        WHERE own.edge_id = d.edge_id AND own.id > d.id AND own.user_id = d.user_id
          AND own.verb IN ('accept', 'edit', 'reject')
          AND NOT EXISTS (SELECT 1 FROM review_decision u WHERE u.undoes_id = own.id))
"""
_PERSON = "(SELECT username FROM auth_user WHERE id = d.user_id)"
_KINDS = (
    "count(*) FILTER (WHERE d.verb = 'accept'), count(*) FILTER (WHERE d.verb = 'edit'), "
    "count(*) FILTER (WHERE d.verb = 'reject')"
)


@dataclass(frozen=True)
class Row:
    """Decisions of one kind: how many were accepted as they stood, accepted with an edit, and rejected."""

    name: str
    accepted: int
    edited: int
    rejected: int

    @property
    def total(self) -> int:
        return self.accepted + self.edited + self.rejected

    @property
    def share(self) -> float:
        """Accepted, with or without an edit, of all."""
        return (self.accepted + self.edited) / self.total if self.total else 0.0


@dataclass(frozen=True)
class Day:
    """What one person decided on one day."""

    day: date
    person: str
    decided: int


@dataclass(frozen=True)
class Team:
    """`waited`: the median time from the first proposal of a suggestion to the decision on it; None without any."""

    whole: Row
    people: list[Row]
    days: list[Day]
    tiers: list[Row]
    bands: list[Row]
    generators: list[Row]
    categories: list[Row]
    reasons: list[tuple[str, int]]
    waited: timedelta | None


def since(days: int) -> datetime:
    """The beginning of the last `days` days, today included, in the time zone of the installation."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=days - 1)


def team(project: Project, days: int) -> Team:
    """The decisions since then. Nine queries."""
    rows = _Rows(project, since(days))
    [whole] = rows.by("''", name=str) or [Row("", 0, 0, 0)]
    return Team(
        whole=whole,
        people=rows.by(_PERSON, name=str),
        days=rows.days(),
        tiers=rows.by("d.seen_tier", name=lambda tier: tier or _("No tier")),
        bands=rows.by("least(floor(d.seen_probability * 10), 9)::int", name=_band, order="1 DESC NULLS LAST"),
        generators=rows.by("g.name", name=generator_label, join="CROSS JOIN LATERAL unnest(e.generators) AS g(name)"),
        categories=rows.by(
            "(SELECT array_to_string(c.path, ' › ') FROM linker_page p JOIN linker_category c ON c.id = p.category_id "
            "WHERE p.id = e.source_id)",
            name=lambda category: category or _("No category"),
        ),
        reasons=rows.reasons(),
        waited=rows.waited(),
    )


def _band(band: int | None) -> str:
    if band is None:
        return _NONE
    return _("%(least)d to %(most)s") % {"least": band * 10, "most": percent(band / 10 + 0.1)}


class _Rows:
    """The queries, over the decisions of a project since a moment."""

    def __init__(self, project: Project, since: datetime) -> None:
        self.fields: dict[str, int | datetime | str] = {
            "project": project.pk,
            "since": since,
            "zone": timezone.get_current_timezone_name(),
        }

    def by(self, what: str, name: Callable[[Any], str], order: str = "count(*) DESC, 1", join: str = "") -> list[Row]:
        decided = _DECIDED.replace("WHERE", f"{join} WHERE", 1) if join else _DECIDED
        found = self._ask(f"SELECT {what}, {_KINDS} {decided} GROUP BY 1 ORDER BY {order} LIMIT {MOST_ROWS}")
        return [Row(name(value), *numbers) for value, *numbers in found]

    def days(self) -> list[Day]:
        found = self._ask(
            f"SELECT (d.at AT TIME ZONE %(zone)s)::date, {_PERSON}, count(*) {_DECIDED} "
            " GROUP BY 1, 2 ORDER BY 1 DESC, 2 LIMIT 1000"
        )
        return [Day(*row) for row in found]

    def reasons(self) -> list[tuple[str, int]]:
        found = self._ask(f"SELECT d.reason, count(*) {_DECIDED} AND d.verb = 'reject' GROUP BY 1 ORDER BY 2 DESC, 1")
        return [(str(Reason(reason).label) if reason else _("No reason"), number) for reason, number in found]

    def waited(self) -> timedelta | None:
        [[waited]] = self._ask(f"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY d.at - e.created_at) {_DECIDED}")
        return waited

    def _ask(self, query: str) -> list[Any]:
        with connection.cursor() as cursor:
            cursor.execute(query, self.fields)
            return list(cursor.fetchall())
