"""Co-citation, coupling and PageRank are what counting by hand gives."""

from __future__ import annotations

from math import sqrt

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.graph.links import adjacency, link_graph, page_rank, repeated_links
from tests.examples import tried

PAGES = 7
links = st.lists(st.tuples(st.integers(0, PAGES - 1), st.integers(0, PAGES - 1)), max_size=25)


def graph_of(pairs):
    src = np.array([pair[0] for pair in pairs], dtype=np.int64)
    dst = np.array([pair[1] for pair in pairs], dtype=np.int64)
    return link_graph(src, dst, PAGES)


@given(links)
@tried(100)
def test_cocitation_is_the_cosine_of_the_sets_of_linking_pages(pairs) -> None:
    graph = graph_of(pairs)
    sources = [{a for a, b in pairs if b == page and a != b} for page in range(PAGES)]
    for one in range(PAGES):
        assert graph.indegree[one] == len(sources[one])
        for other in range(PAGES):
            shared = len(sources[one] & sources[other]) if one != other else 0
            expected = shared / sqrt(len(sources[one]) * len(sources[other])) if shared else 0
            assert abs(graph.cocited[one, other] - expected) < 1e-6


@given(links)
@tried(100)
def test_coupling_is_the_cosine_of_the_weighted_sets_of_targets(pairs) -> None:
    graph = graph_of(pairs)
    targets = [{b for a, b in pairs if a == page and a != b} for page in range(PAGES)]
    into = [len({a for a, b in pairs if b == page and a != b}) for page in range(PAGES)]

    def product(one: int, other: int) -> float:
        return sum(1 / into[target] for target in targets[one] & targets[other])

    for one in range(PAGES):
        for other in range(PAGES):
            shared = product(one, other) if one != other else 0
            expected = shared / sqrt(product(one, one) * product(other, other)) if shared else 0
            assert abs(graph.coupled[one, other] - expected) < 1e-6


@given(links)
@tried(50)
def test_page_rank_is_the_stationary_distribution(pairs) -> None:
    matrix = adjacency(
        np.array([p[0] for p in pairs], dtype=np.int64), np.array([p[1] for p in pairs], dtype=np.int64), PAGES
    )
    dense = matrix.toarray()
    degree = dense.sum(axis=1, keepdims=True)
    step = 0.85 * np.where(degree > 0, dense / np.maximum(degree, 1), 1 / PAGES) + 0.15 / PAGES
    expected = np.linalg.matrix_power(step, 300)[0]
    assert np.allclose(page_rank(matrix), expected, atol=1e-4)


def test_no_pages_and_no_links() -> None:
    nothing = np.empty(0, dtype=np.int64)
    assert len(page_rank(adjacency(nothing, nothing, 0))) == 0
    assert link_graph(nothing, nothing, 0).cocited.shape == (0, 0)
    assert link_graph(nothing, nothing, 3).cocited.nnz == 0


def test_a_call_to_act_on_page_after_page_is_told_from_links_that_say_something() -> None:
    """Twelve pages say "Book now" to page 12, each with a link of its own in words of its own; eleven link to page 13
    in as many words, and nine say "Prices" to page 14."""
    pages = np.arange(12)
    src = np.concatenate([pages, pages, pages[:11], pages[:9]])
    dst = np.concatenate([np.full(12, 12), (pages + 1) % 12, np.full(11, 13), np.full(9, 14)])
    words = np.concatenate([np.zeros(12), 1 + pages, 20 + pages[:11], np.full(9, 40)]).astype(np.int64)
    repeated = repeated_links(src, dst, words)
    assert repeated.tolist() == [True] * 12 + [False] * (len(src) - 12)


def test_a_link_in_the_same_words_is_no_call_to_act_where_it_is_one_of_many() -> None:
    src = np.concatenate([np.arange(20), np.arange(300) % 100])
    dst = np.concatenate([np.full(20, 200), 100 + np.arange(300) % 97])
    words = np.concatenate([np.zeros(20), 1 + np.arange(300)]).astype(np.int64)
    assert not repeated_links(src, dst, words).any()
    assert len(repeated_links(src[:0], dst[:0], words[:0])) == 0
