"""What leaves with a release, and that it leaves once."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import threading
import time
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from django.db import connection, transaction
from django.utils import timezone

from linker.models import CandidateEdge, EdgeStatus, Page, SensitiveRule
from review.decisions import decide_edges
from review.live.verify import verify
from review.models import Held, Release, ReleaseFormat, ReleaseLink, Verb
from review.releases import create, rows
from review.releases.create import NothingToExport
from review.releases.preview import preview
from tests.factories import lenient_tiers, make_category, make_edge, make_link, make_page, make_project, make_run

if TYPE_CHECKING:
    from linker.models import Project


def release_of(project: Project, **how) -> Release:
    return create.create_release(project, project.edges.all(), **how)


def content(release: Release) -> bytes:
    return b"".join(create.release_pieces(release))


def donors(release: Release) -> list[str]:
    return [row["donor_url"] for row in csv.DictReader(io.StringIO(content(release).decode(), newline=""))]


@pytest.fixture
def lenient(project):
    """A project whose tier Related may leave unreviewed."""
    lenient_tiers(project, name="Related")
    return project


def test_only_accepted_links_leave(project):
    accepted = make_edge(project, status=EdgeStatus.ACCEPTED)
    for status in (EdgeStatus.SUGGESTED, EdgeStatus.REJECTED, EdgeStatus.EXPORTED):
        make_edge(project, status=status)

    assert donors(release_of(project)) == [accepted.source.url]


def test_links_that_left_are_marked_and_the_others_are_not(project):
    accepted, suggested = make_edge(project, status=EdgeStatus.ACCEPTED), make_edge(project)
    before = accepted.updated_at

    release = release_of(project)

    accepted.refresh_from_db()
    suggested.refresh_from_db()
    assert (accepted.status, suggested.status) == (EdgeStatus.EXPORTED, EdgeStatus.SUGGESTED)
    assert accepted.updated_at > before
    assert list(ReleaseLink.objects.values_list("release", "edge")) == [(release.pk, accepted.pk)]


def test_an_accepted_link_leaves_even_where_no_run_proposes_it_any_more(project):
    edge = make_edge(project, status=EdgeStatus.ACCEPTED, stale=True)

    assert donors(release_of(project)) == [edge.source.url]


def test_the_next_release_holds_only_what_is_new(project):
    first = make_edge(project, status=EdgeStatus.ACCEPTED)
    one = release_of(project)
    second = make_edge(project, status=EdgeStatus.ACCEPTED)
    two = release_of(project)

    assert (one.number, donors(one)) == (1, [first.source.url])
    assert (two.number, donors(two)) == (2, [second.source.url])


def test_releases_are_numbered_project_by_project(project):
    other = make_project("other")
    make_edge(project, status=EdgeStatus.ACCEPTED)
    make_edge(other, status=EdgeStatus.ACCEPTED)

    assert (release_of(project).number, release_of(other).number) == (1, 1)


def test_where_nothing_is_ready_no_release_is_made(project):
    make_edge(project)

    with pytest.raises(NothingToExport, match="Nothing is ready to export"):
        release_of(project)

    assert not Release.objects.exists()


def test_unreviewed_links_leave_with_the_rel_of_their_tier(lenient):
    lenient.tiers.filter(name="Related").update(rel="ugc")
    make_edge(lenient, score=0.7)

    release = release_of(lenient)

    row = next(csv.DictReader(io.StringIO(content(release).decode())))
    assert (row["tier"], row["rel"], row["decided_by"]) == ("Related", "ugc", "")
    assert lenient.edges.get().status == EdgeStatus.EXPORTED


@pytest.mark.parametrize(
    "fields",
    [
        {"score": 0.7, "stale": True},
        {"score": 0.55},
        {"score": 0.9},
        {"score": 0.7, "tier": None},
        {"score": 0.7, "status": EdgeStatus.REJECTED},
    ],
    ids=["stale", "held tier", "other tier", "no tier", "rejected"],
)
def test_these_never_leave_unreviewed(lenient, fields):
    make_edge(lenient, **fields)

    with pytest.raises(NothingToExport):
        release_of(lenient)


@pytest.mark.nightly
def test_a_link_that_came_back_from_the_site_waits_for_a_person_in_every_tier(lenient, editor):
    edge = make_edge(lenient, score=0.7)
    release_of(lenient)
    link = make_link(edge.source, edge.target, edge.anchor)
    verify(lenient)
    link.delete()
    verify(lenient)  # it was live and has gone

    with pytest.raises(NothingToExport):
        release_of(lenient)
    edge.refresh_from_db()
    assert (edge.status, edge.regressed, preview(lenient, lenient.edges.all()).links) == ("suggested", True, 0)
    assert not rows.choose(lenient.edges.all(), rows.Choice.ACCEPTED).exists()

    decide_edges(lenient, [edge.pk], Verb.ACCEPT, editor)
    assert donors(release_of(lenient)) == [edge.source.url]


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("gone", [{"missing_since": timezone.now()}, {"status": "removed"}], ids=["missing", "removed"])
def test_links_of_pages_that_are_gone_never_leave_unreviewed(lenient, side, gone):
    make_edge(lenient, score=0.7, **{side: make_page(lenient, **gone)})

    with pytest.raises(NothingToExport):
        release_of(lenient)


@pytest.fixture
def health(lenient):
    """A category whose subtree is sensitive."""
    category = make_category(lenient, "Magazine", "Health")
    SensitiveRule.objects.create(project=lenient, category=category, kind="medical")
    return category


@pytest.mark.nightly
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_link_of_a_page_that_has_become_sensitive_never_leaves_unreviewed(lenient, health, side):
    plain, moved = make_edge(lenient, score=0.7), make_edge(lenient, score=0.7)
    Page.objects.filter(pk=getattr(moved, f"{side}_id")).update(
        category=make_category(lenient, "Magazine", "Health", "Pills")
    )

    assert donors(release_of(lenient)) == [plain.source.url]
    moved.refresh_from_db()
    assert moved.status == EdgeStatus.SUGGESTED
    assert "medical" in moved.sensitive
    left = preview(lenient, lenient.edges.all())
    assert (left.links, [(group.reason, group.links) for group in left.held]) == (0, [(Held.SENSITIVE, 1)])


def test_a_release_is_refused_where_all_that_is_left_has_become_sensitive(lenient, health):
    make_edge(lenient, make_page(lenient, category=health), score=0.7)

    with pytest.raises(NothingToExport):
        release_of(lenient)


def test_a_sensitive_link_leaves_once_a_person_accepted_it(lenient, health):
    edge = make_edge(lenient, make_page(lenient, category=health), score=0.7, status=EdgeStatus.ACCEPTED)

    assert donors(release_of(lenient)) == [edge.source.url]


def test_a_selection_leaves_the_rest_for_later(project):
    edge = make_edge(project, score=0.7, status=EdgeStatus.ACCEPTED)
    rest = make_edge(project, score=0.9, status=EdgeStatus.ACCEPTED)

    release = create.create_release(project, project.edges.filter(tier=edge.tier), filters={"tier": edge.tier.pk})

    rest.refresh_from_db()
    assert donors(release) == [edge.source.url]
    assert (release.filters, rest.status) == ({"tier": edge.tier.pk}, EdgeStatus.ACCEPTED)


def test_a_release_stays_what_it_was(project, settings):
    edge = make_edge(project, status=EdgeStatus.ACCEPTED, anchor="as it left")
    release = release_of(project, fmt=ReleaseFormat.JOIL, bom=True)
    first = content(release)

    CandidateEdge.objects.update(anchor="changed since")
    Page.objects.update(url="https://moved.example/")

    stored = Release.objects.get()
    assert (
        first == f"\ufeffdonor_url,anchor_text,acceptor_url\n{edge.source.url},as it left,{edge.target.url}\n".encode()
    )
    assert content(stored) == first
    assert (stored.sha256, stored.bytes, stored.links) == (hashlib.sha256(first).hexdigest(), len(first), 1)


def fill(project: Project, edges: int, status: str = EdgeStatus.ACCEPTED) -> None:
    """`edges` links between 1,000 pages, written by PostgreSQL."""
    run = make_run(project, params={"inline_per_donor": 1000, "related_per_donor": 1000})
    example = make_edge(project, status=EdgeStatus.REJECTED, run=run)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO linker_page (project_id, url, canonical_url, status, title, h1, headings, description, body, "
            "language, indexable, indexability_status, canonical_link, redirect_url, inlinks, outlinks, first_seen_at, "
            "last_seen_at) SELECT %s, 'https://shop.example/' || i, 'https://shop.example/' || i, 'live', '', '', "
            "'{}', '', '', '', true, '', '', '', 0, 0, now(), now() FROM generate_series(1, 1000) i RETURNING id",
            [project.pk],
        )
        first = min(row[0] for row in cursor.fetchall())
        cursor.execute(
            "INSERT INTO linker_candidateedge (project_id, source_id, target_id, status, stale, run_id, generators, "
            "ranked_by, quantile, why, evidence, content_gap, "
            "level, similarity, score, donor_best, created_at, updated_at, tier_id, placement, rel, sensitive, anchor, "
            "anchor_source, anchor_alternatives, edited) SELECT %s, %s + i %% 1000, %s + (i %% 1000 + 1 + i / 1000) %% "
            "1000, %s, false, %s, '{category}', 'cosine', 0.5, '', '{}', false, "
            "0, 0.8, 0.8, 0.8, now(), now(), %s, 'inline', 'follow', '', "
            "'anchor ' || md5(i::text), 'h1', '[]', false FROM generate_series(0, %s) i",
            [project.pk, first, first, status, example.run_id, example.tier_id, edges - 1],
        )


@pytest.mark.nightly
def test_memory_stays_small_and_chunks_stay_small_with_many_links(project):
    fill(project, 50_000)

    tracemalloc.start()
    release = release_of(project)
    size = sum(len(piece) for piece in create.release_pieces(release))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (release.links, release.bytes) == (50_000, size)
    assert size > 8 * 2**20
    assert peak < 32 * 2**20  # most of it the words of anchors that are remembered, a bounded number of them
    lengths = [len(gzip.decompress(chunk.content)) for chunk in release.chunks.order_by("number")]
    assert lengths[:-1] == [create.CHUNK_BYTES] * (len(lengths) - 1)
    assert sum(lengths) == size


@pytest.mark.django_db(transaction=True)
def test_two_exports_at_once_never_hold_the_same_link(project):
    fill(project, 2_000)
    start = threading.Barrier(3)
    outcomes: list[object] = []

    def one() -> None:
        try:
            start.wait()
            outcomes.append(release_of(project))
        except NothingToExport as error:
            outcomes.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NothingToExport", "NothingToExport", "Release"]
    assert Release.objects.get().links == 2_000
    assert ReleaseLink.objects.count() == ReleaseLink.objects.values("edge").distinct().count() == 2_000


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_link_taken_back_while_the_export_waits_for_it_does_not_leave(project):
    """The editor's transaction holds the edge; the export waits for it and must see what became of it."""
    back, stays = make_edge(project, status=EdgeStatus.ACCEPTED), make_edge(project, status=EdgeStatus.ACCEPTED)
    made: list[Release] = []

    def leave() -> None:
        try:
            made.append(release_of(project))
        finally:
            connection.close()

    with transaction.atomic():
        CandidateEdge.objects.filter(pk=back.pk).update(status=EdgeStatus.REJECTED)
        thread = threading.Thread(target=leave)
        thread.start()
        wait_until_somebody_waits_for_a_lock()
    thread.join()

    back.refresh_from_db()
    assert donors(made[0]) == [stays.source.url]
    assert (made[0].links, back.status) == (1, EdgeStatus.REJECTED)


def wait_until_somebody_waits_for_a_lock() -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0]:
                return
        time.sleep(0.02)
    pytest.fail("the export never waited for the edge that another transaction holds")
