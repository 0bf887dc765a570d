"""Mentions are what a naive search through every position finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from linker.engine.text.mentions import LONGEST, PhraseBook
from linker.engine.text.tokens import Vocabulary
from tests.engine.strategies import hostile_text
from tests.examples import tried

WORDS = st.sampled_from(["tent", "tents", "Élan", "elan", "policy", "policies", "(", ")", ".", "\n", "漢", "字", "a_b"])
texts = st.lists(st.lists(WORDS, max_size=12).map(" ".join) | hostile_text, max_size=5)


def naive(texts: list[str], phrases: list[str], language: str) -> set[tuple[int, int, int, bool]]:
    """(page, first token, tokens, whether as written) of every mention, position by position."""
    vocabulary = Vocabulary()
    book = PhraseBook(vocabulary, phrases, [language] * len(phrases))
    tokens = vocabulary.read(phrases, [language] * len(phrases))
    wanted: dict[tuple[int, ...], bool] = {}
    exact = set()
    marks = vocabulary.numbers(".,;:!?\"'*•·|>-")
    for number in range(len(phrases)):
        if book.phrase_of[number] < 0:
            continue
        span = list(range(tokens.bounds[number], tokens.bounds[number + 1]))
        while span and (tokens.words[span[0]] in marks or tokens.words[span[0]] == 0):
            span.pop(0)
        while span and (tokens.words[span[-1]] in marks or tokens.words[span[-1]] == 0):
            span.pop()
        wanted[tuple(tokens.stems[span].tolist())] = True
        exact.add(tuple(tokens.words[span].tolist()))
    body = vocabulary.read(texts, [language] * len(texts))
    found = set()
    for page in range(len(texts)):
        for first in range(body.bounds[page], body.bounds[page + 1]):
            for size in range(1, LONGEST + 1):
                if first + size <= body.bounds[page + 1] and tuple(body.stems[first : first + size].tolist()) in wanted:
                    found.add((page, first, size, tuple(body.words[first : first + size].tolist()) in exact))
    return found


@given(texts, st.lists(st.lists(WORDS, max_size=4).map(" ".join), max_size=6), st.sampled_from(["en", "fr", "xx"]))
@tried(150)
def test_finds_what_a_naive_search_finds(bodies: list[str], phrases: list[str], language: str) -> None:
    vocabulary = Vocabulary()
    book = PhraseBook(vocabulary, phrases, [language] * len(phrases))
    found = book.find(vocabulary.read(bodies, [language] * len(bodies)))
    rows = zip(
        found.page.tolist(), found.token.tolist(), found.size.tolist(), (found.phrase >= 0).tolist(), strict=True
    )
    assert set(rows) == naive(bodies, phrases, language)


def mentions(text: str, *phrases: str, language: str = "en") -> list[str]:
    vocabulary = Vocabulary()
    book = PhraseBook(vocabulary, phrases, [language] * len(phrases))
    found = book.find(vocabulary.read([text], [language]))
    return [text[start:end] for start, end in zip(found.start.tolist(), found.end.tolist(), strict=True)]


def test_a_phrase_is_found_as_whole_words_whatever_case_and_accents() -> None:
    assert mentions("Our RESUME and café-bars; resumes", "résumé") == ["RESUME", "resumes"]
    assert mentions("intent, tent", "tent") == ["tent"]


def test_inflected_words_are_found_in_four_languages() -> None:
    assert mentions("two policies", "policy") == ["policies"]
    assert mentions("les cartes grises", "carte grise", language="fr") == ["cartes grises"]
    assert mentions("zwei Zelten", "Zelt", language="de") == ["Zelten"]
    assert mentions("las luces", "luz", language="es") == ["luces"]


def test_code_keeps_its_brackets_apart_from_the_bare_name() -> None:
    assert mentions("call click() or click", "click()", "click") == ["click", "click()", "click"]


def test_a_mention_does_not_cross_a_line_break_or_a_full_stop() -> None:
    assert mentions("red\ntent. red. tent", "red tent") == []


def test_the_whole_title_of_an_article_is_found() -> None:
    title = "How Do You Redesign a ‘Dinosaur’? Redesigning an Intranet Site: the Beginning Stages"
    assert mentions(f"Read more in {title}.", title) == [title]


def test_han_is_found_without_spaces() -> None:
    assert mentions("私は漢字が好き", "漢字") == ["漢字"]


def test_whether_a_mention_stands_alone_on_its_line() -> None:
    vocabulary = Vocabulary()
    book = PhraseBook(vocabulary, ["tent"], ["en"])
    found = book.find(vocabulary.read(["tent\ntent here\na tent"], ["en"]))
    assert found.alone.tolist() == [True, False, False]
    assert found.leads.tolist() == [True, True, False]


def test_a_megabyte_and_nul_are_read() -> None:
    assert len(mentions("tent\x00 " * 200_000, "tent")) == 1_000_000 // 6 + 1
    assert mentions("\x00\ud800", "tent") == []
