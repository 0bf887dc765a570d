"""Reads: the links that would wait for a second person because of a gate, before it is saved. Bounded as
linker.projects.rule_preview is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from linker.models.querysets import OPEN, SEEN_ONCE, WAITING
from linker.pages.gates import Gates
from linker.projects.patterns import SAMPLE
from linker.projects.rule_preview import EXAMPLES, MOST_PAGES, Touched, links_of

if TYPE_CHECKING:
    from linker.models import CandidateEdge, Gate


@dataclass(frozen=True)
class GateEffect:
    """What a gate would hold: accepted links that wait from now on, open suggestions that wait once they are accepted,
    and links that wait already."""

    accepted: Touched
    open: Touched
    waiting: Touched

    @property
    def is_more(self) -> bool:
        return self.accepted.is_more or self.open.is_more or self.waiting.is_more

    @property
    def examples(self) -> list[CandidateEdge]:
        """Those that saving changes first."""
        return [*self.accepted.examples, *self.open.examples, *self.waiting.examples][:EXAMPLES]


def effect_of(gate: Gate) -> GateEffect:
    """What the gate would do, which is not saved."""
    pages = Gates(gate.project, [gate]).first_pages(MOST_PAGES + 1, SAMPLE)
    accepted, still_open, waiting = (links_of(gate.project, pages, kind) for kind in (SEEN_ONCE, OPEN, WAITING))
    return GateEffect(accepted, still_open, waiting)
