"""Candidates that would replace a released link: what a run proposed, and what became of it."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from linker.models.edge import CandidateEdge
from linker.models.policy import Placement
from linker.models.project import Project
from linker.models.run import Run


class ReplacementEnd(models.TextChoices):
    RELEASED = "released", _("Released")
    REJECTED = "rejected", _("Rejected")
    LAPSED = "lapsed", _("No longer proposed")


class Replacement(models.Model):
    """A run proposes the edge in place of a released link of the same donor, in the same place.

    `old` and `new` are the probabilities that the run's ranker gave both, each as it stands; `gain` the least share by
    which the second had to be higher. The proposal stands until it has `ended_at`: the edge's status says whether it is
    open, accepted or rejected. A pair has one row, whatever runs say of it; one that was rejected is not proposed
    again.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    edge = models.ForeignKey(CandidateEdge, on_delete=models.CASCADE, related_name="replacements", db_index=False)
    replaced = models.ForeignKey(CandidateEdge, on_delete=models.CASCADE, related_name="replaced_by", db_index=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+", db_index=False)
    placement = models.CharField(max_length=8, choices=Placement.choices)
    old = models.FloatField()
    new = models.FloatField()
    gain = models.FloatField()
    proposed_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    end = models.CharField(max_length=8, choices=ReplacementEnd.choices, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["edge", "replaced"], name="replacement_pair_once"),
            models.UniqueConstraint(fields=["edge"], condition=Q(ended_at=None), name="replacement_of_edge_once"),
            models.UniqueConstraint(fields=["replaced"], condition=Q(ended_at=None), name="replacement_by_one"),
            models.CheckConstraint(condition=~Q(edge=F("replaced")), name="replacement_not_of_itself"),
            models.CheckConstraint(
                condition=Q(old__gt=0.0, old__lte=1.0, new__gt=0.0, new__lte=1.0), name="replacement_of_probabilities"
            ),
            # The slack is that of linker.engine.allocation.replacements.
            models.CheckConstraint(
                condition=Q(new__gte=F("old") * (1.0 + F("gain")) - 1e-9), name="replacement_is_a_gain"
            ),
            models.CheckConstraint(condition=Q(placement__in=Placement.values), name="replacement_placement_known"),
            models.CheckConstraint(
                condition=Q(ended_at=None, end="") | Q(ended_at__isnull=False, end__in=ReplacementEnd.values),
                name="replacement_ends_somehow",
            ),
        ]
        indexes = [
            # Those that stand, which are few; and those of the last days.
            models.Index(fields=["project"], condition=Q(ended_at=None), name="replacement_standing"),
            models.Index(fields=["project", "ended_at"], name="replacement_by_end"),
            models.Index(fields=["replaced"], name="replacement_of_link"),
        ]

    def __str__(self) -> str:
        return f"{self.edge_id} for {self.replaced_id}"


def stands_sql(row: str) -> str:
    """SQL: whether the replacement of this alias stands: its edge was not rejected and has stayed in its place, and the
    link that it replaces is out in the same."""
    return (
        f"({row}.ended_at IS NULL AND EXISTS (SELECT FROM linker_candidateedge better WHERE better.id = {row}.edge_id "
        f"AND better.status IN ('suggested', 'accepted') AND better.placement = {row}.placement) "
        f"AND EXISTS (SELECT FROM linker_candidateedge old WHERE old.id = {row}.replaced_id "
        f"AND old.status = 'exported' AND old.placement = {row}.placement))"
    )


def replaces_sql(edge: str) -> str:
    """SQL: whether the edge of this alias would replace a link that is out."""
    return f"EXISTS (SELECT FROM linker_replacement r WHERE r.edge_id = {edge}.id AND {stands_sql('r')})"
