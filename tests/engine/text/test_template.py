"""The template of a site's titles is what most of them share, and never what a title says."""

from __future__ import annotations

import json
import random

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.text.clean import clean, has_word
from linker.engine.text.template import Template, find_template, strip_patterns
from tests.engine.strategies import hostile_text
from tests.examples import tried

NOUNS = ["Tent", "Stove", "Lamp", "Rope", "Boot", "Map", "Knife", "Mug", "Sock", "Sled", "Raft", "Helmet"]
NAMES = [f"{noun} {kind}" for noun in NOUNS for kind in ("repair", "buying guide", "size chart")]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("55.4. Streaming Replication Protocol", "Streaming Replication Protocol"),
        ("B.7.\u00a0Julian Dates", "Julian Dates"),
        ("9.28.1. Functions", "Functions"),
        ("2. Bundesliga", "2. Bundesliga"),
        ("3.5 mm plugs", "3.5 mm plugs"),
        ("U.S. Route 66", "U.S. Route 66"),
        ("4.1. ", "4.1."),
    ],
)
def test_the_number_of_a_section_is_no_part_of_a_name(title: str, name: str) -> None:
    assert Template().strip(title) == name


@pytest.mark.parametrize(
    "affix", [" | MDN", " – Shop", " - Fernpeak Outfitters", " · Blog", "|Brand", " » Site", ": Brand"]
)
def test_a_suffix_of_all_titles_is_found_with_its_separator(affix: str) -> None:
    template = find_template([name + affix for name in NAMES])
    assert template.suffixes == (affix,)
    assert template.prefixes == ()
    assert template.strip("Tent repair" + affix) == "Tent repair"


@pytest.mark.parametrize("affix", ["Brand: ", "Brand | ", "The Brand - "])
def test_a_prefix_of_all_titles_is_found_with_its_separator(affix: str) -> None:
    template = find_template([affix + name for name in NAMES])
    assert template.prefixes == (affix,)
    assert template.strip(affix + "Tent repair") == "Tent repair"


def test_sections_may_have_suffixes_of_their_own() -> None:
    titles = [n + (" – Fernpeak Magazine" if i % 4 == 0 else " | Fernpeak Outfitters") for i, n in enumerate(NAMES)]
    assert find_template(titles).suffixes == (" | Fernpeak Outfitters", " – Fernpeak Magazine")


def test_a_brand_of_two_parts_goes_as_a_whole_longest_first() -> None:
    template = find_template([f"{name} | Fernpeak | Berlin" for name in NAMES])
    assert template.suffixes == (" | Fernpeak | Berlin", " | Berlin")
    assert template.strip("Tent repair | Fernpeak | Berlin") == "Tent repair"


def test_what_the_h1s_say_too_is_content_and_what_they_lack_is_template() -> None:
    names = [f"{name} - For Men" if i % 3 == 0 else name for i, name in enumerate(NAMES)]
    sections = [f"{name} | Guides" if i % 5 == 1 else name for i, name in enumerate(names)]
    template = find_template([f"{name} | Fernpeak" for name in sections], names)
    assert template.suffixes == (" | Guides | Fernpeak", " | Fernpeak")
    assert template.strip("Boot - For Men | Fernpeak") == "Boot - For Men"


def test_a_series_that_the_h1s_name_too_is_no_prefix() -> None:
    names = [f"Trends on Tuesday: {name}" if i % 3 == 0 else name for i, name in enumerate(NAMES)]
    template = find_template([f"{name} | Fernpeak" for name in names], names)
    assert (template.prefixes, template.suffixes) == ((), (" | Fernpeak",))


def test_a_suffix_of_some_titles_alone_is_content() -> None:
    assert find_template([f"{n} - For Men" if i % 3 == 0 else n for i, n in enumerate(NAMES)]) == Template(
        series=frozenset({"for men"})
    )


@pytest.mark.parametrize(
    "titles",
    [
        [],
        ["Tent | MDN"],
        ["Tent | MDN", "Stove | MDN", "Lamp | MDN", "Rope | MDN"],
        ["Tent | MDN"] * 500,
        [f"{name} shop" for name in NAMES],
        ["", " ", "\x00"] * 50,
        NAMES,
    ],
    ids=["none", "one", "few", "identical", "common last word", "empty", "no separator"],
)
def test_chance_is_no_template(titles: list[str]) -> None:
    template = find_template(titles)
    assert (template.prefixes, template.suffixes) == ((), ())


def test_identical_titles_do_not_hide_the_others() -> None:
    assert find_template(["Tent | MDN"] * 500 + [f"{name} | MDN" for name in NAMES]).suffixes == (" | MDN",)


def test_entities_count_as_what_they_stand_for() -> None:
    assert find_template([f"{name} &#8211; Shop" for name in NAMES]).suffixes == (" – Shop",)


def test_the_order_of_the_pages_does_not_matter() -> None:
    pages = [(f"{name} | {'Shop' if i % 3 else 'Blog'}", name) for i, name in enumerate(NAMES)]
    shuffled = random.Random(3).sample(pages, len(pages))
    assert find_template(*zip(*pages, strict=True)) == find_template(*zip(*shuffled, strict=True))


def test_the_logo_as_h1_of_every_page_names_no_page() -> None:
    template = find_template([f"{name} | Fernpeak" for name in NAMES], ["Fernpeak Outfitters"] * len(NAMES))
    assert template.is_repeated("FERNPEAK outfitters")
    assert not template.is_repeated("Tent repair")


def test_the_names_of_series_are_known() -> None:
    titles = [f"Trends on Tuesday: {name} | Blog" if i % 4 == 0 else f"{name} | Blog" for i, name in enumerate(NAMES)]
    assert find_template(titles).series == {"trends on tuesday"}


@pytest.mark.parametrize(
    ("title", "stripped"),
    [
        ("Tent | MDN", "Tent"),
        ("Tent | MDN | MDN", "Tent"),
        ("MDN: Tent &amp; Stove | MDN", "Tent & Stove"),
        ("MDN", "MDN"),
        ("MDN | MDN", "MDN"),
        ("| MDN", "| MDN"),
        ("MDN: | MDN", "MDN:"),
        ("", ""),
        ("  Tent\n| MDN ", "Tent"),
    ],
)
def test_titles_are_stripped_and_never_emptied(title: str, stripped: str) -> None:
    assert Template(prefixes=("MDN: ",), suffixes=(" | MDN",)).strip(title) == stripped


@given(hostile_text, st.lists(hostile_text, max_size=3), st.lists(hostile_text, max_size=3))
@tried(200)
def test_no_template_empties_a_title(title: str, prefixes: list[str], suffixes: list[str]) -> None:
    stripped = Template(tuple(prefixes), tuple(suffixes)).strip(title)
    assert has_word(stripped) or stripped == clean(title)
    assert stripped in clean(title)


@given(st.lists(hostile_text, max_size=12), hostile_text)
@tried(100)
def test_any_titles_have_a_template_that_survives_json(titles: list[str], affix: str) -> None:
    template = find_template([title + affix for title in titles], titles)
    assert Template.from_dict(json.loads(json.dumps(template.to_dict()))) == template
    assert list(template.suffixes) == sorted(template.suffixes, key=lambda suffix: (-len(suffix), suffix))


@pytest.mark.nightly
def test_a_megabyte_of_separators_is_stripped() -> None:
    title = "Tent" + " | MDN" * 170_000
    assert Template(suffixes=(" | MDN",)).strip(title) == "Tent"
    assert find_template([title + name for name in NAMES]).suffixes == ()


def test_a_projects_patterns_remove_what_they_match() -> None:
    patterns = [re2.compile(r"\s+in \d{4}$"), re2.compile("Official")]
    assert strip_patterns("Tents in 2024", patterns) == "Tents"
    assert strip_patterns("Tents | Official", patterns) == "Tents"
    assert strip_patterns("Official", patterns) == "Official"
    assert strip_patterns("::before", [re2.compile("nothing")]) == "::before"


@given(hostile_text, st.sampled_from([".*", "", r"\w+", r"\s", "[^a]", "$"]))
@tried(100)
def test_no_pattern_empties_a_title(title: str, pattern: str) -> None:
    stripped = strip_patterns(title, [re2.compile(pattern)])
    assert has_word(stripped) or stripped == clean(title)
