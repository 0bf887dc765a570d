"""Audits: every week some of what was approved, and of what left unreviewed, is judged by somebody else."""

from __future__ import annotations

import secrets
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from linker.models import Project
from linker.models.querysets import APPROVED, of
from linker.runs import lifecycle
from linker.storage.locks import lock_project
from review.models import Decision, Drawn, Operation, ReleaseLink, Sample, SampleKind, Verb
from review.quality.report import AuditReport
from review.quality.samples import Chosen, at_random, give

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from django.db.models import QuerySet

    from linker.models import Run
    from linker.runs.lifecycle import Progress

EVERY = timedelta(days=7)
FIRST = timedelta(days=28)  # how far back the first audit goes
OF_EACH = 40  # links that were approved, and as many that left unreviewed
TWICE = 5  # every fifth link is judged by two people
APPROVING = (Verb.ACCEPT, Verb.EDIT)


def run_audit(run: Run, progress: Progress = lifecycle.no_progress) -> AuditReport:
    """Draws an audit of what was approved and released since the last one. A second time it changes nothing."""
    with transaction.atomic():
        lock_project(run.project_id)
        sample = Sample.objects.filter(run=run).first() or _draw(run, progress)
        links = sample.links.filter(turn=0)
        return AuditReport(
            approved=links.filter(drawn_from=Drawn.APPROVED).count(),
            unreviewed=links.filter(drawn_from=Drawn.UNREVIEWED).count(),
            twice=sample.links.filter(turn=1).count(),
            for_nobody=links.filter(reader=None).count(),
        )


def _draw(run: Run, progress: Progress) -> Sample:
    progress(0, 2, "Drawing links")
    project, until = run.project, timezone.now()
    sample = Sample.objects.create(
        project=project,
        kind=SampleKind.AUDIT,
        run=run,
        seed=int(run.params.get("seed", secrets.randbelow(2**31))),
        since=since_last(project, until),
        until=until,
    )
    drawn = drawn_links(sample)
    progress(1, 2, "Giving links to people")
    give(sample, drawn, twice={one.edge for one in drawn[::TWICE]})
    return sample


def since_last(project: Project, until: datetime) -> datetime:
    """Where the last audit ended, or four weeks ago."""
    audits = Sample.objects.filter(project=project, kind=SampleKind.AUDIT)
    last = audits.order_by("-until").values_list("until", flat=True).first()
    return last or until - FIRST


def drawn_links(sample: Sample) -> list[Chosen]:
    """The links that the seed of an audit draws, in the order in which they are judged."""
    drawn = []
    for rows, kind in ((_approved(sample), Drawn.APPROVED), (_unreviewed(sample), Drawn.UNREVIEWED)):
        rows = rows.annotate(drawn=at_random("edge", sample.seed)).order_by("drawn", "edge")
        drawn += [Chosen(edge, kind) for edge in rows.values_list("edge", flat=True)[:OF_EACH]]
    Random(sample.seed).shuffle(drawn)  # noqa: S311 (a draw that can be made again)
    return drawn


def _approved(sample: Sample) -> QuerySet[Decision, Any]:
    said = Decision.objects.filter(project=sample.project, at__gte=sample.since, at__lt=sample.until)
    said = said.filter(of("edge", APPROVED), verb__in=APPROVING, undone_by__isnull=True)
    return said.order_by().values("edge").annotate(last=Max("pk"))


def _unreviewed(sample: Sample) -> QuerySet[ReleaseLink, Any]:
    left = ReleaseLink.objects.filter(
        of("edge", APPROVED),
        release__project=sample.project,
        release__created_at__gte=sample.since,
        release__created_at__lt=sample.until,
        operation=Operation.ADD,
        edge__reviewed=False,
    )
    return left.order_by().values("edge").annotate(last=Max("pk"))
