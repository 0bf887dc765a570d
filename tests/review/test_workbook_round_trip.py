"""The queue as an Excel workbook that is filled in and comes back, however it was saved."""

from __future__ import annotations

import html
import io
import re
import shutil
import subprocess
import zipfile

import pytest
import xlsxwriter
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from linker.models import CandidateEdge
from linker.storage import workbook
from review.models import Decision
from review.queue import sheet_in, sheet_out
from review.queue.sheet_out import COLUMNS
from tests.factories import make_edge, make_member, make_page, make_project

pytestmark = pytest.mark.django_db

SHEET = "/p/shop/queue/sheet/"
ODD = ["warm boots", "=HYPERLINK(1)", "+49 & <b> “x” 1_x0041_", "-1", "@here"]


@pytest.fixture
def edges(project) -> list[CandidateEdge]:
    return [
        make_edge(project, make_page(project, title=f"Donor {n}"), score=0.95 - n / 100, anchor=name)
        for n, name in enumerate(ODD)
    ]


@pytest.fixture
def as_editor(client_for, editor):
    return client_for(editor)


def download(client, query: str = "") -> bytes:
    answer = client.get(f"/p/shop/queue/sheet.xlsx?{query}")
    assert answer.status_code == 200
    return b"".join(answer.streaming_content)


def table(tmp_path, content: bytes) -> list[list[str]]:
    path = tmp_path / "read.xlsx"
    path.write_bytes(content)
    return [cells for _, cells in workbook.rows(path)]


def records(tmp_path, content: bytes) -> list[dict[str, str]]:
    header, *rows = table(tmp_path, content)
    return [dict(zip(header, [*cells, *[""] * len(header)], strict=False)) for cells in rows]


def saved(rows: list[dict[str, str]], columns=COLUMNS, *, fill=None) -> bytes:
    """A workbook with shared texts, as Excel saves them. `fill` writes more into the sheet."""
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        sheet = book.add_worksheet()
        bold = book.add_format({"bold": True, "font_color": "red"})
        sheet.write_row(0, 0, columns, bold)
        for number, row in enumerate(rows, 1):
            for column, name in enumerate(columns):
                sheet.write_string(number, column, row.get(name, ""), bold)
        if fill is not None:
            fill(sheet)
    return out.getvalue()


def send(client, content: bytes) -> tuple[str, str]:
    """What the preview says, and what its form would send."""
    page = client.post(SHEET, {"file": SimpleUploadedFile("review.xlsx", content)}).content.decode()
    found = re.search(r'name="wishes" value="([^"]*)"', page)
    said = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    return said, html.unescape(found[1]) if found else ""


def carried_out(client, content: bytes) -> str:
    said, wishes = send(client, content)
    assert wishes, said
    return client.post(SHEET, {"wishes": wishes}, follow=True).content.decode()


def state(edges) -> list[tuple[str, str]]:
    return [CandidateEdge.objects.values_list("status", "anchor").get(pk=edge.pk) for edge in edges]


def replaced(content: bytes, pattern: str, text: str) -> bytes:
    """The workbook with something else in the XML of its sheet."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                changed, times = re.subn(pattern, text, data.decode())
                assert times, pattern
                data = changed.encode()
            new.writestr(name, data)
    return out.getvalue()


def test_texts_are_texts_numbers_are_numbers_and_no_cell_is_a_formula(as_editor, tmp_path, edges):
    content = download(as_editor)
    rows = records(tmp_path, content)
    assert [row["anchor"] for row in rows] == ODD
    assert [row["suggestion"] for row in rows] == [str(edge.pk) for edge in edges]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        xml = archive.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in xml
    kinds = {found[1]: found[2] for found in re.finditer(r'<c r="([A-Z]+)2"[^>]*?(?: t="(\w+)")?>', xml)}
    assert kinds["A"] == kinds["F"] == "inlineStr"
    if edges[0].probability is not None:
        assert kinds["I"] is None


def test_the_workbook_is_ready_to_be_filled_in(as_editor, edges):
    with zipfile.ZipFile(io.BytesIO(download(as_editor))) as archive:
        xml = archive.read("xl/worksheets/sheet1.xml").decode()
    assert '<pane ySplit="1"' in xml, "the header stays in sight"
    decision = re.search(r'<dataValidation [^>]*sqref="K2:K6"[^>]*><formula1>"([^"]*)"', xml)
    assert decision is not None
    assert decision[1] == "accept,reject"
    assert 'sqref="M2:M6"' in xml, "the reasons are offered too"
    assert 'sqref="N2:N6"' in xml, "and for how long they hold"
    assert '<autoFilter ref="A1:O6"' in xml
    assert '<col min="5" max="5" width="70' in xml


@pytest.mark.nightly
def test_what_a_workbook_decides_is_shown_first_and_then_carried_out(as_editor, tmp_path, edges):
    rows = records(tmp_path, download(as_editor))
    rows[0]["decision"] = "accept"
    rows[1] |= {"decision": "accept"}
    rows[2] |= {"decision": "reject", "reason": "Poor anchor", "note": "=no"}
    said, _ = send(as_editor, saved(rows))
    assert "To accept: 2. To reject: 1. Rows without a decision: 2." in said
    assert {status for status, _ in state(edges)} == {"suggested"}
    assert "2 links accepted, 1 rejected, undone as one." in carried_out(as_editor, saved(rows))
    assert [status for status, _ in state(edges)] == ["accepted", "accepted", "rejected", "suggested", "suggested"]


@pytest.mark.nightly
def test_columns_in_another_order_more_of_them_and_empty_rows_do_not_matter(as_editor, tmp_path, edges):
    rows = records(tmp_path, download(as_editor))
    for row in (rows[0], rows[2]):
        row |= {"decision": "Accept", "Price": "12"}
    turned = ["Price", *reversed(COLUMNS)]
    said, _ = send(as_editor, saved([{}, rows[0], {}, {}, rows[2], rows[1] | {"decision": "oh"}], turned))
    assert "Row 7: “oh” under “decision” is no decision" in said, "rows are counted as the spreadsheet counts them"
    carried_out(as_editor, saved([{}, rows[0], {}, {}, rows[2]], turned))
    assert [status for status, _ in state(edges)][:4] == ["accepted", "suggested", "accepted", "suggested"]


def test_a_formula_is_its_result_and_one_without_a_result_is_named(as_editor, tmp_path, edges):
    rows = records(tmp_path, download(as_editor))
    decision = COLUMNS.index("decision")

    def fill(sheet) -> None:
        sheet.write_formula(1, decision, '=IF(I2>0.5,"accept","")', None, "accept")
        sheet.write_formula(2, decision, '=IF(I3>0.5,"accept","")', None, "")

    empty = r"(<f>IF\(I3[^<]*</f><v></v>)"  # as Excel writes a text without letters
    calculated = replaced(saved(rows, fill=fill), r">" + empty, r' t="str">\1')
    said, _ = send(as_editor, calculated)
    assert "To accept: 1. To reject: 0. Rows without a decision: 4." in said
    said, _ = send(as_editor, replaced(calculated, r' t="str"><f>([^<]*)</f><v>accept</v>', r"><f>\1</f><v></v>"))
    assert "Row 2: The formula under “decision” has no result." in said


@pytest.mark.nightly
def test_escapes_of_what_no_text_may_hold_are_shown_as_such(as_editor, tmp_path, edges):
    row = records(tmp_path, download(as_editor))[0] | {"decision": "reject", "note": "SAID"}
    content = saved([row], fill=lambda sheet: sheet.write_formula(1, COLUMNS.index("note"), '"a"', None, "SAID"))
    carried_out(as_editor, replaced(content, "SAID", "_x0000__xD800_ thanks"))
    assert Decision.objects.get().note == "\N{REPLACEMENT CHARACTER}" * 2 + " thanks"


def test_a_cell_that_would_fill_the_memory_is_refused(as_editor, tmp_path, edges, monkeypatch):
    monkeypatch.setattr(workbook, "MAX_CELL", 1000)
    row = records(tmp_path, download(as_editor))[0]
    said, wishes = send(as_editor, saved([row | {"decision": "reject", "note": "x" * 1001}]))
    assert "A cell of the workbook holds more than 1,000 characters" in said
    assert not wishes


@pytest.mark.nightly
def test_numbers_that_a_spreadsheet_made_of_the_ids_are_still_the_ids(as_editor, tmp_path, edges):
    rows = records(tmp_path, download(as_editor))
    rows[0]["decision"] = "accept"

    def fill(sheet) -> None:
        sheet.write_number(1, 0, edges[0].pk)
        sheet.write_number(1, 1, edges[0].run_id)

    carried_out(as_editor, saved(rows, fill=fill))
    assert state(edges)[0] == ("accepted", "warm boots")


def test_a_workbook_saved_by_libreoffice_comes_back(as_editor, tmp_path, edges):
    if (office := shutil.which("soffice") or shutil.which("libreoffice")) is None:
        pytest.skip("LibreOffice is not installed: what it saves is not tried here")
    (tmp_path / "out").mkdir()
    rows = records(tmp_path, download(as_editor))
    rows[0]["decision"] = rows[1]["decision"] = "accept"
    (tmp_path / "review.xlsx").write_bytes(saved(rows))
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    convert = [office, profile, "--headless", "--convert-to", "xlsx", "--outdir", "out", "review.xlsx"]
    subprocess.run(convert, cwd=tmp_path, check=True, timeout=120)
    carried_out(as_editor, (tmp_path / "out" / "review.xlsx").read_bytes())
    assert [status for status, _ in state(edges)][:3] == ["accepted", "accepted", "suggested"]


@pytest.mark.parametrize(
    ("pattern", "text", "said"),
    [
        ("<sheetData>", '<sheetData><row r="99999999"/>', "1,048,576 rows at most"),
        ("</sheetData>", "", "damaged or protected"),
        (r"\A", "<!DOCTYPE a>", "damaged or protected|document type"),
        ("(?s)<row.*</row>", "", "The file is empty"),
    ],
)
def test_a_workbook_that_cannot_be_read_is_refused_with_a_sentence(as_editor, edges, pattern, text, said):
    content = replaced(saved([{}]), pattern, text)
    answer = as_editor.post(SHEET, {"file": SimpleUploadedFile("review.xlsx", content)})
    assert answer.status_code == 422
    assert re.search(said, html.unescape(answer.content.decode()))


def test_a_zip_bomb_is_refused_before_it_is_unpacked(as_editor, edges, monkeypatch):
    monkeypatch.setattr(workbook, "RATIO_FROM", 2**20)
    bomb = replaced(saved([{}]), "</sheetData>", f"{' ' * 2**23}</sheetData>")
    assert len(bomb) < 2**15
    assert "it looks like a zip bomb" in send(as_editor, bomb)[0]


def test_an_archive_that_is_no_workbook_is_refused(as_editor, edges):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("word/document.xml", "<w/>")
    assert "no Excel workbook" in send(as_editor, out.getvalue())[0]


def test_lists_and_files_that_are_too_long_are_refused_with_a_sentence(as_editor, tmp_path, edges, monkeypatch):
    content = download(as_editor)
    monkeypatch.setattr(sheet_in, "MAX_ROWS", 3)
    assert "more than 3 rows" in send(as_editor, content)[0]
    monkeypatch.setattr(sheet_out, "MAX_WORKBOOK", 4)
    answer = as_editor.get("/p/shop/queue/sheet.xlsx")
    assert answer.status_code == 422
    assert "more than 4 suggestions, too many for an Excel workbook" in answer.content.decode()
    assert len(table(tmp_path, download(as_editor, "text=boots"))) == 2


def test_a_workbook_goes_out_in_the_order_of_the_list_past_a_page_and_when_it_is_empty(
    as_editor, tmp_path, edges, monkeypatch
):
    monkeypatch.setattr(sheet_out, "_AT_A_TIME", 2)
    assert [row["anchor"] for row in records(tmp_path, download(as_editor))] == ODD
    assert table(tmp_path, download(as_editor, "text=nothing")) == [list(COLUMNS)]


@pytest.mark.nightly
def test_long_lists_ask_as_much_a_page_as_short_ones(as_editor, project, edges):
    with CaptureQueriesContext(connection) as few:
        download(as_editor)
    for n in range(20):
        make_edge(project, make_page(project, title=f"More {n}"), score=0.9)
    with CaptureQueriesContext(connection) as many:
        download(as_editor)
    assert len(many) == len(few)


def test_outsiders_get_no_workbook(client_for, edges):
    assert client_for(make_member(make_project("other"))).get("/p/shop/queue/sheet.xlsx").status_code == 404
