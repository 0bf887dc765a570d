"""Uploaded files, and the sources that pages and links are fetched from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from linker.models import Page, Project, Run


class Upload(models.Model):
    """A file to import: `path` is relative to UPLOAD_ROOT for a browser's upload, absolute for the command line's, and
    empty where the file was removed (see ingest.files.uploads).

    `mapping`, `encoding`, `delimiter` and `no_header` are what the user said last; each run freezes its own copy. An
    empty encoding or delimiter is found out. `columns` tells which files have the same columns, where the mapping is to
    be remembered for them (ingest.remembered).
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="uploads")
    kind = models.CharField(max_length=30, help_text="The name of a kind of import: ingest.kinds.registry")
    name = models.CharField(max_length=255, help_text="As the user's file was called")
    path = models.TextField()
    bytes = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    mapping = models.JSONField(default=dict, blank=True)
    encoding = models.CharField(max_length=20, blank=True, default="")
    delimiter = models.CharField(max_length=1, blank=True, default="", db_default="")
    columns = models.CharField(max_length=64, blank=True, default="", db_default="")
    no_header = models.BooleanField(default=False, db_default=False)
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    @property
    def reading(self) -> dict[str, Any]:
        """How the file is to be read, as ingest.preview takes it."""
        return {"encoding": self.encoding, "delimiter": self.delimiter, "no_header": self.no_header}

    @property
    def is_ours(self) -> bool:
        """Whether the file is a copy of ours, to be removed one day."""
        return bool(self.path) and not Path(self.path).is_absolute()

    @property
    def is_there(self) -> bool:
        return bool(self.path) and self.file.is_file()

    @property
    def file(self) -> Path:
        """Where the file lies."""
        return settings.UPLOAD_ROOT / self.path


class SourceKind(models.TextChoices):
    CRAWL = "crawl", _("Crawl of the site")
    WORDPRESS = "wordpress", _("WordPress")
    SITEMAP = "sitemap", _("Sitemap")


class SiteSource(models.Model):
    """Where a project's pages and links come from without a hand: see ingest.sources.connectors.

    `address` is where it begins: the home page, the WordPress site, the sitemap. `options` are the connector's
    (Connector.Options). `secret` is encrypted (ingest.sources.secrets) and never shown again. `refresh_matches`: what
    was fetched is embedded and matched as well. A source is not deleted but removed: its runs speak of it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="site_sources")
    kind = models.CharField(max_length=12, choices=SourceKind.choices)
    name = models.CharField(max_length=100)
    address = models.URLField(max_length=2000)
    options = models.JSONField(default=dict, blank=True)
    username = models.CharField(max_length=200, blank=True, default="")
    secret = models.BinaryField(null=True, blank=True)
    refresh_matches = models.BooleanField(default=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name"], condition=models.Q(removed_at=None), name="site_source_name_once"
            ),
            models.CheckConstraint(condition=models.Q(kind__in=SourceKind.values), name="site_source_kind_known"),
            models.CheckConstraint(condition=~models.Q(name=""), name="site_source_has_name"),
        ]

    def __str__(self) -> str:
        return self.name


class SourcePage(models.Model):
    """A page that a source holds: its newest whole fetch has seen it, or a later one that saw a part.

    A fetch says of these pages alone that they are gone (ingest.kinds.pages.held).
    """

    source = models.ForeignKey(SiteSource, on_delete=models.CASCADE, related_name="+", db_index=False)
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "page"], name="source_page_once")]

    def __str__(self) -> str:
        return f"{self.page_id} of {self.source_id}"


class Schedule(models.Model):
    """When a source is fetched, or, without a source, when the project is matched: see ingest.schedules.

    `cron` is read in the project's time zone (ingest.schedules.times). `next_at` is the truth; Redis has a job for it
    as well. It was worked out at `planned_at`, for the time zone `planned_in`. `error`: why the last time came to
    nothing. `failed_since`: when what it started failed first since it last succeeded. `whole_site`: the match is over
    the whole site each time, and not over what changed.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="schedules")
    source = models.OneToOneField(SiteSource, on_delete=models.CASCADE, null=True, blank=True, related_name="schedule")
    enabled = models.BooleanField(default=True)
    cron = models.CharField(max_length=100)
    whole_site = models.BooleanField(default=False, db_default=False)
    next_at = models.DateTimeField()
    planned_at = models.DateTimeField()
    planned_in = models.CharField(max_length=64)
    last_at = models.DateTimeField(null=True, blank=True)
    last_run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    error = models.TextField(blank=True, default="")
    failed_since = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["project"], condition=models.Q(source=None), name="schedule_one_for_the_match"
            ),
            models.CheckConstraint(condition=~models.Q(cron=""), name="schedule_has_cron"),
            models.CheckConstraint(
                condition=models.Q(source=None) | models.Q(whole_site=False), name="schedule_whole_site_of_the_match"
            ),
        ]
        indexes = [models.Index(fields=["next_at"], condition=models.Q(enabled=True), name="schedule_due")]

    def __str__(self) -> str:
        return f"{self.source or 'Match'}: {self.cron}"

    @property
    def is_due(self) -> bool:
        """Whether its time has come and it waits: for a run that is under way, or for a worker."""
        return self.enabled and self.next_at <= timezone.now()
