"""Pairs of pages that a match run must leave alone, or may only link within the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linker.models.linked import BESIDE_LINK, TEXT_LINK
from linker.models.querysets import REFUSED, sql
from linker.models.suppression import OF_SECTIONS, freed_sql
from linker.storage.copy import copy_out

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


def load_pairs_linked_beside_text(source_ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs with these sources that are linked beside the text already, so that only a link within it is still of use.

    Returns sources and targets, int64 [n] each, in no particular order. Some of them may be linked within the text as
    well.
    """
    rows = copy_out(
        "SELECT DISTINCT source_id, target_id FROM linker_existinglink "
        f"WHERE {sql(BESIDE_LINK)} AND source_id = ANY(%s)",
        [source_ids.tolist()],
        [("source", ">i8"), ("target", ">i8")],
    )
    return rows["source"].astype(np.int64), rows["target"].astype(np.int64)
