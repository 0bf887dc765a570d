"""Reads: how a match run ranked and what it found, beside the run before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linker.engine.candidates.registry import label_of
from linker.engine.ranking.formula import TAKEN_OFF
from linker.engine.ranking.rankers.registry import RANKERS
from linker.models import Basis, Placement, Ranker, Run, RunKind, RunStatus
from linker.reports.details import against_best_first

if TYPE_CHECKING:
    from linker.models import Project

# What match_report says, so that the list of the run's counts need not.
TOLD = frozenset(
    {
        *("ranking", "ranked_why", "placements", "generators", "tiers", "basis", "histogram", "allocation", "bounds"),
        *("approval", "under_linked", "orphans"),
    }
)
BELOW = "below every tier"
PLACED = {
    **{str(one.value): str(one.label) for one in Placement},
    "gap": "Content gaps: no words of the text fit well",
}
MODES = {"best": "Best first", "equal": "Equal rounds", "optimal": "Highest total"}
GROUPS = {
    "meaning": "Meaning",
    "words": "Words",
    "mention": "Mentions in the text",
    "graph": "Links around the pair",
    "popularity": "How much the pages are linked",
    "category": "Category",
    "address": "Address",
    "text": "Length of the texts",
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
class Bar:
    """A bin of a histogram, from `start` to `stop`; `x`, `y` and `height` are in percent of the picture."""

    start: str
    stop: str
    count: int
    x: str
    y: str
    height: str


@dataclass(frozen=True)
class Histogram:
    """How a run's links spread over the value that its tiers read; `marks` are where tiers began, in percent."""

    run: Run
    basis: str
    bars: list[Bar]
    marks: list[str]


@dataclass(frozen=True)
class TierShift:
    """A tier's links in this run and in the one before, and the bounds it had then; None where it was not there."""

    name: str
    bound: str
    bound_before: str
    count: int | None
    before: int | None

    @property
    def shift(self) -> str:
        if self.count is None or self.before is None:
            return ""
        change = self.count - self.before
        if not change:
            return "±0"
        sign = "+" if change > 0 else "\N{MINUS SIGN}"
        return f"{sign}{abs(change):,}"


@dataclass(frozen=True)
class MatchReport:
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


def match_report(run: Run) -> MatchReport | None:
    """None for any other run, and for one that has not succeeded."""
    if run.kind != RunKind.MATCH or run.status != RunStatus.SUCCEEDED:
        return None
    report = run.report
    ranker = Ranker.objects.filter(run=run).defer("model").first()
    before = _matches(run.project).filter(pk__lt=run.pk).first()
    return MatchReport(
        ranked_by=_by(run),
        why=report.get("ranked_why", ""),
        version=ranker.version if ranker else "",
        learned_from=_learned_from(ranker) if ranker and ranker.labels else "",
        approval=_approval(report.get("approval", {})),
        bands=_bands(report.get("approval", {}).get("bands", [])),
        under_linked=_lacking(report.get("under_linked", {})),
        orphans=_lacking(report.get("orphans", {})),
        measures=_measures(ranker.quality) if ranker and ranker.quality else [],
        parts=_weights(ranker) if ranker else [],
        placements=_bars({PLACED.get(name, name): count for name, count in report.get("placements", {}).items()}),
        generators=_bars({label_of(name): count for name, count in report.get("generators", {}).items()}),
        allocation=_allocation(report.get("allocation", {})),
        before=before,
        changes=_changes(run, before) if before else "",
        tiers=_shifts(run, before),
        histograms=_histograms([run, before] if before else [run]),
    )


def _matches(project: Project) -> Any:
    """The project's finished match runs, newest first."""
    return Run.objects.filter(project=project, kind=RunKind.MATCH, status=RunStatus.SUCCEEDED).select_related("model")


def newest_match(project: Project) -> Run | None:
    """The newest match run that has succeeded."""
    found: Run | None = _matches(project).first()
    return found


def ranking_of(run: Run) -> str:
    """ "learned", "shipped", "formula" or "cosine"; runs from before there was a choice were by cosine."""
    return str(run.report.get("ranking") or run.params.get("ranking") or "cosine")


def _by(run: Run) -> str:
    """Who ranked the run, after "by"; the plain name of a ranker that is no more."""
    name = ranking_of(run)
    return RANKERS[name].by if name in RANKERS else name


def basis_of(run: Run) -> str:
    """What the run's tiers were read by."""
    return str(run.report.get("basis") or Basis.COSINE)


# ------------------------------------------------------------------------------------------------------ the notice


@dataclass(frozen=True)
class TierNotice:
    """That tiers read another thing now than when their bounds were last looked at, in `run` and `before`."""

    run: Run
    before: Run
    said: str


def tier_notice(project: Project) -> TierNotice | None:
    """Whether the newest match run differs, in what its tiers read, from the one that the bounds were last saved for.

    That is the last to have finished before a manager saved tiers, or, where none has, the project's first.
    """
    newest = newest_match(project)
    if newest is None:
        return None
    saves = Run.objects.filter(project=project, kind=RunKind.RETIER, status=RunStatus.SUCCEEDED)
    saved_at = saves.filter(params__basis__contains=basis_of(newest)).values_list("finished_at", flat=True).first()
    if saved_at is None:
        before = _matches(project).last()
    elif newest.finished_at is None or newest.finished_at > saved_at:
        before = _matches(project).filter(finished_at__lte=saved_at).first() or _matches(project).last()
    else:
        return None
    said = _changes(newest, before)
    return TierNotice(newest, before, said) if said else None


def _changes(run: Run, before: Run) -> str:
    """What a reader of tiers must know of two runs, in a sentence; empty where nothing of it differs."""
    now, then = [], []
    if ranking_of(run) != ranking_of(before):
        now.append(f"was ranked by {_by(run)}")
        then.append(f"by {_by(before)}")
    if basis_of(run) != basis_of(before):
        now.append(f"had its tiers read by {Basis(basis_of(run)).label.lower()}")
        then.append(f"by {Basis(basis_of(before)).label.lower()}")
    if run.model_id != before.model_id:
        now.append(f"used the model {run.model or 'of no name'}")
        then.append(f"the model {before.model or 'of no name'}")
    if not now:
        return ""
    return f"Run {run.pk} {_joined(now)}; run {before.pk} {_joined(then)}."


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


# ------------------------------------------------------------------------------------------------------ the ranker


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


def _approval(approval: dict[str, Any]) -> str:
    """What the probabilities come from."""
    if not approval:
        return ""
    shipped = (
        "The probability says how likely an editor is to approve a suggestion as it stands. It comes from the model "
        f"that ships with Anchorline ({approval['version']}), learned on {approval['judged']:,} suggestions of "
        f"{approval['sites']} sites that were read and judged"
    )
    decisions = approval["decisions"]
    if not decisions:
        return f"{shipped}; nobody has decided on suggestions of this project yet."
    own = "1 decision" if decisions == 1 else f"{decisions:,} decisions"
    return f"{shipped}. It is adjusted by {own} on suggestions of this project."


def _bands(bands: list[dict[str, Any]]) -> list[Band]:
    return [
        Band(
            f"{band['from']:.0%} to {band['to']:.0%}",
            band["decisions"],
            f"{band['stated']:.0%}",
            f"{band['approved']:.0%}",
        )
        for band in bands
    ]


_GOT = {
    "in_text": "with a suggestion in a text",
    "beside": "with suggestions beside a text alone",
    "held_back": "with suggestions that are held back, or below every tier",
    "no_room": "whose donors had no room left",
    "too_unlikely": "without a pair that is likely enough",
    "linked": "that likely donors link to beside their text already",
    "not_found": "for which nothing good enough was found",
}


def _lacking(got: dict[str, int]) -> list[Part]:
    """What pages that lack links got. Runs of before tell fewer reasons apart."""
    if not got:
        return []
    counts = got | {"beside": got["shown"] - got["in_text"]}
    named = {name: label for name, label in _GOT.items() if counts.get(name) or name in ("in_text", "beside")}
    most = max(1, *(counts[name] for name in named))
    return [Part(label, f"{counts[name]:,}", f"{100 * counts[name] / most:.2f}") for name, label in named.items()]


def _measures(quality: dict[str, Any]) -> list[Measure]:
    found = []
    recall, precision = quality.get("recall_at_10"), quality.get("precision_at_half")
    if recall is not None and quality.get("hidden"):
        found.append(
            Measure(
                "Recall at 10",
                f"{recall:.1%}",
                f"Of {quality.get('hidden', 0):,} links that were hidden from it in turn, so many stood among the "
                "first ten suggestions of their page.",
            )
        )
        found.append(
            Measure(
                "Precision at half recall",
                f"{precision:.1%}" if precision is not None else "never",
                "Down the list as far as half of the hidden links, so much of it was such links. The rest is not all "
                "wrong: it holds links that nobody has set yet."
                if precision is not None
                else "Half of the hidden links never turned up, so there is nothing to measure.",
            )
        )
    return found


def _weights(ranker: Ranker) -> list[Part]:
    """Learned: the share of each group of features in what the trees gained. Formula: its weights."""
    if ranker.kind == "learned":
        weights = {GROUPS.get(name, name): value for name, value in ranker.weights.items()}
        return _bars(weights, percent=True)
    names = {name: f"{name.capitalize()}{', taken off' if name in TAKEN_OFF else ''}" for name in ranker.weights}
    return _bars({names[name]: value for name, value in ranker.weights.items()})


def _bars(values: dict[str, float], *, percent: bool = False) -> list[Part]:
    """Largest first, ties by label."""
    most = max((abs(value) for value in values.values()), default=0) or 1

    def shown(value: float) -> str:
        return f"{value:.1%}" if percent else f"{value:,}" if isinstance(value, int) else f"{value:g}"

    ordered = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    return [Part(label, shown(value), f"{100 * abs(value) / most:.2f}") for label, value in ordered]


def _allocation(report: dict[str, Any]) -> str:
    if not report:
        return ""
    mode = report.get("mode", "")
    parts = [f"{MODES.get(mode, mode)}, with a total score of {report['total']:,.1f}{_against(report, mode)}."]
    first = report.get("for_need", 0)
    if first:
        links = "1 link was" if first == 1 else f"{first:,} links were"
        parts.append(f"Of these, {links} given to under-linked pages before the others had their turn.")
    lost = report.get("without_place", 0)
    if lost:
        links = "One link" if lost == 1 else f"{lost:,} links"
        worth = f"worth {report['lost']:,.1f} of it"
        parts.append(f"{links}, {worth}, found no place in the text or beside it.")
    less, none = report.get("donors_with_less_room", 0), report.get("donors_without_room", 0)
    if less:
        donors = "1 donor has" if less == 1 else f"{less:,} donors have"
        parts.append(
            f"{donors} less room than others, for the links there are already; {none:,} of them no room at all."
        )
    return " ".join(parts)


def _against(report: dict[str, Any], mode: str) -> str:
    """How the total compares with that of best first."""
    best = report.get("best_first")
    if best is None:
        return ""
    # Reports of before say the gain as a share, of what was taken in the end.
    difference = report.get("against_best_first", round(report["total"] - best, 4))
    if not difference:
        return f": as much as best first, {best:,.1f}"
    share = f" ({abs(difference) / best:.2%})" if best > 0 else ""
    said = f"{against_best_first(difference, share)} than the {best:,.1f} of best first"
    if difference < 0 and mode == "optimal":
        return f". The plan itself came to {said}, so best first was taken"
    return f": {said}"


# ------------------------------------------------------------------------------------------------ beside the run before


def _shifts(run: Run, before: Run | None) -> list[TierShift]:
    """The tiers of either run, highest bound of this one first, what is below every tier last."""
    counts, counts_before = run.report.get("tiers", {}), before.report.get("tiers", {}) if before else {}
    bounds, bounds_before = run.report.get("bounds", {}), before.report.get("bounds", {}) if before else {}
    names = sorted(
        {**counts, **counts_before},
        key=lambda name: (name == BELOW, -bounds.get(name, bounds_before.get(name, -2)), name),
    )
    return [
        TierShift(name, _bound(bounds, name), _bound(bounds_before, name), counts.get(name), counts_before.get(name))
        for name in names
    ]


def _bound(bounds: dict[str, float], name: str) -> str:
    return f"{bounds[name]:g}" if name in bounds else ""


def _histograms(runs: list[Run]) -> list[Histogram]:
    """One a run that kept its counts, at one scale: the tallest bar of all, as a share of its run, fills the height."""
    kept = [run for run in runs if run.report.get("histogram")]
    if not kept or kept[0] is not runs[0]:
        return []
    bins = len(kept[0].report["histogram"])
    kept = [run for run in kept if len(run.report["histogram"]) == bins]
    shares = {run.pk: _shares(run.report["histogram"]) for run in kept}
    top = max(max(share) for share in shares.values()) or 1
    width = 100 / bins
    return [
        Histogram(
            run,
            Basis(basis_of(run)).label,
            [
                _bar(place / bins, (place + 1) / bins, count, place * width, share / top if count else 0)
                for place, (count, share) in enumerate(zip(run.report["histogram"], shares[run.pk], strict=True))
            ],
            [f"{100 * bound:.2f}" for bound in run.report.get("bounds", {}).values() if 0 < bound < 1],
        )
        for run in kept
    ]


def _shares(counts: list[int]) -> list[float]:
    total = sum(counts) or 1
    return [count / total for count in counts]


def _bar(start: float, stop: float, count: int, x: float, share: float) -> Bar:
    """Whatever is there at all is at least one percent high."""
    height = max(100 * share, 1) if count else 0
    return Bar(f"{start:.2f}", f"{stop:.2f}", count, f"{x:.2f}", f"{100 - height:.2f}", f"{height:.2f}")
