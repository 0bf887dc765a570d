"""Sections that links are rolled out to in stages. Registered through review.models."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from linker.models import Category, Project


class Stage(models.TextChoices):
    OFF = "off", _("Off")
    PILOT = "pilot", _("Pilot")
    ON = "on", _("On")


class RolloutRule(models.Model):
    """How far new links of some donors leave: those in a category with all below it, or those whose addresses match a
    pattern. In a pilot, those of a `share` of the donors, in percent.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="rollout_rules")
    category = models.ForeignKey(Category, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    pattern = models.CharField(max_length=300, blank=True, default="", help_text="Regular expression, RE2 syntax")
    stage = models.CharField(max_length=5, choices=Stage.choices, default=Stage.OFF)
    share = models.PositiveSmallIntegerField(default=10, validators=[MinValueValidator(1), MaxValueValidator(99)])

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(category__isnull=False, pattern="")
                | (models.Q(category__isnull=True) & ~models.Q(pattern="")),
                name="rollout_names_one_thing",
            ),
            models.CheckConstraint(condition=models.Q(stage__in=Stage.values), name="rollout_stage_known"),
            models.CheckConstraint(condition=models.Q(share__gte=1, share__lte=99), name="rollout_share_in_percent"),
            models.UniqueConstraint(
                fields=["project", "category"],
                condition=models.Q(category__isnull=False),
                name="rollout_category_once",
            ),
            models.UniqueConstraint(
                fields=["project", "pattern"], condition=~models.Q(pattern=""), name="rollout_pattern_once"
            ),
        ]

    def __str__(self) -> str:
        return " > ".join(self.category.path) if self.category else self.pattern
