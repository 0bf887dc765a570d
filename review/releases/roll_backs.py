"""Rolling back: what was released after a release is undone, link by link, by the release that follows.

Only links that were named in between are looked at, however many are out.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from django.db import connection

from linker.models import CandidateEdge, EdgeStatus, Rel
from linker.models.edge_columns import SEEN_COLUMNS
from linker.runs import lifecycle
from linker.storage.copy import analyze
from linker.storage.references import IdsIn, lock_references
from linker.storage.slices import in_slices
from review.decisions import decision_on, with_outcome, write_decisions, write_edges
from review.link_places import DonorTexts, make_accepted, where_of
from review.models import Decision, DraftLink, Operation, Verb, Where
from review.queue.notes import ROLLED_BACK
from review.releases import checks, outgoing, pairs
from review.rulings import Ruling

if TYPE_CHECKING:
    from uuid import UUID

    from django.contrib.auth.models import User

    from linker.models import Project
    from linker.runs.lifecycle import Progress
    from review.models import Release, ReleaseDraft

AT_A_TIME = 500

# How each link stood after a release: the last row that named it until then. One that none named was not out.
STATE_AT = """
LEFT JOIN LATERAL (
    SELECT l.anchor, l.rel FROM (
        SELECT l.anchor, l.rel, l.operation FROM review_releaselink l
        WHERE l.edge_id = {edge} AND l.release_id <= {release} ORDER BY l.id DESC LIMIT 1
    ) l WHERE l.operation <> 'remove'
) {name} ON true
"""
_NAMED = """
CREATE TEMP TABLE named ON COMMIT DROP AS
SELECT DISTINCT l.edge_id AS edge FROM review_releaselink l JOIN review_release r ON r.id = l.release_id
WHERE r.project_id = %(project)s AND r.id > %(release)s
"""
_COLLECT = f"""
INSERT INTO review_draftlink (draft_id, edge_id, operation, anchor, rel, anchor_out, rel_out, reason, detail)
SELECT %(draft)s, t.edge,
    CASE WHEN a.rel IS NULL THEN 'remove' WHEN p.is_out THEN 'change' ELSE 'add' END,
    coalesce(a.anchor, p.anchor), coalesce(a.rel, p.rel), CASE WHEN p.is_out THEN p.anchor ELSE '' END,
    CASE WHEN p.is_out THEN p.rel ELSE '' END, '', ''
FROM named t JOIN review_publishedlink p ON p.edge_id = t.edge
{STATE_AT.format(edge="t.edge", release="%(release)s", name="a")}
WHERE t.edge > %(after)s AND t.edge <= %(last)s
    AND ((a.rel IS NOT NULL) <> p.is_out OR p.is_out AND (a.anchor, a.rel) <> (p.anchor, p.rel))
ORDER BY t.edge
"""


# The links of the draft that nothing holds back. Those that only go, and those that come back or change with the words
# they have, are plain where nothing was asked for them: no text has to be read, and there may be a million of them.
_LEAVING = """
FROM review_draftlink d JOIN leaving l ON l.edge = d.edge_id AND l.reason = ''
JOIN linker_candidateedge e ON e.id = d.edge_id WHERE d.draft_id = %(draft)s
"""
_IN_SLICE = "l.edge > %(after)s AND l.edge <= %(last)s AND e.id > %(after)s AND e.id <= %(last)s"
_IS_PLAIN = f"""
CASE d.operation WHEN '{Operation.REMOVE}' THEN e.status = '{EdgeStatus.EXPORTED}'
    ELSE d.anchor = e.anchor AND NOT e.content_gap END
AND NOT EXISTS (SELECT FROM review_pending p WHERE p.edge_id = d.edge_id)
"""
_DECISIONS = f"""
INSERT INTO review_decision (edge_id, project_id, user_id, at, verb, reason, note, batch, status_before, status_after,
    anchor_before, anchor_after, source_before, rel_before, rel_after, edited_before, seen_tier,
    {", ".join(f"seen_{name}" for name in SEEN_COLUMNS)})
SELECT e.id, e.project_id, %(user)s, statement_timestamp(), %(verb)s, '', %(note)s, %(batch)s, e.status,
    CASE d.operation WHEN '{Operation.REMOVE}' THEN '{EdgeStatus.WITHDRAWN}' ELSE '{EdgeStatus.EXPORTED}' END,
    e.anchor, e.anchor, e.anchor_source, e.rel, CASE d.operation WHEN '{Operation.REMOVE}' THEN e.rel ELSE d.rel END,
    e.edited,
    coalesce((SELECT t.name FROM linker_tier t WHERE t.id = e.tier_id), ''),
    {", ".join(f"e.{name}" for name in SEEN_COLUMNS)}
{_LEAVING} AND {_IN_SLICE} AND {_IS_PLAIN} ORDER BY e.id
"""
# The release writes the status of all of them.
_READ_AGAIN = f"""
UPDATE linker_candidateedge SET reviewed = true, rel = plain.rel FROM (
    SELECT e.id, d.rel {_LEAVING} AND {_IN_SLICE} AND {_IS_PLAIN} AND d.operation <> '{Operation.REMOVE}'
        AND (NOT e.reviewed OR e.rel <> d.rel)
) plain WHERE plain.id = linker_candidateedge.id
"""


def collect(release: Release, draft: ReleaseDraft, progress: Progress = lifecycle.no_progress) -> None:
    """Writes what is to be done to be back at the release as the links of the draft."""
    values = {"draft": draft.pk, "project": release.project_id, "release": release.pk}
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS named")
        cursor.execute(_NAMED, values)
        cursor.execute("CREATE UNIQUE INDEX ON named (edge)")
    analyze("named")
    with lock_references({"review_releasedraft": [draft.pk], "linker_candidateedge": IdsIn("named", "edge")}):
        in_slices(_COLLECT, values, "named", "edge", partial(progress, stage="Collecting the links"))


def gather(draft: ReleaseDraft, *, lock: bool) -> None:
    """Fills `leaving` with the links of the draft; with `lock`, their edges are locked in the order of their ids."""
    checks.make_leaving()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO leaving (edge, source_id, target_id, decided, placement, score, operation) "
            "SELECT e.id, e.source_id, e.target_id, true, e.placement, e.score, d.operation "
            "FROM linker_candidateedge e JOIN review_draftlink d ON d.edge_id = e.id "
            "WHERE d.draft_id = %s " + ("ORDER BY e.id FOR NO KEY UPDATE OF e" if lock else ""),
            [draft.pk],
        )
    analyze("leaving")
    pairs.find_pairs_back()


def hold_back(project: Project) -> None:
    """Writes the reason on links whose pages have gone since. Caps and words were looked at when they left first."""
    checks.hold_for_pages(project)
    pairs.hold_broken()


def apply(draft: ReleaseDraft, user: User, progress: Progress = lifecycle.no_progress) -> None:
    """Gives the links of `leaving` that nothing holds back the words, rel and status they had, with a decision each;
    changes that were asked for and have not left are taken back."""
    batch, after = uuid4(), 0
    note = ROLLED_BACK.said(number=draft.back_to.number if draft.back_to else 0)
    _set_back_plain(draft, user, note, batch, progress)
    done = 0
    while rows := _next(draft, after):
        progress(done, draft.links, "Setting links back")
        after, done = max(rows), done + len(rows)
        edges = list(
            CandidateEdge.objects.filter(pk__in=rows)
            .select_related("project", "tier", "source", "target", "pending__decision")
            .defer("target__body")
            .order_by("pk")
        )
        outgoing.retract([edge for edge in edges if hasattr(edge, "pending")], user)
        texts, decisions = DonorTexts(edges), []
        for edge in edges:
            decision = decision_on(edge, Verb.ROLL_BACK, user, note=note, batch=batch)
            _set_back(edge, decision, rows[edge.pk], texts)
            decisions.append(with_outcome(decision))
        write_edges(edges)
        write_decisions(decisions)


def _next(draft: ReleaseDraft, after: int) -> dict[int, DraftLink]:
    rows = DraftLink.objects.raw(
        f"SELECT d.* {_LEAVING} AND NOT ({_IS_PLAIN}) AND d.edge_id > %(after)s ORDER BY d.edge_id LIMIT %(limit)s",
        {"draft": draft.pk, "after": after, "limit": AT_A_TIME},
    )
    return {row.edge_id: row for row in rows}


def _set_back_plain(draft: ReleaseDraft, user: User, note: str, batch: UUID, progress: Progress) -> None:
    """A decision on each plain link, as decision_on and with_outcome make it, and the rel it had."""
    values: dict[str, Any] = {
        "draft": draft.pk,
        "user": user.pk,
        "note": note,
        "batch": batch,
        "verb": Verb.ROLL_BACK.value,
    }
    for statement in (_DECISIONS, _READ_AGAIN):
        in_slices(statement, values, "leaving", "edge", partial(progress, stage="Setting links back"))


def _set_back(edge: CandidateEdge, decision: Decision, row: DraftLink, texts: DonorTexts) -> None:
    if row.operation == Operation.REMOVE:
        edge.status = EdgeStatus.WITHDRAWN
        return
    # Words that it no longer has are looked for in the donor's text, as an editor's are; what is beside it stays there.
    beside = Where.BESIDE if where_of(edge) == Where.BESIDE else None
    make_accepted(edge, decision, row.anchor, Ruling(rel=Rel(row.rel), where=beside), texts)
    edge.status, decision.verb = EdgeStatus.EXPORTED, Verb.ROLL_BACK
