"""Accepted and exported links of a project, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.models import Project
from linker.models.linked import linked_sql
from linker.storage import store

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Standing:
    """Accepted and exported links, int64 arrays of sources and of targets. `waiting`: those that no crawl has seen on
    the site yet; they count towards the caps whatever a run finds. `there`: those that the site has by now; they are
    links of the page like any other."""

    waiting: tuple[NDArray[np.int64], NDArray[np.int64]]
    there: tuple[NDArray[np.int64], NDArray[np.int64]]


def standing_links(project: Project) -> Standing:
    rows = store.copy_out(
        f"SELECT source_id, target_id, {linked_sql('e')} FROM linker_candidateedge e WHERE project_id = %s "
        "AND status IN ('accepted', 'exported')",
        [project.pk],
        [("source", ">i8"), ("target", ">i8"), ("there", "?")],
    )
    source, target, there = rows["source"].astype(np.int64), rows["target"].astype(np.int64), rows["there"]
    return Standing((source[~there], target[~there]), (source[there], target[there]))
