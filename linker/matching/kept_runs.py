"""What a match run left open is kept with it: written as the run ends, dropped by a rule, pinned by managers.

A run is kept while it is among the newest KEPT of its project, is pinned, or is the one that stands. Kept is a row a
donor (linker.models.KeptLinks); docs/governance.md says how much room that takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from linker import audit
from linker.engine.params import MatchParams
from linker.errors import UserError
from linker.models import ChangeKind, KeptRun, Project, Run, RunKind, RunStatus
from linker.models.kept_run import RANKED_BY
from linker.models.querysets import OPEN, sql
from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
    from django.db.backends.utils import CursorWrapper
    from django.db.models import QuerySet
    from numpy.typing import NDArray

    User = AbstractBaseUser | AnonymousUser

KEPT = 3  # the newest match runs of a project
MOST_PINNED = 5
_ARRAYS = {
    "targets": "target_id",
    "scores": "score::real",
    "similarities": "similarity::real",
    "probabilities": "probability::real",
    "quantiles": "quantile::real",
    "levels": "level",
    "ranked_by": "array_position(%(ranked_by)s::text[], ranked_by)::smallint",
    "tiers": "array_position(%(tier_ids)s::bigint[], tier_id)::smallint",
    "anchors": "anchor",
    "anchor_sources": "array_position(%(anchor_sources)s::text[], anchor_source)::smallint",
    "starts": "span_start",
    "stops": "span_end",
}
_KEEP = f"""
INSERT INTO linker_keptlinks (kept_id, source, {", ".join(_ARRAYS)})
SELECT %(run)s, source_id, {", ".join(f"array_agg({value})" for value in _ARRAYS.values())}
FROM (
    SELECT * FROM linker_candidateedge WHERE project_id = %(project)s AND {sql(OPEN)}
    AND (%(donors)s::bigint[] IS NULL OR source_id = ANY(%(donors)s))
    ORDER BY source_id, score DESC, target_id
) e GROUP BY source_id
"""


def kept_runs(project: Project) -> QuerySet[KeptRun]:
    """The runs whose suggestions are kept, newest first."""
    return KeptRun.objects.filter(run__project=project).select_related("run__model", "pinned_by").order_by("-pk")


def standing_run(project: Project, at: datetime | None = None) -> Run | None:
    """The match run whose suggestions stand, or stood at a moment: as linker.models.kept_run.STANDING_RUN."""
    ended = Run.objects.filter(project=project, kind__in=(RunKind.MATCH, RunKind.STAND), status=RunStatus.SUCCEEDED)
    if at is not None:
        ended = ended.filter(finished_at__lte=at)
    last = ended.select_related("model").order_by(F("finished_at").desc(nulls_last=True), "-pk").first()
    if last is None or last.kind == RunKind.MATCH:
        return last
    return Run.objects.select_related("model").get(pk=last.params["run"])


def usual_params(project: Project) -> dict[str, Any]:
    """Parameters of a match that nobody sets up: those of the run that stands, or where that is a pilot, which some
    donors are tried with, of the newest run that was none; without one, the usual ones."""
    run = standing_run(project)
    if run is not None and run.params.get("pilot"):
        ended = Run.objects.filter(project=project, kind=RunKind.MATCH, status=RunStatus.SUCCEEDED, pilot=None)
        run = ended.order_by("-pk").first()
    return run.params if run is not None else MatchParams(weights=project.formula_weights).to_dict()


def keep_links(run: Run) -> None:
    """Keeps what is open now as what the run left, and drops runs by the rule. In the run's last transaction."""
    tiers = dict(run.project.tiers.order_by("-lower_bound").values_list("pk", "name"))
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT coalesce(array_agg(DISTINCT anchor_source), '{{}}') FROM linker_candidateedge "
            f"WHERE project_id = %s AND {sql(OPEN)}",
            [run.project_id],
        )
        [sources] = cursor.fetchone()
        drop([run.pk])
        kept = KeptRun.objects.create(run=run, tiers=list(tiers.values()), anchor_sources=sources, links=0, donors=0)
        _copy_open(kept, list(tiers))
    drop_old(run.project)


def keep_links_of(run: Run, donors: NDArray[np.int64]) -> None:
    """Keeps what is open now of some donors, ids int64 [k], as what the run left, in place of what it left of them
    before. Comparisons that name the run go: they say what was. Does nothing for a run that is not kept."""
    kept = KeptRun.objects.filter(run=run).select_related("run").first()
    if kept is None:
        return
    names = dict(run.project.tiers.values_list("name", "pk"))
    kept.tiers = [*kept.tiers, *(name for name in names if name not in kept.tiers)]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(array_agg(DISTINCT anchor_source), '{}') FROM linker_candidateedge "
            "WHERE source_id = ANY(%s)",
            [donors.tolist()],
        )
        [sources] = cursor.fetchone()
        kept.anchor_sources = [*kept.anchor_sources, *(name for name in sources if name not in kept.anchor_sources)]
        kept.save(update_fields=["tiers", "anchor_sources"])
        _drop_comparisons(cursor, [run.pk])
        cursor.execute(
            "DELETE FROM linker_keptlinks WHERE kept_id = %s AND source = ANY(%s)", [run.pk, donors.tolist()]
        )
    _copy_open(kept, [names.get(name, 0) for name in kept.tiers], donors)


def _copy_open(kept: KeptRun, tiers: list[int], donors: NDArray[np.int64] | None = None) -> None:
    """Copies what is open now, of all donors or of some, and counts it. `tiers`: ids in the order of `kept.tiers`."""
    with connection.cursor() as cursor:
        cursor.execute(
            _KEEP,
            {
                "run": kept.pk,
                "project": kept.run.project_id,
                "ranked_by": list(RANKED_BY),
                "tier_ids": tiers,
                "anchor_sources": kept.anchor_sources,
                "donors": None if donors is None else donors.tolist(),
            },
        )
        cursor.execute(
            "SELECT count(*), coalesce(sum(cardinality(targets)), 0) FROM linker_keptlinks WHERE kept_id = %s",
            [kept.pk],
        )
        kept.donors, kept.links = cursor.fetchone()
    kept.save(update_fields=["donors", "links"])


def drop_old(project: Project) -> None:
    """Drops what the rule no longer keeps, with the comparisons that name it."""
    kept = list(kept_runs(project).values_list("pk", "pinned_at"))
    standing = standing_run(project)
    newest = {pk for pk, _ in kept[:KEPT]} | ({standing.pk} if standing else set())
    drop([pk for pk, pinned_at in kept if pk not in newest and pinned_at is None])


def drop(runs: list[int]) -> None:
    """Drops what is kept of these runs: a row at a time would be a million."""
    if not runs:
        return
    with connection.cursor() as cursor:
        _drop_comparisons(cursor, runs)
        for statement in (
            "DELETE FROM linker_keptlinks WHERE kept_id = ANY(%(runs)s)",
            "DELETE FROM linker_keptrun WHERE run_id = ANY(%(runs)s)",
            "DELETE FROM linker_matchedpages WHERE run_id = ANY(%(runs)s)",
        ):
            cursor.execute(statement, {"runs": runs})


def _drop_comparisons(cursor: CursorWrapper, runs: list[int]) -> None:
    for statement in (
        "DELETE FROM linker_changeddonors WHERE comparison_id IN "
        "(SELECT id FROM linker_runcomparison WHERE run_id = ANY(%(runs)s) OR before_id = ANY(%(runs)s))",
        "DELETE FROM linker_runcomparison WHERE run_id = ANY(%(runs)s) OR before_id = ANY(%(runs)s)",
    ):
        cursor.execute(statement, {"runs": runs})


def pin(run: Run, user: User, name: str) -> None:
    """Gives a kept run a name, and keeps it until it is unpinned. Raises UserError where it is no longer kept, or too
    many are pinned."""
    with transaction.atomic():
        lock_project(run.project_id)
        kept = kept_runs(run.project).filter(run=run).first()
        if kept is None:
            raise UserError(
                _("The suggestions of run %(run)d are no longer kept, so it cannot be pinned.") % {"run": run.pk}
            )
        if not kept.is_pinned and kept_runs(run.project).filter(pinned_at__isnull=False).count() >= MOST_PINNED:
            raise UserError(
                _("%(most)d runs are pinned already, which is the most. Unpin one of them first.")
                % {"most": MOST_PINNED}
            )
        _save_pin(kept, user, name=name, is_pinned=True)


def unpin(run: Run, user: User) -> None:
    """Gives the run to the rule again, which the end of the next match follows."""
    with transaction.atomic():
        lock_project(run.project_id)
        kept = kept_runs(run.project).filter(run=run).first()
        if kept is not None:
            _save_pin(kept, user, name=kept.name, is_pinned=False)


def _save_pin(kept: KeptRun, user: User, *, name: str, is_pinned: bool) -> None:
    before = {"pinned": kept.is_pinned, "name": kept.name}
    kept.name = name
    if is_pinned != kept.is_pinned:
        kept.pinned_by_id, kept.pinned_at = (user.pk, timezone.now()) if is_pinned else (None, None)
    kept.save(update_fields=["name", "pinned_by", "pinned_at"])
    audit.record(
        kept.run.project,
        ChangeKind.RUNS,
        user=user,
        subject=f"Match run {kept.pk}",
        before=before,
        after={"pinned": is_pinned, "name": name},
    )
