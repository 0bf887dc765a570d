"""What an editor has put off until later. Registered through review.models."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from linker.models import CandidateEdge, Project


class SetAside(models.Model):
    """A suggestion that an editor wants to see later: it leaves that editor's list, and no other's.

    The row outlives a decision, which it is hidden by: whoever undoes that finds the suggestion where it was.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    edge = models.ForeignKey(CandidateEdge, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user", "edge"], name="set_aside_once")]


class OperationKey(models.Model):
    """The browser's own name of something that leaves no row of its own once it is taken back: a suggestion set aside,
    a request for an opinion, and both taken back. Sent a second time, it is answered and not done again."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    edge = models.BigIntegerField(help_text="The suggestion, or the card whose answer is known")
    key = models.UUIDField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user", "key"], name="operation_key_once")]
