"""Links leave the house: which, in what columns and order, and the release that remembers them.

PostgreSQL writes the CSV (COPY ... TO STDOUT), so memory stays constant whatever the number of links, and one
statement sees one state of the data. The file: UTF-8, RFC 4180 quoting, lines end with "\\n", a header row. Rows
come donor by donor, the donor with the best link first and each donor's links best first:
donor_best descending, donor id, score descending, edge id.

Text that a spreadsheet might take for a formula gets an apostrophe in front (linker.storage.cells). Numbers and times
are never touched.
"""

from __future__ import annotations

import gzip
import hashlib
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from typing import IO, TYPE_CHECKING, Any

from django.db import connection, transaction
from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from linker import audit
from linker.errors import UserError
from linker.models import CandidateEdge, ChangeKind, EdgeStatus, Placement, Project
from linker.runs import lifecycle
from linker.storage.cells import safe_cell_sql
from review.models import Operation, Release, ReleaseChunk, ReleaseFormat
from review.queue.filters import ExportFilter
from review.releases import checks
from review.releases import held_back as held
from review.releases.checks import alike, sql_of
from review.releases.report import ReleaseReport

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.contrib.auth.models import AbstractBaseUser

    from linker.models import Run
    from linker.runs.lifecycle import Progress

CHUNK_BYTES = 2**20
BOM = b"\xef\xbb\xbf"


class Choice(StrEnum):
    """Which links a file holds.

    accepted   what leaves next: accepted links, suggestions of tiers that may be exported unreviewed, and the changes
               and removals that were asked for, as far as review.releases.checks holds nothing back
    suggested  every open suggestion of the newest run, held tiers included
    exported   what has left so far
    all        suggested, accepted and exported together; never what was rejected
    """

    ACCEPTED = "accepted"
    SUGGESTED = "suggested"
    EXPORTED = "exported"
    ALL = "all"


class NothingToExport(UserError):
    """No link is ready to leave."""


class NumberChanged(UserError):
    """Another number of links would leave than the user was shown."""


# -------------------------------------------------------------------------------------------------- which links

_OPEN = Q(status=EdgeStatus.SUGGESTED, stale=False)
_CHOSEN = {
    Choice.ACCEPTED: checks.APPROVED | checks.MAY_GO_UNREVIEWED,
    Choice.SUGGESTED: _OPEN,
    Choice.EXPORTED: Q(status=EdgeStatus.EXPORTED),
    Choice.ALL: _OPEN | Q(status__in=[EdgeStatus.ACCEPTED, EdgeStatus.EXPORTED]),
}
ORDER = ("-donor_best", "source", "-score", "pk")


def choose(edges: QuerySet[CandidateEdge], choice: Choice) -> QuerySet[CandidateEdge]:
    """Those of `edges` that a file of the choice holds, in no order; of what leaves next, before it is looked at
    again."""
    return edges.filter(_CHOSEN[choice]).order_by()


# ----------------------------------------------------------------------------------------------------- the file


def _six_decimals(expression: str) -> str:
    """SQL of a float with six decimals; by way of an integer, which is several times faster than a cast to numeric."""
    return f"({expression} * 1000000)::bigint * 0.000001"


def _time(expression: str) -> str:
    return f"to_char({expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"


SIDE = 300  # characters of the text that a sentence may reach to each side of its anchor


def _lines(expression: str) -> str:
    """SQL of a text whose sentences end with a line break."""
    for mark, ended in ((". ", ".\\n"), ("! ", "!\\n"), ("? ", "?\\n"), ("。", "。\\n")):
        expression = f"replace({expression}, '{mark}', E'{ended}')"
    return expression


# Sentence and heading are kept with the edge and hold as long as the donor's text is the one they were read from.
_KEPT = "e.body_hash = e.donor_hash"

# Where an anchor stands in a text that has changed since, if it still reads so there. `|| ''` unpacks the text once. A
# sentence ends with a mark and a space, or with its line; a heading is a short line that neither begins nor ends like
# one of the text.
_MOVED = f"""
SELECT headings.lines[width_bucket(e.span_start, headings.ends)] AS heading,
    ltrim(split_part(part.above, E'\\n', -1)) || part.words || rtrim(split_part(part.below, E'\\n', 1)) AS sentence
FROM (
    SELECT body || '' AS body FROM linker_page
    WHERE id = e.source_id AND e.span_start IS NOT NULL AND e.body_hash IS DISTINCT FROM donor.body_hash OFFSET 0
) page
JOIN LATERAL (
    SELECT substr(page.body, greatest(e.span_start - {SIDE}, 0) + 1,
        least(e.span_start, {SIDE}) + e.span_end - e.span_start + {SIDE}) AS text OFFSET 0
) around ON true
JOIN LATERAL (
    SELECT {_lines(f"left(around.text, least(e.span_start, {SIDE}))")} AS above,
        substr(around.text, least(e.span_start, {SIDE}) + 1, e.span_end - e.span_start) AS words,
        {_lines(f"substr(around.text, least(e.span_start, {SIDE}) + e.span_end - e.span_start + 1)")} AS below
    OFFSET 0
) part ON part.words = e.anchor OR {alike("part.words")} = {alike("e.anchor")}
JOIN LATERAL (
    SELECT array_agg(trim(line) ORDER BY n) AS lines, array_agg(stop ORDER BY n) AS ends FROM (
        SELECT line, n, (sum(length(line) + 1) OVER (ORDER BY n))::int AS stop
        FROM unnest(string_to_array(page.body, E'\\n')) WITH ORDINALITY AS every(line, n) OFFSET 0
    ) numbered
    WHERE length(line) <= 80 AND trim(line) <> '' AND strpos('.,;:!?…。！，；', right(rtrim(line), 1)) = 0
        AND strpos('-*•‣◦·', left(ltrim(line), 1)) = 0 AND left(ltrim(line), 1) = upper(left(ltrim(line), 1))
) headings ON true
"""


def _place(kept: str, moved: str) -> str:
    return f"CASE WHEN {_KEPT} THEN {kept} ELSE {moved} END"


def _of_paragraph(expression: str) -> str:
    return f"CASE WHEN e.paragraph IS NOT NULL THEN {expression} END"


_CELLS = {
    "donor_url": safe_cell_sql("e.donor_url"),
    "acceptor_url": safe_cell_sql("e.acceptor_url"),
    "anchor_text": safe_cell_sql("e.anchor"),
    "rel": "e.rel",
    "placement": "e.placement",
    "tier": safe_cell_sql("e.tier"),
    "score": _six_decimals("e.score"),
    "similarity": _six_decimals("e.similarity"),
    "level": "e.level",
    "category": safe_cell_sql("array_to_string(e.category, ' > ')"),
    "model": safe_cell_sql("e.model"),
    "threshold": safe_cell_sql("e.threshold"),
    "run": "e.run_id",
    "run_time": "e.run_time",
    "decided_by": safe_cell_sql("e.decided_by"),
    "decided_at": _time("e.decided_at"),
    "edited": "e.edited::text",
    "ranked_by": safe_cell_sql("e.ranked_by"),
    "probability": _six_decimals("e.probability"),
    "quantile": _six_decimals("e.quantile"),
    "generators": safe_cell_sql("array_to_string(e.generators, ';')"),
    "why": safe_cell_sql("e.why"),
    "anchor_source": safe_cell_sql("e.anchor_source"),
    "anchor_start": _place("e.span_start", "CASE WHEN e.moved_sentence IS NOT NULL THEN e.span_start END"),
    "anchor_end": _place("e.span_end", "CASE WHEN e.moved_sentence IS NOT NULL THEN e.span_end END"),
    "sentence": _place(safe_cell_sql("e.sentence"), safe_cell_sql("e.moved_sentence")),
    "section_heading": _place(f"nullif({safe_cell_sql('e.section_heading')}, '')", safe_cell_sql("e.moved_heading")),
    "content_gap": "e.content_gap::text",
    "operation": "e.operation",
    "paragraph": safe_cell_sql("e.paragraph"),
    "paragraph_heading": _of_paragraph(f"nullif({safe_cell_sql('e.paragraph_heading')}, '')"),
    "paragraph_start": _of_paragraph("e.paragraph_start"),
    "paragraph_end": _of_paragraph("e.paragraph_end"),
}
COLUMNS = {
    ReleaseFormat.FULL: tuple(_CELLS),
    ReleaseFormat.JOIL: ("donor_url", "anchor_text", "acceptor_url"),
}
_ORDER = "e.donor_best DESC, e.source_id, e.score DESC, e.id"
# What the order looks at comes first, texts come last: of a row that is sorted, no text needs to be stepped over.
_EDGE_COLUMNS = (
    *("donor_best", "source_id", "score", "id", "target_id", "run_id", "tier_id", "similarity", "quantile"),
    *("probability", "span_start", "span_end", "body_hash", "level", "edited", "content_gap", "status", "anchor"),
    *("rel", "placement", "ranked_by", "generators", "why", "anchor_source", "sentence", "section_heading"),
    *("paragraph_start", "paragraph_end", "paragraph_hash", "paragraph_heading"),
)

# What is the same for many rows is made once, in a subquery that OFFSET 0 keeps whole. All that may be large is joined
# by its key, so that a planner that takes a million fresh rows for one (statistics lag behind a bulk write) is slow by
# a factor and not by a square.
# An open suggestion has no standing decision: the condition on its status saves looking for one.
_BOTH_PAGES = "JOIN linker_page donor ON donor.id = e.source_id JOIN linker_page acceptor ON acceptor.id = e.target_id"
_MODEL = "model.name || ' ' || model.version || coalesce(' (text ' || nullif(model.recipe, '') || ')', '')"
_PROVENANCE = f"""
JOIN (
    SELECT r.id, {_MODEL} AS model,
        coalesce(r.params ->> 'threshold', r.report ->> 'threshold') AS threshold,
        {_time("coalesce(r.finished_at, r.created_at)")} AS time
    FROM linker_run r LEFT JOIN linker_embeddingmodel model ON model.id = r.model_id OFFSET 0
) run ON run.id = e.run_id
LEFT JOIN (SELECT t.id, t.name FROM linker_tier t OFFSET 0) tier ON tier.id = e.tier_id
LEFT JOIN linker_category category ON category.id = donor.category_id
"""
_DECIDED = """
LEFT JOIN LATERAL (
    SELECT u.username, d.at
    FROM review_decision d
    JOIN auth_user u ON u.id = d.user_id
    WHERE e.status <> 'suggested' AND d.edge_id = e.id AND d.verb <> 'undo'
      AND NOT EXISTS (SELECT FROM review_decision u WHERE u.undoes_id = d.id)
    ORDER BY d.id DESC LIMIT 1
) decision ON true
"""
# The paragraph that a sentence could follow, as long as the donor's text is the one it was found in.
_PARAGRAPH = (
    "CASE WHEN e.content_gap AND e.paragraph_hash = donor.body_hash "
    "THEN substr(donor.body, e.paragraph_start + 1, e.paragraph_end - e.paragraph_start) END"
)
_URLS = "donor.url AS donor_url, acceptor.url AS acceptor_url"
_ROWS = {
    ReleaseFormat.FULL: (
        f"{_URLS}, donor.body_hash AS donor_hash, category.path AS category, tier.name AS tier, run.model, "
        "run.threshold, run.time AS run_time, decision.username AS decided_by, decision.at AS decided_at, "
        f"moved.sentence AS moved_sentence, moved.heading AS moved_heading, to_do.operation, {_PARAGRAPH} AS paragraph",
        f"{_BOTH_PAGES} {_PROVENANCE} {_DECIDED} LEFT JOIN LATERAL ({_MOVED}) moved ON true",
    ),
    ReleaseFormat.JOIL: (_URLS, _BOTH_PAGES),
}
# What is to be done with a link: for a release what it says, else what a release would say now.
_NOW = """
LEFT JOIN LATERAL (
    SELECT CASE WHEN e.status IN ('suggested', 'accepted') THEN 'add' ELSE (
        SELECT p.operation FROM review_pending p WHERE p.edge_id = e.id
    ) END AS operation
) to_do ON true
"""
_LEAVES = "linker_candidateedge.id IN (SELECT edge FROM leaving WHERE reason = '')"
_LEAVING = "JOIN leaving to_do ON to_do.edge = e.id"


def _copy_statement(edges: QuerySet[CandidateEdge], fmt: ReleaseFormat, to_do: str) -> str:
    chosen = sql_of(edges.order_by().values(*_EDGE_COLUMNS))
    cells = ", ".join(f"{_CELLS[name]} AS {name}" for name in COLUMNS[fmt])
    joined, tables = _ROWS[fmt]
    # Constants and SQL that Django made; the values are quoted by the driver. The cells are made of sorted rows.
    return (
        f"COPY (SELECT {cells} FROM (SELECT e.*, {joined} FROM ({chosen}) e {tables} {to_do} ORDER BY {_ORDER}) e "
        f"ORDER BY {_ORDER}) TO STDOUT (FORMAT csv, HEADER)"
    )


def stream(edges: QuerySet[CandidateEdge], fmt: ReleaseFormat, *, bom: bool = False) -> Iterator[bytes]:
    """The file of these edges in pieces of about 64 KiB, as PostgreSQL writes it.

    The connection is busy until the iterator is exhausted or closed. Without edges: the header alone.
    """
    return _pieces(_copy_statement(edges, fmt, _NOW), bom=bom)


def _pieces(statement: str, *, bom: bool) -> Iterator[bytes]:
    buffer = bytearray(BOM if bom else b"")
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in copy:
            buffer += row
            if len(buffer) >= 2**16:
                yield bytes(buffer)
                buffer.clear()
    if buffer:
        yield bytes(buffer)


# ----------------------------------------------------------------------------------------------------- releases


# A release of more links than these takes long enough to be made in the background.
MOST_IN_REQUEST = 20_000
# A file of three columns has no word for a change or a removal; these wait for a full file.
OPERATIONS = {ReleaseFormat.FULL: tuple(Operation), ReleaseFormat.JOIL: (Operation.ADD,)}


def run_release(run: Run, progress: Progress = lifecycle.no_progress) -> ReleaseReport:
    """The release that the run's parameters ask for. It ends with the release or not at all: a job that came twice
    would find nothing left to export."""
    chosen = ExportFilter.from_query({name: str(value) for name, value in run.params["filters"].items()})
    if chosen.ignored:  # known to the version that was asked, and no longer to this one
        unknown = ", ".join(chosen.ignored)
        raise UserError(
            f"Nothing was released: the filter holds a field or a value that is not known ({unknown}). Export again."
        )
    with transaction.atomic():
        release = create_release(
            run.project,
            chosen.edges(run.project),
            fmt=ReleaseFormat(run.params["format"]),
            user=run.created_by,
            filters=run.params["filters"],
            bom=run.params["bom"],
            progress=progress,
        )
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
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    steps = 4
    progress(0, steps, "Looking at each link again")
    checks.gather(project, edges, OPERATIONS[fmt] if shown is None else Operation, lock=True)
    if shown is not None:
        _compare(project, shown)
        checks.begin_again(OPERATIONS[fmt])
    checks.hold_back(project, read_sensitive=True)
    counts = checks.counts()
    leave = {operation: counts.get((operation, ""), 0) for operation in Operation}
    held_back = sum(links for (_, reason), links in counts.items() if reason)
    if not any(leave.values()):
        raise NothingToExport(_nothing(held_back))
    last = project.releases.aggregate(last=Max("number"))["last"] or 0
    release = Release.objects.create(
        project=project,
        number=last + 1,
        format=fmt,
        filters=filters or {},
        status=Choice.ACCEPTED,
        links=sum(leave.values()),
        added=leave[Operation.ADD],
        changed=leave[Operation.CHANGE],
        removed=leave[Operation.REMOVE],
        held=held_back,
        bytes=0,
        sha256="",
        created_by_id=user.pk if user is not None else None,
    )
    progress(1, steps, "Writing the file")
    taken = CandidateEdge.objects.extra(where=[_LEAVES])  # noqa: S610 - a constant
    with tempfile.TemporaryFile() as file:
        for piece in _pieces(_copy_statement(taken, fmt, _LEAVING), bom=bom):
            file.write(piece)
        _keep(release, file)
    release.save()
    progress(2, steps, "Writing down what leaves")
    _write_down(release)
    progress(3, steps, "Marking the links")
    marked = _mark()
    if marked != release.links:
        raise RuntimeError(f"{marked} edges marked, {release.links} in the file")
    names = ("links", "changed", "removed", "held", "format", "filters", "sha256")
    after = {name: value for name, value in audit.values(release, names).items() if value not in (0, {})}
    audit.record(project, ChangeKind.RELEASE, user=user, subject=str(release), after=after)
    return release


def _compare(project: Project, shown: int) -> None:
    """Counts what was gathered as the preview does. The release itself may hold back more: it reads anew what is
    sensitive, and its format may have no word for changes."""
    checks.hold_back(project, read_sensitive=False)
    now = sum(links for (_, reason), links in checks.counts().items() if not reason)
    if now not in (0, shown):
        those = "1 link" if now == 1 else f"{now:,} links"
        raise NumberChanged(
            f"Nothing was exported: {those} would leave now, and not {shown:,} as when you looked. Look again and "
            "export once more."
        )


def _nothing(held_back: int) -> str:
    if held_back:
        those = (
            "the one link that might leave is" if held_back == 1 else f"all {held_back:,} links that might leave are"
        )
        return f"Nothing is ready to leave: {those} held back. The list says why."
    return (
        "Nothing is ready to leave: no link of this selection is accepted and not exported yet. "
        "Accept some in the review queue, or choose others."
    )


def _write_down(release: Release) -> None:
    """What leaves, as it leaves, and what is held back."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO review_releaselink (release_id, edge_id, operation, anchor, rel) "
            "SELECT %s, e.id, l.operation, e.anchor, e.rel FROM leaving l JOIN linker_candidateedge e ON e.id = l.edge "
            "WHERE l.reason = '' ORDER BY e.id",
            [release.pk],
        )
        cursor.execute(
            "INSERT INTO review_heldback (release_id, edge_id, operation, reason, detail) "
            "SELECT %s, edge, operation, reason, detail FROM leaving WHERE reason <> '' ORDER BY edge",
            [release.pk],
        )


def _mark() -> int:
    """What the edges are now that they have left; returns how many."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE linker_candidateedge e SET updated_at = %s, "
            "status = CASE l.operation WHEN 'remove' THEN 'withdrawn' ELSE 'exported' END "
            "FROM leaving l WHERE l.edge = e.id AND l.reason = ''",
            [timezone.now()],
        )
        marked = cursor.rowcount
        cursor.execute("DELETE FROM review_pending p USING leaving l WHERE l.edge = p.edge_id AND l.reason = ''")
    return marked


def _keep(release: Release, file: IO[bytes]) -> None:
    digest = hashlib.sha256()
    file.seek(0)
    for number, piece in enumerate(iter(lambda: file.read(CHUNK_BYTES), b"")):
        digest.update(piece)
        ReleaseChunk.objects.create(release=release, number=number, content=gzip.compress(piece, mtime=0))
    release.bytes, release.sha256 = file.tell(), digest.hexdigest()


def release_pieces(release: Release) -> Iterator[bytes]:
    """The release's file, byte for byte as it was handed out, in pieces of at most 1 MiB.

    One short query a piece: a slow download holds no cursor open.
    """
    number = 0
    while chunk := ReleaseChunk.objects.filter(release=release, number=number).first():
        yield gzip.decompress(chunk.content)
        number += 1


def file_name(release: Release) -> str:
    return f"anchorline-{release.project.slug}-release-{release.number}.csv"


# ------------------------------------------------------------------------------------------------------ preview


@dataclass(frozen=True)
class Group:
    """Links that would leave alike. `tier` is "" for links whose tier was deleted."""

    unreviewed: bool
    tier: str
    rel: str
    placement: Placement
    links: int


@dataclass(frozen=True)
class Preview:
    """What would leave now. Groups of additions: reviewed before unreviewed, then by tier from the top, rel and
    placement. `held`: the most final reason first. `sample`: the first rows of the file."""

    groups: tuple[Group, ...]
    changed: int
    removed: int
    held: list[held.Group]
    sample: list[CandidateEdge]

    @property
    def added(self) -> int:
        return sum(group.links for group in self.groups)

    @property
    def links(self) -> int:
        return self.added + self.changed + self.removed

    @property
    def unreviewed(self) -> int:
        return sum(group.links for group in self.groups if group.unreviewed)

    @property
    def held_links(self) -> int:
        return sum(group.links for group in self.held)

    @property
    def held_undecided(self) -> int:
        return sum(group.undecided for group in self.held)

    @property
    def held_decided(self) -> int:
        return self.held_links - self.held_undecided


def approved(project: Project, edges: QuerySet[CandidateEdge], most: int) -> int:
    """How many of `edges` were approved or asked to change, before any is looked at; `most` at most."""
    ready = choose(edges, Choice.ACCEPTED)
    pending = edges.filter(pending__isnull=False).order_by()
    return min(ready[:most].count() + pending[:most].count(), most)


@transaction.atomic
def preview(project: Project, edges: QuerySet[CandidateEdge], size: int = 5) -> Preview:
    """What a full release of `edges` would hold now, with its first `size` rows. Locks and changes nothing."""
    checks.gather(project, edges, Operation, lock=False)
    checks.hold_back(project, read_sensitive=False)
    counts = checks.counts()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT NOT l.decided, coalesce(t.name, ''), e.rel, e.placement, count(*) FROM leaving l "
            "JOIN linker_candidateedge e ON e.id = l.edge LEFT JOIN linker_tier t ON t.id = e.tier_id "
            "WHERE l.operation = 'add' AND l.reason = '' GROUP BY 1, 2, 3, 4 "
            "ORDER BY 1, max(t.lower_bound) DESC NULLS LAST, 2, 3, 4"
        )
        groups = tuple(
            Group(unreviewed, tier, rel, Placement(placement), links)
            for unreviewed, tier, rel, placement, links in cursor.fetchall()
        )
    taken = CandidateEdge.objects.extra(where=[_LEAVES])  # noqa: S610 - a constant
    joined = taken.select_related("source", "target", "tier", "pending").defer("source__body", "target__body")
    return Preview(
        groups=groups,
        changed=counts.get((Operation.CHANGE, ""), 0),
        removed=counts.get((Operation.REMOVE, ""), 0),
        held=held.groups(held.NEXT),
        sample=list(joined.order_by(*ORDER)[:size]),
    )
