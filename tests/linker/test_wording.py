"""How times and numbers are put into words."""

from __future__ import annotations

import pytest
from django.utils.translation import override

from linker import wording


@pytest.mark.parametrize(
    ("days", "english", "german"),
    [
        (0.0, "less than a day", "weniger als ein Tag"),
        (0.99, "less than a day", "weniger als ein Tag"),
        (1.0, "1 day", "1 Tag"),
        (1.04, "1 day", "1 Tag"),
        (2.46, "2.5 days", "2,5 Tage"),
        (9.96, "10 days", "10 Tage"),
        (1234.5, "1,234 days", "1.234 Tage"),
    ],
)
def test_a_time_is_told_in_days_as_exactly_as_somebody_wants_to_know(days, english, german):
    assert wording.days(days) == english
    with override("de"):
        assert wording.days(days) == german


@pytest.mark.parametrize(
    ("label", "english"),
    [
        ("Search queries", "search queries"),
        (
            "The row has no query: Search Console hides rare ones",
            "the row has no query: Search Console hides rare ones",
        ),
        ("The address is no https URL", "the address is no https URL"),
        ("URL of the page", "URL of the page"),
    ],
)
def test_a_label_begins_small_within_a_sentence_and_names_in_it_stay_as_they_are(label, english):
    assert wording.within(label) == english
    with override("de"):
        assert wording.within(label) == label
