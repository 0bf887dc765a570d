"""Gates: pages whose links need a second person before they leave. Which pages that are, linker.pages.gates says."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from linker.models.page import Category
from linker.models.page_list import PageList
from linker.models.project import Project
from linker.models.safety import SafetyClass


class Gate(models.Model):
    """Pages with so many clicks, of a list, of a category with all below it, or of a safety class: one of these.

    Nothing is deleted: a gate that is open again has `ended_at`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="gates", db_index=False)
    min_clicks = models.PositiveIntegerField(null=True, blank=True)
    page_list = models.ForeignKey(PageList, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    category = models.ForeignKey(Category, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    safety_class = models.ForeignKey(SafetyClass, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(min_clicks__gt=0, page_list=None, category=None, safety_class=None)
                | Q(min_clicks=None, page_list__isnull=False, category=None, safety_class=None)
                | Q(min_clicks=None, page_list=None, category__isnull=False, safety_class=None)
                | Q(min_clicks=None, page_list=None, category=None, safety_class__isnull=False),
                name="gate_names_one_thing",
            ),
        ]
        indexes = [models.Index(fields=["project"], condition=Q(ended_at__isnull=True), name="gate_in_force")]

    def __str__(self) -> str:
        """In English, for the log."""
        if self.min_clicks is not None:
            return f"pages with {self.min_clicks:,} clicks or more"
        return str(self.safety_class or self.category or self.page_list)
