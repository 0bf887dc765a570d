"""Pagination and variants of a page are no pages of their own; a shop's ?pid= pages are."""

import numpy as np
import pytest

from linker.engine.page_rules import is_pagination, is_parameter_url
from linker.engine.params import MatchParams, Mode, PageFilter
from linker.engine.tiers import read_tiers


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/news/page/2/",
        "https://a.example/news/page-3",
        "https://a.example/news/seite/4",
        "https://a.example/news?page=2",
        "https://a.example/news?sort=date&paged=12",
        "https://a.example/news/page/2.html",
    ],
)
def test_pagination_is_known(url):
    assert is_pagination(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/page/about",
        "https://a.example/p/12345",
        "https://a.example/?p=123",
        "https://a.example/pages/2",
        "https://a.example/homepage/2",
        "https://a.example/news?page=contact",
    ],
)
def test_what_only_looks_like_pagination_is_a_page(url):
    assert not is_pagination(url)


def test_a_query_that_sorts_or_tracks_is_a_variant_and_one_that_names_a_product_is_not():
    assert is_parameter_url("https://a.example/tents?sort=price", "auto", is_variant=False)
    assert is_parameter_url("https://a.example/tents?utm_source=x", "auto", is_variant=False)
    assert not is_parameter_url("https://a.example/p/tent?pid=T1", "auto", is_variant=False)
    assert is_parameter_url("https://a.example/p/tent?pid=T1", "auto", is_variant=True)
    assert is_parameter_url("https://a.example/p/tent?pid=T1", "exclude", is_variant=False)
    assert not is_parameter_url("https://a.example/tents?sort=price", "allow", is_variant=True)


def test_a_tier_is_the_highest_bound_at_or_below_the_score():
    bounds = np.array([0.5, 0.8, 0.65])
    assert read_tiers(np.array([0.9, 0.8, 0.79999, 0.65, 0.5, 0.49]), bounds).tolist() == [1, 1, 2, 2, 0, -1]
    assert read_tiers(np.array([0.9]), np.empty(0)).tolist() == [-1]


def test_parameters_survive_the_database():
    params = MatchParams(mode=Mode.EQUAL, donors=PageFilter(categories=(1, 2), url_pattern="x", min_clicks=3))
    import json

    assert MatchParams.from_dict(json.loads(json.dumps(params.to_dict()))) == params


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"levels_up": -1}, "levels_up"),
        ({"threshold": 1.5}, "threshold"),
        ({"inline_per_donor": 0, "related_per_donor": 0}, "donor"),
        ({"per_target": -1}, "per_target"),
        ({"pool": 5, "related_per_donor": 10}, "pool"),
        ({"level_penalty": 2}, "level_penalty"),
    ],
)
def test_a_parameter_out_of_range_is_named(values, field):
    with pytest.raises(ValueError, match=field):
        MatchParams(**values)
