"""What a project's managers are told of by itself. Registered through review.models."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from linker.models import Project


class AlertKind(models.TextChoices):
    NEAR_BOUND = "near", _("Suggestions near a bound")
    DONOR = "donor", _("A donor gains many links")
    ANCHORS = "anchors", _("The links to a page say the same")
    HISTOGRAM = "histogram", _("The ranking moved")
    ACCEPTANCE = "acceptance", _("Fewer suggestions are accepted")
    LOST = "lost", _("Links were lost")
    DEAD = "dead", _("Links lead nowhere")
    STUCK = "stuck", _("Links wait for somebody")
    SHRUNK = "shrunk", _("The queue shrank")


class Alert(models.Model):
    """Something that a manager should look at. `cause` says of what: while it is open, it is not raised again.

    `found` holds the numbers that its sentence names, as they were when it was raised.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="alerts", db_index=False)
    kind = models.CharField(max_length=12, choices=AlertKind.choices)
    cause = models.CharField(max_length=60, blank=True, default="")
    found = models.JSONField(default=dict)
    raised_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "kind", "cause"], condition=models.Q(closed_at__isnull=True), name="alert_open_once"
            ),
            models.CheckConstraint(condition=models.Q(kind__in=AlertKind.values), name="alert_kind_known"),
        ]
        indexes = [
            models.Index(fields=["project", "-id"], name="alert_newest"),
            models.Index(
                fields=["project", "-closed_at"], condition=models.Q(closed_at__isnull=False), name="alert_closed_last"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.cause}"


class AlertClosing(models.Model):
    """Who closed an alert, and why. Append-only."""

    alert = models.OneToOneField(Alert, on_delete=models.CASCADE, related_name="closing")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    note = models.CharField(max_length=500)

    class Meta:
        constraints = [models.CheckConstraint(condition=~models.Q(note=""), name="alert_closed_with_a_word")]

    def __str__(self) -> str:
        return self.note
