"""Accepted and exported links of a project, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linker.models.linked import linked_sql
from linker.storage.copy import copy_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.models import Project


@dataclass(frozen=True)
class AcceptedLinks:
    """Accepted and exported links, int64 arrays of sources and of targets. `waiting`: those that no crawl has seen on
    the site yet; they count towards the caps whatever a run finds. `on_site`: those that the site has by now; they are
    links of the page like any other."""

    waiting: tuple[NDArray[np.int64], NDArray[np.int64]]
    on_site: tuple[NDArray[np.int64], NDArray[np.int64]]


def accepted_links(project: Project) -> AcceptedLinks:
    rows = copy_out(
        f"SELECT source_id, target_id, {linked_sql('e')} FROM linker_candidateedge e WHERE project_id = %s "
        "AND status IN ('accepted', 'exported')",
        [project.pk],
        [("source", ">i8"), ("target", ">i8"), ("on_site", "?")],
    )
    source, target, on_site = rows["source"].astype(np.int64), rows["target"].astype(np.int64), rows["on_site"]
    return AcceptedLinks((source[~on_site], target[~on_site]), (source[on_site], target[on_site]))
