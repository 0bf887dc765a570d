"""Suggestions whose tiers begin elsewhere than those of the project."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import override

from linker.engine.roles.policy import CHOICES, LABELS, PageRole
from linker.models.page import Category
from linker.models.policy import Tier
from linker.models.project import Basis, Project
from linker.models.run import Run


class Cohort(models.Model):
    """Suggestions that are read by bounds of their own: those whose source lies in `category` or below it, those whose
    target has `role`, or, by probability alone, those that have no words in the text (`wordless`). One of the three is
    said, and one basis, whose bounds these are.

    A suggestion is read by one cohort at most: by that of the nearest category around its source; without one, by that
    of its target's role; without one of these, by that of suggestions without words. linker.matching.cohorts is the
    home of that rule.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="cohorts", db_index=False)
    basis = models.CharField(max_length=12, choices=Basis.choices)
    category = models.ForeignKey(Category, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    role = models.CharField(max_length=8, choices=CHOICES, blank=True, default="", db_default="")
    wordless = models.BooleanField(default=False, db_default=False)
    looked_at = models.DateTimeField(help_text="When a manager last saved its bounds")
    run = models.ForeignKey(
        Run,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="The match run that stood then",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(category__isnull=False, role="", wordless=False)
                | models.Q(category__isnull=True, role__in=[role.value for role in PageRole], wordless=False)
                | models.Q(category__isnull=True, role="", wordless=True, basis=Basis.PROBABILITY),
                name="cohort_names_one_thing",
            ),
            models.CheckConstraint(condition=models.Q(basis__in=Basis.values), name="cohort_basis_known"),
            models.UniqueConstraint(fields=["project", "basis", "category", "role"], name="cohort_once",
                                    nulls_distinct=False),
            # What a bound refers to: linker/migrations/0025_cohorts.py.
            models.UniqueConstraint(fields=["id", "project", "basis"], name="cohort_of_basis"),
        ]  # fmt: skip

    def __str__(self) -> str:
        """In English, for the log and for reports."""
        with override(settings.LANGUAGE_CODE):
            return self.said

    @property
    def said(self) -> str:
        """Which links it takes, for the screen."""
        if self.category is not None:
            return _("from %(category)s") % {"category": self.category}
        if self.wordless:
            return _("without words in the text")
        return _("to pages with the role “%(role)s”") % {"role": _(LABELS[PageRole(self.role)])}


class CohortBound(models.Model):
    """Where a tier begins in a cohort. A tier without one is not used there. `project` and `basis` are those of the
    cohort and of the tier, which the database sees to."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    basis = models.CharField(max_length=12, choices=Basis.choices)
    cohort = models.ForeignKey(Cohort, on_delete=models.CASCADE, related_name="bounds", db_index=False)
    tier = models.ForeignKey(Tier, on_delete=models.CASCADE, related_name="+")
    lower_bound = models.FloatField()

    class Meta:
        ordering = ["-lower_bound"]
        constraints = [
            models.UniqueConstraint(fields=["cohort", "tier"], name="cohort_tier_once"),
            models.UniqueConstraint(fields=["cohort", "lower_bound"], name="cohort_bound_once"),
            models.CheckConstraint(
                condition=models.Q(basis="cosine", lower_bound__gte=-1.0, lower_bound__lte=1.0)
                | models.Q(lower_bound__gte=0.0, lower_bound__lte=1.0),
                name="cohort_bound_fits_basis",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tier_id} from {self.lower_bound:g}"
