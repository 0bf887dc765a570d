"""Safety classes: named sets of pages, and pairs of them that may never be linked.

Which pages a class holds, linker.pages.safety says; what a pair takes out of the queue, linker.matching.safety.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from linker.models.page import Category
from linker.models.page_list import PageList
from linker.models.project import Project


class SafetyClass(models.Model):
    """Pages that go together: those of a category with all below it, those whose address matches, and those of a list.

    `disclaimer` is what a text has to say that links to such a page, or that such a page has to say. Nothing is
    deleted: a class that is no more has `ended_at`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="safety_classes", db_index=False)
    name = models.CharField(max_length=60)
    category = models.ForeignKey(Category, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    url_pattern = models.CharField(
        max_length=300, blank=True, default="", help_text="Regular expression, RE2 syntax, searched in the address"
    )
    page_list = models.ForeignKey(PageList, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    disclaimer = models.CharField(max_length=500, blank=True, default="")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "safety classes"
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name"], condition=Q(ended_at__isnull=True), name="safety_class_once"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class BarredPair(models.Model):
    """Pages of the class `source` never link to those of `target`; with `either`, nor the other way round.

    `reason` is what editors read. Nothing is deleted: a pair that is allowed again has `ended_at`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="barred_pairs", db_index=False)
    source = models.ForeignKey(SafetyClass, on_delete=models.CASCADE, related_name="+", db_index=False)
    target = models.ForeignKey(SafetyClass, on_delete=models.CASCADE, related_name="+", db_index=False)
    either = models.BooleanField(default=False)
    reason = models.CharField(max_length=300)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "source", "target"], condition=Q(ended_at__isnull=True), name="barred_pair_once"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="barred_pair_says_why"),
        ]

    def __str__(self) -> str:
        return f"{self.source} {'↔' if self.either else '→'} {self.target}"
