"""Edges into the database: new ones straight into the table, what is known there already refreshed.

Which columns there are, and which of them a run refreshes, linker.models.edge_columns says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import IntegrityError, connection

from linker.models.edge_columns import EDGE_COLUMNS, PAIR_COLUMNS, RUN_COLUMNS, EdgeColumn, Form, Refresh
from linker.models.querysets import UNDECIDED, sql
from linker.models.suppression import freed_sql
from linker.storage.background import BackgroundCopy
from linker.storage.copy import copy_text
from linker.storage.references import lock_references, lock_referred

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.models import Run, Tier

NULL = "\\N"  # as COPY reads it
PAIR_NAMES, RUN_NAMES = ([column.name for column in columns] for columns in (PAIR_COLUMNS, RUN_COLUMNS))
_NEW_EDGE_NAMES = [*PAIR_NAMES, *RUN_NAMES]
_UNDECIDED = sql(UNDECIDED, "linker_candidateedge")
_REFRESHED_WHEN = {
    Refresh.ALWAYS: "true",
    Refresh.UNDECIDED: _UNDECIDED,
    Refresh.UNEDITED: f"{_UNDECIDED} AND NOT linker_candidateedge.edited",
}


def _number_or_null(value: float | None) -> str:
    return NULL if value is None or value != value else str(value)


def _copy_form(column: EdgeColumn) -> Callable[[Any], str]:
    """How COPY's text form has a value of the column. JSON and arrays are given as PostgreSQL reads them."""
    if column.form in (Form.VARCHAR, Form.TEXT, Form.JSON):
        return copy_text
    if column.form is Form.BOOLEAN:
        return lambda value: "t" if value else "f"
    return _number_or_null if column.nullable else str


_COPY_FORMS = [(column.name, _copy_form(column)) for column in PAIR_COLUMNS]


class EdgeWriter:
    """Takes the edges of a run. New ones go straight into the table; of pairs that have an edge the values wait in the
    temporary table `new_edges`, until `refresh`."""

    def __init__(self, run: Run, ranked_by: str) -> None:
        self.run = run
        self.are_first = not run.project.edges.exists()
        self.new = self.refreshed = 0
        # As COPY reads them, and as literals of SQL.
        self._of_run = {
            "project_id": str(run.project_id),
            "run_id": str(run.pk),
            "ranked_by": ranked_by,
            "status": "suggested",
            "stale": "f",
            "created_at": "now",
            "updated_at": "now",
            "sensitive": "",
            "edited": "f",
        }
        self._tail = "".join(f"\t{self._of_run[name]}" for name in RUN_NAMES) + "\n"
        self._known: set[tuple[int, int]] = set()
        self._new_lines: list[str] = []
        self._known_lines: list[str] = []

    @contextmanager
    def open(self, references: Mapping[str, Sequence[int] | NDArray[np.int64]]) -> Iterator[BackgroundCopy]:
        """For a transaction in which edges are written that refer to these rows, by table; then `refresh`."""
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS new_edges")
            cursor.execute(
                f"CREATE TEMP TABLE new_edges ON COMMIT DROP AS SELECT {', '.join(PAIR_NAMES)} "
                "FROM linker_candidateedge LIMIT 0"
            )
            # Keys that are checked at the end of the transaction would be remembered until then, row by row.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            with lock_references(references), BackgroundCopy() as background:
                yield background
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")

    def hold_settings(self, tiers: Sequence[Tier]) -> None:
        """Locks the tiers that the edges refer to against deletion, once the project's row is locked. Raises
        IntegrityError where one is gone."""
        if not lock_referred("linker_tier", [tier.pk for tier in tiers]):
            raise IntegrityError("a tier of these edges has been deleted")

    def begin(self, rows: NDArray[Any]) -> None:
        """The next edges come from these rows."""
        self._known = set() if self.are_first else _pairs_with_edge(np.unique(rows["source"]))

    def add(self, values: dict[str, Any]) -> None:
        """One edge, by column: each of PAIR_COLUMNS."""
        line = "\t".join([form(values[name]) for name, form in _COPY_FORMS])
        if (values["source_id"], values["target_id"]) in self._known:
            self._known_lines.append(f"{line}\n")
        else:
            self._new_lines.append(line + self._tail)

    def send(self, background: BackgroundCopy) -> None:
        """Begins to write what was added."""
        self.new += len(self._new_lines)
        self.refreshed += len(self._known_lines)
        background.copy_lines("linker_candidateedge", _NEW_EDGE_NAMES, self._new_lines)
        background.copy_lines("new_edges", PAIR_NAMES, self._known_lines)
        self._new_lines, self._known_lines = [], []

    def refresh(self) -> None:
        """Gives the edges that were there before, which are locked, what this run says of them."""
        if not self.refreshed:
            return
        with connection.cursor() as cursor:
            # Rejected, and what the rejection ruled out may be suggested again by now.
            cursor.execute(
                "UPDATE linker_candidateedge e SET (status, reviewed, rejected_for) = ('suggested', false, '') "
                "FROM new_edges n WHERE n.source_id = e.source_id AND n.target_id = e.target_id "
                f"AND e.status = 'rejected' AND {freed_sql('e')}"
            )
            pair_names = ", ".join(PAIR_NAMES)
            cursor.execute(
                f"INSERT INTO linker_candidateedge ({', '.join(RUN_NAMES)}, {pair_names}) "
                f"SELECT {', '.join('%s' for _ in RUN_NAMES)}, {pair_names} FROM new_edges "
                f"ON CONFLICT (source_id, target_id) DO UPDATE SET {_refreshed_columns(EDGE_COLUMNS)}",
                [self._of_run[name] for name in RUN_NAMES],
            )


def _refreshed_columns(columns: Iterable[EdgeColumn]) -> str:
    """SQL: what an edge takes over from one that is to be stored in its place."""
    return ", ".join(
        f"{column.name} = CASE WHEN {_REFRESHED_WHEN[column.refresh]} THEN EXCLUDED.{column.name} "
        f"ELSE linker_candidateedge.{column.name} END"
        for column in columns
        if column.refresh in _REFRESHED_WHEN
    )


def _pairs_with_edge(sources: NDArray[np.int64]) -> set[tuple[int, int]]:
    """Pairs of these donors that have an edge."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT source_id, target_id FROM linker_candidateedge WHERE source_id = ANY(%s)", [sources.tolist()]
        )
        return set(cursor.fetchall())
