"""The end of a match run: links given out over the whole run, anchors and places chosen, edges stored."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import connection, transaction
from django.db.models import Count

from linker import runs, store
from linker.matching.allocation import Allocation, Caps, Reason, allocate
from linker.matching.generators import Generator, names
from linker.matching.params import MatchParams, Mode, Ranking
from linker.matching.tiers import read_tiers
from linker.models import Basis, Category, Project, Ranker, Run, RunBlock, Tier
from linker.services.eligibility import eligible_pages
from linker.services.match import batches_left, effective, forget_candidates
from linker.services.placing import Phrases, Placer, Quota
from linker.services.policy import mark_sensitive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.runs import Progress

# A pair that a run found: block -1 is the whole site, probability NaN where nothing was learned, `found` bits of
# Generator, `place` its position for the one who can say why, -1 where nobody needs it.
FOUND = np.dtype(
    [
        *(("source", "i8"), ("target", "i8"), ("block", "i4"), ("level", "i2"), ("similarity", "f8"), ("score", "f8")),
        *(("probability", "f8"), ("found", "i4"), ("place", "i8")),
    ]
)
DONORS_AT_A_TIME = 1000
BINS = 20


@dataclass(frozen=True)
class Findings:
    """What a run found: `rows` of FOUND; `ranking` that ranked them; `why`: one sentence and its numbers for a row as a
    dict; `phrases`: words that mean a target; `ranker`: what to keep of it; `extra` goes into the report."""

    rows: NDArray[Any]
    ranking: Ranking
    why: Callable[[dict[str, Any]], tuple[str, dict[str, float]]]
    phrases: Phrases | None
    ranker: Ranker | None
    extra: dict[str, Any]


def finish_match(run: Run, progress: Progress = runs.no_progress) -> dict[str, Any]:
    """The end of a run in batches: what they found is given out and stored. See store_found."""
    if batches_left(run):
        raise RuntimeError(f"run {run.pk} has batches left")
    found = store.copy_out(
        "SELECT source, target, block, level, similarity, score FROM linker_runcandidate WHERE run_id = %s",
        [run.pk],
        [
            ("source", ">i8"),
            ("target", ">i8"),
            ("block", ">i4"),
            ("level", ">i2"),
            ("similarity", ">f8"),
            ("score", ">f8"),
        ],
    )
    rows = np.empty(len(found), dtype=FOUND)
    for name in ("source", "target", "block", "level", "similarity", "score"):
        rows[name] = found[name]
    rows["probability"], rows["found"], rows["place"] = np.nan, int(Generator.CATEGORY), -1
    return store_found(run, Findings(rows, Ranking.COSINE, _why_by_cosine(run), None, None, {}), progress)


def _why_by_cosine(run: Run) -> Callable[[dict[str, Any]], tuple[str, dict[str, float]]]:
    tops = dict(RunBlock.objects.filter(run=run).values_list("number", "category_id"))
    shown = {pk: " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} ".join(path) for pk, path in
             Category.objects.filter(pk__in=[pk for pk in tops.values() if pk]).values_list("pk", "path")}  # fmt: skip

    def why(row: dict[str, Any]) -> tuple[str, dict[str, float]]:
        category = shown.get(tops.get(row["block"]) or 0)
        where = f", both in {category}" if category else ""
        return f"The two pages are about the same{where}.", {"cosine": row["similarity"], "level": row["level"]}

    return why


def store_found(run: Run, findings: Findings, progress: Progress = runs.no_progress) -> dict[str, Any]:
    """Allocates over the whole run, picks anchors and places and stores the edges, all in one transaction."""
    project, params, rows = run.project, MatchParams.from_dict(run.params), findings.rows
    steps = 5
    progress(0, steps, "Giving out the links")
    above = rows["score"] >= params.floor(findings.ranking)
    eligible = rows[above]
    allocation, given_out = _allocate(project, params, eligible)
    chosen = eligible[allocation.chosen]
    best = _best_of_donors(chosen)
    chosen = chosen[np.lexsort((chosen["target"], -chosen["score"], chosen["source"], -best))]
    best = _best_of_donors(chosen)
    progress(1, steps, "Choosing anchors and places")
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        edges = _Edges(run, params, findings, chosen, best)
        counts = edges.save(lambda done: progress(1, steps, f"Choosing anchors and places, {done:,} done"))
        progress(3, steps, "Marking what is no longer proposed")
        counts["stale"] = _mark_stale(run, params)
        sensitive = mark_sensitive(project)
        progress(4, steps, "Cleaning up")
        forget_candidates(project, run)
        if findings.ranking is not Ranking.COSINE:
            reason = np.full(len(rows), Reason.BELOW_FLOOR, dtype=np.int8)
            reason[above] = allocation.reason
            _save_left_out(run, rows, reason, edges.without_room)
        if findings.ranker is not None:
            Ranker.objects.filter(run=run).delete()
            findings.ranker.run = run
            findings.ranker.save()
        RunBlock.objects.filter(run=run).delete()
        tiers = dict(project.edges.filter(run=run).values_list("tier__name").annotate(Count("pk")).order_by())
        report = {
            **Run.objects.values_list("report", flat=True).get(pk=run.pk),
            "ranking": findings.ranking.value,
            "threshold": params.floor(findings.ranking),
            "candidates": len(eligible),
            "donors_with_full_pool": _full_pools(eligible, effective(params).pool, params),
            **findings.extra,
            **counts,
            "sensitive": sensitive,
            "tiers": {name or "below every tier": count for name, count in tiers.items()},
            "allocation": given_out,
        }
        # With the edges or not at all: a finish that came twice would find no candidates and take all edges for stale.
        runs.succeed(run.pk, report)
    return report


def _allocate(project: Project, params: MatchParams, rows: NDArray[Any]) -> tuple[Allocation, dict[str, Any]]:
    """Which rows become links, and what the report says of it."""
    donors, targets = rows["source"].astype(np.int64), rows["target"].astype(np.int64)
    links = min(len(rows), len(np.unique(donors)) * params.per_donor)
    back = None
    if params.reciprocal is not None:
        back = _links_back(project, donors, targets)
    caps = Caps(params.per_donor, params.target_cap(links), params.reciprocal, _standing(project), back)
    allocation = allocate(donors, targets, rows["score"].astype(np.float64), caps, params.mode)
    report = {"mode": params.mode.value, "target_cap": caps.per_target, "total": round(allocation.total, 4)}
    if params.mode is not Mode.BEST and allocation.best_first:
        gain = allocation.total / allocation.best_first - 1
        report |= {"best_first": round(allocation.best_first, 4), "gain": round(gain, 6)}
    return allocation, report


def _standing(project: Project) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs that count towards the caps whatever a run finds: accepted and exported links."""
    rows = store.copy_out(
        "SELECT source_id, target_id FROM linker_candidateedge WHERE project_id = %s "
        "AND status IN ('accepted', 'exported')",
        [project.pk],
        [("source", ">i8"), ("target", ">i8")],
    )
    return rows["source"].astype(np.int64), rows["target"].astype(np.int64)


def _links_back(project: Project, donors: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each pair's target links to its donor in its body."""
    rows = store.copy_out(
        "SELECT DISTINCT target_id, source_id FROM linker_existinglink WHERE project_id = %s AND in_body "
        "AND missing_since IS NULL AND source_id = ANY(%s)",
        [project.pk, np.unique(targets).tolist()],
        [("donor", ">i8"), ("target", ">i8")],
    )
    known = np.empty(len(rows), dtype=[("donor", "i8"), ("target", "i8")])
    known["donor"], known["target"] = rows["donor"], rows["target"]
    wanted = np.empty(len(donors), dtype=known.dtype)
    wanted["donor"], wanted["target"] = donors, targets
    return np.isin(wanted, known)


def _full_pools(rows: NDArray[Any], pool: int, params: MatchParams) -> int:
    """Donors whose pool was full: only under a cap on targets could more candidates have changed their links."""
    if not params.target_cap(len(rows)) or not len(rows):
        return 0
    _, sizes = np.unique(rows["source"], return_counts=True)
    return int((sizes >= pool).sum())


def _best_of_donors(rows: NDArray[Any]) -> NDArray[np.float64]:
    """The best score of each row's donor, float64 [n]."""
    _, donor = np.unique(rows["source"], return_inverse=True)
    best = np.full(int(donor.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(best, donor, rows["score"])
    return best[donor]


_REFRESHED = [
    *("block_id", "level", "similarity", "score", "probability", "quantile", "donor_best", "tier_id", "placement"),
    *("rel", "span_start", "span_end", "content_gap", "generators", "why", "evidence", "anchor_alternatives"),
]
_WORDING = ["anchor", "anchor_source"]
_EDGE_COLUMNS = ["source_id", "target_id", *_REFRESHED, *_WORDING]


class _Edges:
    """The edges of a run on their way into the database, donor by donor, the donor with the best link first."""

    def __init__(
        self, run: Run, params: MatchParams, findings: Findings, chosen: NDArray[Any], best: NDArray[np.float64]
    ) -> None:
        self.run, self.findings, self.chosen, self.best = run, findings, chosen, best
        self.placer = Placer(run.project, np.unique(chosen["target"].astype(np.int64)), findings.phrases)
        standing = (
            run.project.edges.filter(status__in=["accepted", "exported"], placement="inline")
            .values_list("source")
            .annotate(Count("pk"))
            .order_by()
        )
        self.quota = Quota(params.inline_per_donor, params.related_per_donor, Counter(dict(standing)))
        self.quantile = _quantiles(chosen["score"])
        basis, value = read_value(run.project.tier_basis, chosen["similarity"], chosen["probability"], self.quantile)
        self.basis, self.value = basis, value
        self.tiers = list(Tier.objects.filter(project=run.project, basis=basis))
        self.reading = read_tiers(value, np.array([tier.lower_bound for tier in self.tiers]))
        self.tops = dict(RunBlock.objects.filter(run=run).values_list("number", "category_id"))
        self.placements: Counter[str] = Counter()
        self.generators: Counter[str] = Counter()
        self.kept: list[int] = []
        self.without_room: set[tuple[int, int]] = set()

    def save(self, progress: Callable[[int], None]) -> dict[str, Any]:
        """Upserts the edges. Those not decided yet are refreshed; decided ones, and anchors an editor wrote, stay."""
        columns = ", ".join(_EDGE_COLUMNS)
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS new_edges")
            cursor.execute(
                f"CREATE TEMP TABLE new_edges ON COMMIT DROP AS SELECT {columns} FROM linker_candidateedge LIMIT 0"
            )
            for first, stop in _donor_chunks(self.chosen["source"]):
                self.placer.read(self.chosen[first:stop])
                store.copy_rows_in("new_edges", _EDGE_COLUMNS, list(self._rows(first, stop)))
                progress(stop)
            fresh = self._upsert(cursor, columns)
            store.analyze("linker_candidateedge")
            _even_out_donor_best(self.run.project)
        kept = np.array(self.kept, dtype=np.int64)
        bins = np.clip((self.value[kept] * BINS).astype(np.int64), 0, BINS - 1)
        return {
            "edges": len(kept),
            "new": fresh[True],
            "refreshed": fresh[False],
            "placements": dict(self.placements),
            "generators": dict(self.generators),
            "basis": self.basis,
            "bounds": {tier.name: tier.lower_bound for tier in self.tiers},
            "histogram": np.bincount(bins, minlength=BINS).tolist(),
        }

    def _rows(self, first: int, stop: int) -> Iterator[tuple[Any, ...]]:
        fields = self.chosen.dtype.names or ()
        for number, values in enumerate(self.chosen[first:stop].tolist(), first):
            row = dict(zip(fields, values, strict=True))
            source, target = row["source"], row["target"]
            tier = self.tiers[self.reading[number]] if self.reading[number] >= 0 else None
            wanted = tier.placement if tier else "related"
            placed = self.placer.place(source, target, counts=tier is not None and not tier.held)
            if (source, target) in self.placer.settled:
                placement: str | None = wanted if placed.span else "related"
            else:
                placement = self.quota.put(source, wanted, placed.span is not None)
            if placement is None:
                self.without_room.add((source, target))
                continue
            gap = wanted == "inline" and placed.span is None
            generators = names(row["found"])
            self.kept.append(number)
            self.placements["gap" if gap else placement] += 1
            self.generators.update(generators)
            sentence, numbers = self.findings.why(row)
            yield (
                source,
                target,
                self.tops.get(row["block"]),
                row["level"],
                row["similarity"],
                row["score"],
                None if np.isnan(row["probability"]) else row["probability"],
                float(self.quantile[number]),
                float(self.best[number]),
                tier.pk if tier else None,
                placement,
                tier.rel if tier else "nofollow",
                *(placed.span or (None, None)),
                gap,
                generators,
                sentence,
                json.dumps(numbers),
                json.dumps(placed.others, ensure_ascii=False),
                placed.anchor,
                placed.source,
            )

    def _upsert(self, cursor: Any, columns: str) -> Counter[bool]:
        # In the order of their ids, as those who decide on many edges lock them.
        cursor.execute(
            "SELECT count(*) FROM (SELECT e.id FROM linker_candidateedge e JOIN new_edges n "
            "ON n.source_id = e.source_id AND n.target_id = e.target_id ORDER BY e.id FOR UPDATE OF e) locked"
        )
        undecided = "linker_candidateedge.status = 'suggested'"
        changes = [
            f"{name} = CASE WHEN {when} THEN EXCLUDED.{name} ELSE linker_candidateedge.{name} END"
            for columns_, when in (
                (["run_id", "ranked_by", *_REFRESHED], undecided),
                (_WORDING, f"{undecided} AND NOT linker_candidateedge.edited"),
            )
            for name in columns_
        ]
        cursor.execute(
            f"""
            INSERT INTO linker_candidateedge (project_id, run_id, ranked_by, status, stale, created_at, updated_at,
                sensitive, edited, {columns})
            SELECT %s, %s, %s, 'suggested', false, now(), now(), '', false, {columns} FROM new_edges
            ON CONFLICT (source_id, target_id) DO UPDATE SET stale = false, updated_at = now(),
                {", ".join(changes)}
            RETURNING (xmax = 0)
            """,
            [self.run.project_id, self.run.pk, self.findings.ranking.value],
        )
        return Counter(new for (new,) in cursor.fetchall())


def read_value(
    basis: str, similarity: NDArray[np.float64], probability: NDArray[np.float64], quantile: NDArray[np.float64]
) -> tuple[str, NDArray[np.float64]]:
    """What the tiers of a run's edges are read by, and the value of each edge, float64 [n].

    Without probabilities, NaN all of them, similarities are read by bounds of their own.
    """
    if basis == Basis.QUANTILE:
        return basis, quantile
    if basis == Basis.PROBABILITY and not np.isnan(probability).all():
        return basis, probability.astype(np.float64)
    return Basis.COSINE.value, similarity.astype(np.float64)


def _quantiles(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the scores that are no higher than each, float64 [n], in (0, 1]."""
    return np.round(np.searchsorted(np.sort(score), score, side="right") / max(len(score), 1), 6)


def _donor_chunks(source: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Slices of rows that hold DONORS_AT_A_TIME donors each; a donor's rows stand together."""
    starts = np.flatnonzero(np.concatenate([[True], source[1:] != source[:-1]])) if len(source) else source
    for place in range(0, len(starts), DONORS_AT_A_TIME):
        after = place + DONORS_AT_A_TIME
        yield int(starts[place]), int(starts[after]) if after < len(starts) else len(source)


def _save_left_out(run: Run, rows: NDArray[Any], reason: NDArray[np.int8], without_room: set[tuple[int, int]]) -> None:
    """What the run found and does not propose, a row a donor; those of the project's earlier runs go."""
    for place in np.flatnonzero(reason == 0).tolist():
        if (int(rows["source"][place]), int(rows["target"][place])) in without_room:
            reason[place] = Reason.RELATED_FULL
    left = np.flatnonzero(reason)
    left = left[np.lexsort((rows["target"][left], -rows["score"][left], rows["source"][left]))]
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM linker_leftout WHERE run_id IN (SELECT id FROM linker_run WHERE project_id = %s)",
            [run.project_id],
        )
    source = rows["source"][left]
    bounds = np.flatnonzero(np.concatenate([[True], source[1:] != source[:-1], [True]])) if len(left) else source
    store.copy_rows_in(
        "linker_leftout",
        ["run_id", "source", "targets", "scores", "reasons"],
        (
            (
                run.pk,
                int(source[first]),
                rows["target"][left[first:stop]].tolist(),
                rows["score"][left[first:stop]].tolist(),
                reason[left[first:stop]].tolist(),
            )
            for first, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        ),
    )


def _even_out_donor_best(project: Project) -> None:
    """One value a donor, though its edges come from runs over different parts of the site: it groups the queue."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH best AS MATERIALIZED (
                SELECT source_id, max(score) AS score FROM linker_candidateedge WHERE project_id = %s
                GROUP BY source_id HAVING min(donor_best) <> max(score) OR max(donor_best) <> max(score)
            )
            UPDATE linker_candidateedge e SET donor_best = best.score
            FROM best WHERE e.source_id = best.source_id AND e.project_id = %s
            """,
            [project.pk, project.pk],
        )


def _mark_stale(run: Run, params: MatchParams) -> int:
    """Marks what the run could have proposed and did not, and what can no longer be proposed at all.

    Edges between pages that the run's filters left out keep standing.
    """
    model = run.model
    if model is None:
        raise RuntimeError(f"run {run.pk} was not planned")
    eligible = eligible_pages(run.project, model, params)
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS taking_part")
        cursor.execute(
            "CREATE TEMP TABLE taking_part (page bigint PRIMARY KEY, is_donor boolean, is_target boolean, "
            "chosen_donor boolean, chosen_target boolean) ON COMMIT DROP"
        )
        store.copy_in(
            "taking_part",
            [
                ("page", ">i8", eligible.ids),
                ("is_donor", "?", eligible.is_donor),
                ("is_target", "?", eligible.is_target),
                ("chosen_donor", "?", eligible.chosen_donor),
                ("chosen_target", "?", eligible.chosen_target),
            ],
        )
        cursor.execute("ANALYZE taking_part")
        cursor.execute(
            """
            UPDATE linker_candidateedge e SET stale = true FROM linker_candidateedge o
            LEFT JOIN taking_part s ON s.page = o.source_id LEFT JOIN taking_part t ON t.page = o.target_id
            WHERE e.id = o.id AND o.project_id = %s AND NOT o.stale
            AND NOT EXISTS (
                SELECT 1 FROM new_edges n WHERE n.source_id = o.source_id AND n.target_id = o.target_id
            )
            AND (s.page IS NULL OR t.page IS NULL OR NOT s.is_donor OR NOT t.is_target
                OR (s.chosen_donor AND t.chosen_target))
            """,
            [run.project_id],
        )
        return cursor.rowcount
