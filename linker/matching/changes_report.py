"""What a run over what changed did."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from linker.runs.reports import Report


class Whole(StrEnum):
    """Why the whole site has to be matched instead."""

    NO_RUN = "no_run"
    NOT_KEPT = "not_kept"  # matched before marks were kept of pages
    LIMITED = "limited"
    BY_COSINE = "by_cosine"
    OTHER_VECTORS = "other_vectors"
    OTHER_RANKER = "other_ranker"
    TAKEN_AGAIN = "taken_again"
    MUCH_CHANGED = "much_changed"
    MUCH_IN_ALL = "much_in_all"
    MANY_RUNS = "many_runs"


@dataclass(frozen=True, kw_only=True)
class ChangesReport(Report):
    """A run over what changed since the match run `run`: of its `pages`, `changed` are new or otherwise than it read
    them, `new` among these, and `gone` are no more. `whole`: why nothing was done, since the whole site has to be
    matched.

    `donors` were matched anew; `links` were found for them, `opened` of them suggested for the first time, and `closed`
    suggestions are no longer proposed. Of the `refreshed` ones `back` were no longer proposed before. `before` and
    `after`: the project's open suggestions, what is held back among them; None in earlier reports. `changes` and
    `changed_in_all`: such runs, and the pages that they found changed, since the match run.
    """

    run: int | None = None
    whole: Whole | None = None
    pages: int = 0
    changed: int = 0
    new: int = 0
    gone: int = 0
    donors: int = 0
    links: int = 0
    opened: int = 0
    refreshed: int = 0
    back: int | None = None
    closed: int = 0
    before: int | None = None
    after: int | None = None
    changes: int | None = None
    changed_in_all: int | None = None
    seconds: float | None = None

    @property
    def brought_news(self) -> bool:
        return self.links > 0 or self.closed > 0
