"""The steps of a match that is one job: how many there are is known as it starts, and its progress never goes back.

What works tells of a stage, and how much of it is done. A reader of progress is told at which step the run is, and
within a step how far, in words: stages take so different times on different sites that no share of the whole is known.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from linker.models.run import MOST_STEPS

if TYPE_CHECKING:
    from linker.runs.lifecycle import Progress

# The stages of each step. A run that learns nothing, or only matches what changed, passes some of them over.
STEPS = (
    ("Reading the languages of pages", "Reading the site", "Looking for copies and variants"),
    ("Finding the nearest pages",),
    ("Reading the texts",),
    ("Comparing words",),
    ("Learning from the site's links", "Learning which words carry links"),
    ("Ranking",),
    ("Choosing words",),
    ("Allocating links",),
    ("Choosing anchors and places",),
    ("Writing suggestions", "Marking what is no longer proposed"),
    ("Cleaning up",),
)
_STEP_OF = {stage: step for step, stages in enumerate(STEPS) for stage in stages}
EVERY = 0.5  # seconds


def in_steps(progress: Progress) -> Progress:
    """Tells `progress` of steps, for one attempt at a run. A stage that comes again, as where the work is looked at
    once more before it is stored, leaves the run at the step that it had come to."""
    step, last, told_at = 0, "", 0.0

    def tell(done: int, total: int, stage: str = "") -> None:
        nonlocal step, last, told_at
        stage = stage or last
        name = stage.partition(",")[0]
        now = time.monotonic()
        is_first = name != last.partition(",")[0]
        if not is_first and now - told_at < EVERY:
            return
        step, last, told_at = max(step, _STEP_OF.get(name, 0)), stage, now
        counts = total > MOST_STEPS and not is_first and name == stage
        progress(step, len(STEPS), f"{stage}, {done:,} of {total:,}" if counts else stage)

    return tell


def uncounted(progress: Progress) -> Progress:
    """Tells `progress` of stages alone, while it is not known yet how much work there is."""

    def tell(done: int, total: int, stage: str = "") -> None:
        progress(0, 0, stage)

    return tell
