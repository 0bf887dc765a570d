"""A heading is a short line without a mark at its end; of what may carry no link, the next line decides as well."""

from __future__ import annotations

import pytest

from linker.engine.text.headings import BULLETS, MAX_HEADING, is_heading_above, is_list_item, looks_like_heading

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
