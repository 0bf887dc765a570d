"""The texts of a run's donors, with the words that are links already."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from linker.engine.anchors.placement import Folded, LinkableText, StemPositions
from linker.engine.text.fold import fold
from linker.engine.text.sentences import reads_as
from linker.matching.room import has_prose_sql
from linker.models.linked import IN_BODY
from linker.models.querysets import APPROVED, sql
from linker.storage.cursors import stream

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class DonorText:
    """The text of a donor: `page` knows where links may be in it; `has_prose`: an editor could add a sentence for a
    link; `accepted`: where the words of accepted links stand, by target."""

    page: LinkableText
    language: str
    body_hash: int
    has_prose: bool
    accepted: dict[int, tuple[int, int]] = field(default_factory=dict)

    @cached_property
    def words(self) -> StemPositions:
        return StemPositions(Folded(self.page.text), self.language)


def read_donor_texts(donors: Sequence[int], usual_language: str, silent_roles: Sequence[str]) -> dict[int, DonorText]:
    """The texts of those donors that have one, by id, with the words that are links already or will become those that
    people accepted. `silent_roles`: roles of pages in whose texts no editor writes for a link."""
    rows = list(
        stream(
            "bodies",
            f"SELECT id, body, own_language, body_hash, h1, headings, {has_prose_sql('p', '%s')}, "
            "CASE WHEN linked_elsewhere_hash = body_hash THEN linked_elsewhere ELSE '{}' END "
            "FROM linker_page p WHERE id = ANY(%s) AND body <> ''",
            [list(silent_roles), list(donors)],
            500,
        )
    )
    if not rows:
        return {}
    bodies = {page: body for page, body, *_ in rows}
    accepted, accepted_words = _accepted_places(bodies)
    linked, linked_places = _linked_words(bodies, accepted_words)
    return {
        page: DonorText(
            LinkableText(
                body,
                linked[page],
                [*accepted[page].values(), *linked_places[page], *pairwise_spans(elsewhere)],
                [h1, *headings],
            ),
            language or usual_language,
            body_hash,
            has_prose,
            accepted[page],
        )
        for page, body, language, body_hash, h1, headings, has_prose, elsewhere in rows
    }


def pairwise_spans(edges: Sequence[int]) -> list[tuple[int, int]]:
    """Spans whose starts and ends stand in a row."""
    return list(zip(edges[::2], edges[1::2], strict=True))


def _accepted_places(
    bodies: dict[int, str],
) -> tuple[dict[int, dict[int, tuple[int, int]]], set[tuple[int, int, str]]]:
    """Where accepted links of each donor are in its text, by target; and donor, target and folded words of each."""
    places: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
    words: set[tuple[int, int, str]] = set()
    for source, target, start, end, anchor in stream(
        "taken",
        "SELECT source_id, target_id, span_start, span_end, anchor FROM linker_candidateedge "
        f"WHERE source_id = ANY(%s) AND {sql(APPROVED)} AND placement = 'inline' "
        "AND span_start IS NOT NULL AND span_end IS NOT NULL ORDER BY id",
        [list(bodies)],
    ):
        if reads_as(bodies[source], start, end, anchor):
            places[source][target] = start, end
            words.add((source, target, fold(anchor)))
    return places, words


def _linked_words(
    bodies: dict[int, str], accepted: set[tuple[int, int, str]]
) -> tuple[dict[int, list[str]], dict[int, list[tuple[int, int]]]]:
    """Each donor's links in its text, but for accepted links that are on the site by now: the anchors of those whose
    place is not known, and the places of the others."""
    linked: dict[int, list[str]] = defaultdict(list)
    places: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for source, target, anchor, place in stream(
        "linked",
        f"SELECT source_id, target_id, anchor, place FROM linker_existinglink WHERE source_id = ANY(%s) "
        f"AND {sql(IN_BODY)} AND anchor <> ''",
        [list(bodies)],
    ):
        if (source, target, fold(anchor)) in accepted:
            continue
        if place is not None and bodies[source][place : place + len(anchor)] == anchor:
            places[source].append((place, place + len(anchor)))
        else:
            linked[source].append(anchor)
    return linked, places
