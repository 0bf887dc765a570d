"""Whether what tiers read means something else now than when their bounds were last looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from linker.matching.kept_runs import standing_run
from linker.matching.report_types import CompareReport
from linker.models import Cohort, KeptBounds, Run, RunComparison, RunKind, RunStatus
from linker.reports.ranking import basis_of, finished_matches, ranked_by, ranking_of
from linker.wording import joined, within

if TYPE_CHECKING:
    from datetime import datetime

    from linker.models import Project


@dataclass(frozen=True)
class TierNotice:
    """That tiers read another thing now than when their bounds were last looked at, in `run` and `before`. `moved`: how
    far the order of the links moved, where the two runs were compared. `cohorts`: those with bounds of their own that
    nobody has looked at since either; `of_project`: nobody has looked at the project's."""

    run: Run
    before: Run
    said: str
    moved: CompareReport | None
    cohorts: tuple[Cohort, ...] = ()
    of_project: bool = True


def tier_notice(project: Project) -> TierNotice | None:
    """Whether the run that stands differs, in what its tiers read, from the one that the bounds were last saved or kept
    for, or, where neither was done, from the project's first."""
    run = standing_run(project)
    if run is None:
        return None
    basis = basis_of(run).value
    kept = KeptBounds.objects.filter(project=project).select_related("run__model").order_by("-pk").first()
    saves = Run.objects.filter(project=project, kind=RunKind.RETIER, status=RunStatus.SUCCEEDED)
    saved_at = saves.filter(params__basis__contains=basis).values_list("finished_at", flat=True).first()
    before = _looked_at(project, saved_at, kept) or run
    said = changes(run, before)
    cohorts, earlier = _cohorts_not_looked_at(project, basis, run, kept)
    if not said and cohorts:
        return TierNotice(run, earlier, changes(run, earlier), _moved(run, earlier), cohorts, of_project=False)
    return TierNotice(run, before, said, _moved(run, before), cohorts) if said else None


def _looked_at(project: Project, saved_at: datetime | None, kept: KeptBounds | None) -> Run | None:
    """The run that a manager last saved or kept bounds for; without either, the first."""
    if kept is not None and (saved_at is None or kept.at > saved_at):
        return kept.run
    found = standing_run(project, at=saved_at) if saved_at is not None else None
    return found or finished_matches(project).last()


def _cohorts_not_looked_at(
    project: Project, basis: str, run: Run, kept: KeptBounds | None
) -> tuple[tuple[Cohort, ...], Run]:
    """The cohorts whose bounds were last looked at for a run that differs in what tiers read, and the first such run.
    One query, or two where a cohort is older than the first run."""
    found: dict[Cohort, Run] = {}
    for one in Cohort.objects.filter(project=project, basis=basis).select_related("category", "run__model"):
        before = kept.run if kept is not None and kept.at > one.looked_at else one.run
        before = before or finished_matches(project).last() or run
        if changes(run, before):
            found[one] = before
    return tuple(found), min(found.values(), key=lambda before: before.pk, default=run)


def _moved(run: Run, before: Run) -> CompareReport | None:
    earlier, later = sorted((run.pk, before.pk))
    found = RunComparison.objects.filter(run=later, before=earlier).first()
    return CompareReport.from_json(found.report) if found else None


def changes(run: Run, before: Run) -> str:
    """What a reader of tiers must know of two runs, in a sentence; empty where nothing of it differs."""
    now, then = [], []
    if ranking_of(run) != ranking_of(before):
        now.append(_("was ranked by %(ranker)s") % {"ranker": ranked_by(run)})
        then.append(_("was ranked by %(ranker)s") % {"ranker": ranked_by(before)})
    if basis_of(run) != basis_of(before):
        now.append(_("had %(basis)s as its tier basis") % {"basis": within(basis_of(run).label)})
        then.append(_("had %(basis)s as its tier basis") % {"basis": within(basis_of(before).label)})
    if run.model_id != before.model_id:
        now.append(_("used %(model)s") % {"model": run.model or _("an unnamed model")})
        then.append(_("used %(model)s") % {"model": before.model or _("an unnamed model")})
    if not now:
        return ""
    parts = {"run": run.pk, "now": joined(now), "before": before.pk, "then": joined(then)}
    return _("Run %(run)d %(now)s; run %(before)d %(then)s.") % parts
