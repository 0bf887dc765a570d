"""The weights of terms are those that scikit-learn gives to the same counts."""

from __future__ import annotations

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

from linker.engine.text.terms import count_terms, weigh_terms
from linker.engine.text.tokens import Vocabulary

TEXTS = [
    "The red tent and the green tent",
    "A stove for the tent, and gas for the stove",
    "Boots, boots and more boots",
    "Green boots beside a red stove",
    *(f"Page {n} is about nothing" for n in range(8)),
]


def test_terms_weigh_what_scikit_learn_makes_of_their_counts() -> None:
    vocabulary = Vocabulary()
    tokens = vocabulary.read(TEXTS, ["en"] * len(TEXTS))
    heads = count_terms(vocabulary.read([""] * len(TEXTS), ["en"] * len(TEXTS)), vocabulary)
    counts = count_terms(tokens, vocabulary)
    stops = vocabulary.stop_mask(["en"])
    found = weigh_terms([counts], heads, stops)
    # scikit-learn knows nothing of terms that are left out: it is given the counts of the others.
    whole = counts.matrix(counts.times.astype(np.float64), len(vocabulary))
    expected = TfidfTransformer(sublinear_tf=True, norm=None).fit_transform(whole).toarray()
    expected[:, found.in_texts == 0] = 0
    length = np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(found.terms.toarray(), expected / np.where(length > 0, length, 1), atol=1e-6)
    assert found.in_texts[vocabulary.numbers(["tent"])].tolist() == [2]
    assert found.in_texts[vocabulary.numbers(["the"])].tolist() == [0]


def test_chunks_of_texts_weigh_as_much_as_all_at_once() -> None:
    vocabulary = Vocabulary()
    every = vocabulary.read(TEXTS, ["en"] * len(TEXTS))
    heads = count_terms(vocabulary.read(TEXTS[:3] + [""] * 9, ["en"] * len(TEXTS)), vocabulary)
    stops = vocabulary.stop_mask(["en"])
    chunks = [count_terms(vocabulary.read(part, ["en"] * len(part)), vocabulary) for part in (TEXTS[:1], TEXTS[1:])]
    one, other = weigh_terms([count_terms(every, vocabulary)], heads, stops), weigh_terms(chunks, heads, stops)
    for name in ("terms", "body", "title", "title_unit"):
        assert (getattr(one, name) != getattr(other, name)).nnz == 0
    assert np.array_equal(one.in_texts, other.in_texts)
