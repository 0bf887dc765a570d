"""Django's administration of people, and of what they decided, released and judged, which is only shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.db.models import Q

from linker.admin import ReadOnlyAdmin
from review.models import (
    Alert,
    AlertClosing,
    Assignment,
    Comment,
    Decision,
    Judgement,
    KnownReading,
    PublishedLink,
    Release,
    ReleaseDraft,
    RolloutRule,
    Sample,
    SampleLink,
    SecondReading,
)

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


@admin.register(ReleaseDraft)
class ReleaseDraftAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "project", "created_at", "created_by", "back_to", "release", "discarded_at"]
    list_select_related = ["project", "created_by", "back_to", "release"]
    list_filter = ["project"]


@admin.register(PublishedLink)
class PublishedLinkAdmin(ReadOnlyAdmin):
    list_display = ["edge_id", "project", "release", "is_out", "anchor", "rel", "state", "since", "owner", "closed_at"]
    list_select_related = ["project", "release", "owner"]
    list_filter = ["project", "state", "is_out"]


@admin.register(RolloutRule)
class RolloutRuleAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "project", "stage", "share"]
    list_select_related = ["project", "category"]
    list_filter = ["project", "stage"]


@admin.register(Sample)
class SampleAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "project", "run", "seed", "since", "until"]
    list_select_related = ["project", "run"]
    list_filter = ["project", "kind"]


@admin.register(SampleLink)
class SampleLinkAdmin(ReadOnlyAdmin):
    list_display = ["id", "project", "sample", "edge_id", "place", "turn", "reader", "drawn_from", "tier", "grade"]
    list_select_related = ["project", "sample", "reader"]
    list_filter = ["project", "drawn_from", "grade"]


@admin.register(Judgement)
class JudgementAdmin(ReadOnlyAdmin):
    list_display = ["id", "link_id", "judge", "at", "grade", "reason", "note", "undoes_id"]
    list_select_related = ["judge"]
    list_filter = ["link__project", "grade"]
    search_fields = ["judge__username", "note"]


@admin.register(Alert)
class AlertAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "project", "raised_at", "closed_at"]
    list_select_related = ["project"]
    list_filter = ["project", "kind"]


@admin.register(AlertClosing)
class AlertClosingAdmin(ReadOnlyAdmin):
    list_display = ["alert", "user", "at", "note"]
    list_select_related = ["alert", "user"]
    list_filter = ["alert__project"]
