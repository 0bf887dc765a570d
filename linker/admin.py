"""Django's administration of the core: for the staff who run the installation, across projects.

Policies are saved by the functions the project's own settings pages call, so that suggestions follow at once. What
imports and runs wrote is only shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import transaction

from linker import audit
from linker.matching.section_caps import CAPS
from linker.models import (
    BarredPair,
    Category,
    Change,
    ChangeKind,
    ExclusionRule,
    Gate,
    Identity,
    KeptBounds,
    KeptRun,
    Membership,
    Notification,
    Page,
    Project,
    RoleRule,
    Run,
    RunComparison,
    SafetyClass,
    SectionCap,
    SensitiveRule,
    Suppression,
    Tier,
)
from linker.projects.create import SETTINGS, create_project, save_project
from linker.projects.policies.exclusions import add_exclusion, remove_exclusion
from linker.projects.policies.roles import add_role_rule, remove_role_rule
from linker.projects.policies.sensitive import add_sensitive, remove_sensitive
from linker.projects.policies.tiers import change_tiers
from linker.web.forms.fields import PatternField
from linker.web.forms.sensitive import WordField, check_names_one_thing
from linker.web.forms.tiers import TierForm

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet
    from django.http import HttpRequest


class ReadOnlyAdmin(admin.ModelAdmin):
    """Shows rows; none can be added, changed or deleted."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def _roles(project: Project) -> Iterable[tuple[str, str]]:
    return Membership.objects.filter(project=project).values_list("user__username", "role")


class MembershipInline(admin.TabularInline):
    model = Membership
    autocomplete_fields = ["user"]
    extra = 1


@admin.register(Identity)
class IdentityAdmin(admin.ModelAdmin):
    """Who may sign in as whom through OpenID Connect: an operator can tie an account to a subject, and untie it."""

    list_display = ["user", "issuer", "subject"]
    search_fields = ["user__username", "subject"]
    autocomplete_fields = ["user"]


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin):
    """A project is not deleted here: its decisions are append-only."""

    list_display = ["name", "slug", "base_url", "model_name", "created_at"]
    search_fields = ["name", "slug", "base_url"]
    prepopulated_fields = {"slug": ["name"]}
    inlines = [MembershipInline]

    def get_fieldsets(self, request: HttpRequest, obj: Project | None = None) -> Any:
        return [
            (
                None,
                {
                    "fields": ["name", "slug", "base_url"],
                    "description": "A project cannot be deleted, because its decisions are kept for good. "
                    "Take its members away and nobody sees it any more.",
                },
            ),
            ("Addresses", {"fields": ["trailing_slash", "www", "parameter_urls"]}),
            ("Review", {"fields": ["queue_order", "gap_links", "line_wording"]}),
            ("Vectors", {"fields": ["vector_source", "model_name", "text_recipe"]}),
            (
                "Anchors",
                {
                    "fields": [
                        "title_patterns",
                        "banned_anchors",
                        "anchor_max_length",
                        "identical_anchor_limit",
                        "anchor_repeats",
                        "query_blend",
                    ]
                },
            ),
        ]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        if not change:
            made = create_project(slug=obj.slug, name=obj.name, base_url=obj.base_url)
            obj.pk, obj.base_url, obj.created_at = made.pk, made.base_url, made.created_at
            obj._state.adding = False
        save_project(obj, request.user, form.changed_data if change else SETTINGS)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Members, in the log of changes as those that managers change."""
        with transaction.atomic():
            before = dict(_roles(form.instance))
            formset.save()
            after = dict(_roles(form.instance))
            audit.record(form.instance, ChangeKind.MEMBERS, user=request.user, before=before, after=after)


class OfProjectAdmin(admin.ModelAdmin):
    """Rows that belong to a project and stay with it."""

    autocomplete_fields = ["project"]
    list_select_related = ["project"]
    list_filter = ["project"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return [] if obj is None else ["project"]


class TierAdminForm(TierForm):
    class Meta(TierForm.Meta):
        fields = ["project", "basis", *TierForm.Meta.fields]


@admin.register(Tier)
class TierAdmin(OfProjectAdmin):
    """Saving or deleting a tier reads the tier of every suggestion again."""

    form = TierAdminForm
    list_display = [
        "name",
        "project",
        "basis",
        "lower_bound",
        "placement",
        "rel",
        "confirmed_rel",
        "export_unreviewed",
        "held",
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return [] if obj is None else ["project", "basis"]

    def save_model(self, request: HttpRequest, obj: Tier, form: Any, change: bool) -> None:
        change_tiers(obj.project, [obj], user=request.user)

    def delete_model(self, request: HttpRequest, obj: Tier) -> None:
        change_tiers(obj.project, [], [obj], user=request.user)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Tier]) -> None:
        for project in Project.objects.filter(tiers__in=queryset).distinct():
            change_tiers(project, [], list(queryset.filter(project=project)), user=request.user)


class SensitiveAdminForm(forms.ModelForm):
    word = WordField(required=False)
    url_pattern = PatternField(required=False)

    class Meta:
        model = SensitiveRule
        fields = ["project", "kind", "word", "category", "url_pattern"]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        category, project = values.get("category"), values.get("project") or getattr(self.instance, "project", None)
        if category is not None and project is not None and category.project_id != project.pk:
            raise ValidationError({"category": f"This category belongs to another project than {project}."})
        return check_names_one_thing(self, values)


@admin.register(SensitiveRule)
class SensitiveRuleAdmin(OfProjectAdmin):
    """Saving or deleting a rule marks the suggestions again; deleting one that an import proposed dismisses it."""

    form = SensitiveAdminForm
    list_display = ["__str__", "project", "kind", "state", "pages"]
    list_filter = ["project", "kind", "state"]
    list_select_related = ["project", "category"]
    autocomplete_fields = ["project", "category"]

    def save_model(self, request: HttpRequest, obj: SensitiveRule, form: Any, change: bool) -> None:
        add_sensitive(obj, request.user)

    def delete_model(self, request: HttpRequest, obj: SensitiveRule) -> None:
        remove_sensitive(obj.project, obj.pk, request.user)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[SensitiveRule]) -> None:
        for rule in queryset.select_related("project"):
            self.delete_model(request, rule)


class ExclusionAdminForm(forms.ModelForm):
    pattern = PatternField()

    class Meta:
        model = ExclusionRule
        fields = ["project", "pattern", "side", "note"]


@admin.register(ExclusionRule)
class ExclusionRuleAdmin(OfProjectAdmin):
    form = ExclusionAdminForm
    list_display = ["pattern", "project", "side", "note"]
    search_fields = ["pattern", "note"]

    def save_model(self, request: HttpRequest, obj: ExclusionRule, form: Any, change: bool) -> None:
        add_exclusion(obj, request.user)

    def delete_model(self, request: HttpRequest, obj: ExclusionRule) -> None:
        remove_exclusion(obj.project, obj.pk, request.user)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ExclusionRule]) -> None:
        for rule in queryset.select_related("project"):
            self.delete_model(request, rule)


class RoleRuleAdminForm(forms.ModelForm):
    pattern = PatternField()

    class Meta:
        model = RoleRule
        fields = ["project", "pattern", "role", "note"]


@admin.register(RoleRule)
class RoleRuleAdmin(OfProjectAdmin):
    """Saving or deleting a rule gives the pages their roles."""

    form = RoleRuleAdminForm
    list_display = ["pattern", "project", "role", "note"]
    search_fields = ["pattern", "note"]

    def save_model(self, request: HttpRequest, obj: RoleRule, form: Any, change: bool) -> None:
        add_role_rule(obj, request.user)

    def delete_model(self, request: HttpRequest, obj: RoleRule) -> None:
        remove_role_rule(obj.project, obj.pk, request.user)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[RoleRule]) -> None:
        for rule in queryset.select_related("project"):
            self.delete_model(request, rule)


@admin.register(Category)
class CategoryAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "project", "depth"]
    ordering = ["project", "path"]
    list_select_related = ["project"]
    list_filter = ["project"]
    search_fields = ["name"]
    fields = ["project", "path", "parent"]


@admin.register(Page)
class PageAdmin(ReadOnlyAdmin):
    list_display = ["url", "project", "title", "status", "indexable", "last_seen_at"]
    list_select_related = ["project"]
    list_filter = ["project", "status", "indexable"]
    search_fields = ["url", "title"]


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "project", "status", "created_by", "created_at", "finished_at"]
    list_select_related = ["project", "created_by"]
    list_filter = ["project", "kind", "status"]


@admin.register(KeptRun)
class KeptRunAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "links", "donors", "pinned_by", "pinned_at"]
    list_select_related = ["run__project", "pinned_by"]
    list_filter = ["run__project"]


@admin.register(RunComparison)
class RunComparisonAdmin(ReadOnlyAdmin):
    list_display = ["id", "run", "before", "made_at"]
    list_select_related = ["run__run", "before__run"]
    list_filter = ["run__run__project"]


@admin.register(KeptBounds)
class KeptBoundsAdmin(ReadOnlyAdmin):
    list_display = ["id", "project", "run", "before", "user", "at"]
    list_select_related = ["project", "run", "before", "user"]
    list_filter = ["project"]


@admin.register(SafetyClass)
class SafetyClassAdmin(ReadOnlyAdmin):
    list_display = ["name", "project", "category", "url_pattern", "page_list", "ended_at"]
    list_select_related = ["project", "category", "page_list"]
    list_filter = ["project"]


@admin.register(BarredPair)
class BarredPairAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "project", "reason", "made_by", "made_at", "ended_at"]
    list_select_related = ["project", "source", "target", "made_by"]
    list_filter = ["project"]


@admin.register(Gate)
class GateAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "project", "made_by", "made_at", "ended_at"]
    list_select_related = ["project", "page_list", "category", "safety_class", "made_by"]
    list_filter = ["project"]


@admin.register(SectionCap)
class SectionCapAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "project", *CAPS, "made_by", "made_at", "ended_at"]
    list_select_related = ["project", "category", "made_by"]
    list_filter = ["project"]


@admin.register(Suppression)
class SuppressionAdmin(ReadOnlyAdmin):
    list_display = ["id", "project", "kind", "reach", "made_by", "made_at", "lifted_by", "lifted_at"]
    list_select_related = ["project", "made_by", "lifted_by"]
    list_filter = ["project", "kind", "reach"]


@admin.register(Notification)
class NotificationAdmin(ReadOnlyAdmin):
    list_display = ["id", "user", "kind", "subject", "made_at", "due_at", "sent_at", "tries"]
    list_select_related = ["user"]
    list_filter = ["kind"]
    search_fields = ["user__username", "subject"]


@admin.register(Change)
class ChangeAdmin(ReadOnlyAdmin):
    """The log of changes."""

    list_display = ["id", "project", "at", "user", "kind", "subject"]
    list_select_related = ["project", "user"]
    list_filter = ["project", "kind"]
    search_fields = ["subject"]
