"""Two match runs compared link by link, by what is kept of them (linker.matching.kept_runs).

Donors are read some thousands at a time, both runs side by side. What stays in memory is a score a link of both runs,
for the correlation, and the ids of the donors that changed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import transaction

from linker.engine.orders import HistogramDistance, PairOrder, histogram_distance, spearman
from linker.matching.kept_runs import kept_runs
from linker.matching.report_types import CompareReport, Distance, TierMove
from linker.models import ChangedDonors, KeptRun, LinkChange, Project, Run, RunComparison, RunKind
from linker.models.querysets import DECIDED, sql
from linker.runs import lifecycle
from linker.storage.copy import copy_out
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from linker.runs.lifecycle import Progress

DONORS_AT_A_TIME = 20_000
DONORS_A_ROW = 4_000  # of ChangedDonors
BANDS = 100
MOST_COMPARISONS = 10  # of a project
_FIELDS = [
    ("source", ">i8"),
    ("target", ">i8"),
    ("place", ">i8"),
    ("score", ">f4"),
    ("value", ">f4"),
    ("level", ">i2"),
    ("tier", ">i2"),
    ("words", ">i8"),
]
_LINKS = """
SELECT k.source, l.target, l.place, l.score, coalesce(l.probability, l.similarity), l.level,
    coalesce(l.tier, 0::smallint), hashtextextended(l.anchor, 0)
FROM linker_keptlinks k CROSS JOIN LATERAL
    unnest(k.targets, k.scores, k.probabilities, k.similarities, k.levels, k.tiers, k.anchors)
    WITH ORDINALITY l (target, score, probability, similarity, level, tier, anchor, place)
WHERE k.kept_id = %s AND k.source BETWEEN %s AND %s ORDER BY k.source, l.place
"""


def compare_runs(run: Run, progress: Progress = lifecycle.no_progress) -> CompareReport:
    """The work of a run that compares two others, which its parameters name."""
    after, before = (KeptRun.objects.get(pk=run.params[name]) for name in ("run", "before"))
    return compare(after, before, progress)


def compare_with_last(run: Run) -> None:
    """Compares a match run that has ended with the one before it, where that is kept."""
    newest = list(kept_runs(run.project).filter(pk__lte=run.pk)[:2])
    if len(newest) == 2 and newest[0].pk == run.pk:
        compare(newest[0], newest[1])


def compare(after: KeptRun, before: KeptRun, progress: Progress = lifecycle.no_progress) -> CompareReport:
    """Compares, and keeps the comparison in place of an earlier one of the two."""
    found = _Found(after, before)
    donors = _donors(after, before)
    for start in range(0, len(donors), DONORS_AT_A_TIME):
        progress(start, len(donors), "Comparing links")
        part = donors[start : start + DONORS_AT_A_TIME]
        found.add(_links(before, part), _links(after, part), _decided(after, part))
    progress(len(donors), len(donors), "Comparing links")
    report = found.report()
    with transaction.atomic():
        lock_project(after.run.project_id)
        if KeptRun.objects.filter(pk__in=[after.pk, before.pk]).count() == 2:  # the rule may have dropped one meanwhile
            _save(after, before, report, found.donors)
    return report


def _donors(*runs: KeptRun) -> NDArray[np.int64]:
    """The donors of either run, ascending."""
    rows = copy_out(
        "SELECT source FROM linker_keptlinks WHERE kept_id = ANY(%s) GROUP BY source ORDER BY source",
        [[kept.pk for kept in runs]],
        [("source", ">i8")],
    )
    return rows["source"].astype(np.int64)


def _links(kept: KeptRun, donors: NDArray[np.int64]) -> NDArray[Any]:
    return copy_out(_LINKS, [kept.pk, int(donors[0]), int(donors[-1])], _FIELDS)


def _decided(kept: KeptRun, donors: NDArray[np.int64]) -> NDArray[Any]:
    """Pairs of these donors that people have decided on."""
    return copy_out(
        "SELECT source_id, target_id FROM linker_candidateedge "
        f"WHERE project_id = %s AND source_id BETWEEN %s AND %s AND {sql(DECIDED)}",
        [kept.run.project_id, int(donors[0]), int(donors[-1])],
        [("source", ">i8"), ("target", ">i8")],
    )


@dataclass
class _Found:
    """What was found so far."""

    after: KeptRun
    before: KeptRun
    counts: Counter[str] = field(default_factory=Counter)
    donors: dict[LinkChange, list[NDArray[np.int64]]] = field(default_factory=lambda: defaultdict(list))
    scores: list[tuple[NDArray[np.float32], NDArray[np.float32]]] = field(default_factory=list)
    order: PairOrder = field(default_factory=PairOrder)
    tier_moves: Counter[tuple[int, int]] = field(default_factory=Counter)
    bands: NDArray[np.int64] = field(default_factory=lambda: np.zeros((2, 2, BANDS), dtype=np.int64))

    def add(self, before: NDArray[Any], after: NDArray[Any], decided: NDArray[Any]) -> None:
        """Takes the links of some donors in both runs, by source and place, and the pairs of these donors that people
        have decided on."""
        old, new, done = _keys(before, after, decided)
        _, in_old, in_new = np.intersect1d(old, new, assume_unique=True, return_indices=True)
        is_gone, is_new = np.ones(len(old), dtype=np.bool_), np.ones(len(new), dtype=np.bool_)
        is_gone[in_old], is_new[in_new] = False, False
        is_decided = is_gone & np.isin(old, done)
        self.counts.update(links_before=len(old), links=len(new), both=len(in_old))
        self._note(LinkChange.NEW, after["source"][is_new])
        self._note(LinkChange.GONE, before["source"][is_gone & ~is_decided])
        self._note(LinkChange.DECIDED, before["source"][is_decided])
        for at, links in enumerate((before, after)):
            band = np.clip((links["value"].astype(np.float64) * BANDS).astype(np.int64), 0, BANDS - 1)
            for is_across in (0, 1):
                self.bands[at, is_across] += np.bincount(band[(links["level"] > 0) == is_across], minlength=BANDS)
        together = np.argsort(in_old, kind="stable")  # by donor, and by place in the earlier run
        self._compare(before[in_old[together]], after[in_new[together]])

    def _compare(self, before: NDArray[Any], after: NDArray[Any]) -> None:
        """Takes the links of both runs, side by side."""
        source = before["source"].astype(np.int64)
        place = np.arange(len(source))
        later = np.lexsort((after["place"], source))  # the same links as the later run has them
        moved = np.empty(len(source), dtype=np.bool_)
        moved[later] = later != place
        self._note(LinkChange.MOVED, source[moved])
        places = {name: place for place, name in self._tier_names().items()}
        old_tier, new_tier = _tiers(before, self.before, places), _tiers(after, self.after, places)
        other_tier = old_tier != new_tier
        self._note(LinkChange.TIER, source[other_tier])
        self.tier_moves.update(zip(old_tier[other_tier].tolist(), new_tier[other_tier].tolist(), strict=True))
        self._note(LinkChange.WORDS, source[before["words"] != after["words"]])
        self.order.add(source, before["score"], after["score"])
        self.scores.append((before["score"].astype(np.float32), after["score"].astype(np.float32)))

    def _tier_names(self) -> dict[int, str]:
        """The tiers of both runs, by a number from 1 on."""
        return dict(enumerate(dict.fromkeys([*self.after.tiers, *self.before.tiers]), 1))

    def _note(self, change: LinkChange, sources: NDArray[Any]) -> None:
        self.counts[change.value] += len(sources)
        self.donors[change].append(np.unique(sources).astype(np.int64))

    def report(self) -> CompareReport:
        sides = list(zip(*self.scores, strict=True)) or [(), ()]
        rho = spearman(*(np.concatenate(side) for side in sides)) if self.scores else None
        within, across = (histogram_distance(self.bands[0, at], self.bands[1, at]) for at in (0, 1))
        names = self._tier_names()
        return CompareReport(
            run=self.after.pk,
            before=self.before.pk,
            rho=_rounded(rho),
            tau=_rounded(self.order.tau),
            within=_distance(within),
            across=_distance(across),
            tier_moves=tuple(
                TierMove(before=names.get(old), after=names.get(new), links=links)
                for (old, new), links in self.tier_moves.most_common()
            ),
            **self.counts,
        )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _distance(found: HistogramDistance | None) -> Distance | None:
    if found is None:
        return None
    return Distance(divergence=round(found.divergence, 6), shift=round(found.shift, 6), links=found.size)


def _keys(*sides: NDArray[Any]) -> Iterator[NDArray[np.int64]]:
    """A number a pair of pages, the same on each side."""
    pages = np.unique(np.concatenate([side[name] for side in sides for name in ("source", "target")]))
    for side in sides:
        yield np.searchsorted(pages, side["source"]) * len(pages) + np.searchsorted(pages, side["target"])


def _tiers(links: NDArray[Any], of: KeptRun, places: dict[str, int]) -> NDArray[np.int64]:
    """The tiers of links of a run, as places among the tiers of both runs; 0 below every tier."""
    return np.array([0, *(places[name] for name in of.tiers)], dtype=np.int64)[links["tier"]]


def _save(
    after: KeptRun, before: KeptRun, report: CompareReport, donors: dict[LinkChange, list[NDArray[np.int64]]]
) -> None:
    RunComparison.objects.filter(run=after, before=before).delete()
    comparison = RunComparison.objects.create(run=after, before=before, report=report.to_json())
    for change, parts in donors.items():
        sources = np.concatenate(parts)
        ChangedDonors.objects.bulk_create(
            [
                ChangedDonors(
                    comparison=comparison,
                    change=change,
                    first=some[0],
                    last=some[-1],
                    sources=some,
                )
                for start in range(0, len(sources), DONORS_A_ROW)
                if (some := sources[start : start + DONORS_A_ROW].tolist())
            ],
            batch_size=50,
        )
    of_project = RunComparison.objects.filter(run__run__project=after.run.project_id).order_by("-pk")
    RunComparison.objects.filter(pk__in=list(of_project.values_list("pk", flat=True)[MOST_COMPARISONS:])).delete()


def start_comparison(project: Project, after: Run, before: Run, user: Any) -> Run:
    """Starts a run that compares a match run with an earlier one."""
    return lifecycle.start_run(project, RunKind.COMPARE, {"run": after.pk, "before": before.pk}, user)
