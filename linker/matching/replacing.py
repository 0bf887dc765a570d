"""Better candidates in place of released links: what a page is full of gives way slowly, and only for a clear gain.

A run asks for the released links that may be replaced at all (`standing_links`), of pages without room in their place;
its ranker says how likely each is, as if it were not linked (`scored`); candidates that found no room are set against
them (`plan`), and those that were stored so are written down (`save`). An editor decides on them as on any suggestion;
what an accept does to the released link, review.releases says.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
from django.db import connection
from django.utils import timezone
from django.utils.module_loading import import_string

from linker.engine.allocation.allocate import Reason
from linker.engine.allocation.replacements import Quotas, choose_replacements, is_gain
from linker.engine.text.fold import fold
from linker.matching.donor_caps import TAKES_ROOM
from linker.matching.room import Room, rooms_of
from linker.matching.run_tiers import RunTiers
from linker.models import Basis, Placement
from linker.models.querysets import APPROVED, OPEN, REFUSED, UNDECIDED, sql
from linker.models.replacement import ReplacementEnd
from linker.pages.gates import Gates
from linker.storage.copy import copy_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from linker.engine.params import MatchParams
    from linker.engine.ranking.ranked import Ranked
    from linker.matching.allocation import AllocatedLinks
    from linker.models import Project, Run

# Which released links may be replaced, as an array of RELEASED: a path, since this app does not know releases.
MAY_BE_REPLACED = "review.live.standing.may_be_replaced"
RELEASED = [("edge", ">i8"), ("source", ">i8"), ("target", ">i8"), ("inline", "?")]
WEEK = 7
_PLACES = (Placement.RELATED, Placement.INLINE)  # by whether it is in the text


@dataclass(frozen=True)
class StandingLinks:
    """Released links of pages without room, arrays [k]: ids of the `edge`, its `source` and `target`, int64; `inline`
    bool; `probability` float64 that an editor approves the link as it stands, NaN until a ranker has said it."""

    edge: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    inline: NDArray[np.bool_]
    probability: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.edge)

    def take(self, keep: NDArray[np.bool_]) -> StandingLinks:
        """Those where `keep` bool [k] is true."""
        return StandingLinks(*(getattr(self, name)[keep] for name in self.__dataclass_fields__))


class Planned(NamedTuple):
    """What a pair would replace: the edge of a released link, where that stands, and how probable it is."""

    edge: int
    placement: Placement
    old: float


class Replaced(NamedTuple):
    """A link that was stored as a replacement of `planned`."""

    source: int
    target: int
    planned: Planned
    new: float


# ---------------------------------------------------------------------------------------------- before the ranking


def standing_links(project: Project, params: MatchParams) -> StandingLinks:
    """The released links that may be replaced, of pages that have no room where the link stands. None where the project
    does not want any to be."""
    if not project.replacing:
        return _standing(np.empty(0, dtype=RELEASED))
    links = _standing(import_string(MAY_BE_REPLACED)(project))
    if not len(links):
        return links
    links = links.take(_is_full(project, params, links))
    return links.take(~np.isin(links.target, _gated(project, links.target)))


def _standing(rows: NDArray[Any]) -> StandingLinks:
    edge, source, target = (rows[name].astype(np.int64) for name in ("edge", "source", "target"))
    return StandingLinks(edge, source, target, rows["inline"].astype(np.bool_), np.full(len(rows), np.nan))


def _is_full(project: Project, params: MatchParams, links: StandingLinks) -> NDArray[np.bool_]:
    """Whether the source of each link has no room for another one in its place, bool [k]."""
    sources, of = np.unique(links.source, return_inverse=True)
    waiting = copy_out(
        f"SELECT e.source_id, count(*) FILTER (WHERE e.placement = 'inline'), "
        "count(*) FILTER (WHERE e.placement = 'related') FROM linker_candidateedge e "
        f"WHERE e.project_id = %s AND e.source_id = ANY(%s) AND {TAKES_ROOM} GROUP BY 1",
        [project.pk, sources.tolist()],
        [("source", ">i8"), ("inline", ">i8"), ("related", ">i8")],
    )
    rooms = rooms_of(project, params, sources.tolist())
    usual = Room(params.inline_per_donor, params.related_per_donor)
    left = np.array([rooms.get(page, usual) for page in sources.tolist()], dtype=np.int64)
    left[np.searchsorted(sources, waiting["source"].astype(np.int64))] -= np.stack(
        [waiting["inline"], waiting["related"]], axis=1
    ).astype(np.int64)
    full: NDArray[np.bool_] = np.where(links.inline, left[of, 0], left[of, 1]) <= 0
    return full


def _gated(project: Project, pages: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of the pages that have a gate: a link to them was looked at by two people, and no one takes it off."""
    gates = Gates(project)
    if not gates or not len(pages):
        return np.empty(0, dtype=np.int64)
    chosen = f"SELECT unnest(ARRAY[{', '.join(map(str, np.unique(pages).tolist()))}]::bigint[])"
    return np.array([page for (page,) in gates.pages(chosen)], dtype=np.int64)


# ---------------------------------------------------------------------------------------------- after the ranking


def scored(links: StandingLinks, ids: NDArray[np.int64], ranked: Ranked | None) -> StandingLinks:
    """Those of the links that the ranker has scored, with what it says of them as they stand: in the text on their
    words, or beside it. `ranked` of pages whose ids are `ids` [n].

    Words that it would not have chosen leave what it says of the pair at its best, so that such a link is not thought
    less of than it may be.
    """
    if ranked is None or not len(links):
        return links.take(np.zeros(len(links), dtype=np.bool_))
    places = np.arange(len(ranked))
    pairs = zip(ids[ranked.source].tolist(), ids[ranked.target].tolist(), strict=True)
    place_of = dict(zip(pairs, places.tolist(), strict=True))
    at = [place_of.get(pair, -1) for pair in zip(links.source.tolist(), links.target.tolist(), strict=True)]
    found = np.array(at, dtype=np.int64) >= 0
    links, place = links.take(found), np.array(at, dtype=np.int64)[found]
    probability = np.minimum(ranked.probability[place], ranked.beside[place])
    anchors = _anchors(links.edge[links.inline])
    for row, choices in zip(
        np.flatnonzero(links.inline).tolist(), ranked.anchor_choices(place[links.inline]), strict=True
    ):
        best, beside = float(ranked.probability[place[row]]), float(ranked.beside[place[row]])
        words = fold(anchors.get(int(links.edge[row]), ""))
        weight = next((choice.weight for choice in choices if fold(choice.text) == words), None)
        probability[row] = best if weight is None else round(min(best, beside * weight), 6)
    return replace(links, probability=probability)


def _anchors(edges: NDArray[np.int64]) -> dict[int, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, anchor FROM linker_candidateedge WHERE id = ANY(%s)", [edges.tolist()])
        return dict(cursor.fetchall())


def plan(
    project: Project,
    params: MatchParams,
    allocated: AllocatedLinks,
    standing: StandingLinks | None,
    refused: NDArray[np.bool_],
) -> AllocatedLinks:
    """The links as they were allocated, and besides them the candidates that would replace a standing link.

    A candidate is a pair that found its source full, that the queue would show, and that has not been rejected as a
    replacement. `refused` bool [m]: the eligible pairs that may be none for another reason.
    """
    if standing is None or not len(standing):
        return allocated
    rows, allocation = allocated.eligible, allocated.allocation
    full = (allocation.reason == Reason.SOURCE_FULL) & np.isin(rows["source"], standing.source) & ~refused
    full &= ~allocated.text_alone
    places = np.flatnonzero(full)
    shown, inline = _as_shown(project, rows[places])
    places, inline = places[shown], inline[shown]
    kept = ~_was_rejected(project, rows[places])
    places, inline = places[kept], inline[kept]
    source, target = (rows[name][places].astype(np.int64) for name in ("source", "target"))
    probability = np.where(inline, rows["probability"][places], np.minimum(
        rows["probability"][places], rows["beside"][places]))  # fmt: skip
    quotas = replace(
        quotas_of(project, np.unique(source), np.unique(rows["source"]).astype(np.int64)),
        per_target=_left_at_targets(allocated, np.unique(target)),
    )
    pairs = choose_replacements(
        (source, target, inline.astype(np.int64), probability),
        (standing.source, standing.inline.astype(np.int64), standing.probability),
        project.replace_gain / 100,
        quotas,
    )
    if not pairs:
        return allocated
    replacing = {}
    for candidate, link in pairs:
        placement = _PLACES[bool(standing.inline[link])]
        replacing[int(source[candidate]), int(target[candidate])] = Planned(
            int(standing.edge[link]), placement, round(float(standing.probability[link]), 6)
        )
    more = places[[candidate for candidate, _ in pairs]]
    reason = allocation.reason.copy()
    reason[more] = 0
    chosen = np.concatenate([allocation.chosen, more])
    return replace(allocated, allocation=replace(allocation, chosen=chosen, reason=reason), replacing=replacing)


def _as_shown(project: Project, rows: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether the queue would show each row, and whether its link would be in the text, bool [n] both, as far as that
    is known before it has its words. A quantile of the run is not."""
    words = rows["probability"] > rows["beside"]
    tiers = RunTiers(project, rows["probability"])
    if not len(rows) or tiers.basis == Basis.QUANTILE:
        return np.ones(len(rows), dtype=np.bool_), words
    place = tiers.places(tiers.values(rows), tiers.cohorts(rows, words)) + 1
    is_shown = np.array([False, *(not tier.held for tier in tiers.tiers)])
    in_text = np.array([False, *(tier.placement == Placement.INLINE for tier in tiers.tiers)])
    return is_shown[place], in_text[place] & words


def _was_rejected(project: Project, rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether somebody has rejected each pair as a replacement, bool [n]."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT e.source_id, e.target_id FROM linker_replacement r "
            "JOIN linker_candidateedge e ON e.id = r.edge_id WHERE r.project_id = %s AND e.source_id = ANY(%s) "
            f"AND (r.\"end\" = '{ReplacementEnd.REJECTED}' OR r.ended_at IS NULL AND e.status = 'rejected')",
            [project.pk, np.unique(rows["source"]).tolist()],
        )
        rejected = set(cursor.fetchall())
    pairs = zip(rows["source"].tolist(), rows["target"].tolist(), strict=True)
    return np.fromiter((pair in rejected for pair in pairs), dtype=np.bool_, count=len(rows))


def _left_at_targets(allocated: AllocatedLinks, targets: NDArray[np.int64]) -> dict[int, int]:
    """Links that each target may still receive; empty where there is no cap."""
    if not allocated.target_cap:
        return {}
    received = Counter(allocated.eligible["target"][allocated.allocation.chosen].tolist())
    for other in allocated.taken_at_targets:
        received.update(other.tolist())
    return {target: allocated.target_cap - received[target] for target in targets.tolist()}


# ------------------------------------------------------------------------------------------------------- quotas

_LINKS = f"""
SELECT p.id, p.outlinks + (
    SELECT count(*) FROM linker_candidateedge e WHERE e.source_id = p.id AND {TAKES_ROOM}
) FROM linker_page p WHERE p.id = ANY(%(sources)s)
"""
# Those of the last days that count: released; accepted; and open, but for those of donors that are looked at anew.
_COUNTED = f"""
SELECT e.source_id, count(*) FROM linker_replacement r JOIN linker_candidateedge e ON e.id = r.edge_id
WHERE r.project_id = %(project)s AND (
    r.ended_at IS NULL AND ({sql(APPROVED, "e")}
        OR {sql(UNDECIDED, "e")} AND e.source_id <> ALL(%(anew)s::bigint[]))
    OR r."end" = '{ReplacementEnd.RELEASED}' AND r.ended_at >= %(since)s)
GROUP BY 1
"""


def week_of(project: Project) -> datetime:
    """When the week began that ends today, on the project's clock."""
    return days_ago(project, WEEK - 1)


def days_ago(project: Project, days: int) -> datetime:
    """The moment at which the day began that was so many days before today, on the project's clock."""
    today = timezone.now().astimezone(ZoneInfo(project.time_zone)).date()
    return project.begin_of(today - timedelta(days=days))


def quotas_of(project: Project, sources: NDArray[np.int64], anew: NDArray[np.int64]) -> Quotas:
    """How many links of each of some sources may still be replaced this week, and of all together. `anew`: the sources
    whose open replacements do not count, since they are chosen anew."""
    values = {"project": project.pk, "sources": sources.tolist(), "anew": anew.tolist(), "since": week_of(project)}
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED, values)
        used = dict(cursor.fetchall())
        cursor.execute(_LINKS, values)
        links = dict(cursor.fetchall())
        cursor.execute(
            "SELECT count(*) FROM linker_candidateedge WHERE project_id = %s AND status = 'exported'", [project.pk]
        )
        out = cursor.fetchone()[0]
    return Quotas(
        {page: most_of(project.replace_of_page, links.get(page, 0)) - used.get(page, 0) for page in sources.tolist()},
        most_of(project.replace_of_site, out) - sum(used.values()),
        {},
    )


def most_of(percent: int, links: int) -> int:
    """So many percent of some links, rounded down, and one at least."""
    return max(1, links * percent // 100)


# ------------------------------------------------------------------------------------------------------- keeping

# What the run looked at anew and does not propose as it was proposed before; and what was rejected since.
_END = f"""
UPDATE linker_replacement r SET ended_at = now(),
    "end" = CASE e.status WHEN 'rejected' THEN '{ReplacementEnd.REJECTED}' ELSE '{ReplacementEnd.LAPSED}' END
FROM linker_candidateedge e WHERE e.id = r.edge_id AND r.project_id = %(project)s AND r.ended_at IS NULL AND (
    e.status = 'exported' OR {sql(REFUSED, "e")} OR {sql(UNDECIDED, "e")} AND (e.stale
        OR e.run_id = %(run)s AND (%(donors)s::bigint[] IS NULL OR e.source_id = ANY(%(donors)s::bigint[]))))
"""
_KEEP = f"""
INSERT INTO linker_replacement (project_id, edge_id, replaced_id, run_id, placement, old, new, gain, proposed_at, "end")
SELECT e.project_id, e.id, asked.replaced, %(run)s, asked.placement, asked.old, asked.new, %(gain)s, now(), ''
FROM unnest(%(source)s::bigint[], %(target)s::bigint[], %(replaced)s::bigint[], %(placement)s::text[],
    %(old)s::float8[], %(new)s::float8[]) asked (source, target, replaced, placement, old, new)
JOIN linker_candidateedge e ON e.source_id = asked.source AND e.target_id = asked.target
JOIN linker_candidateedge o ON o.id = asked.replaced
WHERE {sql(OPEN, "e")} AND o.status = 'exported'
    AND NOT EXISTS (SELECT FROM linker_replacement r WHERE r.ended_at IS NULL AND r.replaced_id = asked.replaced)
ON CONFLICT (edge_id, replaced_id) DO UPDATE SET run_id = excluded.run_id, placement = excluded.placement,
    old = excluded.old, new = excluded.new, gain = excluded.gain, proposed_at = excluded.proposed_at, ended_at = NULL,
    "end" = ''
"""
# A page is full without what it would have replaced.
_CLOSE = f"""
UPDATE linker_candidateedge e SET stale = true
FROM unnest(%(source)s::bigint[], %(target)s::bigint[]) asked (source, target)
WHERE e.source_id = asked.source AND e.target_id = asked.target AND {sql(UNDECIDED, "e")}
    AND NOT EXISTS (SELECT FROM linker_replacement r WHERE r.edge_id = e.id AND r.ended_at IS NULL)
"""


def save(run: Run, found: Sequence[Replaced], donors: NDArray[np.int64] | None = None) -> int:
    """Writes down what the edges of a run would replace, in the transaction that stores them; returns how many.

    What was open before, of all donors or of some, ids int64 [k], ends where it is not proposed again. The quotas are
    asked once more: an editor may have accepted another meanwhile.
    """
    project = run.project
    looked_at = None if donors is None else donors.tolist()
    with connection.cursor() as cursor:
        cursor.execute(_END, {"project": project.pk, "run": run.pk, "donors": looked_at})
        if not found:
            return 0
        sources = np.unique(np.array([one.source for one in found], dtype=np.int64))
        kept = _within_quotas(found, quotas_of(project, sources, np.empty(0, dtype=np.int64)))
        cursor.execute(_KEEP, _columns(kept) | {"run": run.pk, "gain": project.replace_gain / 100})
        saved = cursor.rowcount
        cursor.execute(_CLOSE, _columns(found))
    return saved


def end_closed(project: Project) -> None:
    """Ends what is no longer proposed, since another run stands."""
    with connection.cursor() as cursor:
        cursor.execute(_END, {"project": project.pk, "run": None, "donors": []})


def _within_quotas(found: Iterable[Replaced], quotas: Quotas) -> list[Replaced]:
    """The best of them that the quotas allow."""
    given = defaultdict[int, int](int)
    kept: list[Replaced] = []
    for one in sorted(found, key=lambda one: (one.planned.old - one.new, one.source, one.target)):
        if len(kept) < quotas.in_all and given[one.source] < quotas.per_source.get(one.source, 0):
            given[one.source] += 1
            kept.append(one)
    return kept


def _columns(found: Sequence[Replaced]) -> dict[str, list[Any]]:
    return {
        "source": [one.source for one in found],
        "target": [one.target for one in found],
        "replaced": [one.planned.edge for one in found],
        "placement": [str(one.planned.placement) for one in found],
        "old": [one.planned.old for one in found],
        "new": [one.new for one in found],
    }


def holds(planned: Planned, new: float, gain: float) -> bool:
    """Whether a link of this probability, as it was placed, is still a gain on what it would replace."""
    return is_gain(new, planned.old, gain)
