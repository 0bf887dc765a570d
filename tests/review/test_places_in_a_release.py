"""Each link in the text leaves with words, place and context that can be found in the text as it is now."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.models import EdgeStatus, ExistingLink, Page
from review.models import Held, HeldBack, ReleaseFormat, ReleaseLink
from review.releases.create import NothingToExport, create_release, release_pieces
from review.releases.rows import Choice, choose, file_pieces
from tests.examples import tried
from tests.factories import make_edge, make_link, make_page

if TYPE_CHECKING:
    from linker.models import CandidateEdge, Project

TEXT = (
    "Planning a trip\nWhat’s new in tents this year is what’s new in camp beds. Read what’s new in our list.\n"
    "Long walks need good boots."
)


def accepted(project: Project, words: str, said: str = "", body: str = TEXT, nth: int = 1) -> CandidateEdge:
    start = -1
    for _ in range(nth):
        start = body.index(words, start + 1)
    page = make_page(project, body=body)
    page.refresh_from_db()
    return make_edge(
        project, page, anchor=said or words, placement="inline", status=EdgeStatus.ACCEPTED, span_start=start,
        span_end=start + len(words), sentence="As it was.", body_hash=page.body_hash,
    )  # fmt: skip


def change_text(edge: CandidateEdge, body: str) -> None:
    Page.objects.filter(pk=edge.source_id).update(body=body)


def released(project: Project, fmt: ReleaseFormat = ReleaseFormat.FULL) -> list[dict[str, str]]:
    release = create_release(project, project.edges.all(), fmt=fmt)
    text = b"".join(release_pieces(release)).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("said", ["What's New In", "WHAT’S NEW IN", "what's new\N{NO-BREAK SPACE}in"])
@pytest.mark.parametrize("fmt", ReleaseFormat)
def test_words_leave_as_the_text_spells_them(project, said, fmt):
    accepted(project, "what’s new in", said)
    assert [row["anchor_text"] for row in released(project, fmt)] == ["what’s new in"]


def test_lists_of_links_that_are_not_released_have_the_texts_spelling_too(project):
    accepted(project, "what’s new in", "What's New in")
    file = b"".join(file_pieces(choose(project.edges.all(), Choice.ALL), ReleaseFormat.FULL)).decode()
    assert next(csv.DictReader(io.StringIO(file)))["anchor_text"] == "what’s new in"


def test_the_record_of_a_release_has_the_words_of_its_file(project):
    edge = accepted(project, "what’s new in", "What's New in")
    released(project)
    assert ReleaseLink.objects.get().anchor == "what’s new in"
    edge.refresh_from_db()
    assert edge.anchor == "what’s new in"


@pytest.mark.parametrize("nth", [1, 2])
def test_the_occurrence_says_which_of_equal_words_it_is(project, nth):
    accepted(project, "what’s new in", nth=nth)
    row = released(project)[0]
    assert row["occurrence"] == str(nth)
    assert (row["context_before"], row["context_after"]) == [
        ("What’s new in tents this year is ", " camp beds. Read what’s new in our list."),
        ("t’s new in tents this year is what’s new in camp beds. Read ", " our list."),
    ][nth - 1]


def test_a_context_ends_with_its_paragraph(project):
    accepted(project, "Long walks")
    row = released(project)[0]
    assert (row["context_before"], row["context_after"]) == ("", " need good boots.")


def test_words_that_have_moved_in_a_changed_text_are_found_again(project):
    edge = accepted(project, "good boots")
    body = f"A new first line about something else.\n{TEXT.replace('good boots', 'Good Boots')}"
    change_text(edge, body)

    row = released(project)[0]

    start, end = int(row["anchor_start"]), int(row["anchor_end"])
    assert (body[start:end], row["anchor_text"]) == ("Good Boots", "Good Boots")
    assert row["sentence"] == "Long walks need Good Boots."


@pytest.mark.parametrize(
    "body",
    [
        "Our good boots\nThe day was long, and everybody who had walked through the mud was tired and glad.",
        "Fig. 3: good boots on a long walk through the mud.",
    ],
)
def test_words_that_only_a_heading_or_a_caption_has_hold_the_link_back(project, body):
    change_text(accepted(project, "good boots"), body)
    other = accepted(project, "camp beds")

    assert [row["donor_url"] for row in released(project)] == [other.source.url]
    assert HeldBack.objects.get().reason == Held.WORDS_GONE


def test_words_that_are_a_link_of_the_site_by_now_hold_the_link_back(project):
    edge = accepted(project, "good boots")
    change_text(edge, f"{TEXT} Really.")
    make_link(edge.source, make_page(project), "good boots")
    ExistingLink.objects.update(place=TEXT.index("good boots"))

    with pytest.raises(NothingToExport):
        released(project)


words = st.lists(
    st.sampled_from(["tent", "Tent", "boots", "it’s", "snow\N{NO-BREAK SPACE}shoe", "co\N{SOFT HYPHEN}op"])
)
lines = st.lists(words.map(" ".join), min_size=1, max_size=4).map("\n".join)


@tried(40)
@given(before=lines, after=lines, anchor=st.sampled_from(["tent", "it’s", "snow\N{NO-BREAK SPACE}shoe", "Boots on"]))
def test_every_place_can_be_found_in_the_text(project, before, after, anchor):
    body = f"{before} {anchor} {after}"
    start = len(before) + 1
    page = make_page(project, body=body)
    page.refresh_from_db()
    edge = make_edge(
        project, page, anchor=anchor.upper(), placement="inline", span_start=start, span_end=start + len(anchor),
        body_hash=page.body_hash,
    )  # fmt: skip
    file = b"".join(file_pieces(project.edges.filter(pk=edge.pk), ReleaseFormat.FULL)).decode()

    row = next(csv.DictReader(io.StringIO(file, newline="")))

    assert body[int(row["anchor_start"]) : int(row["anchor_end"])] == row["anchor_text"] == anchor
    around = row["context_before"] + row["anchor_text"] + row["context_after"]
    found = -1
    for _ in range(int(row["occurrence"])):
        found = body.index(anchor, found + 1)
    assert found == start
    assert body.count(around) >= 1
    assert body.find(around) + len(row["context_before"]) == start or body.count(around) > 1


pieces = st.text(st.sampled_from("ab é’漢\N{HOT BEVERAGE}\N{MUSICAL SYMBOL G CLEF}\n"), max_size=8)
far = st.builds(lambda piece, times, end: piece * times + end, pieces, st.integers(0, 30), pieces)


@tried(40)
@given(above=far, below=far, anchor=st.sampled_from(["a", "aba", "é’", "漢字"]))
def test_occurrence_and_context_are_those_of_the_text_character_by_character(project, above, below, anchor):
    page = make_page(project, body=f"{above}{anchor}{below}")
    page.refresh_from_db()
    edge = make_edge(
        project, page, anchor=anchor, placement="inline", span_start=len(above), span_end=len(above) + len(anchor),
        body_hash=page.body_hash,
    )  # fmt: skip
    file = b"".join(file_pieces(project.edges.filter(pk=edge.pk), ReleaseFormat.FULL)).decode()

    row = next(csv.DictReader(io.StringIO(file, newline="")))

    assert row["anchor_text"] == anchor
    assert row["occurrence"] == str(above.count(anchor) + 1)
    assert row["context_before"] == above.rpartition("\n")[2][-60:]
    assert row["context_after"] == below[:60].partition("\n")[0]
