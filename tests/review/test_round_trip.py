"""The queue as a spreadsheet: what comes back is shown first, and then decided row by row."""

from __future__ import annotations

import csv
import html
import io
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from linker.models import CandidateEdge
from review import undoing
from review.decisions import Verb, decide_edges
from review.models import Decision
from review.queue import sheet_in, sheet_out
from review.queue.filters import QueueFilter
from tests.factories import make_edge, make_member, make_page, make_project

pytestmark = pytest.mark.django_db

SHEET = "/p/shop/queue/sheet/"


@pytest.fixture
def edges(project) -> list[CandidateEdge]:
    names = ["warm boots", "=HYPERLINK(1)", "Zelt für “vier”", "stoves"]
    return [
        make_edge(project, make_page(project, title=f"Donor {n}"), score=0.95 - n / 100, anchor=name)
        for n, name in enumerate(names)
    ]


@pytest.fixture
def as_editor(client_for, editor):
    return client_for(editor)


def downloaded(client, query: str = "") -> list[dict[str, str]]:
    answer = client.get(f"/p/shop/queue/sheet.csv?{query}")
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"), newline="")))


def file(rows: list[dict[str, str]], *, delimiter: str = ",", encoding: str = "utf-8-sig") -> SimpleUploadedFile:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, rows[0].keys(), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return SimpleUploadedFile("review.csv", out.getvalue().encode(encoding))


def send(client, upload) -> tuple[str, str]:
    """What the preview says, and what its form would send."""
    page = client.post(SHEET, {"file": upload}).content.decode()
    found = re.search(r'name="wishes" value="([^"]*)"', page)
    return html.unescape(re.sub(r"<[^>]+>", " ", page)), html.unescape(found[1]) if found else ""


def state(edges) -> list[tuple[str, str]]:
    return [CandidateEdge.objects.values_list("status", "anchor").get(pk=edge.pk) for edge in edges]


def test_decisions_come_back_are_shown_first_and_undone_as_one(as_editor, editor, project, edges):
    rows = downloaded(as_editor)
    assert [row["anchor"] for row in rows] == ["warm boots", "'=HYPERLINK(1)", "Zelt für “vier”", "stoves"]
    rows[0]["decision"] = "accept"
    rows[2] |= {"decision": "Reject", "reason": "Poor anchor", "note": "too long"}
    rows[3] |= {"decision": "yes", "new_anchor": edges[3].target.title}
    said, wishes = send(as_editor, file(rows))
    assert "accepts 2 suggestions, rejects 1, and leaves 1 rows without a decision" in " ".join(said.split())
    assert {status for status, _ in state(edges)} == {"suggested"}
    answer = as_editor.post(SHEET, {"wishes": wishes}, follow=True).content.decode()
    assert "2 links accepted, 1 rejected, undone as one." in answer
    assert state(edges) == [
        ("accepted", "warm boots"), ("suggested", "=HYPERLINK(1)"), ("rejected", "Zelt für “vier”"),
        ("accepted", edges[3].target.title),
    ]  # fmt: skip
    rejected = Decision.objects.get(verb="reject")
    assert (rejected.reason, rejected.note) == ("bad_anchor", "too long")
    undoing.undo(project, editor)
    assert {status for status, _ in state(edges)} == {"suggested"}


def test_a_cell_that_a_spreadsheet_would_run_comes_back_as_the_anchor_it_was(as_editor, edges):
    rows = downloaded(as_editor)
    rows[1]["decision"] = "accept"
    _, wishes = send(as_editor, file(rows))
    as_editor.post(SHEET, {"wishes": wishes})
    assert state(edges)[1] == ("accepted", "=HYPERLINK(1)")


@pytest.mark.parametrize(
    ("delimiter", "encoding"), [(";", "utf-8"), ("\t", "utf-8-sig"), (";", "cp1252"), ("\t", "utf-16")]
)
def test_files_as_spreadsheets_save_them(as_editor, edges, delimiter, encoding):
    rows = downloaded(as_editor)
    for row in rows:
        row["decision"] = "accept"
    _, wishes = send(as_editor, file(rows, delimiter=delimiter, encoding=encoding))
    as_editor.post(SHEET, {"wishes": wishes})
    assert {status for status, _ in state(edges)} == {"accepted"}


def test_a_row_that_changed_in_the_meantime_is_refused_and_the_others_are_not(as_editor, project, edges):
    rows = downloaded(as_editor)
    for row in rows:
        row["decision"] = "reject"
    _, wishes = send(as_editor, file(rows))
    decide_edges(project, [edges[0].pk], Verb.ACCEPT, make_member(project, username="ada"))
    page = as_editor.post(SHEET, {"wishes": wishes}, follow=True).content.decode()
    assert "1 row was refused" in page
    assert "Row 2: ada decided first" in page
    assert [status for status, _ in state(edges)] == ["accepted", "rejected", "rejected", "rejected"]


def test_rows_that_say_the_same_are_decided_together(as_editor, project, edges):
    def asked(number: int) -> int:
        rows = downloaded(as_editor)[:number]
        for row in rows:
            row["decision"] = "reject"
        _, wishes = send(as_editor, file(rows))
        with CaptureQueriesContext(connection) as queries:
            as_editor.post(SHEET, {"wishes": wishes})
        return len(queries)

    asked(1)
    assert asked(1) == asked(2)
    assert [status for status, _ in state(edges)] == ["rejected"] * 4


def test_a_suggestion_is_decided_by_the_first_of_its_rows(as_editor, edges):
    row = downloaded(as_editor)[0]
    page, wishes = send(as_editor, file([row | {"decision": "reject"}, row | {"decision": "accept"}]))
    page = " ".join(page.split())
    assert "Row 3: Row 2 decides on the same suggestion." in page
    assert "accepts 0 suggestions, rejects 1," in page
    as_editor.post(SHEET, {"wishes": wishes})
    assert state(edges)[0][0] == "rejected"


def test_rows_that_will_be_refused_are_named_before_anything_is_saved(as_editor, edges):
    rows = downloaded(as_editor)
    for row in rows:
        row["decision"] = "accept"
    rows[0]["suggestion"] = str(edges[0].pk + 10_000)
    rows[1]["new_anchor"] = "w" * 201
    rows[2]["anchor"] = "tent"
    page, wishes = send(as_editor, file(rows))
    page = " ".join(page.split())
    assert "accepts 1 suggestions, rejects 0," in page
    assert "3 rows would be refused" in page
    assert "Row 2: This suggestion is not in this project." in page
    assert "Row 3: The anchor has 201 characters" in page
    assert "Row 4: The column “anchor” says “tent”, and the suggestion says “Zelt für “vier””" in page
    answer = as_editor.post(SHEET, {"wishes": wishes}, follow=True).content.decode()
    assert "1 link accepted, 0 rejected" in answer
    assert [status for status, _ in state(edges)] == ["suggested"] * 3 + ["accepted"]


def test_words_that_change_after_the_preview_are_refused_without_blame(as_editor, edges):
    row = downloaded(as_editor)[0] | {"decision": "accept"}
    _, wishes = send(as_editor, file([row]))
    CandidateEdge.objects.filter(pk=edges[0].pk).update(anchor="snow boots")
    page = html.unescape(as_editor.post(SHEET, {"wishes": wishes}).content.decode())
    assert "says “warm boots”, and the suggestion says “snow boots”" in page


def test_what_no_text_may_hold_is_left_out_of_a_note(as_editor, edges):
    row = downloaded(as_editor)[0] | {"decision": "reject", "note": "no\0 thanks"}
    _, wishes = send(as_editor, file([row]))
    as_editor.post(SHEET, {"wishes": wishes})
    assert Decision.objects.get().note == "no thanks"


def test_words_that_are_warned_of_are_refused(as_editor, edges):
    rows = downloaded(as_editor)
    rows[0] |= {"decision": "accept", "new_anchor": "click here"}
    _, wishes = send(as_editor, file(rows))
    assert "says nothing about the page" in as_editor.post(SHEET, {"wishes": wishes}).content.decode()
    assert {status for status, _ in state(edges)} == {"suggested"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"decision": "perhaps"}, "“perhaps” under “decision” is no decision"),
        ({"decision": "accept", "suggestion": "x"}, "The column “suggestion” has been changed: it holds “x”"),
        ({"decision": "accept", "run": ""}, "The column “run” has been changed"),
        ({"decision": "reject", "reason": "bored"}, "“bored” under “reason” is no reason"),
    ],
)
def test_a_row_that_cannot_be_read_is_named_and_left_out(as_editor, edges, changes, said):
    rows = downloaded(as_editor)
    rows[0] |= changes
    rows[1]["decision"] = "accept"
    page, wishes = send(as_editor, file(rows))
    assert "Row 2:" in page
    assert said in page
    as_editor.post(SHEET, {"wishes": wishes})
    assert [status for status, _ in state(edges)][:2] == ["suggested", "accepted"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "The file is empty"),
        (b"\n\r\n\n", "The file is empty"),
        (b"a,b\n1,2\n", "This is no list of the queue"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "This is no list of the queue"),
        (b"suggestion,anchor,decision\n", "names no column “run”"),
        (b'suggestion,run,anchor,decision\n1,1,"a,accept\n', "cannot be read"),
        (b"\xff\xfe\x00", "This is no list of the queue"),
        (b"suggestion,run,anchor,decision,note,Decision\n", "two columns “decision”"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Excel workbook (.xls), or one with a password"),
        (b"PK\x03\x04 and no archive", "no Excel workbook"),
        (b"suggestion,run,anchor,decision\n" + b"," * 1_000_000, "A line of the file has more than 1,000,000"),
    ],
)
def test_what_is_no_sheet_is_refused_with_a_reason(as_editor, edges, content, said):
    answer = as_editor.post(SHEET, {"file": SimpleUploadedFile("x.csv", content)})
    assert answer.status_code == 422
    assert said in html.unescape(answer.content.decode())


def test_too_many_decisions_are_refused(as_editor, edges, monkeypatch):
    monkeypatch.setattr(sheet_in, "MAX_DECISIONS", 3)
    rows = downloaded(as_editor)
    for row in rows:
        row["decision"] = "accept"
    assert "Split it" in send(as_editor, file(rows))[0]


def test_the_preview_cannot_be_forged_or_used_in_another_project(as_editor, client_for, project, edges):
    rows = downloaded(as_editor)
    rows[0]["decision"] = "accept"
    _, wishes = send(as_editor, file(rows))
    page = as_editor.post(SHEET, {"wishes": wishes[:-1]}, follow=True).content.decode()
    assert "Send the file again" in page
    other = make_project("other")
    stranger = client_for(make_member(other))
    assert "another project" in stranger.post("/p/other/queue/sheet/", {"wishes": wishes}, follow=True).content.decode()
    assert {status for status, _ in state(edges)} == {"suggested"}


def test_the_file_follows_the_filter_and_goes_on_past_a_page(as_editor, project, edges, monkeypatch):
    monkeypatch.setattr(sheet_out, "_AT_A_TIME", 2)
    assert [row["anchor"] for row in downloaded(as_editor)] == [
        "warm boots",
        "'=HYPERLINK(1)",
        "Zelt für “vier”",
        "stoves",
    ]
    assert [row["anchor"] for row in downloaded(as_editor, "text=stoves")] == ["stoves"]
    assert list(sheet_out.csv_pieces(project, QueueFilter(text="nothing"), make_member(project)))[1:] == [b""]


def test_outsiders_and_viewers_decide_nothing(client_for, viewer, edges):
    assert client_for(make_member(make_project("other"))).post(SHEET, {}).status_code == 404
    assert client_for(viewer).post(SHEET, {}).status_code == 403
    assert client_for(viewer).get("/p/shop/queue/sheet.csv").status_code == 200
