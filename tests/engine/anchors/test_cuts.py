"""Words are not cut out of something longer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linker.engine.anchors.choice import span_finder
from linker.engine.anchors.cuts import cut_out, half_sentence
from linker.engine.anchors.features import SPAN_FEATURES
from linker.engine.anchors.spans import CandidateSpans, text_blocks
from linker.engine.evidence import build_evidence
from linker.engine.index import build_index
from linker.engine.text.fold import fold
from tests.engine.anchors.test_ownership import OTHERS, evidence_of, offered, table


def is_cut(body: str, words: str, title: str = "Page", language: str = "en") -> bool:
    """Whether words, where they first stand in a text, are cut out of something longer."""
    site = evidence_of(["Diary", *OTHERS, title], [body, *[""] * 7]).index.site
    site = replace(site, languages=[language] * len(site))
    evidence = build_evidence(build_index(site), np.arange(0))
    finder = span_finder(evidence, None)
    (texts,) = text_blocks(finder.reader, np.array([0]))
    place = fold(body).index(fold(words))
    first = np.array([np.searchsorted(texts.start, place)])
    last = np.array([np.searchsorted(texts.start, place + len(words))])
    found = CandidateSpans(np.zeros(1, np.int64), first, last, np.empty((1, 0), np.float32))
    return bool(cut_out(finder, texts, np.array([7]), found)[0])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("It came (with Lintel 1.31) as Edition 2018 of all.", "1.31) as Edition 2018"),
        ("See the mill agreements (paper) first.", "mill agreements (paper"),
        ('He called it "the wheel of luck" then.', '"the wheel'),
        ('He called it "the wheel" and "the dam" then.', 'wheel" and "the dam'),
        ("He read “the wheel,” and “the dam” then.", "wheel,” and “the dam"),
        ("It was written in Wheel.js and runs.", "Wheel"),
        ("We use .WHEEL open source here.", "WHEEL open source"),
        ("Packages for Lintel 8.10 Red Fox Alpha 5 are here.", "Lintel 8.10 Red Fox"),
        ("We run Oakmill Server 12 at home.", "Oakmill Server"),
    ],
)
def test_a_bracket_a_dotted_name_and_a_name_with_a_number_stay_whole(body: str, words: str) -> None:
    assert is_cut(body, words)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("See the mill agreements (paper) first.", "mill agreements (paper)"),
        ("See the mill agreements (paper) first.", "mill agreements"),
        ("Packages for Lintel 8.10 Red Fox are here.", "Lintel 8.10 Red Fox"),
        ("We met in Oakmill in 12 rooms.", "Oakmill"),
        ("The wheel’s end, and the dam.", "the dam"),
        ('He called it "the wheel" and "the dam" then.', '"the wheel" and "the dam"'),
        ('He called it "the wheel" and more.', 'called it "the wheel"'),
        ('A 7" wheel and a 5" dam.', '7" wheel and a 5" dam'),
    ],
)
def test_what_is_whole_is_not_cut(body: str, words: str) -> None:
    assert not is_cut(body, words)


def test_a_number_that_the_title_has_may_follow() -> None:
    assert not is_cut("We run Oakmill Server 12 at home.", "Oakmill Server", "Oakmill Server 12 is out")


@pytest.mark.parametrize(
    ("body", "words", "language"),
    [
        ("Abra las vistas de análisis de compras ahora.", "análisis de compras", "es"),
        ("Cree una orden de trabajo nueva.", "trabajo", "es"),
        ("Cree una orden de trabajo nueva.", "orden", "es"),
        ("Ouvrez le bon de commande.", "commande", "fr"),
        ("Un ordine di acquisto nuovo.", "acquisto", "it"),
        ("Uma ordem de compra nova.", "compra", "pt"),
    ],
)
def test_half_of_a_romance_term_is_cut(body: str, words: str, language: str) -> None:
    assert is_cut(body, words, language=language)


@pytest.mark.parametrize(
    ("body", "words", "language"),
    [
        ("La configuración de los impuestos es fácil.", "impuestos", "es"),
        ("Cree una orden de trabajo nueva.", "orden de trabajo", "es"),
        ("Le prix de Lyon est connu.", "Lyon", "fr"),
        ("Le président de la République est là.", "la République", "fr"),
        ("Un projet de traité de Lyon est prêt.", "traité de Lyon", "fr"),
        ("La fin de la roue est connue.", "la roue", "fr"),
        ("The order of work de facto.", "facto", "en"),
    ],
)
def test_a_thing_of_its_own_is_not(body: str, words: str, language: str) -> None:
    assert not is_cut(body, words, language=language)


def test_a_bracket_is_offered_whole_or_not_at_all() -> None:
    body = "Read the mill agreements (on paper) and sign."
    found = offered(evidence_of(["Diary", *OTHERS, "Mill agreements"], [body, *[""] * 7]), 0, 7)
    assert all(words.count("(") == words.count(")") for words in found)


@pytest.mark.parametrize("said", ['"Mill agreements."', "“Mill agreements,”", "‘Mill agreements’"])
def test_words_are_offered_without_the_quotation_marks_around_them(said: str) -> None:
    evidence = evidence_of(["Diary", *OTHERS, "Mill agreements"], [f"All of us have read {said}", *[""] * 7])
    found = offered(evidence, 0, 7)
    assert "Mill agreements" in found
    assert not any(words[0] in '“‘"' for words in found)


@pytest.mark.parametrize(
    ("body", "words", "language"),
    [
        ("Strong acids are corrosive to us all.", "acids are corrosive", "en"),
        ("The wheel does not turn.", "wheel does not", "en"),
        ("Das Rad wurde gebaut.", "Rad wurde gebaut", "de"),
        ("Les roues sont en bois.", "roues sont en bois", "fr"),
    ],
)
def test_half_a_sentence_is_no_link_unless_a_name_or_another_link_says_it(body: str, words: str, language: str) -> None:
    assert says_half_a_sentence(body, words, language)
    assert not says_half_a_sentence(body, words, language, named=3.0)
    assert not says_half_a_sentence(body, words, language, links=1.0)


@pytest.mark.parametrize(
    ("words", "language"), [("the Korean war", "en"), ("strong acids", "en"), ("La Era moderna", "es"), ("IS", "en")]
)
def test_a_noun_is_no_verb(words: str, language: str) -> None:
    assert not says_half_a_sentence(f"Notes on {words} here.", words, language)


def says_half_a_sentence(body: str, words: str, language: str, **features: float) -> bool:
    site = evidence_of(["Diary", *OTHERS, "Page"], [body, *[""] * 7]).index.site
    evidence = build_evidence(build_index(replace(site, languages=[language] * len(site))), np.arange(0))
    finder = span_finder(evidence, None)
    (texts,) = text_blocks(finder.reader, np.array([0]))
    place = fold(body).index(fold(words))
    first = np.array([np.searchsorted(texts.start, place)])
    last = np.array([np.searchsorted(texts.start, place + len(fold(words)))])
    found = CandidateSpans(np.zeros(1, np.int64), first, last, table(SPAN_FEATURES, **features).astype(np.float32))
    return bool(half_sentence(finder, texts, found)[0])
