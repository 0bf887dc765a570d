"""Which decisions a project does not learn from."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from linker.models.project import Project


class LearningChoice(models.Model):
    """A manager's word on whether decisions on links of a kind count for what matches learn. Append-only, by a trigger:
    the newest row of a kind holds, and one that takes another back is a row as well.

    `family` and `code` name the kind as linker.matching.report_types.KindLesson does; an empty family stands for all
    links.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="learning_choices", db_index=False)
    family = models.CharField(max_length=8, blank=True, default="")
    code = models.BigIntegerField(default=0)
    counts = models.BooleanField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["project", "family", "code", "-id"], name="learning_choice_newest")]

    def __str__(self) -> str:
        return f"{self.family or 'all'} {self.code}: {'counts' if self.counts else 'does not count'}"


def left_aside(project: Project) -> set[tuple[str, int]]:
    """The kinds, by family and code, on which decisions do not count."""
    newest = LearningChoice.objects.filter(project=project).order_by("family", "code", "-pk").distinct("family", "code")
    return {(one.family, one.code) for one in newest if not one.counts}
