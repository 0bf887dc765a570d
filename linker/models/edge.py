"""Candidate edges: links the system proposes, with where they come from."""

from __future__ import annotations

from django.db import models

from linker.models.page import Category, Page
from linker.models.policy import Placement, Rel, Tier
from linker.models.project import Project
from linker.models.run import Run, RunBatch


class EdgeStatus(models.TextChoices):
    SUGGESTED = "suggested", "To review"
    ACCEPTED = "accepted", "Accepted"
    REJECTED = "rejected", "Rejected"
    EXPORTED = "exported", "Exported"


class CandidateEdge(models.Model):
    """A proposed link from a donor (`source`) to an acceptor (`target`).

    `similarity` is the raw cosine, `score` what the run ranked by; `tier`, `placement` and `rel` are a reading of
    the score. A later run refreshes all of these and leaves `status` alone. `stale`: the newest run no longer
    proposes the pair.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="edges")
    source = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="edges_out", db_index=False)
    target = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="edges_in")
    status = models.CharField(max_length=10, choices=EdgeStatus.choices, default=EdgeStatus.SUGGESTED)
    stale = models.BooleanField(default=False)

    # Provenance, from the run that proposed it last.
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="edges")
    generator = models.CharField(max_length=20)
    block = models.ForeignKey(Category, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    level = models.PositiveSmallIntegerField()
    similarity = models.FloatField()
    score = models.FloatField()
    donor_best = models.FloatField(help_text="The donor's best score in the run: groups of a donor sort by it")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now_add=True)

    # Readings.
    tier = models.ForeignKey(Tier, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    placement = models.CharField(max_length=8, choices=Placement.choices, default=Placement.RELATED)
    rel = models.CharField(max_length=8, choices=Rel.choices, default=Rel.NOFOLLOW)
    sensitive = models.CharField(max_length=300, blank=True, default="", help_text="Why a person must look, or empty")

    # The anchor, where it came from, and the ranked others: [{"text", "source", "raw"}, ...], a search query with its
    # "impressions" where they are known.
    anchor = models.TextField()
    anchor_source = models.CharField(max_length=20)
    anchor_alternatives = models.JSONField(default=list)
    edited = models.BooleanField(default=False, help_text="An editor wrote the anchor: runs leave it alone")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "target"], name="edge_pair_once"),
            models.CheckConstraint(condition=~models.Q(source=models.F("target")), name="edge_not_to_itself"),
            models.CheckConstraint(
                condition=models.Q(similarity__gte=-1.0, similarity__lte=1.0),
                name="edge_similarity_is_cosine",
            ),
            models.CheckConstraint(condition=models.Q(status__in=EdgeStatus.values), name="edge_status_known"),
            models.CheckConstraint(condition=~models.Q(anchor=""), name="edge_anchor_not_empty"),
        ]
        indexes = [
            # The queue, flat by score; the queue, donor by donor; the export, in the order of its rows.
            models.Index(fields=["project", "status", "-score", "id"], name="edge_by_score"),
            models.Index(fields=["project", "status", "-donor_best", "source", "-score", "id"], name="edge_by_donor"),
            models.Index(fields=["project", "source", "-score", "id"], name="edge_export_order"),
        ]

    def __str__(self) -> str:
        return f"{self.source_id} → {self.target_id}"


class RunCandidate(models.Model):
    """A pair a batch found, waiting for the allocation over the whole run. Deleted when the run is finished."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+", db_index=False)
    batch = models.ForeignKey(RunBatch, on_delete=models.CASCADE, related_name="+")
    source = models.BigIntegerField()
    target = models.BigIntegerField()
    block = models.PositiveIntegerField()
    level = models.PositiveSmallIntegerField()
    similarity = models.FloatField()
    score = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "source", "target"], name="run_candidate_once")]
