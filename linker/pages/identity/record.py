"""What happened to pages, written down: events, states, addresses, and numbers that go along. One transaction.

Whoever knows what happened fills two temporary tables, by COPY or by a query: `page_news` with the events in their
order, `page_state` with what each page is after the last of them. A page that moved has its new address there.

    page_news  (place, page, kind, other, old_url, new_url, left_key, at)
    page_state (page, status, successor, since, url, key)

`left_key` is the key of the address that a page moves away from; a page may move several times.

Suggestions follow once that is committed: linker.pages.identity.edges.
"""

from __future__ import annotations

from hashlib import md5
from typing import TYPE_CHECKING

from django.db import connection

from linker.pages.identity import numbers
from linker.storage.copy import analyze
from linker.storage.page_writes import KEEP_PLANS

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

    from linker.models import EventOrigin, Project, Run

NEWS = ("page", "kind", "other", "old_url", "new_url", "left_key", "at")
STATE = ("page", "status", "successor", "since", "url", "key")
_TABLES = """
DROP TABLE IF EXISTS page_news, page_state;
CREATE TEMP TABLE page_news (place bigint GENERATED ALWAYS AS IDENTITY, page bigint, kind text, other bigint,
    old_url text, new_url text DEFAULT '', left_key text, at timestamptz) ON COMMIT DROP;
CREATE TEMP TABLE page_state (page bigint PRIMARY KEY, status text, successor bigint, since timestamptz, url text,
    key text, event bigint) ON COMMIT DROP;
"""
_TOLD = """
WITH told AS (
    INSERT INTO linker_pageevent (project_id, page_id, kind, other_id, old_url, new_url, at, told_at, origin, run_id,
        user_id)
    SELECT %(project)s, page, kind, other, old_url, new_url, at, now(), %(origin)s, %(run)s, %(user)s
    FROM page_news ORDER BY place ON CONFLICT (page_id, at, kind, md5(new_url)) DO NOTHING RETURNING kind
)
SELECT kind, count(*) FROM told GROUP BY 1
"""
_NEWEST = """
UPDATE page_state s SET event = e.id FROM (
    SELECT DISTINCT ON (e.page_id) e.page_id, e.id FROM linker_pageevent e JOIN page_state s ON s.page = e.page_id
    ORDER BY e.page_id, e.id DESC
) e WHERE e.page_id = s.page
"""
# The addresses that pages moved away from, the newest owner of each; an address that a page has again is its own once
# more, and one that another page takes over is that page's.
_LEFT = """
INSERT INTO linker_pageaddress AS a (project_id, page_id, url, canonical_url, until)
SELECT DISTINCT ON (md5(left_key)) %(project)s::bigint, page, old_url, left_key, at FROM page_news
WHERE left_key IS NOT NULL ORDER BY md5(left_key), place DESC
ON CONFLICT (project_id, md5(canonical_url))
DO UPDATE SET page_id = excluded.page_id, url = excluded.url, until = excluded.until
"""
_TAKEN = """
DELETE FROM linker_pageaddress a USING page_state s
WHERE a.project_id = %(project)s AND md5(a.canonical_url) = md5(s.key)
"""
# Where pages change places, each leaves its address before another comes: no two may have one, not even for a moment.
_MAKE_ROOM = f"""
UPDATE linker_page p SET canonical_url = '#' || p.id, {KEEP_PLANS} FROM page_state s, page_state o
WHERE p.id = s.page AND s.key IS NOT NULL AND o.key = p.canonical_url AND o.page <> p.id
"""
_STATES = f"""
UPDATE linker_page p SET status = s.status, successor_id = s.successor, state_since = s.since,
    url = coalesce(s.url, p.url), canonical_url = coalesce(s.key, p.canonical_url), {KEEP_PLANS}
FROM page_state s WHERE p.id = s.page AND p.project_id = %(project)s
"""
# Whatever led to a page that leads on, leads there as well: no chain is longer than one step.
_CHAINS = f"""
UPDATE linker_page p SET successor_id = s.successor, {KEEP_PLANS} FROM page_state s
WHERE p.successor_id = s.page AND s.successor IS NOT NULL AND p.id <> s.successor
"""


def digest(text: str) -> str:
    """What PostgreSQL's md5 makes of a text, which indexes of addresses hold."""
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def begin() -> None:
    """Makes the two tables, empty."""
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)


def record(
    project: Project, origin: EventOrigin, *, run: Run | None = None, user: AbstractBaseUser | None = None
) -> dict[str, int]:
    """Writes down what the two tables hold; returns how many events of each kind were new.

    For use within a transaction; whoever calls this calls linker.pages.identity.edges.settle after the commit.
    """
    analyze("page_news", "page_state")
    values = {
        "project": project.pk,
        "origin": origin.value,
        "run": run.pk if run is not None else None,
        "user": user.pk if user is not None else None,
    }
    with connection.cursor() as cursor:
        cursor.execute(_TOLD, values)
        told = dict(cursor.fetchall())
        cursor.execute("SELECT EXISTS (SELECT FROM page_state)")
        if not cursor.fetchone()[0]:
            return told
        for statement in (_NEWEST, _LEFT, _TAKEN, _MAKE_ROOM, _STATES, _CHAINS):
            cursor.execute(statement, values)
    numbers.follow(project)
    return told
