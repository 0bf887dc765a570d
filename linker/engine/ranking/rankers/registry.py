"""The rankers there are. A new one is a file beside this one and a line in RANKERS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.engine.ranking.rankers.cosine import Cosine
from linker.engine.ranking.rankers.formula import Formula
from linker.engine.ranking.rankers.learned import Learned
from linker.engine.ranking.rankers.shipped import Shipped

if TYPE_CHECKING:
    from linker.engine.ranking.rankers.base import Ranker

# By name, in the order in which people see them.
RANKERS: dict[str, Ranker] = {ranker.name: ranker for ranker in (Learned(), Shipped(), Formula(), Cosine())}


def ranker_of(name: str) -> Ranker:
    """The ranker of this name. Raises ValueError where there is none."""
    if name not in RANKERS:
        raise ValueError(f"there is no ranker {name}; there are {', '.join(RANKERS)}")
    return RANKERS[name]


def choices() -> list[tuple[str, str]]:
    """Names and labels, for forms."""
    return [(name, ranker.label) for name, ranker in RANKERS.items()]
