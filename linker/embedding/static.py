"""A static model: one vector a token, fitted to what another model says about a sample of the site. Pure.

A page's vector is the weighted mean of its tokens' vectors, so a text costs a look-up a token and no network. A token
begins with the vector that the teacher's first layer reads of it; a ridge regression then moves the vectors of the
sample's tokens until the sample's means are near the teacher's vectors of the same pages. (What the teacher says of
each token alone is no better a beginning, measured by the links found, and takes a minute.) Frequent tokens weigh less
(smooth inverse frequency: Arora, Liang and Ma, 2017), by their frequency in the sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FREQUENT = 1e-3  # a token of this share of the text weighs half
RIDGE = 3e-3  # of the sample's mean self-product


@dataclass(frozen=True)
class StaticTable:
    """`vectors` float32 [tokens, d] and `weight` float32 [tokens], by the tokenizer's numbers."""

    vectors: NDArray[np.float32]
    weight: NDArray[np.float32]

    def means(self, tokens: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """float32 [len(tokens), d], rows of length 1, or 0 for a text without tokens."""
        means = _mixture(tokens, self.weight) @ self.vectors
        length = np.sqrt(np.einsum("ij,ij->i", means, means))
        length[length == 0] = 1
        return (means / length[:, None]).astype(np.float32)


def fit(begin: NDArray[np.float32], tokens: Sequence[Sequence[int]], taught: NDArray[np.float32]) -> StaticTable:
    """The table from vectors `begin` [tokens, d] that tokens start with, and the teacher's `taught` [n, d] of a
    sample, whose tokens `tokens` holds."""
    seen = np.fromiter((token for text in tokens for token in text), dtype=np.int64)
    frequency = np.bincount(seen, minlength=len(begin)) / max(len(seen), 1)
    weight = (FREQUENT / (FREQUENT + frequency)).astype(np.float32)
    mixture = _mixture(tokens, weight).astype(np.float64)
    # Means of vectors are shorter than the vectors; the start is stretched to the teacher's length.
    start = begin / max(float(np.linalg.norm(mixture @ begin, axis=1).mean()), 1e-6)
    gram = (mixture @ mixture.T).toarray()
    gram[np.diag_indices_from(gram)] += RIDGE * gram.trace() / max(len(gram), 1) + 1e-9
    moved = start + mixture.T @ np.linalg.solve(gram, taught - mixture @ start)
    return StaticTable(moved.astype(np.float32), weight)


def _mixture(tokens: Sequence[Sequence[int]], weight: NDArray[np.float32]) -> sparse.csr_array:
    """Which share of a text a token is, [len(tokens), len(weight)]; rows sum to 1."""
    bounds = np.cumsum([0, *map(len, tokens)])
    column = np.fromiter((token for text in tokens for token in text), dtype=np.int32, count=int(bounds[-1]))
    share = weight[column]
    row = np.repeat(np.arange(len(tokens)), np.diff(bounds))
    whole = np.bincount(row, weights=share, minlength=len(tokens)).astype(np.float32)
    return sparse.csr_array((share / whole[row], column, bounds), shape=(len(tokens), len(weight)))
