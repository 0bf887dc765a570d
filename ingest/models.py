"""Uploaded files."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.db import models

from linker.models import Project


class Upload(models.Model):
    """A file to import: `path` is relative to UPLOAD_ROOT for a browser's upload, absolute for the command line's, and
    empty where the file was removed (see ingest.files.uploads).

    `mapping` and `encoding` are what the user confirmed last; each run freezes its own copy.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="uploads")
    kind = models.CharField(max_length=30, help_text="The name of a kind of import: ingest.kinds.registry")
    name = models.CharField(max_length=255, help_text="As the user's file was called")
    path = models.TextField()
    bytes = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    mapping = models.JSONField(default=dict, blank=True)
    encoding = models.CharField(max_length=20, blank=True, default="")
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

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
