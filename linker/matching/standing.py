"""An earlier match run is taken as the one that stands: what was open in it is open again.

Only undecided suggestions change. What people decided stays, and so does what people brought back themselves: closed
is only what the standing run had left open. So the other run, taken again, gives back what was there. A link that was
live and is gone waits for an editor, whichever run stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connection, transaction
from django.utils.translation import gettext as _
from django.utils.translation import override

from linker import audit
from linker.engine.params import MatchParams
from linker.engine.worth import BASE, OF_AUTHORITY, OF_NEED
from linker.errors import UserError
from linker.matching import follow_up, replacing
from linker.matching.edges import even_out_donor_best, even_out_need, stage_uneven_donors
from linker.matching.eligibility import eligible_pages, no_eligible_pages_message
from linker.matching.follow_up import Piece
from linker.matching.kept_runs import kept_runs, standing_run
from linker.matching.report_types import StandReport
from linker.matching.stale import stage_taking_part
from linker.matching.tiers import retier
from linker.models import ChangeKind, KeptRun, Project, Run, RunKind
from linker.models.kept_run import RANKED_BY
from linker.models.querysets import DECIDED, OPEN, STALE, UNDECIDED, sql
from linker.models.run import ACTIVE
from linker.pages.sensitive_marks import mark_sensitive
from linker.runs import lifecycle
from linker.storage.copy import analyze
from linker.storage.locks import lock_edges, lock_project

if TYPE_CHECKING:
    from typing import Any

    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    from linker.runs.lifecycle import Progress

STEPS = 3
_STAGED = """
CREATE TEMP TABLE {table} ON COMMIT DROP AS
SELECT k.source, l.* FROM linker_keptlinks k CROSS JOIN LATERAL
    unnest(k.targets, k.scores, k.similarities, k.probabilities, k.quantiles, k.ranked_by, k.anchors,
        k.anchor_sources, k.starts, k.stops)
    l (target, score, similarity, probability, quantile, ranked_by, anchor, anchor_source, start, stop)
WHERE k.kept_id = %s
"""
# Suggestions of pages that lead to another by now are its own: linker.pages.identity.edges has moved the edges there.
# Where the run had that pair as well, it is as the run had it; of several, the best.
_FOLLOWED = """
INSERT INTO {table}
SELECT DISTINCT ON (moved.source, moved.target) moved.* FROM (
    SELECT coalesce(s.successor_id, l.source) AS source, coalesce(t.successor_id, l.target) AS target,
        l.score, l.similarity, l.probability, l.quantile, l.ranked_by, l.anchor, l.anchor_source, l.start, l.stop
    FROM {table} l
    LEFT JOIN linker_page s ON s.id = l.source AND s.project_id = %(project)s AND s.successor_id IS NOT NULL
    LEFT JOIN linker_page t ON t.id = l.target AND t.project_id = %(project)s AND t.successor_id IS NOT NULL
    WHERE s.id IS NOT NULL OR t.id IS NOT NULL
) moved WHERE moved.source <> moved.target ORDER BY moved.source, moved.target, moved.score DESC
ON CONFLICT DO NOTHING
"""
_MAY_BE_LINKED = """
    EXISTS (SELECT FROM taking_part p WHERE p.page = a.source AND p.is_donor)
    AND EXISTS (SELECT FROM taking_part p WHERE p.page = a.target AND p.is_target)
    AND NOT EXISTS (
        SELECT FROM linker_pagetwin theirs LEFT JOIN linker_pagetwin mine ON mine.page_id = a.source
        WHERE theirs.page_id = a.target AND (NOT theirs.receives OR mine.group_id = theirs.group_id))
"""
# Which edges are written, and how they stand in both runs; locked in the order of their ids, as everybody locks many.
_WRITTEN = f"""
CREATE TEMP TABLE written ON COMMIT DROP AS
SELECT e.id, a.source IS NOT NULL AND ({_MAY_BE_LINKED}) AS opens, {sql(OPEN, "e")} AS was_open,
    a.source IS NOT NULL AS is_in
FROM linker_candidateedge e
    LEFT JOIN again a ON a.source = e.source_id AND a.target = e.target_id
    LEFT JOIN stood s ON s.source = e.source_id AND s.target = e.target_id
WHERE e.project_id = %(project)s AND {sql(UNDECIDED, "e")} AND NOT e.regressed
    AND (a.source IS NOT NULL OR {sql(OPEN, "e")} AND (s.source IS NOT NULL OR %(close_all)s))
ORDER BY e.id FOR NO KEY UPDATE OF e
"""
_CHANCE = "coalesce(round(a.probability::numeric, 6), least(greatest(round(a.score::numeric, 6), 0), 1))"
_WORDS_BACK = "NOT e.edited AND e.anchor <> a.anchor"
_OPEN = f"""
UPDATE linker_candidateedge e SET
    stale = false, suppressed_by_id = NULL, barred_by_id = NULL, capped_at = NULL, away_at = NULL,
    run_id = %(run)s, updated_at = now(),
    score = round(a.score::numeric, 6), similarity = round(a.similarity::numeric, 6),
    probability = round(a.probability::numeric, 6), quantile = round(a.quantile::numeric, 6),
    ranked_by = (%(ranked_by)s::text[])[a.ranked_by],
    worth = round(({_CHANCE} * ({BASE} + {OF_NEED} * e.need + {OF_AUTHORITY} * coalesce(e.authority, 0)))::numeric, 6),
    anchor = CASE WHEN {_WORDS_BACK} THEN a.anchor ELSE e.anchor END,
    anchor_source = CASE WHEN {_WORDS_BACK} THEN (%(anchor_sources)s::text[])[a.anchor_source] ELSE e.anchor_source END,
    span_start = CASE WHEN {_WORDS_BACK} THEN a.start ELSE e.span_start END,
    span_end = CASE WHEN {_WORDS_BACK} THEN a.stop ELSE e.span_end END,
    content_gap = e.content_gap AND NOT ({_WORDS_BACK} AND a.start IS NOT NULL),
    body_hash = CASE WHEN {_WORDS_BACK} THEN NULL ELSE e.body_hash END,
    anchor_alternatives = CASE WHEN {_WORDS_BACK} THEN jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
        'text', e.anchor, 'source', e.anchor_source, 'raw', e.anchor, 'start', e.span_start, 'end', e.span_end
    ))) || coalesce((
        SELECT jsonb_agg(other) FROM jsonb_array_elements(e.anchor_alternatives) other
        WHERE other ->> 'text' <> a.anchor
    ), '[]') ELSE e.anchor_alternatives END
FROM written w, again a
WHERE w.id = e.id AND w.opens AND a.source = e.source_id AND a.target = e.target_id
"""
_CLOSE = f"""
UPDATE linker_candidateedge e SET stale = true, updated_at = now() FROM written w
WHERE w.id = e.id AND NOT w.opens AND {sql(OPEN, "e")}
"""
_COUNTS = f"""
SELECT count(*) FILTER (WHERE opens AND NOT was_open), count(*) FILTER (WHERE opens AND was_open),
    count(*) FILTER (WHERE NOT is_in), count(*) FILTER (WHERE is_in AND NOT opens),
    (SELECT count(*) FROM again a JOIN linker_candidateedge e ON e.source_id = a.source AND e.target_id = a.target
        WHERE {sql(DECIDED, "e")}),
    count(*) FILTER (WHERE opens AND EXISTS (
        SELECT FROM linker_candidateedge e WHERE e.id = written.id AND {sql(STALE, "e")}))
FROM written
"""


def start_standing(project: Project, run: Run, user: AbstractBaseUser | AnonymousUser) -> Run:
    """Starts to take an earlier match run again. Raises UserError where that cannot be done now."""
    _kept(run)
    standing = standing_run(project)
    if standing is not None and standing.pk == run.pk:
        raise UserError(_("Run %(run)d is the one that stands already.") % {"run": run.pk})
    if Run.objects.filter(project=project, kind=RunKind.MATCH, status__in=ACTIVE).exists():
        raise UserError(_("A match is under way, and its suggestions will stand. Wait for it to finish, or cancel it."))
    return lifecycle.start_run(project, RunKind.STAND, {"run": run.pk}, user)


def stand_again(run: Run, user: AbstractBaseUser | AnonymousUser) -> Run:
    """Starts a run that failed to take another again. Raises UserError, see start_standing."""
    chosen = Run.objects.select_related("project").get(project=run.project_id, pk=run.params["run"])
    return start_standing(run.project, chosen, user)


def take_again(run: Run, progress: Progress = lifecycle.no_progress) -> StandReport:
    """The work of a run that takes another again, which its parameters name. All of it in one transaction."""
    with transaction.atomic():
        project = lock_project(run.project_id)
        lock_edges(project.pk, "true")  # all of them: donors and acceptors are evened out, and the tiers read anew
        chosen = Run.objects.select_related("model", "project").get(project=project, pk=run.params["run"])
        kept, before = _kept(chosen), standing_run(project)
        if chosen.model is None:
            raise RuntimeError(f"run {chosen.pk} was not planned")
        progress(0, STEPS, "Reading what was open")
        eligible = eligible_pages(project, chosen.model, MatchParams.from_dict(chosen.params))
        if message := no_eligible_pages_message(eligible):
            raise UserError(message)
        stage_taking_part(eligible)
        _stage(kept, before)
        progress(1, STEPS, "Opening suggestions")
        _write(kept, project)
        replacing.end_closed(project)
        progress(2, STEPS, "Reading tiers")
        stage_uneven_donors(project)
        even_out_donor_best(project)
        even_out_need(project)
        mark_sensitive(project)
        report = StandReport(run=chosen.pk, before=before.pk if before else None)
        follow_up.start(project, (Piece.COUNTS, Piece.RULED_OUT), follows=run)
        lifecycle.succeed(run.pk, report)  # before the tiers are read, which asks what stands
        retier(project)
        report = _counted(report)
        Run.objects.filter(pk=run.pk).update(report=report.to_json())
        _log(run, report)
    return report


def _kept(run: Run) -> KeptRun:
    kept = kept_runs(run.project).filter(run=run).first()
    if kept is None:
        raise UserError(
            _("The suggestions of run %(run)d are no longer kept, so it cannot be taken again.") % {"run": run.pk}
        )
    return kept


def _stage(kept: KeptRun, before: Run | None) -> None:
    with connection.cursor() as cursor:
        for table, run in (("again", kept.pk), ("stood", before.pk if before else None)):
            cursor.execute(f"DROP TABLE IF EXISTS {table}")
            cursor.execute(_STAGED.format(table=table), [run])
            cursor.execute(f"CREATE UNIQUE INDEX ON {table} (source, target)")
            analyze(table)
            cursor.execute(_FOLLOWED.format(table=table), {"project": kept.run.project_id})
        cursor.execute("DROP TABLE IF EXISTS written")
        cursor.execute(
            _WRITTEN,
            {
                "project": kept.run.project_id,
                # Of a run from before any was kept, nobody knows what it had left open.
                "close_all": before is None or not KeptRun.objects.filter(pk=before.pk).exists(),
            },
        )
        cursor.execute("CREATE UNIQUE INDEX ON written (id)")
        analyze("written")


def _write(kept: KeptRun, project: Project) -> None:
    values: dict[str, Any] = {
        "run": kept.pk,
        "ranked_by": list(RANKED_BY),
        "anchor_sources": kept.anchor_sources,
    }
    with connection.cursor() as cursor:
        cursor.execute(_OPEN, values)
        cursor.execute(_CLOSE)


def _counted(report: StandReport) -> StandReport:
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS)
        opened, refreshed, closed, kept_out, decided, linked = cursor.fetchone()
    return StandReport(
        run=report.run,
        before=report.before,
        opened=opened,
        refreshed=refreshed,
        closed=closed,
        kept_out=kept_out,
        decided=decided,
        linked=linked,
    )


def _log(run: Run, report: StandReport) -> None:
    with override(settings.LANGUAGE_CODE):
        subject = f"Match run {report.run} taken again, run {run.pk}"
    audit.record(
        run.project,
        ChangeKind.RUNS,
        user=run.created_by,
        subject=subject,
        before={"standing run": report.before},
        after={"standing run": report.run},
    )
