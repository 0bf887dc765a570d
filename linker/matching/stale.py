"""Edges that the newest run no longer proposes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from django.db import connection

from linker.matching.eligibility import eligible_pages
from linker.matching.pilots import limited_to_pilot
from linker.models.querysets import PROPOSED, UNDECIDED, sql, sure_sql
from linker.storage.copy import copy_in
from linker.storage.locks import lock_edges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.params import MatchParams
    from linker.matching.eligibility import Eligible
    from linker.models import Project, Run


class StaleEdges(NamedTuple):
    """How many undecided edges were marked, and how many of them only because of their vectors."""

    undecided: int
    other_vectors: int


# With what is best of their donor by now (linker.matching.edges.stage_uneven_donors), so that they are written once.
_STALE_NOW = (
    "stale = true, donor_best = coalesce(best.score, e.donor_best), donor_worth = coalesce(best.worth, e.donor_worth)"
)
# What was proposed before: the run could have proposed it, or no run can any more; or it is an open suggestion of two
# pages that are one, or one made with other vectors, whose similarities say something else. A link that was live and is
# gone waits for an editor, whatever the run makes of it.
_MARK_STALE = f"""
WITH old AS (
    SELECT o.id, o.source_id, {sure_sql("o")} AS is_sure,
        s.page IS NULL OR t.page IS NULL OR NOT s.is_donor OR NOT t.is_target
        OR (s.chosen_donor AND t.chosen_target)
        OR {sql(UNDECIDED, "o")} AND (NOT theirs.receives OR mine.group_id = theirs.group_id) IS TRUE AS gone,
        {sql(UNDECIDED, "o")} AND r.model_id <> %(model)s AS other_set
    FROM linker_candidateedge o JOIN linker_run r ON r.id = o.run_id
    LEFT JOIN linker_pagetwin mine ON mine.page_id = o.source_id
    LEFT JOIN linker_pagetwin theirs ON theirs.page_id = o.target_id
    LEFT JOIN taking_part s ON s.page = o.source_id LEFT JOIN taking_part t ON t.page = o.target_id
    WHERE o.project_id = %(project)s AND o.run_id <> %(run)s AND {sql(PROPOSED, "o")}
    AND NOT ({sql(UNDECIDED, "o")} AND o.regressed)
    AND NOT EXISTS (SELECT 1 FROM new_edges n WHERE n.source_id = o.source_id AND n.target_id = o.target_id)
), marked AS (
    UPDATE linker_candidateedge e SET {_STALE_NOW}
    FROM old LEFT JOIN uneven_donors best ON best.source_id = old.source_id AND best.is_sure = old.is_sure
    WHERE e.id = old.id AND (old.gone OR old.other_set) RETURNING old.gone, e.status
)
SELECT count(*) FILTER (WHERE {sql(UNDECIDED)}), count(*) FILTER (WHERE NOT gone) FROM marked
"""


def taking_part_in(run: Run, params: MatchParams) -> Eligible:
    """The pages that may take part in a run, as `mark_stale` asks: read anew, since some may have gone meanwhile."""
    if run.model is None:
        raise RuntimeError(f"run {run.pk} was not planned")
    return limited_to_pilot(run, params, eligible_pages(run.project, run.model, params))


def mark_stale(run: Run, eligible: Eligible) -> StaleEdges:
    """Marks what the run could have proposed and did not, what can no longer be proposed at all, and open suggestions
    made with another set of vectors.

    Other edges between pages that the run's filters left out stay as they are.
    """
    if not run.project.edges.filter(PROPOSED).exclude(run=run).exists():
        return StaleEdges(0, 0)
    stage_taking_part(eligible)
    with connection.cursor() as cursor:
        cursor.execute(_MARK_STALE, {"project": run.project_id, "run": run.pk, "model": run.model_id, "donors": None})
        return StaleEdges(*cursor.fetchone())


class ClosedEdges(NamedTuple):
    """How many undecided edges were marked, and their donors, ids int64 [k], ascending."""

    undecided: int
    donors: NDArray[np.int64]


# Of the donors that were looked at, what was not found again; of the others, what can no longer be proposed. Asked from
# the pages, since there are many more edges.
_LEFT_OUT = """
SELECT p.id FROM linker_page p LEFT JOIN taking_part t ON t.page = p.id
WHERE p.project_id = %(project)s AND t.{takes_part} IS NOT TRUE
"""
_MARK_STALE_OF = f"""
WITH looked_at AS (
    SELECT id FROM linker_candidateedge
    WHERE project_id = %(project)s AND source_id IN ({_LEFT_OUT.format(takes_part="is_donor")})
    UNION SELECT id FROM linker_candidateedge
    WHERE project_id = %(project)s AND target_id IN ({_LEFT_OUT.format(takes_part="is_target")})
    UNION SELECT e.id FROM taking_part s
    JOIN linker_candidateedge e ON e.project_id = %(project)s AND e.source_id = s.page WHERE s.chosen_donor
        AND NOT EXISTS (SELECT FROM found_again f WHERE f.source = e.source_id AND f.target = e.target_id)
), old AS (
    SELECT o.id, o.source_id, {sure_sql("o")} AS is_sure
    FROM looked_at JOIN linker_candidateedge o ON o.id = looked_at.id
    WHERE o.project_id = %(project)s AND {sql(PROPOSED, "o")} AND NOT ({sql(UNDECIDED, "o")} AND o.regressed)
), marked AS (
    UPDATE linker_candidateedge e SET {_STALE_NOW}
    FROM old LEFT JOIN uneven_donors best ON best.source_id = old.source_id AND best.is_sure = old.is_sure
    WHERE e.id = old.id RETURNING e.source_id, e.status
)
SELECT count(*) FILTER (WHERE {sql(UNDECIDED)}), coalesce(array_agg(DISTINCT source_id ORDER BY source_id), '{{}}')
FROM marked
"""


# What a run over what changed may write: edges of the donors that were looked at, which it may not propose again; open
# ones of acceptors that get another; of pages that can no longer take part; and what something keeps out of the queue.
_MAY_CHANGE = f"""e.id IN (
    SELECT id FROM linker_candidateedge
    WHERE project_id = %(project)s AND source_id IN ({_LEFT_OUT.format(takes_part="is_donor")})
    UNION SELECT id FROM linker_candidateedge
    WHERE project_id = %(project)s AND target_id IN ({_LEFT_OUT.format(takes_part="is_target")})
    UNION SELECT c.id FROM taking_part s
    JOIN linker_candidateedge c ON c.project_id = %(project)s AND c.source_id = s.page WHERE s.chosen_donor
    UNION SELECT id FROM linker_candidateedge WHERE project_id = %(project)s AND source_id = ANY(%(sources)s)
    UNION SELECT id FROM linker_candidateedge WHERE project_id = %(project)s AND target_id = ANY(%(targets)s)
    UNION SELECT id FROM linker_candidateedge WHERE project_id = %(project)s AND suppressed_by_id IS NOT NULL
    UNION SELECT id FROM linker_candidateedge WHERE project_id = %(project)s AND barred_by_id IS NOT NULL
    UNION SELECT id FROM linker_candidateedge WHERE project_id = %(project)s AND capped_at IS NOT NULL
    UNION SELECT id FROM linker_candidateedge WHERE project_id = %(project)s AND away_at IS NOT NULL
)"""


def lock_for_changes(project: Project, stored: NDArray[Any]) -> None:
    """Locks every edge that a run over what changed may write, which stores the rows `stored`, with a `source` and a
    `target`; after `stage_changes`."""
    pages = {"sources": np.unique(stored["source"]).tolist(), "targets": np.unique(stored["target"]).tolist()}
    lock_edges(project.pk, _MAY_CHANGE, pages)


def stage_changes(eligible: Eligible, found: NDArray[Any]) -> None:
    """For a run over what changed: stages the pages that may take part, and the rows `found`, which have a `source` and
    a `target`."""
    stage_taking_part(eligible)
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS found_again")
        cursor.execute(
            "CREATE TEMP TABLE found_again (source bigint, target bigint, PRIMARY KEY (source, target)) ON COMMIT DROP"
        )
        copy_in("found_again", [(side, ">i8", found[side]) for side in ("source", "target")])
        cursor.execute("ANALYZE found_again")


def mark_stale_of(run: Run) -> ClosedEdges:
    """Marks what the chosen donors no longer propose, since it is not among what was found; and what no run can propose
    any more, whoever its donor is. Other edges stay as they are. After `stage_changes`."""
    with connection.cursor() as cursor:
        cursor.execute(_MARK_STALE_OF, {"project": run.project_id})
        undecided, donors = cursor.fetchone()
    return ClosedEdges(undecided, np.array(donors, dtype=np.int64))


def stage_taking_part(eligible: Eligible) -> None:
    """Fills the temporary table `taking_part` with the pages that may take part."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS taking_part")
        cursor.execute(
            "CREATE TEMP TABLE taking_part (page bigint PRIMARY KEY, is_donor boolean, is_target boolean, "
            "chosen_donor boolean, chosen_target boolean) ON COMMIT DROP"
        )
        copy_in(
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
