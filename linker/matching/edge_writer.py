"""Edges into the database: new ones straight into the table, what is known there already refreshed.

Which columns there are, and which of them a run refreshes, linker.models.edge_columns says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from django.db import IntegrityError, connection

from linker.models.edge_columns import EDGE_COLUMNS, PAIR_COLUMNS, RUN_COLUMNS, EdgeColumn, Form, Refresh
from linker.models.querysets import UNDECIDED, sql, sure_sql
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
_UNDECIDED = sql(UNDECIDED, "e")
_REFRESHED_WHEN = {
    Refresh.ALWAYS: "true",
    Refresh.UNDECIDED: _UNDECIDED,
    Refresh.UNEDITED: f"{_UNDECIDED} AND NOT e.edited",
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


class KnownEdge(NamedTuple):
    """What a pair has already: its score, its worth and whether it is sure, which a run refreshes as long as it
    `is_open`."""

    score: float
    worth: float
    is_sure: bool
    is_open: bool


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
        self._references: dict[str, Sequence[int] | NDArray[np.int64]] = {}
        self._tail = "".join(f"\t{self._of_run[name]}" for name in RUN_NAMES) + "\n"
        self._known: dict[tuple[int, int], KnownEdge] = {}
        self._new_lines: list[str] = []
        self._known_lines: list[str] = []

    @contextmanager
    def open(self, references: Mapping[str, Sequence[int] | NDArray[np.int64]]) -> Iterator[BackgroundCopy]:
        """For a transaction in which edges are written that refer to these rows, by table; then `refresh`."""
        self._references = {table: ids for table, ids in references.items() if table != "linker_page"}
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
        self._references["linker_tier"] = [tier.pk for tier in tiers]
        if not lock_referred("linker_tier", self._references["linker_tier"]):
            raise IntegrityError("a tier of these edges has been deleted")

    def begin(self, rows: NDArray[Any]) -> Mapping[tuple[int, int], KnownEdge]:
        """The next edges come from these rows. Returns what their donors have already, by source and target."""
        self._known = {} if self.are_first else _known_edges(np.unique(rows["source"]))
        return self._known

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

    def analyze(self) -> None:
        """Tells the planner what waits, before `refresh`."""
        if self.refreshed:
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE new_edges (source_id, target_id)")

    def refresh(self) -> None:
        """Gives the edges that were there before, which are locked, what this run says of them."""
        if not self.refreshed:
            return
        # Keys of pages stay as they are, and all others lead to rows that are locked.
        with lock_references(self._references), connection.cursor() as cursor:
            # Rejected, and what the rejection ruled out may be suggested again by now.
            cursor.execute(
                "UPDATE linker_candidateedge e SET (status, reviewed, rejected_for) = ('suggested', false, '') "
                "FROM new_edges n WHERE n.source_id = e.source_id AND n.target_id = e.target_id "
                f"AND e.status = 'rejected' AND {freed_sql('e')}"
            )
            values = {name: f"n.{name}" for name in PAIR_NAMES} | dict.fromkeys(RUN_NAMES, "%s")
            columns = [column for column in EDGE_COLUMNS if column.refresh in _REFRESHED_WHEN]
            cursor.execute(
                f"UPDATE linker_candidateedge e SET {', '.join(_refreshed(column, values) for column in columns)} "
                "FROM new_edges n WHERE n.source_id = e.source_id AND n.target_id = e.target_id",
                [self._of_run[column.name] for column in columns if column.name in RUN_NAMES],
            )
            if cursor.rowcount < self.refreshed:  # some have been deleted since
                names = ", ".join(values)
                cursor.execute(
                    f"INSERT INTO linker_candidateedge ({names}) SELECT {', '.join(values.values())} FROM new_edges n "
                    "ON CONFLICT DO NOTHING",
                    [self._of_run[name] for name in RUN_NAMES],
                )


def _refreshed(column: EdgeColumn, values: Mapping[str, str]) -> str:
    """SQL: what the edge `e` takes over from the values of a run, by column."""
    value = values[column.name]
    if column.name in RUN_NAMES:
        value = f"CAST({value} AS {column.form})"
    condition = _REFRESHED_WHEN[column.refresh]
    return f"{column.name} = " + (
        value if condition == "true" else f"CASE WHEN {condition} THEN {value} ELSE e.{column.name} END"
    )


def _known_edges(sources: NDArray[np.int64]) -> dict[tuple[int, int], KnownEdge]:
    """What these donors have already, by source and target."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT source_id, target_id, score, worth, {sure_sql()}, {sql(UNDECIDED)} FROM linker_candidateedge "
            "WHERE source_id = ANY(%s)",
            [sources.tolist()],
        )
        return {(source, target): KnownEdge(*values) for source, target, *values in cursor}
