"""Candidate edges: links the system proposes, with where they come from."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils.translation import gettext_lazy as _

from linker.models.page import Category, Page
from linker.models.policy import Placement, Rel, Tier
from linker.models.project import Project
from linker.models.querysets import HELD, NOT_OPEN, OPEN, WAITING, holds
from linker.models.run import Run, RunBatch
from linker.models.search_words import SearchWords


class EdgeStatus(models.TextChoices):
    SUGGESTED = "suggested", _("To review")
    ACCEPTED = "accepted", _("Accepted")
    REJECTED = "rejected", _("Rejected")
    EXPORTED = "exported", _("Exported")
    WITHDRAWN = "withdrawn", _("Withdrawn")


class RankedBy(models.TextChoices):
    COSINE = "cosine", _("Cosine")
    FORMULA = "formula", _("Formula")
    LEARNED = "learned", _("Learned")


class CandidateEdge(models.Model):
    """A proposed link from a donor (`source`) to an acceptor (`target`).

    `similarity` is the raw cosine, `score` what the run ranked by, `probability` its calibrated reading where a ranker
    was trained, `quantile` the share of the run's edges that score no higher. `tier`, `placement`, `rel` and
    `content_gap` are a reading of these. A later run refreshes all of them and leaves `status` alone. `stale`: the
    newest run no longer proposes the pair.
    """

    # Found by the indexes below, which all begin with the project.
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="edges", db_index=False)
    source = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="edges_out", db_index=False)
    target = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="edges_in")
    status = models.CharField(max_length=10, choices=EdgeStatus.choices, default=EdgeStatus.SUGGESTED)
    reviewed = models.BooleanField(default=False, db_default=False, help_text="A person decided on it")
    rejected_for = models.CharField(
        max_length=16, default="", db_default="", blank=True, help_text="The reason given when it was last rejected"
    )
    stale = models.BooleanField(default=False)
    regressed = models.BooleanField(
        default=False, db_default=False, help_text="It was live on the site and has gone, so that it is to be reviewed"
    )
    # The donor's category, 0 without one: a trigger keeps it, so that a list can go category by category on an index.
    section = models.BigIntegerField(default=0, db_default=0, editable=False)
    # What took an open suggestion out of the queue, which is stale for as long as that holds.
    suppressed_by = models.ForeignKey(
        "linker.Suppression", on_delete=models.SET_NULL, null=True, blank=True, related_name="hides", db_index=False
    )

    # The same where a pair of safety classes did.
    barred_by = models.ForeignKey(
        "linker.BarredPair", on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )

    # When it left because its donor or acceptor was full; linker.matching.full_pages writes it.
    capped_at = models.DateTimeField(null=True, blank=True)

    # When it left because its donor or acceptor went missing, or may not be linked; linker.matching.away writes it.
    away_at = models.DateTimeField(null=True, blank=True)

    # An accepted link of a page that has a gate: whether it waits for a second person, and who that was.
    waits = models.BooleanField(default=False, db_default=False)
    second_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )

    # Provenance, from the run that proposed it last.
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="edges")
    generators = ArrayField(
        models.CharField(max_length=20), help_text="Who proposed it: linker.engine.candidates.registry"
    )
    ranked_by = models.CharField(max_length=8, choices=RankedBy.choices)
    block = models.ForeignKey(
        Category, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    level = models.PositiveSmallIntegerField()
    similarity = models.FloatField()
    score = models.FloatField()
    probability = models.FloatField(null=True, blank=True)
    quantile = models.FloatField()
    why = models.TextField(blank=True, default="", help_text="One sentence, in plain words")
    evidence = models.JSONField(default=dict, help_text="The main numbers behind it, by the feature's name")
    # Of a donor's sure suggestions their best, and of its others the best of these: the queue lists it twice, see SURE.
    donor_best = models.FloatField(help_text="The donor's best score in the run: donors are sorted by it")
    # What the target lacks, see linker.engine.worth; zero and empty in suggestions from before this was kept.
    need = models.FloatField(default=0.0, db_default=0.0, help_text="How much the target lacks, from 0 to 1")
    lacks = models.CharField(max_length=200, blank=True, default="", db_default="", help_text="The same in words")
    authority = models.FloatField(
        null=True, blank=True, help_text="The donor's authority among the site's pages, from 0 to 1"
    )
    worth = models.FloatField(default=0.0, db_default=0.0, help_text="Its chance of approval, weighted by the need")
    donor_worth = models.FloatField(
        default=0.0, db_default=0.0, help_text="The highest worth of the donor's suggestions: donors are sorted by it"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now_add=True)

    # Readings.
    tier = models.ForeignKey(Tier, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False)
    placement = models.CharField(max_length=8, choices=Placement.choices, default=Placement.RELATED)
    rel = models.CharField(max_length=8, choices=Rel.choices, default=Rel.NOFOLLOW)
    sensitive = models.CharField(
        max_length=300, blank=True, default="", help_text="Why it needs human review, or empty"
    )

    # The words of the donor's body that become the link, in characters; null where the text has none.
    span_start = models.PositiveIntegerField(null=True, blank=True)
    span_end = models.PositiveIntegerField(null=True, blank=True)
    # The sentence around them and the heading above, read from the body of this hash; null if they were not looked for.
    sentence = models.TextField(blank=True, default="", db_default="")
    section_heading = models.TextField(blank=True, default="", db_default="")
    body_hash = models.BigIntegerField(null=True, blank=True)
    content_gap = models.BooleanField(default=False, help_text="Belongs in the text, which has no words for it yet")
    # The paragraph of the donor's body that a sentence about the target could follow, for a content gap, and the
    # heading above it, read from the body of this hash; null if none would take one, or if none was looked for.
    paragraph_start = models.PositiveIntegerField(null=True, blank=True)
    paragraph_end = models.PositiveIntegerField(null=True, blank=True)
    paragraph_heading = models.TextField(blank=True, default="", db_default="")
    paragraph_hash = models.BigIntegerField(null=True, blank=True)

    # Where an editor puts an accepted link without words in the text: on a line of its own behind that paragraph; or in
    # a sentence, which the editor wrote, with its words in it.
    own_line = models.BooleanField(default=False, db_default=False)
    new_sentence = models.TextField(blank=True, default="", db_default="")

    # The anchor, where it came from, and the ranked others: [{"text", "source", "raw", "start", "end", "fit",
    # "impressions"}, ...]; place and fit (their weight relative to the best words of the pair) only for those in the
    # text, impressions for search queries where they are known.
    anchor = models.TextField()
    anchor_source = models.CharField(max_length=20)
    anchor_alternatives = models.JSONField(default=list)
    edited = models.BooleanField(default=False, help_text="An editor wrote the anchor: runs leave it alone")

    # No column: made of a linker.models.KnownAnswer, and never saved. The site has the link, which is not to be seen.
    is_known = False
    said: Any = None  # as a decision: what the person who sees it has said of it; None where that is nothing

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
            models.CheckConstraint(condition=models.Q(ranked_by__in=RankedBy.values), name="edge_ranked_by_known"),
            models.CheckConstraint(condition=~models.Q(generators=[]), name="edge_has_a_generator"),
            models.CheckConstraint(
                condition=models.Q(probability=None) | models.Q(probability__gte=0.0, probability__lte=1.0),
                name="edge_probability_is_one",
            ),
            models.CheckConstraint(
                condition=models.Q(quantile__gte=0.0, quantile__lte=1.0), name="edge_quantile_is_a_share"
            ),
            models.CheckConstraint(
                condition=models.Q(span_start=None, span_end=None)
                | models.Q(span_start__isnull=False, span_end__gt=models.F("span_start")),
                name="edge_span_is_whole",
            ),
            models.CheckConstraint(
                condition=models.Q(paragraph_start=None, paragraph_end=None, paragraph_hash=None)
                | models.Q(
                    paragraph_start__isnull=False,
                    paragraph_end__gt=models.F("paragraph_start"),
                    paragraph_hash__isnull=False,
                ),
                name="edge_paragraph_is_whole",
            ),
            models.CheckConstraint(
                condition=~models.Q(content_gap=True, span_start__isnull=False), name="edge_gap_has_no_place"
            ),
        ]
        indexes = [
            # The queue as it is opened, in each of its orders: a range for each tier that is not held back, however
            # many others are. review.queue.filters makes the parts, review.queue.selectors puts them together.
            models.Index(fields=["project", "tier", "-score", "id"], condition=OPEN, name="edge_open_by_score"),
            models.Index(
                fields=["project", "tier", "-donor_best", "source", "-score", "id"],
                condition=OPEN,
                name="edge_open_by_donor",
            ),
            models.Index(
                fields=["project", "tier", "-donor_worth", "source", "-worth", "id"],
                condition=OPEN,
                name="edge_open_by_worth",
            ),
            models.Index(
                fields=["project", "tier", "-need", "target", "-score", "id"],
                condition=OPEN,
                name="edge_open_by_target",
            ),
            models.Index(
                fields=["project", "tier", "section", "-donor_best", "source", "-score", "id"],
                condition=OPEN,
                name="edge_open_by_section",
            ),
            # What is decided or stale in the same orders. An edge is in these or in those above, never in both: most of
            # what a change of many edges costs is its entries in indexes.
            models.Index(fields=["project", "status", "-score", "id"], condition=NOT_OPEN, name="edge_by_score"),
            models.Index(
                fields=["project", "status", "-donor_best", "source", "-score", "id"],
                condition=NOT_OPEN,
                name="edge_by_donor",
            ),
            models.Index(
                fields=["project", "status", "-donor_worth", "source", "-worth", "id"],
                condition=NOT_OPEN,
                name="edge_by_worth",
            ),
            models.Index(
                fields=["project", "status", "-need", "target", "-score", "id"],
                condition=NOT_OPEN,
                name="edge_by_target",
            ),
            # The same by category. It has what is open, too: the links on the site of a category are of every status.
            models.Index(
                fields=["project", "status", "section", "-donor_best", "source", "-score", "id"], name="edge_by_section"
            ),
            # The export, in the order of its rows; and whatever asks for all edges of a project or a donor.
            models.Index(fields=["project", "source", "-score", "id"], name="edge_export_order"),
            # From which probability on. Also what a tier that is deleted looks for.
            models.Index(fields=["tier", "probability"], name="edge_tier_by_probability"),
            # From which day on: review.queue.few.
            models.Index(fields=["project", "tier", "created_at"], name="edge_by_first_proposed"),
            # Few of many: what a suppression has taken out of the queue; what is sensitive; what was found in blocks,
            # which a category that is deleted looks for.
            models.Index(
                fields=["suppressed_by"], condition=models.Q(suppressed_by__isnull=False), name="edge_suppressed"
            ),
            models.Index(
                fields=["project", "-donor_best", "source", "-score", "id"], condition=WAITING, name="edge_waiting"
            ),
            models.Index(fields=["block"], condition=models.Q(block__isnull=False), name="edge_block"),
            models.Index(fields=["barred_by"], condition=models.Q(barred_by__isnull=False), name="edge_barred"),
            models.Index(fields=["project"], condition=models.Q(capped_at__isnull=False), name="edge_capped"),
            models.Index(fields=["project"], condition=models.Q(away_at__isnull=False), name="edge_away"),
            models.Index(
                fields=["project", "status", "tier"], condition=~models.Q(sensitive=""), name="edge_sensitive"
            ),
            models.Index(
                fields=["project", "status", "-score", "id"], condition=models.Q(regressed=True), name="edge_regressed"
            ),
            # The search of the queue: review.queue.search.
            GinIndex(SearchWords("anchor"), name="edge_anchor_words"),
        ]

    def __str__(self) -> str:
        return f"{self.source_id} → {self.target_id}"

    @property
    def is_held(self) -> bool:
        """Whether it is an open suggestion that the queue shows only when it is asked to: its tier is held back, or it
        scores below every tier."""
        return holds(HELD, self)


class RunCandidate(models.Model):
    """The pairs a batch found, waiting for the allocation over the whole run. Deleted when the run is finished.

    `pairs` is an array of linker.matching.batches.CANDIDATE: as rows of their own, with an index that no query uses,
    millions of pairs would take longer to store than to find.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    batch = models.OneToOneField(RunBatch, on_delete=models.CASCADE, related_name="+")
    pairs = models.BinaryField()


class UnallocatedPairs(models.Model):
    """What the newest match run found for a donor and did not propose: one row a donor, arrays of one length.

    `reasons` holds the values of `linker.engine.allocation.allocate.Reason`. Runs by cosine in blocks keep none: there
    the score of any pair is computed again when somebody asks.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+", db_index=False)
    source = models.BigIntegerField()
    targets = ArrayField(models.BigIntegerField())
    scores = ArrayField(models.FloatField())
    reasons = ArrayField(models.SmallIntegerField())

    class Meta:
        verbose_name_plural = "unallocated pairs"
        constraints = [models.UniqueConstraint(fields=["run", "source"], name="unallocated_pairs_donor_once")]
