"""Every target has an anchor that says what the page is about."""

from __future__ import annotations

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.anchors.candidates import AnchorCandidate, anchor_candidates
from linker.engine.anchors.own_texts import TargetText
from linker.engine.anchors.shorten import shorten
from linker.engine.text.clean import has_word
from linker.engine.text.fold import fold
from linker.engine.text.generic import is_address, is_generic, stop_words
from linker.engine.text.template import Template
from tests.engine.strategies import hostile_text
from tests.examples import tried

TEMPLATE = Template(suffixes=(" | Fernpeak",), repeated=frozenset({"fernpeak outfitters"}), series=frozenset({"news"}))
URL = "https://example.com/guides/tent-care"


def texts(target: TargetText, **options: object) -> list[str]:
    return [c.text for c in anchor_candidates(target, template=TEMPLATE, **options)]  # type: ignore[arg-type]


def test_the_h1_comes_first_then_the_title_then_their_parts_then_headings_and_phrases() -> None:
    target = TargetText(
        url=URL,
        title="Tent care (2024): wash and dry your tent | Fernpeak",
        h1="How to care for a tent",
        headings=["Materials", "Drying a wet tent", "Share"],
        description="Our guide to a lightweight tent, with a checklist.",
        language="en-GB",
    )
    assert [(c.source, c.text) for c in anchor_candidates(target, template=TEMPLATE)] == [
        ("h1", "How to care for a tent"),
        ("title", "Tent care (2024): wash and dry your tent"),
        ("title", "Tent care: wash and dry your tent"),
        ("title", "wash and dry your tent"),
        ("title", "Tent care"),
        ("heading", "Drying a wet tent"),
        ("description", "lightweight tent"),
    ]


def test_the_source_text_is_kept_as_crawled() -> None:
    target = TargetText(URL, title="Tent &#8211; care | Fernpeak")
    assert anchor_candidates(target, template=TEMPLATE)[0] == AnchorCandidate(
        "Tent – care", "title", "Tent &#8211; care | Fernpeak", whole=True
    )


def test_a_title_like_the_h1_is_offered_once() -> None:
    assert texts(TargetText(URL, title="TENT Cäre | Fernpeak", h1="Tent Care")) == ["Tent Care"]


def test_generic_and_banned_names_are_passed_over() -> None:
    assert texts(TargetText(URL, title="Tent care | Fernpeak", h1="Read more", language="en"))[0] == "Tent care"
    assert texts(TargetText(URL, title="Zeltpflege", h1="Weiterlesen", language="de-CH"))[0] == "Zeltpflege"
    assert texts(TargetText(URL, title="Zeltpflege", h1="Tent care"), banned=["TENT CARE"]) == ["Zeltpflege"]


def test_a_logo_as_h1_gives_way_to_the_title_and_to_the_address() -> None:
    assert texts(TargetText(URL, title="Tent care | Fernpeak", h1="Fernpeak Outfitters")) == ["Tent care"]
    assert texts(TargetText(URL, h1="Fernpeak Outfitters")) == ["tent care", "Fernpeak Outfitters"]


def test_short_forms_that_name_a_series_or_another_page_are_left_out() -> None:
    target = TargetText(URL, h1="News: Tent care week")
    assert texts(target) == ["News: Tent care week", "Tent care week"]
    assert texts(target, taken={"tent care week"}) == ["News: Tent care week"]
    assert texts(TargetText(URL, h1="Tent care week"), taken={"tent care week"}) == ["Tent care week"]


def test_parts_that_continue_a_sentence_are_no_anchors() -> None:
    assert texts(TargetText(URL, h1="Hiking Boot - For Men, Boys", language="en")) == [
        "Hiking Boot - For Men, Boys",
        "Hiking Boot",
    ]


@pytest.mark.parametrize(
    ("h1", "plain"),
    [
        ("Data Program (DAP) guide", "Data Program guide"),
        ("Node.appendChild()", "Node.appendChild"),
        ("（新） 登山靴", "登山靴"),
    ],
)
def test_parentheses_may_be_left_out(h1: str, plain: str) -> None:
    assert texts(TargetText(URL, h1=h1)) == [h1, plain]


def test_brackets_inside_a_word_stay() -> None:
    assert texts(TargetText(URL, h1="Your Mobile [App]etite")) == ["Your Mobile [App]etite"]


def test_a_projects_patterns_are_applied() -> None:
    assert texts(TargetText(URL, h1="Tent care in 2024"), patterns=[re2.compile(r" in \d+")]) == ["Tent care"]


@pytest.mark.parametrize(
    ("url", "anchor"),
    [
        ("https://example.com/guides/tent-care.html", "tent care"),
        ("https://example.com/guides/h%C3%BCtten_in%20den+alpen/", "hütten in den alpen"),
        ("https://example.com/tent-care/p/itm3fg7bkz?pid=1", "tent care"),
        ("https://example.com/xslt/introduction", "xslt introduction"),
        ("https://example.com/2024/", "2024"),
        ("https://www.example.com/contact", "contact"),
        ("https://www.example.com/contact/www.example.com%2Fpage", "contact"),
        ("https://www.example.com/", "example.com"),
        ("http://[broken", "[broken"),
        ("%00%ff", "00 ff"),
        ("https://example.com/%E2%80%AEtxt.exe", "txt.exe"),
    ],
)
def test_a_page_without_names_is_called_by_its_address(url: str, anchor: str) -> None:
    candidates = anchor_candidates(TargetText(url, title="\u202e", language="en"), template=Template())
    assert [(c.source, c.text) for c in candidates] == [("url", anchor)]


@pytest.mark.parametrize(
    ("title", "h1", "banned", "anchor"),
    [
        ("Contact | Bright Clinic", "Contact", [], ("title", "Contact | Bright Clinic")),
        ("Contact", "Contact", [], ("title", "Contact")),
        ("", "Contact", [], ("h1", "Contact")),
        ("www.brightclinic.example/contact", "", [], ("url", "contact")),
        ("Contact | Bright Clinic", "", ["contact | bright clinic"], ("url", "contact")),
        ("Contact", "Contact", ["contact"], ("url", "brightclinic.example")),
    ],
)
def test_a_page_of_generic_names_is_not_called_by_its_address(
    title: str, h1: str, banned: list[str], anchor: tuple[str, str]
) -> None:
    page = TargetText("https://www.brightclinic.example/contact", title, h1, description="Call us.", language="en")
    candidates = anchor_candidates(page, template=Template(suffixes=(" | Bright Clinic",)), banned=banned)
    assert [(c.source, c.text) for c in candidates] == [anchor]


def test_a_target_without_an_address_is_refused() -> None:
    with pytest.raises(ValueError, match="address"):
        anchor_candidates(TargetText("\x00"), template=Template())


@pytest.mark.parametrize("options", [{"limit": 0}, {"max_length": 0}])
def test_senseless_bounds_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        texts(TargetText(URL), **options)


@pytest.mark.parametrize(
    ("text", "length", "short"),
    [
        ("Tent care", 9, "Tent care"),
        ("Tent care guide", 10, "Tent care"),
        ("Tent care for the winter", 17, "Tent care"),
        ("Tent care – drying", 12, "Tent care"),
        ("Tent care (drying and more)", 20, "Tent care"),
        ("Tent care, drying", 11, "Tent care"),
        ("Donaudampfschifffahrt", 5, "Donau"),
        ("cafe\u0301s", 4, "caf"),
        ("the of and", 8, "the"),
    ],
)
def test_long_texts_are_cut_between_words_and_end_well(text: str, length: int, short: str) -> None:
    assert shorten(text, length, stop_words("en")) == short


targets = st.builds(
    TargetText,
    url=hostile_text.map(lambda path: f"https://example.com/{path}"),
    title=hostile_text,
    h1=hostile_text,
    headings=st.lists(hostile_text, max_size=3),
    description=hostile_text,
    language=st.sampled_from(["", "en", "de-DE", "xx"]),
)


@given(targets, st.integers(1, 70), st.integers(1, 9))
@tried(300)
def test_anchors_of_any_page_are_bounded_different_visible_and_not_generic(
    target: TargetText, max_length: int, limit: int
) -> None:
    candidates = anchor_candidates(target, template=TEMPLATE, max_length=max_length, limit=limit)
    assert 1 <= len(candidates) <= limit
    assert len({fold(candidate.text) for candidate in candidates}) == len(candidates)
    for candidate in candidates:
        assert 0 < len(candidate.text) <= max_length
        assert candidate.text == candidate.text.strip()
        assert not any(ord(char) < 32 or char == "\u202e" for char in candidate.text + candidate.raw)
        (candidate.text + candidate.raw).encode()
        assert not is_address(candidate.text)
        if len(candidates) > 1:
            assert has_word(candidate.text)
            assert not is_generic(candidate.text, target.language)


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=8), min_size=1, max_size=12), st.integers(1, 40))
@tried(100)
def test_a_cut_never_goes_through_a_word_unless_the_first_is_too_long(words: list[str], length: int) -> None:
    short = shorten(" ".join(words), length)
    assert len(short) <= length
    assert short == " ".join(words[: len(short.split())]) or (len(words[0]) > length and short == words[0][:length])


def test_a_megabyte_of_title_is_cut() -> None:
    anchor = texts(TargetText(URL, title="tent " * 200_000, description="tent, " * 200_000, headings=["x y"] * 9_999))[
        0
    ]
    assert anchor == ("tent " * 12).strip()
