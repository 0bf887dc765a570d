"""The end of a match run: links given out over the whole run, anchors chosen, edges stored."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import connection, transaction
from django.db.models import Count

from linker import runs, store
from linker.anchors.candidates import AnchorCandidate, TargetText, anchor_candidates
from linker.anchors.diversity import AnchorUse
from linker.anchors.fold import fold
from linker.matching.allocation import allocate
from linker.matching.params import MatchParams
from linker.matching.tiers import read_tiers
from linker.models import Project, Run, RunBlock, Tier
from linker.patterns import compile_pattern
from linker.services.eligibility import eligible_pages
from linker.services.embed import site_template
from linker.services.match import batches_left, effective, forget_candidates
from linker.services.policy import mark_sensitive
from linker.services.queries import target_queries
from linker.store import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from linker.runs import Progress

    # (donor id, target id, whether an anchor is used up) -> anchor, where it comes from, other anchors; None: no phrase
    PhraseFinder = Callable[[int, int, Callable[[str], bool]], tuple[str, str, list[dict[str, Any]]] | None]

MOST_ALTERNATIVES = 6


def finish_match(run: Run, progress: Progress = runs.no_progress) -> dict[str, Any]:
    """The end of a run in batches: what they found is given out and stored. See store_found."""
    if batches_left(run):
        raise RuntimeError(f"run {run.pk} has batches left")
    rows = store.copy_out(
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
    return store_found(run, rows, progress)


def store_found(
    run: Run,
    rows: NDArray[Any],
    progress: Progress = runs.no_progress,
    *,
    generator: str = "category",
    in_text: PhraseFinder | None = None,
    extra: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Allocates over the whole run, picks the anchors and stores the edges, all in one transaction.

    `rows`: structured array of what was found, with source, target, block (-1: the whole site), level, similarity and
    score. `in_text` finds words of the donor's text that may become the link. `extra` goes into the report.
    """
    project, params = run.project, MatchParams.from_dict(run.params)
    steps = 5
    progress(0, steps, "Giving out the links")
    standing = _standing(project)
    chosen = rows[
        allocate(
            rows["source"].astype(np.int64),
            rows["target"].astype(np.int64),
            rows["score"].astype(np.float64),
            per_donor=params.per_donor,
            per_target=params.per_target,
            mode=params.mode,
            standing=standing,
        )
    ]
    chosen = chosen[np.lexsort((chosen["target"], chosen["source"], -chosen["score"]))]
    progress(1, steps, "Choosing the anchors")
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        anchors = _AnchorPicker(project, np.unique(chosen["target"].astype(np.int64)), in_text)
        progress(2, steps, "Storing the links")
        counts = _save_edges(run, chosen, anchors, generator)
        progress(3, steps, "Marking what is no longer proposed")
        counts["stale"] = _mark_stale(run, params)
        sensitive = mark_sensitive(project)
        progress(4, steps, "Cleaning up")
        forget_candidates(project, run)
        store.analyze("linker_candidateedge")
        RunBlock.objects.filter(run=run).delete()
        tiers = dict(project.edges.filter(run=run).values_list("tier__name").annotate(Count("pk")).order_by())
        report = {
            **Run.objects.values_list("report", flat=True).get(pk=run.pk),
            "candidates": len(rows),
            "donors_with_full_pool": _full_pools(rows, effective(params).pool, params),
            **(extra or {}),
            **counts,
            "sensitive": sensitive,
            "tiers": {name or "below every tier": count for name, count in tiers.items()},
        }
        # With the edges or not at all: a finish that came twice would find no candidates and take all edges for stale.
        runs.succeed(run.pk, report)
    return report


def _standing(project: Project) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs that count towards the caps whatever a run finds: accepted and exported links."""
    rows = store.copy_out(
        "SELECT source_id, target_id FROM linker_candidateedge WHERE project_id = %s "
        "AND status IN ('accepted', 'exported')",
        [project.pk],
        [("source", ">i8"), ("target", ">i8")],
    )
    return rows["source"].astype(np.int64), rows["target"].astype(np.int64)


def _full_pools(rows: NDArray[Any], pool: int, params: MatchParams) -> int:
    """Donors whose pool was full: only under a cap on targets could more candidates have changed their links."""
    if not params.per_target or not len(rows):
        return 0
    _, sizes = np.unique(rows["source"], return_counts=True)
    return int((sizes >= pool).sum())


class _AnchorPicker:
    """Chooses anchors edge by edge, best first, so that a target's anchors do not all read the same.

    Anchors that people decided on, or wrote, count towards the limit and are not chosen again.
    """

    def __init__(self, project: Project, targets: NDArray[np.int64], in_text: PhraseFinder | None = None) -> None:
        self.in_text = in_text
        template = site_template(project)
        patterns = [compile_pattern(pattern) for pattern in project.title_patterns]
        self.limit = project.identical_anchor_limit
        self.use = AnchorUse()
        self.settled: set[tuple[int, int]] = set()
        for source, target, anchor in stream(
            "settled",
            "SELECT source_id, target_id, anchor FROM linker_candidateedge WHERE project_id = %s "
            "AND (status IN ('accepted', 'exported') OR edited) ORDER BY id",
            [project.pk],
        ):
            self.settled.add((source, target))
            self.use.add(target, [anchor])
        queries = target_queries(targets.tolist()) if project.query_blend else {}
        self.candidates = {
            page: anchor_candidates(
                TargetText(url=url, title=title, h1=h1, headings=headings, description=text, language=language),
                template=template,
                patterns=patterns,
                banned=project.banned_anchors,
                max_length=project.anchor_max_length,
                queries=queries.get(page, ()),
                query_blend=project.query_blend,
            )
            for page, url, title, h1, headings, text, language in stream(
                "anchors",
                "SELECT id, url, title, h1, headings, description, language FROM linker_page WHERE id = ANY(%s)",
                [targets.tolist()],
            )
        }

    def pick(self, source: int, target: int) -> tuple[str, str, list[dict[str, Any]]]:
        """Anchor, where it came from, and the others."""
        candidates = self.candidates[target]
        settled = (source, target) in self.settled
        if self.in_text is not None:
            used = self.use.used(target)
            found = self.in_text(source, target, lambda text: used[fold(text)] >= self.limit)
            if found is not None:
                if not settled:
                    self.use.add(target, [found[0]])
                names = [_stored(other) for other in candidates if fold(other.text) != fold(found[0])]
                return found[0], found[1], [*found[2], *names][:MOST_ALTERNATIVES]
        best = candidates[0] if settled else self.use.take(target, candidates, self.limit)
        return best.text, best.source, [_stored(other) for other in candidates if other is not best]


def _stored(candidate: AnchorCandidate) -> dict[str, Any]:
    shown = {} if candidate.impressions is None else {"impressions": candidate.impressions}
    return {"text": candidate.text, "source": candidate.source, "raw": candidate.raw, **shown}


_EDGE_COLUMNS = [
    *(
        "source_id",
        "target_id",
        "block_id",
        "level",
        "similarity",
        "score",
        "donor_best",
        "tier_id",
        "placement",
        "rel",
    ),
    *("anchor", "anchor_source", "anchor_alternatives"),
]
# What a later run refreshes on an edge that nobody has decided on. A decided edge keeps what the editor saw.
_PROVENANCE = [
    *("run_id", "generator", "block_id", "level", "similarity", "score", "donor_best", "tier_id", "placement", "rel"),
    "anchor_alternatives",
]
_WORDING = ["anchor", "anchor_source"]


def _save_edges(run: Run, chosen: NDArray[Any], anchors: _AnchorPicker, generator: str) -> dict[str, int]:
    """Upserts the edges. Those not decided yet are refreshed; decided ones, and anchors an editor wrote, stay."""
    tiers = list(Tier.objects.filter(project=run.project))
    reading = read_tiers(chosen["score"].astype(np.float64), np.array([tier.lower_bound for tier in tiers]))
    best: dict[int, float] = {}
    for source, score in zip(chosen["source"].tolist(), chosen["score"].tolist(), strict=True):
        best.setdefault(source, score)
    tops = dict(RunBlock.objects.filter(run=run).values_list("number", "category_id"))

    def rows() -> Iterator[tuple[Any, ...]]:
        for edge, place in zip(chosen.tolist(), reading.tolist(), strict=True):
            row = dict(zip(chosen.dtype.names or (), edge, strict=True))
            tier = tiers[place] if place >= 0 else None
            anchor, anchor_source, others = anchors.pick(row["source"], row["target"])
            yield (
                row["source"],
                row["target"],
                tops.get(row["block"]),
                row["level"],
                row["similarity"],
                row["score"],
                best[row["source"]],
                tier.pk if tier else None,
                tier.placement if tier else "related",
                tier.rel if tier else "nofollow",
                anchor,
                anchor_source,
                json.dumps(others, ensure_ascii=False),
            )

    columns = ", ".join(_EDGE_COLUMNS)
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS new_edges")
        cursor.execute(
            f"CREATE TEMP TABLE new_edges ON COMMIT DROP AS SELECT {columns} FROM linker_candidateedge LIMIT 0"
        )
        store.copy_rows_in("new_edges", _EDGE_COLUMNS, rows())
        # In the order of their ids, as those who decide on many edges lock them.
        cursor.execute(
            "SELECT count(*) FROM (SELECT e.id FROM linker_candidateedge e JOIN new_edges n "
            "ON n.source_id = e.source_id AND n.target_id = e.target_id ORDER BY e.id FOR UPDATE OF e) locked"
        )
        undecided = "linker_candidateedge.status = 'suggested'"
        changes = [
            f"{name} = CASE WHEN {when} THEN EXCLUDED.{name} ELSE linker_candidateedge.{name} END"
            for names, when in (
                (_PROVENANCE, undecided),
                (_WORDING, f"{undecided} AND NOT linker_candidateedge.edited"),
            )
            for name in names
        ]
        cursor.execute(
            f"""
            INSERT INTO linker_candidateedge (project_id, run_id, generator, status, stale, created_at, updated_at,
                sensitive, edited, {columns})
            SELECT %s, %s, %s, 'suggested', false, now(), now(), '', false, {columns} FROM new_edges
            ON CONFLICT (source_id, target_id) DO UPDATE SET stale = false, updated_at = now(),
                {", ".join(changes)}
            RETURNING (xmax = 0)
            """,
            [run.project_id, run.pk, generator],
        )
        fresh = Counter(new for (new,) in cursor.fetchall())
        _even_out_donor_best(run.project)
    return {"edges": len(chosen), "new": fresh[True], "refreshed": fresh[False]}


def _even_out_donor_best(project: Project) -> None:
    """One value a donor, though its edges come from runs over different parts of the site: it groups the queue."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE linker_candidateedge e SET donor_best = best.score FROM (
                SELECT source_id, max(score) AS score FROM linker_candidateedge WHERE project_id = %s
                GROUP BY source_id HAVING min(donor_best) <> max(score) OR max(donor_best) <> max(score)
            ) best WHERE e.source_id = best.source_id AND e.project_id = %s
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
