"""Pages that are one page more than once, in groups, and what managers said about that."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from linker.models.page import Page
from linker.models.project import Project
from linker.models.run import Run
from linker.wording import in_english


class TwinKind(models.TextChoices):
    """What a page is to its group's first (linker.engine.copies.duplicate_pairs.Kind)."""

    COPY = "copy", _("Near-copy")
    VARIANT = "variant", _("Variant")
    TRANSLATION = "translation", _("Translation")


class PageGroup(models.Model):
    """Near-copies, variants or translations of one page, as a match run found them; each run makes all groups again.

    `kind` is what most of its pages are to the first; `pages` counts them all.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="page_groups", db_index=False)
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="+", db_index=False)
    kind = models.CharField(max_length=12, choices=TwinKind.choices)
    pages = models.IntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__in=TwinKind.values), name="page_group_kind_known"),
            models.CheckConstraint(condition=models.Q(pages__gte=2), name="page_group_of_two"),
        ]
        indexes = [
            # The list of groups, all or of one kind, the largest first.
            models.Index(fields=["project", "-pages", "id"], name="page_group_list"),
            models.Index(fields=["project", "kind", "-pages", "id"], name="page_group_list_of_kind"),
            models.Index(fields=["run"], name="page_group_by_run"),
        ]

    def __str__(self) -> str:
        return f"{in_english(TwinKind(self.kind).label)} of {self.pages} pages"


class PageTwin(models.Model):
    """A page in its group; a page is in one at most.

    `near`: the share of the words that it has in common with a page of the group, null where that did not decide.
    `lead`: the page that stands for the group. `receives`: whether suggestions may lead to it.
    """

    group = models.ForeignKey(PageGroup, on_delete=models.CASCADE, related_name="twins", db_index=False)
    page = models.OneToOneField(Page, on_delete=models.CASCADE, related_name="twin")
    kind = models.CharField(max_length=12, choices=TwinKind.choices)
    near = models.FloatField(null=True, blank=True)
    lead = models.BooleanField(default=False)
    receives = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__in=TwinKind.values), name="page_twin_kind_known"),
            models.CheckConstraint(
                condition=models.Q(near=None) | models.Q(near__gte=0.0, near__lte=1.0), name="page_twin_near_is_share"
            ),
            models.UniqueConstraint(fields=["group"], condition=models.Q(lead=True), name="page_twin_one_lead"),
            models.CheckConstraint(
                condition=models.Q(lead=False) | models.Q(receives=True), name="page_twin_lead_receives"
            ),
        ]
        indexes = [models.Index(fields=["group", "-lead", "page"], name="page_twin_of_group")]


class NotTheSame(models.Model):
    """A manager's word that pages which were found to be the same are not. Kept for all later runs."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="not_the_same")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)


class ApartPage(models.Model):
    """A page that such a word is about. Pages of one word that are on different sides are never put in one group."""

    word = models.ForeignKey(NotTheSame, on_delete=models.CASCADE, related_name="pages", db_index=False)
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="+")
    side = models.IntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["word", "page"], name="apart_page_once")]
