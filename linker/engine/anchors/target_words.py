"""The words that targets are known by: their titles, the anchors that lead to them, and the terms of their texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from linker.engine.arrays.sparse import pair_values, top_rows, unit_sum_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.anchors.tokenized import SpanReader
    from linker.engine.evidence import TextEvidence

MAX_TERMS = 24  # words of a target that are looked for


def rarity(reader: SpanReader) -> NDArray[np.float32]:
    """Inverse document frequency of each term, float32 [vocabulary]."""
    index = reader.index
    return (np.log((len(index.site) + 1) / (index.in_texts + 1)) + 1).astype(np.float32)


class AnchorWords:
    """The words of the anchors that the visible links to each page use."""

    def __init__(self, evidence: TextEvidence, reader: SpanReader, idf: NDArray[np.float32]) -> None:
        index, visible = evidence.index, evidence.visible
        links = index.site.links
        language = {links.anchors[link]: index.site.languages[links.dst[link]] for link in visible.tolist()}
        texts = list(language)
        number = {text: place for place, text in enumerate(texts)}
        of_link = np.array([number[links.anchors[link]] for link in visible.tolist()], dtype=np.int64)
        tokens = index.vocabulary.read(texts, list(language.values()))
        content = reader.is_word[tokens.stems] & ~reader.is_stop[tokens.stems] & (tokens.stems < reader.terms)
        self._words = sparse.csr_matrix(  # [anchors, vocabulary]
            (idf[tokens.stems[content]], (tokens.pages()[content], tokens.stems[content])),
            shape=(len(texts), reader.terms),
        )
        once = np.ones(len(visible), dtype=np.float32)
        shape = len(index.site), len(texts)
        self._anchors_to = sparse.csr_matrix((once, (links.dst[visible], of_link)), shape=shape)

    def of(self, targets: NDArray[np.int64]) -> sparse.csr_matrix:
        """The words that lead to each target, [targets, vocabulary], rows of sum 1."""
        return unit_sum_rows(sparse.csr_matrix(self._anchors_to[targets] @ self._words, dtype=np.float32))


class TargetWords:
    """The words of the targets of some pairs.

    `place` int64 [pairs]: each pair's target among the distinct ones; `wanted` [targets, vocabulary]: the MAX_TERMS
    words that are looked for.
    """

    def __init__(self, evidence: TextEvidence, anchors: AnchorWords, target: NDArray[np.int64]) -> None:
        targets, self.place = np.unique(target, return_inverse=True)
        index = evidence.index
        title, said, terms = index.title[targets], anchors.of(targets), index.terms[targets]
        self.wanted = top_rows(sparse.csr_matrix(3 * title + 2 * said + terms, dtype=np.float32), MAX_TERMS)
        joined = sparse.csr_matrix((title != 0) + (said != 0) + (terms != 0))
        joined.sort_indices()
        row = np.repeat(np.arange(len(targets), dtype=np.int64), np.diff(joined.indptr))
        self._size = terms.shape[1]
        self._key = row * self._size + joined.indices
        self._weights = np.column_stack(
            [pair_values(matrix, row, joined.indices.astype(np.int64)) for matrix in (title, said, terms)]
        )

    def weights(self, pair: NDArray[np.int64], stems: NDArray[np.int32]) -> NDArray[np.float32]:
        """How much each stem weighs in the title of its pair's target, in the anchors that lead there, and among its
        terms, float32 [k, 3]."""
        if not len(self._key):
            return np.zeros((len(stems), 3), dtype=np.float32)
        wanted = self.place[pair] * self._size + stems
        at = np.minimum(np.searchsorted(self._key, wanted), len(self._key) - 1)
        return np.where((self._key[at] == wanted)[:, None], self._weights[at], np.float32(0))
