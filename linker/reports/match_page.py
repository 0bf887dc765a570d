"""The page of a match run: how it ranked and what it found, compared with the run before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linker.engine.candidates.registry import label_of
from linker.engine.params import Mode
from linker.engine.ranking.formula_score import PENALTIES
from linker.matching.report_types import (
    AllocationReport,
    ApprovalBand,
    ApprovalReport,
    LinkPlace,
    MatchReport,
    ReceivedReport,
)
from linker.models import Placement, Ranker, Run, RunKind, RunStatus
from linker.reports.comparison import histograms, tier_shifts
from linker.reports.match import against_best_first
from linker.reports.ranking import finished_matches, ranked_by
from linker.reports.tier_notice import changes

if TYPE_CHECKING:
    from linker.reports.comparison import Bar, Histogram, TierShift

# Fields of the report that the page shows in parts of their own, so that the table of counts need not.
ON_PAGE = frozenset(
    {
        *("ranking", "ranked_why", "placements", "generators", "tiers", "below_tiers", "basis", "bounds", "histogram"),
        *("allocation", "approval", "under_linked", "orphans"),
    }
)
PLACED = {
    LinkPlace.INLINE: str(Placement.INLINE.label),
    LinkPlace.RELATED: str(Placement.RELATED.label),
    LinkPlace.GAP: "Content gaps: no words in the text fit well",
}
MODES = {Mode.BEST: "Greedy", Mode.EQUAL: "Round robin", Mode.OPTIMAL: "Highest total"}
GROUPS = {
    "meaning": "Meaning",
    "words": "Words",
    "mention": "Mentions in the text",
    "graph": "Links around the pair",
    "popularity": "Number of links to and from the pages",
    "category": "Category",
    "address": "Address",
    "text": "Text length",
}


@dataclass(frozen=True)
class Measure:
    """A figure of the ranker's quality: its name, its value as shown, and what it means."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True)
class Band:
    """Suggestions of a range of probability that editors decided on: what was stated of them and what was approved, on
    average."""

    label: str
    decisions: int
    stated: str
    approved: str


@dataclass(frozen=True)
class Part:
    """A line of a list of bars: `width` is in percent of the longest."""

    label: str
    value: str
    width: str


@dataclass(frozen=True)
class MatchPage:
    """What a finished match run has to say; `before` is the finished match run before it."""

    ranked_by: str
    why: str
    version: str
    learned_from: str
    approval: str
    bands: list[Band]
    under_linked: list[Part]
    orphans: list[Part]
    measures: list[Measure]
    parts: list[Part]
    placements: list[Part]
    generators: list[Part]
    allocation: str
    before: Run | None
    changes: str
    tiers: list[TierShift]
    histograms: list[Histogram]

    @property
    def bins(self) -> list[tuple[Bar, ...]]:
        """The histograms' bars side by side, a tuple a bin: the table behind the pictures."""
        return list(zip(*(histogram.bars for histogram in self.histograms), strict=True))


def match_page(run: Run) -> MatchPage | None:
    """None for any other run, and for one that has not succeeded."""
    if run.kind != RunKind.MATCH or run.status != RunStatus.SUCCEEDED:
        return None
    report = MatchReport.from_json(run.report)
    ranker = Ranker.objects.filter(run=run).defer("model").first()
    before = finished_matches(run.project).filter(pk__lt=run.pk).first()
    return MatchPage(
        ranked_by=ranked_by(run),
        why=report.ranked_why or "",
        version=ranker.version if ranker else "",
        learned_from=_learned_from(ranker) if ranker and ranker.labels else "",
        approval=_approval(report.approval) if report.approval else "",
        bands=[_band(band) for band in report.approval.bands] if report.approval else [],
        under_linked=_received(report.under_linked),
        orphans=_received(report.orphans),
        measures=_measures(ranker.quality) if ranker and ranker.quality else [],
        parts=_weights(ranker) if ranker else [],
        placements=_bars({PLACED[place]: links for place, links in (report.placements or {}).items()}),
        generators=_bars({label_of(name): links for name, links in (report.generators or {}).items()}),
        allocation=_allocation(report.allocation) if report.allocation else "",
        before=before,
        changes=changes(run, before) if before else "",
        tiers=tier_shifts(run, before),
        histograms=histograms([run, before] if before else [run]),
    )


def _learned_from(ranker: Ranker) -> str:
    quality = ranker.quality
    if ranker.kind == "shipped":
        return f"Learned from {ranker.labels:,} links of {quality.get('sites', 0)} other sites."
    accepted, rejected = quality.get("accepted", 0), quality.get("rejected", 0)
    decided = f" and {accepted + rejected:,} decisions ({accepted:,} accepted, {rejected:,} rejected)"
    return (
        f"Learned from {ranker.labels:,} links{decided if accepted + rejected else ''}: "
        f"{quality.get('pairs', 0):,} pairs in all."
    )


def _approval(approval: ApprovalReport) -> str:
    """What the probabilities come from."""
    shipped = (
        "The probability says how likely an editor is to approve a suggestion unchanged. It comes from the model "
        f"that ships with Anchorline ({approval.version}), trained on {approval.judged:,} suggestions from "
        f"{approval.sites} sites that people had judged"
    )
    decisions = approval.decisions
    if not decisions:
        return f"{shipped}. This project has no decisions yet that could adjust it."
    own = "1 decision" if decisions == 1 else f"{decisions:,} decisions"
    return f"{shipped}. It is adjusted by {own} in this project."


def _band(band: ApprovalBand) -> Band:
    return Band(f"{band.low:.0%} to {band.high:.0%}", band.decisions, f"{band.stated:.0%}", f"{band.approved:.0%}")


_RECEIVED = {
    "in_text": "with a suggestion in the text of a donor",
    "beside": "with suggestions only beside a text",
    "held_back": "with suggestions that are held back, or below every tier",
    "no_room": "whose donors had no room left",
    "too_unlikely": "without a sufficiently likely pair",
    "linked": "that likely donors already link to beside their text",
    "not_found": "without any suitable candidate",
}


def _received(got: ReceivedReport | None) -> list[Part]:
    """What pages that lack links got."""
    if got is None:
        return []
    counts = {name: got.shown - got.in_text if name == "beside" else getattr(got, name) for name in _RECEIVED}
    named = {name: pages for name, pages in counts.items() if pages or name in ("in_text", "beside")}
    most = max(1, *named.values())
    return [Part(_RECEIVED[name], f"{pages:,}", f"{100 * pages / most:.2f}") for name, pages in named.items()]


def _measures(quality: dict[str, Any]) -> list[Measure]:
    found = []
    recall, precision = quality.get("recall_at_10"), quality.get("precision_at_half")
    if recall is not None and quality.get("hidden"):
        found.append(
            Measure(
                "Recall at 10",
                f"{recall:.1%}",
                f"The share of {quality.get('hidden', 0):,} hidden links that the ranker put among the first ten "
                "suggestions of their page.",
            )
        )
        found.append(
            Measure(
                "Precision at half recall",
                f"{precision:.1%}" if precision is not None else "never",
                "Of the list down to the point where half of the hidden links have been found, the share that is "
                "hidden links. Not all the rest is wrong: it includes good links that the site does not have yet."
                if precision is not None
                else "Fewer than half of the hidden links were found, so there is nothing to measure.",
            )
        )
    return found


def _weights(ranker: Ranker) -> list[Part]:
    """Learned: the share of each group of features in what the trees gained. Formula: its weights."""
    if ranker.kind == "learned":
        weights = {GROUPS.get(name, name): value for name, value in ranker.weights.items()}
        return _bars(weights, percent=True)
    names = {name: f"{name.capitalize()}{', subtracted' if name in PENALTIES else ''}" for name in ranker.weights}
    return _bars({names[name]: value for name, value in ranker.weights.items()})


def _bars(values: dict[str, float], *, percent: bool = False) -> list[Part]:
    """Largest first, ties by label."""
    most = max((abs(value) for value in values.values()), default=0) or 1

    def shown(value: float) -> str:
        return f"{value:.1%}" if percent else f"{value:,}" if isinstance(value, int) else f"{value:g}"

    ordered = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    return [Part(label, shown(value), f"{100 * abs(value) / most:.2f}") for label, value in ordered]


def _allocation(report: AllocationReport) -> str:
    parts = [f"{MODES[report.mode]}, with a total score of {report.total:,.1f}{_against(report)}."]
    first = report.for_need
    if first:
        links = "1 link was" if first == 1 else f"{first:,} links were"
        parts.append(f"Of these, {links} allocated to under-linked pages before all others.")
    if report.without_place:
        links = "One link" if report.without_place == 1 else f"{report.without_place:,} links"
        parts.append(
            f"{links}, with a total score of {report.lost or 0:,.1f}, could not be placed in the text or beside it."
        )
    less = report.donors_with_less_room
    if less:
        donors = "1 donor has" if less == 1 else f"{less:,} donors have"
        parts.append(
            f"{donors} less room than others because of existing links; {report.donors_without_room or 0:,} of them no "
            "room at all."
        )
    return " ".join(parts)


def _against(report: AllocationReport) -> str:
    """How the total compares with that of greedy allocation."""
    best = report.best_first
    if best is None:
        return ""
    # Reports from before it was counted give the gain as a share, of what was taken in the end.
    difference = round(report.total - best, 4) if report.against_best_first is None else report.against_best_first
    if not difference:
        return f": the same as greedy allocation, {best:,.1f}"
    share = f" ({abs(difference) / best:.2%})" if best > 0 else ""
    said = f"{against_best_first(difference, share)} than the {best:,.1f} of greedy allocation"
    if difference < 0 and report.mode is Mode.OPTIMAL:
        return f". The optimal plan came to {said}, so greedy allocation was used"
    return f": {said}"
