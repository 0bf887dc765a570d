"""Pages that a run is limited to: lists that came as files, and the donors that a pilot drew."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from linker.models.project import Project
from linker.models.run import Run


class PageList(models.Model):
    """The pages that the lines of a file mean. It never changes: match runs name it in their parameters.

    `pages` are ids, int64, little-endian, ascending, each once. `unknown` holds the first lines for which the project
    has no page: [[line, text], ...]; `unknown_lines` says how many they all are.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="page_lists")
    name = models.CharField(max_length=200, help_text="The file’s name")
    pages = models.BinaryField()
    size = models.IntegerField(help_text="Pages")
    lines = models.IntegerField(help_text="Lines with an address")
    unknown_lines = models.IntegerField(default=0)
    unknown = models.JSONField(default=list)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.CheckConstraint(condition=models.Q(size__gt=0), name="page_list_has_a_page")]

    def __str__(self) -> str:
        return f"{self.name}: {self.size:,} page{'' if self.size == 1 else 's'}"


class Pilot(models.Model):
    """The donors that a pilot run drew, `size` of `out_of`, frozen with it: ids, int64, little-endian, ascending."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="pilot")
    pages = models.BinaryField()
    size = models.IntegerField()
    out_of = models.IntegerField()

    def __str__(self) -> str:
        return f"pilot of run {self.run_id}"
