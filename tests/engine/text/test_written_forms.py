"""A page is named in the ways in which people write its title."""

from __future__ import annotations

import pytest
from hypothesis import given

from linker.engine.text.fold import fold
from linker.engine.text.generic import stop_words
from linker.engine.text.written_forms import MOST_FORMS, written_forms
from tests.engine.strategies import hostile_text


def forms(name: str, language: str = "en") -> set[str]:
    return {fold(form) for form in written_forms(name, language, stop_words(language))}


@pytest.mark.parametrize(
    ("name", "form", "language"),
    [
        ("A five-day planning course", "5-day planning course", "en"),
        ("The 3 wheels of Oakmill", "three wheels of Oakmill", "en"),
        ("Fünf Räder der Mühle", "5 Räder der Mühle", "de"),
        ("Council-approval rules", "council approval rules", "en"),
        ("Flour & bread", "flour and bread", "en"),
        ("Mehl und Brot", "Mehl & Brot", "de"),
        ("Farine & pain", "farine et pain", "fr"),
        ("The Oakmill Congress, 1774–1781", "Oakmill Congress", "en"),
        ("The Oakmill Congress, July 1774", "Oakmill Congress", "en"),
        ("Our mill team", "mill team", "en"),
        ("Introducing the Oakmill Workbench", "Oakmill Workbench", "en"),
        ('Lintel 16.04 "Red Fox" herunterladen', "Lintel 16.04 Red Fox", "de"),
        ("Lintel 9.04 Blue Heron ist erschienen", "Lintel 9.04 Blue Heron", "de"),
        ("Mill Record Systems (MRS)", "MRS", "en"),
    ],
)
def test_a_name_is_written_in_other_ways(name: str, form: str, language: str) -> None:
    assert fold(form) in forms(name, language)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("Our wheels", "wheels"),
        ("The Office of Mills (USA)", "USA"),
        ("Lintel 8.04 Heron", "Lintel eight.04 Heron"),
        ("Lintel 7 2019", "Lintel seven 2019"),
    ],
)
def test_but_not_as_one_common_word_nor_as_another_thing(name: str, form: str) -> None:
    assert fold(form) not in forms(name)


@given(name=hostile_text)
def test_any_name_is_read(name: str) -> None:
    found = written_forms(name, "en", stop_words("en"))
    assert len(found) <= MOST_FORMS
    assert fold(name) not in map(fold, found)
