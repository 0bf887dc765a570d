"""The edges of a run on their way into the database."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import connection

from linker.engine import worth
from linker.engine.allocation.allocate import Reason
from linker.engine.candidates.registry import names
from linker.engine.params import MatchParams
from linker.engine.tiers import read_tiers
from linker.matching.needs import Needs
from linker.matching.placing import Placed, Placer
from linker.matching.quota import Quota
from linker.models import Basis, Placement, Project, Run, RunBlock, Tier
from linker.models.linked import already_linked
from linker.storage import store

if TYPE_CHECKING:
    from numpy.typing import NDArray


from linker.matching.allocation import Given
from linker.matching.result import Findings

DONORS_AT_A_TIME = 1000
BINS = 20


def in_order(rows: NDArray[Any], chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
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


class Edges:
    """The edges of a run on their way into the database, donor by donor, the donor with the best link first.

    `chosen` are positions in `rows`. A pair that has no edge yet goes straight into the table; for others the new
    values wait in `new_edges` until all are there.
    """

    def __init__(
        self,
        run: Run,
        params: MatchParams,
        findings: Findings,
        given: Given,
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
            with store.references_held(self._references()):
                self._write(progress)
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
            if self.refreshed:
                self._refresh(cursor, columns)
            store.analyze("linker_candidateedge")
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
        with store.Background() as background:
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

    def _send(self, background: store.Background, fresh: list[str], known: list[str]) -> None:
        self.fresh += len(fresh)
        self.refreshed += len(known)
        background.copy_lines("linker_candidateedge", [*_EDGE_COLUMNS, *_FRESH_COLUMNS], fresh)
        background.copy_lines("new_edges", _EDGE_COLUMNS, known)

    def _lines(self, first: int, part: NDArray[Any], known: set[tuple[int, int]]) -> tuple[list[str], list[str]]:
        """Lines for COPY, of pairs that are new and of those that are known; `part` are the rows from `first` on."""
        fields, text = part.dtype.names or (), store.copy_text
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
