"""A match run from its beginning: as one job or in batches, in this process or through the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection

from linker.engine.params import MatchParams, Ranking
from linker.errors import RunCancelled
from linker.matching.batches import batches_left, run_batch, still_running
from linker.matching.finish import finish_match
from linker.matching.plan import plan_match
from linker.matching.ranking_sayings import ENOUGH_LINKS, FEW_LINKS, MANY_PAGES
from linker.matching.steps import in_steps, uncounted
from linker.models import Project, Run
from linker.models.linked import TEXT_LINK
from linker.models.querysets import APPROVED, LIVE, sql
from linker.pages.languages import read_languages
from linker.runs import lifecycle

if TYPE_CHECKING:
    from linker.matching.report_types import MatchReport
    from linker.runs.lifecycle import Progress


# Below this the ranker has too little to learn from;
# linker.engine.ranking.boosted_trees.TrainOptions.min_labels says the same of links found among the candidates.
MIN_LABELS = 60
MAX_RANKED_PAGES = 300_000  # pages whose texts one process can hold


def choose_ranking(project: Project, params: MatchParams) -> tuple[str, str]:
    """How a run ranks, and why in one sentence: what its settings say, or what the site has to learn from.

    Learned from MIN_LABELS body links and decisions on; else by the ranker that ships with the product, or where the
    project has weights of its own by the formula. Beyond MAX_RANKED_PAGES pages by cosine within the categories.
    """
    if params.ranking != Ranking.AUTO:
        return params.ranking, "The run’s settings say so."
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*) FROM linker_page WHERE project_id = %s AND {sql(LIVE)}",
            [project.pk],
        )
        (pages,) = cursor.fetchone()
        cursor.execute(
            "SELECT count(*) FROM (SELECT DISTINCT source_id, target_id FROM linker_existinglink WHERE project_id = %s "
            f"AND {sql(TEXT_LINK)} AND source_id <> target_id LIMIT %s) links",
            [project.pk, MIN_LABELS],
        )
        (links,) = cursor.fetchone()
    decided = project.edges.filter(APPROVED, reviewed=True)
    accepted = decided.count() if links < MIN_LABELS else 0
    if pages > MAX_RANKED_PAGES:
        return (
            Ranking.COSINE,
            MANY_PAGES.said(pages=f"{MAX_RANKED_PAGES:,}"),
        )
    if links + accepted >= MIN_LABELS:
        return Ranking.LEARNED, ENOUGH_LINKS.said()
    return (
        params.without_links,
        FEW_LINKS.said(links=links + accepted, least=MIN_LABELS),
    )


def start_match(run: Run, progress: Progress = lifecycle.no_progress) -> MatchReport | None:
    """The part of a match that is one job: all of it by a ranker or the formula, else the plan, and None."""
    ranking, reason = choose_ranking(run.project, MatchParams.from_dict(run.params))
    progress = uncounted(progress) if ranking == Ranking.COSINE else in_steps(progress)
    read_languages(run.project, progress)  # of a project that was last imported before languages were read
    if ranking != Ranking.COSINE:
        from linker.matching.ranked import run_ranked  # heavy: LightGBM and scikit-learn, which no other run needs

        return run_ranked(run, ranking, reason, progress)
    plan_match(run, progress, reason)
    return None


def run_match(run: Run, progress: Progress = lifecycle.no_progress) -> MatchReport:
    """The whole match in this process: by a ranker or the formula, or plan, every batch, finish."""
    report = start_match(run, progress)
    if report is not None:
        return report
    run.refresh_from_db()
    total, done = run.total, run.done
    for number in batches_left(run):
        progress(done, total, "Comparing pages")
        if not run_batch(run, number) and not still_running(run):
            raise RunCancelled
        done = Run.objects.values_list("done", flat=True).get(pk=run.pk)
    return finish_match(run, progress)
