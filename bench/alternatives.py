"""Matching against what a user would write instead: a pandas and scikit-learn notebook, and faiss's flat search.

    python bench/alternatives.py [--pages 2500,10000,50000] [--notebook-most 20000]

The same N vectors x 384 (made as in bench/_site.py, all in one category), five best targets a page, nobody to itself.
Ours is linker.engine.candidates.block_search with its exact sums and stable ties, as many threads as there are cores.
The notebook: cosine_similarity over a DataFrame of the vectors, its diagonal set aside, and argsort row by row. faiss:
IndexFlatIP over the unit vectors, six neighbours, oneself dropped. All use every core. Each is timed several times,
the more the fewer pages there are, and the best counts; beyond `--notebook-most` pages its matrix does not fit in
memory. "At equal results": the share of the pairs that both find. The notebook and faiss sum in float32, so pairs whose
cosines differ by less than that can say may swap at the fifth place.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from typing import TYPE_CHECKING

import faiss
import numpy as np
import pandas as pd
from _common import head, note, row, timed
from _site import DIMENSIONS, SUBTOPIC
from sklearn.metrics.pairwise import cosine_similarity
from threadpoolctl import threadpool_limits

from linker.engine.arrays.vectors import unit_rows
from linker.engine.candidates.block_search import Side, search, tile_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

BEST = 5


def vectors(pages: int, seed: int = 7) -> NDArray[np.float32]:
    random = np.random.default_rng(seed)

    def directions(count: int) -> NDArray[np.float32]:
        return unit_rows(random.standard_normal((count, DIMENSIONS), dtype=np.float32))

    topics = directions(-(-pages // SUBTOPIC))
    made = 0.65 * directions(1) + 0.45 * topics[np.arange(pages) // SUBTOPIC] + 0.61 * directions(pages)
    return unit_rows(made.astype(np.float16))


def ours(unit: NDArray[np.float32]) -> NDArray[np.int64]:
    pages = len(unit)
    ids, nodes = np.arange(pages), np.zeros(pages, dtype=np.int64)
    room = tile_columns(384 * 2**20, DIMENSIONS)
    nothing = np.empty(0, dtype=np.int64)
    found = search(
        Side(ids, unit, nodes),
        (Side(ids[at : at + room], unit[at : at + room], nodes[at : at + room]) for at in range(0, pages, room)),
        lambda left, right: np.zeros((len(left), len(right)), dtype=np.int8),
        (nothing, nothing),
        threshold=-1.0,
        level_penalty=0.0,
        pool=BEST,
        threads=os.cpu_count() or 1,
    )
    return found.targets.reshape(-1, BEST)


def notebook(unit: NDArray[np.float32]) -> NDArray[np.int64]:
    frame = pd.DataFrame({"url": np.arange(len(unit)), "embedding": list(unit)})
    similarity = cosine_similarity(np.vstack(frame["embedding"].to_numpy()))
    np.fill_diagonal(similarity, -1)
    found = []
    for place in range(len(frame)):
        best = np.argsort(similarity[place])[::-1][:BEST]
        found.append(frame["url"].to_numpy()[best])
    return np.array(found)


def flat(unit: NDArray[np.float32]) -> NDArray[np.int64]:
    index = faiss.IndexFlatIP(unit.shape[1])
    index.add(unit)
    _, found = index.search(unit, BEST + 1)
    keep = found != np.arange(len(unit))[:, None]
    keep[keep.all(axis=1), -1] = False
    return found[keep].reshape(len(unit), BEST)


def best_of(work: Callable[[], NDArray[np.int64]], times: int) -> tuple[float, NDArray[np.int64]]:
    seconds = []
    for _ in range(times):
        with timed() as watch:
            found = work()
        seconds.append(watch.seconds)
    return min(seconds), found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", default="2500,10000,50000")
    parser.add_argument("--notebook-most", type=int, default=20_000)
    options = parser.parse_args()
    head()
    for pages in map(int, options.pages.split(",")):
        unit = vectors(pages)
        times = max(1, 50_000 // pages)  # a few hundredths of a second tell little
        with threadpool_limits(1):  # as a worker's environment has it
            mine, pairs = best_of(partial(ours, unit), times)
        others = {"faiss, IndexFlatIP": flat}
        if pages <= options.notebook_most:
            others["pandas and scikit-learn"] = notebook
        else:
            note(f"{pages:,} pages: the notebook's matrix would take {pages**2 * 4 / 2**30:.0f} GiB and its copies")
        for name, work in others.items():
            theirs, found = best_of(partial(work, unit), times)
            same = np.mean([len(np.intersect1d(a, b)) for a, b in zip(pairs, found, strict=True)]) / BEST
            row(
                f"five best of each page against {name}",
                f"{pages:,} pages, {100 * same:.3f}% of pairs the same",
                f"{mine:.2f} s",
                f"{theirs:.2f} s",
                mine / theirs,
                1.0,
            )


if __name__ == "__main__":
    main()
