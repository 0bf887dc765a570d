"""The donors of a pilot run: drawn once, when the run begins, and frozen with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from linker.engine.sampling import draw
from linker.matching.eligibility import Eligible
from linker.models import Category, Pilot, Run
from linker.models.subtrees import categories_below
from linker.pages.page_lists import led_on

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.params import MatchParams, Sample
    from linker.models import Project


def limited_to_pilot(run: Run, params: MatchParams, eligible: Eligible) -> Eligible:
    """The pages of a run, with no other donors than those its pilot drew. A run that is no pilot keeps all."""
    if params.pilot is None:
        return eligible
    pilot = Pilot.objects.filter(run=run).first()
    if pilot is not None:
        drawn = led_on(run.project_id, np.frombuffer(pilot.pages, "<i8").astype(np.int64))
    else:
        donors = np.flatnonzero(eligible.chosen_donor)
        drawn = eligible.ids[donors][_drawn(run.project, params.pilot, eligible.categories[donors])]
        Pilot.objects.create(run=run, pages=drawn.astype("<i8").tobytes(), size=len(drawn), out_of=len(donors))
    return replace(eligible, chosen_donor=eligible.chosen_donor & np.isin(eligible.ids, drawn))


def _drawn(project: Project, wanted: Sample, categories: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of the donors that are drawn, of which `categories` [n] are given."""
    among = np.arange(len(categories))
    if wanted.categories:
        among = among[np.isin(categories, list(categories_below(project, wanted.categories)))]
    if not wanted.pages:
        return among
    strata = _strata(project, categories[among]) if wanted.spread else np.zeros(len(among), dtype=np.int64)
    return among[draw(strata, wanted.pages, wanted.seed)]


def _strata(project: Project, categories: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for the top category of each page, int64 [n]. Where all of them share it, as where every path begins
    with the home page, the first level that tells them apart counts."""
    known, place = np.unique(categories, return_inverse=True)
    paths = dict(Category.objects.filter(project=project).values_list("pk", "path"))
    trails = [tuple(paths.get(category, ())) for category in known.tolist()]
    for depth in range(1, 1 + max(map(len, trails), default=0)):
        tops = sorted({trail[:depth] for trail in trails})
        if len(tops) > 1:
            number = {top: at for at, top in enumerate(tops)}
            return np.array([number[trail[:depth]] for trail in trails], dtype=np.int64)[place]
    return np.zeros(len(categories), dtype=np.int64)
