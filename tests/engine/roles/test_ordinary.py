"""What an ordinary address says of a page is what finding its role says."""

from __future__ import annotations

from itertools import product

import pytest

from linker.engine.roles import words
from linker.engine.roles.finder import PageFacts, SiteFacts, find_role
from linker.engine.roles.ordinary import is_ordinary, ordinary_addresses
from linker.engine.roles.policy import PageRole

SHOP = SiteFacts("https://shop.example", texts_tell=True, sells_in=frozenset({"products"}))
LISTS_OF_NAMES = (
    *(words.CLEAR_UTILITY, words.MAYBE_UTILITY, words.ABOUT, words.SEARCHES, words.MACHINERY),
    *(words.LISTS, words.MAYBE_LISTS, words.EVENTS, words.PRODUCTS),
)
NAMES = [name.strip().replace(" ", "-") for names in LISTS_OF_NAMES for name in names.split(",")]
PATHS = [
    *("", "/", "/index", "/home.html", "/de/", "/de/home", "/blog/index.html", "/?p=1", "/tents/red#top"),
    *("/2019/05/03", "/tents", "/tents/", "/blog/tents", "/blog//tents", "/%zz", "/a%20b/c", "//", "/Tents/Red.html"),
    *(f"{above}/{name}" for above, name in product(("", "/de", "/tents", "/about"), NAMES)),
    *(f"/{name}{ending}" for name, ending in product(NAMES, ("/a", "/a/b"))),
]


@pytest.mark.parametrize("base", ["https://shop.example", "https://shop.example/tents", "https://shop.example/de"])
def test_a_bare_page_at_an_ordinary_address_is_an_article(base):
    site = SiteFacts(base, texts_tell=True, sells_in=frozenset({"products"}))
    ordinary = [path for path in PATHS if is_ordinary(f"https://shop.example{path}", site)]
    assert len(ordinary) > 20
    for path in ordinary:
        for title, counted in product(("", "Contact", "Archive of 3 May 2031"), (None, 3)):
            url = f"https://shop.example{path}"
            page = PageFacts(url, title, title, words=counted, links_out=50, menu_share=0.29)
            assert find_role(page, site) == (PageRole.ARTICLE, "", None), (path, title)


@pytest.mark.parametrize(
    "base",
    ["https://shop.example", "https://shop.example/tents", "https://shop.example/de", "https://shop.example/a/b"],
)
@pytest.mark.parametrize("times", [1, 2])
def test_many_addresses_are_told_as_each_alone_is(base, times):
    site = SiteFacts(base, texts_tell=True, sells_in=frozenset({"products"}))
    look = ordinary_addresses(site)
    urls = [f"https://shop.example{path}" for path in [*PATHS, "/a/b", "/a/b/", "/a/c", "/de/b"]] * times
    assert list(map(look, urls)) == [is_ordinary(url, site) for url in urls]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/tents/red", True),
        ("/red-tents/", True),
        ("/blog/2019/red-tents.html", True),
        ("/", False),
        ("/imprint", False),
        ("/about/contact", False),
        ("/tag/red", False),
        ("/checkout/2", False),
        ("/products/red", False),
        ("/tents/index.html", False),
    ],
)
def test_most_addresses_are_ordinary(path, expected):
    assert is_ordinary(f"https://shop.example{path}", SHOP) is expected
