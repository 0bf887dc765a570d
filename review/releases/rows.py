"""The rows of an export: which links, in what order, and the file that PostgreSQL writes of them.

PostgreSQL writes the CSV (COPY ... TO STDOUT), so memory stays constant whatever the number of links, and one
statement sees one state of the data. The file: UTF-8, RFC 4180 quoting, lines end with "\\n", a header row. Rows
come donor by donor, the donor with the best link first and each donor's best links first:
donor_best descending, donor id, score descending, edge id.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import QuerySet

from linker.models import CandidateEdge
from linker.models.edge_columns import EDGE_COLUMNS, Form
from linker.models.querysets import ACTIVE, DECIDED, OPEN, OUT, REOPENED, TO_REVIEW, UNDECIDED, sql
from linker.storage.cells import safe_cell_sql
from review.models import ReleaseFormat
from review.releases import checks, put_in
from review.releases.checks import REJECTED_AND_OUT, sql_of
from review.releases.columns import CELLS, COLUMNS, MOVED_PLACE, READ, READS, SPELLED, time_cell

if TYPE_CHECKING:
    from collections.abc import Iterator


BOM = b"\xef\xbb\xbf"


class Choice(StrEnum):
    """Which links a file holds.

    accepted   what leaves next: accepted links, suggestions of tiers that may be exported unreviewed, and the changes
               and removals that were asked for, as far as review.releases.checks holds nothing back
    shown      the open suggestions that the queue shows
    suggested  every open suggestion of the newest run, those that the queue holds back included
    exported   what is out: released, and not taken off the site since, also where it is back in the queue
    all        suggested, accepted and exported together; of what was rejected only what is still out
    """

    ACCEPTED = "accepted"
    SHOWN = "shown"
    SUGGESTED = "suggested"
    EXPORTED = "exported"
    ALL = "all"


_CHOSEN = {
    Choice.ACCEPTED: checks.READY,
    Choice.SHOWN: TO_REVIEW,
    Choice.SUGGESTED: OPEN,
    Choice.EXPORTED: OUT,
    Choice.ALL: ACTIVE | OUT,
}
ORDER = ("-donor_best", "source", "-score", "pk")


def choose(edges: QuerySet[CandidateEdge], choice: Choice, *, of_tier: bool = False) -> QuerySet[CandidateEdge]:
    """Those of `edges` that a file of the choice holds, in no order; of what leaves next, before it is looked at
    again. `of_tier`: they are of a tier that was asked for by name, which the queue then shows, held back or not."""
    if of_tier and choice is Choice.SHOWN:
        choice = Choice.SUGGESTED
    return edges.filter(_CHOSEN[choice]).order_by()


SQL_ORDER = "e.donor_best DESC, e.source_id, e.score DESC, e.id"
# What the order, the joins and the columns read of an edge, in addition to the columns of the file.
_LOOKED_AT = {"donor_best", "source_id", "target_id", "tier_id", "status", "regressed", "body_hash", "paragraph_hash"}
_LOOKED_AT |= {"second_by_id", "own_line"}


def _edge_columns() -> list[str]:
    """What the order looks at comes first, texts come last: in a row that is sorted, no text needs to be skipped."""
    sorted_by = ["donor_best", "source_id", "score", "id"]
    rest = [column for column in EDGE_COLUMNS if column.exported or column.name in _LOOKED_AT]
    rest.sort(key=lambda column: (column.form.is_wide, column.form is Form.VARCHAR))
    return [*sorted_by, *(column.name for column in rest if column.name not in sorted_by)]


# What is the same for many rows is made once, in a subquery that OFFSET 0 keeps whole. All that may be large is joined
# by its key, so that a planner that takes a million fresh rows for one (statistics lag behind a bulk write) is slow by
# a factor and not by a square.
# An open suggestion has no decision in force: the condition on its status saves looking for one.
_BOTH_PAGES = "JOIN linker_page donor ON donor.id = e.source_id JOIN linker_page acceptor ON acceptor.id = e.target_id"
_MODEL = "model.name || ' ' || model.version || coalesce(' (text ' || nullif(model.recipe, '') || ')', '')"
_PROVENANCE = f"""
JOIN (
    SELECT r.id, {_MODEL} AS model,
        CASE 'number' WHEN jsonb_typeof(r.params -> 'threshold') THEN (r.params ->> 'threshold')::numeric
            WHEN jsonb_typeof(r.report -> 'threshold') THEN (r.report ->> 'threshold')::numeric END AS threshold,
        {time_cell("coalesce(r.finished_at, r.created_at)")} AS time
    FROM linker_run r LEFT JOIN linker_embeddingmodel model ON model.id = r.model_id OFFSET 0
) run ON run.id = e.run_id
LEFT JOIN (SELECT t.id, t.name FROM linker_tier t OFFSET 0) tier ON tier.id = e.tier_id
LEFT JOIN linker_category category ON category.id = donor.category_id
"""
_DECIDED = f"""
LEFT JOIN LATERAL (
    SELECT u.username, d.at
    FROM review_decision d
    JOIN auth_user u ON u.id = d.user_id
    WHERE {sql(DECIDED, "e")} AND d.edge_id = e.id AND d.verb NOT IN ('undo', 'approve')
      AND NOT EXISTS (SELECT FROM review_decision u WHERE u.undoes_id = d.id)
    ORDER BY d.id DESC LIMIT 1
) decision ON true
"""
# The paragraph that a sentence or a line follows, as long as the donor's text is the one it was found in.
_PARAGRAPH = (
    "CASE WHEN (e.content_gap OR e.own_line) AND e.paragraph_hash = donor.body_hash "
    "THEN substr(donor.body, e.paragraph_start + 1, e.paragraph_end - e.paragraph_start) END"
)
_URLS = "donor.url AS donor_url, acceptor.url AS acceptor_url"
_MOVED = f"LEFT JOIN LATERAL ({MOVED_PLACE}) moved ON true"
_SPELLED = f"LEFT JOIN LATERAL ({READ}) read ON true LEFT JOIN LATERAL ({SPELLED}) spelled ON true"
_ROWS = {
    ReleaseFormat.FULL: (
        f"{_URLS}, {READS}, donor.body_hash AS donor_hash, category.path AS category, tier.name AS tier, run.model, "
        "run.threshold, run.time AS run_time, decision.username AS decided_by, decision.at AS decided_at, "
        f"moved.sentence AS moved_sentence, moved.heading AS moved_heading, to_do.operation, "
        f"{_PARAGRAPH} AS paragraph, {put_in.PARAGRAPH_NUMBER_OF_TEXT} AS paragraph_number, "
        f"{put_in.LINE_WORDING} AS line_wording, "
        "CASE WHEN to_do.operation = 'change' THEN out.anchor END AS previous_anchor, "
        "CASE WHEN to_do.operation = 'change' THEN out.rel END AS previous_rel, "
        "nullif(out.donor_was, '') AS previous_donor_url, nullif(out.acceptor_was, '') AS previous_acceptor_url, "
        "second.username AS approved_by",
        f"{_BOTH_PAGES} {_PROVENANCE} {_DECIDED} {_MOVED} LEFT JOIN auth_user second ON second.id = e.second_by_id "
        "JOIN (SELECT p.id, p.line_wording FROM linker_project p OFFSET 0) project ON project.id = donor.project_id",
    ),
    ReleaseFormat.JOIL: (f"{_URLS}, {READS}", f"{_BOTH_PAGES} {_MOVED}"),
}
# What is put into the page is made of what the rows have by then.
_PUT_IN = {
    ReleaseFormat.FULL: f"""{_SPELLED} CROSS JOIN LATERAL (SELECT {put_in.STANDS} AS stands OFFSET 0) stands
CROSS JOIN LATERAL (SELECT {put_in.HTML} AS html,
    {put_in.MARKDOWN} AS markdown OFFSET 0) put_in""",
    ReleaseFormat.JOIL: _SPELLED,
}
# What is to be done with a link: for a release what it says, else what a release would say now. Of a link that is out
# and back in the queue, nobody has said it yet.
_NOW = f"""
LEFT JOIN LATERAL (
    SELECT CASE WHEN {sql(UNDECIDED & REOPENED, "e")} THEN NULL WHEN e.status IN ('suggested', 'accepted') THEN 'add'
    WHEN {sql(REJECTED_AND_OUT, "e")} THEN 'remove' ELSE (
        SELECT p.operation FROM review_pending p WHERE p.edge_id = e.id
    ) END AS operation
) to_do ON true
"""
# What a change replaces: the words and rel that the link was released with last, and where its pages were then; a
# removal needs the addresses as well.
_PREVIOUS = "LEFT JOIN review_publishedlink out ON out.edge_id = e.id AND out.is_out"
_LEAVES = "linker_candidateedge.id IN (SELECT edge FROM leaving WHERE reason = '')"
_LEAVING = "JOIN leaving to_do ON to_do.edge = e.id"


def leaving_edges() -> QuerySet[CandidateEdge]:
    """The links of `leaving` that nothing holds back: see review.releases.checks."""
    return CandidateEdge.objects.extra(where=[_LEAVES])  # noqa: S610 - a constant


def leaving_file_pieces(fmt: ReleaseFormat, *, bom: bool) -> Iterator[bytes]:
    """The file of these links, each with what is to be done with it, in pieces as `file_pieces` gives them."""
    return _pieces(_copy_statement(leaving_edges(), fmt, _LEAVING), bom=bom)


def _copy_statement(edges: QuerySet[CandidateEdge], fmt: ReleaseFormat, to_do: str) -> str:
    chosen = sql_of(edges.order_by().values(*_edge_columns()))
    is_spelled = to_do == _LEAVING and fmt == ReleaseFormat.JOIL  # review.releases.places has spelled what leaves
    known = CELLS | {"anchor_text": safe_cell_sql("e.anchor")} if is_spelled else CELLS
    cells = ", ".join(f"{known[name]} AS {name}" for name in COLUMNS[fmt])
    joined, tables = (_URLS, _BOTH_PAGES) if is_spelled else _ROWS[fmt]
    put_in_tables = "" if is_spelled else _PUT_IN[fmt]
    # Constants and SQL that Django made; the values are quoted by the driver. The cells are made of sorted rows.
    before = _PREVIOUS if fmt == ReleaseFormat.FULL else ""
    return (
        f"COPY (SELECT {cells} FROM (SELECT e.*, {joined} FROM ({chosen}) e {tables} {to_do} {before} "
        f"ORDER BY {SQL_ORDER}) e {put_in_tables} ORDER BY {SQL_ORDER}) TO STDOUT (FORMAT csv, HEADER)"
    )


def file_pieces(edges: QuerySet[CandidateEdge], fmt: ReleaseFormat, *, bom: bool = False) -> Iterator[bytes]:
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
