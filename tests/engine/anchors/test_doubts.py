"""Words that one link alone says of a dated post, or without a word of its title, are less likely to be all right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linker.engine.anchors import choice
from linker.engine.anchors.choice import anchor_choices
from linker.engine.anchors.doubts import NAME_GOES_ON, SAID_ONCE, dated_posts, name_donor, never_linked, said_once
from linker.engine.anchors.features import WORD_FEATURES
from linker.engine.evidence import TextEvidence, build_evidence
from linker.engine.index import build_index
from linker.engine.ranking.approval import shipped
from tests.engine.anchors.test_ownership import OTHERS, evidence_of, table

ONCE = {"links": np.log1p(1), "title_share": 0.4}


def doubted(*, dated: bool = False, **values: float) -> bool:
    return bool(said_once(table(WORD_FEATURES, **values), np.array([dated]))[0])


def test_words_of_one_link_are_doubted_of_a_dated_post_and_where_the_title_has_none_of_them() -> None:
    assert doubted(**ONCE, dated=True)
    assert doubted(**ONCE | {"title_share": 0.0})
    assert not doubted(**ONCE)
    assert not doubted(**ONCE | {"links": np.log1p(2)}, dated=True)
    assert not doubted(**ONCE, dated=True, named=1)
    assert not doubted(dated=True), "words of no link"


def test_words_that_are_the_whole_title_of_their_own_page_are_its_name() -> None:
    def names(**values: float) -> bool:
        return bool(name_donor(table(WORD_FEATURES, **values))[0])

    assert names(own_title_part=1, own_title_share=1)
    assert not names(own_title_part=1, own_title_share=0.5), "“mills” on “How mills work”"
    assert not names(own_title_part=0.5, own_title_share=1), "“water mill wheels” on “Water mills”"
    assert not names()


def test_the_name_of_the_donor_leads_nowhere_else() -> None:
    """Two pages are called alike, and each says its name."""
    titles = ["Turning a millstone", *OTHERS, "Turning millstones"]
    bodies = ["Before turning a millstone, stop the wheel.", "On turning millstones, see the other page.", *[""] * 6]
    evidence = evidence_of(titles, bodies)
    own, other = anchor_choices(evidence, np.array([0, 1]), np.array([7, 7]), shipped())
    assert next(choice.weight for choice in other if choice.text == "turning millstones") >= 0.75
    assert max((choice.weight for choice in own if "turning a millstone" in choice.text), default=0) < 0.5


def test_words_that_many_pages_say_and_none_links_are_doubted() -> None:
    def doubts(pages: int, of: int = 1000, **values: float) -> bool:
        return bool(never_linked(table(WORD_FEATURES, pages=float(np.log1p(pages)), **values), of)[0])

    assert doubts(30)
    assert not doubts(29)
    assert not doubts(9, of=50), "too few pages to tell"
    assert doubts(10, of=50)
    assert not doubts(30, links=float(np.log1p(1))), "a link of the site says that they mean the target"
    assert not doubts(30, share=0.5), "the site links them, if elsewhere"


@pytest.mark.parametrize(
    ("language", "after", "goes_on"),
    [("en", "Act", True), ("", "Act", True), ("de-AT", "Act", False), ("en", "was good", False)],
)
def test_words_that_leave_out_the_end_of_a_name_are_offered_at_less(
    monkeypatch: pytest.MonkeyPatch, language: str, after: str, goes_on: bool
) -> None:
    """But where all nouns are written with a capital."""
    bodies = [f"Since the Plain Sluice {after} and later.", "The Plain Sluice was good and later.", *[""] * 6]
    titles = ["Spring diary", *OTHERS, "How a sluice is plain"]
    site = evidence_of(titles, bodies, [(1, 7, "Plain Sluice")]).index.site
    evidence = build_evidence(build_index(replace(site, languages=[language] * 8)), np.arange(1))

    def weight() -> float:
        [choices] = anchor_choices(evidence, np.array([0]), np.array([7]), shipped())
        return {one.text: one.weight for one in choices}["Plain Sluice"]

    doubted = weight()
    monkeypatch.setattr(choice, "NAME_GOES_ON", 0.0)
    assert doubted == pytest.approx(weight() + (NAME_GOES_ON if goes_on else 0.0))


@pytest.mark.parametrize(
    ("path", "is_dated"),
    [
        ("/2024/05/03/wheel", True),
        ("/blog/2024/05/wheel.html", True),
        ("/2024-05-03-wheel/", True),
        ("/news/2024-05", True),
        ("/2024/wheel", False),
        ("/wheels-1961-1968/dam", False),
        ("/2024/13/wheel", False),
        ("/wheel", False),
    ],
)
def test_a_post_is_dated_by_a_month_in_its_address(path: str, is_dated: bool) -> None:
    site = evidence_of(["Wheel", *OTHERS], [""] * 7).index.site
    site = replace(site, urls=[f"https://mill.example{path}", *site.urls[1:]])
    assert dated_posts(site, np.array([0, 0, 1])).tolist() == [is_dated, is_dated, False]


def test_words_that_one_link_says_of_a_dated_post_are_offered_at_less() -> None:
    bodies = ["The sluice repair was long.", "After the sluice repair all ran again.", *[""] * 6]
    titles = ["Spring diary", *OTHERS, "How the old mill got its sluice back"]
    plain = evidence_of(titles, bodies, [(1, 7, "sluice repair")])
    site = plain.index.site
    dated = replace(site, urls=[*site.urls[:7], "https://mill.example/2024/05/sluice"])

    def weight(evidence: TextEvidence) -> float:
        [choices] = anchor_choices(evidence, np.array([0]), np.array([7]), shipped())
        return {choice.text: choice.weight for choice in choices}["sluice repair"]

    of_dated = build_evidence(build_index(dated), np.arange(1))
    assert weight(of_dated) == pytest.approx(weight(plain) + SAID_ONCE)
