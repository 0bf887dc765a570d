"""A twentieth of the open suggestions is verified again every day, those first for which that is longest ago.

The suggestions of a project fall into SLICES by their ids. A run verifies the slice that no run has for the longest;
its row, which is kept, says which slice that was and when. So no suggestion is shown for more than twenty days without
being looked at again, and those that still hold are not written at all, however many there are.

A suggestion leaves the queue where its donor or acceptor can no longer take part (it is gone, redirects, is not
indexable or is excluded), where the site has the link by now, and where the donor's text has changed and no longer has
its words. What leaves is stale: the next match decides, as of any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import connection, transaction
from django.db.models import Exists, Max, OuterRef
from django.db.models.fields.json import KT
from django.utils import timezone

from linker.embedding.service import embedding_model
from linker.engine.params import MatchParams
from linker.matching import away
from linker.matching.eligibility import eligible_pages
from linker.matching.kept_runs import standing_run
from linker.matching.stale import stage_taking_part
from linker.matching.words_gone import words_gone_sql
from linker.models import CandidateEdge, Project, Run, RunKind, RunStatus
from linker.models.linked import linked_sql
from linker.models.querysets import OPEN, REOPENED, sql
from linker.runs import lifecycle
from linker.runs.reports import Report

if TYPE_CHECKING:
    from datetime import datetime

    from linker.runs.lifecycle import Progress

SLICES = 20
EVERY = timedelta(days=1)
STEPS = 3

# Ids alone come from an index of the open ones, and only the rows of the slice are read.
_LOOKED = f"""
CREATE TEMP TABLE rechecked ON COMMIT DROP AS
WITH slice AS MATERIALIZED (
    SELECT e.id FROM linker_candidateedge e
    WHERE e.project_id = %(project)s AND {sql(OPEN, "e")} AND mod(e.id, {SLICES}) = %(slice)s
)
SELECT e.id AS edge, CASE
    WHEN s.page IS NULL OR t.page IS NULL OR NOT s.is_donor OR NOT t.is_target THEN 'pages'
    WHEN {linked_sql("e")} THEN 'linked'
    WHEN {words_gone_sql("e", "donor")} THEN 'words' END AS gone
FROM slice JOIN linker_candidateedge e ON e.id = slice.id JOIN linker_page donor ON donor.id = e.source_id
LEFT JOIN taking_part s ON s.page = e.source_id LEFT JOIN taking_part t ON t.page = e.target_id
WHERE NOT ({sql(REOPENED, "e")})
"""
# One that somebody is deciding on just now is left to them, and asked about there.
_TAKEN_OUT = f"""
WITH locked AS (
    SELECT e.id, r.gone FROM linker_candidateedge e JOIN rechecked r ON r.edge = e.id
    WHERE r.gone IS NOT NULL AND {sql(OPEN, "e")} ORDER BY e.id FOR NO KEY UPDATE OF e SKIP LOCKED
), written AS (
    UPDATE linker_candidateedge e SET stale = true FROM locked l WHERE e.id = l.id RETURNING l.gone
)
SELECT count(*) FILTER (WHERE gone = 'pages'), count(*) FILTER (WHERE gone = 'linked'),
    count(*) FILTER (WHERE gone = 'words')
FROM written
"""


@dataclass(frozen=True, kw_only=True)
class RecheckReport(Report):
    """Open suggestions that were looked at, and those that left the queue: because a page of theirs can no longer take
    part, because the site has the link, and because the text no longer has the words."""

    checked: int = 0
    pages: int = 0
    linked: int = 0
    words: int = 0

    @property
    def left(self) -> int:
        return self.pages + self.linked + self.words


def run_recheck(run: Run, progress: Progress = lifecycle.no_progress) -> RecheckReport:
    """The work of the run, over the slice that its parameters name. May run twice."""
    project, standing = run.project, standing_run(run.project)
    params = MatchParams.from_dict(standing.params) if standing is not None else MatchParams()
    left = away.follow(project).left  # what an import that was killed did not get to
    progress(0, STEPS, "Reading the pages")
    eligible = eligible_pages(project, embedding_model(project), params)
    with transaction.atomic():
        stage_taking_part(eligible)
        progress(1, STEPS, "Verifying suggestions")
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS rechecked")
            cursor.execute(_LOOKED, {"project": project.pk, "slice": run.params["slice"]})
            checked = cursor.rowcount
            progress(2, STEPS, "Taking out what no longer holds")
            cursor.execute(_TAKEN_OUT)
            pages, linked, words = cursor.fetchone()
    return RecheckReport(checked=left + checked, pages=left + pages, linked=linked, words=words)


def start_due() -> list[Run]:
    """Starts a run in each project that has open suggestions and in which none was started for a day. What failed, or
    was cancelled, is tried again the next day."""
    recent = Run.objects.filter(project=OuterRef("pk"), kind=RunKind.RECHECK, created_at__gt=timezone.now() - EVERY)
    matched = Run.objects.filter(project=OuterRef("pk"), kind=RunKind.MATCH, status=RunStatus.SUCCEEDED)
    matched = matched.filter(finished_at__lt=timezone.now() - EVERY)
    shown = CandidateEdge.objects.filter(OPEN, project=OuterRef("pk"))
    started = []
    for project in Project.objects.filter(~Exists(recent), Exists(matched), Exists(shown)).order_by("pk"):
        try:
            started.append(start(project))
        except lifecycle.RunIsActive:  # another machine's sweep was faster
            continue
    return started


def start(project: Project, *, to_queue: bool = True) -> Run:
    """Starts a run over the slice that was verified longest ago. Raises RunIsActive while one is under way."""
    dates = verified(project)
    oldest = min(range(SLICES), key=lambda number: (number in dates, dates.get(number), number))
    return lifecycle.start_run(project, RunKind.RECHECK, {"slice": oldest}, to_queue=to_queue)


def verified(project: Project) -> dict[int, datetime]:
    """When the suggestions of each slice were last verified; without those that never were."""
    done = Run.objects.filter(project=project, kind=RunKind.RECHECK, status=RunStatus.SUCCEEDED)
    rows = done.order_by().values_list(KT("params__slice")).annotate(at=Max("created_at"))
    return {int(number): at for number, at in rows}


def verified_at(edge: CandidateEdge) -> datetime:
    """When a suggestion was last verified: by such a run, or by the match that proposed it."""
    at = verified(edge.project).get(edge.pk % SLICES)
    return edge.updated_at if at is None else max(at, edge.updated_at)
