"""A last line without an end: honest files have one, and so have files that were cut off in a last cell."""

from __future__ import annotations

import gzip

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from ingest import services
from linker.models import Run, RunKind
from linker.reports.words import summary
from tests.factories import make_page, make_run
from tests.ingest.files import SITE

pytestmark = pytest.mark.django_db
FILES = {
    "pages": f"Address,Title 1\n{SITE}/a,Tents\n{SITE}/b,Stov",
    "links": f"Source,Destination,Anchor\n{SITE}/a,{SITE}/b,stoves\n{SITE}/b,{SITE}/a,ten",
    "queries": f"Page,Query,Clicks\n{SITE}/a,tents,12\n{SITE}/b,stoves,3",
    "traffic": f"Top pages,Clicks,Position\n{SITE}/a,12,4.5\n{SITE}/b,3,4.",
}
WARNING = "The last line (3) has no line break, so the file may have been cut off there."


@pytest.fixture
def pages(project):
    return [make_page(project, path) for path in ("/a", "/b")]


@pytest.fixture
def preview(project, manager, client_for):
    """The preview's remarks on a file."""

    def look(kind: str, content: bytes, encoding: str = "") -> list[str]:
        file = SimpleUploadedFile("export.csv", content)
        upload = services.take_upload(project, None, file=file, kind=kind, encoding=encoding)
        answer = client_for(manager).get(reverse("import_preview", args=[project.slug, upload.pk]))
        return [note.text for note in answer.context["looked"].notes if note.warn]

    return look


def report_of(project, kind: str, path) -> tuple[dict, list[str]]:
    report = services.import_file(project, kind, path)
    return report, summary(make_run(project, RunKind(f"import_{kind}"), status="succeeded", report=report))


@pytest.mark.parametrize("kind", FILES)
def test_a_last_line_without_an_end_is_imported_with_a_warning(project, pages, preview, tmp_path, kind):
    path = tmp_path / "export.csv"
    path.write_text(FILES[kind])
    assert WARNING in preview(kind, path.read_bytes())
    report, said = report_of(project, kind, path)
    assert (report["rows"], report["open_line"]) == (2, 3)
    assert WARNING in said


@pytest.mark.sample(4)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-16"])
@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_ends_its_last_line_is_imported_without_a_word(
    project, pages, preview, tmp_path, kind, encoding, end
):
    path = tmp_path / "export.csv"
    whole = (FILES[kind] + "\n").replace("\n", end)
    path.write_bytes(whole.encode(encoding))
    assert WARNING not in preview(kind, path.read_bytes())
    report, said = report_of(project, kind, path)
    assert "open_line" not in report
    assert WARNING not in said


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16"])
def test_the_end_of_a_text_in_utf_16_is_looked_for_in_its_letters(project, preview, encoding):
    assert WARNING in preview("pages", FILES["pages"].encode(encoding))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_last_cell_that_closes_its_quotes_was_not_cut_off(project, preview, tmp_path, encoding):
    path = tmp_path / "export.csv"
    path.write_bytes(f'"Address";"Title 1"\n"{SITE}/a";"Tents"\n"{SITE}/b";"Stoves of 5"""'.encode(encoding))
    assert WARNING not in preview("pages", path.read_bytes())
    report, said = report_of(project, "pages", path)
    assert "open_line" not in report
    assert WARNING not in said


@pytest.mark.nightly
def test_the_line_is_the_last_one_of_a_row_of_several(project, preview, tmp_path):
    path = tmp_path / "export.csv"
    path.write_text(f'Address,Title 1\n{SITE}/a,"Big\ntents"\n{SITE}/b,"Small\nstoves"')
    assert any("(5)" in note for note in preview("pages", path.read_bytes()))
    assert report_of(project, "pages", path)[0]["open_line"] == 5


@pytest.mark.nightly
def test_the_last_line_of_a_packed_file_is_told_by_the_report(project, preview, tmp_path):
    path = tmp_path / "export.csv.gz"
    path.write_bytes(gzip.compress(FILES["pages"].encode()))
    assert WARNING not in preview("pages", path.read_bytes())
    assert WARNING in report_of(project, "pages", path)[1]


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_the_command_tells_the_line(project, tmp_path, capsys):
    path = tmp_path / "export.csv"
    path.write_text(FILES["pages"])
    call_command("import_pages", "shop", str(path))
    assert Run.objects.get().report["open_line"] == 3
    assert "The last line (3) has no line break" in capsys.readouterr().out


@pytest.mark.nightly
def test_far_fewer_pages_with_numbers_than_before_are_told(project, tmp_path):
    for n in range(100):
        make_page(project, f"/{n}")

    def load(pages: int) -> tuple[dict, list[str]]:
        path = tmp_path / "traffic.csv"
        path.write_text("Top pages,Clicks\n" + "".join(f"{SITE}/{n},{n}\n" for n in range(pages)))
        return report_of(project, "traffic", path)

    for pages in (100, 80):
        report, _ = load(pages)
        assert "traffic_before" not in report
    report, said = load(57)
    assert report["traffic_before"] == 80
    assert any(one.startswith("Before this import, 80 pages had numbers for this period; now 57 have.") for one in said)
