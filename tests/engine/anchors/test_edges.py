"""Words of a text are proposed without the quotation marks, stops and dashes of lists around them."""

from __future__ import annotations

import pytest

from linker.engine.anchors.edges import without_edges


def edged(words: str, before: str = "We read ", after: str = " and slept.") -> str:
    text = f"{before}{words}{after}"
    first, last = without_edges(text, len(before), len(before) + len(words))
    return text[first:last]


@pytest.mark.parametrize(
    ("words", "bare"),
    [
        ('"Kettle 2018."', "Kettle 2018"),
        ("\u201cKettle affair,\u201d", "Kettle affair"),
        ("\u201eZelte im Schnee\u201c", "Zelte im Schnee"),
        ("\u00ab tentes d\u2019hiver \u00bb", "tentes d\u2019hiver"),
        ("- Kettle 2018", "Kettle 2018"),
        ("\u2022 \u201cKettles\u201d", "Kettles"),
        ("-5 degrees", "-5 degrees"),
        ("'Kettles'", "Kettles"),
        ("\u2018the editor\u2019s kettle\u2019", "the editor\u2019s kettle"),
        ("'Kettle 2018", "Kettle 2018"),
        ('"Kettles Inc."', "Kettles Inc."),
        ('"Kettles of the U.S."', "Kettles of the U.S."),
    ],
)
def test_a_pair_around_all_words_is_left_out(words, bare):
    assert edged(words) == bare


@pytest.mark.parametrize(
    "words",
    [
        "Kettles",
        "the editors'",
        "Kettle \u201cB\u201d",
        '"Kettle" or "pot"',
        "'Kettle' or 'pot'",
        "'90s kettles",
        '""',
        '"',
        "'",
        "rock 'n' roll",
        "Kettles Inc.",
    ],
)
def test_other_words_stay(words):
    assert edged(words) == words
