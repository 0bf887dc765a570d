"""Mails: which ones a person wants, and those that are still to be sent."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Wanted(models.TextChoices):
    NOT = "not", _("No mail")
    ONCE = "once", _("At once")
    DAILY = "daily", _("Once a day")


class MailSettings(models.Model):
    """Which mails a person wants, a field for each linker.notifications.Kind. Without a row the defaults hold."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mail_settings")
    asked = models.CharField(max_length=5, choices=Wanted.choices, default=Wanted.ONCE)
    assigned = models.CharField(max_length=5, choices=Wanted.choices, default=Wanted.NOT)
    alert = models.CharField(max_length=5, choices=Wanted.choices, default=Wanted.NOT)
    run_failed = models.CharField(max_length=5, choices=Wanted.choices, default=Wanted.NOT)
    schedule = models.CharField(max_length=5, choices=Wanted.choices, default=Wanted.ONCE, db_default=Wanted.ONCE)
    language = models.CharField(max_length=10, blank=True, default="", help_text="In which the mails are written")

    class Meta:
        verbose_name_plural = "mail settings"


class Notification(models.Model):
    """A mail, or an entry of a daily one, from the moment it is due until it is sent, and some days longer."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10)
    daily = models.BooleanField(default=False)
    subject = models.CharField(max_length=200)
    text = models.TextField()
    url = models.CharField(max_length=2000, help_text="Of the page, without the host")
    made_at = models.DateTimeField(auto_now_add=True)
    due_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)

    class Meta:
        indexes = [
            models.Index(fields=["due_at", "id"], condition=models.Q(sent_at__isnull=True), name="notification_due"),
            models.Index(fields=["sent_at"], condition=models.Q(sent_at__isnull=False), name="notification_sent"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} to {self.user}"
