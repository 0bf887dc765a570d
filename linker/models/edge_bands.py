"""How many suggestions score how high, kept so that moving a bound needs no count."""

from __future__ import annotations

from collections import Counter

from django.db import models
from django.db.models import Sum

from linker.models.policy import Tier
from linker.models.project import Basis, Project
from linker.models.querysets import APPROVED, OPEN, sql

BANDS = 100  # of the values from 0 to 1; a similarity may lie below 0, in as many bands again


class Outcome(models.TextChoices):
    """What became of a suggestion that a bound may catch."""

    OPEN = "open"
    ACCEPTED = "accepted"  # by a person
    REJECTED = "rejected"


def outcome_sql(row: str) -> str:
    """SQL: what became of the edge of that alias; null where no bound catches it."""
    return (
        f"CASE WHEN {sql(OPEN, row)} THEN 'open' WHEN {sql(APPROVED, row)} AND {row}.reviewed THEN 'accepted' "
        f"WHEN {row}.status = 'rejected' THEN 'rejected' END"
    )


class EdgeBand(models.Model):
    """`number` edges more, or fewer, of one tier and outcome, whose value lies in one band: from `band` hundredths on,
    and below the next; 1 is in the last.

    Kept as linker.models.edge_counts keeps its counts: triggers write rows and never change one, and the sum over the
    rows of a kind is how many there are. An edge is in a band of each basis that it has a value of. `by_probability`:
    it has a probability, so that its similarity is not what a project reads that goes by probability. Links that were
    exported unreviewed or withdrawn, and what is no longer proposed, are in none.
    """

    project = models.ForeignKey(
        Project, on_delete=models.DO_NOTHING, related_name="edge_bands", db_constraint=False, db_index=False
    )
    tier = models.ForeignKey(
        Tier, on_delete=models.DO_NOTHING, null=True, related_name="+", db_constraint=False, db_index=False
    )
    outcome = models.CharField(max_length=8, choices=Outcome.choices)
    by_probability = models.BooleanField()
    basis = models.CharField(max_length=12, choices=Basis.choices)
    band = models.SmallIntegerField()
    number = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["project", "basis"], name="edge_band_of_project")]


def open_by_probability(project: Project) -> Counter[bool]:
    """How many open suggestions have a probability, under True, and how many have none."""
    rows = EdgeBand.objects.filter(project=project, basis=Basis.COSINE, outcome=Outcome.OPEN).order_by()
    return Counter(dict(rows.values_list("by_probability").annotate(Sum("number"))))


def open_at_least(project: Project, percent: int) -> Counter[int | None]:
    """Open suggestions of a probability of so many percent and more, by tier."""
    rows = EdgeBand.objects.filter(project=project, basis=Basis.PROBABILITY, outcome=Outcome.OPEN)
    rows = rows.filter(band__gte=min(percent, BANDS - 1)).order_by()
    return Counter(dict(rows.values_list("tier").annotate(Sum("number"))))
