"""What a site holds, in numbers, kept so that no page has to count a million rows."""

from __future__ import annotations

from django.db import models

from linker.models.project import Project


class KeptFigures(models.Model):
    """The figures of a project as its last run left them: only runs write pages, links and vectors.

    Of the pages that the newest import still held: `by_category`, [category id or null, pages, indexable, orphans] of
    each category, without those below it; `languages`, [code, pages], the most common first; `vectors`, those that have
    one, by the model's id. `missing`: the other pages. `body_links`: links in texts.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="kept_figures")
    by_category = models.JSONField(default=list)
    languages = models.JSONField(default=list)
    vectors = models.JSONField(default=dict)
    pages = models.BigIntegerField(default=0)
    missing = models.BigIntegerField(default=0)
    body_links = models.BigIntegerField(default=0)
    counted_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"Figures of {self.project_id}"
