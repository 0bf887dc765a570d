"""Staged pages into the tables of pages, categories and vectors. Nothing is deleted.

All of it happens inside the caller's transaction. Columns that a file does not speak about keep what they hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.addresses.normalise import category_key
from ingest.kinds.pages import parse
from ingest.kinds.pages.address_order import address_order
from ingest.kinds.pages.renamed_categories import rename_categories
from ingest.kinds.sql import execute, fetch, fetch_number
from linker.embedding.text import CRAWLER, MADE_BY_CRAWLER
from linker.models import Category, EmbeddingModel, Project
from linker.models.querysets import ANSWERED_200, ANSWERING, MISSING, PRESENT, sql
from linker.pages.languages import READ_FROM
from linker.pages.traffic import COUNTS, MAX_COUNT
from linker.storage import sections
from linker.storage.copy import copy_rows_in
from linker.storage.cursors import stream
from linker.storage.page_writes import KEEP_PLANS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ingest.kinds.pages.category_paths import CategoryPaths, PathOfNames

STAGED_PAGES = "stage_page s LEFT JOIN stage_category c ON c.number = s.category"
PAGE_COLUMNS = tuple(name for name in parse.COLUMNS if name not in ("line", "html", "category"))

# What a page that answers with an error or a redirect says nothing of: its words stay those that were known.
WORDS = frozenset({"title", "h1", "headings", "description", "body", "language", "word_count"})


def _unless_silent(column: str, value: str) -> str:
    """SQL: the new value of a column, and the old one where the page does not answer with 200."""
    return f"CASE WHEN {sql(ANSWERED_200, 's')} THEN {value} ELSE p.{column} END"


def count_live(project: Project) -> int:
    """Pages of the project that the last import held, and that answer."""
    return fetch_number(
        f"SELECT count(*) FROM linker_page p WHERE project_id = %s AND {sql(PRESENT)} AND {sql(ANSWERING, 'p')}",
        [project.pk],
    )


def merge_categories(
    project: Project, category_paths: CategoryPaths, *, may_rename: bool
) -> tuple[int, list[tuple[str, str]]]:
    """Makes the categories that are new, parents first, and turns numbers in the stage into their ids.

    Returns how many categories the file names, and which it calls by another name: the old and the new one.
    `may_rename`: whether the names are the site's own; those made of folders say nothing of others.
    """
    paths = category_paths.paths()
    wanted = {path[:depth] for path in paths for depth in range(1, len(path) + 1)}
    renamed = rename_categories(project, paths, wanted) if may_rename else []
    ids = dict(Category.objects.filter(project=project).values_list("path_key", "id"))
    for depth in range(1, max(map(len, wanted), default=0) + 1):
        level = sorted(path for path in wanted if len(path) == depth)
        ids |= _insert_categories(project, [path for path in level if category_key(path) not in ids], ids)
    execute("CREATE TEMP TABLE stage_category (number int, id bigint)")
    copy_rows_in(
        "stage_category", ("number", "id"), ((n, ids[category_key(path)]) for n, path in enumerate(paths) if path)
    )
    return len(wanted), renamed


def staged_categories() -> list[int]:
    """The categories that staged pages come into."""
    return [id for (id,) in fetch("SELECT DISTINCT id FROM stage_category")]


def _insert_categories(project: Project, level: Sequence[PathOfNames], ids: dict[str, int]) -> dict[str, int]:
    """Makes categories of one depth, whose parents are there; their ids by key."""
    parents = [ids[category_key(path[:-1])] if len(path) > 1 else None for path in level]
    return dict(
        fetch(
            "INSERT INTO linker_category (project_id, parent_id, name, path, path_key, depth) SELECT %s, parent, "
            "path[cardinality(path)], path, key, cardinality(path) FROM (SELECT parent, "
            "string_to_array(names, E'\\x1f')::varchar(200)[] AS path, key, place FROM "
            "unnest(%s::bigint[], %s::text[], %s::text[]) WITH ORDINALITY AS u(parent, names, key, place)) made "
            "ORDER BY place RETURNING path_key, id",
            [project.pk, parents, ["\x1f".join(path) for path in level], [category_key(path) for path in level]],
        )
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
    if not fetch("SELECT 1 FROM linker_page WHERE project_id = %s LIMIT 1", [project.pk]):
        return {"new": _insert_pages(project, STAGED_PAGES, languages_read, seen_at), "updated": 0, "unchanged": 0}
    if is_crawl:
        _keep_cleaner_addresses(project)
    values = {column: f"s.{column}" for column in (("url", *filled) if is_crawl else filled)}
    if is_crawl and "status_code" in filled:
        values |= {column: _unless_silent(column, f"s.{column}") for column in WORDS.intersection(filled)}
    if strong_category:
        values["category_id"] = _unless_silent("category_id", "c.id") if "status_code" in filled else "c.id"
    elif weak_category:
        values["category_id"] = "coalesce(p.category_id, c.id)"
    columns = list(values)
    staged = STAGED_PAGES
    old = ", ".join(f"p.{column}" for column in columns)
    new = ", ".join(values[column] for column in columns)
    execute(
        "CREATE TEMP TABLE stage_match AS SELECT s.line, p.id AS page_id, "
        f"ROW({old}) IS DISTINCT FROM ROW({new}) AS changed, {sql(MISSING, 'p')} AS missing FROM {staged} "
        "LEFT JOIN linker_page p ON p.project_id = %s AND md5(p.canonical_url) = md5(s.canonical_url)",
        [project.pk],
    )
    execute("CREATE INDEX ON stage_match (line); ANALYZE stage_match")
    assignments = [f"{column} = {value}" for column, value in values.items()]
    seen = [KEEP_PLANS, *(["last_seen_at = %s", "missing_since = NULL"] if is_crawl else [])]
    params = [seen_at] if is_crawl else []
    updated = unchanged = 0
    matched = f"FROM stage_match m JOIN {staged.replace('stage_page s', 'stage_page s ON s.line = m.line', 1)} "
    if "category_id" in values:
        sections.put_off()  # or editors would wait for their suggestions until the import is committed
    if assignments:
        updated = execute(
            f"UPDATE linker_page p SET {', '.join(assignments + seen)} {matched} WHERE m.page_id = p.id AND m.changed",
            params,
        )
    if not is_crawl:
        unchanged = fetch_number("SELECT count(*) FROM stage_match WHERE NOT changed")
        return {"new": 0, "updated": updated, "unchanged": unchanged}
    unchanged = execute(
        f"UPDATE linker_page p SET {', '.join(seen)} FROM stage_match m WHERE m.page_id = p.id AND NOT m.changed",
        params,
    )
    back = dict(fetch("SELECT changed, count(*) FROM stage_match WHERE missing AND page_id IS NOT NULL GROUP BY 1"))
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
    worse = [(line, known) for line, url, known, key in other if address_order(url, key) > address_order(known, key)]
    if not worse:
        return
    execute("CREATE TEMP TABLE stage_kept (line bigint, url text)")
    copy_rows_in("stage_kept", ("line", "url"), worse)
    execute("ANALYZE stage_kept")
    execute("UPDATE stage_page s SET url = k.url FROM stage_kept k WHERE k.line = s.line")
    execute("DROP TABLE stage_kept")


def _insert_pages(project: Project, staged: str, languages_read: bool, seen_at: datetime) -> int:
    read = READ_FROM.replace("p.", "s.").format(body_hash="hashtextextended(s.body, 0)") if languages_read else "NULL"
    values = ", ".join(MAX_COUNT.format("s", name) if name in COUNTS else f"s.{name}" for name in PAGE_COLUMNS)
    return execute(
        f"INSERT INTO linker_page (project_id, {', '.join(PAGE_COLUMNS)}, category_id, status, inlinks, outlinks, "
        f"language_read, first_seen_at, last_seen_at) SELECT %s, {values}, c.id, "
        f"'live', 0, 0, {read}, %s, %s FROM {staged}",
        [project.pk, seen_at, seen_at],
    )


def mark_missing_pages(project: Project, seen_at: datetime) -> int:
    """Marks the pages that the import did not see. Returns how many were live until now."""
    return execute(
        f"UPDATE linker_page p SET missing_since = %s, {KEEP_PLANS} WHERE project_id = %s AND {sql(PRESENT)} "
        "AND last_seen_at < %s",
        [seen_at, project.pk, seen_at],
    )


def merge_vectors(project: Project, column: str, dimensions: int, seen_at: datetime) -> tuple[EmbeddingModel, int]:
    """Stores the staged vectors of `dimensions` under the project's model of that column and length.

    Returns the model and how many vectors were new or changed.
    """
    model = _imported_model(project, f"imported: {column}"[:200], dimensions)
    changed = execute(
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
