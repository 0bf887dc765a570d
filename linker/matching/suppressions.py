"""What editors have ruled out: written down, taken out of the queue at once, allowed again.

linker.models.suppression says what holds. All functions are for the caller's transaction, or open one.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import connection, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext

from linker.engine.anchors.diversity import word_set
from linker.errors import UserError
from linker.matching import follow_up
from linker.matching.safety import bar
from linker.matching.tiers import retier
from linker.models import (
    CandidateEdge,
    EdgeStatus,
    Page,
    Project,
    Reach,
    RunKind,
    RunStatus,
    SuppressedKind,
    Suppression,
)
from linker.models.identity import follows_sql
from linker.models.querysets import OPEN, PROPOSED, sql
from linker.models.suppression import COVERED, REACH_DAYS, in_force_sql
from linker.runs import lifecycle
from linker.storage.locks import lock_edges, lock_project

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from django.contrib.auth.models import User

    from linker.models import Run
    from linker.runs.lifecycle import Progress

AT_ONCE = 5_000  # suggestions that come back into the queue while somebody waits; of more, by a run


def suppress(edges: Sequence[CandidateEdge], kind: SuppressedKind, reach: Reach, user: User) -> None:
    """Writes down what the rejection of these edges rules out, and takes what falls under it out of the queue.

    Where there is nothing of the kind to name, because a donor has no category, the pair alone is ruled out.
    """
    if not edges:
        return
    pages = {edge.source_id for edge in edges} | {edge.target_id for edge in edges}
    known = {
        pk: (category, body_hash)
        for pk, category, body_hash in Page.objects.filter(pk__in=pages).values_list("pk", "category", "body_hash")
    }
    ends_at = timezone.now() + timedelta(days=REACH_DAYS) if reach == Reach.DAYS else None
    rows = []
    for edge in edges:
        row = Suppression(
            project_id=edge.project_id, kind=kind, reach=reach, edge=edge, source_id=edge.source_id,
            target_id=edge.target_id, anchor=edge.anchor, ends_at=ends_at, made_by=user,
        )  # fmt: skip
        if reach == Reach.CHANGED:
            row.source_hash, row.target_hash = known[edge.source_id][1], known[edge.target_id][1]
        if kind == SuppressedKind.SECTION:
            row.section_id = known[edge.source_id][0]
        if kind == SuppressedKind.WORDS:
            row.words = word_set(edge.anchor)
        if not row.section_id and not row.words and kind in (SuppressedKind.SECTION, SuppressedKind.WORDS):
            row.kind = SuppressedKind.PAIR
        rows.append(row)
    Suppression.objects.bulk_create(rows, batch_size=500)
    wide = [row.pk for row in rows if row.kind != SuppressedKind.PAIR]
    if wide:
        hide(edges[0].project, suppressions=wide)


def hide(
    project: Project, *, suppressions: Sequence[int] | None = None, edges: Sequence[int] | None = None
) -> list[int]:
    """Takes open suggestions out of the queue that fall under a suppression: under some of them, or some suggestions.

    One that somebody is deciding on just now is left to them; who holds many for longer calls this once that is over.
    Where it is not about some suppressions, those that safety classes bar go as well. Returns the ids of the former.
    """
    if suppressions is None:
        bar(project, edges)
    asked = ["s.project_id = %(project)s"]
    asked += ["s.id = ANY(%(suppressions)s)"] if suppressions is not None else []
    asked += ["e.id = ANY(%(edges)s)"] if edges is not None else []
    said = _said(project, suppressions, edges)
    if not said and not _others_than_words(project, suppressions):
        return []
    params = {
        "project": project.pk,
        "suppressions": None if suppressions is None else list(suppressions),
        "edges": None if edges is None else list(edges),
        "said_by": [suppression for suppression, _ in said],
        "said": [anchor for _, anchor in said],
    }
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH covered AS ({COVERED.format(asked=' AND '.join(asked))}), "
            "first AS (SELECT id, min(suppression) AS suppression FROM covered GROUP BY id), "
            "locked AS (SELECT e.id, f.suppression FROM linker_candidateedge e JOIN first f ON f.id = e.id "
            "ORDER BY e.id FOR NO KEY UPDATE OF e SKIP LOCKED) "
            "UPDATE linker_candidateedge e SET stale = true, suppressed_by_id = l.suppression FROM locked l "
            "WHERE e.id = l.id RETURNING e.id",
            params,
        )
        return [pk for (pk,) in cursor.fetchall()]


def _others_than_words(project: Project, suppressions: Sequence[int] | None) -> bool:
    rows = Suppression.objects.filter(project=project, kind__in=(SuppressedKind.SECTION, SuppressedKind.PAGE))
    rows = rows.filter(lifted_at=None)
    return (rows if suppressions is None else rows.filter(pk__in=suppressions)).exists()


def _said(project: Project, suppressions: Sequence[int] | None, edges: Sequence[int] | None) -> list[tuple[int, str]]:
    """The anchors of open suggestions that say ruled-out words, each with the suppression."""
    rows = Suppression.objects.filter(project=project, kind=SuppressedKind.WORDS, lifted_at=None)
    if suppressions is not None:
        rows = rows.filter(pk__in=suppressions)
    if edges is not None:
        rows = rows.filter(target__in=CandidateEdge.objects.filter(pk__in=edges).values("target"))
    by_target: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for pk, target, words in rows.values_list("pk", "target", "words"):
        by_target[target].append((pk, words))
    anchors = CandidateEdge.objects.filter(OPEN, project=project, target__in=list(by_target)).order_by()
    found = []
    for target, anchor in anchors.values_list("target", "anchor").distinct() if by_target else ():
        found += [(pk, anchor) for pk, words in by_target[target] if word_set(anchor) == words]
    return found


def lift(project: Project, suppressions: Iterable[int], user: User) -> Run | None:
    """Allows again what these suppressions ruled out. What they took out of the queue is there again, unless a newer
    match run has passed it over: then the next one decides. Of more than AT_ONCE suggestions, a run brings them back,
    which is returned."""
    with transaction.atomic():
        project = lock_project(project.pk)
        rows = Suppression.objects.filter(project=project, pk__in=list(suppressions), lifted_at=None)
        ids = [row.pk for row in rows.select_for_update().order_by("pk")]
        Suppression.objects.filter(pk__in=ids).update(lifted_by=user, lifted_at=timezone.now())
        if ids and len(_kept_out(ids, AT_ONCE + 1)) > AT_ONCE:
            return follow_up.start(project, [follow_up.Piece.ALLOWED], user=user)
        _bring_back(project, ids)
    return None


def _kept_out(suppressions: Sequence[int], most: int) -> list[int]:
    """The first suggestions, so many at most, that these suppressions have taken out of the queue."""
    edges = CandidateEdge.objects.filter(suppressed_by__in=suppressions).order_by()
    return list(edges.values_list("pk", flat=True)[:most])


def bring_back_allowed(project: Project, progress: Progress = lifecycle.no_progress) -> int:
    """Brings back what suppressions still keep out of the queue that were lifted, some suggestions at a time; how many
    are in the queue again. May run twice."""
    hidden = CandidateEdge.objects.filter(suppressed_by=OuterRef("pk"))
    lifted = Suppression.objects.filter(Exists(hidden), project=project, lifted_at__isnull=False).order_by("pk")
    ids = list(lifted.values_list("pk", flat=True))
    total = CandidateEdge.objects.filter(suppressed_by__in=ids).count()
    done = back = 0
    while True:
        progress(done, total, "Bringing back what may be suggested again")
        with transaction.atomic():
            project = lock_project(project.pk)
            written, returned = _bring_back(project, ids)
        if not written:
            return back
        done, back = done + written, back + returned


def _bring_back(project: Project, suppressions: Sequence[int]) -> tuple[int, int]:
    """Takes the names of these suppressions off the suggestions that they had taken out of the queue, AT_ONCE at most,
    and opens them again but for those passed over. Returns how many it wrote, and how many are open again."""
    runs = project.runs.filter(kind=RunKind.MATCH, status=RunStatus.SUCCEEDED, pilot=None)
    newest = runs.order_by("-pk").values_list("started_at", flat=True).first()
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH l AS (SELECT e.id, coalesce(s.made_at >= %(newest)s::timestamptz, true) "
            f"AND {follows_sql('e')} AS returns "
            "FROM linker_candidateedge e JOIN linker_suppression s ON s.id = e.suppressed_by_id "
            "WHERE e.suppressed_by_id = ANY(%(lifted)s) ORDER BY e.id LIMIT %(most)s FOR NO KEY UPDATE OF e) "
            "UPDATE linker_candidateedge e SET suppressed_by_id = NULL, stale = e.stale AND NOT l.returns "
            "FROM l WHERE e.id = l.id RETURNING e.id, l.returns",
            {"project": project.pk, "lifted": list(suppressions), "newest": newest, "most": AT_ONCE},
        )
        rows = cursor.fetchall()
    back = [pk for pk, returns in rows if returns]
    if back:
        retier(project, back)
        hide(project, edges=back)
    return len(rows), len(back)


def lock_with_suppressed(project: Project, edges: Iterable[int]) -> None:
    """Locks these edges, and what the rejections of theirs keep out of the queue, where `lift_of` opens it again at
    once."""
    ids = list(edges)
    rows = Suppression.objects.filter(edge__in=ids, lifted_at=None).values_list("pk", flat=True)
    kept_out = _kept_out(list(rows), AT_ONCE + 1)
    lock_edges(project.pk, "e.id = ANY(%(ids)s)", {"ids": ids if len(kept_out) > AT_ONCE else [*ids, *kept_out]})


def lift_of(project: Project, edges: Iterable[CandidateEdge], user: User) -> None:
    """Allows again what the rejections of these edges ruled out."""
    ids = [edge.pk for edge in edges]
    lift(project, Suppression.objects.filter(edge__in=ids, lifted_at=None).values_list("pk", flat=True), user)


def suppress_again(suppression: Suppression, user: User) -> Suppression:
    """Takes back that it was allowed again: a new row says what the old one said.

    Raises UserError where the link is no longer rejected, or was ruled out again already."""
    with transaction.atomic():
        edge = CandidateEdge.objects.select_for_update(of=("self",), no_key=True).get(pk=suppression.edge_id)
        if edge.status != EdgeStatus.REJECTED or edge.suppressions.filter(lifted_at=None).exists():
            raise UserError(
                gettext(
                    "Nothing was changed: the link is no longer rejected, or somebody has ruled it out again already."
                )
            )
        [again] = _say_again([Suppression.objects.get(pk=suppression.pk)], user)
    return again


def suppress_as_before(edges: Mapping[int, datetime], user: User) -> None:
    """Rules out again what decisions on these edges had allowed, which were made at these moments and are taken back:
    what stood until then."""
    rows = Suppression.objects.filter(edge__in=edges, lifted_at__isnull=False).select_related("project").order_by("pk")
    _say_again([row for row in rows if row.made_at < edges[row.edge_id] <= (row.lifted_at or row.made_at)], user)


def _say_again(rows: Sequence[Suppression], user: User) -> Sequence[Suppression]:
    """New rows that say what these said."""
    for row in rows:
        row.pk, row.made_by, row.lifted_by, row.lifted_at = None, user, None, None
    Suppression.objects.bulk_create(rows, batch_size=500)
    wide = [row.pk for row in rows if row.kind != SuppressedKind.PAIR]
    if wide:
        hide(rows[0].project, suppressions=wide)
    return rows


def settle(project: Project) -> None:
    """For the end of a match run: what it proposes is in the queue, unless somebody has ruled it out meanwhile; what
    was hidden by a suppression that has ended is none of its any more."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE linker_candidateedge e SET suppressed_by_id = NULL FROM linker_suppression s "
            f"WHERE s.id = e.suppressed_by_id AND s.project_id = %s AND (NOT (e.stale) OR NOT {in_force_sql('s')})",
            [project.pk],
        )
        cursor.execute(
            f"UPDATE linker_candidateedge SET barred_by_id = NULL WHERE project_id = %s AND {sql(PROPOSED)} "
            "AND barred_by_id IS NOT NULL",
            [project.pk],
        )
        cursor.execute(
            f"UPDATE linker_candidateedge SET capped_at = NULL WHERE project_id = %s AND {sql(PROPOSED)} "
            "AND capped_at IS NOT NULL",
            [project.pk],
        )
        cursor.execute(
            f"UPDATE linker_candidateedge SET away_at = NULL WHERE project_id = %s AND {sql(PROPOSED)} "
            "AND away_at IS NOT NULL",
            [project.pk],
        )
    hide(project)
