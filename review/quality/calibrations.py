"""Calibrations: a sample from every band of probability is labelled, and says where a tier should begin."""

from __future__ import annotations

import secrets
from random import Random
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction
from django.db.models import Avg, Case, Count, FloatField, Value, When
from django.utils import timezone
from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.matching.cohorts import cohorts_of, saved_cohort, stage_cohorts
from linker.matching.kept_runs import standing_run
from linker.matching.scales import scales
from linker.models import Basis, Cohort, Project, Tier
from linker.models.querysets import PROPOSED, sql
from linker.projects.policies.cohorts import name_of, set_bounds
from linker.projects.policies.shared import wait_for_others
from linker.projects.policies.tiers import change_tiers
from linker.projects.tier_preview import Bound, Effect, Spread
from linker.runs import lifecycle
from linker.storage.locks import lock_project
from linker.wording import percent
from review.models import Drawn, Grade, Sample, SampleKind, SampleLink
from review.quality.curves import Band, Point, bound_for, curve
from review.quality.report import CalibrationReport
from review.quality.samples import Chosen, give

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User

    from linker.matching.cohorts import OwnBounds
    from linker.models import Run
    from linker.projects.policies.retier import TierChange
    from linker.runs.lifecycle import Progress

SIZES, LEAST, MOST = 200, 20, 2000  # links of a calibration: usually, at least, at most
BANDS = (10, 5, 20)

# A simple random sample of each band: its links with the least hashes. `total` counts all of the band.
_DRAW = f"""
    SELECT band, total, id FROM (
        SELECT id, band, row_number() OVER (PARTITION BY band ORDER BY drawn, id) AS place,
               count(*) OVER (PARTITION BY band) AS total
        FROM (
            SELECT e.id, least(floor(e.probability * %(bands)s)::int, %(bands)s - 1) AS band,
                   hashint8extended(e.id, %(seed)s) AS drawn
            FROM linker_candidateedge e {{joins}}
            WHERE {{asked}} AND e.project_id = %(project)s AND {sql(PROPOSED, "e")} AND e.probability IS NOT NULL
        ) one
    ) placed WHERE place <= %(each)s ORDER BY band, place
"""


def run_calibration(run: Run, progress: Progress = lifecycle.no_progress) -> CalibrationReport:
    """Draws the sample of a calibration. A second time it changes nothing."""
    with transaction.atomic():
        lock_project(run.project_id)
        sample = Sample.objects.filter(run=run).first() or _draw(run, progress)
        links = sample.links.filter(turn=0)
        return CalibrationReport(
            links=links.count(),
            bands=len(sample.strata),
            twice=sample.links.filter(turn=1).count(),
            for_nobody=links.filter(reader=None).count(),
        )


def _draw(run: Run, progress: Progress) -> Sample:
    progress(0, 2, "Drawing links")
    cohort = cohort_of(run)
    sample = Sample(
        project=run.project,
        kind=SampleKind.CALIBRATION,
        run=run,
        seed=int(run.params.get("seed", secrets.randbelow(2**31))),
        until=timezone.now(),
    )
    drawn, sample.strata = drawn_links(run.project, run.params["bands"], run.params["size"], sample.seed, cohort)
    if not drawn:
        raise UserError(
            _("No suggestion has a probability. Match with a ranker that states one, then start the calibration again.")
        )
    sample.save()
    progress(1, 2, "Giving links to people")
    give(sample, drawn, twice={one.edge for one in drawn} if run.params.get("twice") else ())
    return sample


def drawn_links(
    project: Project, bands: int, size: int, seed: int, cohort: OwnBounds | None = None
) -> tuple[list[Chosen], list[dict[str, Any]]]:
    """What the seed draws of the links that are proposed, as many of each band, and the bands, lowest first. `cohort`:
    of its links alone."""
    fields = {"bands": bands, "seed": seed, "project": project.pk, "each": max(1, size // bands)}
    with transaction.atomic(), connection.cursor() as cursor:
        joins, asked = "", "true"
        if cohort is not None:
            own = stage_cohorts(cursor, "own", project, cohorts_of(project, cohort.basis))
            of_pages = own.joins("s", "e.target_id", f"'{cohort.basis}'", "e.span_start IS NOT NULL")
            joins, asked = f"JOIN linker_page s ON s.id = e.source_id {of_pages}", own.reads(cohort)
        cursor.execute(_DRAW.format(joins=joins, asked=asked), fields)
        rows = cursor.fetchall()
    strata = [{"low": band / bands, "high": (band + 1) / bands, "links": 0, "drawn": 0} for band in range(bands)]
    for band, total, _edge in rows:
        strata[band]["links"] = total
        strata[band]["drawn"] += 1
    drawn = [Chosen(edge, Drawn.BAND) for _band, _total, edge in rows]
    Random(seed).shuffle(drawn)  # noqa: S311 (a draw that can be made again)
    return drawn, strata


def _share_of(grade: Grade) -> Avg:
    """The share of the judges of a link that gave it this grade."""
    return Avg(Case(When(grade=grade, then=Value(1.0)), default=Value(0.0), output_field=FloatField()))


def bands_of(sample: Sample, *, lenient: bool) -> list[Band]:
    """What has been labelled of each band so far; `lenient`: a borderline link counts as good. One query."""
    bands = [Band(one["low"], one["high"], one["links"]) for one in sample.strata]
    labelled = sample.links.exclude(grade="").order_by().values("edge", "probability")
    for link in labelled.annotate(good=_share_of(Grade.GOOD), bad=_share_of(Grade.BAD)):
        band = bands[min(int((link["probability"] or 0.0) * len(bands)), len(bands) - 1)]
        band.judged += 1
        band.right += 1.0 - link["bad"] if lenient else link["good"]
    return bands


def left_to_label(sample: Sample) -> int:
    return sample.links.filter(grade="").count()


def points_of(sample: Sample, *, lenient: bool) -> list[Point]:
    return curve(bands_of(sample, lenient=lenient))


def tiers_of(project: Project) -> list[Tier]:
    """The tiers that are read by probability, highest first."""
    return list(Tier.objects.filter(project=project, basis=Basis.PROBABILITY).order_by("-lower_bound"))


def cohort_of(run: Run) -> OwnBounds | None:
    """The cohort whose links were drawn; None where all were. Raises UserError where it has no bounds any more."""
    asked = run.params.get("cohort")
    if not asked:
        return None
    found = saved_cohort(run.project, int(asked))
    if found is None or found.basis != Basis.PROBABILITY:
        raise UserError(_("These links have no bounds of their own any more. Set some, or calibrate every link."))
    return found


def effect_of(project: Project, tier: Tier, bound: float, cohort: OwnBounds | None = None) -> Effect:
    """What it would do if the tier began there, for all links or for those of a cohort."""
    spread = Spread(project, Basis.PROBABILITY, cohort)
    bounds = [
        Bound(one.tier, one.name, bound if one.tier == tier.pk else one.lower, one.held) for one in spread.bounds()
    ]
    return spread.effect_of_saving(bounds, in_use=project.tier_basis == Basis.PROBABILITY)


def rescaled_by(sample: Sample) -> Run | None:
    """The run that stands, where its probabilities mean something else than those that the links were drawn by: a bound
    on the one scale says nothing on the other."""
    then, now = standing_run(sample.project, at=sample.until), standing_run(sample.project)
    if then is None or now is None or then.pk == now.pk:
        return None
    found = scales(sample.project, then.pk, now.pk)
    before, after = found.get(then.pk), found.get(now.pk)
    return None if before is not None and after is not None and before.reads_as(after) else now


@transaction.atomic
def apply(
    sample: Sample, tier: Tier, wanted: float, user: User, *, lenient: bool, sure: bool, shown: float | None = None
) -> tuple[Point, TierChange | Run]:
    """Lets a tier begin where the wanted precision does, now or by the run that is returned, and keeps the choice with
    the sample.

    Raises UserError where no bound reaches it, another tier begins there, it is no longer the bound that was `shown`,
    or tiers are read on another scale by now.
    """
    wait_for_others(sample.project)
    if run := rescaled_by(sample):
        said = _(
            "Run %(run)d states probabilities on another scale than the run whose links were judged. "
            "Draw links again, and judge those."
        )
        raise UserError(said % {"run": run.pk})
    point = bound_for(points_of(sample, lenient=lenient), wanted, sure=sure)
    if point is None:
        raise UserError(_("No bound reaches this precision. Ask for less, or label more links."))
    if shown is not None and shown != point.bound:
        said = _("Links were judged meanwhile, and the bound is %(bound)s now. Look at what it does, then apply it.")
        raise UserError(said % {"bound": percent(point.bound)})
    cohort = cohort_of(sample.run)
    bounds = {one.pk: one.lower_bound for one in tiers_of(sample.project)} if cohort is None else dict(cohort.bounds)
    at = [one for one, lower in bounds.items() if lower == point.bound and one != tier.pk]
    if same := Tier.objects.filter(pk__in=at).first():
        said = _("The tier “%(tier)s” begins at %(bound)s already. Move that one first, or choose it.")
        raise UserError(said % {"tier": same.name, "bound": f"{point.bound:g}"})
    before = bounds.get(tier.pk)
    if cohort is None:
        tier.lower_bound = point.bound
        change: TierChange | Run = change_tiers(sample.project, [tier], user=user, basis=Basis.PROBABILITY)
    else:
        name = name_of(Cohort.objects.get(pk=cohort.id))
        change = set_bounds(sample.project, name, bounds | {tier.pk: point.bound}, user)
    sample.choice = {
        "wanted": wanted, "lenient": lenient, "sure": sure, "tier": tier.name, "before": before, "bound": point.bound,
        "precision": point.precision, "recall": point.recall, "by": user.get_username(),
        "at": timezone.now().isoformat(),
    }  # fmt: skip
    sample.save(update_fields=["choice"])
    return point, change


def see_what_holds(project: Project, samples: Sequence[Sample]) -> None:
    """Sets `begins_now` on each: where the tier begins now that was chosen from it; None where that is where it was
    put, or where the tier or the cohort is gone."""
    tiers = {one.name: one for one in tiers_of(project)}
    cohorts = {one.id: one for one in cohorts_of(project, Basis.PROBABILITY)}
    for sample in samples:
        tier, asked = tiers.get(sample.choice.get("tier", "")), sample.run.params.get("cohort")
        own = cohorts.get(int(asked)) if asked else None
        now = None if tier is None else own.bounds.get(tier.pk) if own else None if asked else tier.lower_bound
        sample.begins_now = None if now == sample.choice.get("bound") else now  # type: ignore[attr-defined]


def labelled_by(sample: Sample) -> list[tuple[str, int, int]]:
    """By person: how many links they have to label, and how many are labelled."""
    rows = SampleLink.objects.filter(sample=sample).order_by().values("reader__username", "grade")
    found: dict[str, list[int]] = {}
    for row in rows.annotate(links=Count("pk")):
        of_person = found.setdefault(row["reader__username"] or "", [0, 0])
        of_person[0] += row["links"]
        of_person[1] += row["links"] if row["grade"] else 0
    return [(name, links, done) for name, (links, done) in sorted(found.items())]
