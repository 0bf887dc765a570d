"""Links and pages are written without a look at each foreign key, and still refer to rows that are there."""

from __future__ import annotations

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction

from ingest import services
from linker.models import ExistingLink, Page
from tests.factories import make_page
from tests.ingest.files import LINK_HEADER, link, write, write_pages


@pytest.fixture
def plain_role(db):
    """A role that may read and write, but not leave the checks of foreign keys out."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE ROLE plain; GRANT ALL ON ALL TABLES IN SCHEMA public TO plain; "
            "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO plain; SET LOCAL ROLE plain"
        )


def import_both(project, tmp_path) -> None:
    services.import_file(project, "pages", write_pages(tmp_path / "pages.csv", "/x/a", "/x/b", "/c"))
    rows = [link("/x/a", "/x/b"), link("/c", "/x/a", position="Header")]
    services.import_file(project, "links", write(tmp_path / "all_inlinks.csv", LINK_HEADER, rows))


def stored(project) -> tuple[list, list]:
    pages = Page.objects.filter(project=project).order_by("url").values_list("url", "category__name", "inlinks")
    links = ExistingLink.objects.filter(project=project).order_by("source__url")
    return list(pages), list(links.values_list("source__url", "target__url", "block"))


@pytest.mark.nightly
def test_a_role_that_must_check_each_row_imports_the_same(project, tmp_path, request):
    sid = transaction.savepoint()
    import_both(project, tmp_path)
    expected = stored(project)
    transaction.savepoint_rollback(sid)
    request.getfixturevalue("plain_role")
    import_both(project, tmp_path)
    assert stored(project) == expected
    assert len(expected[1]) == 2


@pytest.mark.nightly
def test_checks_are_on_again_after_an_import(project, tmp_path):
    import_both(project, tmp_path)
    with connection.cursor() as cursor:
        cursor.execute("SHOW session_replication_role")
        assert cursor.fetchone() == ("origin",)
    Page.objects.filter(project=project).update(category_id=0)
    with pytest.raises(IntegrityError), transaction.atomic():
        connection.check_constraints()
    Page.objects.filter(project=project).update(category_id=None)


@pytest.mark.django_db(transaction=True)
def test_no_page_goes_while_links_between_pages_are_read(project, tmp_path):
    pages = [make_page(project, "/a"), make_page(project, "/b")]
    path = write(tmp_path / "all_inlinks.csv", LINK_HEADER, [link("/a", "/b")])
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as other:
        other.execute("SET lock_timeout = '200ms'")

        def progress(done, total, stage):
            if stage == "Saving links":
                with pytest.raises(psycopg.errors.LockNotAvailable):
                    other.execute("DELETE FROM linker_page WHERE id = %s", [pages[1].pk])

        services.import_file(project, "links", path, progress=progress)
    assert ExistingLink.objects.count() == 1
