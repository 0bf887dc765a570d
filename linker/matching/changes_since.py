"""What has come in since the standing match run, as far as reports of runs say: asked before a match is started."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import BigIntegerField, Q, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce
from django.utils import timezone

from linker.engine.params import MatchParams
from linker.engine.ranking.rankers.base import CandidateRanker
from linker.engine.ranking.rankers.registry import RANKERS
from linker.matching.changes_report import ChangesReport, Whole
from linker.matching.kept_runs import standing_run
from linker.models import MatchedPages, Ranker, Run, RunKind, RunStatus

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

    from linker.models import Project


WHOLE_SITE_EVERY = timedelta(days=30)  # what follows from the whole site, and not from a page, grows old


@dataclass(frozen=True)
class ChangesSince:
    """What imports and embedding brought since pages were last matched, at `since` and into the run `run`; a page that
    changed twice is counted twice. `links`: of the site, new, changed or gone. `whole`: why a match has to be over the
    whole site whatever they brought; what else makes it so is only known once the pages are read."""

    run: Run | None
    since: datetime | None
    new: int = 0
    changed: int = 0
    gone: int = 0
    links: int = 0
    vectors: int = 0
    whole: Whole | None = None

    @property
    def any(self) -> bool:
        return bool(self.new or self.changed or self.gone or self.links or self.vectors)


def changes_since(project: Project) -> ChangesSince:
    """Five queries, however many pages there are: they read reports of runs."""
    standing = standing_run(project)
    whole = why_whole(project, standing)
    if standing is None:
        return ChangesSince(None, None, whole=whole)
    matched = Run.objects.filter(project=project, kind=RunKind.CHANGES, status=RunStatus.SUCCEEDED, pk__gt=standing.pk)
    last = matched.exclude(report__has_key="whole").order_by("-pk").first() or standing
    later = Run.objects.filter(project=project, status=RunStatus.SUCCEEDED, finished_at__gt=last.created_at)
    pages, links = Q(kind=RunKind.IMPORT_PAGES), Q(kind=RunKind.IMPORT_LINKS)
    found = later.aggregate(
        new=_sum("new", pages),
        changed=_sum("updated", pages),
        gone=_sum("missing", pages),
        links_new=_sum("new", links),
        links_changed=_sum("updated", links),
        links_gone=_sum("missing", links),
        vectors=_sum("embedded", Q(kind=RunKind.EMBED)),
    )
    return ChangesSince(
        standing,
        last.created_at,
        new=found["new"],
        changed=found["changed"],
        gone=found["gone"],
        links=found["links_new"] + found["links_changed"] + found["links_gone"],
        vectors=found["vectors"],
        whole=whole,
    )


def _sum(name: str, runs: Q) -> Coalesce:
    return Coalesce(Sum(Cast(KT(f"report__{name}"), BigIntegerField()), filter=runs), 0, output_field=BigIntegerField())


def why_whole(project: Project, standing: Run | None) -> Whole | None:
    """Why the whole site has to be matched, as far as that is known before it is read."""
    if standing is None:
        return Whole.NO_RUN
    if not MatchParams.from_dict(standing.params).is_of_whole_site:
        return Whole.LIMITED
    ranker = Ranker.objects.filter(run=standing).only("kind").first()
    if ranker is None or not isinstance(RANKERS.get(ranker.kind), CandidateRanker):
        return Whole.BY_COSINE
    if not MatchedPages.objects.filter(run=standing).exists():
        return Whole.NOT_KEPT
    later = Run.objects.filter(project=project, kind=RunKind.MATCH, status=RunStatus.SUCCEEDED, pk__gt=standing.pk)
    return Whole.TAKEN_AGAIN if later.exists() else None


def whole_site_is_due(project: Project) -> bool:
    """Whether a match that nobody sets up has to be over the whole site: no run stands that could be followed, or that
    one was made WHOLE_SITE_EVERY ago. Where too much has changed, a run over what changed finds that itself."""
    standing = standing_run(project)
    if standing is None or why_whole(project, standing) is not None:
        return True
    return standing.finished_at is None or standing.finished_at <= timezone.now() - WHOLE_SITE_EVERY


def whole_instead(run: Run) -> Run | None:
    """The run over the whole site that was started in place of one over what changed; None where there is none."""
    if run.kind != RunKind.CHANGES or not run.report or ChangesReport.from_json(run.report).whole is None:
        return None
    return _next_match(run)


def instead_of(run: Run) -> Run | None:
    """The run over what changed in whose place one over the whole site was started; None where it was asked for."""
    if run.kind != RunKind.MATCH:
        return None
    earlier: QuerySet[Run] = Run.objects.filter(project=run.project_id, kind=RunKind.CHANGES, pk__lt=run.pk)
    found = earlier.filter(report__has_key="whole").order_by("-pk").first()
    if found is None or found.follows_id != run.follows_id or _next_match(found) != run:
        return None
    return found


def _next_match(run: Run) -> Run | None:
    later = Run.objects.filter(project=run.project_id, kind=RunKind.MATCH, pk__gt=run.pk).order_by("pk").first()
    # Where another match was under way, none was started for it: that one had begun before this one ended.
    is_its_own = later is not None and run.finished_at is not None and later.created_at >= run.finished_at
    return later if is_its_own else None
