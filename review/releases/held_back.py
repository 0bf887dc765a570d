"""What is held back, with its reason: of a release that was made, or of the next one.

Both are SQL of rows (edge, operation, reason, detail). That of the next release reads what review.releases.checks has
written in the same transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection
from django.utils.translation import gettext as _

from linker.models import CandidateEdge
from linker.models.querysets import UNDECIDED, holds, sql
from linker.storage.cells import safe_cell_sql
from linker.wording import number
from review.models import Held, Operation
from review.queue.sentences import in_words
from review.releases.checks import ADVICE, CHANGE_ADVICE, UNDECIDED_ADVICE
from review.releases.held_sayings import SENTENCES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from review.models import Release

PAGE_SIZE = 50
NEXT = "SELECT edge, operation, reason, detail FROM leaving WHERE reason <> ''"


def of_release(release: Release) -> str:
    return (
        f"SELECT edge_id AS edge, operation, reason, detail FROM review_heldback WHERE release_id = {int(release.pk)}"
    )


@dataclass(frozen=True)
class Group:
    """Links that are held back for one reason, and what to do about it: `undecided` of them without a decision,
    `changes` links that have left before: they are to change, were asked for again, or come back by a roll-back."""

    reason: Held
    links: int
    undecided: int
    changes: int = 0

    @property
    def advice(self) -> str:
        """What to do; where it differs between the kinds of links, each after the words that say which it is for."""
        usual = ADVICE[self.reason]
        kinds = [
            ("", self.links - self.undecided - self.changes, usual),
            (_("Where nobody has decided"), self.undecided, UNDECIDED_ADVICE.get(self.reason, usual)),
            (_("Where the link was exported before"), self.changes, CHANGE_ADVICE.get(self.reason, usual)),
        ]
        there = [kind for kind in kinds if kind[1]]
        if len({advice for _, _, advice in there}) == 1:
            return str(there[0][2])
        return " ".join(f"{whom} ({number(links)}): {advice}" if whom else str(advice) for whom, links, advice in there)


@dataclass(frozen=True)
class Row:
    """A link that is held back. `is_open`: it is not decided yet."""

    edge: CandidateEdge
    operation: Operation
    reason: Held
    detail: str

    @property
    def found(self) -> str:
        """What was found, in the reader's language."""
        return in_words(self.detail, SENTENCES)

    @property
    def is_open(self) -> bool:
        return holds(UNDECIDED, self.edge)


def groups(source: str) -> list[Group]:
    """By reason, the most final first. Counts."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT held.reason, count(*), count(*) FILTER (WHERE {sql(UNDECIDED, 'e')}), "
            "count(*) FILTER (WHERE held.operation = 'change' OR e.status IN ('exported', 'withdrawn')) "
            f"FROM ({source}) held JOIN linker_candidateedge e ON e.id = held.edge GROUP BY 1"
        )
        counts = {reason: numbers for reason, *numbers in cursor.fetchall()}
    return [Group(reason, *counts[reason]) for reason in Held if reason in counts]


def groups_of(release: Release) -> list[Group]:
    """Those of a release, as they were when it was made; see keep_groups."""
    return [Group(reason, *release.held_for[reason]) for reason in Held if reason in release.held_for]


def keep_groups(release: Release) -> None:
    """Keeps with a release, which is being made, what it holds back: nobody has to count it. Not saved."""
    found = groups(NEXT) if release.held else []
    release.held_for = {group.reason: [group.links, group.undecided, group.changes] for group in found}


def rows(source: str, reason: Held | None = None, after: int = 0) -> tuple[list[Row], int]:
    """One screen of links by id, those of a reason or all, after the edge `after`; and the last edge where there are
    more, else 0."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT edge, operation, reason, detail FROM ({source}) held WHERE edge > %s "
            + ("AND reason = %s " if reason else "AND reason <> %s ")
            + "ORDER BY edge LIMIT %s",
            [after, reason or "", PAGE_SIZE + 1],
        )
        found = cursor.fetchall()
    screen = found[:PAGE_SIZE]
    edges = (
        CandidateEdge.objects.select_related("source", "target")
        .defer("source__body", "target__body")
        .in_bulk([edge for edge, *_ in screen])
    )
    shown = [Row(edges[edge], Operation(operation), Held(why), detail) for edge, operation, why, detail in screen]
    return shown, shown[-1].edge.pk if len(found) > PAGE_SIZE else 0


def csv(source: str, reason: Held | None) -> Iterator[bytes]:
    """The same as a file, by id. The connection is busy until the iterator is exhausted or closed."""
    texts = {
        "donor_url": "donor.url",
        "acceptor_url": "acceptor.url",
        "anchor_text": "e.anchor",
        "reason": "held.reason",
        "detail": "held.detail",
    }
    cells = ", ".join(f"{safe_cell_sql(sql)} AS {name}" for name, sql in texts.items())
    only = f"WHERE held.reason = '{Held(reason)}'" if reason else ""
    statement = (
        f"COPY (SELECT {cells}, held.operation, e.status FROM ({source}) held "
        "JOIN linker_candidateedge e ON e.id = held.edge JOIN linker_page donor ON donor.id = e.source_id "
        f"JOIN linker_page acceptor ON acceptor.id = e.target_id {only} ORDER BY e.id) TO STDOUT (FORMAT csv, HEADER)"
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in copy:
            yield bytes(row)
