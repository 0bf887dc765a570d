"""Rows of a file into the tables: staged by COPY, counted, then merged. Nothing is ever deleted.

All of it happens inside the caller's transaction: an exception anywhere leaves the tables as they were. Columns that
a file does not speak about keep what they hold.
"""

from __future__ import annotations

from itertools import chain, count, starmap
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import connection

from ingest.addresses.destinations import KnownPage
from ingest.addresses.normalise import category_key
from ingest.kinds.links.parse import Links
from ingest.kinds.pages import parse
from ingest.kinds.queries.parse import QueryRow
from linker.embedding.text import CRAWLER, MADE_BY_CRAWLER
from linker.models import Block, Category, EmbeddingModel, TrafficPeriod
from linker.models.linked import TEXT_LINK
from linker.models.querysets import MISSING, PRESENT, sql
from linker.pages import traffic
from linker.pages.languages import READ_FROM
from linker.storage.background import BackgroundCopy
from linker.storage.copy import copy_in, copy_rows_in, copy_text, is_copy_text, timestamp
from linker.storage.cursors import stream
from linker.storage.references import CHECKS_OFF, CHECKS_ON, lock_references, may_skip_checks
from linker.storage.vectors import halfvec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future
    from datetime import datetime

    from numpy.typing import NDArray

    from ingest.addresses.destinations import Moves
    from ingest.kinds.pages.parse import PathOfNames, Trails
    from ingest.kinds.traffic.parse import Traffic
    from ingest.kinds.traffic.periods import Period
    from linker.models import Project

LOCK_SPACE = 7304  # merges into one project's pages and links come one after the other

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
STAGE_LINKS = """
CREATE TEMP TABLE stage_link (source bigint, target bigint, block smallint, follow boolean, anchor text)
"""
STAGE_QUERIES = """
CREATE TEMP TABLE stage_query (
    page bigint, query text, clicks int, impressions int, position float8, importance float8
)
"""
STAGE_TRAFFIC = """
CREATE TEMP TABLE stage_traffic (page bigint, clicks bigint, impressions bigint, position float8, hits bigint)
"""
STAGED_PAGES = "stage_page s LEFT JOIN stage_category c ON c.number = s.category"
HELD_LINKS = 200_000  # of one page, held until the next page's begin
ANCHOR_KEY = "hashtextextended(anchor, 0)"  # as in the unique index of links
# Counts that are the same already are not written: each write is a new version of the whole page.
SET_COUNTS = (
    "UPDATE linker_page p SET inlinks = c.inlinks, outlinks = c.outlinks FROM {} c "
    "WHERE p.id = c.id AND (p.inlinks, p.outlinks) IS DISTINCT FROM (c.inlinks, c.outlinks)"
)
PAGE_COLUMNS = tuple(name for name in parse.COLUMNS if name not in ("line", "html", "category"))

COUNTS = ("clicks", "impressions")
# Pages hold them in four bytes. (least() of a number and null is the number.)
MOST_CLICKS = "CASE WHEN {0}.{1} > 2147483647 THEN 2147483647 ELSE {0}.{1}::int END"

# What several rows of a page come to. Positions are weighted by impressions, where there are any; numeric sums are the
# same in whatever order the rows stand.
TRAFFIC_SUMS = {
    "clicks": "sum(clicks)::bigint",
    "impressions": "sum(impressions)::bigint",
    "position": "coalesce(sum(position::numeric * impressions) / nullif(sum(impressions) FILTER "
    "(WHERE position IS NOT NULL), 0), avg(position::numeric))::float8",
    "hits": "sum(hits)::bigint",
}

# The row that stands for its page where a file holds the page several times: the one that answers 200; the one that is
# indexable; that is its own canonical; whose address is the page's key; that has neither tracking parameters nor a
# fragment (see PageParser); with the shortest address; then by what the rows hold. Their order in the file says
# nothing: rows alike to the last are the same.
_HELD = ", ".join(f"s.{name}" for name in parse.COLUMNS if name not in ("line", "category"))
BETTER_ROW = (
    'w.worth DESC, length(s.url), s.url COLLATE "C", '  # as in pages.address_order
    f'md5(ROW({_HELD})::text) COLLATE "C", t.path COLLATE "C" NULLS LAST, v.sha256 NULLS LAST, s.line'
)


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


def drop_duplicates(trails: Trails, worth: Callable[..., int], *, add_up: bool) -> list[tuple[int, str]]:
    """Leaves one row a page in the stage, see BETTER_ROW. Returns (line, address) of the others, by line.

    `worth` is PageParser's, and asked for the rows alone whose page has several. With `add_up` the row that is left has
    the traffic of all of them; one that repeats another's address and numbers counts once.
    """
    _run("CREATE INDEX ON stage_page (line); ANALYZE stage_page, stage_vector")
    _run(
        "CREATE TEMP TABLE stage_repeated AS SELECT md5(canonical_url) AS key FROM stage_page "
        "GROUP BY 1 HAVING count(*) > 1"
    )
    _run("CREATE TEMP TABLE stage_trail (number int, path text)")
    copy_rows_in("stage_trail", ("number", "path"), ((n, "\x1f".join(path)) for path, n in trails.numbers.items()))
    _run("CREATE TEMP TABLE stage_worth (line bigint, worth int)")
    repeated = stream(
        "repeated",
        "SELECT s.line, s.url, s.canonical_url, s.status_code, s.indexable, s.canonical_link "
        "FROM stage_page s JOIN stage_repeated r ON md5(s.canonical_url) = r.key",
        [],
    )
    weighed = [(line, worth(*row)) for line, *row in repeated]
    copy_rows_in("stage_worth", ("line", "worth"), weighed)
    _run("ANALYZE stage_repeated, stage_trail, stage_worth")
    if add_up:
        sums = ", ".join(f"{TRAFFIC_SUMS[name]} AS {name}" for name in sorted(parse.TRAFFIC))
        _run(
            f"UPDATE stage_page s SET clicks = summed.clicks, impressions = summed.impressions, "
            f"position = summed.position FROM (SELECT key, {sums} FROM (SELECT DISTINCT r.key, s.url, s.clicks, "
            "s.impressions, s.position FROM stage_page s JOIN stage_repeated r ON md5(s.canonical_url) = r.key) once "
            "GROUP BY key) summed WHERE md5(s.canonical_url) = summed.key"
        )
    gone = _rows(
        "WITH gone AS (SELECT line FROM (SELECT s.line, row_number() OVER (PARTITION BY r.key "
        f"ORDER BY {BETTER_ROW}) AS place FROM stage_page s JOIN stage_repeated r ON md5(s.canonical_url) = r.key "
        "JOIN stage_worth w ON w.line = s.line LEFT JOIN stage_trail t ON t.number = s.category "
        "LEFT JOIN stage_vector v ON v.line = s.line) ranked "
        "WHERE place > 1) "
        "DELETE FROM stage_page s USING gone WHERE s.line = gone.line RETURNING s.line, s.url"
    )
    _run("DROP TABLE stage_repeated, stage_trail, stage_worth")
    return sorted(gone)


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
    return _number(f"SELECT count(*) FROM linker_page WHERE project_id = %s AND {sql(PRESENT)}", [project.pk])


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
    copy_rows_in(
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
    project: Project,
    filled: Sequence[str],
    *,
    is_crawl: bool,
    weak_category: bool,
    strong_category: bool,
    languages_read: bool,
    seen_at: datetime,
) -> dict[str, int]:
    """Inserts and updates the staged pages. Returns counts of `new`, `updated`, `unchanged`, and of a crawl that has
    pages which were missing, `came_back`: those count as nothing else.

    `filled` are the columns the file speaks about. A strong category replaces a page's, a weak one fills a gap. A file
    that is no crawl does not say how a page is addressed, nor that it is there. `languages_read`: whether the stage
    says which language each page is in, which only an import into an empty project asks of all its rows.
    """
    if not _rows("SELECT 1 FROM linker_page WHERE project_id = %s LIMIT 1", [project.pk]):
        return {"new": _insert_pages(project, STAGED_PAGES, languages_read, seen_at), "updated": 0, "unchanged": 0}
    if is_crawl:
        _keep_cleaner_addresses(project)
    values = {column: f"s.{column}" for column in (("url", *filled) if is_crawl else filled)}
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
        f"ROW({old}) IS DISTINCT FROM ROW({new}) AS changed, {sql(MISSING, 'p')} AS missing FROM {staged} "
        "LEFT JOIN linker_page p ON p.project_id = %s AND md5(p.canonical_url) = md5(s.canonical_url)",
        [project.pk],
    )
    _run("CREATE INDEX ON stage_match (line); ANALYZE stage_match")
    assignments = [f"{column} = {value}" for column, value in values.items()]
    seen = ["last_seen_at = %s", "missing_since = NULL"] if is_crawl else []
    params = [seen_at] if is_crawl else []
    updated = unchanged = 0
    if assignments:
        updated = _run(
            f"UPDATE linker_page p SET {', '.join(assignments + seen)} "
            f"FROM stage_match m JOIN {staged.replace('stage_page s', 'stage_page s ON s.line = m.line', 1)} "
            "WHERE m.page_id = p.id AND m.changed",
            params,
        )
    if not is_crawl:
        unchanged = _number("SELECT count(*) FROM stage_match WHERE NOT changed")
        return {"new": 0, "updated": updated, "unchanged": unchanged}
    unchanged = _run(
        f"UPDATE linker_page p SET {', '.join(seen)} FROM stage_match m WHERE m.page_id = p.id AND NOT m.changed",
        params,
    )
    back = dict(_rows("SELECT changed, count(*) FROM stage_match WHERE missing AND page_id IS NOT NULL GROUP BY 1"))
    updated, unchanged = updated - back.get(True, 0), unchanged - back.get(False, 0)
    new = f"{staged} JOIN stage_match m ON m.line = s.line AND m.page_id IS NULL ORDER BY s.line"
    counts = {"new": _insert_pages(project, new, languages_read, seen_at), "updated": updated, "unchanged": unchanged}
    return counts | ({"came_back": sum(back.values())} if back else {})


def _keep_cleaner_addresses(project: Project) -> None:
    """Gives staged pages the address that the project knows them by, where their own is worse.

    One that answers 200 replaces any that did not.
    """
    other = stream(
        "addresses",
        "SELECT s.line, s.url, p.url, s.canonical_url FROM stage_page s JOIN linker_page p ON p.project_id = %s "
        "AND md5(p.canonical_url) = md5(s.canonical_url) WHERE s.url <> p.url "
        "AND NOT coalesce(s.status_code = 200 AND p.status_code <> 200, false)",
        [project.pk],
    )
    worse = [
        (line, known)
        for line, url, known, key in other
        if parse.address_order(url, key) > parse.address_order(known, key)
    ]
    if not worse:
        return
    _run("CREATE TEMP TABLE stage_kept (line bigint, url text)")
    copy_rows_in("stage_kept", ("line", "url"), worse)
    _run("ANALYZE stage_kept")
    _run("UPDATE stage_page s SET url = k.url FROM stage_kept k WHERE k.line = s.line")
    _run("DROP TABLE stage_kept")


def _insert_pages(project: Project, staged: str, languages_read: bool, seen_at: datetime) -> int:
    read = READ_FROM.replace("p.", "s.").format(body_hash="hashtextextended(s.body, 0)") if languages_read else "NULL"
    values = ", ".join(MOST_CLICKS.format("s", name) if name in COUNTS else f"s.{name}" for name in PAGE_COLUMNS)
    return _run(
        f"INSERT INTO linker_page (project_id, {', '.join(PAGE_COLUMNS)}, category_id, status, inlinks, outlinks, "
        f"language_read, first_seen_at, last_seen_at) SELECT %s, {values}, c.id, "
        f"'live', 0, 0, {read}, %s, %s FROM {staged}",
        [project.pk, seen_at, seen_at],
    )


def mark_missing_pages(project: Project, seen_at: datetime) -> int:
    """Marks the pages that the import did not see. Returns how many were live until now."""
    return _run(
        f"UPDATE linker_page SET missing_since = %s WHERE project_id = %s AND {sql(PRESENT)} AND last_seen_at < %s",
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
    return EmbeddingModel.objects.create(
        project=project,
        name=name,
        version=version,
        dimensions=dimensions,
        recipe=CRAWLER,
        made_of=MADE_BY_CRAWLER,
    )


# ---------------------------------------------------------------------------------------------------------- links


def page_ids(project: Project, *, hold: bool = True) -> dict[str, int]:
    """Every page's id by its key. With `hold`, none of the pages, nor the project, can be deleted until the transaction
    ends."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT canonical_url, id FROM linker_page WHERE project_id = %s{' FOR KEY SHARE' if hold else ''}",
            [project.pk],
        )
        return dict(cursor.fetchall())


def leading_pages(project: Project) -> Iterator[KnownPage]:
    """What destinations() has to know of the project's pages: those that redirect, that name another address as their
    canonical, or that are gone. Streamed."""
    gone = f"({sql(MISSING)} OR coalesce(status_code IN (404, 410), false))"
    rows = stream(
        "leading_pages",
        f"SELECT id, url, redirect_url, canonical_link, indexable, {gone} FROM linker_page WHERE project_id = %s "
        f"AND (redirect_url <> '' OR canonical_link NOT IN ('', url, canonical_url) OR {gone})",
        [project.pk],
    )
    return starmap(KnownPage, rows)


# One that the same import has written before is followed where one of the two is. Links go in by the order of their
# index, which is then written from one end to the other.
MERGE_LINKS = f"""
WITH merged AS (
    INSERT INTO linker_existinglink (project_id, source_id, target_id, block, anchor, follow, last_seen_at)
    SELECT %s, source, target, block, min(anchor), bool_or(follow), %s FROM stage_link
    GROUP BY source, target, block, {ANCHOR_KEY} ORDER BY source, target, block
    ON CONFLICT (source_id, target_id, block, {ANCHOR_KEY}) DO UPDATE SET
    follow = excluded.follow OR linker_existinglink.follow AND linker_existinglink.last_seen_at = excluded.last_seen_at,
    last_seen_at = excluded.last_seen_at, missing_since = NULL
    RETURNING xmax = 0 AS fresh, block
)
SELECT array_agg(block), array_agg(new), array_agg(known) FROM (
    SELECT block, count(*) FILTER (WHERE fresh) AS new, count(*) FILTER (WHERE NOT fresh) AS known FROM merged
    GROUP BY block
) counts
"""

_ANALYZE_STAGE: tuple[str, Sequence[Any]] = ("ANALYZE stage_link", ())
# Links of which nobody knew the block, as all around the text were before blocks were kept, and which the file names:
# they stay the same links, instead of being gone and new ones beside them. Their words were not kept then.
NAME_BLOCKS = f"""
UPDATE linker_existinglink e SET block = named.block, anchor = named.anchor FROM (
    SELECT o.id, min(s.block) AS block, (array_agg(s.anchor ORDER BY s.block, s.anchor))[1] AS anchor
    FROM linker_existinglink o
    JOIN stage_link s ON s.source = o.source_id AND s.target = o.target_id
        AND o.anchor IN ('', s.anchor) AND s.block <> {Block.CONTENT.value}
    WHERE o.project_id = %s AND o.block = {Block.UNKNOWN.value}
    GROUP BY o.id HAVING min(s.block) <> {Block.UNKNOWN.value}
) named
WHERE e.id = named.id AND NOT EXISTS (
    SELECT FROM linker_existinglink k WHERE k.source_id = e.source_id AND k.target_id = e.target_id
        AND k.block = named.block AND hashtextextended(k.anchor, 0) = hashtextextended(named.anchor, 0)
)
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
        self.rows = self._staged = 0
        self._new = np.zeros(max(Block.values) + 1, dtype=np.int64)  # by block
        self._ids = ids
        self._merge: list[tuple[str, Sequence[Any]]] = [
            _ANALYZE_STAGE,
            (MERGE_LINKS, (project.pk, seen_at)),
            ("TRUNCATE stage_link", ()),
        ]
        self._checked = not may_skip_checks()
        if not self._checked:
            self._merge = [CHECKS_OFF, *self._merge, CHECKS_ON]
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
        self._background = BackgroundCopy()
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
        columns: list[tuple[str, Any, NDArray[Any]]] = [
            ("source", ">i8", links.source),
            ("target", ">i8", links.target),
            ("block", ">i2", links.block),
            ("follow", "?", links.follow),
        ]
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
        body = pair[links.block == Block.CONTENT]
        body = body[np.diff(body, prepend=-1) != 0]
        np.add.at(self._outlinks, body >> 32, 1)
        np.add.at(self._inlinks, body & 0xFFFFFFFF, 1)
        self._new += np.bincount(links.block, minlength=len(self._new))
        self.wait()
        if not self._checked:
            self._background.execute(CHECKS_OFF)
        self._background.copy_in(
            "linker_existinglink",
            [
                ("project_id", ">i8", np.full(len(links), self.project.pk)),
                ("source_id", ">i8", links.source),
                ("target_id", ">i8", links.target),
                ("block", ">i2", links.block),
                ("follow", "?", links.follow),
                ("last_seen_at", ">i8", np.full(len(links), timestamp(self.seen_at))),
            ],
            "anchor",
            links.anchor,
        )
        if not self._checked:
            self._background.execute(CHECKS_ON)

    def _once(self, links: Links) -> tuple[Links, NDArray[np.int64]]:
        """Each link once, followed where one of the same is, by source and target; and the places of both in `ids`."""
        pair = np.searchsorted(self._ids, links.source) << 32 | np.searchsorted(self._ids, links.target)
        numbers: dict[str, int] = {}
        anchor = np.array(list(map(numbers.setdefault, links.anchor, count())), dtype=np.int64)
        kind = links.block.astype(np.int64) << 32 | anchor
        order = np.lexsort((~links.follow, kind, pair))
        pair, kind = pair[order], kind[order]
        first = (np.diff(pair, prepend=-1) != 0) | (np.diff(kind, prepend=-1) != 0)
        return links.take(order[first]), pair[first]

    def merge(self) -> dict[str, Any]:
        """Inserts and updates the links that are left.

        Returns counts of `new`, `seen_before`, `body`, `template`, and of `links_by_block`, by the block's name.
        """
        if self.at_once:
            self._write(self._held)
            self._held = Links.of([])
        elif has_links(self.project, Block.UNKNOWN):
            self._merge.insert(self._merge.index(_ANALYZE_STAGE) + 1, (NAME_BLOCKS, (self.project.pk,)))
        merging = self._background.execute(*self._merge)
        self.wait()
        new, seen = self._new, np.zeros_like(self._new)
        for block, fresh, before in zip(*(column or () for column in merging.result()), strict=True):
            new[block] += fresh
            seen[block] += 0 if self.at_once else before  # there were none: these stood in several parts of the file
        blocks = (new + seen).tolist()
        return {
            "new": int(new.sum()),
            "seen_before": int(seen.sum()),
            "body": blocks[Block.CONTENT],
            "template": sum(blocks) - blocks[Block.CONTENT],
            "links_by_block": {str(block.label): blocks[block] for block in Block if blocks[block]},
        }

    def count_page_links(self) -> None:
        """Sets the pages' counts, see the function of this name: as they were counted on the way, where they were."""
        if not self.at_once or self._staged:
            count_page_links(self.project)
            return
        _run("CREATE TEMP TABLE stage_count (id bigint, inlinks int, outlinks int)")
        columns = [("id", ">i8", self._ids), ("inlinks", ">i4", self._inlinks), ("outlinks", ">i4", self._outlinks)]
        copy_in("stage_count", columns)
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


def has_links(project: Project, *blocks: Block) -> bool:
    """Whether the project has links, in these blocks or in any."""
    return bool(
        _rows(
            "SELECT 1 FROM linker_existinglink WHERE project_id = %s AND block = ANY(%s) LIMIT 1",
            [project.pk, list(blocks or Block)],
        )
    )


def drop_link_stage() -> None:
    _run("DROP TABLE stage_link")


def count_live_links(project: Project) -> int:
    return _number(f"SELECT count(*) FROM linker_existinglink WHERE project_id = %s AND {sql(PRESENT)}", [project.pk])


def count_staged_links() -> int:
    """Links in the stage, each once."""
    return _number(f"SELECT count(*) FROM (SELECT DISTINCT source, target, block, {ANCHOR_KEY} FROM stage_link) once")


def part_repeated_links(least: int = 20, share: float = 0.3) -> int:
    """Makes links of the navigation of those that many pages have alike, for files that do not say where a link stands.

    A target under one anchor counts as repeated where at least `least` pages and `share` of all linking pages have
    it. Returns how many staged rows that were.
    """
    return _run(
        "WITH repeated AS (SELECT target, anchor FROM stage_link GROUP BY 1, 2 HAVING count(DISTINCT source) >= "
        "greatest(%s, %s * (SELECT count(DISTINCT source) FROM stage_link))) "
        "UPDATE stage_link s SET block = %s, anchor = '' FROM repeated r "
        "WHERE s.block = %s AND s.target = r.target AND s.anchor = r.anchor",
        [least, share, Block.NAVIGATION, Block.CONTENT],
    )


def mark_missing_links(project: Project, seen_at: datetime) -> int:
    """Marks the links that the import did not see. Returns how many were live until now."""
    return _run(
        "UPDATE linker_existinglink SET missing_since = %s "
        f"WHERE project_id = %s AND {sql(PRESENT)} AND last_seen_at < %s",
        [seen_at, project.pk, seen_at],
    )


def refresh_statistics(*tables: str) -> None:
    """Tells the planner what a large import has changed."""
    _run(f"ANALYZE {', '.join(tables)}")


def count_page_links(project: Project) -> None:
    """Sets every page's `inlinks` and `outlinks`: distinct pages, body links only, missing ones left out."""
    _run(
        "WITH pair AS (SELECT DISTINCT source_id, target_id FROM linker_existinglink "
        f"WHERE project_id = %s AND {sql(TEXT_LINK)}), "
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
    copy_rows_in("stage_query", QueryRow._fields, chain.from_iterable(parts))


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


# -------------------------------------------------------------------------------------------------------- traffic


def create_traffic_stage() -> None:
    _run(STAGE_TRAFFIC)


def drop_traffic_stage() -> None:
    _run("DROP TABLE IF EXISTS stage_traffic, stage_sum")


def stage_traffic(background: BackgroundCopy, some: Traffic) -> None:
    """Begins to write numbers of pages into the stage."""
    columns = {"page": some.page.tolist(), **some.numbers}
    cells = [_copy_cells(name, column) for name, column in columns.items()]
    lines = [f"{line}\n" for line in map("\t".join, zip(*cells, strict=True))]
    background.copy_lines("stage_traffic", list(columns), lines)


def sum_traffic() -> int:
    """Adds the staged rows of each page up. Returns how many rows that say something there were."""
    some = " OR ".join(f"{name} IS NOT NULL" for name in TRAFFIC_SUMS)
    sums = ", ".join(f"{expression} AS {name}" for name, expression in TRAFFIC_SUMS.items())
    _run(
        f"CREATE TEMP TABLE stage_sum AS SELECT page, {sums}, count(*) AS rows FROM stage_traffic "
        f"WHERE {some} GROUP BY page"
    )
    return _number("SELECT coalesce(sum(rows), 0)::bigint FROM stage_sum")


def sum_crawled_traffic(project: Project, moves: Moves) -> None:
    """The same of the staged pages, which must be in the table of pages; of those that move, where they lead."""
    rows = (
        "SELECT p.id AS page, s.clicks, s.impressions, s.position, NULL::bigint AS hits FROM stage_page s "
        "JOIN linker_page p ON p.project_id = %s AND md5(p.canonical_url) = md5(s.canonical_url) "
        "WHERE s.clicks IS NOT NULL OR s.impressions IS NOT NULL OR s.position IS NOT NULL"
    )
    if not len(moves):
        _run(f"CREATE TEMP TABLE stage_sum AS {rows}", [project.pk])
        return
    _run("CREATE TEMP TABLE stage_move (page bigint, destination bigint)")
    copy_rows_in("stage_move", ("page", "destination"), moves.pairs())
    _run("ANALYZE stage_move")
    sums = ", ".join(f"{expression} AS {name}" for name, expression in TRAFFIC_SUMS.items())
    _run(
        f"CREATE TEMP TABLE stage_sum AS SELECT coalesce(m.destination, r.page) AS page, {sums} FROM ({rows}) r "
        "LEFT JOIN stage_move m ON m.page = r.page GROUP BY 1",
        [project.pk],
    )
    _run("DROP TABLE stage_move")


def merge_traffic(
    project: Project,
    source: str,
    period: Period | None,
    imported_at: datetime,
    *,
    replaces: bool,
    loose: Sequence[int] | None = None,
) -> dict[str, int]:
    """Stores the sums of what was staged as the source's of the period, and sets the pages' own numbers.

    Returns counts of `pages`, `new`, `updated`, `unchanged`, `gone` and `set`: pages whose own numbers changed. With
    `replaces`, pages that the stage lacks lose what they had from the source in the period. `loose` are the pages that
    the transaction has not locked yet; None: any of them.
    """
    _run("ANALYZE stage_sum")
    staged = _number("SELECT count(*) FROM stage_sum")
    found, _ = TrafficPeriod.objects.update_or_create(
        project=project,
        source=source,
        starts=period.starts if period else None,
        ends=period.ends if period else None,
        defaults={"imported_at": imported_at},
    )
    gone = 0
    if replaces:
        gone = _run(
            "DELETE FROM linker_pagetraffic t WHERE t.period_id = %s "
            "AND NOT EXISTS (SELECT FROM stage_sum s WHERE s.page = t.page_id)",
            [found.pk],
        )
    if loose is None:
        loose = [page for (page,) in _rows("SELECT page FROM stage_sum")]
    with lock_references({"linker_trafficperiod": [found.pk], "linker_page": loose}):
        names = ", ".join(TRAFFIC_SUMS)
        old, new = (", ".join(f"{table}.{name}" for name in TRAFFIC_SUMS) for table in ("t", "excluded"))
        changes = ", ".join(f"{name} = excluded.{name}" for name in TRAFFIC_SUMS)
        [(fresh, updated)] = _rows(
            f"WITH merged AS (INSERT INTO linker_pagetraffic AS t (period_id, page_id, {names}) "
            f"SELECT %s, page, {names} FROM stage_sum ORDER BY page ON CONFLICT (period_id, page_id) "
            f"DO UPDATE SET {changes} WHERE ({old}) IS DISTINCT FROM ({new}) RETURNING xmax = 0 AS fresh) "
            "SELECT count(*) FILTER (WHERE fresh), count(*) FILTER (WHERE NOT fresh) FROM merged",
            [found.pk],
        )
    refresh_statistics("linker_pagetraffic")
    return {
        "pages": staged,
        "new": fresh,
        "updated": updated,
        "unchanged": staged - fresh - updated,
        "gone": gone,
        "set": set_page_traffic(project),
    }


def set_page_traffic(project: Project) -> int:
    """Sets every page's clicks, impressions and position as linker.pages.traffic reads them. Returns how many
    changed."""
    first, second = [*(period.pk for period in traffic.periods_read(project)), None, None][:2]
    numbers = {name: f"CASE WHEN a.page_id IS NULL THEN b.{name} ELSE a.{name} END" for name in sorted(parse.TRAFFIC)}
    columns = ", ".join(numbers)
    read = ", ".join(f"{value} AS {name}" for name, value in numbers.items())
    capped = ", ".join(MOST_CLICKS.format("r", name) if name in COUNTS else f"r.{name}" for name in numbers)
    return _run(
        f"UPDATE linker_page p SET ({columns}) = ({capped}) FROM (SELECT own.id, {read} FROM linker_page own "
        "LEFT JOIN linker_pagetraffic a ON a.page_id = own.id AND a.period_id = %s "
        "LEFT JOIN linker_pagetraffic b ON b.page_id = own.id AND b.period_id = %s WHERE own.project_id = %s) r "
        f"WHERE p.id = r.id AND ({', '.join(f'p.{name}' for name in numbers)}) IS DISTINCT FROM ({capped})",
        [first, second, project.pk],
    )
