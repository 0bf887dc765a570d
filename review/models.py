"""Decisions and releases: what people said of the edges, and what left the house."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from linker.models import CandidateEdge, EdgeStatus, Project, Rel, Run, SuppressedKind
from linker.wording import in_english
from review.alert_models import Alert as Alert
from review.alert_models import AlertClosing as AlertClosing
from review.alert_models import AlertKind as AlertKind
from review.aside_models import OperationKey as OperationKey
from review.aside_models import SetAside as SetAside
from review.count_models import PublishedCount as PublishedCount
from review.quality_models import UNDONE as UNDONE
from review.quality_models import Drawn as Drawn
from review.quality_models import Grade as Grade
from review.quality_models import Judgement as Judgement
from review.quality_models import Sample as Sample
from review.quality_models import SampleKind as SampleKind
from review.quality_models import SampleLink as SampleLink
from review.reading_models import Assignment as Assignment
from review.reading_models import DueReading as DueReading
from review.reading_models import KnownReading as KnownReading
from review.reading_models import SecondReading as SecondReading
from review.release_models import GONE_STATES as GONE_STATES
from review.release_models import DraftLink as DraftLink
from review.release_models import Held as Held
from review.release_models import HeldBack as HeldBack
from review.release_models import LinkEvent as LinkEvent
from review.release_models import LiveState as LiveState
from review.release_models import Operation as Operation
from review.release_models import Pending as Pending
from review.release_models import PublishedLink as PublishedLink
from review.release_models import Release as Release
from review.release_models import ReleaseChunk as ReleaseChunk
from review.release_models import ReleaseDraft as ReleaseDraft
from review.release_models import ReleaseFormat as ReleaseFormat
from review.release_models import ReleaseLink as ReleaseLink
from review.rollout_models import RolloutRule as RolloutRule
from review.rollout_models import Stage as Stage


class Verb(models.TextChoices):
    ACCEPT = "accept", _("Accepted")
    EDIT = "edit", _("Accepted with an edit")
    REJECT = "reject", _("Rejected")
    UNDO = "undo", _("Undone")
    CONFIRM = "confirm", _("Confirmed")
    ASK = "ask", _("Asked for again")
    WITHDRAW = "withdraw", _("Withdrawn")
    ROLL_BACK = "rollback", _("Rolled back")
    APPROVE = "approve", _("Approved as the second person")


AFTER_RELEASE = (Verb.CONFIRM, Verb.ASK, Verb.WITHDRAW, Verb.ROLL_BACK)  # decisions on links that have left


class Reason(models.TextChoices):
    """Why an editor rejects. The queue says what each does."""

    IRRELEVANT = "irrelevant", _("Not relevant")
    WRONG_TARGET = "wrong_target", _("Wrong acceptor")
    BAD_ANCHOR = "bad_anchor", _("Poor anchor")
    DUPLICATE = "duplicate", _("Already linked, or a duplicate")
    TOO_MANY = "too_many", _("Too many links on this page")
    OUTDATED = "outdated", _("Page out of date")
    SENSITIVE = "sensitive", _("Too sensitive to link")
    OTHER = "other", _("Something else")
    BETTER = "better_there", _("Fits, but a better link is there")  # the last: the digits of the others stay


# What a reason rules out beyond the pair that it was given for: what it says of the donor at once, and what reaches
# pages that nobody has looked at where the editor asks for that. The others teach the ranker, or say nothing of others.
RULES_OUT: dict[str, SuppressedKind] = {Reason.TOO_MANY: SuppressedKind.PAGE}
RULES_OUT_WIDELY: dict[str, SuppressedKind] = {
    Reason.WRONG_TARGET: SuppressedKind.SECTION,
    Reason.BAD_ANCHOR: SuppressedKind.WORDS,
}


def ruled_out_by(reason: str, *, widely: bool) -> SuppressedKind:
    """What a rejection for this reason rules out."""
    kinds = RULES_OUT | RULES_OUT_WIDELY if widely else RULES_OUT
    return kinds.get(reason, SuppressedKind.PAIR)


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
    # The sentence that the editor wrote for a content gap, with the words of the link in it.
    sentence = models.TextField(blank=True, default="", db_default="")

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
        return f"{in_english(Verb(self.verb).label)} by {self.user}"


class Where(models.TextChoices):
    """Where an editor can put a link."""

    TEXT = "text", _("In the text")
    LINE = "line", _("A line of its own")
    BESIDE = "beside", _("In the list at the end")
    GAP = "gap", _("Content gap")


class Comment(models.Model):
    """What somebody says of a suggestion. It is not changed afterwards; `mentions` are the members whom it names."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    edge = models.ForeignKey(CandidateEdge, on_delete=models.CASCADE, related_name="comments", db_index=False)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.CharField(max_length=2000)
    mentions = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+", blank=True)
    at = models.DateTimeField(auto_now_add=True)
    key = models.UUIDField(null=True, blank=True)  # as a decision's

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(condition=~models.Q(text=""), name="comment_not_empty"),
            models.UniqueConstraint(
                fields=["project", "author", "key"], condition=models.Q(key__isnull=False), name="comment_key_once"
            ),
        ]
        indexes = [models.Index(fields=["edge", "id"], name="comment_of_edge")]

    def __str__(self) -> str:
        return self.text


class OpinionRequest(models.Model):
    """An editor asks a colleague, or anybody (`asked_of` is None), for an opinion on a suggestion.

    It is open until somebody decides on the suggestion, or until somebody who was asked comments on it. `decision` is
    the one that answered it: if that is undone, the request is open again.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    edge = models.ForeignKey(CandidateEdge, on_delete=models.CASCADE, related_name="opinion_requests")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    asked_of = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    comment = models.OneToOneField(Comment, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["pk"]
        # Those answered stay; the inbox, and its badge on every page, look at the others.
        indexes = [
            models.Index(fields=["project", "-id"], condition=models.Q(answered_at__isnull=True), name="opinion_open")
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["edge", "asked_by"], condition=models.Q(answered_at__isnull=True), name="opinion_asked_once"
            ),
            models.CheckConstraint(
                condition=models.Q(asked_of__isnull=True) | ~models.Q(asked_of=models.F("asked_by")),
                name="opinion_not_of_oneself",
            ),
            models.CheckConstraint(
                condition=models.Q(answered_at__isnull=False)
                | models.Q(answered_by__isnull=True, decision__isnull=True),
                name="opinion_open_has_no_answer",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.asked_by} asks {self.asked_of or 'anybody'}"


class Presence(models.Model):
    """The card that an editor had open last, and when the browser said so: see review.queue.presence."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    edge = models.ForeignKey(CandidateEdge, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="presence_once")]


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


class OwnKey(models.Model):
    """A key that a user has chosen for an action of the queue, in all projects; actions without one keep their usual
    key: see review.queue.keys."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    action = models.CharField(max_length=16)
    key = models.CharField(max_length=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "action"], name="own_key_one_an_action"),
            models.UniqueConstraint(fields=["user", "key"], name="own_key_one_action_a_key"),
            models.CheckConstraint(condition=models.Q(key__regex=r"^[^\s1-9]$"), name="own_key_is_a_letter_or_sign"),
        ]

    def __str__(self) -> str:
        return f"{self.key}: {self.action}"
