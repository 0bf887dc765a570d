"""Rows of a file into the tables: staged by COPY, counted, then merged. Nothing is ever deleted.

All of it happens inside the caller's transaction: an exception anywhere leaves the tables as they were. Columns that
a file does not speak about keep what they hold.
"""

from __future__ import annotations

from itertools import chain, count
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import connection

from ingest import pages
from ingest.links import Links
from ingest.normalise import category_key
from ingest.queries import QueryRow
from linker import store
from linker.models import Category, EmbeddingModel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future
    from datetime import datetime

    from numpy.typing import NDArray

    from ingest.pages import PathOfNames, Trails
    from linker.models import Project

LOCK_SPACE = 7304  # merges into one project's pages and links come one after the other

STAGE_PAGES = """
CREATE TEMP TABLE stage_page (
    line bigint, url text, canonical_url text, html boolean DEFAULT true, title text DEFAULT '', h1 text DEFAULT '',
    headings text[] DEFAULT '{}', description text DEFAULT '', body text DEFAULT '', language text DEFAULT '',
    word_count int, status_code int, indexable boolean DEFAULT true, indexability_status text DEFAULT '',
    canonical_link text DEFAULT '', redirect_url text DEFAULT '', crawl_depth int, last_modified timestamptz,
    clicks int, impressions int, position float8, category int
);
CREATE TEMP TABLE stage_vector (line bigint, dimensions int, sha256 bytea, vector halfvec);
"""
STAGE_LINKS = """
CREATE TEMP TABLE stage_link (source bigint, target bigint, in_body boolean, follow boolean, anchor text)
"""
STAGE_QUERIES = """
CREATE TEMP TABLE stage_query (
    page bigint, query text, clicks int, impressions int, position float8, importance float8
)
"""
STAGED_PAGES = "stage_page s LEFT JOIN stage_category c ON c.number = s.category"
HELD_LINKS = 200_000  # of one page, held until the next page's begin
ANCHOR_KEY = "hashtextextended(anchor, 0)"  # as in the unique index of links
# Counts that are the same already are not written: each write is a new version of the whole page.
SET_COUNTS = (
    "UPDATE linker_page p SET inlinks = c.inlinks, outlinks = c.outlinks FROM {} c "
    "WHERE p.id = c.id AND (p.inlinks, p.outlinks) IS DISTINCT FROM (c.inlinks, c.outlinks)"
)
PAGE_COLUMNS = tuple(name for name in pages.COLUMNS if name not in ("line", "html", "category"))

# The row that stands for its page where a file holds the page several times.
BETTER_ROW = "(status_code = 200) DESC NULLS LAST, indexable DESC, line DESC"


def _run(query: str, params: Sequence[Any] = ()) -> int:
    """Executes a statement; the number of rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(query, params)
        return cursor.rowcount


def _rows(query: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, params)
        return cursor.fetchall()


def _number(query: str, params: Sequence[Any] = ()) -> int:
    return _rows(query, params)[0][0]


def lock(project: Project) -> None:
    """Waits for other merges into the project; held until the transaction ends."""
    _run("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_SPACE, project.pk])


# --------------------------------------------------------------------------------------------------- staging pages


def create_page_stage() -> None:
    _run(STAGE_PAGES)


def drop_page_stage() -> None:
    _run("DROP TABLE stage_page, stage_vector, stage_category; DROP TABLE IF EXISTS stage_match")


def stage_pages(background: store.Background, some: pages.Pages) -> None:
    """Begins to write pages into the stage."""
    cells = [_copy_cells(name, column) for name, column in some.columns.items()]
    lines = [f"{line}\n" for line in map("\t".join, zip(*cells, strict=True))]
    background.copy_lines("stage_page", list(some.columns), lines)


def _copy_cells(name: str, column: Sequence[Any]) -> Sequence[str]:
    """A column's cells in COPY's text form."""
    if name in pages.LISTS:
        return [store.copy_text(_list_text(cells)) for cells in column]
    if name in pages.TEXTS:
        return column if store.is_copy_text("".join(column)) else list(map(store.copy_text, column))
    known = {value: "\\N" if value is None else str(value) for value in set(column)}
    return list(map(known.__getitem__, column))


def _list_text(texts: Sequence[str]) -> str:
    """The text form of an array of texts."""
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return "{" + ",".join(f'"{text}"' for text in quoted) + "}"


def stage_vectors(lines: Sequence[int], vectors: Sequence[np.ndarray], digests: Sequence[bytes]) -> None:
    """Vectors of any lengths, by the line of their row."""
    lengths = np.array([len(vector) for vector in vectors])
    for dimensions in np.unique(lengths).tolist():
        chosen = np.flatnonzero(lengths == dimensions).tolist()
        packed = np.zeros(len(chosen), dtype=store.halfvec(dimensions))
        packed["dim"] = dimensions
        packed["x"] = np.stack([vectors[i] for i in chosen])
        columns = [
            ("line", ">i8", np.array([lines[i] for i in chosen])),
            ("dimensions", ">i4", np.full(len(chosen), dimensions)),
            ("sha256", "V32", np.frombuffer(b"".join(digests[i] for i in chosen), dtype="V32")),
            ("vector", packed.dtype, packed),
        ]
        store.copy_in("stage_vector", columns)


def drop_duplicates() -> list[tuple[int, str]]:
    """Leaves one row a page in the stage. Returns (line, address) of the others, by line."""
    _run("CREATE INDEX ON stage_page (line); ANALYZE stage_page")
    return sorted(
        _rows(
            "WITH gone AS (SELECT line FROM (SELECT line, row_number() OVER (PARTITION BY md5(canonical_url) "
            f"ORDER BY {BETTER_ROW}) AS place FROM stage_page) ranked WHERE place > 1) "
            "DELETE FROM stage_page s USING gone WHERE s.line = gone.line RETURNING s.line, s.url"
        )
    )


def drop_unknown(project: Project) -> list[tuple[int, str]]:
    """Leaves the rows of pages the project has. Returns (line, address) of the others, by line."""
    return sorted(
        _rows(
            "DELETE FROM stage_page s WHERE NOT EXISTS (SELECT FROM linker_page p WHERE p.project_id = %s "
            "AND md5(p.canonical_url) = md5(s.canonical_url)) RETURNING s.line, s.url",
            [project.pk],
        )
    )


def count_staged() -> dict[str, int]:
    """Pages in the stage: `pages`, `html`, `indexable`, `without_category`."""
    [row] = _rows(
        "SELECT count(*), count(*) FILTER (WHERE html), count(*) FILTER (WHERE indexable), "
        "count(*) FILTER (WHERE category IS NULL) FROM stage_page"
    )
    return dict(zip(("pages", "html", "indexable", "without_category"), row, strict=True))


def count_live(project: Project) -> int:
    """Pages of the project that the last import held."""
    return _number("SELECT count(*) FROM linker_page WHERE project_id = %s AND missing_since IS NULL", [project.pk])


def vector_lengths() -> dict[int, int]:
    """How many staged pages have a vector of a length, the most common first, ties by the smaller length."""
    return dict(
        _rows(
            "SELECT dimensions, count(*) FROM stage_vector JOIN stage_page USING (line) GROUP BY 1 ORDER BY 2 DESC, 1"
        )
    )


def other_vectors(dimensions: int) -> list[tuple[int, str, int]]:
    """(line, address, length) of the staged vectors of another length."""
    return _rows(
        "SELECT line, url, dimensions FROM stage_vector JOIN stage_page USING (line) WHERE dimensions <> %s ORDER BY 1",
        [dimensions],
    )


# --------------------------------------------------------------------------------------------------- merging pages


def merge_categories(project: Project, trails: Trails) -> int:
    """Makes the categories that are new, parents first, and turns numbers in the stage into their ids.

    Returns how many categories the file names.
    """
    paths = trails.paths()
    wanted = {path[:depth] for path in paths for depth in range(1, len(path) + 1)}
    ids = dict(Category.objects.filter(project=project).values_list("path_key", "id"))
    for depth in range(1, max(map(len, wanted), default=0) + 1):
        level = sorted(path for path in wanted if len(path) == depth and category_key(path) not in ids)
        made = Category.objects.bulk_create([_category(project, path, ids) for path in level], batch_size=2000)
        ids |= {category.path_key: category.pk for category in made}
    _run("CREATE TEMP TABLE stage_category (number int, id bigint)")
    store.copy_rows_in(
        "stage_category", ("number", "id"), ((n, ids[category_key(path)]) for n, path in enumerate(paths) if path)
    )
    return len(wanted)


def staged_categories() -> list[int]:
    """The categories that staged pages come into."""
    return [id for (id,) in _rows("SELECT DISTINCT id FROM stage_category")]


def _category(project: Project, path: PathOfNames, ids: dict[str, int]) -> Category:
    parent = ids[category_key(path[:-1])] if len(path) > 1 else None
    return Category(
        project=project,
        parent_id=parent,
        name=path[-1],
        path=list(path),
        path_key=category_key(path),
        depth=len(path),
    )


def merge_pages(
    project: Project, filled: Sequence[str], *, weak_category: bool, strong_category: bool, seen_at: datetime
) -> dict[str, int]:
    """Inserts and updates the staged pages. Returns counts of `new`, `updated`, `unchanged`.

    `filled` are the columns the file speaks about. A strong category replaces a page's, a weak one fills a gap.
    """
    if not _rows("SELECT 1 FROM linker_page WHERE project_id = %s LIMIT 1", [project.pk]):
        return {"new": _insert_pages(project, STAGED_PAGES, seen_at), "updated": 0, "unchanged": 0}
    values = {column: f"s.{column}" for column in ("url", *filled)}
    if strong_category:
        values["category_id"] = "c.id"
    elif weak_category:
        values["category_id"] = "coalesce(p.category_id, c.id)"
    columns = list(values)
    staged = STAGED_PAGES
    old = ", ".join(f"p.{column}" for column in columns)
    new = ", ".join(values[column] for column in columns)
    _run(
        "CREATE TEMP TABLE stage_match AS SELECT s.line, p.id AS page_id, "
        f"ROW({old}) IS DISTINCT FROM ROW({new}) AS changed FROM {staged} "
        "LEFT JOIN linker_page p ON p.project_id = %s AND md5(p.canonical_url) = md5(s.canonical_url)",
        [project.pk],
    )
    _run("CREATE INDEX ON stage_match (line); ANALYZE stage_match")
    assignments = ", ".join(f"{column} = {value}" for column, value in values.items())
    updated = _run(
        f"UPDATE linker_page p SET {assignments}, last_seen_at = %s, missing_since = NULL "
        f"FROM stage_match m JOIN {staged.replace('stage_page s', 'stage_page s ON s.line = m.line', 1)} "
        "WHERE m.page_id = p.id AND m.changed",
        [seen_at],
    )
    unchanged = _run(
        "UPDATE linker_page p SET last_seen_at = %s, missing_since = NULL FROM stage_match m "
        "WHERE m.page_id = p.id AND NOT m.changed",
        [seen_at],
    )
    new = f"{staged} JOIN stage_match m ON m.line = s.line AND m.page_id IS NULL ORDER BY s.line"
    return {"new": _insert_pages(project, new, seen_at), "updated": updated, "unchanged": unchanged}


def _insert_pages(project: Project, staged: str, seen_at: datetime) -> int:
    return _run(
        f"INSERT INTO linker_page (project_id, {', '.join(PAGE_COLUMNS)}, category_id, status, inlinks, outlinks, "
        f"first_seen_at, last_seen_at) SELECT %s, {', '.join(f's.{column}' for column in PAGE_COLUMNS)}, c.id, "
        f"'live', 0, 0, %s, %s FROM {staged}",
        [project.pk, seen_at, seen_at],
    )


def mark_missing_pages(project: Project, seen_at: datetime) -> int:
    """Marks the pages that the import did not see. Returns how many were live until now."""
    return _run(
        "UPDATE linker_page SET missing_since = %s "
        "WHERE project_id = %s AND missing_since IS NULL AND last_seen_at < %s",
        [seen_at, project.pk, seen_at],
    )


def merge_vectors(project: Project, column: str, dimensions: int, seen_at: datetime) -> tuple[EmbeddingModel, int]:
    """Stores the staged vectors of `dimensions` under the project's model of that column and length.

    Returns the model and how many vectors were new or changed.
    """
    model = _imported_model(project, f"imported: {column}"[:200], dimensions)
    changed = _run(
        "INSERT INTO linker_pageembedding (page_id, model_id, text_sha256, vector, created_at) "
        "SELECT p.id, %s, v.sha256, v.vector, %s FROM stage_vector v JOIN stage_page s USING (line) "
        "JOIN linker_page p ON p.project_id = %s AND md5(p.canonical_url) = md5(s.canonical_url) "
        "WHERE v.dimensions = %s ON CONFLICT (model_id, page_id) DO UPDATE SET text_sha256 = excluded.text_sha256, "
        "vector = excluded.vector, created_at = excluded.created_at "
        "WHERE linker_pageembedding.text_sha256 <> excluded.text_sha256",
        [model.pk, seen_at, project.pk, dimensions],
    )
    return model, changed


def _imported_model(project: Project, name: str, dimensions: int) -> EmbeddingModel:
    """The project's model for a column. Vectors of another length than before are another model's."""
    models = EmbeddingModel.objects.filter(project=project, name=name)
    known = models.filter(dimensions=dimensions).first()
    if known is not None:
        return known
    version = f"as crawled, {dimensions} numbers" if models.exists() else "as crawled"
    return EmbeddingModel.objects.create(project=project, name=name, version=version, dimensions=dimensions)


# ---------------------------------------------------------------------------------------------------------- links


def page_ids(project: Project) -> dict[str, int]:
    """Every page's id by its key. Until the transaction ends none of the pages, nor the project, can be deleted."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT canonical_url, id FROM linker_page WHERE project_id = %s FOR KEY SHARE", [project.pk])
        return dict(cursor.fetchall())


# One that the same import has written before is followed where one of the two is. Links go in by the order of their
# index, which is then written from one end to the other.
MERGE_LINKS = f"""
WITH merged AS (
    INSERT INTO linker_existinglink (project_id, source_id, target_id, in_body, anchor, follow, last_seen_at)
    SELECT %s, source, target, in_body, min(anchor), bool_or(follow), %s FROM stage_link
    GROUP BY source, target, in_body, {ANCHOR_KEY} ORDER BY source, target, in_body
    ON CONFLICT (source_id, target_id, in_body, {ANCHOR_KEY}) DO UPDATE SET
    follow = excluded.follow OR linker_existinglink.follow AND linker_existinglink.last_seen_at = excluded.last_seen_at,
    last_seen_at = excluded.last_seen_at, missing_since = NULL
    RETURNING xmax = 0 AS fresh, in_body
)
SELECT count(*) FILTER (WHERE fresh AND in_body), count(*) FILTER (WHERE fresh AND NOT in_body),
count(*) FILTER (WHERE NOT fresh AND in_body), count(*) FILTER (WHERE NOT fresh AND NOT in_body) FROM merged
"""


class LinkStage:
    """The stage of links, filled in the background while more rows are read.

    With `at_once`, links of a project that has none go straight into the table: nothing has to be known of all of them
    before. `rows` were staged or written. `ids` are the ids of all pages, ascending; they must be held, see `page_ids`.

    What is written straight must not be there twice. Files hold the links of a page together, or those to a page. A
    part of the file is therefore cut before the links of its last page; then a link is new where its source or its
    target stood in no part before, and the few others are staged and merged.
    """

    def __init__(self, project: Project, seen_at: datetime, ids: NDArray[np.int64], *, at_once: bool) -> None:
        self.project, self.seen_at = project, seen_at
        self.rows = self._staged = self._new_body = self._new_template = 0
        self._ids = ids
        self._merge: list[tuple[str, Sequence[Any]]] = [
            ("ANALYZE stage_link", ()),
            (MERGE_LINKS, (project.pk, seen_at)),
            ("TRUNCATE stage_link", ()),
        ]
        self._checked = not store.may_leave_checks_out()
        if not self._checked:
            self._merge = [store.CHECKS_OFF, *self._merge, store.CHECKS_ON]
        self._merged: list[Future[Any]] = []
        self.at_once = False
        if at_once and not has_links(project):
            lock(project)
            self.at_once = not has_links(project)  # another import may have been first
        if self.at_once:
            self._gave, self._got = np.zeros(len(ids), dtype=bool), np.zeros(len(ids), dtype=bool)
            self._outlinks, self._inlinks = np.zeros(len(ids), dtype=np.int64), np.zeros(len(ids), dtype=np.int64)
            self._held = Links.of([])
        _run(STAGE_LINKS)
        self._background = store.Background()
        self.wait = self._background.wait

    def __enter__(self) -> LinkStage:
        self._background.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._background.__exit__(*error)

    def add(self, parts: Sequence[Links]) -> None:
        """Adds links; waits for those before, so that few are held at a time."""
        links = Links.joined(parts)
        self.rows += len(links)
        if not self.at_once:
            self._stage(links)
            return
        links = Links.joined([self._held, links])
        held = _of_last_page(links)
        self._held = links.take(np.flatnonzero(held))
        self._write(links.take(np.flatnonzero(~held)))

    def _stage(self, links: Links) -> None:
        self._staged += len(links)
        self.wait()
        columns = [("source", ">i8", links.source), ("target", ">i8", links.target), ("in_body", "?", links.in_body),
                   ("follow", "?", links.follow)]  # fmt: skip
        self._background.copy_in("stage_link", columns, "anchor", links.anchor)

    def _write(self, links: Links) -> None:
        """Writes those that are new, each once and by the order of their index, and stages the others."""
        links, pair = self._once(links)
        source, target = pair >> 32, pair & 0xFFFFFFFF
        known = self._gave[source] & self._got[target]
        self._gave[source] = self._got[target] = True
        if known.any():
            self._stage(links.take(np.flatnonzero(known)))
            links, pair = links.take(np.flatnonzero(~known)), pair[~known]
        body = pair[links.in_body]
        body = body[np.diff(body, prepend=-1) != 0]
        np.add.at(self._outlinks, body >> 32, 1)
        np.add.at(self._inlinks, body & 0xFFFFFFFF, 1)
        self._new_body += int(links.in_body.sum())
        self._new_template += len(links) - int(links.in_body.sum())
        self.wait()
        if not self._checked:
            self._background.execute(store.CHECKS_OFF)
        self._background.copy_in(
            "linker_existinglink",
            [
                ("project_id", ">i8", np.full(len(links), self.project.pk)),
                ("source_id", ">i8", links.source),
                ("target_id", ">i8", links.target),
                ("in_body", "?", links.in_body),
                ("follow", "?", links.follow),
                ("last_seen_at", ">i8", np.full(len(links), store.timestamp(self.seen_at))),
            ],
            "anchor",
            links.anchor,
        )
        if not self._checked:
            self._background.execute(store.CHECKS_ON)

    def _once(self, links: Links) -> tuple[Links, NDArray[np.int64]]:
        """Each link once, followed where one of the same is, by source and target; and the places of both in `ids`."""
        pair = np.searchsorted(self._ids, links.source) << 32 | np.searchsorted(self._ids, links.target)
        numbers: dict[str, int] = {}
        anchor = np.array(list(map(numbers.setdefault, links.anchor, count())), dtype=np.int64)
        kind = links.in_body.astype(np.int64) << 32 | anchor
        order = np.lexsort((~links.follow, kind, pair))
        pair, kind = pair[order], kind[order]
        first = (np.diff(pair, prepend=-1) != 0) | (np.diff(kind, prepend=-1) != 0)
        return links.take(order[first]), pair[first]

    def merge(self) -> dict[str, int]:
        """Inserts and updates the links that are left. Returns counts of `new`, `seen_before`, `body`, `template`."""
        if self.at_once:
            self._write(self._held)
            self._held = Links.of([])
        merging = self._background.execute(*self._merge)
        self.wait()
        new_body, new_template, body, template = merging.result()
        if self.at_once:  # there were none: these stood in several parts of the file
            new_body, new_template, body, template = new_body + self._new_body, new_template + self._new_template, 0, 0
        return {
            "new": new_body + new_template,
            "seen_before": body + template,
            "body": new_body + body,
            "template": new_template + template,
        }

    def count_page_links(self) -> None:
        """Sets the pages' counts, see the function of this name: as they were counted on the way, where they were."""
        if not self.at_once or self._staged:
            count_page_links(self.project)
            return
        _run("CREATE TEMP TABLE stage_count (id bigint, inlinks int, outlinks int)")
        columns = [("id", ">i8", self._ids), ("inlinks", ">i4", self._inlinks), ("outlinks", ">i4", self._outlinks)]
        store.copy_in("stage_count", columns)
        _run("ANALYZE stage_count")
        _run(SET_COUNTS.format("stage_count"))
        _run("DROP TABLE stage_count")


def _of_last_page(links: Links) -> NDArray[np.bool_]:
    """Which links are of the page that more may follow of: the last source, or target where links stand by target.

    None where they are too many to be held until the next are read.
    """
    by_source = np.count_nonzero(np.diff(links.source)) <= np.count_nonzero(np.diff(links.target))
    side = links.source if by_source else links.target
    held = side == side[-1:]
    return held if np.count_nonzero(held) <= HELD_LINKS else np.zeros(len(links), dtype=bool)


def has_links(project: Project) -> bool:
    return bool(_rows("SELECT 1 FROM linker_existinglink WHERE project_id = %s LIMIT 1", [project.pk]))


def drop_link_stage() -> None:
    _run("DROP TABLE stage_link")


def count_live_links(project: Project) -> int:
    return _number(
        "SELECT count(*) FROM linker_existinglink WHERE project_id = %s AND missing_since IS NULL", [project.pk]
    )


def count_staged_links() -> int:
    """Links in the stage, each once."""
    return _number(f"SELECT count(*) FROM (SELECT DISTINCT source, target, in_body, {ANCHOR_KEY} FROM stage_link) once")


def part_repeated_links(least: int = 20, share: float = 0.3) -> int:
    """Makes template links of those that many pages have alike, for files that do not say where a link stands.

    A target under one anchor counts as repeated where at least `least` pages and `share` of all linking pages have
    it. Returns how many staged rows that were.
    """
    return _run(
        "WITH repeated AS (SELECT target, anchor FROM stage_link GROUP BY 1, 2 HAVING count(DISTINCT source) >= "
        "greatest(%s, %s * (SELECT count(DISTINCT source) FROM stage_link))) "
        "UPDATE stage_link s SET in_body = false, anchor = '' FROM repeated r "
        "WHERE s.in_body AND s.target = r.target AND s.anchor = r.anchor",
        [least, share],
    )


def mark_missing_links(project: Project, seen_at: datetime) -> int:
    """Marks the links that the import did not see. Returns how many were live until now."""
    return _run(
        "UPDATE linker_existinglink SET missing_since = %s "
        "WHERE project_id = %s AND missing_since IS NULL AND last_seen_at < %s",
        [seen_at, project.pk, seen_at],
    )


def refresh_statistics(*tables: str) -> None:
    """Tells the planner what a large import has changed."""
    _run(f"ANALYZE {', '.join(tables)}")


def count_page_links(project: Project) -> None:
    """Sets every page's `inlinks` and `outlinks`: distinct pages, body links only, missing ones left out."""
    _run(
        "WITH pair AS (SELECT DISTINCT source_id, target_id FROM linker_existinglink "
        "WHERE project_id = %s AND in_body AND missing_since IS NULL), "
        "gives AS (SELECT source_id AS id, count(*) AS n FROM pair GROUP BY 1), "
        "gets AS (SELECT target_id AS id, count(*) AS n FROM pair GROUP BY 1), "
        "counted AS (SELECT p.id, coalesce(gets.n, 0) AS inlinks, coalesce(gives.n, 0) AS outlinks FROM linker_page p "
        "LEFT JOIN gets ON gets.id = p.id LEFT JOIN gives ON gives.id = p.id WHERE p.project_id = %s) "
        + SET_COUNTS.format("counted"),
        [project.pk, project.pk],
    )


# -------------------------------------------------------------------------------------------------------- queries

# Rows of the same page and query, as exports by day, country or device have them, become one. Null is not 0.
QUERY_NUMBERS = {
    "clicks": "nullif(least(coalesce(sum(clicks), -1), 2147483647), -1)::int",
    "impressions": "nullif(least(coalesce(sum(impressions), -1), 2147483647), -1)::int",
    "position": "sum(position * greatest(coalesce(impressions, 1), 1)) "
    "/ sum(greatest(coalesce(impressions, 1), 1)) FILTER (WHERE position IS NOT NULL)",
    "importance": "max(importance)",
}


def create_query_stage() -> None:
    _run(STAGE_QUERIES)


def drop_query_stage() -> None:
    _run("DROP TABLE stage_query")


def stage_queries(parts: Sequence[Sequence[QueryRow]]) -> None:
    store.copy_rows_in("stage_query", QueryRow._fields, chain.from_iterable(parts))


def count_staged_queries() -> int:
    """Rows in the stage."""
    return _number("SELECT count(*) FROM stage_query")


def merge_queries(source: str, filled: Sequence[str], seen_at: datetime) -> dict[str, int]:
    """Inserts and updates the staged queries of a source. Returns counts of `queries`, `query_pages`, `new`,
    `seen_before`.

    Clicks and impressions of rows with the same page and query are added up, their positions averaged by impressions,
    and the highest importance counts. `filled` are the numbers that the file speaks about; the others stay.
    """
    sums = ", ".join(f"{expression} AS {name}" for name, expression in QUERY_NUMBERS.items())
    names = ", ".join(QUERY_NUMBERS)
    changes = ", ".join(f"{name} = excluded.{name}" for name in [*filled, "last_seen_at"])
    [row] = _rows(
        f"WITH merged AS (INSERT INTO linker_pagequery (page_id, query, source, last_seen_at, {names}) "
        f"SELECT page, query, %s, %s, {names} FROM (SELECT page, query, {sums} FROM stage_query GROUP BY 1, 2) summed "
        f"ON CONFLICT (page_id, source, md5(query)) DO UPDATE SET {changes} RETURNING page_id, xmax = 0 AS fresh) "
        "SELECT count(*), count(DISTINCT page_id), count(*) FILTER (WHERE fresh), count(*) FILTER (WHERE NOT fresh) "
        "FROM merged",
        [source, seen_at],
    )
    return dict(zip(("queries", "query_pages", "new", "seen_before"), row, strict=True))
