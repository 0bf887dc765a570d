"""One link after another: its anchor, its place, its tier, and where it stands."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from linker.engine.allocation.allocate import Reason
from linker.matching.placement_caps import PlacementCaps
from linker.matching.placing import Placer
from linker.matching.replacing import Replaced, holds
from linker.matching.room import Room
from linker.models import Basis, Placement
from linker.models.linked import already_linked
from linker.models.querysets import APPROVED

if TYPE_CHECKING:
    from linker.engine.params import MatchParams
    from linker.matching.allocation import AllocatedLinks
    from linker.matching.chosen import ChosenPairs, PairFacts
    from linker.matching.placing import Phrases, Placed
    from linker.models import Project, Tier


class NewLink(NamedTuple):
    """A pair with all that makes it a suggestion. `probability` and `score`: as it stands, on these words or beside the
    text. `is_gap`: it belongs into the text, which has no words for it and could take a sentence."""

    placed: Placed
    placement: str
    tier: Tier | None
    probability: float
    score: float
    is_gap: bool


@dataclass
class Unplaced:
    """Allocated pairs that found no place, why, and what their scores add up to."""

    pairs: dict[tuple[int, int], Reason] = field(default_factory=dict)
    score: float = 0.0


class LinkMaker:
    """Makes the links of a run from its chosen pairs, in their order."""

    def __init__(
        self,
        project: Project,
        params: MatchParams,
        chosen: ChosenPairs,
        allocated: AllocatedLinks,
        phrases: Phrases | None,
    ) -> None:
        self.tiers = chosen.tiers
        self.reads_probability = self.tiers.basis == Basis.PROBABILITY
        # How probable a link of each cohort has to be for a tier that places it in the text.
        self.inline_bounds = self.tiers.lowest(Placement.INLINE)
        self.placer = Placer(project, chosen.sources, chosen.targets, phrases)
        self.caps = _caps(project, params, allocated)
        self.caps.keep_room(chosen.rows["source"][chosen.has_kept_room].tolist())
        self.placements = Counter[str]()
        self.unplaced = Unplaced()
        self.replacing, self.gain = allocated.replacing, project.replace_gain / 100
        self.replaced: list[Replaced] = []

    def make(self, row: dict[str, Any], facts: PairFacts) -> NewLink | None:
        """The link of a row of FOUND whose donor was read; None where there is no place for it."""
        source, target, score = row["source"], row["target"], row["score"]
        tier, cohort = self._expected(row, facts)
        placed = self._placed(row, tier, facts.cohort)
        if (source, target) not in self.placer.human_anchors and not self.placer.names.may_say(target, placed.anchor):
            self._leave_out(row, Reason.WORDS_RULED_OUT, score)
            return None
        probability = _probability_as_placed(row, placed)
        read_by = self.tiers.as_placed(facts.cohort, has_words=placed.span is not None)
        if self.reads_probability and (probability < row["probability"] or read_by != cohort):
            tier = self.tiers.read(probability, read_by)
        if self.reads_probability and probability < row["probability"]:
            score = round(score * probability / row["probability"], 6)
        wanted = _wanted(tier)
        has_place = placed.span is not None
        planned = self.replacing.get((source, target))
        if planned is not None:
            is_there = planned.placement == (wanted if has_place else "related")
            if not (is_there and holds(planned, probability, self.gain)):
                self._leave_out(row, Reason.SOURCE_FULL, score)
                return None
            placement: str | None = planned.placement.value
            self.replaced.append(Replaced(source, target, planned, probability))
        elif (source, target) in self.placer.human_anchors:
            placement = wanted if has_place else "related"
        else:
            placement = self.caps.put(
                source, wanted, has_place, text_alone=facts.text_alone, has_kept_room=facts.has_kept_room
            )
        if placement is None:
            self._leave_out(row, Reason.LINKED_BESIDE if facts.text_alone else Reason.RELATED_FULL, score)
            return None
        is_gap = wanted == "inline" and not has_place and self.placer.has_prose(source)
        self.placements["gap" if is_gap else placement] += 1
        return NewLink(placed, placement, tier, probability, score, is_gap)

    def _expected(self, row: dict[str, Any], facts: PairFacts) -> tuple[Tier | None, int]:
        """The tier of a pair before its words are known, and the cohort that reads it so: a pair whose words are not
        sure enough for the text may be sure enough beside it."""
        tier = self.tiers.tiers[facts.tier] if facts.tier >= 0 else None
        beside = self.tiers.as_placed(facts.cohort, has_words=False)
        if (tier is not None and not tier.held) or beside == facts.cohort:
            return tier, facts.cohort
        return self.tiers.read(min(row["probability"], row["beside"]), beside), beside

    def _leave_out(self, row: dict[str, Any], reason: Reason, score: float) -> None:
        self.unplaced.pairs[row["source"], row["target"]] = reason
        self.unplaced.score += score

    def _placed(self, row: dict[str, Any], tier: Tier | None, cohort: int) -> Placed:
        source, beside = row["source"], row["beside"]
        is_shown = tier is not None and not tier.held
        # How well words have to fit for a link on them to be in a tier that places it in the text. One that is held
        # back keeps whatever words it has, so that lower bounds bring it into the text at once.
        text_cohort = self.tiers.as_placed(cohort, has_words=True)
        bound = self.inline_bounds[text_cohort] if self.reads_probability and is_shown else 0.0
        least = bound / beside if bound and beside > 0 else 0.0
        planned = self.replacing.get((source, row["target"]))
        has_room = self.caps.has_room_in_text(source) if planned is None else planned.placement == "inline"
        in_text = (_wanted(tier) == "inline" or not is_shown) and has_room
        return self.placer.place(source, row["target"], counts=is_shown, inline=in_text, least=least)


def _wanted(tier: Tier | None) -> str:
    """Where a tier wants its links."""
    return tier.placement if tier else "related"


def _caps(project: Project, params: MatchParams, allocated: AllocatedLinks) -> PlacementCaps:
    accepted = project.edges.filter(APPROVED).order_by()
    waiting = accepted.exclude(pk__in=already_linked(accepted).values("pk"))
    return PlacementCaps(
        Room(params.inline_per_donor, params.related_per_donor),
        allocated.rooms,
        waiting.values_list("source_id", "placement").iterator(),
    )


def _probability_as_placed(row: dict[str, Any], placed: Placed) -> float:
    """The probability of a link where it stands now: on these words, or beside the text after all."""
    if row["beside"] != row["beside"]:
        return float(row["probability"])
    if placed.span is None:
        return min(float(row["probability"]), float(row["beside"]))
    if placed.fit != placed.fit:
        return float(row["probability"])
    return round(min(float(row["probability"]), float(row["beside"]) * placed.fit), 6)
