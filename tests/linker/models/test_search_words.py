"""The words that the search finds: a function of the database, whose words indexes hold for good."""

from __future__ import annotations

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import tried

# The expression that the indexes of older installations were made with (migration 0003).
FIRST = r"""
to_tsvector('simple', lower(translate(regexp_replace(normalize(left(one, 2000) || ' ' || left(other, 1000), NFKD),
'[\u0300-\u036F]', '', 'g'), 'øØłŁđĐħĦı!"#$%%&''()*+,-./:;<=>?@[\]^_`{|}~', 'oOlLdDhHi' || repeat(' ', 32))))
"""
TEXTS = [
    *("https://shop.example/tents/two-person_tent?colour=red&size=2#top", "Plain words", "", " ", "1.5 3e-5 +4 a@b.c"),
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    *("Ünïcøde Straße, ŁÓDŹ; đak ħal ı", "日本語/ページ", "ﬁne ½ ② café’s — – “q” …", "a\u0300\u0301/b", "Ελλάδα й"),
    *("x" * 2500, "é" * 2500, "word " * 600),
    *("29e3e 1e5", "0x1f-1e", "a\tb\nc\x01d\x7fe", "It's (a) title, isn't it?", "x" * 1999),
]
# What the parser of texts tells apart where nobody would.
ODD = st.text("aeAxX019e.-_/:%#?&=@ \t'\\|,()~\x01\x7fé–", max_size=25)


@pytest.mark.django_db
def test_the_words_of_a_text_stay_the_same_for_ever():
    assert not _with_other_words(TEXTS, TEXTS)


@tried(100)
@given(st.lists(ODD, max_size=30), st.lists(ODD, max_size=30))
@pytest.mark.django_db
def test_the_words_of_odd_texts_stay_the_same(ones, others):
    assert not _with_other_words(ones, others)


@pytest.mark.django_db
@pytest.mark.parametrize("asked", ["foo–bar", "foo bar", "bar, foo", "fo ba", "29e3e"])
def test_words_are_found_wherever_they_stand_in_a_text(asked):
    texts = ["Foo-bar 29e3e", "BAR of Foo 29e3/e", "foo — bär: 29e3 e"]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM unnest(%s::text[]) text WHERE anchorline_words(text) @@ anchorline_word_starts(%s)",
            [texts, asked],
        )
        assert cursor.fetchone() == (3,)


def _with_other_words(ones, others):
    """The texts whose words are others than those of the first indexes, which hold no places of words."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT one, other, anchorline_words(one, other), {FIRST} FROM unnest(%s::text[]) one, "
            f"unnest(%s::text[]) other WHERE strip(anchorline_words(one, other)) <> strip({FIRST})",
            [ones, others],
        )
        return cursor.fetchall()
