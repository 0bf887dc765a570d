"""How many released links there are of which kind: kept, so that no page counts. Registered through review.models."""

from __future__ import annotations

from django.db import models

from linker.models import Project


class PublishedCount(models.Model):
    """`number` released links more, or fewer, of one kind: the sum over the rows of a kind is how many there are.

    Triggers write the rows, as those of linker.models.edge_counts; review.live.counts adds them up.
    """

    project = models.ForeignKey(
        Project, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    state = models.CharField(max_length=9)
    is_closed = models.BooleanField()
    number = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["project"], name="published_count_of_project")]

    def __str__(self) -> str:
        return f"{self.number} {self.state}"
