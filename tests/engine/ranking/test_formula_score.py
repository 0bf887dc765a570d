"""The formula adds up its stated parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linker.engine.candidates.registry import bit_of, names
from linker.engine.ranking.features import FEATURES
from linker.engine.ranking.formula_score import FormulaWeights, formula_parts, formula_score
from linker.engine.ranking.reasons import why
from tests.engine.sites import made_site


def features(**values: float) -> np.ndarray:
    return np.array([[values.get(name, 0.0) for name in FEATURES]], dtype=np.float32)


def test_parts_are_weighted_and_density_and_distance_taken_off() -> None:
    parts = {"similarity": np.array([0.5]), "density": np.array([0.4]), "distance": np.array([3.0])}
    weights = FormulaWeights(similarity=2, density=0.5, distance=0.1)
    assert formula_score(parts, weights).tolist() == [0.5]


def test_searches_and_missing_links_speak_for_a_target() -> None:
    site = replace(made_site(8), impressions=np.array([100.0, 0, 0, 0, 0, 0, 0, 0]), nodes=np.ones(8, dtype=np.int64))
    indegree = np.array([0, 4, 4, 4, 4, 4, 4, 4], dtype=np.float32)
    poor = formula_parts(site, np.array([0]), features(), indegree)
    rich = formula_parts(site, np.array([1]), features(), indegree)
    assert (poor["authority"][0], poor["deficit"][0]) == (1, 1)
    assert (rich["authority"][0], rich["deficit"][0]) == (0, 0)


def test_a_sentence_from_the_strongest_reasons() -> None:
    said = why({"share": 0.8, "anchor_links": float(np.log1p(3)), "cosine": 0.71, "links_back": 1}, "red tents")
    assert "red tents" in said.sentence
    assert "3 other links" in said.sentence
    assert said.numbers["cosine"] == 0.71
    assert said.sentence[0].isupper()
    assert said.sentence.endswith(".")


def test_even_without_a_reason_there_is_a_sentence() -> None:
    assert why({}).sentence == "It is among the nearest pages."
    assert "category" in why({}, found=bit_of("category")).sentence


def test_generators_have_names() -> None:
    assert names(bit_of("mention") | bit_of("nearest")) == ["nearest", "mention"]
