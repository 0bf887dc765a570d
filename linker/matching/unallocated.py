"""The pairs that a run found and does not propose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from django.db import connection

from linker.storage.copy import copy_rows_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.allocation.allocate import Reason
    from linker.matching.allocation import AllocatedLinks
    from linker.models import Run


def save_unallocated(
    run: Run,
    allocated: AllocatedLinks,
    unplaced: dict[tuple[int, int], Reason],
    donors: NDArray[np.int64] | None = None,
) -> None:
    """Stores what the run found and does not propose, a row a donor; those of the project's earlier runs go, or those
    of some `donors` alone, ids int64 [k].
    `unplaced`: allocated links that found no place, and why."""
    rows = allocated.rows
    reason = allocated.reason.copy()
    reason[reason == 0] = allocated.allocation.reason
    for place in np.flatnonzero(reason == 0).tolist():
        pair = int(rows["source"][place]), int(rows["target"][place])
        if pair in unplaced:
            reason[place] = unplaced[pair]
    left = np.flatnonzero(reason)
    left = left[np.lexsort((rows["target"][left], -rows["score"][left], rows["source"][left]))]
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM linker_unallocatedpairs WHERE run_id IN (SELECT id FROM linker_run WHERE project_id = %s) "
            "AND (%s OR source = ANY(%s))",
            [run.project_id, donors is None, [] if donors is None else donors.tolist()],
        )
    source = rows["source"][left]
    bounds = np.flatnonzero(np.concatenate([[True], source[1:] != source[:-1], [True]])) if len(left) else source
    copy_rows_in(
        "linker_unallocatedpairs",
        ["run_id", "source", "targets", "scores", "reasons"],
        (
            (
                run.pk,
                int(source[first]),
                rows["target"][left[first:stop]].tolist(),
                rows["score"][left[first:stop]].tolist(),
                reason[left[first:stop]].tolist(),
            )
            for first, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        ),
    )
