"""Export of links as a file, against a bare COPY (SELECT ...) TO STDOUT CSV of the same columns.

    python bench/export.py [--links 1000000]

Made up in SQL (the same every time): one page for ten links, each with a body of about 3,000 characters in lines with
headings, ten links a donor, three in ten placed in the body and stored with sentence and heading. Ours is
review.releases.rows.file_pieces over everything that is suggested; the floor joins the same tables and writes the same
columns by one COPY, in no order, without guarding against formulas and without asking whether the texts still read so.
Both run in turn, ROUNDS times, and the best time of each counts. Memory is the most of any of our processes; a row of
its own holds what this process takes for all links against what it takes for a tenth of them, which is read first.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from _common import head, load_of_ours, migrate, note, row, timed
from django.db import connection
from django.utils import timezone

from linker.models import CandidateEdge, Project, Run, RunKind
from linker.projects.create import create_project
from linker.storage.copy import analyze
from review.models import ReleaseFormat
from review.releases.rows import Choice, choose, file_pieces

if TYPE_CHECKING:
    from django.db.models import QuerySet

BODY = (
    "E'Section ' || n || E'\\n' || repeat('Some words about a thing that is long enough to be read. ', 12) || "
    "'the words of the link here. ' || E'\\nMore about it\\n' || "
    "repeat('Other words about another thing, which is as long. ', 44)"
)
ROUNDS = 3
PLAIN = """
COPY (SELECT donor.url, acceptor.url, e.anchor, e.rel, e.placement, tier.name, e.score, e.similarity, e.level,
    array_to_string(category.path, ' > '), model.name, run.params ->> 'threshold', run.id, run.created_at, NULL, NULL,
    e.edited, e.ranked_by, e.probability, e.quantile, array_to_string(e.generators, ';'), e.why, e.anchor_source,
    e.span_start, e.span_end, e.sentence, e.section_heading, e.content_gap
FROM linker_candidateedge e JOIN linker_page donor ON donor.id = e.source_id
JOIN linker_page acceptor ON acceptor.id = e.target_id JOIN linker_run run ON run.id = e.run_id
LEFT JOIN linker_embeddingmodel model ON model.id = run.model_id LEFT JOIN linker_tier tier ON tier.id = e.tier_id
LEFT JOIN linker_category category ON category.id = donor.category_id) TO STDOUT (FORMAT csv, HEADER)
"""


def fill(links: int) -> None:
    project = create_project(slug="export", name="Export", base_url="https://bench.example")
    now = timezone.now()
    run = Run.objects.create(project=project, kind=RunKind.MATCH, status="succeeded", finished_at=now)
    pages = max(links // 10, 20)
    with connection.cursor() as cursor:
        for name, null, given in ((*column,) for column in _columns(cursor, "linker_page")):
            if not null and given is None:
                cursor.execute(f"ALTER TABLE linker_page ALTER {name} SET DEFAULT {_DEFAULTS[name]}")
        cursor.execute(
            "INSERT INTO linker_page (project_id, url, canonical_url, title, h1, body) SELECT %s, "
            "'https://bench.example/' || n, 'https://bench.example/' || n, 'Thing ' || n, 'Thing ' || n, "
            f"{BODY} FROM generate_series(1, %s) n",
            [project.pk, pages],
        )
        cursor.execute("SELECT min(id), strpos(min(body), 'the words of the link') - 1 FROM linker_page")
        first, place = cursor.fetchone()
        cursor.execute(
            "INSERT INTO linker_candidateedge (project_id, source_id, target_id, run_id, status, stale, generators, "
            "ranked_by, level, similarity, score, quantile, why, evidence, donor_best, created_at, updated_at, "
            "placement, rel, sensitive, span_start, span_end, sentence, section_heading, body_hash, content_gap, "
            "anchor, anchor_source, anchor_alternatives, edited) "
            "SELECT %s, %s + n / 10, %s + (n / 10 + n %% 10 + 1) %% %s, %s, 'suggested', false, '{nearest,mentions}', "
            "'learned', 0, 0.5, 0.9 - (n %% 10) * 0.01, 0.5, 'Its text is alike and 3 pages link both.', '{}', "
            "0.9, now(), now(), 'inline', 'follow', '', k.start, k.start + 21, "
            "CASE WHEN n %% 10 < 3 THEN 'the words of the link here.' ELSE '' END, "
            "CASE WHEN n %% 10 < 3 THEN 'Section ' || n / 10 + 1 ELSE '' END, "
            "CASE WHEN n %% 10 < 3 THEN p.body_hash END, false, "
            "'the words of the link', 'mention', '[]', false FROM generate_series(0, %s - 1) n "
            "JOIN linker_page p ON p.id = %s + n / 10, "
            "LATERAL (SELECT CASE WHEN n %% 10 < 3 THEN %s + length((n / 10 + 1)::text) - 1 END AS start) k ORDER BY n",
            [project.pk, first, first, pages, run.pk, links, first, place],
        )
    analyze("linker_page", "linker_candidateedge", "linker_run")


_DEFAULTS = {
    "status": "'live'", "headings": "'{}'", "indexable": "true", "inlinks": "0", "outlinks": "0",
    "first_seen_at": "now()", "last_seen_at": "now()",
}  # fmt: skip


def set_defaults() -> None:
    """A value for each column of pages that has none."""
    global _DEFAULTS
    with connection.cursor() as cursor:
        _DEFAULTS = {name: _DEFAULTS.get(name, "''") for name, *_ in _columns(cursor, "linker_page")}


def _columns(cursor, table: str) -> list[tuple[str, bool, str | None]]:
    cursor.execute(
        "SELECT column_name, is_nullable = 'YES' OR is_identity = 'YES', CASE WHEN column_name IN "
        "('project_id', 'url', 'canonical_url', 'title', 'h1', 'body') THEN '' ELSE column_default END "
        "FROM information_schema.columns WHERE table_name = %s AND is_generated = 'NEVER'",
        [table],
    )
    return [(name, null, default) for name, null, default in cursor.fetchall()]


def memory(edges: QuerySet[CandidateEdge]) -> int:
    """The most bytes this process holds while the links are exported."""
    with load_of_ours(every=0.05) as load:
        for _ in file_pieces(edges, ReleaseFormat.FULL):
            pass
    return load.python


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", type=int, default=1_000_000)
    options = parser.parse_args()
    migrate()
    set_defaults()
    fill(options.links)
    edges = choose(Project.objects.get(slug="export").edges.all(), Choice.SUGGESTED)
    head()
    with connection.cursor() as cursor:
        cursor.execute("SELECT min(source_id), max(source_id) FROM linker_candidateedge")
        first, last = cursor.fetchone()
    tenth, whole = memory(edges.filter(source_id__lte=first + (last - first) // 10)), memory(edges)
    row("export, memory for all links against a tenth", f"{options.links:,} links", f"{whole / 2**20:.0f} MiB",
        f"{tenth / 2**20:.0f} MiB", whole / tenth, 1.1)  # fmt: skip
    for fmt, target in ((ReleaseFormat.FULL, 2.0), (ReleaseFormat.JOIL, 2.0)):
        plain = PLAIN
        if fmt == ReleaseFormat.JOIL:
            start, stop = PLAIN.index("donor.url"), PLAIN.index("\nFROM")
            plain = PLAIN[:start] + "donor.url, e.anchor, acceptor.url" + PLAIN[stop:]
        floors, times = [], []
        with load_of_ours() as load:
            for _ in range(ROUNDS):
                with connection.cursor() as cursor, timed() as floor, cursor.copy(plain) as copy:
                    least = sum(len(piece) for piece in copy)
                with timed() as ours:
                    size = sum(len(piece) for piece in file_pieces(edges, fmt))
                floors.append(floor.seconds)
                times.append(ours.seconds)
        note(f"{fmt}: {size / 1e6:.0f} MB, floor {least / 1e6:.0f} MB, PostgreSQL held {load.postgres / 2**20:.0f} MiB")
        row(f"export, {fmt}", f"{options.links:,} links", f"{min(times):.2f} s", f"{min(floors):.2f} s",
            min(times) / min(floors), target, load.most)  # fmt: skip


if __name__ == "__main__":
    main()
