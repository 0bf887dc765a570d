"""Writing in the background: the database takes rows by COPY while Python computes the next ones."""

from __future__ import annotations

import sys
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import psycopg
from django.db import connection

from linker.storage.copy import SIGNATURE, TRAILER, copy_statement, packed_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from numpy.typing import NDArray

SWITCH_SECONDS = 0.0002  # how often Python switches between the two threads


class PackedRows(NamedTuple):
    """Rows in COPY's binary form, and the statement that takes them."""

    statement: str
    content: bytes


def pack(table: str, columns: Sequence[tuple[str, Any, NDArray[Any]]], text: str, values: Sequence[str]) -> PackedRows:
    """Rows of `columns`, as `copy_in` takes them, and as the last column `values` for `text`. Best packed before one
    waits: the database may still be busy with those before."""
    encoded = [value.encode() for value in values]
    rows = packed_rows([*columns, (text, "V0", np.zeros(len(values), dtype="V0"))])
    rows["_fields"], rows[f"_len_{text}"] = len(columns) + 1, list(map(len, encoded))
    starts = rows.view(f"V{rows.dtype.itemsize}").tolist()
    content = b"".join([SIGNATURE, *chain.from_iterable(zip(starts, encoded, strict=True)), TRAILER])
    return PackedRows(copy_statement(table, [*columns, (text, None, None)]), content)


class BackgroundCopy:
    """Runs COPY and other statements in a second thread, within the transaction of the thread that made it.

    Use it as a context manager. Until `wait` returns, the connection is busy and must not be used for anything else.
    An error of a write is raised by the next `wait`, or on leaving the block.
    """

    def __init__(self) -> None:
        connection.ensure_connection()
        self._raw = connection.connection  # Django's wrapper keeps to one thread, psycopg's connection does not
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="copy")
        self._running: list[Future[Any]] = []
        self._interval = sys.getswitchinterval()

    def __enter__(self) -> BackgroundCopy:
        # The writer needs Python for a moment between pieces of its data, and the database waits until it gets it.
        sys.setswitchinterval(SWITCH_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown()
        sys.setswitchinterval(self._interval)
        if error is None:
            self.wait()

    def copy_packed(self, rows: PackedRows) -> None:
        """Starts to write rows, see `pack`."""
        self._running.append(self._pool.submit(self._copy_packed, rows))

    def _copy_packed(self, rows: PackedRows) -> None:
        with self._raw.cursor() as cursor, cursor.copy(rows.statement) as copy:
            copy.write(rows.content)

    def copy_lines(self, table: str, columns: Sequence[str], lines: Sequence[str]) -> None:
        """Starts to write lines in COPY's text form: values of `columns` separated by tabs, and a line break."""
        if lines:
            self._running.append(self._pool.submit(self._copy, table, columns, lines))

    def _copy(self, table: str, columns: Sequence[str], lines: Sequence[str]) -> None:
        names = ", ".join(f'"{name}"' for name in columns)
        with self._raw.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
            copy.write("".join(lines))

    def execute(self, *statements: tuple[str, Sequence[Any]]) -> Future[Any]:
        """Starts to execute statements with parameters; the future holds the first row of the last with rows."""
        done = self._pool.submit(self._execute, statements)
        self._running.append(done)
        return done

    def _execute(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> Any:
        row = None
        with self._raw.cursor() as cursor:
            for statement, params in statements:
                cursor.execute(statement, params)
                row = cursor.fetchone() if cursor.description else row
        return row

    def wait(self) -> None:
        """Returns once everything started so far is done; raises the first error as Django's."""
        running, self._running = self._running, []
        for writing in running:
            try:
                writing.result()
            except psycopg.Error as error:
                with connection.wrap_database_errors:
                    raise error
