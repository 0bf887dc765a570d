"""What runs and releases store in English is shown in German, however it was filled in."""

from __future__ import annotations

import re

import pytest
from django.utils.translation import override
from hypothesis import assume, example, given
from hypothesis import strategies as st

from linker.engine import worth
from linker.engine.candidates.registry import bit_of
from linker.engine.ranking import reasons
from linker.engine.roles.policy import NAMED
from linker.engine.sayings import Saying
from linker.pages import sensitive_sayings
from review.queue.sentences import OF_CARDS, in_words
from review.releases import held_sayings
from tests.engine.test_worth import facts

NUMBERS = st.sampled_from([0.0, 0.06, 0.3, 0.45, 0.7, 1.0, 3.0, 7.5])
ENGLISH = re.compile(r"acceptor|donor|is (medical|legal|financial|sensitive)")
QUOTED = st.text(min_size=1) | st.sampled_from(["warm, and dry", "5 %", "%(phrase)s", "it links, and other pages"])
REASONS = st.fixed_dictionaries({}, optional=dict.fromkeys(reasons.REASONS, NUMBERS))


def in_german(stored: str, sayings: tuple[Saying, ...] = OF_CARDS) -> str:
    with override("de"):
        return in_words(stored, sayings)


def same_in_english(stored: str, sayings: tuple[Saying, ...] = OF_CARDS) -> bool:
    with override("en"):
        return in_words(stored, sayings) == stored


@given(REASONS, st.just("") | QUOTED, st.sampled_from([0, bit_of("category")]))
@example({}, "", 0)
def test_every_reason_is_said_in_german(features, phrase, found):
    stored = reasons.why(features, phrase, found).sentence
    assert same_in_english(stored)
    assert in_german(stored) != stored


@given(QUOTED)
def test_so_are_those_of_runs_by_cosine(category):
    for stored in (reasons.BY_COSINE.text, reasons.BY_COSINE_IN_CATEGORY.said(category=category)):
        assert same_in_english(stored)
        assert in_german(stored) != stored


KNOWN = {
    "links": st.integers(0, 3).map(float), "depth": st.integers(0, 2000).map(float),
    "impressions": st.floats(0, 1e9), "position": st.floats(1, 30),
    "value": st.floats(0, 1e12) | st.sampled_from([0.001, 80.0]),
}  # fmt: skip


@given(st.fixed_dictionaries({}, optional=KNOWN))
def test_what_a_page_lacks_is_said_in_german_and_all_of_it(page):
    stored = worth.in_words(facts(page), 0)
    german = in_german(stored)
    assert same_in_english(stored)
    assert not re.search("Needs|has|deep|impression|Has|value", german)


@given(st.sampled_from(sensitive_sayings.KINDS), QUOTED, st.integers(0, 400))
def test_what_makes_a_page_sensitive_is_said_in_german(kind, words, longer):
    assume(not ENGLISH.search(words))
    made = [saying.said(kind=kind, word=words) for saying in sensitive_sayings.SAYS.values()]
    made.append(sensitive_sayings.WHOLE_SITE.said(kind=kind))
    made.append(sensitive_sayings.ADDRESS_HAS.said(kind=kind, pattern=words + "x" * longer))
    made.append(sensitive_sayings.IN_CATEGORY.said(kind=kind, category=words + "x" * longer))
    for reason in made:
        for side in sensitive_sayings.SENTENCES:
            stored = side.said(reason=reason[: sensitive_sayings.MAX_REASON])
            assert same_in_english(stored)
            assert not ENGLISH.search(in_german(stored)[:40])


def filled(saying: Saying, text: str, number: int) -> list[str]:
    """A saying of releases as it may be stored, with each of the words that it has a choice of."""
    names = re.findall(r"%\((\w+)\)s", saying.text)
    values: dict[str, object] = {name: number if saying.blank(name).number else text for name in names}
    chosen = [(name, word) for name in names for word in saying.blank(name).words]
    first = {name: saying.blank(name).words[0] for name in names if saying.blank(name).words}
    return [saying.said(**values | first | {name: word}) for name, word in chosen] or [saying.said(**values)]


@given(QUOTED, st.integers(0, 100_000))
def test_why_a_link_is_held_back_is_said_in_german(text, number):
    for saying in held_sayings.SENTENCES:
        if saying in sensitive_sayings.SENTENCES:
            continue
        for stored in filled(saying, text, number):
            assert same_in_english(stored, held_sayings.SENTENCES)
            assert in_german(stored, held_sayings.SENTENCES) != stored


def test_roles_have_names_in_german():
    for role in NAMED.values():
        assert role not in in_german(held_sayings.GIVES_NONE.said(role=role), held_sayings.SENTENCES)


@pytest.mark.parametrize(
    ("stored", "german"),
    [
        (
            "The text says “warm, and dry”, the words of 3 other links to this page, 35% of the most similar pages "
            "link to it, and it links to the donor already.",
            "Im Text steht „warm, and dry“, wie in 3 anderen Links auf diese Seite, 35 % der ähnlichsten Seiten "
            "verlinken sie, und sie verlinkt die Quellseite schon.",
        ),
        (
            "Needs links: has only 1 from a text, 5 clicks deep, 1,240 impressions at position 8, value 80.5",
            "Braucht Links: nur 1 aus einem Text, 5 Klicks tief, 1.240 Impressionen auf Position 8, Wert 80,5",
        ),
        (
            "The acceptor is medical (Magazine › Health)",
            "Die Zielseite handelt von Medizin (Magazine › Health)",
        ),
        ("The two pages are alike in meaning (0.42).", "Die beiden Seiten sind im Sinn ähnlich (0,42)."),
    ],
)
def test_a_sentence_reads_in_german(stored, german):
    assert in_german(stored) == german


@pytest.mark.parametrize("stored", ["", "An older sentence.", "The text says nothing.", "needs links: 3", "35% of it."])
def test_what_nobody_says_stays_as_it_is_stored(stored):
    assert in_german(stored) == stored


def test_what_is_not_known_among_what_a_page_lacks_stays_as_it_is_stored():
    assert in_german("Needs links: 5 clicks deep, no pictures") == "Braucht Links: 5 Klicks tief, no pictures"


def test_an_apostrophe_and_a_placeholder_become_sql():
    saying = Saying("The donor's %(side)s.")
    assert saying.said_in_sql(side="b.side") == "('The donor''s ' || b.side || '.')"


def test_whatever_is_said_of_a_held_link_is_read_again_in_the_readers_language():
    said = [one for one in vars(held_sayings).values() if isinstance(one, Saying)]
    assert said
    assert [one for one in said if one not in held_sayings.SENTENCES] == []
