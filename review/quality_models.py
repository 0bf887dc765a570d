"""Links that people judge to learn how good the suggestions are. Registered through review.models."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from linker.models import CandidateEdge, Project, Run


class SampleKind(models.TextChoices):
    AUDIT = "audit", _("Audit")
    CALIBRATION = "calibration", _("Calibration")


class Grade(models.TextChoices):
    """What a judge says of a link."""

    GOOD = "good", _("Good")
    BORDERLINE = "borderline", _("Borderline")
    BAD = "bad", _("Bad")


UNDONE = "undo"  # a judgement that takes another back


class Drawn(models.TextChoices):
    """What a link was drawn from."""

    APPROVED = "approved", _("Approved by a person")
    UNREVIEWED = "unreviewed", _("Released unreviewed")
    BAND = "band", _("A band of probabilities")


class Sample(models.Model):
    """Links that a run drew at random: from `seed` and the ids alone, so that the draw can be made again.

    An audit drew from what was approved or released from `since` until `until`. `strata` are the bands of a
    calibration: `low`, `high`, how many suggestions each holds and how many were drawn. `choice` is the bound that a
    manager took from it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="samples", db_index=False)
    kind = models.CharField(max_length=12, choices=SampleKind.choices)
    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="sample")
    seed = models.BigIntegerField()
    since = models.DateTimeField(null=True, blank=True)
    until = models.DateTimeField()
    strata = models.JSONField(default=list)
    choice = models.JSONField(default=dict)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__in=SampleKind.values), name="sample_kind_known"),
        ]
        indexes = [models.Index(fields=["project", "kind", "-until"], name="sample_newest")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.until:%Y-%m-%d}"


class SampleLink(models.Model):
    """A link of a sample, for one judge: `turn` is 1 where another judges the same link as turn 0.

    `reader` is to judge it; without one, nobody was there who had not decided it. Where it came from, its tier and the
    like are as they were when it was drawn. `grade` is empty until it is judged; what was said stands in Judgement.
    """

    sample = models.ForeignKey(Sample, on_delete=models.CASCADE, related_name="links", db_index=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    edge = models.ForeignKey(CandidateEdge, on_delete=models.CASCADE, related_name="+")
    place = models.PositiveIntegerField(help_text="In the order in which the links are judged")
    turn = models.PositiveSmallIntegerField(default=0)
    reader = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    drawn_from = models.CharField(max_length=12, choices=Drawn.choices)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    tier = models.CharField(max_length=40, blank=True, default="")
    probability = models.FloatField(null=True)
    generators = ArrayField(models.CharField(max_length=20))
    section = models.TextField(blank=True, default="", help_text="The donor's category at the top of the tree")
    grade = models.CharField(max_length=12, choices=Grade.choices, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sample", "edge", "turn"], name="sample_link_once"),
            models.CheckConstraint(
                condition=models.Q(grade="") | models.Q(grade__in=Grade.values), name="sample_link_grade_known"
            ),
        ]
        indexes = [
            # What waits to be judged, in its order.
            models.Index(
                fields=["project", "sample", "place"], condition=models.Q(grade=""), name="sample_link_waiting"
            ),
            # What is to be put right, the newest first.
            models.Index(
                fields=["project", "-sample", "place", "turn"],
                condition=models.Q(grade=Grade.BAD),
                name="sample_link_bad",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.edge_id} of sample {self.sample_id}"


class Judgement(models.Model):
    """What somebody said of a link of a sample. Append-only: one that is taken back is named by a row "undo"."""

    link = models.ForeignKey(SampleLink, on_delete=models.CASCADE, related_name="judgements")
    judge = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    grade = models.CharField(max_length=12, choices=[*Grade.choices, (UNDONE, _("Undone"))])
    reason = models.CharField(max_length=16, blank=True, default="")  # of review.models.Reason
    note = models.CharField(max_length=500, blank=True, default="")
    undoes = models.OneToOneField("self", on_delete=models.PROTECT, null=True, blank=True, related_name="undone_by")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(grade=UNDONE, undoes__isnull=False)
                | models.Q(grade__in=Grade.values, undoes__isnull=True),
                name="judgement_undo_names_one",
            ),
        ]
        indexes = [models.Index(fields=["judge", "-id"], name="judgement_newest_of_user")]

    def __str__(self) -> str:
        return f"{self.grade} by {self.judge}"
