"""The words that the search finds: a function of the database, whose words indexes hold for good."""

from __future__ import annotations

import pytest
from django.db import connection

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
]


@pytest.mark.django_db
def test_the_words_of_a_text_stay_the_same_for_ever():
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT one, other, anchorline_words(one, other), {FIRST} FROM unnest(%s::text[]) one, "
            f"unnest(%s::text[]) other WHERE anchorline_words(one, other) <> {FIRST}",
            [TEXTS, TEXTS],
        )
        assert cursor.fetchall() == []
