"""Characters and tokens are divided into sentences alike, but for the exceptions that are named here.

`sentences.sentence_ends` reads characters, for showing; `TokenizedTexts` reads tokens, for placing links, and ends a
clause where a sentence ends.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.anchors.tokenized import SpanReader, TokenizedTexts
from linker.engine.index import build_index
from linker.engine.site import checked
from linker.engine.text.fold import fold_offsets
from linker.engine.text.marks import CLAUSE_ENDS, CLOSING, SENTENCE_ENDS, WIDE_SENTENCE_ENDS
from linker.engine.text.sentences import sentence_ends
from linker.engine.text.words import ABBREVIATIONS
from tests.engine.sites import made_site
from tests.examples import tried

PAGES = 16
# A line, and what characters and tokens make of it: `|` where both end a sentence, `<` where only the characters do,
# `>` where only the tokens do.
LINES = [
    "A tent keeps you dry.| A bag keeps you warm!| Does it?| Yes",
    "Wait...| What?!| Oh…| Well.",
    "Das Zelt hält.| Es hält lange, auch im Wind.| Ja",
    "¿Qué tienda?| La de la montaña.| ¡Claro!| Sí",
    "Où va-t-on ?| Là-bas !| Très loin.| Oui",
    "Палатка стоит.| Да!| Нет",
    "Version 2.5 is out.| It costs 1,234.56 a piece.| Fine",
    "A mark at the end ends the line.",
    "No mark at all",
    "",
    # A clause ends with : and ;, its sentence goes on.
    "Two things:> A tent and a bag;> Both are light.| Good",
    # A lower-case letter after the mark: characters read on.
    "Yahoo!> makes tents.| Go now.> or stay",
    # Abbreviations: characters know their words, tokens only single letters.
    "Ask Dr.> Berg, St.> Moritz.| He knows",
    "The U.S. Survey by J. Berg in Berlin, z. B. Zelte.| Good",
    # The full stop of a single digit, or of a sign of a script without spaces, ends a sentence to characters alone.
    "Choose tent 4.< Then go",
    "Das ist 帐篷.< Gut",
    # Quotes and brackets between the mark and the space: tokens read on.
    'He said "Go."< They went (all of them.)< Good',
    "Er sagte:> „Geh!”< Dann ging er",
    # Scripts without spaces: characters end there without space, tokens never.
    "帐篷很好。<睡袋也好！<你呢？<好",
    "「テントです。」<いいです",
]


def token_ends(texts: list[str]) -> list[list[int]]:
    """Where clauses of each text end by a mark, as characters of the folded text, but for the end of the text."""
    site = replace(made_site(len(texts), links_a_page=0), bodies=texts)
    reader = SpanReader(build_index(checked(site)))
    read = TokenizedTexts(reader, np.arange(len(texts)))
    ends = []
    for first, last in zip(read.bounds[:-1].tolist(), read.bounds[1:].tolist(), strict=True):
        tokens = range(first, last - 2)  # without the last one of the text and the line break behind it
        ends.append([int(read.stop[token]) for token in tokens if read.clause_last[token] == token + 1])
    return ends


def character_ends(text: str) -> list[int]:
    """Where sentences end, as characters of the folded text, but for the end of the text."""
    offsets = fold_offsets(text)
    return [offsets[end] for end in sentence_ends(text) if end < len(text)]


def without_signs(line: str) -> tuple[str, dict[str, list[int]]]:
    """The line, and where each sign is in it."""
    places: dict[str, list[int]] = {"|": [], "<": [], ">": []}
    text = ""
    for part in re.split(r"([|<>])", line):
        if part in places:
            places[part].append(len(text))
        else:
            text += part
    return text, places


def test_hard_lines_are_read_alike_but_for_what_is_named() -> None:
    texts = [without_signs(line)[0] for line in LINES]
    for line, text, by_tokens in zip(LINES, texts, token_ends(texts), strict=True):
        offsets, signs = fold_offsets(text), without_signs(line)[1]
        assert character_ends(text) == sorted(offsets[end] for end in signs["|"] + signs["<"]), line
        assert by_tokens == sorted(offsets[end] for end in signs["|"] + signs[">"]), line


def only_tokens_end(text: str, end: int) -> bool:
    """Whether tokens may end a clause where characters read on: a clause alone, lower case behind, an abbreviation."""
    word = re.split(r"[\s(\[\"'“‘«]", text[: end - 1])[-1].lower()
    return text[end - 1] in CLAUSE_ENDS or text[end:].lstrip()[:1].islower() or word in ABBREVIATIONS.split()


def only_characters_end(text: str, end: int) -> bool:
    """Whether characters may end a sentence where tokens read on: a wide mark, closing quotes, or the full stop of a
    token of one character that is no letter: a digit, or a sign of a script without spaces."""
    one_sign = re.search(r"(?:^|\W)[\d_]\.$|[\u3040-\u30ff\u3400-\u9fff]\.$", text[:end])
    return text[end - 1] in WIDE_SENTENCE_ENDS + CLOSING or one_sign is not None


WORDS = ["Tent", "tent", "Über", "zelt", "Тент", "帐篷", "U", "z", "4", "42", "Dr", "etc", "2.5", "don't"]
MARKS = ["", *SENTENCE_ENDS, *CLAUSE_ENDS, *WIDE_SENTENCE_ENDS[:1], ",", "...", "?!", '."', ".)", "!’"]
lines = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(MARKS)), max_size=12).map(
    lambda parts: " ".join(word + mark for word, mark in parts)
)


@pytest.mark.nightly
@given(st.lists(lines, min_size=PAGES, max_size=PAGES))
@tried(25)
def test_any_line_is_read_alike_but_for_what_is_named(texts: list[str]) -> None:
    for text, by_tokens in zip(texts, token_ends(texts), strict=True):
        offsets = fold_offsets(text)
        place = {offset: end for end, offset in reversed(list(enumerate(offsets)))}
        by_characters = character_ends(text)
        for end in set(by_tokens) - set(by_characters):
            assert only_tokens_end(text, place[end]), (text, place[end])
        for end in set(by_characters) - set(by_tokens):
            assert only_characters_end(text, place[end]), (text, place[end])


@pytest.mark.parametrize("mark", list(SENTENCE_ENDS))
def test_each_mark_ends_a_sentence_to_both(mark: str) -> None:
    text = f"Take a tent{mark} It keeps you dry"
    end = fold_offsets(text)[text.index(mark) + 1]
    assert character_ends(text) == token_ends([text])[0] == [end]
