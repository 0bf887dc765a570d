"""Pages and vectors on their way into the tables: staged by COPY, each page once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ingest.kinds.pages import parse
from ingest.kinds.sql import execute, fetch, fetch_number
from ingest.kinds.traffic.fields import SEARCH_NUMBERS
from ingest.kinds.traffic.stage import TRAFFIC_SUMS, number_cells
from linker.models.querysets import ANSWERING, sql
from linker.storage.background import BackgroundCopy
from linker.storage.copy import copy_in, copy_rows_in, copy_text, is_copy_text
from linker.storage.cursors import stream
from linker.storage.vectors import halfvec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ingest.kinds.pages.category_paths import CategoryPaths
    from linker.models import Project

STAGE_PAGES = """
CREATE TEMP TABLE stage_page (
    line bigint, url text, canonical_url text, html boolean DEFAULT true, title text DEFAULT '', h1 text DEFAULT '',
    headings text[] DEFAULT '{}', description text DEFAULT '', body text DEFAULT '', language text DEFAULT '',
    word_count int, status_code int, indexable boolean DEFAULT true, indexability_status text DEFAULT '',
    canonical_link text DEFAULT '', redirect_url text DEFAULT '', crawl_depth int, value float8, authority float8,
    last_modified timestamptz,
    clicks bigint, impressions bigint, position float8, category int,
    detected_language text DEFAULT '', language_sureness float8 DEFAULT 0
);
CREATE TEMP TABLE stage_vector (line bigint, dimensions int, sha256 bytea, vector halfvec);
"""
# The row that stands for its page where a file holds the page several times: the one that answers 200; the one that is
# indexable; that is its own canonical; whose address is the page's key; that has neither tracking parameters nor a
# fragment (see PageParser); with the shortest address; then by what the rows hold. Their order in the file says
# nothing: rows alike to the last are the same.
_HELD = ", ".join(f"s.{name}" for name in parse.COLUMNS if name not in ("line", "category"))
BETTER_ROW = (
    'w.worth DESC, length(s.url), s.url COLLATE "C", '  # as in pages.address_order
    f'md5(ROW({_HELD})::text) COLLATE "C", t.path COLLATE "C" NULLS LAST, v.sha256 NULLS LAST, s.line'
)


def create_page_stage() -> None:
    execute(STAGE_PAGES)


def drop_page_stage() -> None:
    execute("DROP TABLE stage_page, stage_vector, stage_category; DROP TABLE IF EXISTS stage_match")


def stage_pages(background: BackgroundCopy, some: parse.Pages) -> None:
    """Begins to write pages into the stage."""
    cells = [_copy_cells(name, column) for name, column in some.columns.items()]
    lines = [f"{line}\n" for line in map("\t".join, zip(*cells, strict=True))]
    background.copy_lines("stage_page", list(some.columns), lines)


def _copy_cells(name: str, column: Sequence[Any]) -> Sequence[str]:
    """A column's cells in COPY's text form."""
    if name in parse.LISTS:
        return [copy_text(_list_text(cells)) for cells in column]
    if name in parse.TEXTS:
        return column if is_copy_text("".join(column)) else list(map(copy_text, column))
    return number_cells(column)


def _list_text(texts: Sequence[str]) -> str:
    """The text form of an array of texts."""
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return "{" + ",".join(f'"{text}"' for text in quoted) + "}"


def stage_vectors(lines: Sequence[int], vectors: Sequence[np.ndarray], digests: Sequence[bytes]) -> None:
    """Vectors of any lengths, by the line of their row."""
    lengths = np.array([len(vector) for vector in vectors])
    for dimensions in np.unique(lengths).tolist():
        chosen = np.flatnonzero(lengths == dimensions).tolist()
        packed = np.zeros(len(chosen), dtype=halfvec(dimensions))
        packed["dim"] = dimensions
        packed["x"] = np.stack([vectors[i] for i in chosen])
        columns = [
            ("line", ">i8", np.array([lines[i] for i in chosen])),
            ("dimensions", ">i4", np.full(len(chosen), dimensions)),
            ("sha256", "V32", np.frombuffer(b"".join(digests[i] for i in chosen), dtype="V32")),
            ("vector", packed.dtype, packed),
        ]
        copy_in("stage_vector", columns)


def drop_duplicates(category_paths: CategoryPaths, worth: Callable[..., int], *, add_up: bool) -> list[tuple[int, str]]:
    """Leaves one row a page in the stage, see BETTER_ROW. Returns (line, address) of the others, by line.

    `worth` is PageParser's, and asked for the rows alone whose page has several. With `add_up` the row that is left has
    the traffic of all of them; one that repeats another's address and numbers counts once.
    """
    execute("CREATE INDEX ON stage_page (line); ANALYZE stage_page, stage_vector")
    execute(
        "CREATE TEMP TABLE stage_repeated AS SELECT md5(canonical_url) AS key FROM stage_page "
        "GROUP BY 1 HAVING count(*) > 1"
    )
    execute("CREATE TEMP TABLE stage_category_path (number int, path text)")
    copy_rows_in(
        "stage_category_path",
        ("number", "path"),
        ((n, "\x1f".join(path)) for path, n in category_paths.numbers.items()),
    )
    execute("CREATE TEMP TABLE stage_worth (line bigint, worth int)")
    repeated = stream(
        "repeated",
        "SELECT s.line, s.url, s.canonical_url, s.status_code, s.indexable, s.canonical_link "
        "FROM stage_page s JOIN stage_repeated r ON md5(s.canonical_url) = r.key",
        [],
    )
    weighed = [(line, worth(*row)) for line, *row in repeated]
    copy_rows_in("stage_worth", ("line", "worth"), weighed)
    execute("ANALYZE stage_repeated, stage_category_path, stage_worth")
    if add_up:
        sums = ", ".join(f"{TRAFFIC_SUMS[name]} AS {name}" for name in sorted(SEARCH_NUMBERS))
        execute(
            f"UPDATE stage_page s SET clicks = summed.clicks, impressions = summed.impressions, "
            f"position = summed.position FROM (SELECT key, {sums} FROM (SELECT DISTINCT r.key, s.url, s.clicks, "
            "s.impressions, s.position FROM stage_page s JOIN stage_repeated r ON md5(s.canonical_url) = r.key) once "
            "GROUP BY key) summed WHERE md5(s.canonical_url) = summed.key"
        )
    gone = fetch(
        "WITH gone AS (SELECT line FROM (SELECT s.line, row_number() OVER (PARTITION BY r.key "
        f"ORDER BY {BETTER_ROW}) AS place FROM stage_page s JOIN stage_repeated r ON md5(s.canonical_url) = r.key "
        "JOIN stage_worth w ON w.line = s.line LEFT JOIN stage_category_path t ON t.number = s.category "
        "LEFT JOIN stage_vector v ON v.line = s.line) ranked "
        "WHERE place > 1) "
        "DELETE FROM stage_page s USING gone WHERE s.line = gone.line RETURNING s.line, s.url"
    )
    execute("DROP TABLE stage_repeated, stage_category_path, stage_worth")
    return sorted(gone)


def drop_unknown(project: Project) -> list[tuple[int, str]]:
    """Leaves the rows of pages the project has. Returns (line, address) of the others, by line."""
    return sorted(
        fetch(
            "DELETE FROM stage_page s WHERE NOT EXISTS (SELECT FROM linker_page p WHERE p.project_id = %s "
            "AND md5(p.canonical_url) = md5(s.canonical_url)) RETURNING s.line, s.url",
            [project.pk],
        )
    )


def drop_never_there(project: Project, circling: list[int]) -> int:
    """Takes out rows of addresses that answer 404 or 410, or redirect in a circle (`circling`: their lines), and that
    the project does not have: they never were pages. Returns how many there were."""
    return execute(
        "DELETE FROM stage_page s WHERE (s.status_code IN (404, 410) OR s.line = ANY(%s)) AND NOT EXISTS (SELECT "
        "FROM linker_page p WHERE p.project_id = %s AND md5(p.canonical_url) = md5(s.canonical_url))",
        [circling, project.pk],
    )


def count_staged() -> dict[str, int]:
    """Pages in the stage: `pages`, `html`, `indexable`, `without_category`."""
    [row] = fetch(
        "SELECT count(*), count(*) FILTER (WHERE html), count(*) FILTER (WHERE indexable), "
        f"count(*) FILTER (WHERE category IS NULL AND {sql(ANSWERING, 's')}) FROM stage_page s"
    )
    return dict(zip(("pages", "html", "indexable", "without_category"), row, strict=True))


def count_answering() -> int:
    """Pages in the stage that answer as pages: those that are gone, or all lead to a login, are no site that is
    there."""
    return fetch_number(f"SELECT count(*) FROM stage_page s WHERE {sql(ANSWERING, 's')}", [])


def vector_lengths() -> dict[int, int]:
    """How many staged pages have a vector of a length, the most common first, ties by the smaller length."""
    return dict(
        fetch(
            "SELECT dimensions, count(*) FROM stage_vector JOIN stage_page USING (line) GROUP BY 1 ORDER BY 2 DESC, 1"
        )
    )


def other_vectors(dimensions: int) -> list[tuple[int, str, int]]:
    """(line, address, length) of the staged vectors of another length."""
    return fetch(
        "SELECT line, url, dimensions FROM stage_vector JOIN stage_page USING (line) WHERE dimensions <> %s ORDER BY 1",
        [dimensions],
    )
