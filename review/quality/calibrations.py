"""Calibrations: a sample from every band of probability is labelled, and says where a tier should begin."""

from __future__ import annotations

import secrets
from random import Random
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction
from django.db.models import Count
from django.utils import timezone
from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.models import Basis, Project, Tier
from linker.models.querysets import PROPOSED, sql
from linker.projects.policies.tiers import TierChange, change_tiers
from linker.projects.tier_preview import Bound, Effect, Spread
from linker.runs import lifecycle
from review.models import Drawn, Grade, Sample, SampleKind, SampleLink
from review.quality.curves import Band, Point, bound_for, curve
from review.quality.rates import share_of
from review.quality.report import CalibrationReport
from review.quality.samples import Chosen, give

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from linker.models import Run
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
            FROM linker_candidateedge e
            WHERE e.project_id = %(project)s AND {sql(PROPOSED, "e")} AND e.probability IS NOT NULL
        ) one
    ) placed WHERE place <= %(each)s ORDER BY band, place
"""


def run_calibration(run: Run, progress: Progress = lifecycle.no_progress) -> CalibrationReport:
    """Draws the sample of a calibration. A second time it changes nothing."""
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=run.project_id)
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
    sample = Sample(
        project=run.project,
        kind=SampleKind.CALIBRATION,
        run=run,
        seed=int(run.params.get("seed", secrets.randbelow(2**31))),
        until=timezone.now(),
    )
    drawn, sample.strata = drawn_links(run.project, run.params["bands"], run.params["size"], sample.seed)
    if not drawn:
        raise UserError(
            _("No suggestion has a probability. Match with a ranker that states one, then start the calibration again.")
        )
    sample.save()
    progress(1, 2, "Giving links to people")
    give(sample, drawn, twice={one.edge for one in drawn} if run.params.get("twice") else ())
    return sample


def drawn_links(project: Project, bands: int, size: int, seed: int) -> tuple[list[Chosen], list[dict[str, Any]]]:
    """What the seed draws of the links that are proposed, as many of each band, and the bands, lowest first."""
    fields = {"bands": bands, "seed": seed, "project": project.pk, "each": max(1, size // bands)}
    with connection.cursor() as cursor:
        cursor.execute(_DRAW, fields)
        rows = cursor.fetchall()
    strata = [{"low": band / bands, "high": (band + 1) / bands, "links": 0, "drawn": 0} for band in range(bands)]
    for band, total, _edge in rows:
        strata[band]["links"] = total
        strata[band]["drawn"] += 1
    drawn = [Chosen(edge, Drawn.BAND) for _band, _total, edge in rows]
    Random(seed).shuffle(drawn)  # noqa: S311 (a draw that can be made again)
    return drawn, strata


def bands_of(sample: Sample, *, lenient: bool) -> list[Band]:
    """What has been labelled of each band so far; `lenient`: a borderline link counts as good. One query."""
    bands = [Band(one["low"], one["high"], one["links"]) for one in sample.strata]
    labelled = sample.links.exclude(grade="").order_by().values("edge", "probability")
    for link in labelled.annotate(good=share_of(Grade.GOOD), bad=share_of(Grade.BAD)):
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


def effect_of(project: Project, tier: Tier, bound: float) -> Effect:
    """What it would do if the tier began there."""
    spread = Spread(project, Basis.PROBABILITY)
    bounds = [
        Bound(one.tier, one.name, bound if one.tier == tier.pk else one.lower, one.held) for one in spread.bounds()
    ]
    return spread.effect_of_saving(bounds, in_use=project.tier_basis == Basis.PROBABILITY)


@transaction.atomic
def apply(
    sample: Sample, tier: Tier, wanted: float, user: User, *, lenient: bool, sure: bool
) -> tuple[Point, TierChange]:
    """Lets a tier begin where the wanted precision does, and keeps the choice with the sample.

    Raises UserError where no bound reaches it, or another tier begins there.
    """
    point = bound_for(points_of(sample, lenient=lenient), wanted, sure=sure)
    if point is None:
        raise UserError(_("No bound reaches this precision. Ask for less, or label more links."))
    others = Tier.objects.filter(project=sample.project, basis=Basis.PROBABILITY).exclude(pk=tier.pk)
    if same := others.filter(lower_bound=point.bound).first():
        said = _("The tier “%(tier)s” begins at %(bound)s already. Move that one first, or choose it.")
        raise UserError(said % {"tier": same.name, "bound": f"{point.bound:g}"})
    before = tier.lower_bound
    tier.lower_bound = point.bound
    change = change_tiers(sample.project, [tier], user=user, basis=Basis.PROBABILITY)
    sample.choice = {
        "wanted": wanted, "lenient": lenient, "sure": sure, "tier": tier.name, "before": before, "bound": point.bound,
        "precision": point.precision, "recall": point.recall, "by": user.get_username(),
        "at": timezone.now().isoformat(),
    }  # fmt: skip
    sample.save(update_fields=["choice"])
    return point, change


def labelled_by(sample: Sample) -> list[tuple[str, int, int]]:
    """By person: how many links they have to label, and how many are labelled."""
    rows = SampleLink.objects.filter(sample=sample).order_by().values("reader__username", "grade")
    found: dict[str, list[int]] = {}
    for row in rows.annotate(links=Count("pk")):
        of_person = found.setdefault(row["reader__username"] or "", [0, 0])
        of_person[0] += row["links"]
        of_person[1] += row["links"] if row["grade"] else 0
    return [(name, links, done) for name, (links, done) in sorted(found.items())]
