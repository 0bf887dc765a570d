"""The page of a match run: how it ranked and what it found, compared with the run before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, ngettext

from linker.engine.candidates.registry import label_of
from linker.engine.params import Mode
from linker.matching.ranking_sayings import RANKED_WHY
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
from linker.reports.match import figure
from linker.reports.ranking import finished_matches, ranked_by
from linker.reports.sentences import in_words
from linker.reports.tier_notice import changes
from linker.wording import decimal, number, percent

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
    LinkPlace.INLINE: Placement.INLINE.label,
    LinkPlace.RELATED: gettext_lazy("On a line of their own or in the list at the end"),
    LinkPlace.GAP: gettext_lazy("Without sure words in the text, wherever the project has them go"),
}
MODES = {
    Mode.BEST: gettext_noop("Greedy"),
    Mode.EQUAL: gettext_noop("Round robin"),
    Mode.OPTIMAL: gettext_noop("Highest total"),
}
GROUPS = {
    "meaning": gettext_noop("Meaning"),
    "words": gettext_noop("Words"),
    "mention": gettext_noop("Mentions in the text"),
    "graph": gettext_noop("Links around the pair"),
    "popularity": gettext_noop("Number of links to and from the pages"),
    "category": gettext_noop("Category"),
    "address": gettext_noop("Address"),
    "text": gettext_noop("Text length"),
}
# The parts of the formula, linker.engine.ranking.formula_score.FormulaWeights.
FORMULA = {
    "similarity": gettext_noop("Similarity"),
    "words": gettext_noop("Words"),
    "mention": gettext_noop("Mention"),
    "authority": gettext_noop("Authority"),
    "deficit": gettext_noop("Deficit"),
    "density": gettext_noop("Density, subtracted"),
    "distance": gettext_noop("Distance, subtracted"),
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
        why=in_words(report.ranked_why or "", RANKED_WHY),
        version=ranker.version if ranker else "",
        learned_from=_learned_from(ranker) if ranker and ranker.labels else "",
        approval=_approval(report.approval) if report.approval else "",
        bands=[_band(band) for band in report.approval.bands] if report.approval else [],
        under_linked=_received(report.under_linked),
        orphans=_received(report.orphans),
        measures=_measures(ranker.quality) if ranker and ranker.quality else [],
        parts=_weights(ranker) if ranker else [],
        placements=_bars({str(PLACED[place]): links for place, links in (report.placements or {}).items()}),
        generators=_bars({_(label_of(name)): links for name, links in (report.generators or {}).items()}),
        allocation=_allocation(report.allocation) if report.allocation else "",
        before=before,
        changes=changes(run, before) if before else "",
        tiers=tier_shifts(run, before),
        histograms=histograms([run, before] if before else [run]),
    )


def _learned_from(ranker: Ranker) -> str:
    quality = ranker.quality
    if ranker.kind == "shipped":
        said = _("Learned from %(links)s links of %(sites)s other sites.")
        return said % {"links": number(ranker.labels), "sites": number(quality.get("sites", 0))}
    accepted, rejected = quality.get("accepted", 0), quality.get("rejected", 0)
    said = _("Learned from %(links)s links: %(pairs)s pairs in all.")
    if accepted + rejected:
        said = _(
            "Learned from %(links)s links and %(decisions)s decisions (%(accepted)s accepted, %(rejected)s rejected): "
            "%(pairs)s pairs in all."
        )
    counts = {
        "links": ranker.labels,
        "decisions": accepted + rejected,
        "accepted": accepted,
        "rejected": rejected,
        "pairs": quality.get("pairs", 0),
    }
    return said % {name: number(value) for name, value in counts.items()}


def _approval(approval: ApprovalReport) -> str:
    """What the probabilities come from."""
    shipped = _(
        "The probability says how likely an editor is to approve a suggestion unchanged. It comes from the model that "
        "ships with Anchorline (%(version)s), trained on %(judged)s suggestions from %(sites)s sites that people had "
        "judged."
    ) % {"version": approval.version, "judged": number(approval.judged), "sites": number(approval.sites)}
    decisions = approval.decisions
    own = ngettext(
        "It is adjusted by %(decisions)s decision in this project.",
        "It is adjusted by %(decisions)s decisions in this project.",
        decisions,
    )
    if not decisions:
        own = _("This project has no decisions yet that could adjust it.")
    else:
        own += " " + _(
            "The ranker learns from decisions only where the site has few links, and never from rejections of the "
            "words."
        )
    return f"{shipped} {own % {'decisions': number(decisions)}}"


def _band(band: ApprovalBand) -> Band:
    label = _("%(low)s to %(high)s") % {"low": percent(band.low), "high": percent(band.high)}
    return Band(label, band.decisions, percent(band.stated), percent(band.approved))


_RECEIVED = {
    "in_text": gettext_noop("with a suggestion in the text of a donor"),
    "beside": gettext_noop("with suggestions only beside a text"),
    "held_back": gettext_noop("with suggestions that are held back, or below every tier"),
    "no_room": gettext_noop("whose donors had no room left"),
    "too_unlikely": gettext_noop("without a sufficiently likely pair"),
    "linked": gettext_noop("that likely donors already link to beside their text"),
    "not_found": gettext_noop("without any suitable candidate"),
}


def _received(got: ReceivedReport | None) -> list[Part]:
    """What pages that lack links got."""
    if got is None:
        return []
    counts = {name: got.shown - got.in_text if name == "beside" else getattr(got, name) for name in _RECEIVED}
    named = {name: pages for name, pages in counts.items() if pages or name in ("in_text", "beside")}
    most = max(1, *named.values())
    return [Part(_(_RECEIVED[name]), number(pages), f"{100 * pages / most:.2f}") for name, pages in named.items()]


def _measures(quality: dict[str, Any]) -> list[Measure]:
    recall, precision = quality.get("recall_at_10"), quality.get("precision_at_half")
    if recall is None or not quality.get("hidden"):
        return []
    recalled = _(
        "The share of %(links)s hidden links that the ranker put among the first ten suggestions of their page."
    ) % {"links": number(quality["hidden"])}
    found = [Measure(_("Recall at 10"), percent(recall, 1), recalled)]
    if precision is None:
        never = _("Fewer than half of the hidden links were found, so there is nothing to measure.")
        return [*found, Measure(_("Precision at half recall"), _("never"), never)]
    share = _(
        "Of the list down to the point where half of the hidden links have been found, the share that is hidden links. "
        "Not all the rest is wrong: it includes good links that the site does not have yet."
    )
    return [*found, Measure(_("Precision at half recall"), percent(precision, 1), share)]


def _weights(ranker: Ranker) -> list[Part]:
    """Learned: the share of each group of features in what the trees gained. Formula: its weights."""
    if ranker.kind == "learned":
        weights = {_(GROUPS.get(name, name)): value for name, value in ranker.weights.items()}
        return _bars(weights, shares=True)
    return _bars({_(FORMULA.get(name, name.capitalize())): value for name, value in ranker.weights.items()})


def _bars(values: dict[str, float], *, shares: bool = False) -> list[Part]:
    """Largest first, ties by label."""
    most = max((abs(value) for value in values.values()), default=0) or 1

    def shown(value: float) -> str:
        if shares:
            return percent(value, 1)
        return number(value) if isinstance(value, int) else number_format(f"{value:g}")

    ordered = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    return [Part(label, shown(value), f"{100 * abs(value) / most:.2f}") for label, value in ordered]


def _allocation(report: AllocationReport) -> str:
    return " ".join(filter(None, [*_total(report), _for_need(report), _without_place(report), _less_room(report)]))


def _total(report: AllocationReport) -> list[str]:
    """The total, and how it compares with that of greedy allocation."""
    values = {"mode": _(MODES[report.mode]), "total": decimal(report.total, 1)}
    best = report.best_first
    if best is None:
        return [_("%(mode)s, with a total score of %(total)s.") % values]
    # Reports from before it was counted give the gain as a share, of what was taken in the end.
    difference = round(report.total - best, 4) if report.against_best_first is None else report.against_best_first
    values |= {"best": decimal(best, 1), "difference": figure(abs(difference))}
    if best > 0:
        values["difference"] += f" ({percent(abs(difference) / best, 2)})"
    if not difference:
        said = _("%(mode)s, with a total score of %(total)s: the same as greedy allocation, %(best)s.")
    elif difference > 0:
        said = _(
            "%(mode)s, with a total score of %(total)s: %(difference)s more than the %(best)s of greedy allocation."
        )
    elif report.mode is Mode.OPTIMAL:
        return [
            _("%(mode)s, with a total score of %(total)s.") % values,
            _(
                "The optimal plan came to %(difference)s less than the %(best)s of greedy allocation, so greedy "
                "allocation was used."
            )
            % values,
        ]
    else:
        said = _(
            "%(mode)s, with a total score of %(total)s: %(difference)s less than the %(best)s of greedy allocation."
        )
    return [said % values]


def _for_need(report: AllocationReport) -> str:
    links = report.for_need or 0
    said = ngettext(
        "Of these, %(links)s link was allocated to under-linked pages before all others.",
        "Of these, %(links)s links were allocated to under-linked pages before all others.",
        links,
    )
    return said % {"links": number(links)} if links else ""


def _without_place(report: AllocationReport) -> str:
    links = report.without_place or 0
    said = ngettext(
        "One link, with a total score of %(lost)s, could not be placed in the text or beside it.",
        "%(links)s links, with a total score of %(lost)s, could not be placed in the text or beside it.",
        links,
    )
    return said % {"links": number(links), "lost": decimal(report.lost or 0, 1)} if links else ""


def _less_room(report: AllocationReport) -> str:
    donors = report.donors_with_less_room or 0
    said = ngettext(
        "%(donors)s donor has less room than others because of existing links; %(without)s of them no room at all.",
        "%(donors)s donors have less room than others because of existing links; %(without)s of them no room at all.",
        donors,
    )
    return said % {"donors": number(donors), "without": number(report.donors_without_room or 0)} if donors else ""
