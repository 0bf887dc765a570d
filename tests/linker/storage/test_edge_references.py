"""A run writes its edges without a look at each foreign key, and they still refer to rows that are there."""

from __future__ import annotations

import psycopg
import pytest
from django.db import connection, transaction

from linker.matching.start import run_match
from linker.models import CandidateEdge, Page
from linker.storage.references import IdsIn, lock_references
from tests.factories import embed, make_model, make_page
from tests.linker.matching.test_match import match, start


@pytest.fixture
def pages(project) -> list[Page]:
    pages = [make_page(project, f"/{name}", title=f"All about {name}") for name in ("tents", "stoves", "boots")]
    for number, page in enumerate(pages):
        embed(page, [1.0, number, 0, 0, 0, 0, 0, 0.5], make_model(8))
    return pages


def stored(project) -> list[tuple]:
    edges = CandidateEdge.objects.filter(project=project).order_by("source", "target")
    return list(edges.values_list("source", "target", "score", "anchor", "tier", "placement", "anchor_alternatives"))


@pytest.mark.nightly
@pytest.mark.django_db
def test_a_role_that_must_check_each_row_stores_the_same(project, pages):
    sid = transaction.savepoint()
    match(project)
    expected = stored(project)
    transaction.savepoint_rollback(sid)
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE ROLE plain; GRANT ALL ON ALL TABLES IN SCHEMA public TO plain; "
            "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO plain; SET LOCAL ROLE plain"
        )
    match(project)
    assert stored(project) == expected
    assert len(expected) == 6


@pytest.mark.django_db
def test_checks_are_on_again_after_a_run(project, pages):
    match(project)
    with connection.cursor() as cursor:
        cursor.execute("SHOW session_replication_role")
        assert cursor.fetchone() == ("origin",)


@pytest.mark.django_db
@pytest.mark.parametrize("are_stored", [False, True])
def test_what_refers_to_a_row_that_is_gone_is_checked(project, pages, are_stored):
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE asked (page bigint) ON COMMIT DROP")
        for ids, expected in (([pages[0].pk], "replica"), ([pages[0].pk, 0], "origin")):
            cursor.execute("TRUNCATE asked")
            cursor.execute("INSERT INTO asked SELECT unnest(%s::bigint[])", [ids])
            asked = IdsIn("asked", "page") if are_stored else ids
            with lock_references({"linker_project": [project.pk], "linker_page": asked}):
                cursor.execute("SHOW session_replication_role")
                assert cursor.fetchone() == (expected,)


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_no_page_goes_while_its_edges_are_stored(project, pages):
    run = start(project)
    type(run).objects.filter(pk=run.pk).update(status="running")
    run.refresh_from_db()
    tried = []
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as other:
        other.execute("SET lock_timeout = '200ms'")

        def progress(done, total, stage=""):
            if "done" in stage:
                with pytest.raises(psycopg.errors.LockNotAvailable):
                    other.execute("DELETE FROM linker_page WHERE id = %s", [pages[2].pk])
                tried.append(stage)

        run_match(run, progress)
    assert tried
    assert len(stored(project)) == 6
