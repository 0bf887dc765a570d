"""Foreign keys of rows written in bulk: the rows referred to are locked once, instead of being checked row by row."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from django.db import connection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

CHECKS_OFF: tuple[str, tuple[()]] = ("SET LOCAL session_replication_role = replica", ())
CHECKS_ON: tuple[str, tuple[()]] = ("SET LOCAL session_replication_role = origin", ())
LOCKED_AT_A_TIME = 50_000


@dataclass(frozen=True)
class IdsIn:
    """Ids that a table has in a unique column, which stay in the database: there may be a million of them."""

    table: str
    column: str


@contextmanager
def lock_references(references: Mapping[str, Sequence[int] | NDArray[np.int64] | IdsIn]) -> Iterator[None]:
    """While the block runs, rows may refer to these ids of these tables without a check of each foreign key.

    PostgreSQL looks up each foreign key of each row, which takes longer than writing the rows. Here the rows referred
    to are locked all at once, in the same way as those checks would lock them, so that none can be deleted until the
    transaction ends. If one of them is gone already, or the role may not switch the checks off, the checks run as
    usual. For use within a transaction.
    """
    locked = all(
        _lock_in(table, ids) if isinstance(ids, IdsIn) else lock_referred(table, ids)
        for table, ids in references.items()
    )
    if not (locked and may_skip_checks()):
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute(*CHECKS_OFF)
        yield
        cursor.execute(*CHECKS_ON)


def lock_referred(table: str, ids: Sequence[int] | NDArray[np.int64]) -> bool:
    """Locks rows of a table, by ids in ascending order, against deletion; returns whether all of them exist."""
    ids = np.unique(np.asarray(ids, dtype=np.int64))
    found = 0
    with connection.cursor() as cursor:
        for first in range(0, len(ids), LOCKED_AT_A_TIME):
            cursor.execute(
                f"SELECT count(*) FROM (SELECT FROM {table} WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE) held",
                [ids[first : first + LOCKED_AT_A_TIME].tolist()],
            )
            found += cursor.fetchone()[0]
    return found == len(ids)


def _lock_in(table: str, ids: IdsIn) -> bool:
    """As _lock, for ids that are in the database."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*) = (SELECT count(*) FROM {ids.table}) FROM (SELECT FROM {table} WHERE id IN "
            f"(SELECT {ids.column} FROM {ids.table}) ORDER BY id FOR KEY SHARE) held"
        )
        return bool(cursor.fetchone()[0])


def may_skip_checks() -> bool:
    """Whether the role may write without checks of foreign keys: superusers may, and roles that were granted it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT has_parameter_privilege('session_replication_role', 'SET')")
        return bool(cursor.fetchone()[0])
