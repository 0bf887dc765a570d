"""What editors do not want to be suggested any more: pairs, words, sections and pages. The one home of that rule.

`in_force_sql` says when a row of it still holds, `freed_sql` which rejected pairs may be suggested again, `COVERED`
which suggestions fall under a row. A match run, the queue, a release and the answer to "why not" all ask here.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import BooleanField, Q
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext_lazy as _

from linker.models.edge import CandidateEdge
from linker.models.page import Category, Page
from linker.models.project import Project
from linker.models.querysets import OPEN, sql
from linker.models.subtrees import inside_sql

if TYPE_CHECKING:
    from collections.abc import Sequence


class SuppressedKind(models.TextChoices):
    """What is not suggested. Each but the first also hides the pair of the suggestion that it was said of."""

    PAIR = "pair", _("This pair")
    WORDS = "words", _("These words for an acceptor")
    SECTION = "section", _("An acceptor from a section")
    PAGE = "page", _("Any more links on a donor")


class Reach(models.TextChoices):
    """For how long."""

    GOOD = "good", _("for good")
    CHANGED = "changed", _("until either page changes")
    DAYS = "days", _("for 90 days")


REACH_DAYS = 90


class Suppression(models.Model):
    """What the rejection of the suggestion `edge` keeps from being suggested again.

    `source` and `target` are the pages of the suggestion; with `WORDS` it is `words` (by `word_set`; `anchor` as they
    were written) for the target, with `SECTION` the target from all donors in the category `section`, with `PAGE` the
    source as a donor. It holds for good, until `ends_at`, or as long as both pages have the texts of these hashes.

    Nothing is deleted: who allows it again writes `lifted_by` and `lifted_at`; who takes that back, a new row.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="suppressions", db_index=False)
    kind = models.CharField(max_length=8, choices=SuppressedKind.choices)
    reach = models.CharField(max_length=8, choices=Reach.choices)
    edge = models.ForeignKey(CandidateEdge, on_delete=models.CASCADE, related_name="suppressions")
    source = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="+")
    target = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="+")
    section = models.ForeignKey(Category, on_delete=models.CASCADE, null=True, related_name="+")
    words = models.TextField(blank=True, default="")
    anchor = models.TextField(blank=True, default="")
    ends_at = models.DateTimeField(null=True)
    source_hash = models.BigIntegerField(null=True)
    target_hash = models.BigIntegerField(null=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)
    lifted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    lifted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=SuppressedKind.values), name="suppression_kind_known"),
            models.CheckConstraint(condition=Q(reach__in=Reach.values), name="suppression_reach_known"),
            models.CheckConstraint(
                condition=Q(kind=SuppressedKind.WORDS) & ~Q(words="") | ~Q(kind=SuppressedKind.WORDS) & Q(words=""),
                name="suppression_names_its_words",
            ),
            models.CheckConstraint(
                condition=Q(kind=SuppressedKind.SECTION, section__isnull=False)
                | ~Q(kind=SuppressedKind.SECTION) & Q(section__isnull=True),
                name="suppression_names_its_section",
            ),
            models.CheckConstraint(
                condition=Q(reach=Reach.DAYS, ends_at__isnull=False) | ~Q(reach=Reach.DAYS) & Q(ends_at__isnull=True),
                name="suppression_names_its_end",
            ),
            models.CheckConstraint(
                condition=Q(reach=Reach.CHANGED, source_hash__isnull=False, target_hash__isnull=False)
                | ~Q(reach=Reach.CHANGED) & Q(source_hash__isnull=True, target_hash__isnull=True),
                name="suppression_names_its_texts",
            ),
            models.CheckConstraint(
                condition=Q(lifted_by__isnull=True, lifted_at__isnull=True)
                | Q(lifted_by__isnull=False, lifted_at__isnull=False),
                name="suppression_lifted_by_somebody",
            ),
        ]
        indexes = [
            # The list, and the list of one kind; those beyond pairs, which are few, for a match run.
            models.Index(fields=["project", "-id"], condition=Q(lifted_at__isnull=True), name="suppression_list"),
            models.Index(
                fields=["project", "kind", "-id"], condition=Q(lifted_at__isnull=True), name="suppression_list_of_kind"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.get_reach_display()}"

    @property
    def is_lifted(self) -> bool:
        return self.lifted_at is not None


def in_force_sql(row: str) -> str:
    """SQL: whether the suppression of this alias still holds."""
    return (
        f"({row}.lifted_at IS NULL AND ({row}.ends_at IS NULL OR {row}.ends_at > now()) AND ({row}.reach <> 'changed' "
        f"OR EXISTS (SELECT FROM linker_page p WHERE p.id = {row}.source_id AND p.body_hash = {row}.source_hash) "
        f"AND EXISTS (SELECT FROM linker_page p WHERE p.id = {row}.target_id AND p.body_hash = {row}.target_hash)))"
    )


IN_FORCE = RawSQL(in_force_sql("linker_suppression"), [], output_field=BooleanField())  # noqa: S611 - a constant


def freed_sql(edge: str) -> str:
    """SQL: whether the rejected edge of this alias may be suggested again: what suppressed it has ended, all of it. A
    rejection that no suppression was written for, as in data from before there were any, holds for good."""
    of_edge = f"SELECT FROM linker_suppression s WHERE s.edge_id = {edge}.id"
    return f"(EXISTS ({of_edge}) AND NOT EXISTS ({of_edge} AND {in_force_sql('s')}))"


# Pairs of `donors`, an array of ids, with acceptors that are not suggested from their section.
OF_SECTIONS = f"""
SELECT donor.id AS source_id, s.target_id
FROM linker_suppression s JOIN linker_category section ON section.id = s.section_id
JOIN linker_category c ON {inside_sql("c", "section")}
JOIN linker_page donor ON donor.category_id = c.id
WHERE s.kind = 'section' AND {in_force_sql("s")}
"""

# Open suggestions that fall under a suppression `s`. Words are compared by `word_set`: the anchors of open suggestions
# that say ruled-out words come along, each with the suppression.
COVERED = f"""
SELECT e.id, s.id AS suppression FROM linker_suppression s
JOIN linker_candidateedge e ON e.project_id = s.project_id AND e.source_id = s.source_id
WHERE s.kind = 'page' AND {sql(OPEN, "e")} AND {in_force_sql("s")} AND {{asked}}
UNION ALL
SELECT e.id, s.id FROM linker_suppression s JOIN linker_category section ON section.id = s.section_id
JOIN linker_candidateedge e ON e.project_id = s.project_id AND e.target_id = s.target_id
JOIN linker_page donor ON donor.id = e.source_id JOIN linker_category c ON c.id = donor.category_id
WHERE s.kind = 'section' AND {inside_sql("c", "section")} AND {sql(OPEN, "e")} AND {in_force_sql("s")} AND {{asked}}
UNION ALL
SELECT e.id, s.id FROM linker_suppression s
JOIN unnest(%(said_by)s::bigint[], %(said)s::text[]) said (suppression, anchor) ON said.suppression = s.id
JOIN linker_candidateedge e ON e.project_id = s.project_id AND e.target_id = s.target_id AND e.anchor = said.anchor
WHERE s.kind = 'words' AND {sql(OPEN, "e")} AND {in_force_sql("s")} AND {{asked}}
"""


def ruled_out_words(project: Project, targets: Sequence[int] | None = None) -> dict[int, frozenset[str]]:
    """By target, the words that no new link to it may say, as `word_set` has them; those of `targets`, or all."""
    rows = Suppression.objects.filter(IN_FORCE, project=project, kind=SuppressedKind.WORDS)
    if targets is not None:
        rows = rows.filter(target__in=targets)
    found: dict[int, set[str]] = defaultdict(set)
    for target, words in rows.values_list("target", "words"):
        found[target].add(words)
    return {target: frozenset(words) for target, words in found.items()}
