"""What a span of a text, and the words around it, are described by. The models of words read these numbers by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# See `linker.engine.anchors.span_features`.
SPAN_FEATURES: tuple[str, ...] = (
    "begin", "begin_word", "begin_before", "end", "end_word", "end_after", "inside", "inside_most",
    "words", "tokens", "chars", "title_share", "title_part", "anchor_share", "term_share", "strangers",
    "links", "share", "keyness", "phrase_links", "named", "pages",
    "line_start", "line_end", "clause_start", "clause_end", "line_tokens", "line_links", "place", "capital",
    "capitals", "stop_start", "stop_end", "brackets", "quoted", "seed", "edges_rank", "title_rank", "links_rank",
)  # fmt: skip

# See `linker.engine.anchors.context`.
CONTEXT_FEATURES: tuple[str, ...] = (
    "rarity", "rarest", "title_pages", "title_missing", "numbers_missing", "numbers_other", "joined_before",
    "joined_after", "name_before", "name_after", "own_title_part", "own_title_share", "clause_tokens",
)  # fmt: skip

# `site`: the probability that the site's own choice of words gives them, or without one, that of other sites.
WORD_FEATURES: tuple[str, ...] = (*SPAN_FEATURES, *CONTEXT_FEATURES, "site")


def word_column(table: NDArray[np.float32], name: str) -> NDArray[np.float32]:
    """One of the numbers of words in a table of them, or of spans, with which they begin, float32 [m]."""
    return table[:, WORD_FEATURES.index(name)]


def word_table(
    spans: NDArray[np.float32], context: NDArray[np.float32], site: NDArray[np.float64]
) -> NDArray[np.float32]:
    """The numbers of m spans as a model of words reads them, float32 [m, len(WORD_FEATURES)].

    `spans` [m, len(SPAN_FEATURES)], `context` [m, len(CONTEXT_FEATURES)], `site` [m].
    """
    return np.hstack([spans, context, site[:, None].astype(np.float32)])
