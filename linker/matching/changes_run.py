"""A run over what changed since the standing match run: changed pages, and those that might link to new ones.

It ranks with the standing run's ranker, parameters and reading of decisions, and what it finds belongs to that run,
which goes on standing; linker.models.MatchedPages says which pages it matched anew. Suggestions of all other donors
stay as they are, and fill the caps of their targets. What follows from the whole site and not from a page (copies, how
near pages are to others, the ranker itself) is as the standing run left it, so a run over all pages is due from time to
time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from linker.embedding.service import embedding_model
from linker.engine.anchors.training import anchors_again
from linker.engine.index import build_index, with_nearest
from linker.engine.params import MatchParams
from linker.engine.ranking.approval import nearness_of
from linker.engine.ranking.boosted_trees import TrainedScorer
from linker.engine.ranking.formula_score import VERSION as FORMULA_VERSION
from linker.engine.ranking.givers import givers
from linker.engine.ranking.pipeline import Method, rank_sources
from linker.engine.ranking.rankers.base import CandidateRanker
from linker.engine.ranking.rankers.registry import RANKERS
from linker.engine.site import Pairs, checked
from linker.errors import UserError
from linker.matching.changes_report import ChangesReport, Whole
from linker.matching.changes_saved import save_changes, staying_links
from linker.matching.changes_since import why_whole
from linker.matching.eligibility import eligible_pages, no_eligible_pages_message
from linker.matching.kept_runs import standing_run, usual_params
from linker.matching.lessons import calibration_of, kept_lesson
from linker.matching.page_marks import PageMarks, carried, changes_between, marks_of
from linker.matching.ranked import FoundWords, engine_options, load_site, rows_of, why_of, with_standing
from linker.matching.replacing import scored, standing_links
from linker.matching.report import begun_report
from linker.matching.report_types import MatchReport
from linker.matching.result import MatchResult
from linker.matching.steps import in_steps
from linker.models import Ranker, Run, RunKind
from linker.pages.languages import read_languages
from linker.runs import lifecycle
from linker.runs.lifecycle import RunIsActive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.index import SiteIndex
    from linker.engine.ranking.options import EngineOptions
    from linker.engine.ranking.ranked import Ranked
    from linker.engine.ranking.rankers.base import Scorer
    from linker.matching.page_marks import Changes
    from linker.matching.ranked import Loaded
    from linker.models import MatchedPages
    from linker.runs.lifecycle import Progress


@dataclass(frozen=True)
class ChangeOptions:
    """How far a run over what changed goes.

    most_changed   share of the pages above which the whole site is matched instead
    most_in_all    share of the pages that such runs found changed since the last over the whole site, above which one
                   is due again
    most_runs      such runs since the last over the whole site, at which one is due again
    givers         pages that are looked at as donors for each new page
    most_givers    share of the pages above which there is one alone for each new page; each page that has another name
                   has one, too
    """

    most_changed: float = 0.2
    most_in_all: float = 0.3
    most_runs: int = 60
    givers: int = 10
    most_givers: float = 0.01


USUAL = ChangeOptions()


def start_whole_if_due(run: Run) -> Run | None:
    """Starts the run over the whole site that a run over what changed has said is due, with its usual parameters."""
    report = ChangesReport.from_json(run.report)
    if report.whole is None:
        return None
    params = usual_params(run.project)
    try:
        return lifecycle.start_run(run.project, RunKind.MATCH, params, run.created_by, follows=run.follows)
    except RunIsActive:
        return None


def run_changes(run: Run, progress: Progress = lifecycle.no_progress, options: ChangeOptions = USUAL) -> ChangesReport:
    """The work of the run. Where the whole site has to be matched instead, it changes nothing and its report says
    why."""
    started, project, progress = time.monotonic(), run.project, in_steps(progress)
    standing = standing_run(project)
    model = embedding_model(project)
    Run.objects.filter(pk=run.pk).update(model=model)
    why = why_whole(project, standing)
    if why is None and standing is not None and standing.model_id != model.pk:
        why = Whole.OTHER_VECTORS
    kept = PageMarks.kept(standing) if standing is not None and why is None else None
    if standing is None or kept is None:
        return ChangesReport(run=standing.pk if standing else None, whole=why or Whole.NOT_KEPT)
    before, row = kept
    params, ranking = MatchParams.from_dict(standing.params), standing.ranker.kind
    read_languages(project, progress)
    progress(0, 0, "Reading the site")
    eligible = eligible_pages(project, model, params)
    if message := no_eligible_pages_message(eligible):
        raise UserError(message)
    loaded = load_site(project, model, eligible, params.levels(ranking))
    now = carried(before, marks_of(loaded.site, loaded.ids))
    found = changes_between(before, now)
    report = ChangesReport(
        run=standing.pk, pages=len(now.ids), changed=len(found.changed), new=len(found.new), gone=len(found.gone)
    )
    if whole := _too_much(found, row, len(now.ids), options):
        return replace(report, whole=whole)
    if not found.count:
        return replace(report, seconds=round(time.monotonic() - started, 1))
    links = standing_links(project, params)
    # As the standing run read decisions, so that its links and these are on one scale.
    lesson = kept_lesson(MatchReport.from_json(standing.report).approval)
    engine = engine_options(params, ranking, eligible, calibration_of(project, lesson, eligible))
    ranked, sources, now = _ranked(with_standing(loaded, links), found, now, standing.ranker, engine, options, progress)
    if ranked is None:
        return replace(report, whole=Whole.OTHER_RANKER)
    chosen = np.zeros(len(now.ids), dtype=np.bool_)
    chosen[sources] = True
    runs = now.runs.copy()
    runs[chosen] = run.pk
    result = MatchResult(
        rows_of(loaded, ranked),
        ranking,
        lambda pair: why_of(ranked, pair["place"]),
        FoundWords(ranked),
        None,
        begun_report(project, model, eligible, acceptors=int(loaded.site.target.sum()), other_language=0),
        acceptors=loaded.ids[loaded.site.target],
        marks=replace(now, runs=runs),
        staying=staying_links(project, now.ids[sources]),
        standing=scored(links, loaded.ids, ranked.standing),
    )
    report = replace(report, donors=len(sources), changes=row.changes + 1, changed_in_all=row.changed + found.count)
    del loaded
    return save_changes(
        run, standing, params, result, replace(eligible, chosen_donor=chosen), report, started, progress
    )


def _too_much(found: Changes, row: MatchedPages, pages: int, options: ChangeOptions) -> Whole | None:
    if found.count > options.most_changed * pages:
        return Whole.MUCH_CHANGED
    if row.changed + found.count > options.most_in_all * pages:
        return Whole.MUCH_IN_ALL
    return Whole.MANY_RUNS if row.changes >= options.most_runs else None


def _ranked(
    loaded: Loaded, found: Changes, now: PageMarks, kept: Ranker, engine: EngineOptions, options: ChangeOptions,
    progress: Progress,
) -> tuple[Ranked | None, NDArray[np.int64], PageMarks]:  # fmt: skip
    """The pairs of the changed pages and of those that might link to them, these sources, and the marks with how near
    they are to others now. None where the ranker of the standing run cannot be read, or another version would rank."""
    site = checked(loaded.site)
    index = build_index(site, progress, engine.limits, engine.search, found.changed)
    method = _method(index, kept, engine, progress)
    if method is None:
        return None, found.changed[:0], now
    sources = np.union1d(found.changed[site.source[found.changed]], _givers(index, found, options))
    around = np.union1d(site.links.dst[np.isin(site.links.src, sources)], found.changed)
    index = with_nearest(index, sources, around, engine.search)
    index = _standing_of(index, sources)
    nearness = now.nearness.astype(np.float64)
    looked = np.union1d(sources, around)
    nearness[looked] = nearness_of(index.near)[looked]
    return (
        rank_sources(index, sources, nearness, method, progress),
        sources,
        replace(now, nearness=nearness.astype(np.float32)),
    )


def _givers(index: SiteIndex, found: Changes, options: ChangeOptions) -> NDArray[np.int64]:
    """The pages that are looked at as donors though they have not changed. A page whose text alone is another keeps the
    links to it that it has: of those that other donors would give it instead, hardly one comes out of asking a few."""
    site = index.site
    new, renamed = found.new[site.target[found.new]], found.renamed[site.target[found.renamed]]
    most = max(min(options.givers * len(new), int(options.most_givers * len(site))), len(new))
    return np.union1d(
        givers(index, new, found.changed, most, options.givers),
        givers(index, renamed, found.changed, len(renamed), options.givers),
    )


def _standing_of(index: SiteIndex, sources: NDArray[np.int64]) -> SiteIndex:
    """The index of a site without the standing pairs of other sources: theirs are not ranked."""
    pairs = index.site.standing
    mine = np.isin(pairs.src, sources)
    return replace(index, site=replace(index.site, standing=Pairs(pairs.src[mine], pairs.dst[mine])))


def _method(index: SiteIndex, kept: Ranker, engine: EngineOptions, progress: Progress) -> Method | None:
    """How the standing run ranked; None where that cannot be done again."""
    ranker = RANKERS[kept.kind]
    if not isinstance(ranker, CandidateRanker):
        return None
    scorer: Scorer | None
    if ranker.learns:
        try:
            scorer = TrainedScorer.from_bytes(bytes(kept.model))
        except KeyError:
            return None
    else:
        scorer = ranker.fit(index, engine, progress)
    version = f"{scorer.version if scorer else FORMULA_VERSION}+{engine.approval.version}"
    if version != kept.version:
        return None
    return Method(kept.kind, scorer, anchors_again(index, bytes(kept.words), engine.anchors), engine)
