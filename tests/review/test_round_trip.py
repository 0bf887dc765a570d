"""The queue as a spreadsheet: what comes back is shown first, and then decided row by row."""

from __future__ import annotations

import csv
import html
import io
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import Phase, given
from hypothesis import strategies as st

from linker.models import BarredPair, CandidateEdge, SafetyClass
from review import undoing
from review.anchor_warnings import CODES
from review.decisions import Verb, decide_edges
from review.models import Decision, DueReading
from review.queue import round_trip, sheet_in, sheet_out
from review.queue.filters import QueueFilter
from review.rulings import Ruling
from tests.examples import tried
from tests.factories import make_edge, make_member, make_page, make_project, make_run

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


@pytest.mark.nightly
def test_decisions_come_back_are_shown_first_and_undone_as_one(as_editor, editor, project, edges):
    rows = downloaded(as_editor)
    assert [row["anchor"] for row in rows] == ["warm boots", "'=HYPERLINK(1)", "Zelt für “vier”", "stoves"]
    rows[0]["decision"] = "accept"
    rows[2] |= {"decision": "Reject", "reason": "Poor anchor", "note": "too long"}
    rows[3] |= {"decision": "yes", "new_anchor": edges[3].target.title}
    said, wishes = send(as_editor, file(rows))
    assert "To accept: 2. To reject: 1. Rows without a decision: 1." in " ".join(said.split())
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


@pytest.mark.sample(3)
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


@pytest.mark.nightly
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


@pytest.mark.nightly
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
    assert "To accept: 0. To reject: 1." in page
    as_editor.post(SHEET, {"wishes": wishes})
    assert state(edges)[0][0] == "rejected"


@pytest.mark.nightly
def test_rows_that_will_be_refused_are_named_before_anything_is_saved(as_editor, edges):
    rows = downloaded(as_editor)
    for row in rows:
        row["decision"] = "accept"
    rows[0]["suggestion"] = str(edges[0].pk + 10_000)
    rows[1]["new_anchor"] = "w" * 201
    rows[2]["anchor"] = "tent"
    page, wishes = send(as_editor, file(rows))
    page = " ".join(page.split())
    assert "To accept: 1. To reject: 0." in page
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
    assert "says nothing about the page" in send(as_editor, file(rows))[0]
    assert {status for status, _ in state(edges)} == {"suggested"}


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"decision": "perhaps"}, "“perhaps” under “decision” is no decision"),
        ({"decision": "accept", "suggestion": "x"}, "The column “suggestion” has been changed: it holds “x”"),
        ({"decision": "accept", "run": ""}, "The column “run” has been changed"),
        ({"decision": "reject", "reason": "bored"}, "“bored” under “reason” is no reason"),
        ({"decision": "reject", "donor": ""}, "The cell under “donor” is empty"),
        ({"decision": "accept", "acceptor": " "}, "The cell under “acceptor” is empty"),
        ({"new_anchor": "snow boots"}, "holds something under “new_anchor” and nothing under “decision”"),
        ({"reason": "Poor anchor"}, "holds something under “reason” and nothing under “decision”"),
        ({"decision": "reject", "new_anchor": "snow boots"}, "rejects the link and holds words under “new_anchor”"),
        ({"decision": "accept", "reason": "Poor anchor"}, "accepts the link and holds something under “reason”"),
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


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "The file is empty"),
        (b"\n\r\n\n", "The file is empty"),
        (b"a,b\n1,2\n", "This is no list of the queue"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "This is no list of the queue"),
        (b"suggestion,anchor,decision\n", "names no column “run”"),
        (b'suggestion,run,donor,acceptor,anchor,decision\n1,1,,,"a,accept\n', "cannot be read"),
        (b"suggestion,run,anchor,decision\n", "names no column “donor”"),
        (b"\xff\xfe\x00", "This is no list of the queue"),
        (b"suggestion,run,donor,acceptor,anchor,decision,note,Decision\n", "two columns “decision”"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Excel workbook (.xls), or one with a password"),
        (b"PK\x03\x04 and no archive", "no Excel workbook"),
        (
            b"suggestion,run,donor,acceptor,anchor,decision\n" + b"," * 1_000_000,
            "A line of the file has more than 1,000,000",
        ),
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


@pytest.mark.nightly
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


def test_a_row_whose_link_is_not_that_of_its_suggestion_is_refused_and_both_are_named(as_editor, edges):
    rows = downloaded(as_editor)[:2]
    rows[0]["suggestion"], rows[1]["suggestion"] = rows[1]["suggestion"], rows[0]["suggestion"]
    for row in rows:
        row["decision"] = "reject"
    said, wishes = send(as_editor, file(rows))
    said = " ".join(said.split())
    one, other = edges[0], edges[1]
    assert f"Row 2: The row names the link from {one.source.url} to {one.target.url}" in said
    assert f"suggestion {other.pk} is the link from {other.source.url} to {other.target.url}" in said
    assert "To accept: 0. To reject: 0." in said
    assert not wishes
    row = downloaded(as_editor)[2] | {"decision": "accept", "acceptor": "https://elsewhere.example/"}
    assert "Row 2: The row names the link from" in send(as_editor, file([row]))[0]


def test_the_preview_names_donor_and_acceptor(as_editor, edges):
    row = downloaded(as_editor)[0] | {"decision": "reject"}
    said = " ".join(send(as_editor, file([row]))[0].split())
    assert f"{edges[0].source.url.removeprefix('https://shop.example')} → " in said


def test_what_somebody_decided_meanwhile_is_refused_in_the_preview(as_editor, project, edges):
    rows = downloaded(as_editor)[:2]
    for row in rows:
        row["decision"] = "reject"
    decide_edges(project, [edges[0].pk], Verb.ACCEPT, make_member(project, username="ada"))
    CandidateEdge.objects.filter(pk=edges[1].pk).update(run=make_run(project))
    said = " ".join(send(as_editor, file(rows))[0].split())
    assert "Row 2: ada decided first: accepted. Nothing of yours was saved." in said
    assert "Row 3: A newer match run has refreshed this suggestion" in said
    assert "To accept: 0. To reject: 0." in said


@pytest.mark.nightly
def test_a_file_that_is_sent_again_writes_nothing_and_says_so(as_editor, editor, edges):
    rows = downloaded(as_editor)[:2]
    rows[0]["decision"] = "accept"
    rows[1] |= {"decision": "reject", "note": "no"}
    _, wishes = send(as_editor, file(rows))
    as_editor.post(SHEET, {"wishes": wishes}, follow=True)
    again = html.unescape(as_editor.post(SHEET, {"wishes": wishes}, follow=True).content.decode())
    assert "Nothing was changed. 2 rows say what you have decided already, and stay as they are." in again
    assert "undone as one" not in again
    assert Decision.objects.count() == 2
    rows[1]["note"] = "no, and why"
    said = " ".join(send(as_editor, file(rows))[0].split())
    assert "1 row says what you have decided already, and stays as it is." in said
    assert "Row 3: You decided this already: rejected." in said


@pytest.mark.nightly
def test_the_page_keeps_its_filter(as_editor, edges):
    row = downloaded(as_editor)[0] | {"decision": "reject"}
    page = as_editor.post(f"{SHEET}?text=boots", {"file": file([row])}).content.decode()
    assert page.count('action="/p/shop/queue/sheet/?text=boots"') == 2
    assert "sheet.csv?text=boots" in page
    found = re.search(r'name="wishes" value="([^"]*)"', page)
    answer = as_editor.post(f"{SHEET}?text=boots", {"wishes": html.unescape(found[1])})
    assert answer.url == "/p/shop/queue/?text=boots"


@pytest.mark.nightly
def test_links_that_may_not_be_made_are_refused_one_by_one(as_editor, project, edges):
    rows = downloaded(as_editor)
    for row in rows:
        row["decision"] = "accept"
    classes = [
        SafetyClass.objects.create(project=project, name=page.url, url_pattern=f"{page.url}$")
        for page in (edges[1].source, edges[1].target)
    ]
    BarredPair.objects.create(project=project, source=classes[0], target=classes[1], reason="The law")
    said, wishes = send(as_editor, file(rows))
    assert re.search(r"Row 3: Pages of “.*” and “.*” may not be linked: The law", said)
    answer = as_editor.post(SHEET, {"wishes": wishes}, follow=True).content.decode()
    assert "3 links accepted, 0 rejected" in answer


def test_a_sheet_tells_nobody_a_decision_that_they_are_to_make_by_themselves(as_editor, editor, project, edges):
    rows = downloaded(as_editor)[:1]
    rows[0]["decision"] = "reject"
    project.read_twice = 20
    project.save()
    decide_edges(project, [edges[0].pk], Verb.ACCEPT, make_member(project, username="ada"))
    DueReading.objects.update_or_create(
        edge=edges[0],
        defaults={"project": project, "decision": Decision.objects.get(), "reader": Decision.objects.get().user},
    )
    said = send(as_editor, file(rows))[0]
    assert "Row 2: You are to decide on this suggestion by yourself." in said
    assert "ada" not in said


ROWS = st.lists(
    st.tuples(
        st.integers(0, 7),  # which suggestion
        st.sampled_from(["accept", "accept", "accept", "reject", ""]),
        st.sampled_from(["", "", "", "warm boots", "Warm Boot", "boots for winter", "click here", "w" * 201]),
        st.sampled_from(["", "", "good"]),  # a note, so that rows are carried out in several parts
        st.sampled_from(["", "", "", "", "", "donor", "run", "anchor", "suggestion"]),  # a cell that was changed
    ),
    min_size=1,
    max_size=10,
)
BEFORE = st.lists(st.tuples(st.integers(0, 7), st.sampled_from(["own", "other", "draft"])), max_size=3)


@pytest.mark.nightly
@given(rows=ROWS, before=BEFORE, limit=st.integers(1, 3), per_target=st.integers(0, 3))
@tried(40, phases=[Phase.explicit, Phase.generate])
def test_what_the_preview_says_is_what_happens(project, editor, tmp_path, rows, before, limit, per_target):
    with transaction.atomic():
        project.identical_anchor_limit, project.anchor_repeats = limit, "names"
        project.save()
        targets = [make_page(project, f"/boots-{n}", title="Boots for winter") for n in range(2)]
        said = ["warm boots", "winter boots", "warm boots", "boots"] * 2
        run = make_run(project, params={"per_target": per_target})
        edges = [make_edge(project, target=targets[n % 2], anchor=anchor, run=run) for n, anchor in enumerate(said)]
        wishes = _wishes(tmp_path, edges, rows)
        for number, what in before:
            _meanwhile(project, editor, edges[number], what)
        with CaptureQueriesContext(connection) as queries:
            foreseen = round_trip.preview(project, editor, wishes)
        assert not [query for query in queries if re.match("INSERT|UPDATE|DELETE", query["sql"])]
        assert len(foreseen.wishes) + len(foreseen.refused) + foreseen.standing == len(wishes)
        decided = Decision.objects.count()
        outcome = round_trip.apply(project, editor, foreseen.wishes)
        assert (outcome.accepted, outcome.rejected) == (foreseen.accepts, foreseen.rejects)
        assert (outcome.refused, outcome.standing) == ((), 0)
        assert Decision.objects.count() - decided == len(foreseen.wishes)
        for wish in foreseen.wishes:
            edge = project.edges.get(pk=wish.edge)
            is_rejected = wish.verb == Verb.REJECT
            assert edge.status == ("rejected" if is_rejected else "accepted")
            assert is_rejected or edge.anchor == (wish.anchor or wish.shown)
        transaction.set_rollback(True)  # the next example begins with an empty project


def _wishes(tmp_path, edges, rows):
    """What a file says in which the rows were filled in."""
    lines = [",".join(sheet_in.USED)]
    for number, decision, words, note, changed in rows:
        edge = edges[number]
        cells = {
            "suggestion": edge.pk, "run": edge.run_id, "donor": edge.source.url, "acceptor": edge.target.url,
            "anchor": edge.anchor, "decision": decision, "new_anchor": words, "note": note,
        }  # fmt: skip
        if changed:
            cells[changed] = {"donor": "https://x.example/", "anchor": "x"}.get(changed, 1)
        lines.append(",".join(str(cells.get(name, "")) for name in sheet_in.USED))
    path = tmp_path / "sheet.csv"
    path.write_text("\n".join(lines))
    return sheet_in.read_sheet(path).wishes


def _meanwhile(project, editor, edge, what) -> None:
    if what == "draft":
        project.edges.filter(pk=edge.pk, status="suggested").update(edited=True)
    else:
        user = editor if what == "own" else make_member(project)
        decide_edges(project, [edge.pk], Verb.ACCEPT, user, Ruling(overrules={edge.pk: CODES}))
