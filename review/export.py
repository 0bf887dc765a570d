"""Links leave the house: which, in what columns and order, and the release that remembers them.

PostgreSQL writes the CSV (COPY ... TO STDOUT), so memory stays constant whatever the number of links, and one
statement sees one state of the data. The file: UTF-8, RFC 4180 quoting, lines end with "\\n", a header row. Rows
come donor by donor, the donor with the best link first and each donor's links best first:
donor_best descending, donor id, score descending, edge id.

Text that a spreadsheet would take for a formula (it begins with = + - @, a tab or a carriage return) gets an
apostrophe in front. Numbers and times are never touched.
"""

from __future__ import annotations

import gzip
import hashlib
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from typing import IO, TYPE_CHECKING, Any, cast

from django.db import connection, transaction
from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone

from linker import services
from linker.errors import UserError
from linker.models import CandidateEdge, EdgeStatus, PageStatus, Placement, Project
from review.models import Release, ReleaseChunk, ReleaseFormat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.contrib.auth.models import AbstractBaseUser
    from django.db.backends.postgresql.operations import DatabaseOperations

CHUNK_BYTES = 2**20
BOM = b"\xef\xbb\xbf"


class Choice(StrEnum):
    """Which links a file holds.

    accepted   what leaves next: accepted links, and suggestions of tiers that may be exported unreviewed, unless
               they are sensitive, stale, held back, or a page of theirs is gone
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


# -------------------------------------------------------------------------------------------------- which links

_OPEN = Q(status=EdgeStatus.SUGGESTED, stale=False)
_APPROVED = Q(status=EdgeStatus.ACCEPTED)
_MAY_GO_UNREVIEWED = _OPEN & Q(tier__export_unreviewed=True, tier__held=False)
_PAGES_ARE_THERE = Q(
    source__status=PageStatus.LIVE,
    source__missing_since=None,
    target__status=PageStatus.LIVE,
    target__missing_since=None,
    target__indexable=True,
)
_READY_UNLESS_SENSITIVE = _APPROVED | (_MAY_GO_UNREVIEWED & _PAGES_ARE_THERE)
_CHOSEN = {
    Choice.ACCEPTED: _READY_UNLESS_SENSITIVE & (_APPROVED | Q(sensitive="")),
    Choice.SUGGESTED: _OPEN,
    Choice.EXPORTED: Q(status=EdgeStatus.EXPORTED),
    Choice.ALL: _OPEN | Q(status__in=[EdgeStatus.ACCEPTED, EdgeStatus.EXPORTED]),
}
ORDER = ("-donor_best", "source", "-score", "pk")


def choose(edges: QuerySet[CandidateEdge], choice: Choice) -> QuerySet[CandidateEdge]:
    """Those of `edges` that a file of the choice holds, in no order."""
    return edges.filter(_CHOSEN[choice]).order_by()


# ----------------------------------------------------------------------------------------------------- the file


def _text(expression: str) -> str:
    """SQL of a text cell that no spreadsheet runs as a formula; the codes are those of = + - @ tab and CR.

    Few texts begin with anything before the letter A: the first question settles most.
    """
    return (
        f"CASE WHEN ascii({expression}) > 64 THEN {expression} "
        f"WHEN ascii({expression}) IN (61, 43, 45, 64, 9, 13) THEN '''' || {expression} ELSE {expression} END"
    )


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


def _alike(expression: str) -> str:
    """SQL of a text without what writers vary: case, typographic quotes and dashes, no-break spaces."""
    return f"translate(lower({expression}), E'’‘“”„–—\\u00a0', E'\\'\\'\"\"\"-- ')"


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
) part ON part.words = e.anchor OR {_alike("part.words")} = {_alike("e.anchor")}
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


_CELLS = {
    "donor_url": _text("e.donor_url"),
    "acceptor_url": _text("e.acceptor_url"),
    "anchor_text": _text("e.anchor"),
    "rel": "e.rel",
    "placement": "e.placement",
    "tier": "e.tier",
    "score": _six_decimals("e.score"),
    "similarity": _six_decimals("e.similarity"),
    "level": "e.level",
    "category": _text("array_to_string(e.category, ' > ')"),
    "model": "e.model",
    "threshold": "e.threshold",
    "run": "e.run_id",
    "run_time": "e.run_time",
    "decided_by": _text("e.decided_by"),
    "decided_at": _time("e.decided_at"),
    "edited": "e.edited::text",
    "ranked_by": "e.ranked_by",
    "probability": _six_decimals("e.probability"),
    "quantile": _six_decimals("e.quantile"),
    "generators": "array_to_string(e.generators, ';')",
    "why": _text("e.why"),
    "anchor_source": "e.anchor_source",
    "anchor_start": _place("e.span_start", "CASE WHEN e.moved_sentence IS NOT NULL THEN e.span_start END"),
    "anchor_end": _place("e.span_end", "CASE WHEN e.moved_sentence IS NOT NULL THEN e.span_end END"),
    "sentence": _place(_text("e.sentence"), _text("e.moved_sentence")),
    "section_heading": _place(f"nullif({_text('e.section_heading')}, '')", _text("e.moved_heading")),
    "content_gap": "e.content_gap::text",
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
)

# What is the same for many rows is made once, in a subquery that OFFSET 0 keeps whole. All that may be large is joined
# by its key, so that a planner that takes a million fresh rows for one (statistics lag behind a bulk write) is slow by
# a factor and not by a square.
# An open suggestion has no standing decision: the condition on its status saves looking for one.
_BOTH_PAGES = "JOIN linker_page donor ON donor.id = e.source_id JOIN linker_page acceptor ON acceptor.id = e.target_id"
_PROVENANCE = f"""
JOIN (
    SELECT r.id, {_text("model.name || ' ' || model.version")} AS model,
        coalesce(r.params ->> 'threshold', r.report ->> 'threshold') AS threshold,
        {_time("coalesce(r.finished_at, r.created_at)")} AS time
    FROM linker_run r LEFT JOIN linker_embeddingmodel model ON model.id = r.model_id OFFSET 0
) run ON run.id = e.run_id
LEFT JOIN (SELECT t.id, {_text("t.name")} AS name FROM linker_tier t OFFSET 0) tier ON tier.id = e.tier_id
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
_URLS = "donor.url AS donor_url, acceptor.url AS acceptor_url"
_ROWS = {
    ReleaseFormat.FULL: (
        f"{_URLS}, donor.body_hash AS donor_hash, category.path AS category, tier.name AS tier, run.model, "
        "run.threshold, run.time AS run_time, decision.username AS decided_by, decision.at AS decided_at, "
        "moved.sentence AS moved_sentence, moved.heading AS moved_heading",
        f"{_BOTH_PAGES} {_PROVENANCE} {_DECIDED} LEFT JOIN LATERAL ({_MOVED}) moved ON true",
    ),
    ReleaseFormat.JOIL: (_URLS, _BOTH_PAGES),
}


def _copy_statement(edges: QuerySet[CandidateEdge], fmt: ReleaseFormat) -> str:
    operations = cast("DatabaseOperations", connection.ops)
    chosen = operations.compose_sql(*edges.order_by().values(*_EDGE_COLUMNS).query.sql_with_params())
    cells = ", ".join(f"{_CELLS[name]} AS {name}" for name in COLUMNS[fmt])
    joined, tables = _ROWS[fmt]
    # Constants and SQL that Django made; the values are quoted by the driver. The cells are made of sorted rows.
    return (
        f"COPY (SELECT {cells} FROM (SELECT e.*, {joined} FROM ({chosen}) e {tables} ORDER BY {_ORDER}) e "
        f"ORDER BY {_ORDER}) TO STDOUT (FORMAT csv, HEADER)"
    )


def stream(edges: QuerySet[CandidateEdge], fmt: ReleaseFormat, *, bom: bool = False) -> Iterator[bytes]:
    """The file of these edges in pieces of about 64 KiB, as PostgreSQL writes it.

    The connection is busy until the iterator is exhausted or closed. Without edges: the header alone.
    """
    buffer = bytearray(BOM if bom else b"")
    with connection.cursor() as cursor, cursor.copy(_copy_statement(edges, fmt)) as copy:
        for row in copy:
            buffer += row
            if len(buffer) >= 2**16:
                yield bytes(buffer)
                buffer.clear()
    if buffer:
        yield bytes(buffer)


# ----------------------------------------------------------------------------------------------------- releases


@transaction.atomic
def create_release(
    project: Project,
    edges: QuerySet[CandidateEdge],
    *,
    fmt: ReleaseFormat = ReleaseFormat.FULL,
    user: AbstractBaseUser | None = None,
    filters: dict[str, Any] | None = None,
    bom: bool = False,
) -> Release:
    """Marks those of `edges` that are ready to leave as exported and keeps their file, in one transaction.

    `edges` belong to `project`; `filters` says how they were chosen. Which of them are sensitive is read anew first.
    Releases of a project wait for one another, and the edges are locked before their rows are read, so no edge leaves
    twice and none leaves as something else than it was when marked. Raises NothingToExport where none is ready.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    last = project.releases.aggregate(last=Max("number"))["last"] or 0
    release = Release.objects.create(
        project=project,
        number=last + 1,
        format=fmt,
        filters=filters or {},
        status=Choice.ACCEPTED,
        links=0,
        bytes=0,
        sha256="",
        created_by_id=user.pk if user is not None else None,
    )
    release.links = _take(release, edges)
    if not release.links:
        raise NothingToExport(
            "Nothing is ready to leave: no link of this selection is accepted and not exported yet. "
            "Accept some in the review queue, or choose others."
        )
    taken = CandidateEdge.objects.filter(release_links__release=release)
    with tempfile.TemporaryFile() as file:
        for piece in stream(taken, fmt, bom=bom):
            file.write(piece)
        _keep(release, file)
    release.save()
    marked = taken.update(status=EdgeStatus.EXPORTED, updated_at=timezone.now())
    if marked != release.links:
        raise RuntimeError(f"{marked} edges marked, {release.links} in the file")
    return release


def _take(release: Release, edges: QuerySet[CandidateEdge]) -> int:
    """Locks those of `edges` that are ready and writes them down as the release's; returns how many.

    The status is tested by the statement that locks: an edge that another transaction has just changed is looked
    at anew. In order of id, as every writer of many edges locks them. What is sensitive is read anew after that, on
    locked edges alone: a page may have moved since they were marked.
    """
    locked = edges.filter(_READY_UNLESS_SENSITIVE).order_by("pk").select_for_update(of=("self",)).values("id")
    sql, params = locked.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO review_releaselink (release_id, edge_id) SELECT %s, taken.id FROM ({sql}) taken",
            [release.pk, *params],
        )
        taken = cursor.rowcount
    services.mark_sensitive(release.project, CandidateEdge.objects.filter(release_links__release=release))
    unseen = release.release_links.filter(edge__status=EdgeStatus.SUGGESTED).exclude(edge__sensitive="")
    return taken - unseen.delete()[0]


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
    """What would leave now. Groups: reviewed before unreviewed, then by tier from the top, rel and placement.

    `sensitive` counts the suggestions that only their sensitivity keeps from leaving unreviewed; `gone` the
    accepted links of which a page is no longer there or no longer indexable.
    """

    groups: tuple[Group, ...]
    sensitive: int
    gone: int

    @property
    def links(self) -> int:
        return sum(group.links for group in self.groups)

    @property
    def unreviewed(self) -> int:
        return sum(group.links for group in self.groups if group.unreviewed)


def preview(edges: QuerySet[CandidateEdge]) -> Preview:
    ready = choose(edges, Choice.ACCEPTED)
    counts = (
        ready.values("status", "tier__name", "rel", "placement")
        .annotate(links=Count("pk"), bound=Max("tier__lower_bound"))
        .order_by("status", "-bound", "tier__name", "rel", "placement")  # "accepted" before "suggested"
    )
    groups = tuple(
        Group(
            unreviewed=row["status"] == EdgeStatus.SUGGESTED,
            tier=row["tier__name"] or "",
            rel=row["rel"],
            placement=Placement(row["placement"]),
            links=row["links"],
        )
        for row in counts
    )
    return Preview(
        groups=groups,
        sensitive=edges.filter(_MAY_GO_UNREVIEWED).exclude(sensitive="").count(),
        gone=edges.filter(_APPROVED).exclude(_PAGES_ARE_THERE).count(),
    )


def sample(edges: QuerySet[CandidateEdge], size: int = 5) -> list[CandidateEdge]:
    """The first rows of the next release, with both pages and the tier."""
    ready = choose(edges, Choice.ACCEPTED).select_related("source", "target", "tier").order_by(*ORDER)
    return list(ready[:size])
