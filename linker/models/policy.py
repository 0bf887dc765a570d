"""What a project's managers decide once, for all edges."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from linker.models.page import Category
from linker.models.project import Basis, Project


class Placement(models.TextChoices):
    INLINE = "inline", "In the text"
    RELATED = "related", "Related block"


class Rel(models.TextChoices):
    FOLLOW = "follow", "follow"
    NOFOLLOW = "nofollow", "nofollow"
    UGC = "ugc", "ugc"


class Tier(models.Model):
    """A reading of an edge: the tier of the project's basis with the highest `lower_bound` at or below its value.

    An edge without a probability, since nothing was learned, is read by its similarity where probabilities are asked
    for. `lower_bound` is a probability, a cosine, or the share of the run's edges that score no higher (0.9: the best
    tenth).

    `rel` is what a link leaves with while nobody has looked at it; `confirmed_rel` what an editor's accept makes it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tiers")
    basis = models.CharField(max_length=12, choices=Basis.choices, default=Basis.COSINE)
    name = models.CharField(max_length=40)
    lower_bound = models.FloatField(validators=[MinValueValidator(-1.0), MaxValueValidator(1.0)])
    placement = models.CharField(max_length=8, choices=Placement.choices, default=Placement.RELATED)
    rel = models.CharField("rel while unreviewed", max_length=8, choices=Rel.choices, default=Rel.NOFOLLOW)
    confirmed_rel = models.CharField("rel once accepted", max_length=8, choices=Rel.choices, default=Rel.FOLLOW)
    export_unreviewed = models.BooleanField("may be exported unreviewed", default=False)
    held = models.BooleanField("held back", default=False, help_text="Kept out of the queue until asked for")

    class Meta:
        ordering = ["-lower_bound"]
        constraints = [
            models.UniqueConstraint(fields=["project", "basis", "name"], name="tier_name_once"),
            models.UniqueConstraint(fields=["project", "basis", "lower_bound"], name="tier_bound_once"),
            models.CheckConstraint(condition=models.Q(basis__in=Basis.values), name="tier_basis_known"),
            models.CheckConstraint(
                condition=models.Q(basis="cosine", lower_bound__gte=-1.0, lower_bound__lte=1.0)
                | models.Q(lower_bound__gte=0.0, lower_bound__lte=1.0),
                name="tier_bound_fits_basis",
            ),
            models.CheckConstraint(
                condition=~models.Q(held=True, export_unreviewed=True),
                name="tier_held_is_not_exported_unreviewed",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Sensitivity(models.TextChoices):
    MEDICAL = "medical", "Medical"
    LEGAL = "legal", "Legal"
    FINANCIAL = "financial", "Financial"
    OTHER = "other", "Other"


class SensitiveCategory(models.Model):
    """A subtree of categories, or a pattern on addresses, whose suggestions always need a person."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sensitive_categories")
    kind = models.CharField(max_length=10, choices=Sensitivity.choices, default=Sensitivity.MEDICAL)
    category = models.ForeignKey(Category, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    url_pattern = models.CharField(max_length=300, blank=True, default="", help_text="Regular expression, RE2 syntax")

    class Meta:
        verbose_name_plural = "sensitive categories"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(category__isnull=False, url_pattern="")
                | (models.Q(category__isnull=True) & ~models.Q(url_pattern="")),
                name="sensitive_subtree_or_pattern",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.category or self.url_pattern}"


class Side(models.TextChoices):
    DONOR = "donor", "Donors"
    ACCEPTOR = "acceptor", "Acceptors"
    BOTH = "both", "Both"


class ExclusionRule(models.Model):
    """Addresses that never give, or never receive, a suggested link."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="exclusion_rules")
    pattern = models.CharField(max_length=300, help_text="Regular expression, RE2 syntax, searched in the address")
    side = models.CharField(max_length=8, choices=Side.choices, default=Side.BOTH)
    note = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "pattern", "side"], name="exclusion_rule_once"),
        ]

    def __str__(self) -> str:
        return self.pattern
