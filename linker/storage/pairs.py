"""Pairs of pages that a match run must leave alone, or may only link within the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linker.engine.arrays.vectors import slices
from linker.models.linked import BESIDE_LINK, TEXT_LINK
from linker.models.querysets import REFUSED, sql
from linker.models.suppression import OF_SECTIONS, freed_sql
from linker.storage.copy import copy_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAIRS_AT_A_TIME = 100_000  # that are looked up by one statement


def load_forbidden_pairs(source_ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs with these sources that must not be suggested: links that the text has already, pairs that an editor
    rejected, ruled out or took off the site, and pairs with a near-copy, variant or translation of the source or of
    such a target.

    Returns sources and targets, int64 [n] each, in no particular order.
    """
    rows = copy_out(
        "WITH known AS (SELECT source_id, target_id FROM linker_existinglink "
        f"WHERE {sql(TEXT_LINK)} AND source_id = ANY(%(sources)s) "
        "UNION ALL SELECT source_id, target_id FROM linker_candidateedge e "
        f"WHERE {sql(REFUSED)} AND source_id = ANY(%(sources)s) AND NOT {freed_sql('e')} "
        f"UNION ALL {OF_SECTIONS} AND donor.id = ANY(%(sources)s)) "
        "SELECT source_id, target_id FROM known UNION ALL SELECT k.source_id, other.page_id FROM (SELECT * FROM known "
        "UNION ALL SELECT page_id, page_id FROM linker_pagetwin WHERE page_id = ANY(%(sources)s)) k "
        "JOIN linker_pagetwin mine ON mine.page_id = k.target_id "
        "JOIN linker_pagetwin other ON other.group_id = mine.group_id AND other.receives "
        "AND other.page_id <> mine.page_id",
        {"sources": source_ids.tolist()},
        [("source", ">i8"), ("target", ">i8")],
    )
    return rows["source"].astype(np.int64), rows["target"].astype(np.int64)


def load_pairs_of_sections(project_id: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of a project whose target is not to be suggested from the source's section: sources and targets, int64 [n]
    each, in no particular order."""
    rows = copy_out(f"{OF_SECTIONS} AND s.project_id = %s", [project_id], [("source", ">i8"), ("target", ">i8")])
    return rows["source"].astype(np.int64), rows["target"].astype(np.int64)


def linked_beside_text(source_ids: NDArray[np.int64], target_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether pairs, int64 [n] both, are linked beside the text already, so that only a link within it is still of use;
    bool [n]. Some of them may be linked within the text as well. The pairs are looked up one by one: a page may have a
    hundred links in its menus."""
    found = np.zeros(len(source_ids), dtype=np.bool_)
    for part in slices(len(source_ids), PAIRS_AT_A_TIME):
        rows = copy_out(
            "SELECT place - 1 FROM unnest(%s::bigint[], %s::bigint[]) WITH ORDINALITY asked (source, target, place) "
            "WHERE EXISTS (SELECT FROM linker_existinglink l WHERE l.source_id = asked.source "
            f"AND l.target_id = asked.target AND {sql(BESIDE_LINK, 'l')})",
            [source_ids[part].tolist(), target_ids[part].tolist()],
            [("place", ">i8")],
        )
        found[part.start + rows["place"].astype(np.int64)] = True
    return found
