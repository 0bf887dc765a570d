"""The end of a match run: links given out over the whole run, anchors and places chosen, edges stored."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import connection, transaction
from django.db.models import Count, Q

from linker.engine import worth
from linker.engine.allocation.allocate import Allocation, Caps, Reason, allocate, beyond
from linker.engine.candidates.registry import bit_of, names
from linker.engine.params import MatchParams, Mode, Ranking
from linker.engine.ranking.rankers.registry import ranker_of
from linker.engine.roles.policy import PageRole
from linker.engine.tiers import read_tiers
from linker.matching.content_gaps import find_paragraphs
from linker.matching.copies import load_twins
from linker.matching.eligibility import eligible_pages
from linker.matching.needs import Needs, needs_of
from linker.matching.pilots import limited_to_pilot
from linker.matching.placing import Phrases, Placed, Placer, Quota
from linker.matching.plan import CANDIDATE, batches_left, deeper, forget_candidates, searched
from linker.matching.room import Room, rooms_of
from linker.matching.tiers import keep_apart
from linker.models import Basis, Category, Placement, Project, Ranker, Run, RunBatch, RunBlock, Tier
from linker.models.linked import IN_TEXT, already_linked, has_links_beside, linked_sql
from linker.pages.roles import pages_that
from linker.pages.sensitivity import mark_sensitive
from linker.runs import lifecycle
from linker.storage.background import BackgroundCopy
from linker.storage.copy import analyze, copy_in, copy_out, copy_rows_in, copy_text
from linker.storage.cursors import stream
from linker.storage.pairs import load_pairs_linked_beside_text
from linker.storage.references import lock_references

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.runs.lifecycle import Progress

# A pair that a run found: block -1 is the whole site, `probability` that an editor approves it at its best and `beside`
# that one does beside the text, NaN in a run by cosine; `found` bits of the generators, `place` its position for the
# one who can say why, -1 where nobody needs it.
FOUND = np.dtype(
    [
        *(("source", "i8"), ("target", "i8"), ("block", "i4"), ("level", "i2"), ("similarity", "f8"), ("score", "f8")),
        *(("probability", "f8"), ("beside", "f8"), ("found", "i4"), ("place", "i8")),
    ]
)
DONORS_AT_A_TIME = 1000
ACCEPTORS_AT_A_TIME = 5_000_000
DONORS_READ = 50_000  # whose links beside the text are read at a time
BINS = 20


@dataclass(frozen=True)
class Findings:
    """What a run found: `rows` of FOUND; `ranking` that ranked them; `why`: one sentence and its numbers for a row as a
    dict; `phrases`: words that mean a target; `ranker`: what to keep of it; `extra` goes into the report. `deeper`,
    where donors with `pool` candidates may have more, gives all candidates of some donors. `acceptors`:
    ids of the pages that may receive a link, ascending: the report says what the under-linked among them got."""

    rows: NDArray[Any]
    ranking: str
    why: Callable[[dict[str, Any]], tuple[str, dict[str, float]]]
    phrases: Phrases | None
    ranker: Ranker | None
    extra: dict[str, Any]
    acceptors: NDArray[np.int64]
    pool: int = 0
    deeper: Callable[[NDArray[np.int64]], NDArray[Any]] | None = None

    @property
    def ranked_by(self) -> str:
        """Which of the kinds of ranker that the database knows the links carry."""
        return ranker_of(self.ranking).ranked_by


def finish_match(run: Run, progress: Progress = lifecycle.no_progress) -> dict[str, Any]:
    """The end of a run in batches: what they found is given out and stored. See store_found."""
    if batches_left(run):
        raise RuntimeError(f"run {run.pk} has batches left")
    params = MatchParams.from_dict(run.params)
    rows = np.empty(sum(RunBatch.objects.filter(run=run).values_list("candidates", flat=True)), dtype=FOUND)
    first = 0
    for (pairs,) in stream(
        "candidates", "SELECT pairs FROM linker_runcandidate WHERE run_id = %s ORDER BY batch_id", [run.pk], size=1
    ):
        part = np.frombuffer(pairs, dtype=CANDIDATE)
        _fill(rows[first : first + len(part)], part)
        first += len(part)
    pool = searched(run).pool

    def look_deeper(donors: NDArray[np.int64]) -> NDArray[Any]:
        part = deeper(run, donors)
        found = np.empty(len(part), dtype=FOUND)
        _fill(found, part)
        return found

    found = Findings(
        rows=rows,
        ranking=Ranking.COSINE,
        why=_why_by_cosine(run),
        phrases=None,
        ranker=None,
        extra={},
        acceptors=_acceptors(run),
        pool=pool,
        deeper=look_deeper if pool < params.pool else None,
    )
    return store_found(run, found, progress)


def _fill(rows: NDArray[Any], pairs: NDArray[Any]) -> None:
    for name in CANDIDATE.names or ():
        rows[name] = pairs[name]
    rows["probability"], rows["beside"], rows["found"], rows["place"] = np.nan, np.nan, bit_of("category"), -1


def _acceptors(run: Run) -> NDArray[np.int64]:
    """The pages that may receive a link in a planned run, by id."""
    parts, waiting = [np.empty(0, dtype=np.int64)], 0
    for (targets,) in RunBlock.objects.filter(run=run).order_by("number").values_list("target_ids").iterator(100):
        parts.append(np.frombuffer(targets, "<i8"))
        waiting += len(parts[-1])
        if waiting > ACCEPTORS_AT_A_TIME:  # blocks overlap: a page stands in as many as it is looked for from
            parts, waiting = [np.unique(np.concatenate(parts))], 0
    return np.unique(np.concatenate(parts))


def _why_by_cosine(run: Run) -> Callable[[dict[str, Any]], tuple[str, dict[str, float]]]:
    tops = dict(RunBlock.objects.filter(run=run).values_list("number", "category_id"))
    shown = {pk: " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} ".join(path) for pk, path in
             Category.objects.filter(pk__in=[pk for pk in tops.values() if pk]).values_list("pk", "path")}  # fmt: skip

    def why(row: dict[str, Any]) -> tuple[str, dict[str, float]]:
        category = shown.get(tops.get(row["block"]) or 0)
        where = f", both in {category}" if category else ""
        return f"The two pages are alike in meaning{where}.", {"cosine": row["similarity"], "level": row["level"]}

    return why


def store_found(run: Run, findings: Findings, progress: Progress = lifecycle.no_progress) -> dict[str, Any]:
    """Allocates over the whole run, picks anchors and places and stores the edges, all in one transaction."""
    project, params = run.project, MatchParams.from_dict(run.params)
    steps = 5
    progress(0, steps, "Giving out the links")
    needs = needs_of(project)
    lacking = needs.under_linked(findings.acceptors)
    given = _give_out(project, params, findings, lacking)
    rows, eligible, allocation = given.rows, given.eligible, given.allocation
    chosen, best = _in_order(eligible, allocation.chosen)
    progress(1, steps, "Choosing anchors and places")
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        edges = _Edges(run, params, findings, given, needs, chosen, best)
        counts = edges.save(lambda done: progress(1, steps, f"Choosing anchors and places, {done:,} done"))
        progress(3, steps, "Marking what is no longer proposed")
        counts |= _mark_stale(run, params)
        if project.edges.filter(status="suggested", stale=False).exclude(run=run).exists():
            keep_apart(project)  # this run knew nothing of the words of what it left standing
        mark_sensitive(project)
        progress(4, steps, "Cleaning up")
        forget_candidates(project, run)
        if findings.ranking != Ranking.COSINE:
            reason = given.reason.copy()
            reason[reason == 0] = allocation.reason
            _save_left_out(run, rows, reason, edges.without_place)
        if findings.ranker is not None:
            Ranker.objects.filter(run=run).delete()
            findings.ranker.run = run
            findings.ranker.save()
        RunBlock.objects.filter(run=run).delete()
        tiers = dict(project.edges.filter(run=run).values_list("tier__name").annotate(Count("pk")).order_by())
        report = {
            **Run.objects.values_list("report", flat=True).get(pk=run.pk),
            "ranking": str(findings.ranking),
            "scope": levels_up if (levels_up := params.levels(findings.ranking)) is not None else "site",
            "threshold": params.floor(findings.ranking),
            "candidates": len(eligible),
            "donors_with_full_pool": _full_pools(eligible, params),
            **findings.extra,
            **counts,
            "sensitive": project.edges.filter(run=run).exclude(sensitive="").count(),
            "tiers": {name or "below every tier": count for name, count in tiers.items()},
            "held_back": project.edges.filter(run=run).filter(Q(tier=None) | Q(tier__held=True)).count(),
            "allocation": given.report | edges.placed(),
        }
        if "copies" in report:
            report["copies"]["pairs_held_out"] = int((given.reason == Reason.SAME_GROUP).sum())
        if len(lacking):
            report["under_linked"] = _got(project, run, lacking, given, edges.without_place)
            orphans = needs.orphans(lacking)
            report["orphans"] = _got(project, run, orphans, given, edges.without_place) if len(orphans) else {}
        # With the edges or not at all: a finish that came twice would find no candidates and take all edges for stale.
        lifecycle.succeed(run.pk, report)
    # They take long and nobody has to wait for them: suggestions of the run can be decided on meanwhile.
    report["gaps_with_paragraph"] = find_paragraphs(run)
    Run.objects.filter(pk=run.pk).update(report=report)
    return report


def _got(
    project: Project,
    run: Run,
    lacking: NDArray[np.int64],
    given: _Given,
    without_place: dict[tuple[int, int], Reason],
) -> dict[str, int]:
    """What pages got from a run: how many `pages` there are; of them, with a link that the queue shows (`shown`), with
    one `in_text`; and of the rest, each page once: with a pair that would be shown and got `no_room`; with such pairs
    alone that their donors link beside their text already (`linked`); given none but links that are `held_back`; found,
    but `too_unlikely` to be given any; and `not_found`, by anybody or only below the lowest score."""
    got = copy_out(
        "SELECT e.target_id, bool_or(coalesce(NOT t.held, false)), "
        "bool_or(coalesce(NOT t.held, false) AND e.placement = 'inline') "
        "FROM linker_candidateedge e LEFT JOIN linker_tier t ON t.id = e.tier_id "
        "WHERE e.project_id = %s AND e.run_id = %s AND NOT e.stale AND e.target_id = ANY(%s) GROUP BY e.target_id",
        [project.pk, run.pk, lacking.tolist()],
        [("target", ">i8"), ("shown", "?"), ("in_text", "?")],
    )
    counts = {"pages": len(lacking), "shown": int(got["shown"].sum()), "in_text": int(got["in_text"].sum())}
    rest = np.setdiff1d(lacking, got["target"][got["shown"]])
    wanted = given.wanted[given.reason == 0]
    missed = wanted & ~given.text_alone
    missed[given.allocation.chosen] = False
    chosen = given.eligible[given.allocation.chosen][wanted[given.allocation.chosen]]
    pairs = zip(chosen["source"].tolist(), chosen["target"].tolist(), strict=True)
    lost = [target for source, target in pairs if without_place.get((source, target)) is Reason.RELATED_FULL]
    for name, targets in (
        ("no_room", np.concatenate([given.eligible["target"][missed], np.array(lost, dtype=np.int64)])),
        ("linked", given.rows["target"][given.wanted & (given.reason == Reason.LINKED_BESIDE)]),
        ("linked", given.eligible["target"][wanted & given.text_alone]),
        ("held_back", got["target"]),
        ("too_unlikely", given.eligible["target"]),
    ):
        there = np.isin(rest, targets)
        counts[name], rest = counts.get(name, 0) + int(there.sum()), rest[~there]
    return counts | {"not_found": len(rest)}


@dataclass(frozen=True)
class Standing:
    """Accepted and exported links, int64 arrays of sources and of targets. `waiting`: those that no crawl has seen on
    the site yet; they count towards the caps whatever a run finds. `there`: those that the site has by now; they are
    links of the page like any other."""

    waiting: tuple[NDArray[np.int64], NDArray[np.int64]]
    there: tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class _Given:
    """How the links were given out: all `rows`; `reason` int8 [n]: why a row had no part in it, 0 where it had; the
    `eligible` rows, those that had; which of all rows lead to pages that lack links and would be shown (`wanted`);
    which of the eligible become links; whether each of them may stand in the text alone; the donors with less room; and
    what the report says of it."""

    rows: NDArray[Any]
    reason: NDArray[np.int8]
    eligible: NDArray[Any]
    wanted: NDArray[np.bool_]
    allocation: Allocation
    text_alone: NDArray[np.bool_]
    rooms: dict[int, Room]
    report: dict[str, Any]


def _give_out(project: Project, params: MatchParams, findings: Findings, lacking: NDArray[np.int64]) -> _Given:
    """The rows that score enough and may become links, and which of them do. Pages that are `lacking` links choose
    first among the rows that would be shown.

    A donor that did not get all of its first candidates, where it may have more, is looked at again with all of them,
    until nobody is left: then more candidates of the others would change nothing, since best first comes to those
    only when the donor has all its links. Links that stand are found among all candidates, too.
    """
    rows, standing, rooms = findings.rows, _standing(project), rooms_of(project, params)
    least = params.floor(findings.ranking)
    known = np.empty(0, dtype=np.int64)
    while True:
        above = rows["score"] >= least
        reason, text_alone = _barred(project, rows, above, standing)
        if findings.ranking != Ranking.COSINE:  # which looks for alternatives alone, in a product's own category
            reason[_too_many_products(project, rows, reason == 0, standing)] = Reason.PRODUCTS_FULL
            text_alone &= reason == 0
        taken = reason == 0
        eligible = rows if taken.all() else rows[taken]
        wanted = _wanted(project, params, rows, above, lacking)
        # For a place in the text alone there may be no words: a page in need would choose it in vain.
        first = (wanted & ~text_alone)[taken]
        allocation, report = _allocate(project, params, eligible, standing.waiting, rooms, first)
        if findings.deeper is None:
            break
        donors, count = np.unique(rows["source"][above], return_counts=True)
        got = np.bincount(np.searchsorted(donors, eligible["source"][allocation.chosen]), minlength=len(donors))
        most = [sum(rooms[donor]) if donor in rooms else params.per_donor for donor in donors.tolist()]
        short = (count >= findings.pool) & ((got < np.minimum(count, most)) | np.isin(donors, standing.waiting[0]))
        short &= ~np.isin(donors, known)
        if not short.any():
            break
        again = donors[short]
        known = np.concatenate([known, again])
        rows = np.concatenate([rows[~np.isin(rows["source"], again)], findings.deeper(again)])
    return _Given(rows, reason, eligible, wanted, allocation, text_alone[taken], rooms, report)


def _wanted(
    project: Project,
    params: MatchParams,
    rows: NDArray[Any],
    above: NDArray[np.bool_],
    lacking: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """The rows that lead to pages `lacking` links and would be shown, bool [n]: whose tier is not held back, as far as
    that is known before the links are given out.

    A quantile of the run is not: the scores of as many best rows as there may be links stand in for it.
    """
    wanted = above & np.isin(rows["target"], lacking)
    found = rows[wanted]
    if not len(found):
        return wanted
    basis, value = project.tier_basis, found["score"].astype(np.float64)
    if basis == Basis.QUANTILE:
        links = min(len(rows), len(np.unique(rows["source"])) * params.per_donor)
        best = np.sort(np.partition(rows["score"], len(rows) - links)[len(rows) - links :])
        value = np.searchsorted(best, value, side="right") / links
    elif basis == Basis.PROBABILITY and not np.isnan(found["probability"]).all():
        value = found["probability"].astype(np.float64)
    else:
        basis, value = Basis.COSINE, found["similarity"].astype(np.float64)
    tiers = list(Tier.objects.filter(project=project, basis=basis))
    reading = read_tiers(value, np.array([tier.lower_bound for tier in tiers]))
    wanted[wanted] = np.array([False, *(not tier.held for tier in tiers)])[reading + 1]
    return wanted


def _barred(
    project: Project, rows: NDArray[Any], above: NDArray[np.bool_], standing: Standing
) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """Why a row cannot become a link whatever room there is, int8 [n], 0 where it can; and which may in the text alone.

    Where the donor links to it beside its text already, its tier has to want it in the text, and there must be one.
    """
    reason = np.where(above, 0, Reason.BELOW_FLOOR).astype(np.int8)
    reason[_grouped(project, rows, above, standing)] = Reason.SAME_GROUP
    text_alone = np.zeros(len(rows), dtype=np.bool_)
    if not has_links_beside(project):
        return reason, text_alone
    pairs = _Pairs(rows)
    donors = np.unique(rows["source"][above])
    for first in range(0, len(donors), DONORS_READ):
        text_alone |= pairs.among(load_pairs_linked_beside_text(donors[first : first + DONORS_READ]))
    there = text_alone & pairs.among(standing.there)
    text_alone &= ~pairs.among(standing.waiting) & ~there
    text_alone &= reason == 0
    barred = there & (reason == 0)
    barred[text_alone] = ~_fits_text(project, rows, above, np.flatnonzero(text_alone))
    reason[barred] = Reason.LINKED_BESIDE
    return reason, text_alone & ~barred


def _grouped(project: Project, rows: NDArray[Any], above: NDArray[np.bool_], standing: Standing) -> NDArray[np.intp]:
    """Places of the rows above the floor that are no suggestion because of a near-copy, variant or translation: those
    of two pages of one group, and those to a page of whose group another one is the better target for the donor, or
    has been given to it already."""
    places = np.flatnonzero(above)
    source, target = rows["source"][places].astype(np.int64), rows["target"][places].astype(np.int64)
    given = [np.concatenate(sides) for sides in zip(standing.waiting, standing.there, strict=True)]
    pages = np.unique(np.concatenate([source, target, given[1]]))
    group = load_twins(project, pages).group
    mine, theirs = group[np.searchsorted(pages, source)], group[np.searchsorted(pages, target)]
    together = np.flatnonzero(theirs >= 0)
    if not len(together):
        return together
    places, source, target, mine, theirs = (part[together] for part in (places, source, target, mine, theirs))
    of_given = group[np.searchsorted(pages, given[1])]
    stands = _Pairs(rows[places]).among((given[0], given[1]))
    in_given = np.isin(_paired(source, theirs), _paired(given[0], of_given)[of_given >= 0])
    order = np.lexsort((target, -rows["score"][places], ~stands, theirs, source))
    first = np.empty(len(order), dtype=np.bool_)
    key = _paired(source, theirs)[order]
    first[order] = np.concatenate([[True], key[1:] != key[:-1]])
    return places[~stands & ((mine == theirs) | in_given | ~first)]


def _paired(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.complex128]:
    """Two numbers as one that can be compared: ids and groups stay far below 2^53."""
    return left + 1j * right


MOST_ALTERNATIVES = MOST_COMPLEMENTS = 5


def _too_many_products(
    project: Project, rows: NDArray[Any], taken: NDArray[np.bool_], standing: Standing
) -> NDArray[np.intp]:
    """Places of the `taken` rows, bool [n], between two products that are more than a donor's MOST_ALTERNATIVES,
    products of its own category, or MOST_COMPLEMENTS, those of another. One who looks at a sofa is served by five
    others, and by its cover; not by fifteen sofas. Accepted links count first, and stay."""
    products = np.array(sorted(pages_that(project, [PageRole.PRODUCT])), dtype=np.int64)
    places = np.flatnonzero(taken & np.isin(rows["source"], products) & np.isin(rows["target"], products))
    if not len(places):
        return places
    known = copy_out(
        "SELECT id, coalesce(category_id, 0) FROM linker_page WHERE id = ANY(%s) ORDER BY id",
        [products.tolist()],
        [("id", ">i8"), ("category", ">i8")],
    )
    pages, category = known["id"].astype(np.int64), known["category"].astype(np.int64)
    source, target = rows["source"][places].astype(np.int64), rows["target"][places].astype(np.int64)
    alike = category[np.searchsorted(pages, source)] == category[np.searchsorted(pages, target)]
    pairs = _Pairs(rows[places])
    stands = pairs.among(standing.waiting) | pairs.among(standing.there)
    score, many = np.where(stands, np.inf, rows["score"][places]), np.zeros(len(places), dtype=np.bool_)
    for kind, most in ((alike, MOST_ALTERNATIVES), (~alike, MOST_COMPLEMENTS)):
        many[kind] = beyond(source[kind], score[kind], most)
    return places[many & ~stands]


def _fits_text(
    project: Project, rows: NDArray[Any], above: NDArray[np.bool_], places: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Whether the rows at some places may come into a text: their tier wants it, as far as that is known before the
    links are given out, and the donor has one."""
    found = rows[places]
    fits = np.ones(len(found), dtype=np.bool_)
    if project.tier_basis != Basis.QUANTILE:
        learned = not np.isnan(rows["probability"][above]).all()
        basis = Basis.PROBABILITY if learned and project.tier_basis == Basis.PROBABILITY else Basis.COSINE
        value = found["probability" if basis == Basis.PROBABILITY else "similarity"].astype(np.float64)
        tiers = list(Tier.objects.filter(project=project, basis=basis))
        reading = read_tiers(value, np.array([tier.lower_bound for tier in tiers]))
        fits = np.array([False, *(tier.placement == Placement.INLINE for tier in tiers)])[reading + 1]
    donors = np.unique(found["source"][fits])
    with_text = copy_out(
        "SELECT id FROM linker_page WHERE id = ANY(%s) AND body <> ''", [donors.tolist()], [("id", ">i8")]
    )["id"].astype(np.int64)
    return fits & np.isin(found["source"], with_text)


class _Pairs:
    """Looks for pairs of pages among rows."""

    def __init__(self, rows: NDArray[Any]) -> None:
        self.sources, source = np.unique(rows["source"], return_inverse=True)
        self.targets, target = np.unique(rows["target"], return_inverse=True)
        self.keys = source * len(self.targets) + target

    def among(self, pairs: tuple[NDArray[np.int64], NDArray[np.int64]]) -> NDArray[np.bool_]:
        """Whether each row [n] is one of the pairs, sources and targets."""
        known = np.isin(pairs[0], self.sources) & np.isin(pairs[1], self.targets)
        source = np.searchsorted(self.sources, pairs[0][known])
        return np.isin(self.keys, source * len(self.targets) + np.searchsorted(self.targets, pairs[1][known]))


def _allocate(
    project: Project,
    params: MatchParams,
    rows: NDArray[Any],
    standing: tuple[NDArray[np.int64], NDArray[np.int64]],
    rooms: dict[int, Room],
    needy: NDArray[np.bool_],
) -> tuple[Allocation, dict[str, Any]]:
    """Which rows become links, and what the report says of it. `needy`: the rows that may be chosen first."""
    donors, targets = rows["source"].astype(np.int64), rows["target"].astype(np.int64)
    links = min(len(rows), len(np.unique(donors)) * params.per_donor)
    back = None
    if params.reciprocal is not None:
        back = _links_back(project, donors, targets)
    less = np.array(sorted(rooms), dtype=np.int64), np.array([sum(rooms[page]) for page in sorted(rooms)], np.int64)
    caps = Caps(params.per_donor, params.target_cap(links), params.reciprocal, standing, back, less, needy)
    allocation = allocate(donors, targets, rows["score"].astype(np.float64), caps, params.mode)
    report = {"mode": params.mode.value, "target_cap": caps.per_target, "total": round(allocation.total, 4)}
    if params.mode is not Mode.BEST:
        against = round(allocation.planned - allocation.greedy_total, 6)
        report |= {"best_first": round(allocation.greedy_total, 4), "against_best_first": against}
    if len(allocation.for_need):
        report["for_need"] = len(allocation.for_need)
    limited = np.isin(less[0], donors)
    if limited.any():
        report |= {
            "donors_with_less_room": int(limited.sum()),
            "donors_without_room": int((less[1][limited] == 0).sum()),
        }
    return allocation, report


def _standing(project: Project) -> Standing:
    rows = copy_out(
        f"SELECT source_id, target_id, {linked_sql('e')} FROM linker_candidateedge e WHERE project_id = %s "
        "AND status IN ('accepted', 'exported')",
        [project.pk],
        [("source", ">i8"), ("target", ">i8"), ("there", "?")],
    )
    source, target, there = rows["source"].astype(np.int64), rows["target"].astype(np.int64), rows["there"]
    return Standing((source[~there], target[~there]), (source[there], target[there]))


def _links_back(project: Project, donors: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each pair's target links to its donor in its body."""
    rows = copy_out(
        f"SELECT DISTINCT target_id, source_id FROM linker_existinglink WHERE project_id = %s AND {IN_TEXT} "
        "AND missing_since IS NULL AND source_id = ANY(%s)",
        [project.pk, np.unique(targets).tolist()],
        [("donor", ">i8"), ("target", ">i8")],
    )
    known = np.empty(len(rows), dtype=[("donor", "i8"), ("target", "i8")])
    known["donor"], known["target"] = rows["donor"], rows["target"]
    wanted = np.empty(len(donors), dtype=known.dtype)
    wanted["donor"], wanted["target"] = donors, targets
    return np.isin(wanted, known)


def _full_pools(rows: NDArray[Any], params: MatchParams) -> int:
    """Donors whose pool was full: only under a cap on targets could more candidates have changed their links."""
    if not params.target_cap(len(rows)) or not len(rows):
        return 0
    _, sizes = np.unique(rows["source"], return_counts=True)
    return int((sizes >= params.pool).sum())


def _in_order(rows: NDArray[Any], chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Positions of the chosen rows, the donor with the best link first, its links by score; and each one's donor's
    best score."""
    source, score = rows["source"][chosen], rows["score"][chosen]
    order = np.lexsort((rows["target"][chosen], -score, source))
    source, score = source[order], score[order]
    best = score[np.searchsorted(source, source)]
    by_best = np.argsort(-best, kind="stable")
    return chosen[order][by_best], best[by_best]


_REFRESHED = [
    *("block_id", "level", "similarity", "score", "probability", "quantile", "donor_best", "tier_id", "placement"),
    *("rel", "span_start", "span_end", "sentence", "section_heading", "body_hash", "content_gap", "generators", "why"),
    *("evidence", "anchor_alternatives", "need", "lacks", "authority", "worth", "donor_worth"),
]
_WORDING = ["anchor", "anchor_source"]
_EDGE_COLUMNS = ["source_id", "target_id", *_REFRESHED, *_WORDING]
_FRESH_COLUMNS = [
    *("project_id", "run_id", "ranked_by", "status", "stale", "created_at", "updated_at", "sensitive", "edited")
]
NULL = "\\N"  # as COPY reads it


class _Edges:
    """The edges of a run on their way into the database, donor by donor, the donor with the best link first.

    `chosen` are positions in `rows`. A pair that has no edge yet goes straight into the table; for others the new
    values wait in `new_edges` until all are there.
    """

    def __init__(
        self,
        run: Run,
        params: MatchParams,
        findings: Findings,
        given: _Given,
        needs: Needs,
        chosen: NDArray[np.int64],
        best: NDArray[np.float64],
    ) -> None:
        rows = given.eligible
        self.run, self.findings, self.rows, self.chosen, self.best = run, findings, rows, chosen, best
        self.text_alone = given.text_alone[chosen]
        self.needs, self.worth = needs, _worth(needs, rows[chosen])
        self.placer = Placer(run.project, rows["target"][chosen], findings.phrases)
        standing = run.project.edges.filter(status__in=["accepted", "exported"]).order_by()
        waiting = standing.exclude(pk__in=already_linked(standing).values("pk"))
        self.quota = Quota(
            params.inline_per_donor,
            params.related_per_donor,
            waiting.values_list("source_id", "placement").iterator(),
            given.rooms,
        )
        self.quantile = _quantiles(rows["score"][chosen])
        basis, value = read_value(
            run.project.tier_basis, rows["similarity"][chosen], rows["probability"][chosen], self.quantile
        )
        self.basis, self.value = basis, value
        self.tiers = list(Tier.objects.filter(project=run.project, basis=basis))
        self.reading = read_tiers(value, np.array([tier.lower_bound for tier in self.tiers]))
        self.tops = dict(RunBlock.objects.filter(run=run).values_list("number", "category_id"))
        kept = np.zeros(len(rows), dtype=bool)
        kept[given.allocation.for_need] = True
        self.has_kept = kept[chosen] & ~(rows["probability"] > rows["beside"])[chosen]  # not those that have words
        self.quota.keep(rows["source"][chosen][self.has_kept].tolist())
        self.are_first = not run.project.edges.exists()
        self.placements: Counter[str] = Counter()
        self.found: Counter[int] = Counter()
        self.kept = np.zeros(len(chosen), dtype=bool)
        self.without_place: dict[tuple[int, int], Reason] = {}
        self.lost = 0.0
        self.fresh = self.refreshed = 0

    def save(self, progress: Callable[[int], None]) -> dict[str, Any]:
        """Upserts the edges. Those not decided yet are refreshed; decided ones, and anchors an editor wrote, stay."""
        columns = ", ".join(_EDGE_COLUMNS)
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS new_edges")
            cursor.execute(
                f"CREATE TEMP TABLE new_edges ON COMMIT DROP AS SELECT {columns} FROM linker_candidateedge LIMIT 0"
            )
            # Keys that are checked at the end of the transaction would be remembered until then, row by row.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            with lock_references(self._references()):
                self._write(progress)
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
            if self.refreshed:
                self._refresh(cursor, columns)
            analyze("linker_candidateedge")
            if not self.are_first:
                _even_out_donor_best(self.run.project)
        generators: Counter[str] = Counter()
        for found, count in self.found.items():
            generators.update(dict.fromkeys(names(found), count))
        bins = np.clip((self.value[self.kept] * BINS).astype(np.int64), 0, BINS - 1)
        return {
            "edges": int(self.kept.sum()),
            "new": self.fresh,
            "refreshed": self.refreshed,
            "placements": dict(self.placements),
            "generators": dict(generators),
            "basis": self.basis,
            "bounds": {tier.name: tier.lower_bound for tier in self.tiers},
            "histogram": np.bincount(bins, minlength=BINS).tolist(),
        }

    def placed(self) -> dict[str, Any]:
        """For the report: the links given out that found no place, and what their scores add up to."""
        return {"without_place": len(self.without_place), "lost": round(self.lost, 4)} if self.without_place else {}

    def _references(self) -> dict[str, Sequence[int] | NDArray[np.int64]]:
        """What the edges refer to, by table."""
        return {
            "linker_project": [self.run.project_id],
            "linker_run": [self.run.pk],
            "linker_tier": [tier.pk for tier in self.tiers],
            "linker_category": [category for category in self.tops.values() if category],
            "linker_page": np.union1d(self.rows["source"][self.chosen], self.rows["target"][self.chosen]),
        }

    def _write(self, progress: Callable[[int], None]) -> None:
        """The database takes the rows of some donors while those of the next are made."""
        ready: tuple[list[str], list[str]] = [], []
        with BackgroundCopy() as background:
            for first, stop in _donor_chunks(self.rows["source"][self.chosen]):
                background.wait()
                part = self.rows[self.chosen[first:stop]]
                self.placer.read(part)
                known = set() if self.are_first else _known(part)
                self._send(background, *ready)
                ready = self._lines(first, part, known)
                progress(stop)
            background.wait()
            self._send(background, *ready)

    def _send(self, background: BackgroundCopy, fresh: list[str], known: list[str]) -> None:
        self.fresh += len(fresh)
        self.refreshed += len(known)
        background.copy_lines("linker_candidateedge", [*_EDGE_COLUMNS, *_FRESH_COLUMNS], fresh)
        background.copy_lines("new_edges", _EDGE_COLUMNS, known)

    def _lines(self, first: int, part: NDArray[Any], known: set[tuple[int, int]]) -> tuple[list[str], list[str]]:
        """Lines for COPY, of pairs that are new and of those that are known; `part` are the rows from `first` on."""
        fields, text = part.dtype.names or (), copy_text
        ranked_by, run, project = self.findings.ranked_by, self.run.pk, self.run.project_id
        tail = f"\t{project}\t{run}\t{ranked_by}\tsuggested\tf\tnow\tnow\t\tf\n"
        fresh: list[str] = []
        again: list[str] = []
        stop = first + len(part)
        readings = zip(
            self.quantile[first:stop].tolist(), self.best[first:stop].tolist(), self.reading[first:stop].tolist(),
            self.text_alone[first:stop].tolist(), self.worth[first:stop].tolist(),
            self.has_kept[first:stop].tolist(), strict=True,
        )  # fmt: skip
        for number, (values, (quantile, best, reading, text_alone, worthy, has_kept)) in enumerate(
            zip(part.tolist(), readings, strict=True), first
        ):
            row = dict(zip(fields, values, strict=True))
            source, target = row["source"], row["target"]
            tier = self.tiers[reading] if reading >= 0 else None
            wanted = tier.placement if tier else "related"
            is_seen = tier is not None and not tier.held
            in_text = wanted == "inline" and self.quota.has_room(source)
            placed = self.placer.place(source, target, counts=is_seen, inline=in_text, least=self._least(row["beside"]))
            probability = _as_placed(row, placed)
            if probability < row["probability"] and self.basis == Basis.PROBABILITY:
                row["score"] = round(row["score"] * probability / row["probability"], 6)
                tier = self._tier(probability)
                wanted = tier.placement if tier else "related"
            if (source, target) in self.placer.settled:
                placement: str | None = wanted if placed.span else "related"
            else:
                placement = self.quota.put(
                    source, wanted, placed.span is not None, text_alone=text_alone, has_kept=has_kept
                )
            if placement is None:
                self.without_place[source, target] = Reason.LINKED_BESIDE if text_alone else Reason.RELATED_FULL
                self.lost += row["score"]
                continue
            gap = wanted == "inline" and placed.span is None and source in self.placer.with_prose
            self.kept[number] = True
            self.placements["gap" if gap else placement] += 1
            self.found[row["found"]] += 1
            sentence, numbers = self.findings.why(row)
            start, end = placed.span or (NULL, NULL)
            body = NULL if placed.body_hash is None else placed.body_hash
            place, need, authority, weight, most = worthy
            lacks, worth_of = self.needs.said(place), _chance(probability, row["score"]) * weight
            line = (
                f"{source}\t{target}\t{self.tops.get(row['block']) or NULL}\t{row['level']}\t{row['similarity']}\t"
                f"{row['score']}\t{NULL if probability != probability else probability}\t{quantile}\t{best}\t"
                f"{tier.pk if tier else NULL}\t{placement}\t{tier.rel if tier else 'nofollow'}\t{start}\t{end}\t"
                f"{text(placed.sentence)}\t{text(placed.heading)}\t{body}\t"
                f"{'t' if gap else 'f'}\t{_as_array(row['found'])}\t{text(sentence)}\t{_as_object(numbers)}\t"
                f"{text(', '.join(placed.others)).join('[]') if placed.others else '[]'}\t{need}\t{lacks}\t"
                f"{NULL if authority != authority else authority}\t{round(worth_of, 6)}\t{most}\t"
                f"{text(placed.anchor)}\t{placed.source}"
            )
            if (source, target) in known:
                again.append(f"{line}\n")
            else:
                fresh.append(line + tail)
        return fresh, again

    def _least(self, beside: float) -> float:
        """How well words have to fit for a link on them to be read as one of a tier that stands in the text."""
        bounds = [tier.lower_bound for tier in self.tiers if tier.placement == Placement.INLINE]
        return min(bounds) / beside if self.basis == Basis.PROBABILITY and bounds and beside > 0 else 0.0

    def _tier(self, value: float) -> Tier | None:
        """The tier that a value is read as."""
        place = int(read_tiers(np.array([value]), np.array([tier.lower_bound for tier in self.tiers]))[0])
        return self.tiers[place] if place >= 0 else None

    def _refresh(self, cursor: Any, columns: str) -> None:
        # In the order of their ids, as those who decide on many edges lock them.
        cursor.execute(
            "SELECT count(*) FROM (SELECT e.id FROM linker_candidateedge e JOIN new_edges n "
            "ON n.source_id = e.source_id AND n.target_id = e.target_id ORDER BY e.id FOR UPDATE OF e) locked"
        )
        undecided = "linker_candidateedge.status = 'suggested'"
        changes = [
            f"{name} = CASE WHEN {when} THEN EXCLUDED.{name} ELSE linker_candidateedge.{name} END"
            for columns_, when in (
                (["run_id", "ranked_by", *_REFRESHED], undecided),
                (_WORDING, f"{undecided} AND NOT linker_candidateedge.edited"),
            )
            for name in columns_
        ]
        cursor.execute(
            f"""
            INSERT INTO linker_candidateedge (project_id, run_id, ranked_by, status, stale, created_at, updated_at,
                sensitive, edited, {columns})
            SELECT %s, %s, %s, 'suggested', false, now(), now(), '', false, {columns} FROM new_edges
            ON CONFLICT (source_id, target_id) DO UPDATE SET stale = false, updated_at = now(),
                {", ".join(changes)}
            """,
            [self.run.project_id, self.run.pk, self.findings.ranked_by],
        )


def _chance(probability: float, score: float) -> float:
    """How likely a link is to be approved; where there is no probability, as far as its score says."""
    return min(max(score, 0.0), 1.0) if probability != probability else probability


def _worth(needs: Needs, rows: NDArray[Any]) -> NDArray[Any]:
    """Of each row, those of a donor one after the other: the place of its target in `needs`, its need, its donor's
    authority, the weight of its chance, and the most that a link of the donor is worth."""
    found = np.empty(
        len(rows), dtype=[("place", "i8"), ("need", "f8"), ("authority", "f8"), ("weight", "f8"), ("most", "f8")]
    )
    if not len(rows):
        return found
    target, donor = needs.places(rows["target"]), needs.places(rows["source"])
    found["place"] = target
    found["need"] = np.where(target >= 0, needs.need[target], 0) if len(needs.ids) else 0
    found["authority"] = np.where(donor >= 0, needs.authority[donor], np.nan) if len(needs.ids) else np.nan
    found["weight"] = worth.weight(found["need"], found["authority"])
    source = rows["source"]
    starts = np.flatnonzero(np.concatenate([[True], source[1:] != source[:-1]]))
    chance = np.where(np.isnan(rows["probability"]), np.clip(rows["score"], 0, 1), rows["probability"])
    most = np.maximum.reduceat(chance * found["weight"], starts)
    found["most"] = np.round(np.repeat(most, np.diff([*starts, len(rows)])), 6)
    return found


def _as_placed(row: dict[str, Any], placed: Placed) -> float:
    """The probability of a link where it stands now: on these words, or beside the text after all."""
    if row["beside"] != row["beside"]:
        return float(row["probability"])
    if placed.span is None:
        return min(float(row["probability"]), float(row["beside"]))
    if placed.fit != placed.fit:
        return float(row["probability"])
    return round(min(float(row["probability"]), float(row["beside"]) * placed.fit), 6)


def _known(rows: NDArray[Any]) -> set[tuple[int, int]]:
    """Pairs of these rows' donors that have an edge."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT source_id, target_id FROM linker_candidateedge WHERE source_id = ANY(%s)",
            [np.unique(rows["source"]).tolist()],
        )
        return set(cursor.fetchall())


def _as_object(numbers: dict[str, float]) -> str:
    """Finite numbers under plain names as JSON, several times faster than json.dumps."""
    return "{" + ", ".join([f'"{name}": {number}' for name, number in numbers.items()]) + "}"


@functools.cache
def _as_array(found: int) -> str:
    """The names of generators as PostgreSQL writes an array."""
    return "{" + ",".join(names(found)) + "}"


def read_value(
    basis: str, similarity: NDArray[np.float64], probability: NDArray[np.float64], quantile: NDArray[np.float64]
) -> tuple[str, NDArray[np.float64]]:
    """What the tiers of a run's edges are read by, and the value of each edge, float64 [n].

    Without probabilities, NaN all of them, similarities are read by bounds of their own.
    """
    if basis == Basis.QUANTILE:
        return basis, quantile
    if basis == Basis.PROBABILITY and not np.isnan(probability).all():
        return basis, probability.astype(np.float64)
    return Basis.COSINE.value, similarity.astype(np.float64)


def _quantiles(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the scores that are no higher than each, float64 [n], in (0, 1]."""
    return np.round(np.searchsorted(np.sort(score), score, side="right") / max(len(score), 1), 6)


def _donor_chunks(source: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Slices of rows that hold DONORS_AT_A_TIME donors each; a donor's rows stand together."""
    starts = np.flatnonzero(np.concatenate([[True], source[1:] != source[:-1]])) if len(source) else source
    for place in range(0, len(starts), DONORS_AT_A_TIME):
        after = place + DONORS_AT_A_TIME
        yield int(starts[place]), int(starts[after]) if after < len(starts) else len(source)


def _save_left_out(
    run: Run, rows: NDArray[Any], reason: NDArray[np.int8], without_place: dict[tuple[int, int], Reason]
) -> None:
    """What the run found and does not propose, a row a donor; those of the project's earlier runs go."""
    for place in np.flatnonzero(reason == 0).tolist():
        pair = int(rows["source"][place]), int(rows["target"][place])
        if pair in without_place:
            reason[place] = without_place[pair]
    left = np.flatnonzero(reason)
    left = left[np.lexsort((rows["target"][left], -rows["score"][left], rows["source"][left]))]
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM linker_leftout WHERE run_id IN (SELECT id FROM linker_run WHERE project_id = %s)",
            [run.project_id],
        )
    source = rows["source"][left]
    bounds = np.flatnonzero(np.concatenate([[True], source[1:] != source[:-1], [True]])) if len(left) else source
    copy_rows_in(
        "linker_leftout",
        ["run_id", "source", "targets", "scores", "reasons"],
        (
            (
                run.pk,
                int(source[first]),
                rows["target"][left[first:stop]].tolist(),
                rows["score"][left[first:stop]].tolist(),
                reason[left[first:stop]].tolist(),
            )
            for first, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        ),
    )


def _even_out_donor_best(project: Project) -> None:
    """One value a donor, though its edges come from runs over different parts of the site: it groups the queue."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH best AS MATERIALIZED (
                SELECT source_id, max(score) AS score, max(worth) AS worth
                FROM linker_candidateedge WHERE project_id = %s GROUP BY source_id
                HAVING min(donor_best) <> max(score) OR max(donor_best) <> max(score)
                    OR min(donor_worth) <> max(worth) OR max(donor_worth) <> max(worth)
            )
            UPDATE linker_candidateedge e SET donor_best = best.score, donor_worth = best.worth
            FROM best WHERE e.source_id = best.source_id AND e.project_id = %s
            """,
            [project.pk, project.pk],
        )


# What was proposed before: the run could have proposed it, or nobody can any more; or it is an open suggestion of two
# pages that are one, or one made with other vectors, whose similarities say something else.
_MARK_STALE = """
WITH old AS (
    SELECT o.id, s.page IS NULL OR t.page IS NULL OR NOT s.is_donor OR NOT t.is_target
        OR (s.chosen_donor AND t.chosen_target)
        OR o.status = 'suggested' AND (NOT theirs.receives OR mine.group_id = theirs.group_id) IS TRUE AS gone,
        o.status = 'suggested' AND r.model_id <> %(model)s AS other_set
    FROM linker_candidateedge o JOIN linker_run r ON r.id = o.run_id
    LEFT JOIN linker_pagetwin mine ON mine.page_id = o.source_id
    LEFT JOIN linker_pagetwin theirs ON theirs.page_id = o.target_id
    LEFT JOIN taking_part s ON s.page = o.source_id LEFT JOIN taking_part t ON t.page = o.target_id
    WHERE o.project_id = %(project)s AND o.run_id <> %(run)s AND NOT o.stale
    AND NOT EXISTS (SELECT 1 FROM new_edges n WHERE n.source_id = o.source_id AND n.target_id = o.target_id)
), marked AS (
    UPDATE linker_candidateedge e SET stale = true FROM old
    WHERE e.id = old.id AND (old.gone OR old.other_set) RETURNING old.gone, e.status
)
SELECT count(*) FILTER (WHERE status = 'suggested'), count(*) FILTER (WHERE NOT gone) FROM marked
"""


def _mark_stale(run: Run, params: MatchParams) -> dict[str, int]:
    """Marks what the run could have proposed and did not, what can no longer be proposed at all, and open suggestions
    made with another set of vectors.

    Other edges between pages that the run's filters left out keep standing. Returns how many were marked that nobody
    had decided on, `stale`, and how many of them for their vectors alone, `other_vectors`.
    """
    model = run.model
    if model is None:
        raise RuntimeError(f"run {run.pk} was not planned")
    if not run.project.edges.filter(stale=False).exclude(run=run).exists():
        return {"stale": 0}
    eligible = limited_to_pilot(run, params, eligible_pages(run.project, model, params))
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS taking_part")
        cursor.execute(
            "CREATE TEMP TABLE taking_part (page bigint PRIMARY KEY, is_donor boolean, is_target boolean, "
            "chosen_donor boolean, chosen_target boolean) ON COMMIT DROP"
        )
        copy_in(
            "taking_part",
            [
                ("page", ">i8", eligible.ids),
                ("is_donor", "?", eligible.is_donor),
                ("is_target", "?", eligible.is_target),
                ("chosen_donor", "?", eligible.chosen_donor),
                ("chosen_target", "?", eligible.chosen_target),
            ],
        )
        cursor.execute("ANALYZE taking_part")
        cursor.execute(_MARK_STALE, {"project": run.project_id, "run": run.pk, "model": model.pk})
        stale, other_vectors = cursor.fetchone()
    return {"stale": stale} | ({"other_vectors": other_vectors} if other_vectors else {})
