"""Words inside a longer name are a part of it, and no name by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from linker.engine.anchors.choice import anchor_choices
from linker.engine.ranking.approval import shipped
from tests.engine.anchors.test_ownership import OTHERS, evidence_of, offered

DIARY, MILL, HISTORY = 0, 7, 8
LINKED = "We passed Oakmill on the way home, and it was late."


def of_oakmill(body: str, title: str = "Oakmill", longer: str = "History of Oakmill") -> list[tuple[str, int]]:
    """The words that a text offers for a page, and where they begin, on a site with a page of a longer name."""
    evidence = evidence_of(["Diary", *OTHERS, title, longer], [body, *[""] * 8])
    (choices,) = anchor_choices(evidence, np.array([DIARY]), np.array([MILL]), shipped())
    return [(choice.text, choice.start) for choice in choices]


def test_a_name_within_the_longer_name_of_another_page_is_no_link() -> None:
    found = of_oakmill("We read the history of Oakmill at home.")
    assert all("history of Oakmill" in words and words != "history of Oakmill" for words, _ in found)
    assert of_oakmill("We read the tales of Oakmill at home.")[0][0] == "Oakmill"


def test_an_abbreviation_in_brackets_makes_no_longer_name() -> None:
    longer = "Oakmill Harbour Works (OHW)"
    assert of_oakmill(f"We saw {longer} at home.", title="Oakmill Harbour Works", longer=longer)


def test_nor_is_it_within_the_name_of_its_own_page() -> None:
    body = "The history of Oakmill begins with a dam. The village of Oakmill came later."
    evidence = evidence_of(["History of Oakmill", *OTHERS, "Oakmill"], [body, *[""] * 7])
    (choices,) = anchor_choices(evidence, np.array([DIARY]), np.array([MILL]), shipped())
    starts = [choice.start for choice in choices if choice.text == "Oakmill"]
    assert starts == [body.rindex("Oakmill")]


def test_where_it_also_stands_alone_it_is_linked_there() -> None:
    body = "We read the history of Oakmill at home. " + LINKED
    assert [start for words, start in of_oakmill(body) if words == "Oakmill"] == [body.rindex("Oakmill")]


def test_a_longer_name_of_the_page_itself_is_no_other_name() -> None:
    assert of_oakmill("We read the history of Oakmill at home.", title="History of Oakmill", longer="Oakmill")


def test_a_place_where_a_name_goes_on_is_passed_over_for_one_where_it_does_not() -> None:
    body = "Packages for Lintel 8.10 Alpha 5 are out. We run Lintel 8.10 at home."
    found = of_oakmill(body, title="Lintel 8.10", longer="Notes")
    assert [start for words, start in found if words == "Lintel 8.10"] == [body.rindex("Lintel")]


@pytest.mark.parametrize(
    ("title", "body", "best"),
    [
        ("Martin Oakmill", "He met Martin Oakmill in the village.", "Martin Oakmill"),
        ("Human-centred dam design", "A word on human-centred dam design for all.", "human-centred dam design"),
    ],
)
def test_words_of_the_title_beside_it_belong_to_the_link(title: str, body: str, best: str) -> None:
    evidence = evidence_of(["Diary", *OTHERS, title], [body, *[""] * 7])
    assert offered(evidence, DIARY, MILL)[0] == best
