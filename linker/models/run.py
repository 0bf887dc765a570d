"""A piece of background work: its frozen parameters, its progress and how it ended. The row is the truth."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext, override
from django.utils.translation import gettext_lazy as _

from linker.models.page import Category, EmbeddingModel
from linker.models.project import Project


class RunKind(models.TextChoices):
    IMPORT_PAGES = "import_pages", _("Import pages")
    IMPORT_LINKS = "import_links", _("Import links")
    IMPORT_QUERIES = "import_queries", _("Import search queries")
    IMPORT_TRAFFIC = "import_traffic", _("Import traffic")
    IMPORT_EVENTS = "import_events", _("Import page events")
    EMBED = "embed", _("Embed pages")
    MATCH = "match", _("Match")
    RETIER = "retier", _("Reassign tiers")
    SENSITIVE = "sensitive", _("Scan for sensitive pages")
    ROLES = "roles", _("Find page roles")
    RELEASE = "release", _("Release")
    DRAFT = "draft", _("Draft of a release")
    WITHDRAW = "withdraw", _("Withdraw a release")
    VERIFY = "verify", _("Look for released links")
    COMPARE = "compare", _("Compare runs")
    STAND = "stand", _("Take a run again")
    CLIENT_REPORT = "client_report", _("Report")
    AUDIT = "audit", _("Draw an audit")
    SAFETY = "safety", _("Apply safety classes")
    CALIBRATE = "calibrate", _("Draw a calibration")
    ALERTS = "alerts", _("Look for alerts")
    CAPS = "caps", _("Apply caps")
    FETCH = "fetch", _("Fetch")
    CHANGES = "changes", _("Match what changed")
    RECHECK = "recheck", _("Verify suggestions")
    RESTORE_PAGES = "restore_pages", _("Bring pages back")
    FOLLOW_UP = "follow_up", _("Update suggestions")
    VECTORS = "vectors", _("Drop vectors")
    LINKS = "links", _("Read links by rules")


IMPORT_PREFIX = "import_"  # of runs that import; ingest.kinds.registry knows which there are
IMPORTS = tuple(kind for kind in RunKind if kind.startswith(IMPORT_PREFIX))


def kind_label(kind: str) -> str:
    """A kind of run in words. One that RunKind does not list is an import, named after what it imports."""
    return str(RunKind(kind).label) if kind in RunKind.values else kind.replace("_", " ").capitalize()


class RunStatus(models.TextChoices):
    QUEUED = "queued", _("Waiting")
    RUNNING = "running", _("Running")
    SUCCEEDED = "succeeded", _("Finished")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")


ACTIVE = (RunStatus.QUEUED, RunStatus.RUNNING)
MOST_STEPS = 12  # more are pages or the like, and are counted as such


class Run(models.Model):
    """See linker.runs.lifecycle for the life of a run. `params` is frozen at the start; `report` is written at the
    end."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(max_length=16, choices=RunKind.choices)
    status = models.CharField(max_length=10, choices=RunStatus.choices, default=RunStatus.QUEUED)
    params = models.JSONField(default=dict)
    report = models.JSONField(default=dict)
    stage = models.CharField(max_length=200, blank=True, default="", help_text="What it is doing now, in words")
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(default=0)
    error = models.TextField(blank=True, default="", help_text="Why it failed, for the user")
    attempts = models.PositiveSmallIntegerField(default=0)
    cancel_requested = models.BooleanField(default=False)
    model = models.ForeignKey(EmbeddingModel, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    code_version = models.CharField(max_length=60, blank=True, default="")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    by_itself = models.BooleanField(
        default=False, db_default=False, help_text="Started by a schedule or a rule, and by nobody"
    )
    follows = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="followed_by",
        help_text="The run that began what this one is a step of, such as the fetch of a site",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "kind"],
                # What follows a result is written with it: it cannot be refused.
                condition=models.Q(status__in=ACTIVE) & ~models.Q(kind=RunKind.FOLLOW_UP),
                name="run_one_active_of_a_kind",
            ),
            models.CheckConstraint(condition=models.Q(status__in=RunStatus.values), name="run_status_known"),
        ]
        indexes = [models.Index(fields=["status"], condition=models.Q(status__in=ACTIVE), name="run_active")]

    def __str__(self) -> str:
        with override(settings.LANGUAGE_CODE):  # the log keeps it
            return f"{self.get_kind_display()} #{self.pk}"

    def get_kind_display(self) -> str:  # type: ignore[no-redef]
        return kind_label(self.kind)

    @property
    def is_import(self) -> bool:
        return self.kind.startswith(IMPORT_PREFIX)

    @property
    def is_active(self) -> bool:
        return self.status in ACTIVE

    @property
    def started_by(self) -> str:
        """Who or what started it, for people."""
        if self.created_by is not None:
            return self.created_by.get_username()
        return gettext("by itself") if self.by_itself else gettext("command line")

    @property
    def step(self) -> int | None:
        """Which step of `total` it is at, from 1; None where its work is counted in pages or the like. An import counts
        bytes or rows."""
        return min(self.done + 1, self.total) if 1 < self.total <= MOST_STEPS and not self.is_import else None

    @property
    def percent(self) -> int:
        return min(100, self.done * 100 // self.total) if self.total else 0


class RunBlock(models.Model):
    """The pages one block of a match run compares, frozen when the run was planned.

    `category` is the top of the block's subtree (null: the whole site). Ids are int64, little-endian, ascending by
    (category, id) for donors and by id for targets.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="blocks")
    number = models.PositiveIntegerField()
    category = models.ForeignKey(Category, on_delete=models.SET_NULL, null=True, related_name="+")
    donor_ids = models.BinaryField()
    target_ids = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="run_block_once")]


class RunBatch(models.Model):
    """One job's share of a match run: slices of blocks, [[block number, first donor, last donor + 1], ...].

    A worker holds the row's lock in the transaction that writes the results, so a killed worker leaves the batch
    as it found it, and `done` is true exactly when the results are there.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="batches")
    number = models.PositiveIntegerField()
    slices = models.JSONField()
    cost = models.BigIntegerField(help_text="Pairs to compare")
    done = models.BooleanField(default=False)
    candidates = models.IntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often its worker was lost")
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="run_batch_once")]
        indexes = [models.Index(fields=["run"], condition=models.Q(done=False), name="run_batch_pending")]


class Ranker(models.Model):
    """What ranked a match run: a ranker learned from the site's links, the one that ships, or the formula. Kept with
    the run.

    `quality` and `counts` are what `linker.engine.ranking.boosted_trees.Quality` says, on links hidden from the ranker;
    `weights` are the formula's, or how much each group of features gained in the trees, as shares. `model` is the
    learned ranker itself (linker.engine.ranking.boosted_trees.TrainedScorer.to_bytes), empty for the others.
    `words` is the choice of words learned beside it (linker.engine.anchors.training.AnchorRanker.to_bytes).
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="ranker")
    kind = models.CharField(max_length=8)
    version = models.CharField(max_length=20)
    labels = models.IntegerField(default=0, help_text="Links it could learn from")
    quality = models.JSONField(default=dict)
    weights = models.JSONField(default=dict)
    model = models.BinaryField(default=b"")
    words = models.BinaryField(default=b"")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.kind} {self.version}"
