"""What match runs left open, kept so that two can be compared and an earlier one can stand again."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from linker.models.project import Project
from linker.models.run import Run

RANKED_BY = ("cosine", "formula", "learned")  # kept by their places: new ones go to the end


# SQL: the match run whose suggestions stand in the project %(project)s: the one that ended last, or an earlier one that
# was taken again since.
STANDING_RUN = """
SELECT CASE kind WHEN 'match' THEN id ELSE (params ->> 'run')::bigint END AS run FROM linker_run
WHERE project_id = %(project)s AND kind IN ('match', 'stand') AND status = 'succeeded'
ORDER BY finished_at DESC NULLS LAST, id DESC LIMIT 1
"""


class Real(models.FloatField):
    """Four bytes, which hold six digits."""

    def db_type(self, connection: Any) -> str:
        return "real"


class KeptRun(models.Model):
    """A match run whose open suggestions, as it left them, are kept in KeptLinks: the newest few, and those that a
    manager has pinned (linker.matching.kept_runs).

    `tiers` and `anchor_sources` are names that KeptLinks refers to by their place, from 1.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="kept")
    name = models.CharField(max_length=80, blank=True, default="")
    pinned_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    pinned_at = models.DateTimeField(null=True, blank=True)
    tiers = ArrayField(models.CharField(max_length=40), default=list)
    anchor_sources = ArrayField(models.CharField(max_length=20), default=list)
    links = models.BigIntegerField()
    donors = models.BigIntegerField()

    def __str__(self) -> str:
        return self.name or str(self.run)

    @property
    def is_pinned(self) -> bool:
        return self.pinned_at is not None


class KeptLinks(models.Model):
    """What a run left open for one donor: arrays of one length, the highest score first, ties by target.

    A tier, a probability or a place of the words is null where there is none. `ranked_by`: places in RANKED_BY, from 1.
    """

    kept = models.ForeignKey(KeptRun, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False)
    source = models.BigIntegerField()
    targets = ArrayField(models.BigIntegerField())
    scores = ArrayField(Real())
    similarities = ArrayField(Real())
    probabilities = ArrayField(Real(null=True))
    quantiles = ArrayField(Real())
    levels = ArrayField(models.SmallIntegerField())
    ranked_by = ArrayField(models.SmallIntegerField())
    tiers = ArrayField(models.SmallIntegerField(null=True))
    anchors = ArrayField(models.TextField())
    anchor_sources = ArrayField(models.SmallIntegerField())
    starts = ArrayField(models.IntegerField(null=True))
    stops = ArrayField(models.IntegerField(null=True))

    class Meta:
        verbose_name_plural = "kept links"
        constraints = [models.UniqueConstraint(fields=["kept", "source"], name="kept_links_donor_once")]


class LinkChange(models.TextChoices):
    """How what one run left open differs from what an earlier one did."""

    NEW = "new", _("New")
    GONE = "gone", _("Gone")
    DECIDED = "decided", _("Decided since")
    MOVED = "moved", _("Moved in rank")
    TIER = "tier", _("Another tier")
    WORDS = "words", _("Other words")


class RunComparison(models.Model):
    """A run compared with an earlier one, link by link. `report` is a linker.matching.report_types.CompareReport."""

    run = models.ForeignKey(KeptRun, on_delete=models.CASCADE, related_name="+", db_index=False)
    before = models.ForeignKey(KeptRun, on_delete=models.CASCADE, related_name="+")
    report = models.JSONField()
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "before"], name="run_comparison_once"),
            models.CheckConstraint(condition=models.Q(before__lt=models.F("run")), name="run_comparison_with_earlier"),
        ]


class ChangedDonors(models.Model):
    """Donors with a change of one kind, some thousands a row: ids ascending, `first` and `last` of them.

    Lists go through them by keyset, and read the links themselves from KeptLinks.
    """

    comparison = models.ForeignKey(RunComparison, on_delete=models.CASCADE, related_name="+", db_index=False)
    change = models.CharField(max_length=8, choices=LinkChange.choices)
    first = models.BigIntegerField()
    last = models.BigIntegerField()
    sources = ArrayField(models.BigIntegerField())

    class Meta:
        verbose_name_plural = "changed donors"
        constraints = [
            models.UniqueConstraint(fields=["comparison", "change", "last"], name="changed_donors_once"),
            models.CheckConstraint(condition=models.Q(change__in=LinkChange.values), name="changed_donors_kind_known"),
        ]


class KeptBounds(models.Model):
    """A manager's word that the bounds of the tiers hold for a run too that was ranked otherwise than `before`."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    before = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "kept bounds"
