"""A rule for links is filled with what examples show: words, with a * for what differs, and the donors' folder."""

from __future__ import annotations

import pytest

from linker.pages.link_words import WordsOfRules
from linker.pages.report import SeenLink
from linker.reports.like_examples import common_rule, common_words, folder_pattern, rule_like

SITE = "https://shop.example"


def seen(path: str, words: str) -> SeenLink:
    return SeenLink(source=f"{SITE}{path}", words=words, target=f"{SITE}/z")


@pytest.mark.parametrize(
    ("anchors", "shared"),
    [
        (["Read more", "read  MORE"], "Read more"),
        (["Read more about tents", "Read more about stoves"], "Read more about *"),
        (["Tents \u2192", "Two stoves \u2192"], "* \u2192"),
        (["All of the tents", "All tents"], "All * tents"),
        (["tents", "tents tents"], "tents *"),
        (["tents", "stoves"], ""),
        (["2 * 3", "2 * 4"], r"2 \* *"),
        (["", "tents"], ""),
    ],
)
def test_words_that_all_share_stay_and_a_star_stands_for_the_others(anchors, shared):
    assert common_words(anchors) == shared


def test_words_from_examples_take_these_examples():
    anchors = ["All of the tents", "All the tents", "all new tents"]
    assert all(WordsOfRules([common_words(anchors)]).of(anchor) == 1 for anchor in anchors)


@pytest.mark.parametrize(
    ("address", "pattern"),
    [
        ("/blog/tents/", r"^https://shop\.example/blog/"),
        ("/2024/05/tents.html", r"^https://shop\.example/\d+/\d+/"),
        ("/blog/?page=2", ""),
        ("/", r"^https://shop\.example/?$"),
        ("", r"^https://shop\.example/?$"),
        ("/tents", ""),
    ],
)
def test_a_folder_is_a_pattern_for_its_pages(address, pattern):
    assert folder_pattern(f"{SITE}{address}") == pattern


def test_a_kind_has_what_its_examples_share_else_what_the_first_shows():
    blog = r"^https://shop\.example/blog/"
    assert rule_like(seen("/blog/a", "a*b")) == {"words": r"a\*b", "source_pattern": blog}
    assert common_rule([seen("/blog/a", "tents"), seen("/blog/b", "stoves")]) == {"source_pattern": blog}
    assert common_rule([seen("/blog/a", "more"), seen("/b/c", "more")]) == {"words": "more"}
    assert common_rule([seen("/blog/a", "tents"), seen("/b", "stoves")]) == {"words": "tents", "source_pattern": blog}
    assert common_rule([]) == {}
    assert rule_like(seen("/a", "x" * 300)) == {}
