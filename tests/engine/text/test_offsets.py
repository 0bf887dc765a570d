"""What is found in the folded text is the same words in the text as written, whatever folding does to its length."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from linker.engine.anchors.placement import Folded, LinkableText, StemPositions, occurrences
from linker.engine.anchors.tokenized import _capitals
from linker.engine.rank import rank_site
from linker.engine.ranking.options import EngineOptions
from linker.engine.site import Links
from linker.engine.text.fold import fold, fold_chars, fold_offsets
from linker.engine.text.mentions import PhraseBook
from linker.engine.text.tokens import Vocabulary
from tests.engine.sites import made_site

# Letters that fold to none, two or three; that differ by place or case alone; marks that follow their letter.
LETTERS = "İIıißẞẞSﬁﬀﬃŉǰΐςσΣŐæœØłđ½Ⅳ…ﷺ㎏ｶﾞ가é"
MARKS = "\u0301\u0307\u0308\u0327\u0345\u00ad\u200b\u200d\ufe0f"
_word = st.text(alphabet=st.sampled_from(LETTERS + MARKS + "abes1"), min_size=1, max_size=6)
_between = st.sampled_from([" ", "  ", "\n", ", ", ". ", "-", "’", "\u00a0", "\u3000", " \u0301", "/"])
_words = st.lists(_word, min_size=1, max_size=4)


@st.composite
def texts(draw) -> tuple[str, str]:
    """A phrase, and a text that holds it in one of the ways it may be written."""
    phrase = " ".join(draw(_words))
    written = draw(st.sampled_from([phrase, phrase.upper(), phrase.lower(), phrase.title(), phrase.casefold()]))
    before, after = draw(st.lists(_word, max_size=4)), draw(st.lists(_word, max_size=4))
    parts = [*before, written, *after]
    return phrase, "".join(f"{part}{draw(_between)}" for part in parts)


def inside_a_letter(text: str, *places: int) -> bool:
    """Whether a place of the folded text lies within what one letter folds to."""
    return not set(places) <= set(fold_offsets(text))


@given(texts())
@settings(deadline=None)
@example(("straße", "Die STRASSE und die Straße, die STRAẞE. "))
@example(("ısparta istanbul", "ISPARTA İSTANBUL, Isparta\u00a0i\u0307stanbul "))
@example(("ﬁnance oﬃce", "Finance oﬃce. \u0301FINANCE\u00ad oﬀice "))
@example(("οδός", "ΟΔΌΣ, οδός, οδο\u0301σ. "))
def test_a_mention_is_the_phrase_where_it_stands_in_the_text(drawn):
    phrase, text = drawn
    vocabulary = Vocabulary()
    book = PhraseBook(vocabulary, [phrase], ["de"])
    tokens = vocabulary.read([text], ["de"])
    found = book.find(tokens)
    body = Folded(text)
    for start, end, exact in zip(found.start.tolist(), found.end.tolist(), (found.phrase >= 0).tolist(), strict=True):
        span = body.span(start, end)
        if span is None:
            assert inside_a_letter(text, start, end)
            continue
        said = text[span[0] : span[1]]
        assert fold_chars(said) == body.folded[start:end]
        if exact:
            assert tokens_of(said) == trimmed_tokens(phrase)


def tokens_of(text: str) -> list[str]:
    vocabulary = Vocabulary()
    tokens = vocabulary.read([text], [""])
    folded = fold_chars(text) + "\n"
    return [folded[at : at + size] for at, size in zip(tokens.starts, tokens.lengths, strict=True) if size][:-1]


def trimmed_tokens(text: str) -> list[str]:
    """As a phrase is looked for: without punctuation around it."""
    found = tokens_of(text)
    while found and found[0] in set(".,;:!?\"'*•·|>-\n"):
        found.pop(0)
    while found and found[-1] in set(".,;:!?\"'*•·|>-\n"):
        found.pop()
    return found


@given(texts())
@settings(deadline=None)
def test_tokens_are_where_the_folded_text_has_them_and_lead_back_to_the_text(drawn):
    _, text = drawn
    tokens = Vocabulary().read([text], ["tr"])
    body = Folded(text)
    for start, size in zip(tokens.starts.tolist()[:-1], tokens.lengths.tolist()[:-1], strict=True):
        span = body.span(start, start + size)
        if span is None:
            assert inside_a_letter(text, start, start + size)
        else:
            assert fold_chars(text[span[0] : span[1]]) == body.folded[start : start + size]


@given(texts())
@settings(deadline=None)
def test_a_token_is_capital_where_the_letter_in_the_text_is(drawn):
    _, text = drawn
    tokens = Vocabulary().read([text], [""])
    offsets = fold_offsets(text)
    for start, capital in zip(tokens.starts.tolist(), _capitals(text, tokens.starts).tolist(), strict=True):
        at = max(place for place, offset in enumerate(offsets) if offset <= start)
        assert capital == (at < len(text) and text[at].isupper())


@given(texts())
@settings(deadline=None)
@example(("weiß", "SCHNEEWEISS weiß WEISS"))
def test_a_place_carries_the_words_that_the_text_has_there(drawn):
    phrase, text = drawn
    for start, end in occurrences(Folded(text), phrase):
        assert fold(text[start:end]) == fold(phrase)
    for place in LinkableText(text).places([(phrase, "title", 1.0)]):
        assert text[place.start : place.end] == place.anchor
        assert fold(place.anchor) == fold(phrase)
    assume(fold(phrase))
    span = StemPositions(Folded(text), "de").nearest_to(phrase, frozenset())
    if span is not None:
        assert 0 <= span[0] < span[1] <= len(text)


def test_a_phrase_is_found_however_its_letters_are_written():
    written = {
        "Straße": ("STRASSE", "STRAẞE", "strasse", "Straße"),
        "İstanbul": ("istanbul", "İSTANBUL", "I\u0307stanbul", "ISTANBUL"),
        "oﬃce": ("office", "OFFICE", "oﬀice"),
        "οδός": ("ΟΔΌΣ", "οδο\u0301σ", "οδος"),
        "Ångström": ("A\u030angstro\u0308m", "ÅNGSTRÖM"),
    }
    for phrase, forms in written.items():
        for form in forms:
            text = f"ﬁ½ß {form}, ß"
            assert [text[start:end] for start, end in occurrences(Folded(text), phrase)] == [form]


@pytest.mark.nightly
def test_the_words_that_the_engine_proposes_stand_where_it_says():
    """Names whose letters fold to others in number, before and in what becomes the link."""
    site = made_site(120)
    odd = str.maketrans({"t": "ﬅ", "s": "ß", "o": "o\u0308", "i": "İ", "f": "ﬃ", "d": "ẞ"})
    names = [name.translate(odd) for name in site.h1s]
    bodies = [body.translate(odd) for body in site.bodies]
    odd_site = replace(site, h1s=names, titles=names, bodies=bodies, links=Links(), languages=["tr"] * len(site))
    ranked = rank_site(odd_site, EngineOptions(ranking="formula"))
    choices = ranked.anchor_choices(np.arange(len(ranked)))
    assert sum(map(len, choices)) > 100
    whole = 0
    for place, mine in enumerate(choices):
        body = bodies[ranked.pairs.source[place]]
        for choice in mine:
            assert body[choice.start : choice.end] == choice.text
            assert not is_diacritic_at(body, choice.start)
            assert not is_diacritic_at(body, choice.end)
            whole += fold(choice.text) == fold(names[ranked.pairs.target[place]])
    assert whole > 50


def is_diacritic_at(text: str, place: int) -> bool:
    return place < len(text) and unicodedata.combining(text[place]) > 0
