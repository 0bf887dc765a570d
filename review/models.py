"""Decisions and releases: what people said of the edges, and what left the house."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from linker.models import CandidateEdge, EdgeStatus, Project, Rel, Run


class Verb(models.TextChoices):
    ACCEPT = "accept", "Accepted"
    EDIT = "edit", "Accepted with an edit"
    REJECT = "reject", "Rejected"
    UNDO = "undo", "Undone"
    CONFIRM = "confirm", "Confirmed"
    WITHDRAW = "withdraw", "Withdrawn"


AFTER_RELEASE = (Verb.CONFIRM, Verb.WITHDRAW)  # decisions on links that have left


class Reason(models.TextChoices):
    """Why an editor rejects. The queue says what each does."""

    IRRELEVANT = "irrelevant", "Not relevant"
    WRONG_TARGET = "wrong_target", "Wrong acceptor"
    BAD_ANCHOR = "bad_anchor", "Poor anchor"
    DUPLICATE = "duplicate", "Already linked, or a duplicate"
    TOO_MANY = "too_many", "Too many links on this page"
    OUTDATED = "outdated", "Page out of date"
    SENSITIVE = "sensitive", "Too sensitive to link"
    OTHER = "other", "Something else"


class Decision(models.Model):
    """One row an edge a decision. Append-only: a trigger refuses UPDATE and DELETE (a purge of a whole project
    sets `anchorline.purge` first).

    `seen_*` is the edge as the editor saw it. `batch` is shared by the decisions of one bulk action. An undo is a
    decision too, and names the one it takes back.
    """

    edge = models.ForeignKey(CandidateEdge, on_delete=models.CASCADE, related_name="decisions")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="decisions")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="decisions")
    at = models.DateTimeField(auto_now_add=True)
    verb = models.CharField(max_length=8, choices=Verb.choices)
    reason = models.CharField(max_length=16, choices=Reason.choices, blank=True, default="")
    note = models.CharField(max_length=500, blank=True, default="")
    batch = models.UUIDField(null=True, blank=True)
    undoes = models.OneToOneField("self", on_delete=models.PROTECT, null=True, blank=True, related_name="undone_by")

    status_before = models.CharField(max_length=10, choices=EdgeStatus.choices)
    status_after = models.CharField(max_length=10, choices=EdgeStatus.choices)
    anchor_before = models.TextField()
    source_before = models.CharField(max_length=20, default="", blank=True)
    anchor_after = models.TextField()
    rel_before = models.CharField(max_length=8, choices=Rel.choices)
    rel_after = models.CharField(max_length=8, choices=Rel.choices)
    edited_before = models.BooleanField(default=False)

    seen_run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")
    seen_score = models.FloatField()
    seen_similarity = models.FloatField()
    seen_tier = models.CharField(max_length=40, blank=True, default="")
    seen_placement = models.CharField(max_length=8)
    seen_ranked_by = models.CharField(max_length=8, blank=True, default="")
    seen_probability = models.FloatField(null=True, blank=True)
    seen_quantile = models.FloatField(null=True, blank=True)
    seen_span_start = models.PositiveIntegerField(null=True, blank=True)
    seen_span_end = models.PositiveIntegerField(null=True, blank=True)
    seen_content_gap = models.BooleanField(default=False)
    # Warnings about the words of the link that were shown and overruled: [{"code", "text"}, ...], see
    # review.anchor_warnings.
    overruled = models.JSONField(default=list, db_default=models.Value([], models.JSONField()))
    position = models.PositiveIntegerField(null=True, blank=True, help_text="Place in the list shown, from 1")
    # The browser's own name of the decision: sent a second time, it is answered and not made again.
    key = models.UUIDField(null=True, blank=True)
    # Where the editor put the link, in words of Where; empty where it stayed where the run had put it.
    moved_to = models.CharField(max_length=8, blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(verb=Verb.UNDO, undoes__isnull=False)
                | (~models.Q(verb=Verb.UNDO) & models.Q(undoes__isnull=True)),
                name="decision_undo_names_one",
            ),
            models.UniqueConstraint(
                fields=["project", "user", "key"], condition=models.Q(key__isnull=False), name="decision_key_once"
            ),
        ]
        indexes = [
            models.Index(fields=["project", "-id"], name="decision_recent"),
            models.Index(fields=["project", "at"], name="decision_by_day"),
            models.Index(fields=["edge", "-id"], name="decision_of_edge"),
            # An editor's own: the newest, and those of today.
            models.Index(fields=["project", "user", "-id"], name="decision_recent_of_user"),
            models.Index(fields=["project", "user", "at"], name="decision_of_user_by_day"),
        ]

    def __str__(self) -> str:
        return f"{self.get_verb_display()} by {self.user}"


class Where(models.TextChoices):
    """Where an editor can put a link."""

    TEXT = "text", "In the text"
    BESIDE = "beside", "Beside the text"
    GAP = "gap", "Content gap"


class SetAside(models.Model):
    """A suggestion that an editor wants to see later: it leaves that editor's list, and no other's."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    edge = models.ForeignKey(CandidateEdge, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user", "edge"], name="set_aside_once")]


class SavedFilter(models.Model):
    """A filter of the queue under a name: its owner's, or the whole team's."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="saved_filters", db_index=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=40)
    query = models.CharField(max_length=2000, blank=True, help_text="The query string of the queue")
    shared = models.BooleanField(default=False, help_text="Whether the whole team sees it")

    class Meta:
        ordering = ["name", "pk"]
        constraints = [models.UniqueConstraint(fields=["project", "owner", "name"], name="saved_filter_name_once")]

    def __str__(self) -> str:
        return self.name


class ReleaseFormat(models.TextChoices):
    FULL = "full", "Full CSV"
    JOIL = "joil", "JOIL, three columns"


class Operation(models.TextChoices):
    """What the developers are asked to do with a link."""

    ADD = "add", "Add"
    CHANGE = "change", "Change"
    REMOVE = "remove", "Remove"


class Held(models.TextChoices):
    """Why a link does not leave although it was approved, the most final first."""

    GONE = "gone", "Page gone"
    REDIRECTED = "redirected", "Page redirected"
    NOT_INDEXABLE = "not_indexable", "Acceptor not indexable"
    EXCLUDED = "excluded", "Excluded"
    SENSITIVE = "sensitive", "Sensitive, not reviewed"
    NOT_LOOKED = "not_looked", "Not yet scanned for sensitive content"
    LINKED = "linked", "Linked already"
    WORDS_GONE = "words_gone", "Words gone from the text"
    SAME_ANCHOR = "same_anchor", "Anchor used too often"
    DONOR_FULL = "donor_full", "Too many links on the donor"
    ACCEPTOR_FULL = "acceptor_full", "Too many links to the acceptor"


class Release(models.Model):
    """A file that was handed out: immutable, kept byte for byte in its chunks.

    `links` are the rows of the file: those `added`, `changed` and `removed`. `held` is how many were approved and kept
    back.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="releases")
    number = models.PositiveIntegerField(help_text="Counts within the project, from 1")
    format = models.CharField(max_length=8, choices=ReleaseFormat.choices, default=ReleaseFormat.FULL)
    filters = models.JSONField(default=dict, help_text="The query that chose the links")
    status = models.CharField(max_length=10, help_text="suggested, accepted or all, as asked for")
    links = models.PositiveIntegerField()
    added = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    removed = models.PositiveIntegerField(default=0)
    held = models.PositiveIntegerField(default=0, help_text="Approved, and kept back")
    bytes = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="release_number_once"),
            models.CheckConstraint(
                condition=models.Q(links=models.F("added") + models.F("changed") + models.F("removed")),
                name="release_links_are_its_operations",
            ),
        ]

    def __str__(self) -> str:
        return f"Release {self.number}"


class ReleaseChunk(models.Model):
    """A piece of a release's file, gzip-compressed by itself, in order of `number`."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "number"], name="release_chunk_once")]


class ReleaseLink(models.Model):
    """A row of a release: the edge, what is to be done with the link, and the anchor and rel it was sent with.

    Append-only, as decisions are. An edge's newest row says how it was released last.
    """

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="release_links")
    edge = models.ForeignKey(CandidateEdge, on_delete=models.PROTECT, related_name="release_links", db_index=False)
    operation = models.CharField(max_length=6, choices=Operation.choices, default=Operation.ADD)
    anchor = models.TextField()
    rel = models.CharField(max_length=8, choices=Rel.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["release", "edge"], name="release_link_once"),
            models.CheckConstraint(
                condition=models.Q(operation__in=Operation.values), name="release_link_operation_known"
            ),
            models.CheckConstraint(condition=models.Q(rel__in=Rel.values), name="release_link_rel_known"),
            models.CheckConstraint(condition=~models.Q(anchor=""), name="release_link_anchor_not_empty"),
        ]
        indexes = [
            models.Index(fields=["edge", "-id"], name="release_link_of_edge"),  # what an edge was sent with last
            models.Index(fields=["release", "-id"], name="release_link_of_release"),  # a release's links, page by page
        ]


class HeldBack(models.Model):
    """A link that was approved when the release was made and did not leave with it. Append-only.

    `detail` is one sentence with what was found.
    """

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="held_back", db_index=False)
    edge = models.ForeignKey(CandidateEdge, on_delete=models.PROTECT, related_name="+")
    operation = models.CharField(max_length=6, choices=Operation.choices, default=Operation.ADD)
    reason = models.CharField(max_length=16, choices=Held.choices)
    detail = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["release", "edge"], name="held_back_once"),
            models.CheckConstraint(condition=models.Q(reason__in=Held.values), name="held_back_reason_known"),
        ]


class Pending(models.Model):
    """A change or a removal that an editor asked for and that leaves with the next release, which deletes the row."""

    edge = models.OneToOneField(CandidateEdge, on_delete=models.CASCADE, related_name="pending", primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    operation = models.CharField(max_length=6, choices=Operation.choices)
    decision = models.OneToOneField(Decision, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(operation__in=[Operation.CHANGE, Operation.REMOVE]), name="pending_is_no_addition"
            ),
        ]
