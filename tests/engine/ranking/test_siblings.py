"""Pages of one series are told by their titles, and are less likely targets where the source does not say which."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from linker.engine.index import SiteIndex, build_index
from linker.engine.rank import rank_site
from linker.engine.ranking.options import EngineOptions
from linker.engine.ranking.siblings import (
    FAR_OFF,
    NAMESAKE,
    OF_ANOTHER,
    another_member,
    another_year,
    far_in_series,
    namesakes,
    series_shift,
)
from linker.engine.site import checked
from linker.engine.text.titles import read_titles
from linker.engine.text.tokens import Vocabulary
from tests.engine.sites import made_site

if TYPE_CHECKING:
    from linker.engine.site import Site

GOODS = (
    "Goods that came back are counted, weighed and put on the shelf again, and the buyer gets a note of it by post. "
)
VOTES = "Members choose a council of nine, who meet each month and report to all others at the end of their term. "


def site_of(pages: dict[str, str]) -> Site:
    """A site of pages with these titles and texts."""
    titles = list(pages)
    made = replace(made_site(len(pages)), titles=titles, h1s=titles, bodies=list(pages.values()))
    return checked(made)


def told(index: SiteIndex, of: object, source: str, target: str) -> bool:
    """What a rule says of the link from one title to another."""
    titles = list(index.site.titles)
    pair = np.array([titles.index(source)]), np.array([titles.index(target)])
    found = of(index, *pair)  # type: ignore[operator]
    return bool(found[0])


RETURNS = {
    "Taking back goods (Poland)": GOODS + "All of this is done in Poland.",
    "Taking back goods (Italy)": GOODS + "All of this is done in Italy.",
    "Taking back goods (Norway)": GOODS + "As in Italy, forms are blue.",
    "Goods": GOODS,
    "Shelves": GOODS,
}


@pytest.fixture(scope="module")
def returns() -> SiteIndex:
    return build_index(site_of(RETURNS))


def test_titles_that_differ_in_one_word_are_of_one_series(returns: SiteIndex) -> None:
    assert told(returns, another_member, "Taking back goods (Poland)", "Taking back goods (Italy)")


def test_a_member_that_the_source_names_is_as_likely_as_before(returns: SiteIndex) -> None:
    assert not told(returns, another_member, "Taking back goods (Norway)", "Taking back goods (Italy)")


def test_titles_that_share_few_words_are_of_no_series(returns: SiteIndex) -> None:
    assert not told(returns, another_member, "Goods", "Taking back goods (Italy)")
    assert not told(returns, another_member, "Shelves", "Goods")


def test_pages_of_one_title_are_namesakes_and_others_are_not() -> None:
    titles = ["Plots in three dimensions", "Plot in three dimensions", "Plots in two dimensions", "Plots", "", ""]
    made = replace(made_site(len(titles)), titles=titles, h1s=titles, bodies=[GOODS] * len(titles))
    index = build_index(checked(made))
    source, target = np.array([0, 1, 0, 0, 3, 4]), np.array([1, 0, 2, 3, 0, 5])
    assert namesakes(index, source, target).tolist() == [True, True, False, False, False, False]
    assert series_shift(index, source, target)[:2].tolist() == [NAMESAKE, NAMESAKE]


VOTING = {
    "Electing the council of 2014": VOTES + "It sat until 2015.",
    "Electing the council of 2015": VOTES + "Votes of 2015 were counted twice.",
    "Electing the council of 2019": VOTES + "It went as it had in 2014.",
    "Who may vote": VOTES,
    "Candidates of 2018 and 2020": VOTES + "Some stood in 2020.",
    "Empty": "",
}


@pytest.fixture(scope="module")
def voting() -> SiteIndex:
    return build_index(site_of(VOTING))


@pytest.mark.parametrize(
    ("source", "target", "is_another"),
    [
        ("Electing the council of 2015", "Electing the council of 2019", False),  # no text of the site says 2019
        ("Electing the council of 2014", "Electing the council of 2015", False),  # the one after it
        ("Electing the council of 2019", "Electing the council of 2014", False),  # its text says so
        ("Electing the council of 2019", "Electing the council of 2015", True),
        ("Who may vote", "Electing the council of 2014", True),
        ("Who may vote", "Candidates of 2018 and 2020", True),
        ("Electing the council of 2019", "Candidates of 2018 and 2020", False),  # between the two
        ("Electing the council of 2015", "Who may vote", False),
        ("Empty", "Electing the council of 2014", False),
    ],
)
def test_a_year_that_the_source_does_not_say_is_another(
    voting: SiteIndex, source: str, target: str, is_another: bool
) -> None:
    assert told(voting, another_year, source, target) == is_another


def test_numbers_alone_make_no_other_member() -> None:
    """Readers liked the part before and the part after."""
    index = build_index(site_of({f"Knots for sailors, part {part}": GOODS for part in range(3, 8)}))
    assert not told(index, another_member, "Knots for sailors, part 3", "Knots for sailors, part 4")


def test_another_member_of_a_series_is_less_likely_to_be_approved() -> None:
    """The probability of the link falls by as much as the log-odds are moved."""
    site = site_of(RETURNS | {f"Stamps of {word}": GOODS for word in ("ink", "wax", "gum")})
    ranked = rank_site(site, EngineOptions(ranking="learned", otherwise="shipped", least_score=0.0))
    at = {(int(a), int(b)): place for place, (a, b) in enumerate(zip(ranked.source, ranked.target, strict=True))}
    shift = series_shift(build_index(site), ranked.source, ranked.target)
    assert shift[at[0, 1]] == OF_ANOTHER
    assert shift[at[2, 1]] == 0
    assert ranked.score[at[0, 1]] < ranked.score[at[2, 1]]


def turns(titles: list[str]) -> list[list[str]]:
    """The series of titles, each in its order."""
    vocabulary = Vocabulary()
    heads = vocabulary.read([f"{title}\n" for title in titles], ["en"] * len(titles))
    found = read_titles(heads, vocabulary, vocabulary.stop_mask(["en"]))
    rows = sorted(zip(found.series.tolist(), found.turn.tolist(), titles, strict=True))
    known = dict.fromkeys(series for series, _, _ in rows if series >= 0)
    return [[title for other, _, title in rows if other == series] for series in known]


@pytest.mark.parametrize(
    "titles",
    [
        ["Survey 2015", "Survey 2016", "Survey 2019"],
        ["Oak 1.9.3 is out", "Oak 1.10.0 is out", "Oak 2.0.1 is out"],
        ["Minutes 23 April 2020", "Minutes 4 May 2020", "Minutes 14 January 2021"],
        ["Bericht März 2019", "Bericht Oktober 2019", "Bericht Januar 2020"],
    ],
)
def test_titles_that_differ_in_numbers_and_months_are_a_series_in_their_order(titles: list[str]) -> None:
    assert turns([titles[1], "May the mill turn", titles[2], "Mill 7 of the 9", titles[0]]) == [titles]


def test_titles_without_dates_and_versions_or_with_other_words_are_no_series() -> None:
    assert turns(["May the mill turn", "June the mill turn", "Survey 2016", "Surveys of mills 2017"]) == []
    assert turns([f"Drill {number}" for number in (7, 9, 1200)]) == []


def test_far_members_of_a_series_are_less_likely_targets_than_near_ones() -> None:
    pages = {f"Survey of mills {year}": VOTES + f"In {year} we asked." for year in range(2010, 2018)}
    index = build_index(site_of(pages))
    assert told(index, far_in_series, "Survey of mills 2010", "Survey of mills 2013")
    assert not told(index, far_in_series, "Survey of mills 2010", "Survey of mills 2012")
    pair = np.array([0, 0]), np.array([1, 5])
    assert series_shift(index, *pair).tolist() == [0, FAR_OFF]


@pytest.mark.nightly
def test_200_000_titles_are_read_in_seconds_and_take_little_memory() -> None:
    words = [f"w{number:x}q" for number in range(3000)]
    rng = np.random.default_rng(4)
    drawn = rng.integers(0, len(words), (200_000, 2))
    titles = [f"Hiring a boat in {words[a]} {words[b]} {1990 + a % 30}\n" for a, b in drawn.tolist()]
    vocabulary = Vocabulary()
    heads = vocabulary.read(titles, ["en"] * len(titles))
    start = perf_counter()
    found = read_titles(heads, vocabulary, vocabulary.stop_mask(["en"]))
    assert perf_counter() - start < 10
    kept = sum(part.nbytes for part in (found.stems, found.bounds, found.content, found.numbers))
    assert kept < 120 * len(titles)
