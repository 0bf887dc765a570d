"""Links that the site's own editors made, as a match run would have proposed them."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from linker.models.edge import RankedBy
from linker.models.page import Page
from linker.models.policy import Placement, Rel, Tier
from linker.models.project import Project
from linker.models.run import Run


class KnownAnswer(models.Model):
    """A link in the text that the site has, ranked as if it were not there: where it is shown as a suggestion, the
    answer that is known is to accept it.

    It is no edge: no list, count, decision or release knows of it. Its columns are called as those of an edge, and its
    id is taken from the numbers of the edges, so that an address or an operation never means two things. The rows stay,
    since what people said of them does; `stale`: the newest sample no longer holds it.
    """

    id = models.BigIntegerField(primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="known_answers", db_index=False)
    source = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="+", db_index=False)
    target = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="+")
    section = models.BigIntegerField(default=0, help_text="The donor's category, 0 without one")
    stale = models.BooleanField(default=False)

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")
    generators = ArrayField(models.CharField(max_length=20))
    ranked_by = models.CharField(max_length=8, choices=RankedBy.choices)
    level = models.PositiveSmallIntegerField()
    similarity = models.FloatField()
    score = models.FloatField()
    probability = models.FloatField(null=True)
    quantile = models.FloatField()
    why = models.TextField(default="")
    evidence = models.JSONField(default=dict)
    need = models.FloatField(default=0.0)
    lacks = models.CharField(max_length=200, default="")
    authority = models.FloatField(null=True)
    worth = models.FloatField(default=0.0)

    tier = models.ForeignKey(Tier, on_delete=models.SET_NULL, null=True, related_name="+")
    placement = models.CharField(max_length=8, choices=Placement.choices)
    rel = models.CharField(max_length=8, choices=Rel.choices)

    # The words that the site's editors linked, where they stand in the donor's text of this hash.
    anchor = models.TextField()
    anchor_source = models.CharField(max_length=20)
    anchor_alternatives = models.JSONField(default=list)
    span_start = models.PositiveIntegerField()
    span_end = models.PositiveIntegerField()
    body_hash = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "target"], name="known_answer_pair_once"),
            models.CheckConstraint(condition=~models.Q(anchor=""), name="known_answer_has_words"),
            models.CheckConstraint(
                condition=models.Q(span_end__gt=models.F("span_start")), name="known_answer_has_a_place"
            ),
        ]
        indexes = [models.Index(fields=["project", "tier"], name="known_answer_of_project")]

    def __str__(self) -> str:
        return f"{self.source_id} → {self.target_id}"
