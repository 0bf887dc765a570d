"""How the match runs of a project ranked, and what their tiers read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext

from linker.engine.params import Ranking
from linker.engine.ranking.rankers.registry import RANKERS
from linker.matching.report_types import MatchReport
from linker.models import Basis, Run, RunKind, RunStatus

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from linker.models import Project


def finished_matches(project: Project) -> QuerySet[Run]:
    """The project's finished match runs, newest first."""
    return Run.objects.filter(project=project, kind=RunKind.MATCH, status=RunStatus.SUCCEEDED).select_related("model")


def newest_match(project: Project) -> Run | None:
    """The newest match run that has succeeded."""
    return finished_matches(project).first()


def ranking_of(run: Run) -> str:
    """The name of the ranker of a finished run; runs from before there was a choice were ranked by cosine."""
    return MatchReport.from_json(run.report).ranking or run.params.get("ranking") or Ranking.COSINE


def ranked_by(run: Run) -> str:
    """Who ranked the run, after "by"; the plain name of a ranker that is no more."""
    name = ranking_of(run)
    return gettext(RANKERS[name].by) if name in RANKERS else name


def basis_of(run: Run) -> Basis:
    """What the run's tiers were read by."""
    return MatchReport.from_json(run.report).basis or Basis.COSINE
