"""Importing in the browser: hand in, look, choose columns, start; for managers of the project alone."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from ingest import services
from ingest.kinds import registry
from ingest.models import Upload
from linker.models import Page, Run, RunStatus, SearchQuery
from linker.runs import job_queue, lifecycle
from linker.runs.job_queue import JobKey
from tests.factories import make_page, make_run
from tests.ingest.files import LINK_HEADER, SITE, csv_text, link

pytestmark = pytest.mark.django_db


def upload_of(project, header, rows, name="crawl.csv", kind="") -> Upload:
    file = SimpleUploadedFile(name, csv_text(header, rows).encode())
    return services.take_upload(project, None, file=file, kind=kind)


def choices(upload: Upload, **changed: list[str]) -> dict[str, str]:
    """The mapping form as the preview shows it, with some choices changed."""
    looked = services.look_at_upload(upload.project, upload)
    fields = registry.get(upload.kind).fields.fields
    mapping = {field.name: looked.mapping.get(field.name, []) for field in fields} | changed
    texts = {field.name for field in fields if field.text}
    return {name: "".join(cells) if name in texts else json.dumps(cells) for name, cells in mapping.items()}


@pytest.fixture
def addresses(project, tmp_path):
    """Every address of the import, with something behind it."""
    upload = upload_of(project, ("Address", "Title"), [(f"{SITE}/a", "A")])
    run = make_run(project, "import_pages", report={"skipped_file": True})
    path = services.skipped_path(project.pk, run.pk)
    path.write_text("line,column\n2,Address\n")
    return [
        reverse("import", args=[project.slug]),
        reverse("import_preview", args=[project.slug, upload.pk]),
        reverse("import_skipped", args=[project.slug, run.pk]),
    ]


def test_outsiders_get_404_viewers_and_editors_403_managers_the_page(
    client, client_for, outsider, viewer, editor, manager, addresses
):
    for address in addresses:
        assert client.get(address).status_code == 302
        assert client_for(outsider).get(address).status_code == 404
        assert client_for(viewer).get(address).status_code == 403
        assert client_for(editor).get(address).status_code == 403
        assert client_for(manager).get(address).status_code == 200
        for user in (outsider, viewer, editor):
            assert client_for(user).post(address, {"action": "start"}).status_code in (403, 404, 405)
    assert Run.objects.filter(status=RunStatus.QUEUED).count() == 0


def test_uploads_and_skipped_rows_of_another_project_are_not_found(project, outsider, client_for, addresses):
    for address in addresses[1:]:
        assert client_for(outsider).get(address.replace("/p/shop/", "/p/elsewhere/")).status_code == 404


def test_an_upload_leads_to_its_preview(project, manager, client_for):
    file = SimpleUploadedFile("all_inlinks.csv", csv_text(LINK_HEADER, [link("/a", "/b")]).encode())
    answer = client_for(manager).post(reverse("import", args=["shop"]), {"file": file})
    upload = Upload.objects.get()
    assert answer.url == reverse("import_preview", args=["shop", upload.pk])
    assert (upload.kind, upload.name, upload.uploaded_by) == ("links", "all_inlinks.csv", manager)
    assert upload.file.read_bytes() == csv_text(LINK_HEADER, [link("/a", "/b")]).encode()


@pytest.mark.parametrize(("content", "words"), [(b"", "empty"), (b"%PDF", "PDF")])
def test_a_bad_upload_is_refused_beside_the_field_and_leaves_nothing(
    project, manager, client_for, settings, content, words
):
    file = SimpleUploadedFile("<b>crawl</b>.csv", content)
    answer = client_for(manager).post(reverse("import", args=["shop"]), {"file": file})
    assert answer.status_code == 422
    assert words in answer.text
    assert "<b>crawl" not in answer.text
    assert not Upload.objects.exists()
    assert not [path for path in settings.UPLOAD_ROOT.rglob("*") if path.is_file()]


def test_an_upload_that_is_not_utf_8_is_kept_and_its_page_says_so(project, manager, client_for):
    file = SimpleUploadedFile("<b>crawl</b>.csv", b"a\xff,b\n")
    page = client_for(manager).post(reverse("import", args=["shop"]), {"file": file}, follow=True)
    assert "not UTF-8" in page.text
    assert "<b>crawl" not in page.text
    assert Upload.objects.get().is_there


def test_an_upload_over_the_limit_is_refused(project, manager, client_for, settings):
    settings.UPLOAD_MAX_MB = 0
    file = SimpleUploadedFile("c.csv", b"Address\n")
    answer = client_for(manager).post(reverse("import", args=["shop"]), {"file": file})
    assert "larger than 0 MB" in answer.text
    assert not Upload.objects.exists()


@pytest.mark.nightly
def test_the_preview_of_a_file_of_many_columns_stays_small(project, manager, client_for):
    upload = upload_of(project, ("Address", *(["x"] * 1_497), "Title", "Note"), [(f"{SITE}/a", *(["v"] * 1_499))])
    text = client_for(manager).get(reverse("import_preview", args=["shop", upload.pk])).text
    assert len(text) < 500_000
    assert "The lists offer 200 of the 1,500 columns." in text
    assert text.count("and 1,438 more") == 1
    # A column of a word of its own is offered wherever it stands.
    assert ">Note</option>" in text
    assert '<option value="[&quot;Title&quot;]" selected>Title</option>' in text


@pytest.mark.nightly
def test_the_preview_of_a_file_of_few_columns_offers_them_all(project, manager, client_for):
    upload = upload_of(project, ("Address", *(f"x {n}" for n in range(150))), [(f"{SITE}/a", *(["v"] * 150))])
    text = client_for(manager).get(reverse("import_preview", args=["shop", upload.pk])).text
    assert ">x 149</option>" in text
    assert "The lists offer" not in text


def test_the_preview_shows_fields_values_and_what_is_left_out_escaped(project, manager, client_for):
    hostile = "<script>alert(1)</script>"
    rows = [(f"{SITE}/{n}", f"Title {n}", hostile, hostile) for n in range(5)]
    upload = upload_of(project, ("Address", "Title 1", "H1-1", hostile), rows, name=f"{hostile}.csv")
    text = client_for(manager).get(reverse("import_preview", args=["shop", upload.pk])).text
    assert "Title 0" in text
    assert "Title 2" in text
    assert "Title 3" not in text
    assert "1 column left out" in text
    assert "folders of the addresses" in text
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_another_choice_of_column_shows_its_values_and_starts_nothing(project, manager, client_for):
    upload = upload_of(project, ("Address", "Title", "Slogan"), [(f"{SITE}/a", "The title", "The slogan")])
    address = reverse("import_preview", args=["shop", upload.pk])
    answer = client_for(manager).post(address, {**choices(upload, h1=["Slogan"]), "action": "preview"})
    assert "The slogan" in answer.text
    assert not Run.objects.exists()


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_confirming_imports_with_the_chosen_columns_and_remembers_them(project, manager, client_for, run_jobs):
    client = client_for(manager)
    upload = upload_of(project, ("Address", "Title", "Slogan"), [(f"{SITE}/a", "T", "S"), ("nowhere", "", "")])
    address = reverse("import_preview", args=["shop", upload.pk])
    answer = client.post(address, {**choices(upload, h1=["Slogan"], title=[]), "action": "start"})
    run = Run.objects.get()
    assert answer.url == reverse("run", args=["shop", run.pk])
    assert (run.kind, run.created_by, run.params["mapping"]["h1"]) == ("import_pages", manager, ["Slogan"])
    run_jobs()
    run.refresh_from_db()
    assert (run.status, run.error, run.report["pages"]) == (RunStatus.SUCCEEDED, "", 1)
    assert (Page.objects.get().h1, Page.objects.get().title) == ("S", "")
    project.refresh_from_db()
    assert project.import_mappings == {"pages": {"title": [], "h1": ["Slogan"]}}
    again = upload_of(project, ("Address", "Title", "Slogan"), [(f"{SITE}/b", "T", "S")])
    assert services.look_at_upload(project, again).mapping == {"url": ["Address"], "h1": ["Slogan"]}

    listing = client.get(reverse("import", args=["shop"])).text
    assert reverse("import_skipped", args=["shop", run.pk]) in listing
    skipped = client.get(reverse("import_skipped", args=["shop", run.pk]))
    assert skipped["Content-Disposition"] == f'attachment; filename="shop-skipped-{run.pk}.csv"'
    assert b"3,Address,The address is not an http or https URL,nowhere" in b"".join(skipped.streaming_content)


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_an_import_that_fails_says_why_on_its_run_and_loads_nothing(project, manager, client_for, run_jobs):
    rows = csv_text(("Address", "Title"), [(f"{SITE}/{n}", "T") for n in range(100)]) + '"cut off'
    upload = services.take_upload(project, None, file=SimpleUploadedFile("c.csv", rows.encode()))
    client_for(manager).post(
        reverse("import_preview", args=["shop", upload.pk]), {**choices(upload), "action": "start"}
    )
    run_jobs()
    run = Run.objects.get()
    assert run.status == RunStatus.FAILED
    assert "c.csv, line 102" in run.error
    assert not Page.objects.exists()


def test_a_second_import_of_a_kind_waits_for_the_first(
    project, manager, client_for, redis_server, django_capture_on_commit_callbacks
):
    upload = upload_of(project, ("Address", "Title"), [(f"{SITE}/a", "A")])
    first = make_run(project, "import_pages", RunStatus.RUNNING)
    with django_capture_on_commit_callbacks(execute=True):
        job_queue.enqueue(JobKey("import_pages", (first.pk,)))
    address = reverse("import_preview", args=["shop", upload.pk])
    answer = client_for(manager).post(address, {**choices(upload), "action": "start"})
    assert answer.status_code == 409
    assert "already running" in answer.text
    assert Run.objects.count() == 1


@pytest.mark.nightly
def test_a_required_field_without_a_column_starts_nothing(project, manager, client_for):
    upload = upload_of(project, ("Seite", "Titel"), [("a", "A")], kind="pages")
    address = reverse("import_preview", args=["shop", upload.pk])
    assert "No column for “Address”" in client_for(manager).get(address).text
    answer = client_for(manager).post(address, {**choices(upload), "action": "start"})
    assert answer.status_code == 422
    assert not Run.objects.exists()


@pytest.mark.nightly
def test_the_start_is_offered_once_every_required_field_has_a_column(project, manager, client_for):
    upload = upload_of(project, ("Where", "Title"), [("a tent", "A")], kind="pages")
    client, address = client_for(manager), reverse("import_preview", args=["shop", upload.pk])
    page = client.get(address).text
    assert "No column for “Address”" in page
    assert "Start the import" not in page
    assert "then start the import" not in page
    page = client.post(address, {**choices(upload, url=["Where"]), "action": "preview"}).text
    assert page.count("Start the import") == 2


@pytest.mark.nightly
def test_the_columns_chosen_are_imported_without_looking_at_their_values_first(project, manager, client_for):
    upload = upload_of(project, ("Where", "Title"), [("a tent", "A")], kind="pages")
    client, address = client_for(manager), reverse("import_preview", args=["shop", upload.pk])
    assert "Import with the columns chosen here" in client.get(address).text
    client.post(address, {**choices(upload, url=["Where"]), "action": "start"})
    assert Run.objects.get().params["mapping"]["url"] == ["Where"]


@pytest.mark.parametrize(
    ("kind", "header", "field"),
    [
        ("links", ("Source", "b"), "Destination"),
        ("pages", ("Where", "Title"), "Address"),
        ("queries", ("query", "b"), "Page"),
        ("traffic", ("url", "b"), "Hits, views or visits"),
    ],
)
def test_in_the_browser_a_missing_column_is_asked_for_by_the_name_of_its_field(
    project, manager, client_for, kind, header, field
):
    upload = upload_of(project, header, [("a tent", "x")], kind=kind)
    page = client_for(manager).get(reverse("import_preview", args=["shop", upload.pk])).text
    assert f"choose it in the preview at “{field}”" in page
    assert "--map" not in page


def test_a_column_that_the_file_lacks_is_no_choice(project, manager, client_for):
    upload = upload_of(project, ("Address", "Title"), [(f"{SITE}/a", "A")])
    address = reverse("import_preview", args=["shop", upload.pk])
    answer = client_for(manager).post(address, {**choices(upload), "title": '["Nothing"]', "action": "start"})
    assert "not one of the available choices" in answer.text
    assert not Run.objects.exists()


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "content",
    [
        csv_text(("Address", "Title"), [("https://other.example/a", "A"), ("https://other.example/b", "B")]),
        csv_text(("Address", "Title"), [("https://other.example/a", "A"), *[(f"{SITE}/b", "B")] * 99]) + '"cut off',
    ],
    ids=["every row of another site", "a file cut off half-way"],
)
def test_the_rows_left_out_of_an_import_that_failed_can_be_fetched(project, manager, client_for, content):
    file = SimpleUploadedFile("crawl.csv", content.encode())
    upload = services.take_upload(project, None, file=file, kind="pages")
    run = make_run(project, "import_pages", RunStatus.QUEUED, params={"upload": upload.pk})
    ended = lifecycle.execute(run.pk, services.run_import)
    assert (ended.status, ended.report["skipped_file"]) == (RunStatus.FAILED, True)
    address = reverse("import_skipped", args=["shop", run.pk])
    client = client_for(manager)
    assert address in client.get(reverse("run", args=["shop", run.pk])).text
    assert b"The address belongs to another site" in b"".join(client.get(address).streaming_content)
    assert not Page.objects.exists()


def test_skipped_rows_that_were_not_written_are_not_found(project, manager, client_for):
    run = make_run(project, "import_pages")
    assert client_for(manager).get(reverse("import_skipped", args=["shop", run.pk])).status_code == 404


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_file_of_queries_is_known_looked_at_and_imported(project, manager, client_for):
    make_page(project, "/a")
    upload = upload_of(project, ("url", "query", "importance"), [(f"{SITE}/a", "tents", "3")], name="wishes.csv")
    assert upload.kind == "queries"
    address = reverse("import_preview", args=["shop", upload.pk])
    page = client_for(manager).get(address).text
    assert "A page&#x27;s queries are weighed by “importance”." in page
    assert "allow_shrink" not in page
    answer = client_for(manager).post(address, choices(upload) | {"action": "start"})
    run = Run.objects.get(kind="import_queries")
    assert answer.url == reverse("run", args=["shop", run.pk])
    lifecycle.execute(run.pk, services.run_import)
    assert SearchQuery.objects.get(page__project=project).query == "tents"
    shown = client_for(manager).get(answer.url).text
    for words in ("Import search queries", "Queries of pages", "Read as", "url, query, importance"):
        assert words in shown
    assert "Import links" in shown, "the next step is what the project lacks"
    imports = client_for(manager).get(reverse("import", args=["shop"])).text
    assert "wishes.csv" in imports
