"""A file of nothing but a header is refused, and takes nothing away: an export that failed is no empty site."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from ingest import services
from ingest.errors import FileError
from ingest.models import Upload
from linker.models import ExistingLink, Page, PageTraffic, Run, SearchQuery
from linker.runs.lifecycle import no_progress
from tests.factories import make_page
from tests.ingest.files import LINK_HEADER, SITE, csv_text, link, write
from tests.ingest.test_import_pages import choices, upload_of
from tests.ingest.test_upload_life import files

pytestmark = pytest.mark.django_db
HEADERS = {
    "pages": ("Address", "Title 1"),
    "links": LINK_HEADER,
    "queries": ("Page", "Query", "Clicks"),
    "traffic": ("Top pages", "Clicks", "Impressions"),
}
ROWS = {
    "pages": [(f"{SITE}/{name}", name) for name in "abc"],
    "links": [link("/a", "/b"), link("/b", "/c")],
    "queries": [(f"{SITE}/a", "tents", "3")],
    "traffic": [(f"{SITE}/a", "3", "30")],
}
KINDS = tuple(HEADERS)
SENTENCE = "The file has a header but no rows below it, so there is nothing to import. Export it again"


@pytest.fixture
def filled(project):
    """The project with three pages and fewer links than the guard against shrinking compares with."""
    for name in "abc":
        make_page(project, f"/{name}")
    return project


def import_file(project, kind, path):
    return services.import_file(project, kind, path)


def there_is(project) -> tuple[int, ...]:
    """Pages and links that are not missing, queries, and numbers of pages."""
    return (
        Page.objects.filter(project=project, missing_since=None).count(),
        ExistingLink.objects.filter(project=project, missing_since=None).count(),
        SearchQuery.objects.filter(page__project=project).count(),
        PageTraffic.objects.filter(page__project=project).count(),
    )


@pytest.mark.parametrize("below", ["", "\n\r\n\n"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_import_of_a_file_without_rows_changes_nothing(filled, tmp_path, kind, below):
    import_file(filled, kind, write(tmp_path / "whole.csv", HEADERS[kind], ROWS[kind]))
    before = there_is(filled)
    path = tmp_path / "empty.csv"
    path.write_text(csv_text(HEADERS[kind], []) + below)
    with pytest.raises(FileError) as refused:
        import_file(filled, kind, path)
    assert str(refused.value).startswith(f"empty.csv: {SENTENCE}")
    assert there_is(filled) == before


@pytest.mark.parametrize("kind", KINDS)
def test_an_upload_of_a_file_without_rows_is_refused_beside_the_field_and_not_kept(filled, manager, client_for, kind):
    file = SimpleUploadedFile("empty.csv", csv_text(HEADERS[kind], []).encode())
    answer = client_for(manager).post(reverse("import", args=[filled.slug]), {"file": file, "kind": kind})
    assert answer.status_code == 422
    assert SENTENCE in " ".join(answer.context["form"].errors["file"])
    assert not files()
    assert not Upload.objects.exists()


def test_an_upload_without_rows_that_would_be_of_no_use_with_rows_is_told_so(filled, manager, client_for):
    file = SimpleUploadedFile("Queries.csv", csv_text(("Top queries", "Clicks", "Impressions"), []).encode())
    answer = client_for(manager).post(reverse("import", args=[filled.slug]), {"file": file})
    assert answer.status_code == 422
    assert answer.context["refused"].known.key == "console_queries"
    assert not files()


@pytest.mark.parametrize("kind", KINDS)
def test_the_preview_of_a_file_that_has_lost_its_rows_says_so_and_removes_it(filled, manager, client_for, kind):
    upload = upload_of(filled, HEADERS[kind], ROWS[kind], kind=kind)
    upload.file.write_text(csv_text(HEADERS[kind], []))
    preview = reverse("import_preview", args=[filled.slug, upload.pk])
    assert SENTENCE in client_for(manager).get(preview, follow=True).text
    assert not files()
    assert not Upload.objects.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_an_import_that_finds_no_rows_removes_the_file_and_keeps_its_run(filled, manager, client_for, kind):
    upload = upload_of(filled, HEADERS[kind], ROWS[kind], kind=kind)
    client_for(manager).post(
        reverse("import_preview", args=[filled.slug, upload.pk]), {**choices(upload), "action": "start"}
    )
    upload.file.write_text(csv_text(HEADERS[kind], []))
    with pytest.raises(FileError, match="no rows below it"):
        services.run_import(Run.objects.get(), no_progress)
    assert not files()
    assert Upload.objects.get().path == ""
