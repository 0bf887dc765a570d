"""The exported file: its bytes, its order, what a spreadsheet and pandas make of it."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.text.headings import is_byline_or_code
from linker.models import EdgeStatus
from review.models import Decision, ReleaseFormat, Verb
from review.releases.columns import COLUMNS, NO_HEADING
from review.releases.rows import Choice, choose, file_pieces
from tests.engine.text.test_headings import BYLINES, CODE, HEADINGS
from tests.examples import tried
from tests.factories import make_category, make_edge, make_page, make_run, make_user

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from linker.models import CandidateEdge, Project

HEADER = (
    "donor_url,acceptor_url,anchor_text,rel,placement,tier,score,similarity,level,category,model,threshold,run,"
    "run_time,decided_by,decided_at,edited,ranked_by,probability,quantile,generators,why,anchor_source,anchor_start,"
    "anchor_end,sentence,section_heading,content_gap,operation,paragraph,"
    "paragraph_heading,paragraph_start,paragraph_end,previous_anchor,previous_rel"
    ",previous_donor_url,previous_acceptor_url,approved_by,occurrence,context_before,context_after"
    ",stands,paragraph_number,new_sentence,html,markdown"
)
TEXT = "Which socks to wear\nThe day is long. Wear warm socks on snow! Dry them at night.\nWash them cold."


def file_of(project: Project, choice: Choice = Choice.ALL, fmt: ReleaseFormat = ReleaseFormat.FULL, **how: Any) -> str:
    pieces = file_pieces(choose(project.edges.all(), choice), fmt, **how)
    return b"".join(pieces).decode()


def rows_of(project: Project, choice: Choice = Choice.ALL) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file_of(project, choice), newline="")))


def decide(edge: CandidateEdge, user: User, verb: Verb = Verb.ACCEPT, **fields: Any) -> Decision:
    return Decision.objects.create(
        edge=edge,
        project=edge.project,
        user=user,
        verb=verb,
        status_before=EdgeStatus.SUGGESTED,
        status_after=EdgeStatus.ACCEPTED,
        anchor_before=edge.anchor,
        anchor_after=edge.anchor,
        rel_before="nofollow",
        rel_after="follow",
        seen_run=edge.run,
        seen_score=edge.score,
        seen_similarity=edge.similarity,
        seen_placement=edge.placement,
        **fields,
    )


def test_a_full_file_is_these_bytes(project):
    run = make_run(project, params={"threshold": 0.5}, finished_at=datetime(2026, 3, 1, 12, 30, 5, 999, tzinfo=UTC))
    donor = make_page(project, "/tents", category=make_category(project, "Shop", "Camping, cooking"))
    edge = make_edge(
        project,
        donor,
        make_page(project, "/stoves"),
        run=run,
        score=0.8125,
        similarity=0.8325,
        level=1,
        anchor='the "small" stove',
        status=EdgeStatus.ACCEPTED,
        rel="follow",
        edited=True,
        ranked_by="learned",
        probability=0.625,
        quantile=0.975,
        generators=["mention", "nearest"],
        why="The text says “warm socks”, and other pages link to both.",
    )
    decision = decide(edge, make_user("ann"))

    decided_at = decision.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert file_of(project) == (
        f"{HEADER}\n"
        'https://shop.example/tents,https://shop.example/stoves,"the ""small"" stove",follow,inline,Likely,0.812500,'
        f'0.832500,1,"Shop > Camping, cooking",test-model 1 (text full 1),0.5,'
        f"{run.pk},2026-03-01T12:30:05Z,ann,{decided_at},true,"
        'learned,0.625000,0.975000,mention;nearest,"The text says “warm socks”, and other pages link to both.",h1,,,,,'
        'false,add,,,,,,,,,,,,,text,,"","<a href=""https://shop.example/stoves"">the ""small"" stove</a>",'
        '"[the ""small"" stove](https://shop.example/stoves)"\n'
    )


def test_what_is_unknown_stays_empty(project):
    edge = make_edge(project, run=make_run(project, model=None), tier=None)

    row = rows_of(project)[0]

    assert row["donor_url"] == edge.source.url
    assert [row[name] for name in ("tier", "category", "model", "threshold", "decided_by", "decided_at")] == [""] * 6
    assert row["edited"] == "false"


def placed(project: Project, phrase: str, anchor: str = "", body: str = TEXT, **fields: Any) -> CandidateEdge:
    start = body.index(phrase)
    span = {"span_start": start, "span_end": start + len(phrase)}
    return make_edge(project, make_page(project, body=body), anchor=anchor or phrase, **span, **fields)


def place_in(project: Project) -> list[str]:
    row = rows_of(project)[0]
    return [row[name] for name in ("anchor_start", "anchor_end", "sentence", "section_heading", "content_gap")]


def test_a_placed_anchor_leaves_with_its_place_its_sentence_and_its_heading(project):
    edge = placed(project, "warm socks")
    start, end = str(edge.span_start), str(edge.span_end)
    assert place_in(project) == [start, end, "Wear warm socks on snow!", "Which socks to wear", "false"]


@pytest.mark.parametrize(
    ("phrase", "sentence"),
    [
        ("The day", "The day is long."),
        ("night", "Dry them at night."),
        ("Wash them cold", "Wash them cold."),
        ("Which socks", "Which socks to wear"),
    ],
)
def test_a_sentence_ends_with_its_mark_or_its_line(project, phrase, sentence):
    placed(project, phrase)
    assert place_in(project)[2] == sentence


def test_the_heading_of_a_changed_text_is_neither_a_byline_nor_code(project):
    placed(project, "warm socks", body=f"Care\nBy Ann Brown\nMAX_SIZE = 5\n{TEXT.partition(chr(10))[2]}")
    assert place_in(project)[3] == "Care"


def test_postgresql_reads_the_shapes_of_bylines_and_code_as_python_does(db):
    lines = [*BYLINES, *CODE, *HEADINGS]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT line ~ {NO_HEADING} FROM unnest(%s::text[]) line", [lines])
        assert [found for (found,) in cursor.fetchall()] == [is_byline_or_code(line) for line in lines]


def test_the_heading_of_a_changed_text_is_one_that_the_page_has(project):
    edge = placed(project, "warm socks", body=f"Care\nNot this\n{TEXT.partition(chr(10))[2]}\nUse")
    edge.source.headings = ["Care", "Use", "Repair"]
    edge.source.save()
    assert place_in(project)[3] == "Care"


def test_places_count_characters_whatever_their_bytes(project):
    body = "Überschrift 🧦\nSchöne Füße brauchen 🧦 wärmere Söckchen. Ende."
    edge = placed(project, "wärmere Söckchen", body=body)
    assert place_in(project)[:2] == [str(edge.span_start), str(edge.span_end)]
    assert place_in(project)[2:4] == ["Schöne Füße brauchen 🧦 wärmere Söckchen.", "Überschrift 🧦"]


def test_an_anchor_in_other_letters_keeps_its_place(project):
    placed(project, "don’t wash", anchor="Don't Wash", body="We don’t wash them.")
    assert place_in(project)[2] == "We don’t wash them."


@pytest.mark.parametrize("body", [f"New. {TEXT}", "Short.", ""])
def test_a_text_that_an_import_has_changed_gives_no_place(project, body):
    edge = placed(project, "warm socks")
    edge.source.body = body
    edge.source.save()
    assert place_in(project) == ["", "", "", "", "false"]


def kept(project: Project, phrase: str, **fields: Any) -> CandidateEdge:
    """As a match run stores it."""
    edge = placed(project, phrase)
    edge.sentence, edge.section_heading, edge.body_hash = "Kept.", "Above", edge.source.body_hash
    for name, value in fields.items():
        setattr(edge, name, value)
    edge.save()
    return edge


def test_what_a_run_kept_of_a_place_leaves_as_it_is(project):
    edge = kept(project, "warm socks")
    assert place_in(project) == [str(edge.span_start), str(edge.span_end), "Kept.", "Above", "false"]


def test_a_place_without_a_heading_leaves_the_cell_empty(project):
    kept(project, "warm socks", section_heading="")
    place = ",1,The day is long. Wear , on snow! Dry them at night.,text,"
    assert f",Kept.,,false,add,,,,,,,,,{place}" in file_of(project)


def test_what_was_kept_is_no_formula_either(project):
    kept(project, "warm socks", sentence="=1+1", section_heading="@x")
    assert place_in(project)[2:4] == ["'=1+1", "'@x"]


def test_what_was_kept_of_an_older_text_is_looked_up_anew(project):
    edge = kept(project, "warm socks")
    edge.source.body = TEXT.replace("on snow", "on ice")
    edge.source.save()
    assert place_in(project)[2:4] == ["Wear warm socks on ice!", "Which socks to wear"]


@pytest.mark.parametrize("body", [f"New. {TEXT}", "Short.", ""])
def test_what_was_kept_of_a_place_that_is_gone_does_not_leave(project, body):
    edge = kept(project, "warm socks")
    edge.source.body = body
    edge.source.save()
    assert place_in(project) == ["", "", "", "", "false"]


@pytest.mark.parametrize(
    ("score", "text"),
    [(1.0, "1.000000"), (0.0, "0.000000"), (1 / 3, "0.333333"), (0.0000004, "0.000000"), (123.5, "123.500000")],
)
def test_numbers_have_six_decimals(project, score, text):
    make_edge(project, score=score, similarity=0.5, donor_best=score)
    assert rows_of(project)[0]["score"] == text


def test_a_content_gap_says_so(project):
    make_edge(project, content_gap=True, placement="related")
    assert place_in(project) == ["", "", "", "", "true"]


def gap(project: Project, paragraph: str, body: str = TEXT) -> CandidateEdge:
    """A content gap that a match found a paragraph for."""
    page = make_page(project, body=body)
    page.refresh_from_db()
    span = {"paragraph_start": body.index(paragraph), "paragraph_end": body.index(paragraph) + len(paragraph)}
    return make_edge(
        project, page, content_gap=True, placement="related", paragraph_heading="Which socks to wear",
        paragraph_hash=page.body_hash, **span,
    )  # fmt: skip


def paragraph_in(project: Project) -> list[str]:
    row = rows_of(project)[0]
    return [row[name] for name in ("paragraph", "paragraph_heading", "paragraph_start", "paragraph_end")]


def test_a_content_gap_leaves_with_the_paragraph_that_a_sentence_could_follow(project):
    edge = gap(project, "Wash them cold.")
    place = [str(edge.paragraph_start), str(edge.paragraph_end)]
    assert paragraph_in(project) == ["Wash them cold.", "Which socks to wear", *place]


def test_a_paragraph_of_a_text_that_has_changed_is_not_exported(project):
    edge = gap(project, "Wash them cold.")
    type(edge.source).objects.filter(pk=edge.source_id).update(body=f"{TEXT} Or hot.")
    assert paragraph_in(project) == ["", "", "", ""]


def test_a_link_that_has_found_its_words_has_no_paragraph(project):
    gap(project, "Wash them cold.")
    project.edges.update(content_gap=False)
    assert paragraph_in(project) == ["", "", "", ""]


def test_reasons_and_sentences_are_no_formulas_either(project):
    placed(project, "SUM", body="=SUM(A1) is here.", why="@cmd")
    row = rows_of(project)[0]
    assert (row["sentence"], row["why"]) == ("'=SUM(A1) is here.", "'@cmd")


def test_a_paragraph_is_no_formula_either(project):
    gap(project, "=SUM(A1) is here.", body="=SUM(A1) is here.")
    assert paragraph_in(project)[0] == "'=SUM(A1) is here."


def test_a_joil_file_has_three_columns(project):
    make_edge(project, make_page(project, "/a"), make_page(project, "/b"), anchor="to b")

    text = file_of(project, fmt=ReleaseFormat.JOIL)

    assert text == "donor_url,anchor_text,acceptor_url\nhttps://shop.example/a,to b,https://shop.example/b\n"


def test_without_links_the_file_is_its_header(project):
    assert file_of(project) == f"{HEADER}\n"


def test_a_byte_order_mark_comes_on_request_only(project):
    assert file_of(project, bom=True) == f"\ufeff{HEADER}\n"


def test_a_donors_links_come_together_and_best_first(project):
    low, high = make_page(project, "/low"), make_page(project, "/high")
    for donor, scores in ((low, (0.7, 0.6)), (high, (0.55, 0.9, 0.65))):
        for score in scores:
            make_edge(project, donor, score=score, donor_best=max(scores))

    got = [(row["donor_url"].rsplit("/", 1)[1], float(row["score"])) for row in rows_of(project)]

    assert got == [("high", 0.9), ("high", 0.65), ("high", 0.55), ("low", 0.7), ("low", 0.6)]


def test_equal_scores_come_in_the_order_of_ids(project):
    donor = make_page(project)
    edges = [make_edge(project, donor, score=0.7) for _ in range(5)]

    assert [row["acceptor_url"] for row in rows_of(project)] == [edge.target.url for edge in edges]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_text_that_looks_like_a_formula_gets_an_apostrophe(project, start):
    hostile = start + "HYPERLINK(1)"
    donor = make_page(project, category=make_category(project, hostile))
    edge = make_edge(project, donor, anchor=hostile, status=EdgeStatus.ACCEPTED)
    decide(edge, make_user(hostile))

    row = rows_of(project)[0]

    assert [row["anchor_text"], row["category"], row["decided_by"]] == ["'" + hostile] * 3


def test_numbers_are_never_escaped(project):
    make_edge(project, score=-0.25, similarity=-0.125)

    row = rows_of(project)[0]

    assert (row["score"], row["similarity"]) == ("-0.250000", "-0.125000")


def test_an_apostrophe_or_a_sign_inside_a_text_is_left_alone(project):
    make_edge(project, anchor="'tis 1+1=2 @ home")

    assert rows_of(project)[0]["anchor_text"] == "'tis 1+1=2 @ home"


anchors = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1, max_size=30)


@tried(25)
@given(anchor=st.one_of(anchors, st.sampled_from(["\\.", '"', ",", "\r\n", "a\nb", " ", "NULL", "\\N", '=1,"\n'])))
def test_any_anchor_comes_back_from_a_csv_reader(project, anchor):
    edge = make_edge(project, anchor=anchor)

    got = next(row for row in rows_of(project) if row["donor_url"] == edge.source.url)

    assert got["anchor_text"] in (anchor, "'" + anchor)


def test_pandas_reads_what_was_exported(project):
    edges = [make_edge(project, score=0.9 - i / 10, anchor=f'größer, "{i}"\n→ mehr') for i in range(3)]

    table = pd.read_csv(io.BytesIO(file_of(project).encode()))

    assert list(table.columns) == HEADER.split(",")
    assert table["anchor_text"].tolist() == [edge.anchor for edge in edges]
    assert table["score"].tolist() == pytest.approx([edge.score for edge in edges])
    assert table["edited"].dtype == bool


def test_the_decision_that_stands_is_named(project):
    edge = make_edge(project, status=EdgeStatus.ACCEPTED)
    ann, bob, eve = make_user("ann"), make_user("bob"), make_user("eve")
    decide(edge, ann)
    decide(edge, bob, Verb.EDIT)
    taken_back = decide(edge, eve, Verb.EDIT)
    decide(edge, eve, Verb.UNDO, undoes=taken_back)

    assert rows_of(project)[0]["decided_by"] == "bob"


def test_an_undone_decision_leaves_no_name(project):
    edge = make_edge(project)
    ann = make_user("ann")
    decide(edge, ann, Verb.UNDO, undoes=decide(edge, ann))

    assert rows_of(project)[0]["decided_by"] == ""


def test_suggestions_hold_held_tiers_and_neither_stale_nor_decided_ones(project):
    wanted = [make_edge(project, score=score) for score in (0.9, 0.7, 0.55)]
    make_edge(project, score=0.95, stale=True)
    for status in (EdgeStatus.ACCEPTED, EdgeStatus.REJECTED, EdgeStatus.EXPORTED):
        make_edge(project, status=status)

    got = [row["donor_url"] for row in rows_of(project, Choice.SUGGESTED)]

    assert got == [edge.source.url for edge in wanted]


def test_a_rejected_link_is_in_no_file(project):
    make_edge(project, status=EdgeStatus.REJECTED)

    assert [rows_of(project, choice) for choice in Choice] == [[]] * len(Choice)


def test_the_document_names_the_columns_in_the_order_of_the_file():
    text = Path("docs/export.md").read_text()
    table = text[text.index("| column | content |") :].split("\n\n")[0].splitlines()[2:]
    named = [name for row in table for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert named == list(COLUMNS[ReleaseFormat.FULL])
