"""What is out: the sum of the operations of all releases, kept as they are published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.storage.slices import in_slices

if TYPE_CHECKING:
    from review.models import Release

# A removal of what the site does not show is done; any other is for the developers to do.
_STATE = """
CASE WHEN l.operation <> 'remove' THEN 'sent'
    WHEN p.state IN ('missing', 'lost', 'target', 'donor', 'removed') THEN 'removed' ELSE 'still' END
"""
_TELL = f"""
INSERT INTO review_linkevent (project_id, edge_id, at, before, after, release_id, seen_anchor, note)
SELECT r.project_id, l.edge_id, r.created_at, coalesce(p.state, ''), {_STATE}, r.id, '', ''
FROM review_releaselink l JOIN review_release r ON r.id = l.release_id
LEFT JOIN review_publishedlink p ON p.edge_id = l.edge_id
WHERE l.release_id = %(release)s AND l.edge_id > %(after)s AND l.edge_id <= %(last)s ORDER BY l.edge_id
"""
_ADD_UP = f"""
INSERT INTO review_publishedlink (edge_id, project_id, release_id, is_out, anchor, rel, released_at, state, since,
    seen_anchor, closed_note)
SELECT l.edge_id, r.project_id, r.id, l.operation <> 'remove', l.anchor, l.rel, r.created_at, {_STATE}, r.created_at,
    '', ''
FROM review_releaselink l JOIN review_release r ON r.id = l.release_id
LEFT JOIN review_publishedlink p ON p.edge_id = l.edge_id
WHERE l.release_id = %(release)s AND l.edge_id > %(after)s AND l.edge_id <= %(last)s ORDER BY l.edge_id
ON CONFLICT (edge_id) DO UPDATE SET release_id = excluded.release_id, is_out = excluded.is_out,
    anchor = excluded.anchor, rel = excluded.rel, released_at = excluded.released_at, state = excluded.state,
    since = excluded.since, closed_at = NULL, closed_by_id = NULL, closed_note = '', donor_was = '',
    acceptor_was = ''
"""


def add_up(release: Release) -> None:
    """Adds the operations of a release, whose rows are written, to what is out, and tells of it in each link's life."""
    rows = f"(SELECT edge_id FROM review_releaselink WHERE release_id = {int(release.pk)}) named"
    for statement in (_TELL, _ADD_UP):
        in_slices(statement, {"release": release.pk}, rows, "edge_id")
