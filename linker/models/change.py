"""The log of changes: who changed what of a project, from what to what."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from linker.models.project import Project
from linker.wording import in_english


class ChangeKind(models.TextChoices):
    PROJECT = "project", _("Project created")
    SETTINGS = "settings", _("Settings")
    TIERS = "tiers", _("Tiers")
    RANKING = "ranking", _("Ranking")
    SENSITIVE = "sensitive", _("Sensitive pages")
    EXCLUSIONS = "exclusions", _("Exclusions")
    SAFETY = "safety", _("Safety classes")
    GATES = "gates", _("Second person")
    CAPS = "caps", _("Caps")
    ROLES = "roles", _("Page roles")
    LINKS = "links", _("Kinds of links")
    COPIES = "copies", _("Copies and variants")
    MEMBERS = "members", _("Members")
    VECTORS = "vectors", _("Vectors")
    IMPORT = "import", _("Import")
    SOURCES = "sources", _("Sources")
    RELEASE = "release", _("Release")
    RUNS = "runs", _("Runs")


class Change(models.Model):
    """One change, written in the transaction that made it (linker.audit). Append-only: a trigger refuses
    UPDATE and
    DELETE (a purge of a whole project sets `anchorline.purge` first).

    `before` and `after` hold what differs, by name: values of JSON, or one more level of names. A thing that was made
    has an empty `before`, a thing that was removed an empty `after`. `user` is null for the command line.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="changes", db_index=False)
    at = models.DateTimeField(auto_now_add=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=12, choices=ChangeKind.choices)
    subject = models.CharField(max_length=300, blank=True, default="", help_text="What was changed, for people")
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    code_version = models.CharField(max_length=60)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__in=ChangeKind.values), name="change_kind_known"),
        ]
        indexes = [models.Index(fields=["project", "-id"], name="change_recent")]

    def __str__(self) -> str:
        return f"{in_english(ChangeKind(self.kind).label)}: {self.subject}"
