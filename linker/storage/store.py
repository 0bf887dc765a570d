"""Where SQL meets numpy: rows to arrays and back by binary COPY.

Arrays of fixed-width columns travel as PostgreSQL's binary COPY format, assembled and read by numpy as one block of
memory, so that a million vectors cost a copy and not a million Python objects. The format is documented in
PostgreSQL's manual under COPY, "Binary Format"; halfvec's in pgvector's source (halfvec_send): the number of
dimensions and an unused word as int16, then big-endian float16 values.
"""

from __future__ import annotations

import re
import struct
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
from django.db import connection, transaction

from linker.models.linked import BESIDE_TEXT, IN_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from types import TracebackType

    from numpy.typing import NDArray

CHECKS_OFF: tuple[str, tuple[()]] = ("SET LOCAL session_replication_role = replica", ())
CHECKS_ON: tuple[str, tuple[()]] = ("SET LOCAL session_replication_role = origin", ())
HELD_AT_A_TIME = 50_000
SWITCH_SECONDS = 0.0002
_SIGNATURE = b"PGCOPY\n\xff\r\n\x00" + struct.pack(">ii", 0, 0)
_TRAILER = struct.pack(">h", -1)


def halfvec(dimensions: int) -> np.dtype[Any]:
    """The binary form of a halfvec: fields `dim`, `unused`, `x`."""
    return np.dtype([("dim", ">i2"), ("unused", ">i2"), ("x", ">f2", (dimensions,))])


def _row_dtype(fields: Sequence[tuple[str, Any]]) -> np.dtype[Any]:
    row: list[tuple[str, Any]] = [("_fields", ">i2")]
    for name, form in fields:
        row += [(f"_len_{name}", ">i4"), (name, form)]
    return np.dtype(row)


def _copy(cursor: Any, statement: str, params: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
    """psycopg's copy of the cursor: with DEBUG, Django's takes no parameters beside the statement."""
    return cursor.cursor.copy(statement, params)


def copy_out(query: str, params: Sequence[Any] | Mapping[str, Any], fields: Sequence[tuple[str, Any]]) -> NDArray[Any]:
    """The rows of `query` as one structured array.

    `fields` gives name and big-endian dtype of each column (">i8", ">f8", "?", halfvec(n)); columns must be NOT NULL
    and of one width. Raises ValueError where the rows have another width.
    """
    dtype = _row_dtype(fields)
    with connection.cursor() as cursor, _copy(cursor, f"COPY ({query}) TO STDOUT (FORMAT BINARY)", params) as copy:
        content = b"".join(copy)
    body = len(content) - len(_SIGNATURE) - len(_TRAILER)
    if body % dtype.itemsize:
        raise ValueError("the rows have nulls, or a column of another width than asked for")
    rows = np.frombuffer(content, dtype=dtype, count=body // dtype.itemsize, offset=len(_SIGNATURE))
    if len(rows) and any((rows[f"_len_{name}"] != rows.dtype[name].itemsize).any() for name, _ in fields):
        raise ValueError("the rows have nulls, or a column of another width than asked for")
    return rows


def copy_in(table: str, columns: Sequence[tuple[str, Any, NDArray[Any]]]) -> int:
    """Writes arrays of equal length as rows of `table`; `columns` gives name, big-endian dtype and values.

    Returns the number of rows.
    """
    rows = _packed(columns)
    with connection.cursor() as cursor, _copy(cursor, _copy_statement(table, columns)) as copy:
        copy.write(_SIGNATURE)
        copy.write(rows.view(np.uint8).data if len(rows) else b"")
        copy.write(_TRAILER)
    return len(rows)


def _copy_statement(table: str, columns: Sequence[tuple[str, Any, Any]]) -> str:
    names = ", ".join(f'"{name}"' for name, *_ in columns)
    return f"COPY {table} ({names}) FROM STDIN (FORMAT BINARY)"


def _packed(columns: Sequence[tuple[str, Any, NDArray[Any]]]) -> NDArray[Any]:
    rows = np.empty(len(columns[0][2]), dtype=_row_dtype([(name, form) for name, form, _ in columns]))
    rows["_fields"] = len(columns)
    for name, form, values in columns:
        rows[f"_len_{name}"] = np.dtype(form).itemsize
        rows[name] = values
    return rows


_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


def timestamp(time: datetime) -> int:
    """The binary form of a timestamptz: microseconds since 2000."""
    return (time - _EPOCH) // timedelta(microseconds=1)


def copy_rows_in(table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Writes rows with texts and JSON, for which there is no fixed width, by COPY in text form."""
    names = ", ".join(f'"{name}"' for name in columns)
    with connection.cursor() as cursor, _copy(cursor, f"COPY {table} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


_SPECIAL = re.compile(r"[\\\t\n\r]")
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def copy_text(text: str) -> str:
    """`text` as a value of a line of COPY's text form, see `Background.copy_lines`."""
    return text if is_copy_text(text) else text.translate(_ESCAPES)


def is_copy_text(text: str) -> bool:
    """Whether `text` is the same in COPY's text form."""
    return _SPECIAL.search(text) is None


@contextmanager
def references_held(references: Mapping[str, Sequence[int] | NDArray[np.int64]]) -> Iterator[None]:
    """Rows written in here refer to rows of these tables, by their ids, and need not be checked one by one.

    PostgreSQL looks each foreign key of each row up, which takes longer than to write the rows. Here the rows referred
    to are locked at once, as those checks would lock them: until the transaction ends none can be deleted. Where one
    is gone already, and for a role that may not leave the checks out, they run. For use in a transaction.
    """
    held = all(_hold(table, np.unique(np.asarray(ids, dtype=np.int64))) for table, ids in references.items())
    if not (held and may_leave_checks_out()):
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute(*CHECKS_OFF)
        yield
        cursor.execute(*CHECKS_ON)


def _hold(table: str, ids: NDArray[np.int64]) -> bool:
    """Locks rows of a table against deletion, by ids in ascending order; whether all of them are there."""
    found = 0
    with connection.cursor() as cursor:
        for first in range(0, len(ids), HELD_AT_A_TIME):
            cursor.execute(
                f"SELECT count(*) FROM (SELECT FROM {table} WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE) held",
                [ids[first : first + HELD_AT_A_TIME].tolist()],
            )
            found += cursor.fetchone()[0]
    return found == len(ids)


def may_leave_checks_out() -> bool:
    """Whether the role may write without PostgreSQL's own checks of foreign keys: superusers, and roles granted it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT has_parameter_privilege('session_replication_role', 'SET')")
        return bool(cursor.fetchone()[0])


class Background:
    """Writes by COPY and executes, in the transaction of the thread that made it, while that thread goes on computing.

    Use as a context manager. Until `wait` returns the connection is busy: nothing else may be asked of it. What a
    write raises, `wait` raises, as does leaving.
    """

    def __init__(self) -> None:
        connection.ensure_connection()
        self._raw = connection.connection  # Django's wrapper keeps to one thread, psycopg's connection does not
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="copy")
        self._running: list[Future[Any]] = []
        self._interval = sys.getswitchinterval()

    def __enter__(self) -> Background:
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

    def copy_in(
        self, table: str, columns: Sequence[tuple[str, Any, NDArray[Any]]], text: str, values: Sequence[str]
    ) -> None:
        """Begins to write rows of columns as the function of this name takes them and, last, of a column of texts."""
        if values:
            self._running.append(self._pool.submit(self._copy_in, table, columns, text, values))

    def _copy_in(
        self, table: str, columns: Sequence[tuple[str, Any, NDArray[Any]]], text: str, values: Sequence[str]
    ) -> None:
        encoded = [value.encode() for value in values]
        rows = _packed([*columns, (text, "V0", np.zeros(len(values), dtype="V0"))])
        rows["_fields"], rows[f"_len_{text}"] = len(columns) + 1, list(map(len, encoded))
        starts = rows.view(f"V{rows.dtype.itemsize}").tolist()
        statement = _copy_statement(table, [*columns, (text, None, None)])
        with self._raw.cursor() as cursor, cursor.copy(statement) as copy:
            copy.write(b"".join([_SIGNATURE, *chain.from_iterable(zip(starts, encoded, strict=True)), _TRAILER]))

    def copy_lines(self, table: str, columns: Sequence[str], lines: Sequence[str]) -> None:
        """Begins to write lines, values of `columns` apart by tabs, each with its line break."""
        if lines:
            self._running.append(self._pool.submit(self._copy, table, columns, lines))

    def _copy(self, table: str, columns: Sequence[str], lines: Sequence[str]) -> None:
        names = ", ".join(f'"{name}"' for name in columns)
        with self._raw.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
            copy.write("".join(lines))

    def execute(self, *statements: tuple[str, Sequence[Any]]) -> Future[Any]:
        """Begins to execute statements with their parameters. The future holds the first row of the last with rows."""
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
        running, self._running = self._running, []
        for writing in running:
            try:
                writing.result()
            except psycopg.Error as error:
                with connection.wrap_database_errors:
                    raise error


def stream(
    name: str, query: str, params: Sequence[Any] | Mapping[str, Any], size: int = 2000
) -> Iterator[tuple[Any, ...]]:
    """Streams a query through a server-side cursor, in constant memory."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f'DECLARE "{name}" NO SCROLL CURSOR FOR {query}', params)
        while True:
            cursor.execute(f'FETCH {size} FROM "{name}"')
            rows = cursor.fetchall()
            yield from rows
            if len(rows) < size:
                break
        cursor.execute(f'CLOSE "{name}"')


def analyze(*tables: str) -> None:
    """Fresh statistics after a bulk write: without them the planner takes a full table for an empty one."""
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"ANALYZE {table}")


# ------------------------------------------------------------------------------------------------------- vectors


@dataclass(frozen=True)
class PageVectors:
    """`ids` int64 [n], ascending; `unit` float32 [n, d], rows of length 1, or 0 where the stored vector was zero."""

    ids: NDArray[np.int64]
    unit: NDArray[np.float32]


def normalised(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Rows scaled to length 1 in float32; zero rows stay zero."""
    unit = vectors.astype(np.float32)
    length = np.sqrt(np.einsum("ij,ij->i", unit, unit))
    length[length == 0] = 1
    unit /= length[:, None]
    return unit


def load_vectors(model_id: int, dimensions: int, page_ids: NDArray[np.int64]) -> PageVectors:
    """The vectors of some pages under a model, by page id. Pages without one are left out."""
    rows = copy_out(
        "SELECT page_id, vector FROM linker_pageembedding WHERE model_id = %s AND page_id = ANY(%s) ORDER BY page_id",
        [model_id, page_ids.tolist()],
        [("id", ">i8"), ("vector", halfvec(dimensions))],
    )
    return PageVectors(rows["id"].astype(np.int64), normalised(rows["vector"]["x"]))


def load_half_vectors(model_id: int, dimensions: int, page_ids: NDArray[np.int64], rows: int = 20_000) -> NDArray[Any]:
    """The vectors of pages under a model as they are stored, float16 [n, d], in the order of `page_ids`, ascending;
    read so many at a time. Raises KeyError where one is not there."""
    half = np.empty((len(page_ids), dimensions), dtype=np.float16)
    for first in range(0, len(page_ids), rows):
        part = page_ids[first : first + rows]
        found = copy_out(
            "SELECT page_id, vector FROM linker_pageembedding WHERE model_id = %s AND page_id = ANY(%s) "
            "ORDER BY page_id",
            [model_id, part.tolist()],
            [("id", ">i8"), ("vector", halfvec(dimensions))],
        )
        if not np.array_equal(found["id"], part):
            raise KeyError("a page has no vector")
        half[first : first + rows] = found["vector"]["x"]
    return half


def save_vectors(
    model_id: int, page_ids: NDArray[np.int64], unit: NDArray[np.float32], sha256: Sequence[bytes]
) -> None:
    """Inserts or replaces the vectors of pages under a model; all arrays have one row a page."""
    vectors = np.empty(len(page_ids), dtype=halfvec(unit.shape[1]))
    vectors["dim"], vectors["unused"], vectors["x"] = unit.shape[1], 0, unit
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMP TABLE IF NOT EXISTS new_vectors (page_id bigint, text_sha256 bytea, vector halfvec) "
            "ON COMMIT DELETE ROWS"
        )
        cursor.execute("TRUNCATE new_vectors")
        copy_in(
            "new_vectors",
            [
                ("page_id", ">i8", page_ids),
                ("text_sha256", "V32", np.array([np.void(digest) for digest in sha256], dtype="V32")),
                ("vector", vectors.dtype, vectors),
            ],
        )
        cursor.execute(
            "INSERT INTO linker_pageembedding (page_id, model_id, text_sha256, vector, created_at) "
            "SELECT page_id, %s, text_sha256, vector, now() FROM new_vectors ORDER BY page_id "
            "ON CONFLICT (model_id, page_id) DO UPDATE SET text_sha256 = EXCLUDED.text_sha256, "
            "vector = EXCLUDED.vector, created_at = EXCLUDED.created_at",
            [model_id],
        )


# --------------------------------------------------------------------------------------------------------- pairs


def load_forbidden(donor_ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs never to be suggested: links these donors have in their text, pairs an editor rejected or took off the
    site, and those with a near-copy, variant or translation of the donor or of such a target.

    Returns sources and targets, int64 [n] each, in no order.
    """
    rows = copy_out(
        "WITH known AS (SELECT source_id, target_id FROM linker_existinglink "
        f"WHERE {IN_TEXT} AND missing_since IS NULL AND source_id = ANY(%(donors)s) "
        "UNION ALL SELECT source_id, target_id FROM linker_candidateedge "
        "WHERE status IN ('rejected', 'withdrawn') AND source_id = ANY(%(donors)s)) "
        "SELECT source_id, target_id FROM known UNION ALL SELECT k.source_id, other.page_id FROM (SELECT * FROM known "
        "UNION ALL SELECT page_id, page_id FROM linker_pagetwin WHERE page_id = ANY(%(donors)s)) k "
        "JOIN linker_pagetwin mine ON mine.page_id = k.target_id "
        "JOIN linker_pagetwin other ON other.group_id = mine.group_id AND other.receives "
        "AND other.page_id <> mine.page_id",
        {"donors": donor_ids.tolist()},
        [("source", ">i8"), ("target", ">i8")],
    )
    return rows["source"].astype(np.int64), rows["target"].astype(np.int64)


def load_linked_beside(donor_ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs that only the text may still link, since these donors link them beside it: sources and targets, int64 [n]
    each, in no order. One that the text links as well may be among them."""
    rows = copy_out(
        "SELECT DISTINCT source_id, target_id FROM linker_existinglink "
        f"WHERE {BESIDE_TEXT} AND missing_since IS NULL AND source_id = ANY(%s)",
        [donor_ids.tolist()],
        [("source", ">i8"), ("target", ">i8")],
    )
    return rows["source"].astype(np.int64), rows["target"].astype(np.int64)
