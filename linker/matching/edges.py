"""The links of a run become edges: chosen pairs in, donor by donor, rows of the database out."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import connection

from linker.engine.candidates.registry import names
from linker.matching.chosen import ChosenPairs, PairFacts, chosen_pairs
from linker.matching.edge_writer import EdgeWriter, KnownEdge
from linker.matching.lessons import TRAITS
from linker.matching.new_links import LinkMaker, NewLink, Unplaced
from linker.matching.report import BINS, histogram_of
from linker.models import RunBlock
from linker.models.querysets import OPEN, SURE, sql, sure_sql
from linker.storage.copy import analyze

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.params import MatchParams
    from linker.matching.allocation import AllocatedLinks
    from linker.matching.needs import Needs
    from linker.matching.replacing import Replaced
    from linker.matching.result import MatchResult
    from linker.matching.run_tiers import RunTiers
    from linker.models import Project, Run


@dataclass(frozen=True)
class SavedEdges:
    """What became of the `chosen` pairs: how many edges are `new` and `refreshed`; how many links have each placement
    ("inline", "related", "gap") and generator; the `histogram` of what the tiers read of them; what found no place;
    which of the edges would replace a released link; and which pairs are edges, `is_stored` bool [n]."""

    new: int
    refreshed: int
    placements: Counter[str]
    generators: Counter[str]
    histogram: NDArray[np.int64]
    unplaced: Unplaced
    replaced: list[Replaced]
    chosen: ChosenPairs
    is_stored: NDArray[np.bool_]

    @property
    def tiers(self) -> RunTiers:
        return self.chosen.tiers

    def stored(self) -> NDArray[Any]:
        """The rows of FOUND that are edges. A copy: of a run over the whole site they may be millions."""
        return self.chosen.rows[self.chosen.positions[self.is_stored]]


@dataclass(frozen=True)
class StagedEdges:
    """Edges of which the new ones are in the table, where nobody sees them yet, and the others wait to be refreshed.
    `is_whole`: they are of a run over the whole site, and not over what changed."""

    saved: SavedEdges
    writer: EdgeWriter
    is_whole: bool

    def write(self, lock_edges: Callable[[], object]) -> None:
        """Refreshes the edges that were there before, once the project's row is locked (see linker.matching.prepared).

        `lock_edges` takes every edge that this and the rest of the transaction write of those that were there before.
        """
        self.writer.hold_settings(self.saved.tiers.tiers)
        if not self.writer.are_first:
            lock_edges()
            self.writer.refresh()
        stage_uneven_donors(self.writer.run.project, self._donors)

    def even_out(self) -> None:
        """One value for the edges of a donor, and of an acceptor, whichever run they come from; once those that are no
        longer proposed are marked."""
        if not self.writer.are_first:
            even_out_donor_best(self.writer.run.project)
            even_out_need(self.writer.run.project, None if self.is_whole else self.saved.stored()["target"])

    @property
    def _donors(self) -> NDArray[np.int64] | None:
        """Whose best edge may be another now, ids int64 [k]: all, or of what changed those that got edges."""
        return None if self.is_whole else np.unique(self.saved.stored()["source"])


def stage_edges(
    run: Run,
    params: MatchParams,
    result: MatchResult,
    allocated: AllocatedLinks,
    needs: Needs,
    progress: Callable[[int], None],
) -> StagedEdges:
    """Makes an edge for each allocated link that has a place, in the caller's transaction. Nobody waits for it: what
    was there before is written by StagedEdges.write.

    Undecided edges are refreshed; decided edges, and anchors that an editor wrote, stay. The database takes the rows of
    some donors while those of the next are made.
    """
    chosen = chosen_pairs(run.project, allocated, needs)
    links = LinkMaker(run.project, params, chosen, allocated, result.phrases)
    values = _EdgeValues(run, result, needs)
    writer = EdgeWriter(run, result.ranked_by)
    is_stored = np.zeros(len(chosen), dtype=np.bool_)
    histogram = np.zeros(BINS, dtype=np.int64)
    found: Counter[int] = Counter()  # by the generators' bits
    with writer.open(_references(run, chosen, values.categories)) as background:
        for part in chosen.by_donors():
            background.wait()
            pairs = chosen.rows[chosen.positions[part]]
            links.placer.read(pairs)
            before, facts_of_pairs = writer.begin(pairs), chosen.facts(part)
            writer.send(background)
            made: list[dict[str, Any]] = []
            values_read: list[float] = []
            for place, (row, facts) in enumerate(zip(_as_dicts(pairs), facts_of_pairs, strict=True), part.start):
                link = links.make(row, facts)
                if link is not None:
                    is_stored[place] = True
                    found[row["found"]] += 1
                    values_read.append(facts.value)
                    made.append(values.of(row, facts, link))
            _give_best_of_donors(made, before)
            histogram += histogram_of(values_read)
            for edge in made:
                writer.add(edge)
            progress(part.stop)
        background.wait()
        writer.send(background)
    is_whole = result.staying is None
    if is_whole:  # of what changed there is too little to matter to the planner
        analyze("linker_candidateedge")
    writer.analyze()
    generators: Counter[str] = Counter()
    for bits, count in found.items():
        generators.update(dict.fromkeys(names(bits), count))
    saved = SavedEdges(
        writer.new,
        writer.refreshed,
        links.placements,
        generators,
        histogram,
        links.unplaced,
        links.replaced,
        chosen,
        is_stored,
    )
    return StagedEdges(saved, writer, is_whole)


def _as_dicts(rows: NDArray[Any]) -> Iterator[dict[str, Any]]:
    fields = rows.dtype.names or ()
    return (dict(zip(fields, values, strict=True)) for values in rows.tolist())


def _references(
    run: Run, chosen: ChosenPairs, categories: Iterable[int | None]
) -> dict[str, Sequence[int] | NDArray[np.int64]]:
    """What the edges refer to, by table, but for the project and its tiers: those who change them need not wait until
    the settings are locked."""
    return {
        "linker_run": [run.pk],
        "linker_category": [category for category in categories if category],
        "linker_page": np.union1d(np.unique(chosen.sources), np.unique(chosen.targets)),
    }


class _EdgeValues:
    """What the columns of an edge hold."""

    def __init__(self, run: Run, result: MatchResult, needs: Needs) -> None:
        self.result, self.needs = result, needs
        self.category_of = dict(RunBlock.objects.filter(run=run).values_list("number", "category_id"))

    @property
    def categories(self) -> Iterable[int | None]:
        return self.category_of.values()

    def of(self, row: dict[str, Any], facts: PairFacts, link: NewLink) -> dict[str, Any]:
        """Of the link of a row of FOUND: each of PAIR_COLUMNS but for what is said of its donor, JSON and arrays as
        PostgreSQL reads them."""
        placed, tier = link.placed, link.tier
        why, evidence = self.result.why(row)
        if placed.traits:
            evidence[TRAITS] += placed.traits
        start, end = placed.span or (None, None)
        return {
            "source_id": row["source"],
            "target_id": row["target"],
            "generators": _as_array(row["found"]),
            "block_id": self.category_of.get(row["block"]) or None,
            "level": row["level"],
            "similarity": row["similarity"],
            "score": link.score,
            "probability": link.probability,
            "quantile": facts.quantile,
            "why": why,
            "evidence": _as_object(evidence),
            "need": facts.need,
            "lacks": self.needs.said(facts.place),
            "authority": facts.authority,
            "worth": round(_chance(link.probability, link.score) * facts.weight, 6),
            "tier_id": tier.pk if tier else None,
            "placement": link.placement,
            "rel": tier.rel if tier else "nofollow",
            "span_start": start,
            "span_end": end,
            "sentence": placed.sentence,
            "section_heading": placed.heading,
            "body_hash": placed.body_hash,
            "content_gap": link.is_gap,
            "anchor": placed.anchor,
            "anchor_source": placed.source,
            "anchor_alternatives": f"[{', '.join(placed.others)}]",
        }


def _give_best_of_donors(edges: list[dict[str, Any]], before: Mapping[tuple[int, int], KnownEdge]) -> None:
    """Tells the links of each donor, all of them in the list, which of them is best, and which of those that are as
    sure as they are: those without a place, and what others lost by their words, are known by now. `before`: what the
    donors have already, and keep where it is decided or not found again."""
    score: dict[tuple[int, bool], float] = {}
    worth: dict[int, float] = {}
    found = {
        (edge["source_id"], edge["target_id"]): (edge["score"], edge["worth"], edge["probability"] >= SURE)
        for edge in edges
    }
    kept = {pair: edge[:3] for pair, edge in before.items() if not (edge.is_open and pair in found)}
    counted = found | kept
    for (source, _), (its_score, its_worth, is_sure) in counted.items():
        score[source, is_sure] = max(score.get((source, is_sure), its_score), its_score)
        worth[source] = max(worth.get(source, its_worth), its_worth)
    for edge in edges:
        source, target = edge["source_id"], edge["target_id"]
        edge["donor_best"], edge["donor_worth"] = score[source, counted[source, target][2]], worth[source]


def _chance(probability: float, score: float) -> float:
    """How likely a link is to be approved; where there is no probability, as far as its score says."""
    return min(max(score, 0.0), 1.0) if probability != probability else probability


def _as_object(numbers: dict[str, float]) -> str:
    """Finite numbers under plain names as JSON, several times faster than json.dumps."""
    return "{" + ", ".join([f'"{name}": {number}' for name, number in numbers.items()]) + "}"


@functools.cache
def _as_array(found: int) -> str:
    """The names of generators as PostgreSQL writes an array."""
    return "{" + ",".join(names(found)) + "}"


_UNEVEN_DONORS = f"""
CREATE TEMP TABLE uneven_donors ON COMMIT DROP AS
SELECT source_id, is_sure, score, worth FROM (
    SELECT source_id, {sure_sql()} AS is_sure, max(score) AS score,
        max(max(worth)) OVER (PARTITION BY source_id) AS worth,
        min(donor_best) AS lowest, max(donor_best) AS highest,
        min(donor_worth) AS least, max(donor_worth) AS most
    FROM linker_candidateedge
    WHERE project_id = %(project)s AND (%(donors)s::bigint[] IS NULL OR source_id = ANY(%(donors)s::bigint[]))
    GROUP BY 1, 2
) of_donor
WHERE lowest <> score OR highest <> score OR least <> worth OR most <> worth
"""


def stage_uneven_donors(project: Project, donors: NDArray[np.int64] | None = None) -> None:
    """Fills the temporary table `uneven_donors` with donors whose edges, sure or not, do not all say what is the best
    of them, and with what is: of all donors, or of some, ids int64 [k]."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS uneven_donors")
        cursor.execute(_UNEVEN_DONORS, {"project": project.pk, "donors": None if donors is None else donors.tolist()})
    analyze("uneven_donors")


def even_out_donor_best(project: Project) -> None:
    """One value for the sure edges of each of the `uneven_donors`, and one for its others: it groups the queue."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE linker_candidateedge e SET donor_best = best.score, donor_worth = best.worth "
            f"FROM uneven_donors best WHERE e.source_id = best.source_id AND {sure_sql('e')} = "
            "best.is_sure AND e.project_id = %s "
            "AND (e.donor_best, e.donor_worth) <> (best.score, best.worth)",
            [project.pk],
        )


def even_out_need(project: Project, acceptors: NDArray[np.int64] | None = None) -> None:
    """One value for the open suggestions of an acceptor, for the same reason. Of all, or of some, ids int64 [k]."""
    asked = "" if acceptors is None else "AND target_id = ANY(%(acceptors)s)"
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            WITH most AS MATERIALIZED (
                SELECT target_id, max(need) AS need FROM linker_candidateedge
                WHERE project_id = %(project)s {asked} AND {sql(OPEN)}
                GROUP BY target_id HAVING min(need) <> max(need)
            )
            UPDATE linker_candidateedge e SET need = most.need
            FROM most WHERE e.target_id = most.target_id AND e.project_id = %(project)s AND {sql(OPEN, "e")}
                AND e.need <> most.need
            """,
            {"project": project.pk, "acceptors": None if acceptors is None else np.unique(acceptors).tolist()},
        )
