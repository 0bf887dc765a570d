"""Readings of what a run found: its tiers, without matching again."""

from __future__ import annotations

import json
from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import connection, transaction

from linker.matching.anchor_variety import STORED, reworded
from linker.matching.cohorts import OF_PROJECT, cohorts_of, stage_bounds, stage_cohorts
from linker.matching.known_answers import retier_known
from linker.matching.room import has_prose_sql, in_text_sql, of_edges_run, silent_roles
from linker.matching.section_caps import section_caps_sql
from linker.models import Basis, CandidateEdge, Project, Tier
from linker.models.identity import follows_sql
from linker.models.kept_run import STANDING_RUN
from linker.models.linked import linked_sql
from linker.models.querysets import APPROVED, DECIDED, OPEN, PROPOSED, REOPENED, UNDECIDED, sql
from linker.models.replacement import replaces_sql
from linker.runs.lifecycle import no_progress
from linker.storage.copy import copy_rows_in
from linker.storage.cursors import stream
from linker.storage.locks import lock_edges, lock_project
from linker.storage.slices import slices_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from linker.matching.cohorts import OwnBounds
    from linker.runs.lifecycle import Progress


TEXT_ROOM = in_text_sql("s", of_edges_run).room
MOST_ROOM = 1_000_000  # in the text, for what takes the room of another link there
# The sections of the edges that are read, as far as they have caps.
_SECTIONS = section_caps_sql(
    "(%(ids)s::bigint[] IS NULL "
    "OR c.id IN (SELECT section FROM linker_candidateedge WHERE id = ANY(%(ids)s::bigint[])))"
)
_STORED, _ASKED = "linker_tier", "tiers_asked"  # tables of tiers: those of the project, or those that are asked about
# Each edge as the tiers read it; `room`: links that may be in the donor's text. An array of donors, unlike a subquery,
# is looked up in the index of donors, so that a few suggestions do not cost a look at all.
_READINGS = f"""
CREATE TEMP TABLE readings ON COMMIT DROP AS
WITH value AS (
    SELECT o.id, o.source_id, o.target_id, s.category_id, o.score, o.stale, {sql(DECIDED, "o")} AS decided,
        o.placement, o.span_start IS NOT NULL AS has_place,
        CASE WHEN {replaces_sql("o")} THEN {MOST_ROOM} ELSE {TEXT_ROOM} END AS room,
        {has_prose_sql("s", "%(silent)s")} AS has_prose,
        CASE WHEN %(basis)s = 'probability' AND o.probability IS NULL THEN 'cosine' ELSE %(basis)s END AS basis,
        CASE %(basis)s WHEN 'quantile' THEN o.quantile WHEN 'cosine' THEN o.similarity
            ELSE coalesce(o.probability, o.similarity) END AS value
    FROM linker_candidateedge o JOIN linker_run run ON run.id = o.run_id JOIN linker_page s ON s.id = o.source_id
        LEFT JOIN capped_sections section ON section.category = o.section
    WHERE o.project_id = %(project)s
        AND ({sql(UNDECIDED, "o")} OR {sql(APPROVED, "o")} AND NOT {linked_sql("o")})
        AND (%(ids)s::bigint[] IS NULL OR o.source_id = ANY(ARRAY(
            SELECT DISTINCT source_id FROM linker_candidateedge WHERE id = ANY(%(ids)s::bigint[]))))
)
SELECT value.*, {{cohort}} AS cohort, t.id AS tier, coalesce(t.rel, 'nofollow') AS rel,
    coalesce(t.placement, 'related') = 'inline' AS wanted,
    %(ids)s::bigint[] IS NULL OR value.id = ANY(%(ids)s::bigint[]) AS asked
FROM value {{cohorts}} LEFT JOIN LATERAL (
    SELECT tier FROM bounds WHERE cohort = {{cohort}} AND basis = value.basis
        AND lower_bound <= value.value ORDER BY lower_bound DESC LIMIT 1
) b ON true LEFT JOIN {{tiers}} t ON t.id = b.tier
"""
_NEW_TIERS = (
    "LEFT JOIN readings ON readings.id = e.id AND readings.asked "
    "LEFT JOIN {tiers} t ON t.id = CASE WHEN readings.asked THEN readings.tier ELSE e.tier_id END"
)
BELOW_EVERY_TIER = "below every tier"
# The bounds of suggestions without words read those that have just lost theirs.
_WITHOUT_WORDS = """
UPDATE readings SET cohort = %(cohort)s, tier = t.id, rel = coalesce(t.rel, 'nofollow'),
    wanted = coalesce(t.placement, 'related') = 'inline'
FROM readings r JOIN reworded w ON w.edge = r.id AND w.start IS NULL LEFT JOIN LATERAL (
    SELECT tier FROM bounds WHERE cohort = %(cohort)s AND basis = r.basis AND lower_bound <= r.value
    ORDER BY lower_bound DESC LIMIT 1
) b ON true LEFT JOIN {tiers} t ON t.id = b.tier
WHERE readings.id = r.id AND r.cohort = %(project)s AND r.basis = 'probability'
"""
_REWORDED = ("edge", "source", "anchor", "origin", "others", "start", "stop", "sentence", "heading", "body_hash")
# Those readings with their turns for a place in the text of their donor.
_TURNS = """
WITH read AS (
    SELECT r.*, w.edge IS NOT NULL AS is_reworded,
        CASE WHEN w.edge IS NULL THEN r.has_place ELSE w.start IS NOT NULL END AS placed
    FROM readings r LEFT JOIN reworded w ON w.edge = r.id
), turns AS (
    SELECT read.*, row_number() OVER (
        PARTITION BY source_id, CASE WHEN decided THEN placement = 'inline' ELSE wanted AND placed END
        ORDER BY decided DESC, stale, score DESC, target_id
    ) AS turn FROM read
)
"""
_TO_WRITE = f"""
CREATE TEMP TABLE to_write ON COMMIT DROP AS
{_TURNS}, r AS (
    SELECT p.id, p.tier, p.rel, p.is_reworded, p.wanted AND NOT p.placed AND p.has_prose AS gap,
        CASE WHEN p.wanted AND p.placed AND p.turn <= p.room THEN 'inline' ELSE 'related' END AS placement
    FROM turns p WHERE p.asked
)
SELECT r.* FROM r JOIN linker_candidateedge o ON o.id = r.id WHERE {sql(UNDECIDED, "o")}
    AND (r.is_reworded OR (o.tier_id, o.rel, o.content_gap, o.placement) IS DISTINCT FROM
        (r.tier, r.rel, r.gap, r.placement))
"""
# One slice of it. Whoever decided on one before it was locked keeps what they decided on.
_WRITE = f"""
WITH r AS (SELECT * FROM to_write WHERE id > %(after)s AND id <= %(last)s), reworded_edges AS (
    UPDATE linker_candidateedge e SET tier_id = r.tier, placement = r.placement, rel = r.rel, content_gap = r.gap,
        anchor = w.anchor, anchor_source = w.origin, anchor_alternatives = w.others, span_start = w.start,
        span_end = w.stop, sentence = w.sentence, section_heading = w.heading, body_hash = w.body_hash
    FROM r JOIN reworded w ON w.edge = r.id WHERE e.id = r.id AND {sql(UNDECIDED, "e")}
)
UPDATE linker_candidateedge e SET tier_id = r.tier, placement = r.placement, rel = r.rel, content_gap = r.gap
FROM r WHERE e.id = r.id AND NOT r.is_reworded AND {sql(UNDECIDED, "e")}
"""
# What would no longer be proposed if it were read so, and what would be again, by the tiers of now and then. As
# _mark_linked does it. A link of ours that came back to the queue may well stand on the site: a person decides on it.
# What the standing run proposed may have left for more than a link: a run over what changed no longer found it, or its
# words are gone. Where the site has no link where it stood until now, it left for something else, and stays away.
_STANDING = f"standing AS ({STANDING_RUN})"
_LEFT_FOR_LINK = (
    f"o.run_id = standing.run AND EXISTS (SELECT FROM readings was WHERE was.id = o.id AND {linked_sql('was')})"
)
_MAY_BE_MARKED = (
    f"{sql(UNDECIDED, 'o')} AND ({sql(PROPOSED, 'o')} OR {_LEFT_FOR_LINK}) AND o.suppressed_by_id IS NULL "
    f"AND o.barred_by_id IS NULL AND o.capped_at IS NULL AND {follows_sql('o')} AND NOT ({sql(REOPENED, 'o')})"
)
# What _mark_linked writes, of all edges or of some.
_TURNING = (
    f"o.project_id = %(project)s AND {_MAY_BE_MARKED} AND o.stale <> {linked_sql('o')} "
    "AND (%(ids)s::bigint[] IS NULL OR o.id = ANY(%(ids)s::bigint[]))"
)
_LINKED_THEN = f"""
{_TURNS}, {_STANDING}, placed_then AS (
    SELECT p.id, p.source_id, p.target_id, p.tier,
        CASE WHEN p.wanted AND p.placed AND p.turn <= p.room THEN 'inline' ELSE 'related' END AS placement
    FROM turns p WHERE NOT p.decided
)
SELECT o.tier_id, p.tier, o.probability IS NOT NULL, {{shown}}, {linked_sql("p")}, count(*)
FROM placed_then p JOIN linker_candidateedge o ON o.id = p.id JOIN linker_page s ON s.id = o.source_id {{cohorts}},
    standing
WHERE {_MAY_BE_MARKED} AND o.stale <> {linked_sql("p")}
GROUP BY 1, 2, 3, 4, 5
"""
# Donors with a suggestion that the bounds read otherwise now, with all that is undecided of theirs.
_BEHIND = f"""
SELECT id FROM readings WHERE NOT decided AND source_id IN (
    SELECT r.source_id FROM readings r JOIN linker_candidateedge o ON o.id = r.id
    WHERE {sql(UNDECIDED, "o")} AND o.tier_id IS DISTINCT FROM r.tier
) ORDER BY source_id, id
"""
AT_A_TIME = 2_000  # suggestions that are locked together: no editor waits longer than for these


class Turned(NamedTuple):
    """Open suggestions that leave the lists, or come to them, with the ids of the tiers that they have and would
    have, and whether they have a probability. `is_shown`: they are in the cohort that was asked about."""

    now: int | None
    then: int | None
    by_probability: bool
    is_shown: bool
    leaves: bool
    number: int


def retier(
    project: Project, edge_ids: Sequence[int] | None = None, *, progress: Progress = no_progress
) -> dict[str, int]:
    """Reads the tiers of undecided edges again, without matching: of all, or of those among `edge_ids`.

    An edge goes into the text where its tier wants it there, the text has words for it, and the donor has room for one
    more: decided links first, then by score. One that the site has already where it would stand now is no longer
    proposed; it is again where a later reading finds it another place. Edges that come to be seen keep apart from the
    others of their target: see linker.matching.anchor_variety. Returns the undecided edges of each tier, among the
    same. Locks the edges in the order of their ids before any is written, as every writer of many edges does.
    """
    ids = None if edge_ids is None else list(edge_ids)
    with transaction.atomic(), connection.cursor() as cursor:
        progress(0, 0, "Reading tiers")
        cohorts = cohorts_of(project)
        _read_tiers(cursor, project, ids, _STORED, project.tier_basis, cohorts)
        progress(0, 0, "Choosing words")
        _choose_other_words(cursor, project, ids, _STORED, cohorts)
        _write(cursor, project, ids, progress)
        _mark_linked(cursor, project, ids)
        if ids is None:
            retier_known(project)
        return _undecided_by_tier(cursor, project, ids)


def catch_up(project: Project, target: int | None = None) -> int:
    """Reads suggestions again whose source has come into another category, or whose target into another role, where
    that makes other bounds count for them; returns how many were looked at.

    `target`: of suggestions to this page alone. For after the commit of what moved them, and may run twice: some donors
    at a time, each lot in a transaction of its own, so that editors need not wait.
    """
    cohorts = cohorts_of(project)
    if not cohorts:
        return 0
    ids = None
    if target is not None:
        ids = list(CandidateEdge.objects.filter(UNDECIDED, project=project, target=target).values_list("pk", flat=True))
        if not ids:
            return 0
    with transaction.atomic(), connection.cursor() as cursor:
        _read_tiers(cursor, project, ids, _STORED, project.tier_basis, cohorts)
        behind = array("q", (pk for (pk,) in stream("behind", _BEHIND, [])))  # 8 bytes each: there may be a million
    for start in range(0, len(behind), AT_A_TIME):
        with transaction.atomic():
            project = lock_project(project.pk)
            retier(project, behind[start : start + AT_A_TIME].tolist())
    retier_known(project)
    return len(behind)


def links_that_turn(
    project: Project,
    tiers: Iterable[Tier],
    basis: str,
    cohorts: Sequence[OwnBounds],
    shown: tuple[OwnBounds, Sequence[OwnBounds]] | None = None,
) -> list[Turned]:
    """How many open suggestions would leave because the site has them already where they would stand, and how many
    would come, if `retier` read all by these tiers and cohorts, and by this basis. Writes nothing.

    `tiers`: every one of the project, those of other bases too, none saved or changed; each has an id of its own.
    `shown`: the cohort that is asked about, among all that there are with it.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {_ASKED}")
        cursor.execute(f"CREATE TEMP TABLE {_ASKED} (LIKE linker_tier) ON COMMIT DROP")
        columns = [column.attname for column in Tier._meta.concrete_fields]
        copy_rows_in(_ASKED, columns, ([getattr(tier, name) for name in columns] for tier in tiers))
        _read_tiers(cursor, project, None, _ASKED, basis, cohorts)
        _choose_other_words(cursor, project, None, _ASKED, cohorts)
        joins, is_shown = "", "true"
        if shown is not None:
            cohort, among = shown
            staged = stage_cohorts(cursor, "shown", project, among)
            joins = staged.joins("s", "o.target_id", f"'{Basis(cohort.basis)}'", "o.span_start IS NOT NULL")
            is_shown = staged.reads(cohort)
        query = _LINKED_THEN.format(cohorts=joins, shown=f"coalesce({is_shown}, false)")
        cursor.execute(query, {"project": project.pk})
        return [Turned(*row) for row in cursor.fetchall()]


def _read_tiers(
    cursor: Any, project: Project, ids: list[int] | None, tiers: str, basis: str, cohorts: Sequence[OwnBounds]
) -> None:
    """Fills the temporary table `readings` with what the tiers of a table, and cohorts with bounds of their own, say of
    each edge and of its donor's others."""
    stage_bounds(cursor, project, tiers, cohorts)
    staged = stage_cohorts(cursor, "own", project, cohorts)
    joins = staged.joins("value", "value.target_id", "value.basis", "value.has_place")
    cursor.execute("DROP TABLE IF EXISTS readings, capped_sections")
    asked = {"project": project.pk, "ids": ids, "basis": basis, "silent": silent_roles(project)}
    # With statistics: a planner that takes two hundred sections for one compares each of them with each edge.
    cursor.execute(f"CREATE TEMP TABLE capped_sections ON COMMIT DROP AS {_SECTIONS}", asked)
    cursor.execute("ANALYZE capped_sections")
    cursor.execute(_READINGS.format(tiers=tiers, cohort=staged.cohort, cohorts=joins), asked)
    cursor.execute("ALTER TABLE readings ADD PRIMARY KEY (id)")
    cursor.execute("ANALYZE readings")


def _choose_other_words(
    cursor: Any, project: Project, ids: list[int] | None, tiers: str, cohorts: Sequence[OwnBounds]
) -> None:
    """Fills the temporary table `reworded` with the edges whose words are used too often by those readings. Those that
    have no place in the text by that are read as such."""
    cursor.execute("DROP TABLE IF EXISTS reworded")
    cursor.execute(
        "CREATE TEMP TABLE reworded (edge bigint PRIMARY KEY, source bigint, anchor text, origin text, "
        "others jsonb, start int, stop int, sentence text, heading text, body_hash bigint) ON COMMIT DROP"
    )
    targets = None if ids is None else _targets(ids)
    for part in reworded(project, _NEW_TIERS.format(tiers=tiers), targets, ids):
        copy_rows_in("reworded", _REWORDED, ((*edge[:4], json.dumps(edge.others), *edge[5:]) for edge in part))
    cursor.execute("ANALYZE reworded")
    for wordless in (one for one in cohorts if one.wordless):
        cursor.execute(_WITHOUT_WORDS.format(tiers=tiers), {"cohort": wordless.id, "project": OF_PROJECT})


def _write(cursor: Any, project: Project, ids: list[int] | None, progress: Progress) -> None:
    """Writes the readings that differ from what is stored, some at a time. All of them are locked before, with what
    _mark_linked writes: beyond these it writes only what turns by its new place."""
    cursor.execute("DROP TABLE IF EXISTS to_write")
    cursor.execute(_TO_WRITE)
    cursor.execute("ALTER TABLE to_write ADD PRIMARY KEY (id)")
    cursor.execute("ANALYZE to_write")
    turning = f"SELECT o.id FROM linker_candidateedge o, ({STANDING_RUN}) standing (run) WHERE {_TURNING}"
    lock_edges(project.pk, f"e.id IN (SELECT id FROM to_write UNION {turning})", {"ids": ids})
    slices = slices_of("to_write", "id")
    for done, (after, last) in enumerate(slices):
        progress(done, len(slices), "Assigning suggestions to tiers")
        cursor.execute(_WRITE, {"after": after, "last": last})


def _mark_linked(cursor: Any, project: Project, ids: list[int] | None) -> None:
    """Marks undecided edges stale that are linked already where they would stand, of all or of some. Those of the
    standing run that were linked where they stood until now, and are not where they stand now, are open again."""
    cursor.execute(
        f"""
        WITH {_STANDING}, r AS (
            SELECT o.id, {linked_sql("o")} AS linked FROM linker_candidateedge o, standing WHERE {_TURNING}
            ORDER BY o.id FOR NO KEY UPDATE OF o
        )
        UPDATE linker_candidateedge e SET stale = r.linked FROM r WHERE e.id = r.id
        """,
        {"project": project.pk, "ids": ids},
    )


def _undecided_by_tier(cursor: Any, project: Project, ids: list[int] | None) -> dict[str, int]:
    """How many undecided edges, of all or of some, each tier of the project's basis has, by its name."""
    cursor.execute(
        f"""
        SELECT tier_id, count(*) FROM linker_candidateedge
        WHERE project_id = %(project)s AND {sql(OPEN)}
            AND (%(ids)s::bigint[] IS NULL OR id = ANY(%(ids)s::bigint[]))
        GROUP BY tier_id
        """,
        {"project": project.pk, "ids": ids},
    )
    counts = cursor.fetchall()
    names = dict(Tier.objects.filter(project=project).values_list("pk", "name"))
    found = dict.fromkeys(project.tiers.filter(basis=project.tier_basis).values_list("name", flat=True), 0)
    for tier, count in counts:
        name = names.get(tier, BELOW_EVERY_TIER)
        found[name] = found.get(name, 0) + count
    return {**found, BELOW_EVERY_TIER: found.get(BELOW_EVERY_TIER, 0)}


def keep_apart(project: Project, targets: Sequence[int] | None = None) -> int:
    """Gives open suggestions, of these targets or of all, other words where too many links say the same by now.

    For after a decision, in its transaction. A suggestion that somebody is deciding on just now is left to them.
    Returns how many got other words.
    """
    ids = [edge.edge for part in reworded(project, STORED, targets) for edge in part]
    if not ids:
        return 0
    with transaction.atomic():
        free = CandidateEdge.objects.filter(UNDECIDED, pk__in=ids).order_by("pk")
        free = free.select_for_update(of=("self",), no_key=True, skip_locked=True)
        locked = list(free.values_list("pk", flat=True))
        if locked:
            retier(project, locked)
    return len(locked)


def _targets(edge_ids: Sequence[int]) -> list[int]:
    return list(CandidateEdge.objects.filter(pk__in=edge_ids).order_by().values_list("target_id", flat=True).distinct())
