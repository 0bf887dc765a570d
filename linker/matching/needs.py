"""What the pages of a project lack and how much authority they have, as a match run finds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from linker.engine import worth
from linker.engine.graph.links import adjacency, page_rank
from linker.models import ExistingLink, RunKind, RunStatus
from linker.models.linked import TEXT_LINK
from linker.models.querysets import FOUND_BY_TEXT, PRESENT, sql
from linker.storage.copy import copy_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.models import Project

MAX_KEPT_WORDS = 100_000  # pages whose words are kept for the next time
PAGES_READ = 50_000  # whose links are read at a time
NEW_DAYS = 30  # for which a page is new
# A page that an import has held for so long, where the project had been matched before: at the first match none is.
_IS_NEW = f"""
(p.first_seen_at > now() - interval '{NEW_DAYS} days' AND p.first_seen_at > (
    SELECT min(r.created_at) FROM linker_run r
    WHERE r.project_id = %(project)s AND r.kind = '{RunKind.MATCH}' AND r.status = '{RunStatus.SUCCEEDED}'
))::int::float8"""
_FACTS = ("crawl_depth", "impressions", "clicks", "position", "value", "authority")


@dataclass(frozen=True)
class Needs:
    """Pages by id, int64 [n] ascending; whether readers come to them by texts, bool [n]; their need and their authority
    as a share of pages, float64 [n], see linker.engine.worth. If links were never imported, it is unknown which pages
    lack links or have authority."""

    ids: NDArray[np.int64]
    found_by_text: NDArray[np.bool_]
    facts: worth.Facts
    need: NDArray[np.float64]
    authority: NDArray[np.float64]
    _said: dict[int, str] = field(default_factory=dict)

    def places(self, pages: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where some pages stand, int64 [m]; -1 for one that is not there."""
        place = np.searchsorted(self.ids, pages).clip(max=max(len(self.ids) - 1, 0))
        there = self.ids[place] == pages if len(self.ids) else np.zeros(len(pages), dtype=bool)
        return np.where(there, place, -1)

    def said(self, place: int) -> str:
        """What the page at a place lacks, in words; empty for -1."""
        if len(self._said) > MAX_KEPT_WORDS:
            self._said.clear()
        if place not in self._said:
            self._said[place] = worth.in_words(self.facts, place) if place >= 0 else ""
        return self._said[place]

    def under_linked(self, pages: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of some pages that few link to in their texts."""
        place = self.places(pages)
        return pages[(place >= 0) & worth.under_linked(self.facts)[place]] if len(self.ids) else pages[:0]

    def first(self, pages: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of some pages that choose links before the others: the under-linked and the new."""
        place = self.places(pages)
        chosen = worth.under_linked(self.facts) | worth.is_new(self.facts)
        return pages[(place >= 0) & chosen[place]] if len(self.ids) else pages[:0]

    def orphans(self, pages: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of some pages that none links to in its text, as ORPHAN in linker.models.querysets says."""
        place = self.places(pages)
        lacks = (self.facts.links == 0) & self.found_by_text
        return pages[(place >= 0) & lacks[place]] if len(self.ids) else pages[:0]


def needs_of(project: Project) -> Needs:
    """Of all pages that the last import held. Authority flows among them; links count from any page, as for ORPHAN in
    linker.models.querysets."""
    numbers = ", ".join(f"coalesce({name}::float8, 'NaN')" for name in _FACTS)
    rows = copy_out(
        f"SELECT id, {sql(PRESENT)} AS present, {sql(FOUND_BY_TEXT)}, {numbers}, coalesce({_IS_NEW}, 0) "
        "FROM linker_page p WHERE project_id = %(project)s ORDER BY id",
        {"project": project.pk},
        [("id", ">i8"), ("present", "?"), ("found_by_text", "?"), *((name, ">f8") for name in (*_FACTS, "new"))],
    )
    every, present = rows["id"].astype(np.int64), rows["present"]
    ids = every[present]
    known = {name: rows[name][present].astype(np.float64) for name in (*_FACTS, "new")}
    count, rank = np.full(len(ids), np.nan), known["authority"]
    if ExistingLink.objects.filter(PRESENT, project=project).exists():
        matrix = adjacency(*_links(project, every), len(every))
        count = np.bincount(matrix.indices, minlength=len(every))[present].astype(np.float64)
        if not present.all():
            matrix = matrix[present][:, present]
        if matrix.nnz and np.isnan(rank).all():
            # Rounded, so that pages that are linked alike come to the same whatever the order of the sums.
            rank = np.round(page_rank(matrix) * len(ids), 9)
    facts = worth.Facts(
        count,
        known["crawl_depth"],
        known["impressions"],
        known["clicks"],
        known["position"],
        known["value"],
        known["new"],
    )
    return Needs(
        ids,
        rows["found_by_text"][present].astype(np.bool_),
        facts,
        worth.need(facts),
        np.round(worth.rank_share(rank), 6),
    )


def _links(project: Project, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The links in texts from and to these pages, as places."""
    parts = []
    for first in range(0, len(ids), PAGES_READ):
        rows = copy_out(
            f"SELECT source_id, target_id FROM linker_existinglink WHERE project_id = %s "
            f"AND {sql(TEXT_LINK)} AND source_id <> target_id AND source_id = ANY(%s)",
            [project.pk, ids[first : first + PAGES_READ].tolist()],
            [("source", ">i8"), ("target", ">i8")],
        )
        source, target = rows["source"].astype(np.int64), rows["target"].astype(np.int64)
        place = np.searchsorted(ids, target).clip(max=len(ids) - 1)
        there = ids[place] == target
        parts.append((np.searchsorted(ids, source[there]).astype(np.int32), place[there].astype(np.int32)))
    source, target = (np.concatenate([part[side] for part in parts] or [np.zeros(0, np.int32)]) for side in (0, 1))
    return source, target
