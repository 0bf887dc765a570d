"""Drafts of releases: made, looked through, discarded. Publishing one is a release, see review.releases.create.

A draft keeps its links as they were when it was made. Whatever was decided since stays behind when it is published.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction
from django.db.models import Count
from django.utils import timezone
from django.utils.translation import gettext as _

from linker import audit
from linker.errors import UserError
from linker.models import CandidateEdge, ChangeKind, RunKind
from linker.runs import lifecycle
from linker.storage.copy import analyze
from linker.storage.references import IdsIn, lock_references
from linker.storage.slices import in_slices
from review.models import DraftLink, Held, Operation, ReleaseDraft, ReleaseFormat
from review.queue.filters import ExportFilter
from review.releases import checks, roll_backs
from review.releases.report import DraftReport
from review.releases.rows import SQL_ORDER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from linker.models import Project, Run
    from linker.runs.lifecycle import Progress
    from review.models import Release

# A file of three columns has no word for a change or a removal; these wait for a full file.
OPERATIONS = {ReleaseFormat.FULL: tuple(Operation), ReleaseFormat.JOIL: (Operation.ADD,)}

_IN_ORDER = f"""
CREATE TEMP TABLE drafted ON COMMIT DROP AS
SELECT row_number() OVER (ORDER BY {SQL_ORDER}) AS place, e.id AS edge
FROM leaving l JOIN linker_candidateedge e ON e.id = l.edge
"""
_KEEP = """
INSERT INTO review_draftlink (draft_id, edge_id, operation, anchor, rel, anchor_out, rel_out, reason, detail)
SELECT %(draft)s, e.id, l.operation, e.anchor, e.rel, coalesce(p.anchor, ''), coalesce(p.rel, ''), l.reason, l.detail
FROM drafted d JOIN leaving l ON l.edge = d.edge JOIN linker_candidateedge e ON e.id = d.edge
LEFT JOIN review_publishedlink p ON p.edge_id = e.id AND p.is_out
WHERE d.place > %(after)s AND d.place <= %(last)s ORDER BY d.place
"""
# What was decided, written or released since the draft was made.
_CHANGED = """
UPDATE leaving SET reason = %(changed)s FROM review_draftlink d
JOIN linker_candidateedge e ON e.id = d.edge_id
LEFT JOIN review_publishedlink p ON p.edge_id = d.edge_id AND p.is_out
WHERE d.draft_id = %(draft)s AND d.edge_id = leaving.edge AND d.reason = '' AND (
    (d.operation, d.anchor_out, d.rel_out) <> (leaving.operation, coalesce(p.anchor, ''), coalesce(p.rel, ''))
    OR NOT %(back)s AND (d.anchor, d.rel) <> (e.anchor, e.rel)
    OR EXISTS (SELECT FROM linker_edgemove m WHERE m.edge_id = d.edge_id AND m.at > %(made)s)
)
"""
# What the draft held back stays behind, with what was found then.
_HELD_THEN = """
UPDATE leaving SET reason = d.reason, detail = d.detail FROM review_draftlink d
WHERE d.draft_id = %(draft)s AND d.edge_id = leaving.edge AND d.reason <> ''
"""
_NO_LONGER = """
INSERT INTO leaving (edge, source_id, target_id, decided, placement, score, operation, reason)
SELECT e.id, e.source_id, e.target_id, true, e.placement, e.score, d.operation, %(changed)s
FROM review_draftlink d JOIN linker_candidateedge e ON e.id = d.edge_id
WHERE d.draft_id = %(draft)s AND d.reason = '' AND NOT EXISTS (SELECT FROM leaving l WHERE l.edge = d.edge_id)
"""


class NoOpenDraft(UserError):
    """The draft was published or discarded, or is still being made."""


def make_draft(
    project: Project, user: User | None, filters: Mapping[str, Any], fmt: ReleaseFormat, *, bom: bool = False
) -> ReleaseDraft:
    """An empty draft of the links that the filters choose; see fill."""
    return ReleaseDraft.objects.create(project=project, created_by=user, filters=filters, format=fmt, bom=bom)


def make_roll_back(release: Release, user: User | None) -> ReleaseDraft:
    """An empty draft of what undoes all that was released after the release; see fill."""
    return ReleaseDraft.objects.create(project=release.project, created_by=user, back_to=release)


def edges_of(draft: ReleaseDraft) -> QuerySet[CandidateEdge]:
    """The edges that the draft's filters choose now. Raises UserError where they are no longer understood."""
    chosen = ExportFilter.from_query({name: str(value) for name, value in draft.filters.items()})
    if chosen.ignored:
        said = _("Nothing was released: the filter has an unknown field or value (%(unknown)s). Export again.")
        raise UserError(said % {"unknown": ", ".join(chosen.ignored)})
    return chosen.edges(draft.project)


@transaction.atomic
def fill(draft: ReleaseDraft, progress: Progress = lifecycle.no_progress) -> None:
    """Collects the links of a draft as they are now; those that would be held back as well, with the reason. The
    edges cannot be deleted meanwhile; nothing else is locked or changed. A second time changes nothing."""
    draft = ReleaseDraft.objects.select_for_update().get(pk=draft.pk)
    if draft.filled_at is not None:
        return
    if draft.back_to is not None:
        roll_backs.collect(draft.back_to, draft, progress)
        progress(0, 0, "Looking at each link")
        roll_backs.gather(draft, lock=False)
        roll_backs.hold_back(draft.project)
        with _may_refer_to_leaving(draft):
            _note_reasons(draft)
    else:
        progress(0, 0, "Looking at each link")
        checks.gather(draft.project, edges_of(draft), OPERATIONS[ReleaseFormat(draft.format)], lock=False)
        checks.hold_back(draft.project, read_sensitive=False)
        with _may_refer_to_leaving(draft):
            _keep(draft, progress)
    counts = count(draft)
    draft.added, draft.changed, draft.removed = (counts.get((one, ""), 0) for one in Operation)
    draft.held_for = {why: n for why in Held if (n := sum(counts.get((one, why), 0) for one in Operation))}
    draft.held = sum(draft.held_for.values())
    draft.filled_at = timezone.now()
    draft.save()


def _may_refer_to_leaving(draft: ReleaseDraft) -> AbstractContextManager[None]:
    return lock_references({"review_releasedraft": [draft.pk], "linker_candidateedge": IdsIn("leaving", "edge")})


def _keep(draft: ReleaseDraft, progress: Progress) -> None:
    """Writes the links of `leaving` in the order of the file."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS drafted")
        cursor.execute(_IN_ORDER)
        cursor.execute("CREATE UNIQUE INDEX ON drafted (place)")
    analyze("drafted")
    in_slices(_KEEP, {"draft": draft.pk}, "drafted", "place", partial(progress, stage="Writing the draft"))


def run_draft(run: Run, progress: Progress = lifecycle.no_progress) -> DraftReport:
    """Fills the draft of the run's parameters in the background."""
    draft = ReleaseDraft.objects.get(pk=run.params["draft"])
    fill(draft, progress)
    draft.refresh_from_db()
    return DraftReport(draft=draft.pk, links=draft.links, held=draft.held)


def start_filling(draft: ReleaseDraft, user: User | None) -> Run:
    """Raises RunIsActive where another draft of the project is being made."""
    return lifecycle.start_run(draft.project, RunKind.DRAFT, {"draft": draft.pk}, user)


def count(draft: ReleaseDraft) -> dict[tuple[str, str], int]:
    """Links by operation and reason."""
    rows = DraftLink.objects.filter(draft=draft).order_by().values_list("operation", "reason")
    return {(operation, reason): links for operation, reason, links in rows.annotate(links=Count("pk"))}


@transaction.atomic
def discard(draft: ReleaseDraft, user: User) -> None:
    """Gives the draft up; its links stay what they are. Raises NoOpenDraft."""
    draft = open_draft(draft)
    by = draft.created_by.get_username() if draft.created_by else None
    made = {"made by": by, "made at": f"{draft.created_at:%Y-%m-%d %H:%M}"}
    subject = f"Draft {draft.pk} discarded"
    audit.record(draft.project, ChangeKind.RELEASE, user=user, subject=subject, before=made)
    draft.discarded_at = timezone.now()
    draft.save()
    DraftLink.objects.filter(draft=draft)._raw_delete(using="default")  # rows that nothing refers to


def open_draft(draft: ReleaseDraft) -> ReleaseDraft:
    """The draft, locked. Raises NoOpenDraft where it can no longer, or not yet, be published."""
    draft = ReleaseDraft.objects.select_for_update().get(pk=draft.pk)
    if not draft.is_open:
        raise NoOpenDraft(_("Nothing was done: the draft was published or discarded since you looked."))
    if draft.filled_at is None:
        raise NoOpenDraft(_("Nothing was done: the draft is still being made. Wait until it is complete."))
    return draft


def overtaken_by(draft: ReleaseDraft) -> Release | None:
    """The newest release that was published after a draft that rolls back was made: what it did, the draft does not
    undo. None for other drafts."""
    if draft.back_to_id is None:
        return None
    return draft.project.releases.filter(created_at__gt=draft.created_at).order_by("-number").first()


def gather_again(draft: ReleaseDraft, *, lock: bool) -> None:
    """Fills `leaving` with the draft's links as they would leave now."""
    if draft.back_to_id is not None:
        roll_backs.gather(draft, lock=lock)
    else:
        edges = draft.project.edges.filter(pk__in=DraftLink.objects.filter(draft=draft).values("edge"))
        checks.gather(draft.project, edges, OPERATIONS[ReleaseFormat(draft.format)], lock=lock)


@transaction.atomic
def left_behind(draft: ReleaseDraft) -> dict[int, Held]:
    """The edges of an open draft that it shows as leaving and that publishing it now would leave behind: because they
    are no longer what it shows (CHANGED), or because something holds them back by now. Locks and changes nothing."""
    gather_again(draft, lock=False)
    hold_changed(draft)
    if draft.back_to_id is not None:
        roll_backs.hold_back(draft.project)
    else:
        checks.hold_back(draft.project, read_sensitive=False)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT l.edge, l.reason FROM leaving l JOIN review_draftlink d ON d.edge_id = l.edge "
            "WHERE d.draft_id = %s AND d.reason = '' AND l.reason <> ''",
            [draft.pk],
        )
        return {edge: Held(reason) for edge, reason in cursor.fetchall()}


def hold_changed(draft: ReleaseDraft) -> None:
    """Holds back what the draft holds back, and those of its links that are no longer what it shows, or no longer to
    leave at all."""
    values: dict[str, Any] = {"draft": draft.pk, "changed": Held.CHANGED.value, "back": draft.back_to_id is not None}
    values["made"] = draft.created_at
    with connection.cursor() as cursor:
        cursor.execute(_HELD_THEN, values)
        cursor.execute(_CHANGED, values)
        cursor.execute(_NO_LONGER, values)


def close(draft: ReleaseDraft, release: Release) -> None:
    """Notes what the draft was published as."""
    draft.release = release
    draft.save(update_fields=["release"])
    DraftLink.objects.filter(draft=draft)._raw_delete(using="default")


def _note_reasons(draft: ReleaseDraft) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE review_draftlink d SET reason = l.reason, detail = l.detail FROM leaving l "
            "WHERE d.draft_id = %s AND d.edge_id = l.edge AND l.reason <> ''",
            [draft.pk],
        )
