"""Reads: what a probability means in each match run, and what it would be in another.

A run states what the shipped model says (linker.engine.ranking.approval), moved by the calibration that the project's
editors had brought about by then. Its report keeps both, so a stated probability leads back to what the model said of
the suggestion, and on to what a later calibration makes of that: exactly, where both runs used the same model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, log
from typing import TYPE_CHECKING, Any

from linker.matching.kept_runs import standing_run
from linker.models import Run, RunKind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from linker.models import Project

LEAST = 1e-6  # a probability is stored with six digits, and has log-odds from here on
SEEN = 0.005  # pages round a probability to whole percents: what moves less reads the same
SEEN_SHIFT = 4 * SEEN  # in log-odds: by so much at a half


@dataclass(frozen=True)
class Scale:
    """The version of the model that ships, and `slope` and `shift` of its log-odds; `kinds`: the further shifts of
    links by their kinds."""

    version: str
    slope: float = 1.0
    shift: float = 0.0
    kinds: Mapping[tuple[str, int], float] = field(default_factory=dict)

    def line_to(self, other: Scale) -> tuple[float, float] | None:
        """Factor and summand that turn log-odds of this scale into those of the other; None between two models."""
        if self.version != other.version or not self.slope:
            return None
        factor = other.slope / self.slope
        return factor, other.shift - factor * self.shift

    def reads_as(self, other: Scale) -> bool:
        """Whether no probability differs between the two by as much as pages show."""
        line = self.line_to(other)
        if line is None:
            return False
        kinds = {*self.kinds, *other.kinds}
        if any(abs(self.kinds.get(kind, 0.0) - other.kinds.get(kind, 0.0)) >= SEEN_SHIFT for kind in kinds):
            return False
        shares = [percent / 100 for percent in range(1, 100)]
        return all(abs(_moved(share, *line) - share) < SEEN for share in shares)


def _moved(probability: float, factor: float, summand: float) -> float:
    return 1 / (1 + exp(-(factor * log(probability / (1 - probability)) + summand)))


def moved_sql(probability: str, factor: str, summand: str) -> str:
    """SQL: a probability on the scale that the line leads to; null where there is no line."""
    inside = f"least(greatest({probability}, {LEAST}), 1 - {LEAST})"
    return f"1 / (1 + exp(-({factor} * ln({inside} / (1 - {inside})) + {summand})))"


@dataclass(frozen=True)
class Rescaling:
    """How probabilities of earlier match runs are read on the scale of the one that stands: by run, a line (see
    Scale.line_to), or None where there is none. Runs on that scale are left out. `since`: when its run ended."""

    lines: dict[int, tuple[float, float] | None]
    since: datetime | None = None


def scales(project: Project, *only: int) -> dict[int, Scale | None]:
    """The scale of each match run of the project, or of some; None where a run does not say, as one that ranked by
    similarity. One query."""
    found = Run.objects.filter(project=project, kind=RunKind.MATCH, **({"pk__in": only} if only else {}))
    said = [f"report__approval__{name}" for name in ("version", "slope", "shift", "kinds")]
    return {
        pk: Scale(version, slope, shift, _shifts(kinds)) if version and None not in (slope, shift) else None
        for pk, version, slope, shift, kinds in found.order_by().values_list("pk", *said)
    }


def _shifts(kinds: list[dict[str, Any]] | None) -> dict[tuple[str, int], float]:
    return {(kind["family"], kind["code"]): kind["shift"] for kind in kinds or ()}


def rescaling(project: Project) -> Rescaling:
    """How earlier runs are read on the scale of the one that stands. Nothing is, where that one states none."""
    standing, found = standing_run(project), scales(project)
    now = found.get(standing.pk) if standing is not None else None
    if standing is None or now is None:
        return Rescaling({})
    others = {run: scale for run, scale in found.items() if run != standing.pk and scale != now}
    lines = {run: scale.line_to(now) if scale is not None else None for run, scale in others.items()}
    return Rescaling(lines, standing.finished_at)
