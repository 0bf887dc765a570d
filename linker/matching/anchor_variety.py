"""Open suggestions of one target keep apart: beyond the limit of the same words, others of a suggestion's own anchors
take their turn: beside the text whole names of the target alone.

linker.matching.anchor_use says what else counts. An open suggestion counts where it can be seen: a tier reads
it that is not held back, the newest run proposes it, and no editor wrote its words. Those with the higher score keep
their words. A link that belongs into the text moves to words of the text only, and only to those that fit nearly as
well; where nothing else fits, it keeps its words, or takes those that are used least.
"""

from __future__ import annotations

import itertools
import json
import operator
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import connection

from linker.engine.anchors.diversity import may_replace, word_set
from linker.engine.text.fold import fold
from linker.engine.text.sentences import reads_as, sentence_and_heading
from linker.matching.anchor_use import carried_query, is_another
from linker.models.querysets import TO_REVIEW, sql
from linker.models.suppression import ruled_out_words
from linker.storage.cursors import stream

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from linker.models import Project

EDGES_AT_A_TIME = 2000
MAX_ANCHOR_ALTERNATIVES = 6

# `tiers` says how an edge is read: by the tier it has, or by a reading that is about to be written.
STORED = "LEFT JOIN linker_tier t ON t.id = e.tier_id"
_OPEN = f"""
FROM linker_candidateedge e {{tiers}}
WHERE e.project_id = %(project)s AND {sql(TO_REVIEW, "e", tier="t")} AND NOT e.edited
    AND (%(targets)s::bigint[] IS NULL OR e.target_id = ANY(%(targets)s::bigint[]))
"""
# Of words in the text that a suggestion gave up, its tier may want some again.
_HAS_PLACES = "t.placement = 'inline' AND e.span_start IS NULL AND e.anchor_alternatives @? '$[*].start'"


class Reworded(NamedTuple):
    """An edge's new words; `others` as stored, the place in the donor's body with what is read around it."""

    edge: int
    source: int
    anchor: str
    origin: str
    others: list[dict[str, Any]]
    start: int | None
    end: int | None
    sentence: str
    heading: str
    body_hash: int | None


class _Edge(NamedTuple):
    edge: int
    source: int
    target: int
    anchor: str
    origin: str
    others: list[dict[str, Any]]
    start: int | None
    end: int | None
    inline: bool
    may_move: bool

    def without(self, ruled_out: Collection[str]) -> _Edge:
        """The edge without the alternatives that say these words, as `word_set` has them."""
        return self._replace(others=[other for other in self.others if word_set(other["text"]) not in ruled_out])

    @property
    def own(self) -> dict[str, Any]:
        """The anchor it has, as an alternative is stored."""
        place = {} if self.start is None else {"start": self.start, "end": self.end}
        return {"text": self.anchor, "source": self.origin, "raw": self.anchor, **place}


def reworded(
    project: Project, tiers: str, targets: Sequence[int] | None, only: Sequence[int] | None = None
) -> Iterator[list[Reworded]]:
    """The edges whose words have to change, with their new ones, some targets at a time, in constant memory.

    `tiers`: a join that gives each edge `e` its tier as `t`. `targets`: of these alone. `only`: other edges stay.
    """
    waiting: dict[int, Counter[str]] = {}
    size = 0
    placed: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for target, links, settled in _crowded(project, tiers, targets):
        waiting[target] = settled
        size += links
        if size >= EDGES_AT_A_TIME:
            yield _reworded(project, tiers, waiting, only, placed)
            waiting, size = {}, 0
    if waiting:
        yield _reworded(project, tiers, waiting, only, placed)


def _crowded(project: Project, tiers: str, targets: Sequence[int] | None) -> Iterator[tuple[int, int, Counter[str]]]:
    """Targets with more links of the same words than the project allows, how many open suggestions each has, and its
    settled links by `word_set`."""
    settled_links, params = carried_query(project, targets)
    query = (
        f"SELECT e.target_id, e.anchor, '' AS settled, count(*) AS links, bool_or({_HAS_PLACES}) AS has_places, "
        f"true AS is_open {_OPEN.format(tiers=tiers)} GROUP BY e.target_id, e.anchor "
        f"UNION ALL SELECT target_id, anchor, settled, links, false, false FROM ({settled_links}) s ORDER BY target_id"
    )
    for target, rows in itertools.groupby(stream("crowded", query, params), operator.itemgetter(0)):
        settled: Counter[str] = Counter()
        proposed: Counter[str] = Counter()
        returns = False
        for _, anchor, beside, links, has_places, is_open in rows:
            if is_another(anchor, beside):
                (proposed if is_open else settled)[word_set(anchor)] += links
                returns = returns or has_places
        if returns or any(settled[words] + links > project.identical_anchor_limit for words, links in proposed.items()):
            yield target, proposed.total(), settled


def _reworded(
    project: Project,
    tiers: str,
    settled: dict[int, Counter[str]],
    only: Sequence[int] | None,
    placed: dict[int, list[tuple[int, int]]],
) -> list[Reworded]:
    """Of some targets with their settled links, which the open ones join; `placed`: donor by donor, where links have
    been moved to before, and now."""
    query = (
        "SELECT e.id, e.source_id, e.target_id, e.anchor, e.anchor_source, e.anchor_alternatives, e.span_start, "
        "e.span_end, t.placement = 'inline', %(only)s::bigint[] IS NULL OR e.id = ANY(%(only)s::bigint[]) "
        f"{_OPEN.format(tiers=tiers)} ORDER BY e.target_id, e.score DESC, e.id"
    )
    with connection.cursor() as cursor:
        cursor.execute(
            query,
            {"project": project.pk, "targets": list(settled), "only": None if only is None else list(only)},
        )
        edges = [_Edge._make([*row[:5], _loaded(row[5]), *row[6:]]) for row in cursor.fetchall()]
    ruled_out = ruled_out_words(project, list(settled))
    edges = [edge.without(ruled_out[edge.target]) if edge.target in ruled_out else edge for edge in edges]
    moving: list[_Edge] = []
    for edge in sorted(edges, key=operator.attrgetter("may_move")):
        used, words = settled[edge.target], word_set(edge.anchor)
        returns = edge.inline and edge.start is None and any("start" in other for other in edge.others)
        if edge.may_move and (used[words] >= project.identical_anchor_limit or returns):
            moving.append(edge)
        else:
            used[words] += 1
    places, found = _Places(moving, placed), []
    for edge in moving:
        used = settled[edge.target]
        chosen = _choice(edge, places.of(edge), used, project.identical_anchor_limit)
        used[word_set(chosen["text"])] += 1
        if chosen["text"] != edge.anchor:
            found.append(places.put(edge, chosen))
    return found


def _choice(edge: _Edge, in_text: list[dict[str, Any]], used: Counter[str], limit: int) -> dict[str, Any]:
    """The anchor of one more link, its own before the others; `in_text`: its alternatives that fit into the text."""
    options = [edge.own]
    if edge.inline and (edge.start is not None or in_text):
        options = [edge.own, *in_text] if edge.start is not None else in_text
    else:
        options += [other for other in edge.others if other.get("whole")]
    for option in options:
        if used[word_set(option["text"])] < limit:
            return option
    if edge.start is None and edge.own not in options:  # there is no reason to move into the text
        options = [edge.own, *options]
    return min(options, key=lambda option: used[word_set(option["text"])])


class _Places:
    """Where the words of suggestions that move are in the texts of their donors."""

    def __init__(self, moving: Sequence[_Edge], placed: dict[int, list[tuple[int, int]]]) -> None:
        self.placed = placed
        self.bodies: dict[int, tuple[str, int, list[str]]] = {}  # with the hash, and the page's headings
        self.taken: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        donors = sorted({edge.source for edge in moving if any("start" in other for other in edge.others)})
        if not donors:
            return
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT id, body, body_hash, array_prepend(h1, headings) FROM linker_page "
                "WHERE id = ANY(%s) AND body <> ''",
                [donors],
            )
            self.bodies = {page: (body, body_hash, headings) for page, body, body_hash, headings in cursor.fetchall()}
            cursor.execute(
                "SELECT source_id, id, span_start, span_end FROM linker_candidateedge WHERE source_id = ANY(%s) "
                "AND status <> 'rejected' AND span_start IS NOT NULL",
                [donors],
            )
            for source, *span in cursor.fetchall():
                self.taken[source].append(tuple(span))

    def of(self, edge: _Edge) -> list[dict[str, Any]]:
        """Those of the edge's alternatives that are in the text, free and fitting nearly as well as the best."""
        own = "" if edge.start is None else edge.anchor
        return [
            other
            for other in edge.others
            if "start" in other
            and may_replace(other["text"], other["source"], other.get("fit", 1.0), own, 1.0)
            and self._is_free(edge, other)
        ]

    def _is_free(self, edge: _Edge, other: dict[str, Any]) -> bool:
        body, *_ = self.bodies.get(edge.source, ("", 0, []))
        start, end = other["start"], other["end"]
        taken = [(first, stop) for pk, first, stop in self.taken[edge.source] if pk != edge.edge]
        taken += self.placed.get(edge.source, [])
        free = not any(start < stop and first < end for first, stop in taken)
        return free and reads_as(body, start, end, other["text"])

    def put(self, edge: _Edge, chosen: dict[str, Any]) -> Reworded:
        left = [other for other in edge.others if fold(other["text"]) != fold(chosen["text"])]
        others = [edge.own, *left][:MAX_ANCHOR_ALTERNATIVES]
        start, end = chosen.get("start"), chosen.get("end")
        sentence, heading, body_hash = "", "", None
        if start is not None and end is not None:
            self.placed[edge.source].append((start, end))
            body, body_hash, headings = self.bodies[edge.source]
            sentence, heading = sentence_and_heading(body, start, end, headings)
        return Reworded(
            edge.edge, edge.source, chosen["text"], chosen["source"], others, start, end, sentence, heading, body_hash
        )


def _loaded(value: Any) -> list[dict[str, Any]]:
    return json.loads(value) if isinstance(value, str) else value
