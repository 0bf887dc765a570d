"""The depth of each page: clicks from the home page, by the links that were found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ingest.sources.store import FetchStore

UNKNOWN = -1
CHUNK = 500


def find_depths(store: FetchStore) -> None:
    """Writes the depth of all pages anew: 0 for where the crawl began, NULL for what no click leads to.

    A redirect is no click. Two bytes a page are in memory, and the links of some pages at a time."""
    rows = store.connection
    size = int(rows.execute("SELECT coalesce(max(id), 0) FROM page").fetchone()[0]) + 1
    depths = np.full(size, UNKNOWN, dtype=np.int16)
    redirects = np.zeros(size, dtype=bool)
    for (number,) in rows.execute("SELECT id FROM page WHERE redirect_url <> ''"):
        redirects[number] = True
    level = np.array(
        [number for (number,) in rows.execute("SELECT id FROM page WHERE origin = 'start'")], dtype=np.int32
    )
    depth = 0
    depths[level] = 0
    while len(level):
        level = _past_redirects(store, level, redirects, depths, depth)
        found = _unseen(_targets(store, level[~redirects[level]]), depths)
        depth += 1
        depths[found] = depth
        level = found
    _write(store, depths)


def _past_redirects(
    store: FetchStore, level: NDArray[np.int32], redirects: NDArray[np.bool_], depths: NDArray[np.int16], depth: int
) -> NDArray[np.int32]:
    """A level with what its redirects lead to, and theirs."""
    all_of_level, newest = [level], level
    while len(newest := _unseen(_targets(store, newest[redirects[newest]]), depths)):
        depths[newest] = depth
        all_of_level.append(newest)
    return np.concatenate(all_of_level)


def _unseen(parts: Iterator[NDArray[np.int32]], depths: NDArray[np.int16]) -> NDArray[np.int32]:
    """Pages that have no depth yet, each once; marks them as seen."""
    found = []
    for part in parts:
        fresh = np.unique(part[depths[part] == UNKNOWN])
        depths[fresh] = 0
        found.append(fresh)
    return np.concatenate([*found, np.empty(0, dtype=np.int32)]).astype(np.int32)


def _targets(store: FetchStore, pages: NDArray[np.int32]) -> Iterator[NDArray[np.int32]]:
    numbers = pages.tolist()
    for start in range(0, len(numbers), CHUNK):
        some = numbers[start : start + CHUNK]
        marks = ",".join("?" * len(some))
        for (targets,) in store.connection.execute(f"SELECT targets FROM crawl_edge WHERE page IN ({marks})", some):
            yield np.frombuffer(targets, dtype=np.int32)


def _write(store: FetchStore, depths: NDArray[np.int16]) -> None:
    with store.transaction() as rows:
        last = 0
        while some := rows.execute("SELECT id, depth FROM page WHERE id > ? ORDER BY id LIMIT 5000", [last]).fetchall():
            last = some[-1][0]
            changed = [
                (found if (found := int(depths[number])) >= 0 else None, number)
                for number, depth in some
                if (depth if depth is not None else UNKNOWN) != depths[number]
            ]
            rows.executemany("UPDATE page SET depth = ? WHERE id = ?", changed)
