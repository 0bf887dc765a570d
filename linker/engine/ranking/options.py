"""How a site is ranked."""

from __future__ import annotations

from dataclasses import dataclass, field

from linker.engine.anchors.training import AnchorOptions
from linker.engine.candidates.block_search import Tiling
from linker.engine.limits import Limits
from linker.engine.nearest.vectors import SearchOptions
from linker.engine.ranking.approval import Approval, shipped
from linker.engine.ranking.boosted_trees import TrainOptions
from linker.engine.ranking.calibration import Calibration
from linker.engine.ranking.formula_score import FormulaWeights


@dataclass(frozen=True)
class EngineOptions:
    """How a site is ranked.

    ranking        name of the ranker, see linker.engine.ranking.rankers.registry
    otherwise      name of the one that takes its place where the site has too little to learn from
    generators     names of those switched on; none: all
    pool           best pairs kept a source
    least_score    pairs that score less are left out: of a probability, or of a cosine less its penalty
    level_penalty  cosine: taken off for each level of the category tree
    worded         best pairs of a source whose words are looked for; the others can only be placed beside the text
    training, anchors, weights    of the learned ranker, of the choice of words, of the formula
    approval       says how likely an editor is to approve; `calibration`: how this project's editors differ from that
    search         how far the nearest pages are looked for exactly
    limits, tiling what is held at a time, and compared at a time by cosine
    """

    ranking: str = "learned"
    otherwise: str = "formula"
    generators: tuple[str, ...] = ()
    pool: int = 40
    least_score: float = 0.0
    level_penalty: float = 0.02
    worded: int = 15
    training: TrainOptions = field(default_factory=TrainOptions)
    anchors: AnchorOptions = field(default_factory=AnchorOptions)
    weights: FormulaWeights = field(default_factory=FormulaWeights)
    approval: Approval = field(default_factory=shipped)
    calibration: Calibration = field(default_factory=Calibration)
    search: SearchOptions = field(default_factory=SearchOptions)
    limits: Limits = field(default_factory=Limits)
    tiling: Tiling = field(default_factory=Tiling)
