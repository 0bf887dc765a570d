"""Pages that the text has the words of, and that are far from it in meaning, are less likely beside the text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linker.engine.rank import rank_site
from linker.engine.ranking import other_subjects
from linker.engine.ranking.options import EngineOptions
from linker.engine.ranking.other_subjects import OF_ANOTHER_SUBJECT, other_subject_shift
from linker.engine.ranking.ranked import Ranked
from linker.engine.ranking.reasons import REASONS
from linker.engine.site import checked
from tests.engine.sites import made_site

COSINE, NAMED = REASONS.index("cosine"), REASONS.index("named")


def test_the_same_words_of_a_page_far_in_meaning_count_against_it() -> None:
    reasons = np.zeros((4, len(REASONS)), dtype=np.float32)
    reasons[:, COSINE], reasons[:, NAMED] = (0.2, 0.2, 0.5, 0.5), (1, 0, 1, 0)
    assert other_subject_shift(reasons).tolist() == [OF_ANOTHER_SUBJECT, 0, 0, 0]


@pytest.mark.nightly
def test_links_in_the_text_stay_as_likely_and_those_beside_it_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    made = made_site(60)
    unit = np.random.default_rng(1).normal(0, 1, made.unit.shape).astype(np.float32)
    bodies = [f"{body}\nSome like {made.h1s[(page + 31) % 60]} better." for page, body in enumerate(made.bodies)]
    site = checked(replace(made, unit=unit / np.linalg.norm(unit, axis=1, keepdims=True), bodies=bodies))

    def ranked() -> dict[tuple[int, int], tuple[float, float, bool]]:
        """Chances at the best and beside the text, and whether the pair is told to be of another subject."""
        found: Ranked = rank_site(site, EngineOptions(ranking="shipped"))
        far = (found.pairs.features[:, NAMED] > 0) & (found.pairs.features[:, COSINE] < other_subjects.FAR)
        rows = zip(found.source, found.target, found.probability, found.beside, far, strict=True)
        return {(int(s), int(t)): (float(p), float(b), bool(f)) for s, t, p, b, f in rows}

    now = ranked()
    monkeypatch.setattr(other_subjects, "OF_ANOTHER_SUBJECT", 0.0)
    before = ranked()
    assert now.keys() == before.keys()
    lower = {pair for pair in now if now[pair][1] < before[pair][1]}
    assert lower == {pair for pair, (_, _, far) in now.items() if far}
    in_text = {pair for pair in lower if before[pair][0] > before[pair][1]}
    assert in_text
    assert all(now[pair][0] == before[pair][0] for pair in in_text)
    assert all(now[pair][0] == now[pair][1] for pair in lower if before[pair][0] == before[pair][1])
