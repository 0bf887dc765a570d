"""Rows to arrays and back by PostgreSQL's COPY.

Arrays of fixed-width columns travel in COPY's binary format, assembled and read by numpy as one block of memory, so
that a million vectors cost a copy and not a million Python objects. PostgreSQL's manual describes the format under
COPY, "Binary Format".
"""

from __future__ import annotations

import re
import struct
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import connection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

SIGNATURE = b"PGCOPY\n\xff\r\n\x00" + struct.pack(">ii", 0, 0)
TRAILER = struct.pack(">h", -1)
LOT = 8192
ROUGH_TARGET = 30  # 300 rows are looked at for each; PostgreSQL's own is 100
_LOT_HEAD = struct.calcsize(">hiqi")  # the number of fields, then the length and value of the first, and a length
_SENDERS = {
    "i2": "int2send", "i4": "int4send", "i8": "int8send", "f4": "float4send", "f8": "float8send", "b1": "boolsend",
}  # fmt: skip
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_SPECIAL = re.compile(r"[\\\t\n\r]")
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def copy_out(query: str, params: Sequence[Any] | Mapping[str, Any], fields: Sequence[tuple[str, Any]]) -> NDArray[Any]:
    """The rows of `query` as one structured array [n], in the order of the query.

    `fields` gives the name and big-endian dtype of each column (">i8", ">f8", "?", halfvec(n)); columns must be NOT
    NULL. Raises ValueError where a row has a null, and psycopg's ProgrammingError where a column is too wide.
    """
    dtype = np.dtype(list(fields))
    with connection.cursor() as cursor, _copy(cursor, _in_lots(query, fields), params) as copy:
        content = b"".join(copy)
    lots = list(_lots(content))
    if any(len(values) != rows * dtype.itemsize for rows, values in lots):
        raise ValueError("the rows have nulls, or a column of another width than asked for")
    return np.frombuffer(b"".join(values for _, values in lots), dtype=dtype)


def _in_lots(query: str, fields: Sequence[tuple[str, Any]]) -> str:
    """The statement that sends the rows of a query packed, LOT of them as one value behind their number: libpq hands
    over each row of a COPY by itself, which takes longer than all the rest."""
    columns = [f"c{place}" for place in range(len(fields))]
    packed = " || ".join(
        f"{_sender(np.dtype(form))}({column})" for column, (_, form) in zip(columns, fields, strict=True)
    )
    return (
        f"COPY (SELECT count(*), string_agg(packed, '' ORDER BY place) FROM ("
        f"SELECT {packed} AS packed, row_number() OVER () AS place FROM ({query}) AS q({', '.join(columns)})"
        f") AS rows GROUP BY place / {LOT} ORDER BY place / {LOT}) TO STDOUT (FORMAT BINARY)"
    )


def _sender(dtype: np.dtype[Any]) -> str:
    """PostgreSQL's function that gives a value in binary form."""
    return "halfvec_send" if dtype.names else _SENDERS[dtype.str[1:]]


def _lots(content: bytes) -> Iterator[tuple[int, memoryview]]:
    """How many rows each lot of `_in_lots` has, and these packed; fewer bytes than they need where one has a null."""
    at, view = len(SIGNATURE), memoryview(content)
    while at < len(content) - len(TRAILER):
        _, _, rows, size = struct.unpack_from(">hiqi", content, at)
        at += _LOT_HEAD
        yield rows, view[at : at + max(size, 0)]
        at += max(size, 0)


def copy_in(table: str, columns: Sequence[tuple[str, Any, NDArray[Any]]]) -> int:
    """Writes arrays of equal length as rows of `table`; `columns` gives name, big-endian dtype and values of each.

    Returns the number of rows written.
    """
    rows = packed_rows(columns)
    with connection.cursor() as cursor, _copy(cursor, copy_statement(table, columns)) as copy:
        copy.write(SIGNATURE)
        copy.write(rows.view(np.uint8).data if len(rows) else b"")
        copy.write(TRAILER)
    return len(rows)


def copy_rows_in(table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Writes rows that hold texts or JSON, which have no fixed width, by COPY in text form."""
    names = ", ".join(f'"{name}"' for name in columns)
    with connection.cursor() as cursor, _copy(cursor, f"COPY {table} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def analyze(*tables: str, texts: bool = True) -> None:
    """Updates the planner's statistics after a bulk write; without them it would take a full table for an empty one.

    Without `texts` those of texts and of expressions in indexes are left to autovacuum, and so is a larger sample than
    plans need until then: they take nearly all of the time.
    """
    with connection.cursor() as cursor:
        for table in tables:
            if texts:
                cursor.execute(f"ANALYZE {table}")
            else:
                _analyze_roughly(cursor, table)


def _analyze_roughly(cursor: Any, table: str) -> None:
    columns = _columns_without_texts(cursor, table)
    name = "default_statistics_target"
    cursor.execute("SELECT current_setting(%s), set_config(%s, %s, true)", [name, name, str(ROUGH_TARGET)])
    before = cursor.fetchone()[0]
    cursor.execute(f"ANALYZE {table} ({columns})")
    cursor.execute("SELECT set_config(%s, %s, true)", [name, before])


def _columns_without_texts(cursor: Any, table: str) -> str:
    cursor.execute(
        "SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 "
        "AND NOT attisdropped AND atttypid NOT IN ('text'::regtype, 'text[]'::regtype)",
        [table],
    )
    return str(cursor.fetchone()[0])


def copy_text(text: str) -> str:
    """`text` escaped for a line in COPY's text form, see `BackgroundCopy.copy_lines`."""
    return text if is_copy_text(text) else text.translate(_ESCAPES)


def is_copy_text(text: str) -> bool:
    """Whether `text` needs no escape in COPY's text form."""
    return _SPECIAL.search(text) is None


def timestamp(time: datetime) -> int:
    """The binary form of a timestamptz: microseconds since 2000."""
    return (time - _EPOCH) // timedelta(microseconds=1)


def copy_statement(table: str, columns: Sequence[tuple[str, Any, Any]]) -> str:
    """The statement that takes rows of these columns in binary form."""
    names = ", ".join(f'"{name}"' for name, *_ in columns)
    return f"COPY {table} ({names}) FROM STDIN (FORMAT BINARY)"


def packed_rows(columns: Sequence[tuple[str, Any, NDArray[Any]]]) -> NDArray[Any]:
    """Arrays [n] as n rows of the binary form, without the signature before and the trailer after them."""
    rows = np.empty(len(columns[0][2]), dtype=_row_dtype([(name, form) for name, form, _ in columns]))
    rows["_fields"] = len(columns)
    for name, form, values in columns:
        rows[f"_len_{name}"] = np.dtype(form).itemsize
        rows[name] = values
    return rows


def _row_dtype(fields: Sequence[tuple[str, Any]]) -> np.dtype[Any]:
    row: list[tuple[str, Any]] = [("_fields", ">i2")]
    for name, form in fields:
        row += [(f"_len_{name}", ">i4"), (name, form)]
    return np.dtype(row)


def _copy(cursor: Any, statement: str, params: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
    """psycopg's copy of the cursor: with DEBUG, Django's takes no parameters with the statement."""
    return cursor.cursor.copy(statement, params)
