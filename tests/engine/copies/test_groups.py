"""Near-copies, variants and translations are found by their names, addresses and texts, and nothing else is."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from linker.engine.copies.addresses import read_address
from linker.engine.copies.describe import PageText, describe
from linker.engine.copies.duplicate_pairs import KINDS
from linker.engine.copies.page_groups import LeadCriteria, SeparatedPages, find_groups
from linker.engine.copies.variants import read_name

WORDS = [f"word{chr(97 + a)}{chr(97 + b)}" for a in range(20) for b in range(20)]


def prose(seed: int, words: int = 200, changed: float = 0.0) -> str:
    """A text of its own for each seed, some of its words changed."""
    chance, other = random.Random(seed), random.Random(seed + 1000)
    text = [chance.choice(WORDS) for _ in range(words)]
    return " ".join(other.choice(WORDS) if other.random() < changed else word for word in text)


def page(path: str, title: str, body: str = "", language: str = "", h1: str = "") -> PageText:
    return PageText(path if "://" in path else f"https://site.example{path}", title, h1 or title, body, language)


def groups(pages: list[PageText], inlinks: dict[int, int] | None = None, apart: SeparatedPages | None = None):
    count = len(pages)
    inward = np.array([(inlinks or {}).get(place, 0) for place in range(count)])
    standing = LeadCriteria(
        np.ones(count, dtype=bool),
        inward,
        np.zeros(count, dtype=np.int64),
        np.array([len(one.url) for one in pages]),
        np.arange(count),
    )
    return find_groups(describe(pages, count), standing, apart)


def sets(found) -> set[frozenset[int]]:
    numbers = set(found.group.tolist()) - {-1}
    return {frozenset(np.flatnonzero(found.group == number).tolist()) for number in numbers}


def kinds(found) -> list[str]:
    return [KINDS[kind].value if group >= 0 else "" for kind, group in zip(found.kind, found.group, strict=True)]


def test_the_same_text_under_the_same_name_is_a_copy():
    found = groups([page("/a", "Our new team", prose(1)), page("/b", "Our new team", prose(1, changed=0.05))])
    assert sets(found) == {frozenset({0, 1})}
    assert kinds(found) == ["copy", "copy"]
    assert found.near[1] > 0.65


def test_pages_of_one_name_with_texts_of_their_own_stand_alone():
    names = [page(f"/{number}/next-steps", "What to do next", prose(number)) for number in range(5)]
    assert sets(groups(names)) == set()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Basics of testing, Part 1", "Basics of testing, Part 2"),
        ("Foreign Relations, 1952, Volume I", "Foreign Relations, 1952, Volume II"),
        ("Lesson 3: Knots", "Lesson 4: Knots"),
        ("Team meeting in February", "Team meeting in June"),
        ("Annual report 2019", "Annual report 2020"),
        ("Release notes 3.19.2", "Release notes 3.19.4"),
    ],
)
def test_parts_of_a_series_are_no_copies_however_alike_their_texts_are(one, other):
    assert sets(groups([page("/a", one, prose(1)), page("/b", other, prose(1))])) == set()


def test_the_text_alone_makes_no_copy_where_the_names_have_nothing_in_common():
    found = groups([page("/a", "Announcing the elections", prose(1)), page("/b", "Python visualisation", prose(1))])
    assert sets(found) == set()


def test_a_name_that_holds_all_words_of_the_other_makes_one_of_nearly_the_same_text():
    one = page("/a", "Planning a prize competition", prose(1))
    assert sets(groups([one, page("/b", "Spotlight: planning a prize competition", prose(1))])) == {frozenset({0, 1})}


@pytest.mark.parametrize(
    "names",
    [
        ("Trail jacket for men, blue", "Trail jacket for women, green"),
        ("Plain single duvet blue", "Plain double duvet red"),
        ("Steel pot 1.5 l", "Steel pot 3 l"),
        ("Soap of olive oil, pack of 2", "Soap of olive oil, pack of 6"),
        ("Herren Regenjacke Fjell, rot", "Damen Regenjacke Fjell, schwarz"),
        ("Fjell knots handbook paperback", "Fjell knots handbook ebook"),
    ],
)
def test_names_that_differ_in_size_colour_sex_or_measure_alone_are_variants(names):
    found = groups([page(f"/p/{number}", name, f"{name} {prose(1)} {name}") for number, name in enumerate(names)])
    assert sets(found) == {frozenset({0, 1})}
    assert kinds(found) == ["variant", "variant"]


@pytest.mark.parametrize(
    "names",
    [
        ("Steel pot 1.5 l", "Copper pot 1.5 l"),
        ("Perucci PC-222 watch for men", "Perucci PC-122 watch for men"),
        ("Geometric blanket grey", "Floral blanket grey"),
    ],
)
def test_another_thing_is_no_variant(names):
    found = groups([page(f"/p/{number}", name, f"{name} {prose(1, 40)}") for number, name in enumerate(names)])
    assert sets(found) == set()


def test_ten_variants_of_one_product_are_one_group_with_one_target():
    colours = ["red", "blue", "green", "black", "white", "grey", "pink", "brown", "beige", "orange"]
    found = groups([page(f"/p/{c}", f"Fjell rain jacket {c}", f"{c} {prose(1)}") for c in colours], inlinks={4: 3})
    assert sets(found) == {frozenset(range(10))}
    assert np.flatnonzero(found.lead).tolist() == [4]
    assert np.flatnonzero(found.receives).tolist() == [4]


def test_a_name_given_again_is_a_variant_without_texts_if_the_address_says_so_too():
    found = groups(
        [
            page("/shop/fjell-jacket-101", "Fjell rain jacket"),
            page("/shop/fjell-jacket-102", "Fjell rain jacket"),
            page("/blog/2015/fjell-jacket-reviewed", "Fjell rain jacket"),
        ]
    )
    assert sets(found) == {frozenset({0, 1})}


def test_colours_of_a_thing_with_a_short_name_are_variants_without_texts_if_the_address_says_so_too():
    kettles = [
        page(f"/kettles/kettle-{name}-{colour}", f"Kettle {name.title()} {colour}")
        for name in ("aroma", "brise")
        for colour in ("blue", "green", "white")
    ]
    assert sets(groups(kettles)) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}
    others = [page("/news/white-house-visit", "White house visit"), page("/news/blue-house-fire", "Blue house fire")]
    assert sets(groups(others)) == set()


def test_an_address_that_differs_in_the_parameter_of_a_variant_alone_is_one():
    found = groups(
        [
            page("/jacket?color=red", "Fjell jacket", prose(1)),
            page("/jacket?color=blue", "Fjell jacket", prose(2)),
            page("/jacket", "Fjell jacket", prose(4)),
            page("/jacket?id=7", "Fjell jacket", prose(3)),
        ]
    )
    assert sets(found) == {frozenset({0, 1, 2})}


def test_versions_of_a_page_are_variants_and_each_may_be_the_target():
    found = groups(
        [
            page("/docs/v1/install", "Install", prose(1)),
            page("/docs/v2.1/install", "Install", prose(2)),
            page("/docs/install", "Install", prose(3)),
            page("/docs/v1/upgrade", "Upgrade", prose(4)),
        ]
    )
    assert sets(found) == {frozenset({0, 1, 2})}
    assert kinds(found)[:3] == ["variant"] * 3
    assert found.receives.all()


def test_a_year_or_a_number_in_an_address_is_no_version():
    found = groups([page("/2019/report", "Report", prose(1)), page("/2020/report", "Report", prose(2))])
    assert sets(found) == set()


def test_pages_that_differ_in_their_language_alone_are_translations():
    found = groups(
        [
            page("/en/tents", "Tents", prose(1), "en"),
            page("/de/tents", "Zelte", prose(2), "de"),
            page("/fr/tents", "Tentes", prose(3), "fr-FR"),
            page("/en/stoves", "Stoves", prose(4), "en"),
        ]
    )
    assert sets(found) == {frozenset({0, 1, 2})}
    assert kinds(found)[1:3] == ["translation"] * 2
    assert found.receives.all(), "each language has a target of its own"


@pytest.mark.parametrize(
    "address",
    ["https://{}.site.example/tents", "https://site.example/tents?lang={}", "https://site.example/shop/{}/tents"],
)
def test_the_language_stands_in_the_host_in_a_parameter_or_in_a_folder(address):
    found = groups([page(address.format(code), code, prose(ord(code[0])), code) for code in ("en", "de", "fr")])
    assert sets(found) == {frozenset({0, 1, 2})}


def test_a_folder_named_like_a_language_makes_no_translation_by_itself():
    pages = [page("/it/contact", "IT contact", prose(1)), page("/contact", "Contact", prose(2))]
    assert sets(groups(pages)) == set()
    many = [page(f"/{folder}{name}", f"{name} {folder}", prose(ord(name) + len(folder))) for folder in ("", "it/")
            for name in "abcd"]  # fmt: skip
    assert len(sets(groups(many))) == 4, "a folder that repeats the site does"


def test_one_language_in_two_folders_is_no_translation():
    found = groups([page("/en/a", "One", prose(1), "en"), page("/de/a", "Other", prose(2), "en")])
    assert sets(found) == set()


def test_what_somebody_said_to_be_different_stays_apart_also_by_way_of_a_third_page():
    pages = [page(f"/{name}", "Our new team", prose(1)) for name in "abc"]
    apart = SeparatedPages({0: {7: 0}, 1: {7: 1}})
    found = groups(pages, apart=apart)
    assert found.group[0] != found.group[1]
    assert sets(groups(pages, apart=SeparatedPages({0: {7: 0}, 1: {7: 0}, 2: {7: 1}}))) == {frozenset({0, 1})}


def test_copies_in_two_guides_are_left_to_the_donor_and_a_plain_double_is_not():
    guides = [page("/a/x", "Encryption - Guide A", prose(1), h1="Encryption"),
              page("/b/x", "Encryption - Guide B", prose(1), h1="Encryption")]  # fmt: skip
    assert groups(guides).receives.all()
    doubles = [page("/a/x", "Encryption", prose(1)), page("/b/x", "Encryption", prose(1))]
    assert groups(doubles).receives.sum() == 1


def test_the_order_of_the_pages_does_not_matter():
    pages = [page(f"/{number}", f"Page about {WORDS[number // 2]} things", prose(number // 2)) for number in range(20)]
    forward, backward = sets(groups(pages)), sets(groups(pages[::-1]))
    assert forward == {frozenset(19 - place for place in group) for group in backward}
    assert len(forward) == 10


@pytest.mark.nightly
def test_five_times_the_pages_are_five_times_the_work():
    """All pages have one name and one folder: no pairs are gone through one by one."""

    def seconds(count: int) -> float:
        pages = [page(f"/a/{number}", "Minutes of the meeting", prose(number, 30)) for number in range(count)]
        described = describe(pages, count)
        zeros = np.zeros(count, dtype=np.int64)
        begun = time.process_time()
        find_groups(described, LeadCriteria(zeros == 0, zeros, zeros, zeros, np.arange(count)))
        return time.process_time() - begun

    seconds(100)
    assert seconds(10_000) < 15 * max(seconds(2_000), 0.02)


def test_names_and_addresses_are_read_as_people_read_them():
    assert read_name("Wow! Baby Girl's Gathered Pink Dress").base == ("wow", "gathered", "dress")
    assert read_name("Rice lights 400 inch, white").base == ("rice", "lights")
    assert read_name("Knots, 3rd edition").base == ("knots",)
    assert read_name("Report 2019").base == ("report", "2019")
    assert read_address("https://www.x.example/pt-BR/a?b=1").locale == "pt-br"
    assert read_address("https://x.example/docs/v1.2/a").version == "v1.2"
    assert (
        read_address("https://x.example/docs/latest/a").any_version
        == read_address("https://x.example/docs/a").any_version
    )
    assert read_address("http://[broken").any_language == "http://[broken"
