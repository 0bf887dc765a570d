"""Looking for released links on the site, as the newest import of links shows it.

A link is looked for on the donor's page and on the page at which the donor ends, and counts for the acceptor and for
the page at which that ends (Page.leads_to: past redirects and canonicals). One that stands there has moved as long as
it is out under an address that its acceptor had before. One whose acceptor is gone, or answers with an error, leads
nowhere, though it stands there. It has to stand where it was asked for: a link in the
navigation does not confirm one in the text. Of several, the one nearest to what was asked for counts.

One statement looks for all links of a project, and a few write what is new, a slice after the other, so that a million
take no memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from linker.matching.words_gone import alike
from linker.models import Block, EdgeStatus, Project, Rel
from linker.models.linked import LIVE_IN
from linker.models.querysets import LIVE, LIVE_STATUS, NOT_INDEXABLE, PRESENT, UNDECIDED, sql
from linker.runs import lifecycle
from linker.storage.copy import analyze
from linker.storage.cursors import batches, stream
from linker.storage.locks import lock_edges, lock_project, lock_rows
from linker.storage.slices import in_slices
from review.live.counts import recount
from review.live.report import VerifyReport
from review.models import LiveState

if TYPE_CHECKING:
    from linker.models import Run
    from linker.runs.lifecycle import Progress

STEPS = 4
AT_A_TIME = 50_000  # links that are reopened by one statement

# Where a crawl does not say in which block a link stands, it is taken for the one that was asked for.
_BLOCKS = {placement: sorted({*blocks, Block.UNKNOWN}) for placement, blocks in LIVE_IN.items()}
_IN_PLACE = " OR ".join(
    f"e.placement = '{placement}' AND l.block IN ({', '.join(str(int(block)) for block in blocks)})"
    for placement, blocks in _BLOCKS.items()
)


def _gone(page: str) -> str:
    """SQL: whether nobody who follows a link to the page arrives anywhere. A page that leads elsewhere is not gone."""
    return f"({page}.leads_to_id IS NULL AND (NOT ({sql(LIVE, page)}) OR coalesce({page}.status_code, 200) >= 400))"


# What stands on the site for each link: its words and whether search engines are to follow it, NULL where nothing does.
_FOUND = f"""
CREATE TEMP TABLE looked ON COMMIT DROP AS
SELECT p.edge_id AS edge, p.state AS before, p.first_live_at IS NOT NULL AS was_live, p.is_out, there.anchor,
    there.follow, there.is_same,
    t.leads_to_id IS NOT NULL OR p.acceptor_was <> '' AS moved, {_gone("s")} AS donor_gone,
    {_gone("t")} AS target_gone, {sql(NOT_INDEXABLE, "t")} AS not_indexable
FROM review_publishedlink p
JOIN linker_candidateedge e ON e.id = p.edge_id
JOIN linker_page s ON s.id = e.source_id JOIN linker_page t ON t.id = e.target_id
LEFT JOIN LATERAL (
    SELECT l.anchor, l.follow, {alike("l.anchor")} = {alike("p.anchor")} AND l.follow = (p.rel = %(follow)s) AS is_same
    FROM linker_existinglink l
    WHERE l.source_id IN (e.source_id, s.leads_to_id) AND l.target_id IN (e.target_id, t.leads_to_id)
        AND {sql(PRESENT, "l")} AND ({_IN_PLACE})
    ORDER BY {alike("l.anchor")} = {alike("p.anchor")} DESC, l.follow = (p.rel = %(follow)s) DESC, l.id LIMIT 1
) there ON true
WHERE p.project_id = %(project)s AND NOT (NOT p.is_out AND p.state = 'removed' AND there.follow IS NULL)
"""
_JUDGED = """
ALTER TABLE looked ADD after text;
UPDATE looked SET after = CASE
    WHEN NOT is_out THEN CASE WHEN follow IS NULL THEN 'removed' ELSE 'still' END
    WHEN follow IS NOT NULL THEN CASE WHEN target_gone THEN 'dead' WHEN moved THEN 'moved'
        WHEN not_indexable THEN 'noindex' WHEN is_same THEN 'live' ELSE 'different' END
    WHEN donor_gone THEN 'donor' WHEN target_gone THEN 'target'
    WHEN was_live THEN 'lost' ELSE 'missing' END
"""
_TOLD = """
INSERT INTO review_linkevent (project_id, edge_id, at, before, after, run_id, seen_anchor, note)
SELECT %(project)s, edge, %(now)s, before, after, %(run)s, coalesce(anchor, ''), '' FROM looked
WHERE before <> after AND edge > %(after)s AND edge <= %(last)s ORDER BY edge
"""
_WRITTEN = """
UPDATE review_publishedlink p SET state = l.after, looked_at = %(now)s, seen_anchor = coalesce(l.anchor, ''),
    seen_follow = l.follow, since = CASE WHEN l.before = l.after THEN p.since ELSE %(now)s END,
    first_live_at = CASE WHEN l.follow IS NOT NULL AND l.is_out THEN coalesce(p.first_live_at, %(now)s)
        ELSE p.first_live_at END,
    closed_at = CASE WHEN l.before = l.after THEN p.closed_at END,
    closed_by_id = CASE WHEN l.before = l.after THEN p.closed_by_id END,
    closed_note = CASE WHEN l.before = l.after THEN p.closed_note ELSE '' END
FROM looked l WHERE l.edge = p.edge_id AND l.edge > %(after)s AND l.edge <= %(last)s
    AND p.edge_id > %(after)s AND p.edge_id <= %(last)s
"""
# A link that was live and has gone is for an editor to decide on again, unless somebody asked for a change or its
# removal already, or one of its pages is no page any more; one that is back is what it was.
_REOPENED = f"""
UPDATE linker_candidateedge e SET status = %(open)s, stale = false, regressed = true, updated_at = %(now)s
FROM (
    SELECT e.id FROM linker_candidateedge e
        JOIN linker_page s ON s.id = e.source_id JOIN linker_page t ON t.id = e.target_id
    WHERE e.id = ANY(%(lost)s::bigint[]) AND e.status = 'exported'
        AND {sql(LIVE_STATUS, "s")} AND {sql(LIVE_STATUS, "t")}
        AND NOT EXISTS (SELECT FROM review_pending a WHERE a.edge_id = e.id AND a.decision_id IS NOT NULL)
    ORDER BY e.id FOR NO KEY UPDATE OF e
) lost WHERE lost.id = e.id
"""
_LOST = "SELECT edge FROM looked WHERE after = 'lost' AND before <> 'lost' ORDER BY edge"
_LOST_OR_BACK = f"""
    SELECT edge FROM looked WHERE after = 'lost' AND before <> 'lost'
    UNION SELECT l.edge FROM looked l JOIN linker_candidateedge b ON b.id = l.edge
    WHERE l.after = 'live' AND b.regressed AND {sql(UNDECIDED, "b")}
"""
_BACK = f"""
UPDATE linker_candidateedge e SET status = 'exported', regressed = false, updated_at = %(now)s
FROM (
    SELECT e.id FROM linker_candidateedge e JOIN looked l ON l.edge = e.id
    WHERE l.edge > %(after)s AND l.edge <= %(last)s AND e.id > %(after)s AND e.id <= %(last)s
        AND l.after = 'live' AND e.regressed AND {sql(UNDECIDED, "e")}
    ORDER BY e.id FOR NO KEY UPDATE OF e
) back WHERE back.id = e.id
"""


def run_verify(run: Run, progress: Progress = lifecycle.no_progress) -> VerifyReport:
    """Looks for the project's released links. The states, the log and the run's end are written together or not at all;
    a second time finds nothing new."""
    with transaction.atomic():
        report = verify(run.project, run=run, progress=progress)
        lifecycle.succeed(run.pk, report)
    return report


@transaction.atomic
def verify(project: Project, *, run: Run | None = None, progress: Progress = lifecycle.no_progress) -> VerifyReport:
    """Looks for each released link of the project among the links of its newest import, and writes down what is there.

    Waits for releases of the project, as they wait for one another.
    """
    lock_project(project.pk)
    values: dict[str, Any] = {"project": project.pk, "follow": Rel.FOLLOW.value, "now": timezone.now()}
    values["open"] = EdgeStatus.SUGGESTED.value
    values["run"] = None if run is None else run.pk
    progress(0, STEPS, _("Looking for the links"))
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS looked")
        cursor.execute(_FOUND, values)
        cursor.execute(_JUDGED)
        # Statistics lag behind a large release: however the planner joins the edges, none is compared with each link.
        cursor.execute("CREATE UNIQUE INDEX ON looked (edge)")
    analyze("looked")
    # Suggestions before what hangs on them, as those who reopen links lock them.
    lock_edges(project.pk, f"e.id IN ({_LOST_OR_BACK})")
    lock_rows("review_publishedlink p", "p.edge_id IN (SELECT edge FROM looked)", "p.edge_id", {})
    progress(1, STEPS, _("Writing down what has changed"))
    changed = in_slices(_TOLD, values, "looked", "edge")
    looked = in_slices(_WRITTEN, values, "looked", "edge")
    progress(3, STEPS, _("Reopening what was lost"))
    reopened = _reopen(values)
    in_slices(_BACK, values, "looked", "edge")
    with connection.cursor() as cursor:
        cursor.execute("SELECT after, count(*) FROM looked GROUP BY 1")
        states = {LiveState(state): links for state, links in cursor.fetchall()}
    recount(project)
    progress(4, STEPS, _("Done"))
    return VerifyReport(looked_for=looked, changed=changed, reopened=reopened, states=states)


def _reopen(values: dict[str, Any]) -> int:
    """Reopens what was lost just now; returns how many. By ids: the statistics of what was released just now are old,
    and a planner that expects no released edge joins each of them with each link that was looked for."""
    reopened = 0
    with connection.cursor() as cursor:
        for some in batches(stream("lost", _LOST, []), AT_A_TIME):
            cursor.execute(_REOPENED, values | {"lost": [edge for (edge,) in some]})
            reopened += cursor.rowcount
    return reopened
