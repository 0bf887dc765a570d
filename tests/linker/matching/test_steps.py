"""The progress of a match: the number of its steps is known as it starts, and it never goes back."""

from __future__ import annotations

import pytest

from linker.matching import steps
from linker.matching.start import run_match
from linker.matching.steps import STEPS, in_steps
from linker.models import Run
from tests.factories import make_run
from tests.guides import guides_once, matched_once, site
from tests.guides import matched_project as project

__all__ = ["guides_once", "matched_once", "project", "site"]


class Told(list[tuple[int, int, str]]):
    """What a reader of progress was told."""

    def __call__(self, done: int, total: int, stage: str = "") -> None:
        self.append((done, total, stage))

    @property
    def is_ascending(self) -> bool:
        shares = [done / total for done, total, _stage in self if total]
        return shares == sorted(shares)


def test_stages_with_counts_of_their_own_are_steps_of_one_run(monkeypatch):
    monkeypatch.setattr(steps, "EVERY", 0.0)
    told = Told()
    progress = in_steps(told)
    progress(0, 0, "Reading the site")
    progress(3, 4, "Comparing words")
    progress(0, 9_000, "Ranking")
    progress(6_000, 9_000, "Ranking")
    progress(4, 5, "Cleaning up")
    progress(1, 5, "Choosing anchors and places")  # once more: the settings were changed meanwhile
    progress(1, 5, "Choosing anchors and places, 20 done")
    assert {total for _done, total, _stage in told} == {len(STEPS)}
    assert told.is_ascending
    assert [stage for _done, _total, stage in told[2:4]] == ["Ranking", "Ranking, 6,000 of 9,000"]
    assert told[-1][2] == "Choosing anchors and places, 20 done"


def test_within_a_stage_it_is_told_twice_a_second_at_most():
    told = Told()
    progress = in_steps(told)
    for done in range(100):
        progress(done, 100, "Ranking")
    assert len(told) == 1


@pytest.mark.nightly
@pytest.mark.django_db
def test_the_number_of_steps_is_known_at_the_start_of_a_match_and_its_progress_never_goes_back(project, site):
    for params in ({"ranking": "formula", "threshold": 0.0}, {"ranking": "cosine", "threshold": 0.0}):
        run = make_run(project, status="running", params=params)
        told = Told()
        run_match(run, told)
        Run.objects.filter(pk=run.pk).update(status="succeeded")
        assert told.is_ascending, params
        assert len({total for _done, total, _stage in told if total}) == 1, params
        assert all(0 <= done < total for done, total, _stage in told if total and params["ranking"] == "formula")
