"""Django's administration of people, decisions and releases. Decisions and releases are only shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.db.models import Q

from linker.admin import ReadOnlyAdmin
from review.models import Assignment, Comment, Decision, KnownReading, Release, SecondReading

if TYPE_CHECKING:
    from django.http import HttpRequest

admin.site.unregister(User)


@admin.register(User)
class EditorAdmin(UserAdmin):
    """Django's own; but who has decided, commented or given anything is deactivated, not deleted: it stays."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        allowed = super().has_delete_permission(request, obj)
        # Without an object the question is about the bulk action, which would not ask for each.
        if not allowed or obj is None:
            return False
        return not any(
            rows.exists()
            for rows in (
                Decision.objects.filter(user=obj),
                Comment.objects.filter(author=obj),
                SecondReading.objects.filter(reader=obj),
                KnownReading.objects.filter(reader=obj),
                Assignment.objects.filter(Q(given_by=obj) | Q(closed_by=obj)),
            )
        )


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    list_display = ["id", "project", "at", "user", "verb", "reason", "donor", "anchor_after", "acceptor"]
    list_select_related = ["project", "user", "edge__source", "edge__target"]
    list_filter = ["project", "verb", "reason"]
    search_fields = ["user__username", "anchor_after"]
    ordering = ["-id"]

    def donor(self, decision: Decision) -> str:
        return decision.edge.source.url

    def acceptor(self, decision: Decision) -> str:
        return decision.edge.target.url


@admin.register(Release)
class ReleaseAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "project", "created_at", "created_by", "format", "links", "bytes", "sha256"]
    list_select_related = ["project", "created_by"]
    list_filter = ["project", "format"]
