"""The vectors of pages, in and out of the database.

They are stored as pgvector's halfvec, whose binary form is in pgvector's source (halfvec_send): the number of
dimensions and an unused word as int16, then big-endian float16 values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import connection

from linker.engine.arrays.vectors import unit_rows
from linker.storage.copy import copy_in, copy_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def halfvec(dimensions: int) -> np.dtype[Any]:
    """The binary form of a halfvec: fields `dim`, `unused`, `x`."""
    return np.dtype([("dim", ">i2"), ("unused", ">i2"), ("x", ">f2", (dimensions,))])


@dataclass(frozen=True)
class PageVectors:
    """`ids` int64 [n], ascending; `unit` float32 [n, d], rows of length 1, or 0 where the stored vector was zero."""

    ids: NDArray[np.int64]
    unit: NDArray[np.float32]


def load_vectors(model_id: int, dimensions: int, page_ids: NDArray[np.int64]) -> PageVectors:
    """The vectors of some pages under a model, by page id. Pages without a vector are left out."""
    rows = copy_out(
        "SELECT page_id, vector FROM linker_pageembedding WHERE model_id = %s AND page_id = ANY(%s) ORDER BY page_id",
        [model_id, page_ids.tolist()],
        [("id", ">i8"), ("vector", halfvec(dimensions))],
    )
    return PageVectors(rows["id"].astype(np.int64), unit_rows(rows["vector"]["x"]))


def load_half_vectors(model_id: int, dimensions: int, page_ids: NDArray[np.int64], rows: int = 20_000) -> NDArray[Any]:
    """The vectors of pages under a model as they are stored, float16 [n, d]; row i belongs to `page_ids[i]`.

    `page_ids` int64 [n], ascending. Reads `rows` of them at a time. Raises KeyError if a page has no vector.
    """
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
    """Inserts or replaces vectors under a model; `page_ids` int64 [n], `unit` float32 [n, d] and `sha256` [n], the
    digest of the text that each vector was made from, have one row per page."""
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
