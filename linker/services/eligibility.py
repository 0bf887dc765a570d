"""Which pages may take part in a match run, and why others may not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.matching.rules import is_pagination, is_parameter_url
from linker.models import Category, EmbeddingModel, ExclusionRule, Project, Side
from linker.patterns import compile_pattern
from linker.store import stream

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from linker.matching.params import MatchParams, PageFilter
    from linker.matching.rules import Pattern


@dataclass(frozen=True)
class Eligible:
    """Pages that may take part, int64 arrays by id, the category of each (0: none), and why others may not."""

    ids: NDArray[np.int64]
    categories: NDArray[np.int64]
    is_donor: NDArray[np.bool_]
    is_target: NDArray[np.bool_]
    chosen_donor: NDArray[np.bool_]
    chosen_target: NDArray[np.bool_]
    left_out: dict[str, int]


def eligible_pages(project: Project, model: EmbeddingModel, params: MatchParams) -> Eligible:
    """Applies the project's rules (`is_donor`, `is_target`) and, on top, the run's filters (`chosen_...`)."""
    rules = {
        side: [
            compile_pattern(pattern)
            for pattern in ExclusionRule.objects.filter(project=project, side__in=[side, Side.BOTH]).values_list(
                "pattern", flat=True
            )
        ]
        for side in (Side.DONOR, Side.ACCEPTOR)
    }
    chosen_categories = {
        "donors": subtrees(project, params.donors.categories),
        "acceptors": subtrees(project, params.acceptors.categories),
    }
    patterns = {
        "donors": compile_pattern(params.donors.url_pattern) if params.donors.url_pattern else None,
        "acceptors": compile_pattern(params.acceptors.url_pattern) if params.acceptors.url_pattern else None,
    }
    query = (
        "SELECT p.id, p.url, coalesce(p.category_id, 0), p.indexable, coalesce(p.status_code, 200), "
        "p.redirect_url <> '', coalesce(p.clicks, 0), p.inlinks, "
        "position('?' in p.canonical_url) > 0 AND EXISTS (SELECT 1 FROM linker_page q "
        "WHERE q.project_id = p.project_id AND md5(q.canonical_url) = md5(split_part(p.canonical_url, '?', 1)) "
        "AND q.id <> p.id) "
        "FROM linker_page p JOIN linker_pageembedding e ON e.page_id = p.id AND e.model_id = %s "
        "WHERE p.project_id = %s AND p.status = 'live' AND p.missing_since IS NULL ORDER BY p.id"
    )
    left_out: Counter[str] = Counter()
    kept: list[tuple[int, int, bool, bool, bool, bool]] = []
    for page, url, category, indexable, code, redirects, clicks, inlinks, variant in stream(
        "eligible", query, [model.pk, project.pk]
    ):
        if code != 200 or redirects:
            left_out["not answering with 200"] += 1
            continue
        if is_pagination(url):
            left_out["pagination"] += 1
            continue
        if is_parameter_url(url, project.parameter_urls, is_variant=variant):
            left_out["parameter URL"] += 1
            continue
        donor = not any(rule.search(url) for rule in rules[Side.DONOR])
        target = indexable and not any(rule.search(url) for rule in rules[Side.ACCEPTOR])
        left_out["not indexable (as acceptor)"] += not indexable
        left_out["excluded as donor"] += not donor
        left_out["excluded as acceptor"] += indexable and not target
        chosen = [
            _passes(
                getattr(params, side),
                chosen_categories[side],
                patterns[side],
                url,
                category,
                indexable,
                clicks,
                inlinks,
            )
            for side in ("donors", "acceptors")
        ]
        kept.append((page, category, donor, target, donor and chosen[0], target and chosen[1]))
    columns = np.array(kept, dtype=np.int64).reshape(-1, 6).T
    return Eligible(
        ids=columns[0],
        categories=columns[1],
        is_donor=columns[2].astype(bool),
        is_target=columns[3].astype(bool),
        chosen_donor=columns[4].astype(bool),
        chosen_target=columns[5].astype(bool),
        left_out={reason: count for reason, count in left_out.items() if count},
    )


def subtrees(project: Project, roots: Iterable[int]) -> set[int]:
    """Ids of the categories and everything below them."""
    paths = Category.objects.filter(project=project, pk__in=list(roots)).values_list("path", flat=True)
    found: set[int] = set()
    for path in paths:
        found.update(
            pk
            for pk, other in Category.objects.filter(project=project, depth__gte=len(path)).values_list("pk", "path")
            if other[: len(path)] == path
        )
    return found


def _passes(
    wanted: PageFilter,
    subtree: set[int],
    pattern: Pattern | None,
    url: str,
    category: int,
    indexable: bool,
    clicks: int,
    inlinks: int,
) -> bool:
    return (
        (not wanted.categories or category in subtree)
        and (pattern is None or bool(pattern.search(url)))
        and (indexable or not wanted.indexable_only)
        and (wanted.min_clicks is None or clicks >= wanted.min_clicks)
        and (wanted.max_clicks is None or clicks <= wanted.max_clicks)
        and (wanted.min_inlinks is None or inlinks >= wanted.min_inlinks)
        and (wanted.max_inlinks is None or inlinks <= wanted.max_inlinks)
    )
