"""Content gaps: which paragraph of the donor would take a sentence about the acceptor."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction

from linker.embedding.service import site_template
from linker.engine.anchors.paragraphs import READ, SiteWords, SourceParagraphs, TargetContent, TargetQuery, names_of
from linker.models.linked import TEXT_LINK
from linker.models.project import GapLinks
from linker.models.querysets import OPEN, PRESENT, UNDECIDED, sql
from linker.storage.copy import copy_rows_in
from linker.storage.cursors import stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linker.engine.text.template import Template
    from linker.models import Project, Run

SAMPLE = 2_000  # texts of the site that tell how rare a word is and what is on many pages
DONORS_AT_A_TIME = 200
MAX_KEPT_QUESTIONS = 50_000  # acceptors about whom is asked, kept for the next donors
ANCHORS = 50  # links to an acceptor whose anchors are looked at

# Of a project that puts links without words on a line of their own, those beside the text are asked about as well.
_GAPS = f"""
SELECT e.source_id, e.target_id, e.id FROM linker_candidateedge e JOIN linker_page donor ON donor.id = e.source_id
WHERE e.run_id = %s AND (e.content_gap OR %s AND e.placement = 'related') AND {sql(OPEN, "e")} AND donor.body <> ''
ORDER BY e.source_id, e.id
"""
_SAMPLE = f"""
SELECT body, own_language FROM linker_page
WHERE project_id = %(project)s AND {sql(PRESENT)} AND body <> '' AND id %% greatest((
    SELECT count(*) FROM linker_page WHERE project_id = %(project)s AND {sql(PRESENT)} AND body <> ''
) / %(most)s, 1) = 0
ORDER BY id LIMIT 2 * %(most)s
"""
# Links to a page that thousands link to are not counted through: any fifty of them say what it is called.
_ANCHORS = f"""
SELECT asked.id, link.anchor FROM unnest(%s::bigint[]) AS asked(id) CROSS JOIN LATERAL (
    SELECT anchor FROM linker_existinglink
    WHERE target_id = asked.id AND {sql(TEXT_LINK)} AND anchor <> '' ORDER BY id LIMIT {ANCHORS}
) link
"""
_WRITE = f"""
WITH free AS (
    SELECT e.id FROM linker_candidateedge e JOIN gap_paragraphs p ON p.edge = e.id
    WHERE {sql(UNDECIDED, "e")} AND (e.content_gap OR e.placement = 'related')
    ORDER BY e.id FOR NO KEY UPDATE OF e SKIP LOCKED
)
UPDATE linker_candidateedge e SET paragraph_start = p.start, paragraph_end = p.stop, paragraph_heading = p.heading,
    paragraph_hash = p.body_hash
FROM free JOIN gap_paragraphs p ON p.edge = free.id WHERE e.id = free.id
"""


def find_paragraphs(run: Run) -> int:
    """Gives the open content gaps of a match run the paragraph that would take a sentence, or a line of its own; how
    many have one now.

    Gaps of which no paragraph shares a word with the acceptor have none, nor have those whose donor is a list. A gap
    that somebody is deciding on just now is left to them.
    """
    found = 0
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS gap_paragraphs")
        cursor.execute(
            "CREATE TEMP TABLE gap_paragraphs (edge bigint PRIMARY KEY, start int, stop int, heading text, "
            "body_hash bigint) ON COMMIT DROP"
        )
        words: SiteWords | None = None
        questions: dict[int, TargetQuery] = {}
        template = site_template(run.project)
        columns = ("edge", "start", "stop", "heading", "body_hash")
        for gaps in _by_donors(run):
            words = words or _words(run.project)
            if len(questions) > MAX_KEPT_QUESTIONS:
                questions.clear()
            rows = _paragraphs(words, template, gaps, questions)
            copy_rows_in("gap_paragraphs", columns, rows)
            found += sum(row[1] is not None for row in rows)
        if words is not None:
            cursor.execute("ANALYZE gap_paragraphs")
            cursor.execute(_WRITE)
    return found


def _by_donors(run: Run) -> Iterator[dict[int, list[tuple[int, int]]]]:
    """Acceptors and edges of some donors at a time, by donor."""
    gaps: dict[int, list[tuple[int, int]]] = defaultdict(list)
    has_lines = run.project.gap_links == GapLinks.LINE
    for source, target, edge in stream("gaps", _GAPS, [run.pk, has_lines]):
        if source not in gaps and len(gaps) == DONORS_AT_A_TIME:
            yield gaps
            gaps = defaultdict(list)
        gaps[source].append((target, edge))
    if gaps:
        yield gaps


def _words(project: Project) -> SiteWords:
    with connection.cursor() as cursor:
        cursor.execute(_SAMPLE, {"project": project.pk, "most": SAMPLE})
        rows = cursor.fetchall()
    return SiteWords([body for body, _ in rows], [language for _, language in rows])


def _paragraphs(
    words: SiteWords, template: Template, gaps: dict[int, list[tuple[int, int]]], questions: dict[int, TargetQuery]
) -> list[tuple[int, int | None, int | None, str, int | None]]:
    """Edge, start, end, heading and hash of the text of each gap's paragraph; `questions` about acceptors that were
    asked before are asked again, and new ones are added."""
    targets = sorted({target for found in gaps.values() for target, _ in found} - questions.keys())
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, body, own_language, body_hash, h1, headings FROM linker_page WHERE id = ANY(%s)",
                       [list(gaps)])  # fmt: skip
        donors = cursor.fetchall()
        cursor.execute(
            f"SELECT source_id, anchor FROM linker_existinglink WHERE source_id = ANY(%s) "
            f"AND {sql(TEXT_LINK)} AND anchor <> ''",
            [list(gaps)],
        )
        linked: dict[int, list[str]] = defaultdict(list)
        for source, anchor in cursor.fetchall():
            linked[source].append(anchor)
        questions |= _questions(cursor, words, template, targets)
    rows: list[tuple[int, int | None, int | None, str, int | None]] = []
    read = words.read([row[1] for row in donors], [row[2] for row in donors])
    for (page, body, _, body_hash, h1, headings), lines in zip(donors, read, strict=True):
        donor = SourceParagraphs(words, body, lines, [h1, *headings], linked[page])
        for target, edge in gaps[page]:
            best = donor.best(questions[target])
            if best is None:
                rows.append((edge, None, None, "", None))
            else:
                rows.append((edge, best.start, best.end, best.heading, body_hash))
    return rows


def _questions(cursor: Any, words: SiteWords, template: Template, targets: list[int]) -> dict[int, TargetQuery]:
    cursor.execute(_ANCHORS, [targets])
    anchors: dict[int, list[str]] = defaultdict(list)
    for target, anchor in cursor.fetchall():
        anchors[target].append(anchor)
    cursor.execute(
        "SELECT id, title, h1, left(body, %s), own_language FROM linker_page WHERE id = ANY(%s)", [READ, targets]
    )
    rows = cursor.fetchall()
    pages = [
        TargetContent(names_of(title, h1, template, language), body, anchors[page], language)
        for page, title, h1, body, language in rows
    ]
    return dict(zip((row[0] for row in rows), TargetQuery.of_pages(words, pages), strict=True))
