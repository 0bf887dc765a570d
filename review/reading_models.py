"""What two people read, and what is given to whom. Registered through review.models."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from linker.models import CandidateEdge, KnownAnswer, Project


class DueReading(models.Model):
    """A decision whose suggestion another editor is to read, who does not see the decision. It is no log: the row goes
    when the suggestion has been read, or when the decision is taken back."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    edge = models.OneToOneField(CandidateEdge, on_delete=models.CASCADE, related_name="+")
    decision = models.OneToOneField("review.Decision", on_delete=models.CASCADE, related_name="+")
    reader = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", help_text="Who has read it first"
    )

    class Meta:
        indexes = [models.Index(fields=["project", "id"], name="due_reading_oldest")]  # what is offered next


class Reading(models.Model):
    """What somebody says of a card that is no decision and changes nothing else.

    Append-only, as decisions are: one that is taken back is named by a row with the verb "undo".
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    reader = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    verb = models.CharField(max_length=8)  # of review.models.Verb
    reason = models.CharField(max_length=16, blank=True, default="")
    anchor = models.TextField(help_text="The words that it was read with, or that it was given")
    key = models.UUIDField(null=True, blank=True)  # as a decision's
    undoes = models.OneToOneField("self", on_delete=models.PROTECT, null=True, blank=True, related_name="undone_by")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.verb} by {self.reader}"


def key_once(name: str) -> models.UniqueConstraint:
    """What is sent twice is kept once."""
    return models.UniqueConstraint(
        fields=["project", "reader", "key"], condition=models.Q(key__isnull=False), name=f"{name}_reading_key_once"
    )


def reading_indexes(name: str) -> list[models.Index]:
    return [
        models.Index(fields=["project", "at"], name=f"{name}_reading_by_day"),
        models.Index(fields=["project", "reader", "at"], name=f"{name}_reading_of_user_by_day"),
    ]


class SecondReading(Reading):
    """What a second editor says of a suggestion without seeing the first decision on it."""

    edge = models.ForeignKey(CandidateEdge, on_delete=models.CASCADE, related_name="+")
    first = models.ForeignKey("review.Decision", on_delete=models.CASCADE, related_name="second_readings")
    first_reader = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    note = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(reader=models.F("first_reader")), name="second_reading_by_another"
            ),
            models.CheckConstraint(
                condition=models.Q(verb="undo", undoes__isnull=False)
                | models.Q(verb__in=["accept", "edit", "reject"], undoes__isnull=True),
                name="second_reading_undo_names_one",
            ),
            key_once("second"),
        ]
        indexes = reading_indexes("second")


class KnownReading(Reading):
    """What an editor says of a card whose answer is known: the site has the link.

    Besides the verbs of decisions there are "aside" (set aside for later) and "ask" (for an opinion), after which the
    card does not come to this person again, and "comment", with what was written in `note`.
    """

    answer = models.ForeignKey(KnownAnswer, on_delete=models.CASCADE, related_name="readings")
    note = models.CharField(max_length=2000, blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(verb="undo", undoes__isnull=False)
                | models.Q(verb__in=["accept", "edit", "reject", "aside", "ask", "comment"], undoes__isnull=True),
                name="known_reading_undo_names_one",
            ),
            key_once("known"),
        ]
        indexes = reading_indexes("known")


class Assignment(models.Model):
    """A list of the queue that a manager gives to a person: what a filter holds, until a day.

    It is kept when it is closed, by the person or by a manager.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="assignments", db_index=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=200, help_text="The list in words, as it was given")
    query = models.CharField(max_length=2000, blank=True, help_text="The query string of the queue")
    due = models.DateField()
    note = models.CharField(max_length=500, blank=True, default="")
    given_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    given_at = models.DateTimeField(auto_now_add=True)
    closed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["due", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(closed_at__isnull=True, closed_by__isnull=True)
                | models.Q(closed_at__isnull=False, closed_by__isnull=False),
                name="assignment_closed_by_somebody",
            ),
        ]
        indexes = [
            models.Index(
                fields=["project", "due", "id"], condition=models.Q(closed_at__isnull=True), name="assignment_open"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} to {self.person}"
