"""How many suggestions a list would hold under each value of a filter, from the counts that are kept."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from linker.models import Placement
from linker.models.edge_counts import total
from linker.models.placements import Stands, standing
from review.queue.filters import ALL, GAP, QueueFilter, Sensitive

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from linker.models import Project


@dataclass(frozen=True)
class Facets:
    """Edges by value of a field, under all other fields of the filter; None where no counts are kept of those.

    `tiers` goes by name and `categories` by path: a category counts what lies below it, too.
    """

    tiers: Counter[str] | None
    categories: Counter[tuple[str, ...]] | None
    sensitive: Counter[str] | None
    placements: Counter[str] | None
    ranked_by: Counter[str] | None


def facets(project: Project, chosen: QueueFilter) -> Facets:
    """One query a field, whatever the size of the project."""
    return Facets(
        tiers=_by(project, chosen, "tier", "tier__name"),
        categories=_subtrees(_by(project, chosen, "category", "category__path")),
        sensitive=_sensitive(_by(project, chosen, "sensitive", "is_sensitive")),
        placements=_placements(project, chosen),
        ranked_by=_by(project, chosen, "ranked_by", "ranked_by"),
    )


def _without(project: Project, chosen: QueueFilter, field: str) -> QuerySet | None:
    """The kept counts of what the list would hold without one field of its filter."""
    usual: dict[str, Any] = {each.name: each.default for each in dataclasses.fields(QueueFilter)}
    rest = dataclasses.replace(chosen, **{field: usual[field]})
    counts = rest.counts(project)
    if counts is None:
        return None
    # A tier that is asked for by name is listed although it is held back.
    counts = counts.filter(dataclasses.replace(rest, held=True).hidden_left_out() if field == "tier" else
                           rest.hidden_left_out())  # fmt: skip
    return counts if chosen.status == ALL else counts.filter(status=chosen.status)


def _by(project: Project, chosen: QueueFilter, field: str, column: str) -> Counter | None:
    counts = _without(project, chosen, field)
    if counts is None:
        return None
    found: Counter = Counter()
    for value, number in counts.order_by().values_list(column).annotate(edges=total()):
        found[tuple(value) if isinstance(value, list) else value] += number
    return found


def _subtrees(by_path: Counter | None) -> Counter[tuple[str, ...]] | None:
    if by_path is None:
        return None
    found: Counter[tuple[str, ...]] = Counter()
    for path, number in by_path.items():
        for depth in range(1, len(path or ()) + 1):
            found[path[:depth]] += number
    return found


def _sensitive(by_flag: Counter | None) -> Counter[str] | None:
    if by_flag is None:
        return None
    return Counter({Sensitive.ONLY.value: by_flag[True], Sensitive.NOT.value: by_flag[False]})


def _placements(project: Project, chosen: QueueFilter) -> Counter[str] | None:
    counts = _without(project, chosen, "placement")
    if counts is None:
        return None
    conditions = {place.value: standing(project, place, counted=True) for place in Stands}
    conditions |= {Placement.RELATED.value: Q(placement=Placement.RELATED), GAP: Q(content_gap=True)}
    return Counter(counts.aggregate(**{name: total(condition) for name, condition in conditions.items()}))
