"""Releases, and the links that are out because of them. Registered through review.models."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from linker.models import CandidateEdge, Project, Rel, Run


class ReleaseFormat(models.TextChoices):
    FULL = "full", _("Full CSV")
    JOIL = "joil", _("JOIL, three columns")


class Operation(models.TextChoices):
    """What the developers are asked to do with a link."""

    ADD = "add", _("Add")
    CHANGE = "change", _("Change")
    REMOVE = "remove", _("Remove")


class Held(models.TextChoices):
    """Why a link does not leave although it was approved, the most final first."""

    GONE = "gone", _("Page gone")
    REDIRECTED = "redirected", _("Page redirected")
    NOT_INDEXABLE = "not_indexable", _("Acceptor not indexable")
    EXCLUDED = "excluded", _("Excluded")
    BARRED = "barred", _("Pages that may not be linked")
    SUPPRESSED = "suppressed", _("Ruled out by an editor")
    SECOND = "second", _("Waits for a second person")
    SENSITIVE = "sensitive", _("Sensitive, not reviewed")
    NOT_LOOKED = "not_looked", _("Not yet scanned for sensitive content")
    ROLLOUT = "rollout", _("Not rolled out yet")
    LINKED = "linked", _("Linked already")
    WORDS_GONE = "words_gone", _("Words gone from the text")
    SAME_ANCHOR = "same_anchor", _("Anchor used too often")
    DONOR_FULL = "donor_full", _("Too many links on the donor")
    ACCEPTOR_FULL = "acceptor_full", _("Too many links to the acceptor")
    PAIR = "pair", _("Waits with the link it replaces")
    PAGE_BACK = "page_back", _("Page back since its removal was asked for")
    CHANGED = "changed", _("Changed since the draft was made")


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
    held_for = models.JSONField(default=dict, help_text="By reason: all of them, those not decided, changes")
    bytes = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    back_to = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="+", help_text="Rolled back to it"
    )
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
        indexes = [models.Index(fields=["release", "reason", "edge"], name="held_back_for_reason")]


class Pending(models.Model):
    """What an editor asked for on a link that is out and what leaves with the next release, which deletes the row: a
    change, a removal, or an addition where a link is asked for once more. Without a decision, it is a change that a
    page asks for which has moved or leads to another. `page_gone`: when somebody asked, a page of the link was none
    that a link could lead from or to; see review.releases.pages_back."""

    edge = models.OneToOneField(CandidateEdge, on_delete=models.CASCADE, related_name="pending", primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    operation = models.CharField(max_length=6, choices=Operation.choices)
    decision = models.OneToOneField("review.Decision", on_delete=models.PROTECT, null=True, related_name="+")
    page_gone = models.BooleanField(default=False, db_default=False)

    class Meta:
        # Few of many: looked through with each release, and by the page of each draft.
        indexes = [
            models.Index(fields=["project", "edge"], condition=models.Q(page_gone=True), name="pending_page_gone")
        ]
        constraints = [
            models.CheckConstraint(condition=models.Q(operation__in=Operation.values), name="pending_operation_known"),
            models.CheckConstraint(
                condition=models.Q(decision__isnull=False) | models.Q(operation=Operation.CHANGE),
                name="pending_asked_for_by_somebody",
            ),
        ]


class ReleaseDraft(models.Model):
    """A release to be: its links are looked through before it is published or discarded, and never change.

    `back_to`: it holds what undoes all that was released after that release. `filled_at` is null while its links are
    being collected. What it was published as is in `release`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="drafts")
    filters = models.JSONField(default=dict, help_text="The query that chose the links")
    format = models.CharField(max_length=8, choices=ReleaseFormat.choices, default=ReleaseFormat.FULL)
    bom = models.BooleanField(default=False)
    back_to = models.ForeignKey(Release, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    filled_at = models.DateTimeField(null=True, blank=True)
    added = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    removed = models.PositiveIntegerField(default=0)
    held = models.PositiveIntegerField(default=0)
    held_for = models.JSONField(default=dict, help_text="Links that would be held back, by reason")
    release = models.OneToOneField(Release, on_delete=models.PROTECT, null=True, blank=True, related_name="draft")
    discarded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(release__isnull=True) | models.Q(discarded_at__isnull=True),
                name="draft_published_or_discarded",
            ),
        ]

    def __str__(self) -> str:
        return f"Draft {self.pk}"

    @property
    def links(self) -> int:
        return self.added + self.changed + self.removed

    @property
    def is_open(self) -> bool:
        """Whether it can still be published."""
        return self.release_id is None and self.discarded_at is None


class DraftLink(models.Model):
    """A link of a draft: what is to be done, the anchor and rel it is to have, and those it is out with, if it is.

    With a `reason`, it would be held back. The rows go when the draft is published or discarded.
    """

    draft = models.ForeignKey(ReleaseDraft, on_delete=models.CASCADE, related_name="draft_links", db_index=False)
    # Found by the constraint, which begins with the edge: each index more is a million rows more to write.
    edge = models.ForeignKey(CandidateEdge, on_delete=models.CASCADE, related_name="+", db_index=False)
    operation = models.CharField(max_length=6, choices=Operation.choices)
    anchor = models.TextField()
    rel = models.CharField(max_length=8, choices=Rel.choices)
    anchor_out = models.TextField(blank=True, default="")
    rel_out = models.CharField(max_length=8, choices=Rel.choices, blank=True, default="")
    reason = models.CharField(max_length=16, choices=Held.choices, blank=True, default="")
    detail = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["edge", "draft"], name="draft_link_once"),
            models.CheckConstraint(condition=models.Q(operation__in=Operation.values), name="draft_link_operation"),
            models.CheckConstraint(condition=~models.Q(anchor=""), name="draft_link_anchor_not_empty"),
        ]
        indexes = [
            # Looked through in the order of the file, all or by operation; and what is held back.
            models.Index(fields=["draft", "reason", "operation", "id"], name="draft_link_by_operation"),
        ]


class LiveState(models.TextChoices):
    """What the newest import of links says of a link that was released."""

    SENT = "sent", _("Released")
    LIVE = "live", _("Live")
    DIFFERENT = "different", _("Live, with other words or another rel")
    MOVED = "moved", _("Acceptor moved")
    NOT_INDEXABLE = "noindex", _("Live, but the acceptor is not indexable")
    DEAD = "dead", _("Leads nowhere")
    MISSING = "missing", _("Not found")
    LOST = "lost", _("Was live, and is gone")
    TARGET_GONE = "target", _("Acceptor gone")
    DONOR_GONE = "donor", _("Donor gone")
    STILL_THERE = "still", _("To be removed")
    REMOVED = "removed", _("Removed")


# States in which one of the pages is gone.
GONE_STATES = (LiveState.DONOR_GONE, LiveState.TARGET_GONE, LiveState.DEAD)
_STILL_OPEN, _CLOSED = models.Q(closed_at__isnull=True), models.Q(closed_at__isnull=False)


class PublishedLink(models.Model):
    """A link that a release has added: how it was released last, and what the site shows of it.

    The sum of all published operations on the edge: `is_out` unless the last was a removal, with the `anchor` and `rel`
    it was sent with last. An import of links looks for it and writes `state`, with since when it is so and what stood
    there instead. `donor_was` and `acceptor_was` are the addresses that it was released with, where its pages have
    others by now; empty where they are the same. `owner` has it to see to; `closed_*`: a person took the state as it
    is, and says why.
    """

    edge = models.OneToOneField(CandidateEdge, on_delete=models.PROTECT, related_name="published", primary_key=True)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    release = models.ForeignKey(
        Release, on_delete=models.PROTECT, related_name="+", db_index=False, help_text="The last that named it"
    )
    is_out = models.BooleanField(default=True)
    anchor = models.TextField()
    rel = models.CharField(max_length=8, choices=Rel.choices)
    donor_was = models.TextField(blank=True, default="", db_default="")
    acceptor_was = models.TextField(blank=True, default="", db_default="")
    released_at = models.DateTimeField(help_text="When it was released last")
    state = models.CharField(max_length=9, choices=LiveState.choices, default=LiveState.SENT)
    since = models.DateTimeField(help_text="Since when it is in this state")
    looked_at = models.DateTimeField(null=True, blank=True, help_text="When an import of links was last asked")
    seen_anchor = models.TextField(blank=True, default="")
    seen_follow = models.BooleanField(null=True, blank=True)
    first_live_at = models.DateTimeField(null=True, blank=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    closed_note = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(state__in=LiveState.values), name="published_state_known"),
            models.CheckConstraint(condition=models.Q(rel__in=Rel.values), name="published_rel_known"),
            models.CheckConstraint(condition=~models.Q(anchor=""), name="published_anchor_not_empty"),
            models.CheckConstraint(
                condition=models.Q(closed_at__isnull=False) | models.Q(closed_by__isnull=True, closed_note=""),
                name="published_open_says_nothing",
            ),
        ]
        indexes = [
            # Listed in one state, the longest first: what is still open, and what was closed; and what a person has.
            models.Index(
                fields=["project", "state", "since", "edge"], condition=_STILL_OPEN, name="published_open_by_state"
            ),
            models.Index(
                fields=["project", "state", "since", "edge"], condition=_CLOSED, name="published_closed_by_state"
            ),
            models.Index(
                fields=["owner", "project", "state", "since", "edge"],
                condition=models.Q(owner__isnull=False),
                name="published_of_owner",
            ),
            # Few of many: those whose pages have other addresses by now.
            models.Index(
                fields=["project"],
                condition=~models.Q(donor_was="") | ~models.Q(acceptor_was=""),
                name="published_readdressed",
            ),
            # The newest, for how long a step takes.
            models.Index(fields=["project", "-edge"], name="published_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.edge_id}: {self.state}"


class LinkEvent(models.Model):
    """A change of a published link's state, or of who sees to it. Append-only: the link's life, told in order."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    edge = models.ForeignKey(CandidateEdge, on_delete=models.PROTECT, related_name="link_events", db_index=False)
    at = models.DateTimeField()
    before = models.CharField(max_length=9, blank=True, default="")
    after = models.CharField(max_length=9, choices=LiveState.choices)
    release = models.ForeignKey(Release, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    seen_anchor = models.TextField(blank=True, default="")
    note = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        indexes = [models.Index(fields=["edge", "id"], name="link_event_of_edge")]

    def __str__(self) -> str:
        return f"{self.edge_id}: {self.before} → {self.after}"
