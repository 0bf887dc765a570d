"""What a match run counted, and what a change of tiers moved."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from linker.engine.params import Mode
from linker.engine.ranking.calibration import Family
from linker.engine.roles.policy import PageRole
from linker.matching.eligibility import REASON_WORDS, Ineligibility, IneligibleReason
from linker.models import Basis, Side
from linker.runs.reports import Report

BELOW_TIERS = "below every tier"  # as reports from before they were types name what is below every tier


@dataclass(frozen=True, kw_only=True)
class TierCount:
    """How many links a tier held. It is named since it may be renamed or deleted later."""

    name: str
    links: int


@dataclass(frozen=True, kw_only=True)
class RetierReport(Report):
    """Open suggestions by tier before the tiers changed and after; the fields `below` count those below every tier."""

    before: tuple[TierCount, ...] = ()
    below_before: int | None = None
    after: tuple[TierCount, ...] = ()
    below_after: int | None = None

    @classmethod
    def upgrade(cls, stored: dict[str, Any], version: int) -> dict[str, Any]:
        upgraded: dict[str, Any] = {}
        for side, below in (("before", "below_before"), ("after", "below_after")):
            counts = dict(stored.get(side, {}))
            upgraded[below] = counts.pop(BELOW_TIERS, None)
            upgraded[side] = [{"name": name, "links": links} for name, links in counts.items()]
        return super().upgrade(upgraded, version)


class LinkPlace(StrEnum):
    """Where a suggestion was put."""

    INLINE = "inline"
    RELATED = "related"
    GAP = "gap"  # beside the text, which has no words for it


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """How many pages take no part for a reason, see Ineligibility. `reason` is None for one that an earlier version
    named and this one does not know."""

    pages: int
    reason: IneligibleReason | None = None
    side: Side | None = None
    role: PageRole | None = None


@dataclass(frozen=True, kw_only=True)
class SearchScope:
    """Where acceptors were looked for: so many levels up the category tree, on the whole site where that is None."""

    levels_up: int | None = None


@dataclass(frozen=True, kw_only=True)
class CopiesReport:
    """Groups of pages that are one page more than once. `pairs_held_out` is None until links are allocated."""

    groups: int = 0
    copy_pages: int = 0
    variant_pages: int = 0
    translation_pages: int = 0
    pages_held_out: int = 0
    pairs_held_out: int | None = None
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class TierBound:
    """Where a tier began when the run read it."""

    name: str
    bound: float


@dataclass(frozen=True, kw_only=True)
class AllocationReport:
    """How links were allocated. `total` is the sum of their scores, `lost` of those that found no place; the planned
    total less that of greedy allocation is `against_best_first`, None if the run was greedy itself."""

    mode: Mode = Mode.BEST
    target_cap: int = 0
    total: float = 0.0
    best_first: float | None = None
    against_best_first: float | None = None
    for_need: int | None = None
    donors_with_less_room: int | None = None
    donors_without_room: int | None = None
    without_place: int | None = None
    lost: float | None = None


@dataclass(frozen=True, kw_only=True)
class ApprovalBand:
    """Decisions on suggestions of a range of probability: the mean of what was stated, and the share approved."""

    low: float
    high: float
    decisions: int
    stated: float
    approved: float


@dataclass(frozen=True, kw_only=True)
class KindLesson:
    """How far links of a kind are moved, in log-odds, after so many `decisions` on them, of which `approved` approved.
    `code`: which of the family: the place of a role, of a source of words, or of a placement, or a category's id."""

    family: Family
    code: int
    shift: float
    decisions: int
    approved: int


@dataclass(frozen=True, kw_only=True)
class ApprovalReport:
    """What the probabilities come from: the model that ships, learned on `judged` suggestions of `sites`, moved by
    `slope` and `shift` after `decisions` of the project's editors, and by the kinds of links; nothing below `lowest`
    was raised, and words of each of SOURCES were moved by `sources`. `of_pages`: the id of each page on whose links
    decisions moved them, and how far beside the text and in it."""

    version: str
    judged: int
    sites: int
    decisions: int
    slope: float
    shift: float
    lowest: float = 0.0
    sources: tuple[float, ...] = ()
    bands: tuple[ApprovalBand, ...] = ()
    kinds: tuple[KindLesson, ...] = ()
    of_pages: tuple[tuple[float, ...], ...] = ()


class QueueReason(StrEnum):
    """Why a match run took a suggestion out of what the queue shows, or brought it there."""

    HELD = "held"  # it scores below the tiers that the queue shows
    WORDLESS = "wordless"  # it has no words in the text, and the queue shows only surer ones of these
    STALE = "stale"  # it is no longer proposed
    DECIDED = "decided"  # somebody decided while the run was under way
    GONE = "gone"  # it was deleted with a page
    NEW = "new"
    RAISED = "raised"  # it was held back
    BACK = "back"  # it was no longer proposed

    @property
    def leaves(self) -> bool:
        return self not in (QueueReason.NEW, QueueReason.RAISED, QueueReason.BACK)


@dataclass(frozen=True, kw_only=True)
class QueueMove:
    """So many `links` left what the queue shows, or came, for one reason. `family` and `code` name the kind whose
    decisions moved them most, as in KindLesson; an empty family: none did, or decisions have no part in it."""

    reason: QueueReason
    links: int
    family: str = ""
    code: int = 0


@dataclass(frozen=True, kw_only=True)
class QueueChange:
    """What the queue showed before a run and shows by it: `now` is `before` less what left and with what came, each
    suggestion under one of the `moves`."""

    before: int = 0
    now: int = 0
    moves: tuple[QueueMove, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReceivedReport:
    """What pages that lack links got: `shown` counts those with a suggestion that the queue shows, `in_text` those of
    them with one in a text. Each other page counts once, under the first of the further fields that holds for it."""

    pages: int = 0
    shown: int = 0
    in_text: int = 0
    no_room: int = 0
    linked: int = 0
    held_back: int = 0
    too_unlikely: int = 0
    not_found: int = 0


@dataclass(frozen=True, kw_only=True)
class MatchReport(Report):
    """A match run. What is known once it is planned is there while it goes on; the rest is None until its end.

    `ranking` and the keys of `generators` are names in their registries. `below_tiers` is None where no link is below
    every tier. `orphans` are some of the `under_linked`. Version 1 also counted what the queue showed of each kind of
    link, which `queue` has since.
    """

    version: ClassVar[int] = 2

    edges: int | None = None
    new: int | None = None
    refreshed: int | None = None
    stale: int | None = None
    other_vectors: int | None = None
    sensitive: int | None = None
    languages: dict[str, int] | None = None
    ranking: str | None = None
    ranked_why: str | None = None
    scope: SearchScope | None = None
    donors: int | None = None
    acceptors: int | None = None
    donors_with_text: int | None = None
    pages_left_out: int | None = None
    left_out: tuple[LeftOut, ...] | None = None
    link_languages: bool | None = None
    other_language: int | None = None
    copies: CopiesReport | None = None
    blocks: int | None = None
    batches: int | None = None
    pairs: int | None = None
    candidates: int | None = None
    donors_with_full_pool: int | None = None
    placements: dict[LinkPlace, int] | None = None
    basis: Basis | None = None
    bounds: tuple[TierBound, ...] | None = None
    tiers: tuple[TierCount, ...] | None = None
    below_tiers: int | None = None
    seconds: float | None = None
    allocation: AllocationReport | None = None
    approval: ApprovalReport | None = None
    queue: QueueChange | None = None
    gaps_with_paragraph: int | None = None
    generators: dict[str, int] | None = None
    held_back: int | None = None
    orphans: ReceivedReport | None = None
    threshold: float | None = None
    under_linked: ReceivedReport | None = None
    histogram: tuple[int, ...] | None = None
    """Links by the value that tiers read, in equal bins from 0 to 1."""
    crawl_trusted: bool | None = None
    advice: str | None = None
    """A warning where the model does not know the languages of the pages."""

    @classmethod
    def upgrade(cls, stored: dict[str, Any], version: int) -> dict[str, Any]:
        if version == 1:
            return stored
        upgraded = {name: value for name, value in stored.items() if value not in ({}, None)}
        if "left_out" in upgraded:
            counts = stored["left_out"].items()
            upgraded["left_out"] = [_REASONS.get(words, {}) | {"pages": pages} for words, pages in counts]
        if "scope" in upgraded:
            upgraded["scope"] = {} if stored["scope"] == "site" else {"levels_up": stored["scope"]}
        if "bounds" in upgraded:
            upgraded["bounds"] = [{"name": name, "bound": bound} for name, bound in stored["bounds"].items()]
        if "tiers" in upgraded:
            links = dict(stored["tiers"])
            upgraded["below_tiers"] = links.pop(BELOW_TIERS, None)
            upgraded["tiers"] = [{"name": name, "links": number} for name, number in links.items()]
        if "approval" in upgraded:
            bands = [{**band, "low": band["from"], "high": band["to"]} for band in stored["approval"].get("bands", [])]
            upgraded["approval"] = stored["approval"] | {"bands": [_without(band, "from", "to") for band in bands]}
        return super().upgrade(upgraded, version)


@dataclass(frozen=True, kw_only=True)
class TierMove:
    """How many links of both runs went from one tier to another; None is below every tier."""

    before: str | None = None
    after: str | None = None
    links: int


@dataclass(frozen=True, kw_only=True)
class Distance:
    """How far the histograms of two runs' values lie apart: linker.engine.orders.HistogramDistance. `links`: those of
    the run that has fewer; None in earlier reports."""

    divergence: float
    shift: float
    links: int | None = None


@dataclass(frozen=True, kw_only=True)
class CompareReport(Report):
    """Two match runs compared by what they left open; a link of both may be `moved`, `tier` and `words` at once.

    `rho` is Spearman's of the scores of the links of both, `tau` Kendall's of the order within donors. `within` and
    `across`: of links within a category, and of those between two.
    """

    run: int | None = None
    before: int | None = None
    links_before: int = 0
    links: int = 0
    both: int = 0
    new: int = 0
    gone: int = 0
    decided: int = 0
    moved: int = 0
    tier: int = 0
    words: int = 0
    rho: float | None = None
    tau: float | None = None
    within: Distance | None = None
    across: Distance | None = None
    tier_moves: tuple[TierMove, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StandReport(Report):
    """An earlier match run, `run`, taken as the one that stands, in place of `before`.

    Of the links that were open in it, `opened` are open again and `refreshed` were open and have its words and numbers
    again. `decided` were decided on since, `kept_out` have a page that may not be linked now, and `linked` are on the
    site by now. `closed`: open until then, and not in it.
    """

    run: int | None = None
    before: int | None = None
    opened: int = 0
    refreshed: int = 0
    closed: int = 0
    decided: int = 0
    kept_out: int = 0
    linked: int = 0


_REASONS: dict[str, dict[str, Any]] = {REASON_WORDS[reason]: {"reason": reason} for reason in REASON_WORDS}
_REASONS |= {
    why.words: {name: value for name, value in why._asdict().items() if value is not None}
    for side in (Side.DONOR, Side.ACCEPTOR)
    for why in (
        Ineligibility(IneligibleReason.EXCLUDED, side),
        Ineligibility(IneligibleReason.SUPPRESSED, side),
        *(Ineligibility(IneligibleReason.ROLE, side, role) for role in PageRole),
    )
}
_REASONS[REASON_WORDS[IneligibleReason.NOT_INDEXABLE]]["side"] = Side.ACCEPTOR


def _without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}
