"""A heading is a short line without a mark at its end; of what may carry no link, the next line decides as well."""

from __future__ import annotations

import pytest

from linker.engine.text.headings import (
    BULLETS,
    MAX_HEADING,
    heading_above,
    is_byline_or_code,
    is_heading_above,
    is_list_item,
    looks_like_heading,
)

PROSE = "A tent keeps you dry when it rains, and warm when the wind blows over the hills in the night." * 2


@pytest.mark.parametrize("line", ["Care", "Choosing a tent", "1. Materials", "帐篷指南", "How (not) to pack", "§ 3"])
def test_a_short_line_is_a_heading_to_both(line: str) -> None:
    assert looks_like_heading(line)
    assert is_heading_above(line, PROSE)


@pytest.mark.parametrize("mark", list(".,;:!…。"))
def test_a_line_that_ends_with_a_mark_is_none_to_either(mark: str) -> None:
    assert not looks_like_heading(f"Choosing a tent{mark}")
    assert not is_heading_above(f"Choosing a tent{mark}", PROSE)


@pytest.mark.parametrize("bullet", BULLETS)
def test_an_item_of_a_list_is_none_to_either(bullet: str) -> None:
    assert is_list_item(f"{bullet} Nylon")
    assert is_list_item(f"  {bullet}\tNylon")
    assert not is_list_item(f"{bullet}Nylon")
    assert not looks_like_heading(f"{bullet} Nylon")
    assert not is_heading_above(f"  {bullet} Nylon", PROSE)


@pytest.mark.parametrize("line", ["", "x" * (MAX_HEADING + 1)])
def test_no_line_and_a_long_one_are_none_to_either(line: str) -> None:
    assert not looks_like_heading(line.title())
    assert not is_heading_above(line, PROSE)


def test_a_question_is_shown_as_a_heading_and_may_carry_a_link() -> None:
    assert looks_like_heading("What is a down bag?")
    assert not is_heading_above("What is a down bag?", PROSE)


@pytest.mark.parametrize("line", ["which goes on", "—", "帐篷，", "帐篷！", "帐篷；"])
def test_the_rest_of_a_sentence_is_not_shown_and_carries_no_link_above_prose(line: str) -> None:
    assert not looks_like_heading(line)
    assert is_heading_above(line, PROSE)


def test_a_line_above_a_short_one_is_shown_and_may_carry_a_link() -> None:
    assert looks_like_heading("Nylon")
    assert not is_heading_above("Nylon", "Cotton")
    assert not is_heading_above("Nylon", "x" * MAX_HEADING)
    assert is_heading_above("Nylon", "x" * (MAX_HEADING + 1))
    assert not is_heading_above("x" * 60, "x" * 120)
    assert is_heading_above("x" * 60, "x" * 121)


BYLINES = (
    *("By Ann Brown", "Posted by ann in News", "March 3, 2026", "3. März 2026", "12 de marzo de 2026", "2026-03-01"),
    *("03/04/2026", "2020年3月4日", "Ann Brown · 5 min read", "Home | Travel | Tents", "Von Anna Braun", "3 comments"),
    *("Tags: tents, boots", "Category: Tents", "Published on 3 May", "5 min read"),
)
CODE = (
    *("MAX_SIZE = 5", "Get-ChildItem -Path x", "foo.bar(baz)", "POST /api/v1/users", "Foo::Bar", "SELECT * FROM t"),
    *(r"C:\Users\x", "#include <x>", "Docker run --rm image", 'Print("Hello")', "Boots { color: red }", "@Override"),
)
HEADINGS = (
    *("By train", "12 best tents of 2024", "Version 2.0", "Tents & boots", "Tent - a guide", "Using Array.map()"),
    *("Step 3: Pitch the tent", "24/7 support", "#1 tent", "C++ or Rust", "Tents | Shop", "Von Köln nach Bonn"),
    *("Winter 2023/24", "E-mail and co-workers", "What is a down bag?", "The <b> element", "Schritt 2: Das Zelt"),
)


@pytest.mark.parametrize("line", [*BYLINES, *CODE])
def test_a_byline_and_code_are_no_heading_to_be_shown(line: str) -> None:
    assert is_byline_or_code(line)
    text = f"Care\n{line}\n{PROSE}"
    start = text.index(PROSE)
    assert heading_above(text, start, len(text)) == "Care"
    assert heading_above(text.removeprefix("Care\n"), start - 5, len(text) - 5) == ""


@pytest.mark.parametrize("line", HEADINGS)
def test_what_reads_like_a_heading_is_shown(line: str) -> None:
    assert heading_above(f"{line}\n{PROSE}", len(line) + 1, len(line) + 1 + len(PROSE)) == line


@pytest.mark.parametrize(
    "names", ["Ann Brown\n3 May 2024", "3 May 2024\nAnn Brown\n5 min read", "Import-Module X\nSet-Item -Path y"]
)
def test_what_stands_with_a_byline_or_code_belongs_to_it(names: str) -> None:
    text = f"Care\n{names}\n{PROSE}"
    assert heading_above(text, text.index(PROSE), len(text)) == "Care"


def test_the_headings_that_a_page_is_known_to_have_are_the_only_ones_where_all_are_known() -> None:
    text = f"Tents\n{PROSE}\nCare!\nNylon\n{PROSE}\nOne more\n{PROSE}"
    start = text.rindex(PROSE)
    assert heading_above(text, start, len(text)) == "One more"
    assert heading_above(text, start, len(text), ["Tents", "Care!"]) == "One more"
    assert heading_above(text, start, len(text), ["Tents", "Care!", "Repair", "Use"]) == "Care!"
    assert heading_above(text, start, len(text), ["What", "is", "not", "there"]) == "One more"
    assert heading_above(f"Nylon\n{PROSE}\nUse", 6, 6 + len(PROSE), ["Wash", "Care!", "Repair", "Use"]) == ""
