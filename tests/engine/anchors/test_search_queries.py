"""What people searched for becomes an anchor, unless it leads to the site and not to the page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.anchors.candidates import AnchorCandidate, anchor_candidates
from linker.engine.anchors.own_texts import TargetText
from linker.engine.anchors.search_queries import Query, leads_to_the_site
from linker.engine.text.clean import has_word
from linker.engine.text.fold import fold
from linker.engine.text.generic import is_generic
from linker.engine.text.template import Template
from tests.engine.strategies import hostile_text

TEMPLATE = Template(
    suffixes=(" | Fernpeak Outfitters",), repeated=frozenset({"fernpeak"}), series=frozenset({"trends on tuesday"})
)
URL = "https://www.fern-peak.co.uk/guides/tent-care"
CARE = TargetText(URL, title="Wash and dry your tent | Fernpeak Outfitters", h1="Tent care", language="en")


def found(target: TargetText, *queries: Query, blend: float = 0.3, **options) -> list[tuple[str, str]]:
    candidates = anchor_candidates(target, template=TEMPLATE, queries=queries, query_blend=blend, **options)
    return [(candidate.source, candidate.text) for candidate in candidates]


def kept(*texts: str, target: TargetText = CARE, **options) -> list[str]:
    return [t for s, t in found(target, *(Query(text, 0.1) for text in texts), **options) if s == "query"]


HEAVY, LIGHT = Query("cleaning a tent", 0.6, 1200), Query("mould on tents", 0.3, 600)


def test_by_default_the_h1_leads_and_the_best_query_comes_before_weaker_texts() -> None:
    target = TargetText(URL, title="Wash and dry: tents (2024) | Fernpeak Outfitters", h1="Tent care")
    assert found(target, LIGHT, HEAVY) == [
        ("h1", "Tent care"),
        ("title", "Wash and dry: tents (2024)"),
        ("query", "cleaning a tent"),  # 0.3, before 0.7 / 3
        ("title", "Wash and dry: tents"),
        ("title", "Wash and dry"),
        ("query", "mould on tents"),  # 0.15
    ]


def test_a_blend_of_0_knows_titles_only() -> None:
    assert (
        found(CARE, HEAVY, LIGHT, blend=0) == found(CARE) == [("h1", "Tent care"), ("title", "Wash and dry your tent")]
    )


def test_a_blend_of_1_puts_the_queries_first_by_their_weight() -> None:
    assert found(CARE, LIGHT, HEAVY, blend=1) == [
        ("query", "cleaning a tent"),
        ("query", "mould on tents"),
        ("h1", "Tent care"),
        ("title", "Wash and dry your tent"),
    ]


def test_at_one_half_the_best_query_ties_with_the_h1_which_comes_first() -> None:
    assert found(CARE, HEAVY, blend=0.5)[:2] == [("h1", "Tent care"), ("query", "cleaning a tent")]
    assert found(CARE, HEAVY, blend=0.51)[0] == ("query", "cleaning a tent")


def test_a_query_counts_by_its_share_of_the_best_even_where_that_one_is_no_anchor() -> None:
    """A page that is found by the site's name has no strong query because one stray word is left of them."""
    brand, stray = Query("fernpeak", 0.99), Query("drying canvas", 0.01)
    assert found(CARE, brand, stray)[-1] == ("query", "drying canvas")


def test_queries_of_one_weight_go_by_their_text_whatever_their_order() -> None:
    queries = [Query(text, 0.2) for text in ("wet tent", "airing a tent", "tent mould")]
    assert found(CARE, *queries) == found(CARE, *reversed(queries))
    assert kept("wet tent", "airing a tent", "tent mould") == ["airing a tent", "tent mould", "wet tent"]


def test_a_query_that_is_a_name_of_the_page_lifts_it_and_keeps_its_wording_and_source() -> None:
    assert found(CARE, Query("WASH and dry your  tent", 1.0), blend=0.6) == [
        ("title", "Wash and dry your tent"),
        ("h1", "Tent care"),
    ]


def test_a_query_is_written_as_the_h1_or_title_writes_it_else_as_people_did() -> None:
    target = TargetText(URL, h1="Tour du Mont Blanc from hut to hut", title="TMB")
    assert kept("tour du mont blanc", "mont blanc huts", target=target) == ["mont blanc huts", "Tour du Mont Blanc"]


def test_a_name_that_shouts_does_not_raise_the_query_s_voice() -> None:
    assert kept("tent repair", target=TargetText(URL, h1="ALL ABOUT TENT REPAIR")) == ["tent repair"]


def test_the_query_is_kept_as_written_with_its_impressions() -> None:
    [_, _, query] = anchor_candidates(CARE, template=TEMPLATE, queries=[Query("“cleaning a tent”", 1.0, 1200)])
    assert query == AnchorCandidate("cleaning a tent", "query", "“cleaning a tent”", 1200)


@pytest.mark.parametrize(
    "text",
    [
        "read more",
        "more information",
        "the",
        "2024",
        "x",
        "",
        "\x00",
        "our banned phrase",
        "fernpeak",
        "Fernpeak Outfitters",
        "fern peak",
        "fernpeakoutfitters",
        "fernpeak login",
        "fernpeak outfitters contact number",
        "www.fern-peak.co.uk",
        "fern-peak.co.uk",
        "fern peak co uk",
        "fern-peak.co.uk/guides",
        "https://elsewhere.example/x",
        "elsewhere.com",
        "site:fern-peak.co.uk tents",
        "tents -inurl:shop",
        "trends on tuesday",
        "how do i get rid of the mould that has grown on my old canvas tent",
    ],
)
def test_what_says_nothing_of_the_page_is_no_anchor(text) -> None:
    assert kept(text, banned=["Our banned phrase"]) == []


@pytest.mark.parametrize(
    "text", ["fernpeak tents", "outfitters guide", "node.js tents", "asp.net tents", "login tents"]
)
def test_what_asks_for_something_on_the_site_stays(text) -> None:
    assert kept(text) == [text]


def test_a_long_query_is_left_out_and_not_cut() -> None:
    assert kept("cleaning a tent", max_length=15) == ["cleaning a tent"]
    assert kept("cleaning a tent", max_length=14) == []


def test_the_name_of_another_page_is_left_out() -> None:
    assert kept("sleeping bags", taken={"sleeping bags"}) == []


def test_a_page_that_only_bears_the_site_s_name_is_called_by_its_queries() -> None:
    logo = TargetText("https://www.fernpeak.example/p/12", title="Fernpeak", h1="Fernpeak")
    assert found(logo, Query("tent care", 1.0), blend=0.1)[0] == ("query", "tent care")
    assert found(logo, Query("fernpeak", 1.0)) == found(logo)


def test_weights_of_zero_and_a_site_of_no_name_are_no_error() -> None:
    assert found(CARE, Query("cleaning a tent", 0.0))[-1] == ("query", "cleaning a tent")
    assert not leads_to_the_site("tents", "not an address", Template())
    assert not leads_to_the_site("tents", "http://[::1", Template())


@pytest.mark.parametrize("blend", [-0.01, 1.01, float("nan")])
def test_a_blend_that_is_no_share_is_refused(blend) -> None:
    with pytest.raises(ValueError, match="query_blend must be from 0 to 1"):
        found(CARE, blend=blend)


_queries = st.lists(st.builds(Query, hostile_text, st.floats(0, 1), st.none() | st.integers(0, 10**9)), max_size=12)


@given(title=hostile_text, h1=hostile_text, queries=_queries, blend=st.floats(0, 1), most=st.integers(1, 9))
def test_whatever_was_searched_every_candidate_may_be_an_anchor(title, h1, queries, blend, most) -> None:
    target = TargetText(URL, title=title, h1=h1, language="en")
    candidates = anchor_candidates(
        target, template=TEMPLATE, queries=queries, query_blend=blend, limit=most, max_length=40
    )
    again = anchor_candidates(
        target, template=TEMPLATE, queries=queries[::-1], query_blend=blend, limit=most, max_length=40
    )
    assert [(c.text, c.source) for c in candidates] == [(c.text, c.source) for c in again]
    assert 1 <= len(candidates) <= most
    assert len({fold(c.text) for c in candidates}) == len(candidates)
    for candidate in candidates:
        assert len(candidate.text) <= 40
        assert has_word(candidate.text)
        candidate.raw.encode()
        if candidate.source == "query":
            assert not is_generic(candidate.text, "en")
            assert not leads_to_the_site(candidate.text, URL, TEMPLATE)
