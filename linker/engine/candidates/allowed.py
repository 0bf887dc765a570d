"""Which of the proposed pairs may become links at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linker.engine.text.languages import apart

if TYPE_CHECKING:
    from collections import Counter

    from numpy.typing import NDArray

    from linker.engine.site import Site


def may_be_linked(
    site: Site,
    sources: NDArray[np.int64],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    skip: tuple[NDArray[np.int64], NDArray[np.int64]],
    barred: Counter[str] | None = None,
) -> NDArray[np.bool_]:
    """Whether each pair of some `sources`, int64 [k], may be linked, bool [m].

    Not a page with itself, nor one that may not receive links, nor the pairs of `skip` (sources and targets), nor pages
    in different languages, which `barred` counts under "language", nor copies of one page: of the source itself or of
    what it links to already.
    """
    pages = len(site)
    keep: NDArray[np.bool_] = site.target[target] & (source != target)
    mine = np.isin(skip[0], sources)
    linking, linked = skip[0][mine], skip[1][mine]
    keep &= ~np.isin(source * pages + target, linking * pages + linked)
    if site.language_ids is not None:
        other = apart(site.language_ids[source], site.language_ids[target])
        if barred is not None:
            barred["language"] += int((keep & other).sum())
        keep &= ~other
    if site.group is not None:
        keep &= ~_in_group(site.group, source, target, linking, linked)
    return keep


def _in_group(
    group: NDArray[np.int64],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    linking: NDArray[np.int64],
    linked: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Whether each pair is of one group, or its target of one that the source links to already (`linking`,
    `linked`)."""
    theirs = group[target]
    groups = int(group.max(initial=0)) + 1
    known = group[linked] >= 0
    barred: NDArray[np.bool_] = (theirs >= 0) & (
        (group[source] == theirs) | np.isin(source * groups + theirs, linking[known] * groups + group[linked[known]])
    )
    return barred
