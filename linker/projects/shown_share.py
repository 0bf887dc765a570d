"""Reads: how many suggestions the queue shows where the lowest tier that it shows begins here or there, for links with
words in the text and for those without, and which share of them is to be expected to be approved.

That share is the mean of their probabilities, as the run stated them that they are of. Suggestions that go by bounds of
their own, by their category or role, stay as they are, and are counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from django.db import connection, transaction

from linker.matching.cohorts import cohorts_of, stage_cohorts
from linker.models import Basis, Placement, Tier
from linker.models.edge_bands import BANDS
from linker.models.querysets import OPEN, sql
from linker.projects.cohort_bands import remembered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linker.models import Project

SHARES = (0.72, 0.80, 0.86, 0.92)  # of the links in the text: most, many, some, and the surest alone
BESIDE_LESS = 0.04  # a link beside the text disturbs nobody's reading
LEAST, MOST = 50, 98  # hundredths: what is likelier to be rejected than approved is not worth a look
APART = 2  # hundredths between the bounds of two tiers, as the form of the tiers wants it


class Counted(NamedTuple):
    """Open suggestions that are alike. `apart`: they go by bounds of their own; `sum`: of their probabilities."""

    apart: bool
    tier: int | None
    in_text: bool
    has_words: bool
    band: int
    number: int
    sum: float


@dataclass
class Part:
    """Links that would be shown, and the sum of their probabilities."""

    number: int = 0
    sum: float = 0.0

    @property
    def share(self) -> float | None:
        return self.sum / self.number if self.number else None

    @property
    def percent(self) -> int | None:
        return None if self.share is None else round(100 * self.share)

    def reaches(self, share: float) -> bool:
        return self.share is None or round(self.share, 6) >= share


@dataclass(frozen=True)
class Shown:
    """What the queue would show with the lowest tier from so many hundredths on, and from `wordless` hundredths on for
    links without words in the text; None: as it is."""

    lower: int | None
    wordless: int | None
    text: Part
    beside: Part

    def reaches(self, share: float) -> bool:
        has_any = self.text.number or self.beside.number
        return bool(has_any) and self.text.reaches(share) and self.beside.reaches(beside_share(share))

    @property
    def bound(self) -> float | None:
        return None if self.lower is None else self.lower / BANDS

    @property
    def wordless_bound(self) -> float | None:
        return None if self.wordless is None else self.wordless / BANDS


def beside_share(share: float) -> float:
    """What is asked of links beside the text where so much is asked of those in it."""
    return round(share - BESIDE_LESS, 6)


class ShownShares:
    """`tier`: the lowest that the queue shows, None where the project goes by another basis, or shows none; it can
    begin from `least` to `most` hundredths, between its neighbours."""

    def __init__(self, project: Project, *, anew: bool = False) -> None:
        """`anew`: counted now, whatever is remembered."""
        tiers = list(Tier.objects.filter(project=project, basis=Basis.PROBABILITY).order_by("-lower_bound"))
        self._tiers = tiers
        shown = [tier for tier in tiers if not tier.held]
        self._shown = {tier.pk for tier in Tier.objects.filter(project=project, held=False)}
        is_read = project.tier_basis == Basis.PROBABILITY
        self.tier = shown[-1] if shown and is_read else None
        self.wordless_now = _wordless_now(project)
        self.rows: list[Counted] = []
        if self.tier:
            self.rows = _count(project) if anew else remembered(project, "shown share", lambda: _count(project))
        place = tiers.index(self.tier) if self.tier else 0
        self.above = tiers[place - 1] if place else None
        below = tiers[place + 1] if place + 1 < len(tiers) else None
        self._end = self.above.lower_bound if self.above else 2.0
        self.most = min(MOST, int(round(100 * self._end, 6)) - APART)
        self.least = max(LEAST, -int(-round(100 * below.lower_bound, 6) // 1) + APART) if below else LEAST

    def at(self, lower: int | None, wordless: int | None = None) -> Shown:
        """What would be shown from so many hundredths on; `wordless`: of links without words, from the same on where
        it is None."""
        text, beside = Part(), Part()
        wordless = lower if wordless is None else wordless
        for row in self.rows:
            was_shown = row.tier in self._shown
            moves = lower is not None and not row.apart and row.band < BANDS * self._end
            least = (lower if row.has_words else wordless) or 0
            if not (row.band >= least if moves else was_shown):
                continue
            part = text if self._is_in_text(row, was_shown=was_shown) else beside
            part.number += row.number
            part.sum += row.sum
        return Shown(lower, wordless, text, beside)

    def _is_in_text(self, row: Counted, *, was_shown: bool) -> bool:
        """Where it stands; where it is not shown yet, where it would unless its text has no room for it."""
        if was_shown or self.tier is None:
            return row.in_text
        return row.has_words and self.tier.placement == Placement.INLINE

    def for_share(self, share: float) -> Shown | None:
        """The most that reaches the share, in the text and beside it; None where nothing does. Where no suggestion has
        words in the text yet, those that will have begin where the others do."""
        places = range(self.least, self.most + 1)
        has_words = any(row.has_words and not row.apart and row.band >= self.least for row in self.rows)
        lower = next((one for one in places if self.at(one).text.reaches(share)), self.most) if has_words else None
        for one in places:
            shown = self.at(one if lower is None else lower, one)
            if shown.reaches(share):
                return shown
        return None

    def wordless_bounds(self, shown: Shown) -> dict[int, float]:
        """Where tiers begin for links without words, by their ids, as TiersWanted has it: empty where as for others."""
        if self.tier is None or shown.wordless_bound in (None, shown.bound):
            return {}
        bounds = {tier.pk: tier.lower_bound for tier in self._tiers}
        return bounds | {self.tier.pk: shown.wordless_bound or 0.0}

    @property
    def wordless_bound(self) -> float | None:
        """Where the tier begins now for links without words."""
        if self.tier is None:
            return None
        return self.wordless_now.get(self.tier.pk, self.tier.lower_bound)


def _wordless_now(project: Project) -> Mapping[int, float]:
    """The bounds of links without words, by tier; empty where they have none of their own."""
    return next((one.bounds for one in cohorts_of(project, Basis.PROBABILITY) if one.wordless), {})


def _count(project: Project) -> list[Counted]:
    with transaction.atomic(), connection.cursor() as cursor:
        cohorts = [one for one in cohorts_of(project, Basis.PROBABILITY) if not one.wordless]
        apart, joins = "false", ""
        if cohorts:
            own = stage_cohorts(cursor, "own", project, cohorts)
            joins = "JOIN linker_page s ON s.id = e.source_id " + own.joins(
                "s", "e.target_id", "'probability'", "e.span_start IS NOT NULL"
            )
            apart = f"{own.cohort} <> 0"
        cursor.execute(
            f"""
            SELECT {apart}, e.tier_id, e.placement = 'inline', e.span_start IS NOT NULL, anchorline_band(e.probability),
                count(*), sum(e.probability)
            FROM linker_candidateedge e {joins}
            WHERE e.project_id = %s AND {sql(OPEN, "e")} AND e.probability IS NOT NULL
            GROUP BY 1, 2, 3, 4, 5
            """,
            [project.pk],
        )
        return [Counted(*row) for row in cursor.fetchall()]
