"""Caps on the links of a section's pages, in place of those that match runs have. Which caps hold for a page,
linker.matching.section_caps says."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q

from linker.models.page import Category
from linker.models.project import Project

MOST_LINKS = 10_000
_AT_MOST = [MaxValueValidator(MOST_LINKS)]


class SectionCap(models.Model):
    """The most links that pages of a category, with all below it, may have in their text, beside it, and in their text
    for each thousand words; those the site has already count. Without a category: pages of the whole site.

    An empty number is that of the nearest section above which has one, or else of the match run. Zero is no link at
    all. Nothing is deleted: a cap that is no more has `ended_at`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="section_caps", db_index=False)
    category = models.ForeignKey(Category, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    inline_in_all = models.PositiveSmallIntegerField(null=True, blank=True, validators=_AT_MOST)
    related_in_all = models.PositiveSmallIntegerField(null=True, blank=True, validators=_AT_MOST)
    per_1000_words = models.PositiveSmallIntegerField(null=True, blank=True, validators=_AT_MOST)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "category"],
                condition=Q(ended_at__isnull=True),
                name="section_cap_once",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=Q(inline_in_all__isnull=False)
                | Q(related_in_all__isnull=False)
                | Q(per_1000_words__isnull=False),
                name="section_cap_says_something",
            ),
        ]

    def __str__(self) -> str:
        """In English, for the log."""
        return str(self.category) if self.category_id else "the whole site"
