"""What a crawl shows of pages that have moved, lead to another, are gone, or are back: told as events of the pages.

Where a page that was known answers with a redirect to an address that the project does not have yet, and the crawl
holds that address as a page, it is the same page at another address: it keeps its row, its suggestions and its history.
So does one whose address is gone, and whose text is at a new address. Where a redirect leads to the address of a page
of its own, the one leads to the other. A redirect that calls itself temporary (302, 303, 307) moves nothing: a site
that wants a login for a night redirects all its pages so, and they come back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin

from ingest.addresses.normalise import AnotherSite, NotAnAddress
from ingest.kinds.sql import execute, fetch
from linker.models import EventOrigin
from linker.models.querysets import ANSWERING, LIVE_STATUS, PRESENT, sql
from linker.pages.identity.record import begin, record
from linker.storage.copy import analyze, copy_in, copy_rows_in
from linker.storage.cursors import stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from ingest.addresses.destinations import Moves
    from ingest.addresses.normalise import Site
    from linker.models import Project, Run

ANSWERS = sql(ANSWERING, "s")
TEXT_THAT_TELLS = 200  # characters
TEMPORARY = "coalesce({}.status_code IN (302, 303, 307), false)"
# Of several pages that lead to one new address, the one that was known first is the page there.
_MOVED = f"""
CREATE TEMP TABLE stage_moved AS
SELECT DISTINCT ON (md5(s.canonical_url)) p.id AS page, s.url, s.canonical_url AS key, e.line AS left_line
FROM stage_end e JOIN stage_page s ON e.is_permanent AND md5(s.canonical_url) = md5(e.key) AND {ANSWERS}
JOIN stage_page old ON old.line = e.line
JOIN linker_page p ON p.project_id = %(project)s AND md5(p.canonical_url) = md5(old.canonical_url)
WHERE ({sql(LIVE_STATUS, "p")} OR p.status = 'redirected' AND p.successor_id IS NULL) AND NOT EXISTS (
    SELECT FROM linker_page k WHERE k.project_id = %(project)s AND md5(k.canonical_url) = md5(s.canonical_url)
) ORDER BY md5(s.canonical_url), p.id
"""
# A page whose address is gone, and that answers where it was before: it has moved back, as after a backup.
_MOVED_BACK = f"""
INSERT INTO stage_moved (page, url, key, left_line)
SELECT DISTINCT ON (p.id) p.id, s.url, s.canonical_url, gone.line
FROM stage_page gone JOIN linker_page p ON p.project_id = %(project)s
    AND md5(p.canonical_url) = md5(gone.canonical_url) AND {sql(LIVE_STATUS, "p")}
JOIN linker_pageaddress a ON a.page_id = p.id
JOIN stage_page s ON md5(s.canonical_url) = md5(a.canonical_url) AND {ANSWERS}
WHERE gone.status_code IN (404, 410) AND NOT EXISTS (
    SELECT FROM linker_page k WHERE k.project_id = %(project)s AND md5(k.canonical_url) = md5(s.canonical_url)
) AND NOT EXISTS (SELECT FROM stage_moved m WHERE m.page = p.id OR m.key = s.canonical_url)
ORDER BY p.id, a.until DESC
"""
# A page whose address is gone, while its title and its text, word for word, are at a new address: it has moved, and
# nobody set up a redirect. Not where two pages say the same, or too little to tell them apart.
_MOVED_SILENTLY = f"""
WITH gone AS MATERIALIZED (
    SELECT p.id, p.title, p.body_hash, s.line
    FROM stage_page s JOIN linker_page p ON p.project_id = %(project)s AND md5(p.canonical_url) = md5(s.canonical_url)
    WHERE s.status_code IN (404, 410) AND {sql(LIVE_STATUS, "p")} AND length(p.body) >= %(enough)s
        AND NOT EXISTS (SELECT FROM stage_moved m WHERE m.page = p.id)
), alike AS (
    SELECT gone.id, gone.line, s.url, s.canonical_url, count(*) OVER (PARTITION BY gone.id) AS there,
        count(*) OVER (PARTITION BY s.canonical_url) AS left_behind
    FROM gone JOIN stage_page s ON hashtextextended(s.body, 0) = gone.body_hash AND s.title = gone.title AND {ANSWERS}
)
INSERT INTO stage_moved (page, url, key, left_line)
SELECT a.id, a.url, a.canonical_url, a.line FROM alike a WHERE a.there = 1 AND a.left_behind = 1 AND NOT EXISTS (
    SELECT FROM linker_page k WHERE k.project_id = %(project)s AND md5(k.canonical_url) = md5(a.canonical_url)
) AND NOT EXISTS (SELECT FROM stage_moved m WHERE m.key = a.canonical_url)
"""
_MOVED_NEWS = """
INSERT INTO page_news (page, kind, old_url, new_url, left_key, at)
SELECT m.page, 'moved', p.url, m.url, p.canonical_url, %(at)s FROM stage_moved m
JOIN linker_page p ON p.id = m.page ORDER BY m.page
"""
_MOVED_STATE = """
INSERT INTO page_state (page, status, since, url, key) SELECT page, 'live', %(at)s, url, key FROM stage_moved
"""
# Rows of addresses that a page had before, which still lead to where it is: no pages of their own.
_FORMER = """
DELETE FROM stage_page s USING stage_end e, linker_pageaddress a, linker_page p
WHERE s.line = e.line AND a.project_id = %(project)s AND md5(a.canonical_url) = md5(s.canonical_url)
    AND p.id = a.page_id AND md5(p.canonical_url) = md5(e.key)
"""
# Nor are those that are gone.
_FORMER_AND_GONE = """
DELETE FROM stage_page s USING linker_pageaddress a WHERE a.project_id = %(project)s
    AND md5(a.canonical_url) = md5(s.canonical_url) AND s.status_code IN (404, 410) AND NOT EXISTS (
        SELECT FROM linker_page k WHERE k.project_id = %(project)s AND md5(k.canonical_url) = md5(s.canonical_url)
    )
"""
# What a file that is no crawl says of an address that a page had before, it says of the page.
_NAMED_BEFORE = """
UPDATE stage_page s SET canonical_url = p.canonical_url FROM linker_pageaddress a JOIN linker_page p ON p.id = a.page_id
WHERE a.project_id = %(project)s AND md5(a.canonical_url) = md5(s.canonical_url) AND NOT EXISTS (
    SELECT FROM linker_page k WHERE k.project_id = %(project)s AND md5(k.canonical_url) = md5(s.canonical_url)
) AND NOT EXISTS (SELECT FROM stage_page own WHERE md5(own.canonical_url) = md5(p.canonical_url))
"""
# Pages that were themselves until now, and name another as their canonical.
_NAMING = f"""
CREATE TEMP TABLE stage_naming AS
SELECT p.id FROM stage_page s JOIN linker_page p ON p.project_id = %s AND md5(p.canonical_url) = md5(s.canonical_url)
WHERE {sql(LIVE_STATUS, "p")} AND p.indexable AND p.canonical_link IN ('', p.url, p.canonical_url)
    AND NOT s.indexable AND s.redirect_url = '' AND s.canonical_link NOT IN ('', s.url, s.canonical_url)
"""
_SEEN = "p.project_id = %(project)s AND p.last_seen_at = %(at)s AND " + sql(PRESENT, "p")
# What each page of the crawl is now, where that is news. A page that redirects to an address that the project does not
# have, or for a time, leads nowhere that is known; one that redirects in a circle stays what it was.
_STATES = f"""
INSERT INTO page_state (page, status, successor, since)
SELECT id, kind, CASE WHEN kind IN ('redirected', 'merged') AND NOT is_temporary THEN leads_to END, %(at)s FROM (
    SELECT p.id, p.status, p.successor_id, m.leads_to, {TEMPORARY.format("p")} AS is_temporary, CASE
        WHEN p.redirect_url <> '' AND m.page IS NOT NULL AND {TEMPORARY.format("p")}
            THEN CASE WHEN {sql(LIVE_STATUS, "p")} THEN 'redirected' END
        WHEN p.redirect_url <> '' AND m.leads_to IS NOT NULL
            AND NOT (p.status IN ('redirected', 'merged') AND p.successor_id = m.leads_to) THEN 'redirected'
        WHEN p.redirect_url <> '' AND m.leads_to IS NULL AND m.page IS NOT NULL
            AND NOT (p.status = 'redirected' AND p.successor_id IS NULL) THEN 'redirected'
        WHEN p.redirect_url <> '' THEN NULL
        WHEN p.status_code IN (404, 410) AND {sql(LIVE_STATUS, "p")} THEN 'removed'
        WHEN m.leads_to IS NOT NULL AND n.id IS NOT NULL THEN 'merged'
        WHEN NOT {sql(LIVE_STATUS, "p")} AND p.status_code = 200 AND %(answers)s
            AND NOT (p.status = 'merged' AND coalesce(m.leads_to = p.successor_id, false)
                AND p.canonical_link NOT IN ('', p.url, p.canonical_url)) THEN 'live'
        END AS kind
    FROM linker_page p LEFT JOIN stage_lead m ON m.page = p.id LEFT JOIN stage_naming n ON n.id = p.id WHERE {_SEEN}
        AND (m.page IS NOT NULL OR p.status_code IN (404, 410) OR NOT {sql(LIVE_STATUS, "p")})
) judged WHERE kind IS NOT NULL
"""
_NEWS = """
INSERT INTO page_news (page, kind, other, old_url, new_url, at)
SELECT s.page, CASE s.status WHEN 'live' THEN 'restored' ELSE s.status END, s.successor, p.url,
    CASE WHEN s.status = 'redirected' THEN coalesce(n.url, p.redirect_url) ELSE coalesce(n.url, '') END, s.since
FROM page_state s JOIN linker_page p ON p.id = s.page LEFT JOIN linker_page n ON n.id = s.successor ORDER BY s.page
"""
# Of these, those of pages that nobody knew before this crawl.
_OF_NEW = """
SELECT n.kind, count(*) FROM page_news n JOIN linker_page p ON p.id = n.page WHERE p.first_seen_at = %(at)s GROUP BY 1
"""
# An address that is a page of its own again is no longer another's.
_OWN_AGAIN = """
DELETE FROM linker_pageaddress a USING linker_page p WHERE a.project_id = %s AND p.project_id = a.project_id
    AND md5(p.canonical_url) = md5(a.canonical_url)
"""


def move_pages(project: Project, site: Site, at: datetime, run: Run | None) -> tuple[int, int]:
    """Before the staged pages of a crawl are merged: gives pages that have moved their new addresses, and takes rows of
    addresses that they had out of the stage. Returns how many moved, and how many such rows there were."""
    execute("CREATE TEMP TABLE stage_end (line bigint, key text, is_permanent boolean)")
    copy_rows_in("stage_end", ("line", "key", "is_permanent"), _ends(site, _redirects()))
    execute("CREATE INDEX ON stage_end (line); ANALYZE stage_end")
    values = {"project": project.pk, "at": at, "enough": TEXT_THAT_TELLS}
    execute(_MOVED, values)
    execute(_MOVED_BACK, values)
    execute(_MOVED_SILENTLY, values)
    begin()
    execute(_MOVED_NEWS, values)
    execute(_MOVED_STATE, values)
    moved = record(project, EventOrigin.CRAWL, run=run).get("moved", 0)
    former = execute(_FORMER, values) + execute(_FORMER_AND_GONE, values)
    execute("DROP TABLE stage_end, stage_moved")
    return moved, former


def name_by_new_addresses(project: Project) -> None:
    """Before the staged rows of a file that is no crawl are looked at: those of former addresses are of their pages."""
    execute(_NAMED_BEFORE, {"project": project.pk})


def _redirects() -> Iterable[tuple[int, str, str, str, bool]]:
    """Line, address, key and destination of the staged rows that redirect, and whether they do so for a time."""
    return stream(
        "redirects",
        f"SELECT line, url, canonical_url, redirect_url, {TEMPORARY.format('s')} FROM stage_page s "
        "WHERE redirect_url <> ''",
        [],
    )


def circling(site: Site) -> list[int]:
    """The lines of the staged rows whose redirects go in a circle."""
    steps, lines = _read_steps(site, _redirects())
    return [line for line, key in lines if _end(steps, key) is None]


def _ends(site: Site, redirects: Iterable[tuple[int, str, str, str, bool]]) -> list[tuple[int, str, bool]]:
    """Line and the key at which each redirect ends, past others, and whether each step is for good; without those that
    go in a circle."""
    steps, lines = _read_steps(site, redirects)
    ends = ((line, _end(steps, key)) for line, key in lines)
    return [(line, *end) for line, end in ends if end is not None]


def _read_steps(
    site: Site, redirects: Iterable[tuple[int, str, str, str, bool]]
) -> tuple[dict[str, tuple[str, bool]], list[tuple[int, str]]]:
    """By key, where it leads and whether for a time; and line and key of each that leads on within the site."""
    steps: dict[str, tuple[str, bool]] = {}
    lines: list[tuple[int, str]] = []
    for line, url, key, destination, is_temporary in redirects:
        try:
            steps[key] = site.canonical_url(urljoin(url, destination.strip())), is_temporary
        except (NotAnAddress, AnotherSite, ValueError):
            continue
        lines.append((line, key))
    return steps, lines


def _end(steps: Mapping[str, tuple[str, bool]], key: str) -> tuple[str, bool] | None:
    seen, is_permanent = set(), True
    while key in steps:
        if key in seen:
            return None
        seen.add(key)
        key, is_temporary = steps[key]
        is_permanent &= not is_temporary
    return key, is_permanent


def note_naming(project: Project) -> None:
    """Before the stage is merged: which pages begin to name another as their canonical."""
    execute(_NAMING, [project.pk])


def tell(project: Project, moves: Moves, at: datetime, run: Run | None, *, answers: bool) -> dict[str, int]:
    """After a crawl was merged: what became of the pages that it holds, as events. `answers`: whether it says how they
    answered. Returns how many there were of each kind, without pages that were not known before: one that is first seen
    as a 404 was never removed."""
    execute("CREATE TEMP TABLE stage_lead (page bigint PRIMARY KEY, leads_to bigint)")
    copy_in("stage_lead", [("page", ">i8", moves.page), ("leads_to", ">i8", moves.end)])
    copy_rows_in("stage_lead", ("page",), ((page,) for page in moves.lost.tolist()))
    analyze("stage_lead")
    begin()
    values = {"project": project.pk, "at": at, "answers": answers}
    execute(_STATES, values)
    execute(_NEWS, values)
    told = record(project, EventOrigin.CRAWL, run=run)
    for kind, found in fetch(_OF_NEW, values):
        told[kind] -= found
    execute("DROP TABLE stage_lead, stage_naming")
    if fetch("SELECT FROM linker_pageaddress WHERE project_id = %s LIMIT 1", [project.pk]):
        execute(_OWN_AGAIN, [project.pk])
    return {kind: found for kind, found in told.items() if found}
