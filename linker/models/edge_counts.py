"""How many edges there are of which kind, kept so that nobody has to count them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q, Sum
from django.db.models.functions import Coalesce

from linker.models.edge import EdgeStatus, RankedBy
from linker.models.page import Category
from linker.models.policy import Placement, Tier
from linker.models.project import Project

if TYPE_CHECKING:
    from django.db.models import QuerySet


class EdgeCount(models.Model):
    """`number` edges more, or fewer, of one kind: the sum over the rows of a kind is how many there are.

    Triggers write the rows, in the statement that writes the edges, and never change one: what is a row that everybody
    counts up elsewhere is a row a statement here, so that two editors and a match run do not wait for each other.
    linker.storage.edge_counts adds them up every now and then. The columns are called as those of an edge, so that most
    rules of linker.models.querysets hold of a row as they hold of an edge. `category` is the donor's.

    No key refers to another table: it would be checked for each row, and a project that goes takes its counts along by
    a trigger.
    """

    project = models.ForeignKey(
        Project, on_delete=models.DO_NOTHING, related_name="edge_counts", db_constraint=False, db_index=False
    )
    category = models.ForeignKey(
        Category, on_delete=models.DO_NOTHING, null=True, related_name="+", db_constraint=False, db_index=False
    )
    tier = models.ForeignKey(
        Tier, on_delete=models.DO_NOTHING, null=True, related_name="+", db_constraint=False, db_index=False
    )
    status = models.CharField(max_length=10, choices=EdgeStatus.choices)
    placement = models.CharField(max_length=8, choices=Placement.choices)
    content_gap = models.BooleanField()
    # Of undecided ones, whether a paragraph is known that a line could follow; of decided ones, whether it is a line.
    has_line = models.BooleanField(default=False, db_default=False)
    is_sensitive = models.BooleanField()
    stale = models.BooleanField()
    ranked_by = models.CharField(max_length=8, choices=RankedBy.choices)
    number = models.BigIntegerField()

    class Meta:
        # Read by project, and by category where few of its categories are asked for.
        indexes = [models.Index(fields=["project", "category"], name="edge_count_of_project")]


def total(condition: Q | None = None) -> Coalesce:
    """The number of edges in the rows that meet the condition, for `aggregate` and `annotate`."""
    return Coalesce(Sum("number", filter=condition), 0, output_field=models.BigIntegerField())


def kept_counts(project: Project) -> QuerySet[EdgeCount]:
    return EdgeCount.objects.filter(project=project)
