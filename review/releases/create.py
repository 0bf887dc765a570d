"""Making a release: links are marked as exported, and their file is kept, byte for byte."""

from __future__ import annotations

import gzip
import hashlib
import tempfile
from typing import IO, TYPE_CHECKING, Any, cast

from django.db import connection, transaction
from django.db.models import Max, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from linker import audit
from linker.errors import UserError
from linker.models import CandidateEdge, ChangeKind, Project
from linker.runs import lifecycle
from linker.storage.locks import lock_project
from linker.storage.slices import in_slices
from linker.wording import number
from review.models import Operation, Pending, Release, ReleaseChunk, ReleaseDraft, ReleaseFormat
from review.queue.filters import ExportFilter
from review.releases import checks, drafts, held_back, pairs, places, published, roll_backs
from review.releases.drafts import OPERATIONS
from review.releases.report import ReleaseReport
from review.releases.rows import Choice, leaving_file_pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.contrib.auth.models import AbstractBaseUser, User

    from linker.models import Run
    from linker.runs.lifecycle import Progress


CHUNK_BYTES = 2**20
STEPS = 4


class NothingToExport(UserError):
    """No link is ready to leave."""


class OvertakenDraft(UserError):
    """A draft that rolls back, made before a release that it does not undo."""


class NumberChanged(UserError):
    """Another number of links would leave than the user was shown."""


# A release of more links than these is made in the background, and no page looks at more while somebody waits.
MAX_IN_REQUEST = 5_000


def run_release(run: Run, progress: Progress = lifecycle.no_progress) -> ReleaseReport:
    """The release that the run's parameters ask for: a draft, or all that a filter chooses now. It ends with the
    release or not at all: a job that came twice would find nothing left to export."""
    with transaction.atomic():
        release = _asked_for(run, progress)
        report = ReleaseReport(
            release=release.number,
            links=release.links,
            added=release.added,
            changed=release.changed,
            removed=release.removed,
            held=release.held,
            bytes=release.bytes,
        )
        lifecycle.succeed(run.pk, report)
    return report


def _asked_for(run: Run, progress: Progress) -> Release:
    if "draft" in run.params:
        return publish(ReleaseDraft.objects.get(pk=run.params["draft"]), run.created_by, progress)
    chosen = ExportFilter.from_query({name: str(value) for name, value in run.params["filters"].items()})
    if chosen.ignored:  # known to the version that was asked, and no longer to this one
        said = _("Nothing was released: the filter has an unknown field or value (%(unknown)s). Export again.")
        raise UserError(said % {"unknown": ", ".join(chosen.ignored)})
    return create_release(
        run.project,
        chosen.edges(run.project),
        fmt=ReleaseFormat(run.params["format"]),
        user=run.created_by,
        filters=run.params["filters"],
        bom=run.params["bom"],
        progress=progress,
    )


@transaction.atomic
def create_release(
    project: Project,
    edges: QuerySet[CandidateEdge],
    *,
    fmt: ReleaseFormat = ReleaseFormat.FULL,
    user: AbstractBaseUser | None = None,
    filters: dict[str, Any] | None = None,
    bom: bool = False,
    shown: int | None = None,
    progress: Progress = lifecycle.no_progress,
) -> Release:
    """Marks those of `edges` that are ready to leave as exported and keeps their file, in one transaction.

    `edges` belong to `project`; `filters` says how they were chosen. Each is looked at again first
    (review.releases.checks), and what is held back is written down with its reason and stays what it is. Changes and
    removals that were asked for leave as well, where the format has a word for them. Releases of a project wait for one
    another, and the edges are locked before their rows are read, so no edge leaves twice and none leaves as something
    else than it was when marked. Raises NothingToExport where none is ready, and NumberChanged where `shown`, the
    number of links that a preview of these edges counted, is no longer what it would count.
    """
    project = lock_project(project.pk)
    progress(0, STEPS, "Looking at each link again")
    checks.gather(project, edges, OPERATIONS[fmt] if shown is None else Operation, lock=True)
    if shown is not None:
        _compare(project, shown)
        checks.begin_again(OPERATIONS[fmt])
    checks.hold_back(project, read_sensitive=True)
    release = Release(project=project, format=fmt, filters=filters or {}, created_by_id=user.pk if user else None)
    return _send(release, user, bom=bom, progress=progress)


@transaction.atomic
def publish(draft: ReleaseDraft, user: User | None, progress: Progress = lifecycle.no_progress) -> Release:
    """The release of a draft: those of its links that are still what it shows. What was decided, written or released
    since stays behind, and is written down with the links that are held back.

    As create_release in everything else. Raises NoOpenDraft where the draft was published or discarded before,
    OvertakenDraft, and NothingToExport.
    """
    lock_project(draft.project_id)
    draft = drafts.open_draft(draft)
    if (later := drafts.overtaken_by(draft)) is not None:
        said = _(
            "Nothing was released: release %(later)d was published since this draft was made, and would not be undone. "
            "Discard the draft and roll back once more."
        )
        raise OvertakenDraft(said % {"later": later.number})
    project, fmt = draft.project, ReleaseFormat(draft.format)
    progress(0, STEPS, "Looking at each link again")
    drafts.gather_again(draft, lock=True)
    drafts.hold_changed(draft)
    if draft.back_to_id is not None:
        roll_backs.hold_back(project)
        roll_backs.apply(draft, cast("User", user), progress)
    else:
        checks.hold_back(project, read_sensitive=True)
    release = Release(project=project, format=fmt, filters=draft.filters, back_to_id=draft.back_to_id)
    release.created_by_id = user.pk if user is not None else None
    try:
        release = _send(release, user, bom=draft.bom, progress=progress)
    except NothingToExport:
        said = _("Nothing was released: each link of this draft was released, changed or decided otherwise since.")
        raise NothingToExport(f"{said} {_('Discard it and make another one.')}") from None
    drafts.close(draft, release)
    return release


def _send(release: Release, user: AbstractBaseUser | None, *, bom: bool, progress: Progress) -> Release:
    """Saves the release of what stands in `leaving`, with its file, and marks the links."""
    counts = checks.counts()
    leave = {operation: counts.get((operation, ""), 0) for operation in Operation}
    held = sum(links for (_, reason), links in counts.items() if reason)
    if not any(leave.values()):
        raise NothingToExport(_nothing(release, held))
    last = release.project.releases.aggregate(last=Max("number"))["last"] or 0
    release.number, release.status = last + 1, Choice.ACCEPTED
    release.links, release.held = sum(leave.values()), held
    release.added, release.changed, release.removed = (leave[operation] for operation in Operation)
    release.bytes, release.sha256 = 0, ""
    held_back.keep_groups(release)
    release.save()
    places.put_wordless(release.project)
    places.spell()
    progress(1, STEPS, "Writing the file")
    with tempfile.TemporaryFile() as file:
        for piece in leaving_file_pieces(ReleaseFormat(release.format), bom=bom):
            file.write(piece)
        _keep(release, file)
    release.save()
    progress(2, STEPS, "Recording what is exported")
    _write_down(release)
    pairs.end_released()
    published.add_up(release)
    progress(3, STEPS, "Marking the links")
    marked = _mark()
    if marked != release.links:
        raise RuntimeError(f"{marked} edges marked, {release.links} in the file")
    names = ("links", "changed", "removed", "held", "format", "filters", "sha256")
    after = {name: value for name, value in audit.values(release, names).items() if value not in (0, {})}
    audit.record(release.project, ChangeKind.RELEASE, user=user, subject=str(release), after=after)
    return release


def _compare(project: Project, shown: int) -> None:
    """Counts what was gathered as the preview does. The release itself may hold back more: it reads again what is
    sensitive, and its format may have no word for changes."""
    checks.hold_back(project, read_sensitive=False)
    now = sum(links for (_, reason), links in checks.counts().items() if not reason)
    if now not in (0, shown):
        said = ngettext(
            "Nothing was exported: %(now)s link would be exported now, and not %(shown)s as when you looked. Look "
            "again and export once more.",
            "Nothing was exported: %(now)s links would be exported now, and not %(shown)s as when you looked. Look "
            "again and export once more.",
            now,
        )
        raise NumberChanged(said % {"now": number(now), "shown": number(shown)})


def _nothing(release: Release, held: int) -> str:
    others = Pending.objects.filter(project=release.project, operation__in=(Operation.CHANGE, Operation.REMOVE))
    if release.format == ReleaseFormat.JOIL and others.exists():
        return _(
            "Nothing is ready to export: no link is to be added, and a file of three columns has no word for changes "
            "and removals. Export a full one."
        )
    if held:
        said = ngettext(
            "Nothing is ready to export: the only link is held back. The list says why.",
            "Nothing is ready to export: all %(links)s links are held back. The list says why.",
            held,
        )
        return said % {"links": number(held)}
    return _(
        "Nothing is ready to export: no link of this selection is accepted and not exported yet. "
        "Accept some in the review queue, or choose others."
    )


_LEAVES = "l.edge > %(after)s AND l.edge <= %(last)s AND e.id > %(after)s AND e.id <= %(last)s AND l.reason = ''"
_SENT = f"""
INSERT INTO review_releaselink (release_id, edge_id, operation, anchor, rel)
SELECT %(release)s, e.id, l.operation, e.anchor, e.rel FROM leaving l JOIN linker_candidateedge e ON e.id = l.edge
WHERE {_LEAVES} ORDER BY e.id
"""
_KEPT_BACK = """
INSERT INTO review_heldback (release_id, edge_id, operation, reason, detail)
SELECT %(release)s, edge, operation, reason, detail FROM leaving
WHERE edge > %(after)s AND edge <= %(last)s AND reason <> '' ORDER BY edge
"""
_MARK = f"""
UPDATE linker_candidateedge e SET updated_at = %(now)s, regressed = false, status = CASE
    WHEN l.operation <> 'remove' THEN 'exported' WHEN e.status = 'rejected' THEN 'rejected' ELSE 'withdrawn' END
FROM leaving l WHERE l.edge = e.id AND {_LEAVES}
"""


def _write_down(release: Release) -> None:
    """What leaves, as it leaves, and what is held back."""
    for statement in (_SENT, _KEPT_BACK):
        in_slices(statement, {"release": release.pk}, "leaving", "edge")


def _mark() -> int:
    """What the edges are now that they have left; returns how many."""
    marked = in_slices(_MARK, {"now": timezone.now()}, "leaving", "edge")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM review_pending p USING leaving l WHERE l.edge = p.edge_id AND l.reason = ''")
    return marked


def _keep(release: Release, file: IO[bytes]) -> None:
    digest = hashlib.sha256()
    file.seek(0)
    for place, piece in enumerate(iter(lambda: file.read(CHUNK_BYTES), b"")):
        digest.update(piece)
        ReleaseChunk.objects.create(release=release, number=place, content=gzip.compress(piece, mtime=0))
    release.bytes, release.sha256 = file.tell(), digest.hexdigest()


def release_pieces(release: Release) -> Iterator[bytes]:
    """The release's file, byte for byte as it was handed out, in pieces of at most 1 MiB.

    One short query a piece: a slow download holds no cursor open.
    """
    place = 0
    while chunk := ReleaseChunk.objects.filter(release=release, number=place).first():
        yield gzip.decompress(chunk.content)
        place += 1


def file_name(release: Release) -> str:
    return f"anchorline-{release.project.slug}-release-{release.number}.csv"
