"""Links that are out and whose pages have other addresses by now: the next release changes them.

Where a page was merged, redirected or has moved, its released links still name the address that they were released
with. It is kept with each (PublishedLink.donor_was, acceptor_was) until a release says the new one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection, transaction

from linker.storage.locks import lock_project

if TYPE_CHECKING:
    from linker.models import Project

# Of what linker.pages.identity.edges has just moved.
_KEEP = """
UPDATE review_publishedlink o SET
    donor_was = CASE WHEN o.donor_was = '' AND m.source_before <> m.source_after THEN s.url ELSE o.donor_was END,
    acceptor_was = CASE WHEN o.acceptor_was = '' AND m.target_before <> m.target_after THEN t.url
        ELSE o.acceptor_was END
FROM edge_moved m JOIN linker_page s ON s.id = m.source_before JOIN linker_page t ON t.id = m.target_before
WHERE o.edge_id = m.id AND o.is_out
    AND (m.source_before <> m.source_after OR m.target_before <> m.target_after)
"""
# Of links that follow their pages back: those that are out with the addresses of these are out as they should be.
_AS_BEFORE = """
UPDATE review_publishedlink o SET donor_was = CASE WHEN o.donor_was = s.url THEN '' ELSE o.donor_was END,
    acceptor_was = CASE WHEN o.acceptor_was = t.url THEN '' ELSE o.acceptor_was END
FROM edge_moved m JOIN linker_page s ON s.id = m.source_after JOIN linker_page t ON t.id = m.target_after
WHERE o.edge_id = m.id AND o.is_out AND m.reason = 'back'
"""
_TAKE_BACK = """
DELETE FROM review_pending a USING edge_moved m JOIN review_publishedlink o ON o.edge_id = m.id
WHERE a.edge_id = m.id AND m.reason = 'back' AND o.donor_was = '' AND o.acceptor_was = ''
    AND a.operation = 'change' AND a.decision_id IS NULL
"""
# The same of links whose pages have moved back themselves.
_HOME_AGAIN = """
WITH home AS (
    UPDATE review_publishedlink o SET donor_was = CASE WHEN o.donor_was = s.url THEN '' ELSE o.donor_was END,
        acceptor_was = CASE WHEN o.acceptor_was = t.url THEN '' ELSE o.acceptor_was END
    FROM linker_candidateedge e JOIN linker_page s ON s.id = e.source_id JOIN linker_page t ON t.id = e.target_id
    WHERE o.edge_id = e.id AND o.project_id = %(project)s AND o.is_out AND (o.donor_was <> '' OR o.acceptor_was <> '')
        AND (o.donor_was = s.url OR o.acceptor_was = t.url)
    RETURNING o.edge_id, o.donor_was = '' AND o.acceptor_was = '' AS is_home
)
DELETE FROM review_pending a USING home
WHERE home.is_home AND a.edge_id = home.edge_id AND a.operation = 'change' AND a.decision_id IS NULL
"""
# Where a page has moved itself: the address that it had when the link was released, unless it is there again. The
# edges of a page that moved are found from each side by its index: asked for both at once, each address would meet
# each edge.
_BEHIND = """
SELECT o.edge_id, coalesce(s.url, '') AS donor_was, coalesce(t.url, '') AS acceptor_was
FROM (
    SELECT e.id, moved.until FROM linker_pageaddress moved JOIN linker_candidateedge e ON e.source_id = moved.page_id
    WHERE moved.project_id = %(project)s
    UNION
    SELECT e.id, moved.until FROM linker_pageaddress moved JOIN linker_candidateedge e ON e.target_id = moved.page_id
    WHERE moved.project_id = %(project)s
) moved JOIN linker_candidateedge e ON e.id = moved.id
JOIN review_publishedlink o ON o.edge_id = e.id AND o.is_out AND moved.until > o.released_at
JOIN linker_page donor ON donor.id = e.source_id JOIN linker_page acceptor ON acceptor.id = e.target_id
LEFT JOIN LATERAL (
    SELECT v.old_url AS url FROM linker_pageevent v
    WHERE v.page_id = e.source_id AND v.kind = 'moved' AND v.at > o.released_at ORDER BY v.at LIMIT 1
) s ON o.donor_was = '' AND s.url <> donor.url
LEFT JOIN LATERAL (
    SELECT v.old_url AS url FROM linker_pageevent v
    WHERE v.page_id = e.target_id AND v.kind = 'moved' AND v.at > o.released_at ORDER BY v.at LIMIT 1
) t ON o.acceptor_was = '' AND t.url <> acceptor.url
WHERE s.url IS NOT NULL OR t.url IS NOT NULL
GROUP BY 1, 2, 3
"""
_READDRESS = f"""
WITH behind AS ({_BEHIND}), noted AS (
    INSERT INTO linker_edgemove (project_id, edge_id, at, reason, source_before, target_before, source_after,
        target_after, status_before, status_after, closed, run)
    SELECT %(project)s, e.id, now(), 'address', e.source_id, e.target_id, e.source_id, e.target_id, e.status, e.status,
        false, e.run_id FROM behind b JOIN linker_candidateedge e ON e.id = b.edge_id ORDER BY e.id
)
UPDATE review_publishedlink o SET donor_was = coalesce(nullif(o.donor_was, ''), b.donor_was),
    acceptor_was = coalesce(nullif(o.acceptor_was, ''), b.acceptor_was)
FROM behind b WHERE b.edge_id = o.edge_id
"""
_ASK = """
INSERT INTO review_pending (edge_id, project_id, operation)
SELECT o.edge_id, o.project_id, 'change' FROM review_publishedlink o JOIN linker_candidateedge e ON e.id = o.edge_id
WHERE o.project_id = %(project)s AND o.is_out AND (o.donor_was <> '' OR o.acceptor_was <> '')
    AND e.status = 'exported' ORDER BY 1
ON CONFLICT DO NOTHING
"""


def follow(project: Project) -> None:
    """Keeps the addresses that the links of `edge_moved` were released with, and has the next release change them."""
    _execute(_KEEP, project)
    if _execute(_AS_BEFORE, project):
        _execute(_TAKE_BACK, project)
    ask(project)


def readdress(project: Project) -> None:
    """The same for links whose pages have moved, and are still the same pages."""
    with transaction.atomic():
        lock_project(project.pk)
        _execute(_HOME_AGAIN, project)
        if _execute(_READDRESS, project):
            ask(project)


def ask(project: Project) -> None:
    """Has the next release change each link that is out under another address, unless something is asked for it
    already."""
    _execute(_ASK, project)


def _execute(statement: str, project: Project) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, {"project": project.pk})
        return cursor.rowcount
