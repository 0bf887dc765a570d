"""The columns of an export: what each holds, as SQL over the rows that review.releases.rows joins.

Text that a spreadsheet might take for a formula gets an apostrophe in front (linker.storage.cells). Numbers and times
are never touched.
"""

from __future__ import annotations

from linker.engine.text.headings import BYLINE, CODE_SHOWN, FEW
from linker.matching.words_gone import alike
from linker.models.edge_columns import EXPORTED_COLUMNS, EdgeColumn, Form
from linker.storage.cells import safe_cell_sql
from review.models import ReleaseFormat
from review.releases import put_in


def _six_decimals(expression: str) -> str:
    """SQL of a float with six decimals; by way of an integer, which is several times faster than a cast to numeric."""
    return f"({expression} * 1000000)::bigint * 0.000001"


def time_cell(expression: str) -> str:
    """SQL of a time in UTC, to the second."""
    return f"to_char({expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"


SENTENCE_SIDE = 300  # characters of the text that a sentence may reach to each side of its anchor


def _lines(expression: str) -> str:
    """SQL of a text whose sentences end with a line break."""
    for mark, ended in ((". ", ".\\n"), ("! ", "!\\n"), ("? ", "?\\n"), ("。", "。\\n")):
        expression = f"replace({expression}, '{mark}', E'{ended}')"
    return expression


# Sentence and heading are kept with the edge and hold as long as the donor's text is the one they were read from.
_KEPT = "e.body_hash = e.donor_hash"

NO_HEADING = "'" + f"{BYLINE}|{CODE_SHOWN}".replace("'", "''") + "'"
# Where an anchor is in a text that has changed since, if the text still has it. `|| ''` unpacks the text once. A
# sentence ends with a mark and a space, or with its line; a heading is one that the page is known to have, or a short
# line that neither begins nor ends like one of the text: see linker/engine/text/headings.py.
MOVED_PLACE = f"""
SELECT headings.lines[width_bucket(e.span_start, headings.ends)] AS heading,
    ltrim(split_part(part.above, E'\\n', -1)) || part.words || rtrim(split_part(part.below, E'\\n', 1)) AS sentence
FROM (
    SELECT body || '' AS body FROM linker_page
    WHERE id = e.source_id AND e.span_start IS NOT NULL AND e.body_hash IS DISTINCT FROM donor.body_hash OFFSET 0
) page
JOIN LATERAL (
    SELECT substr(page.body, greatest(e.span_start - {SENTENCE_SIDE}, 0) + 1,
        least(e.span_start, {SENTENCE_SIDE}) + e.span_end - e.span_start + {SENTENCE_SIDE}) AS text OFFSET 0
) around ON true
JOIN LATERAL (
    SELECT {_lines(f"left(around.text, least(e.span_start, {SENTENCE_SIDE}))")} AS above,
        substr(around.text, least(e.span_start, {SENTENCE_SIDE}) + 1, e.span_end - e.span_start) AS words,
        {_lines(f"substr(around.text, least(e.span_start, {SENTENCE_SIDE}) + e.span_end - e.span_start + 1)")} AS below
    OFFSET 0
) part ON part.words = e.anchor OR {alike("part.words")} = {alike("e.anchor")}
CROSS JOIN LATERAL (
    SELECT array_prepend(donor.h1, donor.headings) AS headings,
        cardinality(donor.headings) >= {FEW} AND EXISTS (
            SELECT FROM unnest(donor.headings) heading WHERE strpos(page.body, heading) > 0) AS all_of_them OFFSET 0
) known
JOIN LATERAL (
    SELECT array_agg(trim(line) ORDER BY n) AS lines, array_agg(stop ORDER BY n) AS ends FROM (
        SELECT line, n, (sum(length(line) + 1) OVER (ORDER BY n))::int AS stop
        FROM unnest(string_to_array(page.body, E'\\n')) WITH ORDINALITY AS every(line, n) OFFSET 0
    ) numbered
    WHERE CASE WHEN known.all_of_them THEN trim(line) = ANY(known.headings)
        ELSE length(line) <= 80 AND trim(line) <> '' AND strpos('.,;:!?…。！，；', right(rtrim(line), 1)) = 0
        AND strpos('-*•‣◦·', left(ltrim(line), 1)) = 0 AND left(ltrim(line), 1) = upper(left(ltrim(line), 1))
        AND trim(line) !~ {NO_HEADING} END
) headings ON true
"""


CONTEXT_SIDE = 60  # characters of its line that stand beside an anchor
# Whether a row needs its donor's text: where that has changed, MOVED_PLACE says whether it still has the place.
READS = "(e.span_start IS NOT NULL AND (e.body_hash = donor.body_hash OR moved.sentence IS NOT NULL)) AS reads"
# A donor's text, unpacked once (`|| ''`). The rows come donor by donor, and as nothing here is a row's own but its
# donor and whether it reads it, PostgreSQL keeps the texts of the last ones (Memoize). A condition of another kind
# would make it read each text for each link again.
READ = """
SELECT body || '' AS body FROM linker_page WHERE id = e.source_id AND e.reads OFFSET 0
"""
# The words as the text spells them, which of several equal ones they are, and what stands next to them on their line.
# PostgreSQL finds a character only by walking there from the first, and slowly: it does so once, with `right`, to the
# place shortly before the words, and what is above is then cut by bytes.
SPELLED = f"""
SELECT part.words, (octet_length(part.above) - octet_length(replace(part.above, part.words, '')))
    / octet_length(part.words) + 1 AS nth,
    split_part(part.before, E'\\n', -1) AS before, split_part(part.after, E'\\n', 1) AS after
FROM (
    SELECT convert_from(substring(whole.bytes, 1, length(whole.bytes) - length(convert_to(cut.rest, 'UTF8'))), 'UTF8')
            || left(around.text, cut.side) AS above,
        left(around.text, cut.side) AS before,
        substr(around.text, cut.side + 1, e.span_end - e.span_start) AS words,
        right(around.text, e.span_start - e.span_end - cut.side) AS after
    FROM (
        SELECT least(e.span_start, {CONTEXT_SIDE}) AS side,
            CASE WHEN e.span_start > {CONTEXT_SIDE} THEN right(read.body, {CONTEXT_SIDE} - e.span_start)
                ELSE read.body END AS rest
        WHERE read.body IS NOT NULL AND e.span_end > e.span_start OFFSET 0
    ) cut
    CROSS JOIN LATERAL (SELECT convert_to(read.body, 'UTF8') AS bytes OFFSET 0) whole
    CROSS JOIN LATERAL (
        SELECT left(cut.rest, cut.side + e.span_end - e.span_start + {CONTEXT_SIDE}) AS text OFFSET 0
    ) around OFFSET 0
) part
WHERE part.words <> ''
"""


def _place(kept: str, moved: str) -> str:
    return f"CASE WHEN {_KEPT} THEN {kept} ELSE {moved} END"


def _of_paragraph(expression: str) -> str:
    return f"CASE WHEN e.paragraph IS NOT NULL THEN {expression} END"


def _edge_cell(column: EdgeColumn) -> str:
    """SQL of a column of the edge's own, as the file has it."""
    expression = f"e.{column.name}"
    if column.form is Form.ARRAY:
        expression = f"array_to_string({expression}, ';')"
    if column.form in (Form.TEXT, Form.VARCHAR, Form.ARRAY):
        return safe_cell_sql(expression)
    if column.form is Form.FLOAT:
        return _six_decimals(expression)
    return f"{expression}::text" if column.form is Form.BOOLEAN else expression


# Words of the program's own, which no spreadsheet takes for a formula.
_OWN_WORDS = {name: f"e.{EXPORTED_COLUMNS[name].name}" for name in ("rel", "placement")}
# What holds as long as the donor's text is the one it was read from.
_IN_THE_TEXT = {
    "anchor_start": _place("e.span_start", "CASE WHEN e.moved_sentence IS NOT NULL THEN e.span_start END"),
    "anchor_end": _place("e.span_end", "CASE WHEN e.moved_sentence IS NOT NULL THEN e.span_end END"),
    "sentence": _place(safe_cell_sql("e.sentence"), safe_cell_sql("e.moved_sentence")),
    "section_heading": _place(f"nullif({safe_cell_sql('e.section_heading')}, '')", safe_cell_sql("e.moved_heading")),
    "anchor_text": safe_cell_sql("coalesce(spelled.words, e.anchor)"),
    "paragraph": safe_cell_sql("e.paragraph"),
    "paragraph_heading": _of_paragraph(f"nullif({safe_cell_sql('e.paragraph_heading')}, '')"),
    "paragraph_start": _of_paragraph("e.paragraph_start"),
    "paragraph_end": _of_paragraph("e.paragraph_end"),
}
# Where it is to be found in the page, and what is put there.
PLACE_CELLS = {
    "occurrence": "spelled.nth",
    "context_before": safe_cell_sql("spelled.before"),
    "context_after": safe_cell_sql("spelled.after"),
    "stands": "stands.stands",
    "paragraph_number": put_in.PARAGRAPH_NUMBER,
    "html": safe_cell_sql("put_in.html"),
    "markdown": safe_cell_sql("put_in.markdown"),
}
# What other tables say of the edge.
JOINED_CELLS = {
    "donor_url": safe_cell_sql("e.donor_url"),
    "acceptor_url": safe_cell_sql("e.acceptor_url"),
    "tier": safe_cell_sql("e.tier"),
    "category": safe_cell_sql("array_to_string(e.category, ' > ')"),
    "model": safe_cell_sql("e.model"),
    "threshold": "e.threshold",
    "run_time": "e.run_time",
    "decided_by": safe_cell_sql("e.decided_by"),
    "decided_at": time_cell("e.decided_at"),
    "operation": "e.operation",
    "previous_anchor": safe_cell_sql("e.previous_anchor"),
    "previous_rel": "e.previous_rel",
    "previous_donor_url": safe_cell_sql("e.previous_donor_url"),
    "previous_acceptor_url": safe_cell_sql("e.previous_acceptor_url"),
    "approved_by": safe_cell_sql("e.approved_by"),
}
CELLS = {name: _edge_cell(column) for name, column in EXPORTED_COLUMNS.items()}
CELLS |= _OWN_WORDS | _IN_THE_TEXT | PLACE_CELLS | JOINED_CELLS
# In the order of the file.
COLUMNS = {
    ReleaseFormat.FULL: (
        *("donor_url", "acceptor_url", "anchor_text", "rel", "placement", "tier", "score", "similarity", "level"),
        *("category", "model", "threshold", "run", "run_time", "decided_by", "decided_at", "edited", "ranked_by"),
        *("probability", "quantile", "generators", "why", "anchor_source", "anchor_start", "anchor_end", "sentence"),
        *("section_heading", "content_gap", "operation", "paragraph", "paragraph_heading", "paragraph_start"),
        *("paragraph_end", "previous_anchor", "previous_rel", "previous_donor_url", "previous_acceptor_url"),
        *("approved_by", "occurrence", "context_before", "context_after", "stands", "paragraph_number"),
        *("new_sentence", "html", "markdown"),
    ),
    ReleaseFormat.JOIL: ("donor_url", "anchor_text", "acceptor_url"),
}
