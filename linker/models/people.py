"""How people come to a project and sign in, and what experts are named for."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from linker.models.page import Category
from linker.models.project import Membership, Project, Role


class Invitation(models.Model):
    """A link by which one person becomes a member (linker.projects.invitations). Of the link only the hash is kept.

    It is used once, until a moment, and a manager may take it back before. Rows are kept.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations", db_index=False)
    role = models.CharField(max_length=8, choices=Role.choices, default=Role.EDITOR)
    email = models.EmailField(blank=True, default="", help_text="Whom it is meant for, for the list")
    token_hash = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    used_at = models.DateTimeField(null=True)
    revoked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="invitation_role_known"),
            models.CheckConstraint(
                condition=models.Q(used_at__isnull=True, used_by__isnull=True)
                | models.Q(used_at__isnull=False, used_by__isnull=False, revoked_at__isnull=True),
                name="invitation_used_by_somebody",
            ),
            models.CheckConstraint(
                condition=models.Q(revoked_at__isnull=True, revoked_by__isnull=True)
                | models.Q(revoked_at__isnull=False, revoked_by__isnull=False),
                name="invitation_revoked_by_somebody",
            ),
        ]
        indexes = [models.Index(fields=["project", "-id"], name="invitation_recent")]  # the list in the settings

    def __str__(self) -> str:
        return f"invitation to {self.project} as {self.role}"


class ExpertSection(models.Model):
    """A category, with everything below it, that a member with the role of an expert may approve for.

    See linker.projects.experts.
    """

    membership = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="sections", db_index=False)
    category = models.ForeignKey(Category, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["membership", "category"], name="expert_section_once")]

    def __str__(self) -> str:
        return f"{self.membership} for {self.category}"


class Identity(models.Model):
    """Who a user is to a provider of OpenID Connect: `subject` never changes there, names and addresses may."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=300)
    subject = models.CharField(max_length=255)

    class Meta:
        verbose_name_plural = "identities"
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="identity_once")]

    def __str__(self) -> str:
        return f"{self.user} at {self.issuer}"
