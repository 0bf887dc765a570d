"""What a site holds, in numbers, kept so that no page has to count a million rows."""

from __future__ import annotations

from django.db import models

from linker.models.project import Project


class KeptFigures(models.Model):
    """The figures of a project as its last run, or a change of roles at once, left them.

    Of the live pages (LIVE in linker.models.querysets): `by_category`, [category id or null, pages, indexable, orphans]
    of each category, without those below it; `languages`, [code, pages], the most common first; `vectors`, those that
    have one, by the model's id. Of all pages, gone ones too, `vector_sets`, those that have one; of open suggestions,
    `suggested_by`, those that came from it. `missing`: pages that the newest import no longer held; `left`: those that
    it held as merged, redirected or removed. `body_links`: links in texts.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="kept_figures")
    by_category = models.JSONField(default=list)
    languages = models.JSONField(default=list)
    vectors = models.JSONField(default=dict)
    vector_sets = models.JSONField(default=dict, db_default={})
    suggested_by = models.JSONField(default=dict, db_default={})
    pages = models.BigIntegerField(default=0)
    missing = models.BigIntegerField(default=0)
    left = models.BigIntegerField(default=0, db_default=0)
    body_links = models.BigIntegerField(default=0)
    counted_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"Figures of {self.project_id}"

    @property
    def live_by_set(self) -> dict[int, int]:
        """Live pages that have a vector, by the id of the model."""
        return {int(model): pages for model, pages in self.vectors.items()}

    @property
    def indexable(self) -> int:
        return sum(part[2] for part in self.by_category)

    @property
    def orphans(self) -> int:
        return sum(part[3] for part in self.by_category)
