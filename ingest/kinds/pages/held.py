"""Which pages a source holds: a fetch says that these are gone, and nothing of pages that came by another way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.kinds.sql import execute, fetch_number
from linker.models.querysets import ANSWERING, PRESENT, sql
from linker.storage.page_writes import KEEP_PLANS
from linker.storage.references import IdsIn, lock_references

if TYPE_CHECKING:
    from datetime import datetime

    from linker.models import Project

HELD = "SELECT page_id FROM ingest_sourcepage WHERE source_id = %(source)s"
_BY_OTHERS = (
    "SELECT FROM ingest_sourcepage other JOIN ingest_sitesource s ON s.id = other.source_id "
    "WHERE other.page_id = p.id AND other.source_id <> %(source)s AND s.removed_at IS NULL"
)


def count_held(source: int) -> int:
    """Pages that a source holds, that are not missing, and that answer."""
    return fetch_number(
        "SELECT count(*) FROM ingest_sourcepage h JOIN linker_page p ON p.id = h.page_id "
        f"WHERE h.source_id = %s AND {sql(PRESENT, 'p')} AND {sql(ANSWERING, 'p')}",
        [source],
    )


def note_held(project: Project, source: int, seen_at: datetime) -> None:
    """After the pages of a fetch were merged: the source holds them."""
    execute(
        "CREATE TEMP TABLE stage_held AS SELECT p.id FROM linker_page p WHERE p.project_id = %(project)s "
        f"AND p.last_seen_at = %(at)s AND p.id NOT IN ({HELD})",
        {"project": project.pk, "at": seen_at, "source": source},
    )
    with lock_references({"ingest_sitesource": [source], "linker_page": IdsIn("stage_held", "id")}):
        execute("INSERT INTO ingest_sourcepage (source_id, page_id) SELECT %s, id FROM stage_held", [source])
    execute("DROP TABLE stage_held")


def mark_missing_held(source: int, seen_at: datetime) -> int:
    """After a fetch that saw all that there is of its source: marks what it held before and did not see, unless another
    source holds it, and takes it off what it holds. Returns how many pages were live until now."""
    values = {"source": source, "at": seen_at}
    unseen = f"p.id IN ({HELD}) AND p.last_seen_at < %(at)s"
    marked = execute(
        f"UPDATE linker_page p SET missing_since = %(at)s, {KEEP_PLANS} WHERE {unseen} AND {sql(PRESENT, 'p')} "
        f"AND NOT EXISTS ({_BY_OTHERS})",
        values,
    )
    execute(
        "DELETE FROM ingest_sourcepage h USING linker_page p WHERE h.source_id = %(source)s AND p.id = h.page_id "
        "AND p.last_seen_at < %(at)s",
        values,
    )
    return marked
