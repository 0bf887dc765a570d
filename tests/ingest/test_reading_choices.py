"""How a file is read is guessed, and the user may say otherwise: its delimiter, and whether it has a header."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from ingest import services
from ingest.files.header_doubt import doubtful_name
from ingest.kinds import registry
from ingest.models import Upload
from linker.models import Page, Run, RunStatus
from tests.ingest.files import SITE

# By their commas, the rows are of one width; the file's author meant its bars.
BARS = f"Where|What, in short\n{SITE}/a|A tent, light\n{SITE}/b|A stove, small\n"
NO_HEADER = f"{SITE}/a,A light tent\n{SITE}/b,A small stove\n"


def taken(project, content: str, kind: str = "pages") -> Upload:
    return services.take_upload(project, None, file=SimpleUploadedFile("own.csv", content.encode()), kind=kind)


def preview_of(upload: Upload) -> str:
    return reverse("import_preview", args=["shop", upload.pk])


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_delimiter_that_was_guessed_wrongly_is_chosen_and_used_by_the_import(project, manager, client_for, run_jobs):
    upload = taken(project, BARS)
    assert services.look_at_upload(project, upload).header == ("Where|What", "in short")
    client, address = client_for(manager), preview_of(upload)
    assert '<option value="auto" selected>Detect</option>' in client.get(address).text
    answer = client.post(address, {"action": "read", "delimiter": "|", "header": "row"})
    assert answer.url == address
    page = client.get(address).text
    assert '<option value="|" selected>Bar</option>' in page
    upload.refresh_from_db()
    assert services.look_at_upload(project, upload).header == ("Where", "What, in short")
    columns = {"url": '["Where"]', "title": json.dumps(["What, in short"])}
    client.post(address, {"action": "start", "delimiter": "|", "header": "row", **columns})
    run_jobs()
    assert (Run.objects.get().status, Run.objects.get().params["delimiter"]) == (RunStatus.SUCCEEDED, "|")
    assert sorted(Page.objects.values_list("title", flat=True)) == ["A stove, small", "A tent, light"]


@pytest.mark.django_db
def test_a_start_with_another_delimiter_shows_the_new_columns_first(project, manager, client_for):
    upload = taken(project, f"Address,Title\n{SITE}/a,A;B\n")
    address = preview_of(upload)
    columns = {"url": '["Address"]', "title": '["Title"]'}
    answer = client_for(manager).post(address, {"action": "start", "delimiter": ";", **columns})
    assert answer.url == address
    assert not Run.objects.exists()


@pytest.mark.nightly
@pytest.mark.django_db
def test_a_delimiter_that_makes_the_file_unreadable_changes_nothing_and_keeps_it(project, manager, client_for):
    upload = taken(project, f'Address;Title;Note\n{SITE}/a;x,"B";c\n')
    address = preview_of(upload)
    client = client_for(manager)
    answer = client.post(address, {"action": "read", "delimiter": ","}, follow=True)
    assert "The quoting of this row is broken" in answer.text
    upload.refresh_from_db()
    assert (upload.delimiter, upload.is_there) == ("", True)
    assert client.get(address).status_code == 200


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_file_without_a_header_is_doubted_and_read_from_its_first_row(project, manager, client_for, run_jobs):
    upload = taken(project, NO_HEADER)
    client, address = client_for(manager), preview_of(upload)
    assert f"one of its names is “{SITE}/a”" in client.get(address).text
    client.post(address, {"action": "no_header", "delimiter": "auto", "header": "row"})
    page = client.get(address).text
    assert "may not be a header" not in page
    assert "Column 2" in page
    upload.refresh_from_db()
    columns = {"url": '["Column 1"]', "title": '["Column 2"]'}
    client.post(address, {"action": "start", **columns})
    run_jobs()
    assert Run.objects.get().status == RunStatus.SUCCEEDED
    assert sorted(Page.objects.values_list("title", flat=True)) == ["A light tent", "A small stove"]
    project.refresh_from_db()
    assert not project.import_mappings  # “Column 1” of another file is another column


@pytest.mark.parametrize(
    ("header", "doubtful"),
    [
        (("Address", "Title 1", "Status Code"), ""),
        (("Where", "What"), ""),
        (("Address", "2023", "2024"), ""),
        (("Address", "What would you like to tell us about this page?"), ""),
        (("a tent", "12"), "12"),
        (("/tents/", "Tents"), "/tents/"),
        (("www.shop.example/a", "Title"), "www.shop.example/a"),
        (("2024-05-01", "x"), "2024-05-01"),
        (("These are the pages of our shop.", "x"), "These are the pages of our shop."),
    ],
)
def test_names_that_no_column_has_raise_a_doubt(header, doubtful):
    assert doubtful_name(header, registry.known_columns()) == doubtful


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_the_command_line_takes_a_delimiter_and_a_file_without_a_header(project, tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(BARS.partition("\n")[2])
    wanted = {"no_header": True, "delimiter": "bar", "map": ["url=Column 1", "title=Column 2"]}
    call_command("import_pages", "shop", str(path), **wanted)
    assert sorted(Page.objects.values_list("title", flat=True)) == ["A stove, small", "A tent, light"]


@pytest.mark.django_db
@pytest.mark.parametrize("mark", [";", "\t"])
def test_the_line_that_names_the_delimiter_is_no_header(project, mark):
    upload = taken(project, f"sep={mark}\nWhere{mark}What\n{SITE}/a{mark}A tent\n")
    assert services.look_at_upload(project, upload).header == ("Where", "What")


WINDOWS = f"Address,Title 1\n{SITE}/a,Zelte für große Füße\n".encode("cp1252")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["", "pages"])
def test_the_encoding_of_a_file_is_chosen_without_handing_it_in_again(project, manager, client_for, run_jobs, kind):
    client = client_for(manager)
    file = SimpleUploadedFile("fenster.csv", WINDOWS)
    answer = client.post(reverse("import", args=["shop"]), {"file": file, "kind": kind, "encoding": ""}, follow=True)
    upload = Upload.objects.get()
    assert answer.redirect_chain == [(preview_of(upload), 302)]
    assert "is not UTF-8" in answer.text
    assert '<option value="cp1252" selected>' in answer.text
    read = client.post(preview_of(upload), {"action": "read", "encoding": "cp1252"}, follow=True)
    assert "Zelte für große Füße" in read.text
    upload.refresh_from_db()
    assert (upload.kind, upload.encoding) == ("pages", "cp1252")
    client.post(preview_of(upload), {"action": "start", "url": '["Address"]', "title": '["Title 1"]'})
    run_jobs()
    assert Page.objects.get().title == "Zelte für große Füße"


@pytest.mark.django_db
def test_an_encoding_that_is_wrong_as_well_leaves_the_file_and_the_choice(project, manager, client_for):
    upload = services.take_upload(project, None, file=SimpleUploadedFile("fenster.csv", WINDOWS))
    client = client_for(manager)
    answer = client.post(preview_of(upload), {"action": "read", "encoding": "euc_kr"}, follow=True)
    assert "is not EUC-KR" in answer.text
    upload.refresh_from_db()
    assert (upload.encoding, upload.is_there) == ("", True)


@pytest.mark.django_db
def test_the_choice_of_an_encoding_is_for_managers(project, viewer, outsider, client_for):
    upload = services.take_upload(project, None, file=SimpleUploadedFile("fenster.csv", WINDOWS))
    assert client_for(viewer).get(preview_of(upload)).status_code == 403
    assert client_for(outsider).get(preview_of(upload)).status_code == 404


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_file_whose_other_encoding_shows_late_stays_and_can_be_read_anew(project, manager, client_for, run_jobs):
    early = f"{SITE}/b,Tents\n".encode() * 20_000
    content = WINDOWS.partition(b"\n")[0] + b"\n" + early + WINDOWS.partition(b"\n")[2]
    upload = services.take_upload(project, None, file=SimpleUploadedFile("fenster.csv", content), kind="pages")
    client = client_for(manager)
    columns = {"url": '["Address"]', "title": '["Title 1"]'}
    client.post(preview_of(upload), {"action": "start", **columns})
    run_jobs()
    assert "is not UTF-8" in Run.objects.get().error
    assert client.post(preview_of(upload), {"action": "read", "encoding": "cp1252"}).url == preview_of(upload)
    client.post(preview_of(upload), {"action": "start", **columns})
    run_jobs()
    assert Page.objects.filter(title="Zelte für große Füße").exists()
