"""Django's administration of people, decisions and releases. Decisions and releases are only shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User

from linker.admin import ReadOnlyAdmin
from review.models import Decision, Release

if TYPE_CHECKING:
    from django.http import HttpRequest

admin.site.unregister(User)


@admin.register(User)
class EditorAdmin(UserAdmin):
    """Django's own; but who has decided is deactivated, not deleted, because decisions name them for good."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        allowed = super().has_delete_permission(request, obj)
        # Without an object the question is about the bulk action, which would not ask for each.
        return allowed and obj is not None and not Decision.objects.filter(user=obj).exists()


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
