"""Searching blocks of pages for a run by cosine: vectors read, compared, the nearest pairs kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from django.conf import settings

from linker.engine.candidates.block_search import Pairs, Side, search, tile_columns
from linker.engine.params import MatchParams, Ranking
from linker.engine.text.languages import apart
from linker.matching.category_nodes import category_nodes, levels_looked_up
from linker.matching.report_types import MatchReport
from linker.pages.languages import language_ids
from linker.storage.copy import copy_out
from linker.storage.pairs import load_forbidden_pairs
from linker.storage.vectors import load_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.models import Run


class BlockSearcher:
    """Searches the blocks of a planned run as some parameters say.

    `room`: how many targets' vectors a search may hold at a time.
    """

    def __init__(self, run: Run, params: MatchParams) -> None:
        if run.model is None:
            raise RuntimeError(f"run {run.pk} was not planned")
        self.params, self.model = params, run.model
        self.room = tile_columns(settings.MATCH_MEMORY_MB * 2**20, run.model.dimensions)
        self.project, self.nodes = run.project, category_nodes(run.project)
        self.levels_up = levels_looked_up(params, self.nodes)
        # As the plan had it: all batches of a run search alike.
        report = MatchReport.from_json(run.report)
        self.apart = report.link_languages is False
        self.trusted = bool(report.crawl_trusted)
        self.language_ids = np.zeros(1, dtype=np.int64)  # those met, by the number that `_with_language` gives them

    def read(self, ids: NDArray[np.int64]) -> Side:
        """The pages among `ids` that have a vector, by id."""
        vectors = load_vectors(self.model.pk, self.model.dimensions, ids)
        rows = copy_out(
            "SELECT id, coalesce(category_id, 0) FROM linker_page WHERE id = ANY(%s) ORDER BY id",
            [vectors.ids.tolist()],
            [("id", ">i8"), ("category", ">i8")],
        )
        places = np.searchsorted(rows["id"].astype(np.int64), vectors.ids)
        nodes = self.nodes.of(rows["category"].astype(np.int64))[places]
        return Side(vectors.ids, vectors.unit, self._with_language(vectors.ids, nodes) if self.apart else nodes)

    def find(
        self,
        donor_ids: NDArray[np.int64],
        target_ids: NDArray[np.int64],
        forbidden: tuple[NDArray[np.int64], NDArray[np.int64]],
        cache: Side | None = None,
    ) -> Pairs:
        """The best targets of each donor. `forbidden`: sources and targets by source; those of other donors do no harm.
        `cache`, where given, holds all pages."""

        def load(ids: NDArray[np.int64]) -> Side:
            known = self.read(ids) if cache is None else cache
            places = np.searchsorted(known.ids, ids)
            places[places == len(known.ids)] = 0
            here = known.ids[places] == ids if len(known.ids) else np.zeros(len(ids), dtype=bool)
            return Side(ids[here], known.unit[places[here]], known.nodes[places[here]])

        return search(
            load(donor_ids),
            (load(target_ids[first : first + self.room]) for first in range(0, len(target_ids), self.room)),
            self._levels,
            _of_donors(forbidden, donor_ids),
            threshold=self.params.floor(Ranking.COSINE),
            level_penalty=self.params.level_penalty,
            pool=self.params.pool,
        )

    def _with_language(self, ids: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Nodes of the tree, distinct for each language of the pages too: see `_levels`."""
        found = language_ids(self.project, ids, trusted=self.trusted)
        new = np.setdiff1d(found, self.language_ids)
        self.language_ids = np.concatenate([self.language_ids, new])
        order = np.argsort(self.language_ids)
        return nodes + order[np.searchsorted(self.language_ids, found, sorter=order)] * len(self.nodes.ids)

    def _levels(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int8]:
        """Levels between kinds of pages, -1 where they are out of reach or in different languages."""
        size = len(self.nodes.ids)
        levels = self.nodes.tree.levels(left % size, right % size, self.levels_up)
        other = apart(self.language_ids[left // size][:, None], self.language_ids[right // size][None, :])
        return np.where(other, np.int8(-1), levels) if other.any() else levels


def forbidden_pairs(donors: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of these donors that are never to be suggested: sources and targets, by source."""
    sources, targets = load_forbidden_pairs(donors)
    by_source = np.argsort(sources, kind="stable")
    return sources[by_source], targets[by_source]


def _of_donors(
    forbidden: tuple[NDArray[np.int64], NDArray[np.int64]], donors: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Those of the pairs, which stand by source, whose source is one of the donors."""
    first = np.searchsorted(forbidden[0], donors)
    count = np.searchsorted(forbidden[0], donors, side="right") - first
    places = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
    return forbidden[0][places], forbidden[1][places]
