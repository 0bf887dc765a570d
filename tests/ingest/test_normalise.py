"""Addresses of the same page get the same key, others do not."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.addresses.normalise import AnotherSite, NotAnAddress, Site, category_key, clean_name, folder, folder_names
from tests.examples import tried

SITE = Site("https://www.shop.example")


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("HTTPS://WWW.Shop.Example/Tents", "https://www.shop.example/Tents"),
        ("https://www.shop.example:443/tents", "https://www.shop.example/tents"),
        ("https://www.shop.example", "https://www.shop.example/"),
        ("https://www.shop.example/tents#reviews", "https://www.shop.example/tents"),
        ("https://www.shop.example/tents?", "https://www.shop.example/tents"),
        ("https://www.shop.example/tents?utm_source=x&colour=red&gclid=1", "https://www.shop.example/tents?colour=red"),
        ("https://www.shop.example/tents?utm%5Fsource=x", "https://www.shop.example/tents"),
        ("https://www.shop.example/%7efred/gr%c3%bc%C3%9Fe", "https://www.shop.example/~fred/gr%C3%BC%C3%9Fe"),
        ("https://www.shop.example/~fred/grüße", "https://www.shop.example/~fred/gr%C3%BC%C3%9Fe"),
        ("https://www.shop.example/a/../b/./c", "https://www.shop.example/b/c"),
        ("https://www.shop.example/50%off", "https://www.shop.example/50%25off"),
        ("https://user:secret@www.shop.example/a", "https://www.shop.example/a"),
        ("  https://www.shop.example/a \n", "https://www.shop.example/a"),
        ("/tents?size=2", "https://www.shop.example/tents?size=2"),
        ("http://www.shop.example/a", "http://www.shop.example/a"),
        ("https://shop.example/a/", "https://shop.example/a/"),
        ("https://www.shop.example/a?b=1&a=2", "https://www.shop.example/a?b=1&a=2"),
    ],
)
def test_an_address_becomes_its_key(address, key):
    assert SITE.canonical_url(address) == key


def test_slash_and_www_make_one_page_only_where_the_project_says_so():
    joined = Site("https://www.shop.example", strip_slash=True, strip_www=True)
    assert joined.canonical_url("https://www.shop.example/a/?q=1") == "https://shop.example/a?q=1"
    assert joined.canonical_url("https://shop.example/a") == joined.canonical_url("https://www.shop.example/a//")
    assert joined.canonical_url("https://www.shop.example/") == "https://shop.example/"


@pytest.mark.parametrize(
    "address", ["", "tents", "mailto:a@shop.example", "javascript:void(0)", "https://", "ftp://shop.example/"]
)
def test_what_is_no_address_is_refused(address):
    with pytest.raises(NotAnAddress):
        SITE.canonical_url(address)


@pytest.mark.parametrize(
    "address",
    ["https://other.example/", "https://blog.shop.example/", "https://shop.example.evil.example/", "//x.example/"],
)
def test_another_site_is_told_apart(address):
    with pytest.raises(AnotherSite):
        SITE.canonical_url(address)


def test_a_site_in_a_folder_ends_at_the_folder():
    site = Site("https://shop.example/en/")
    assert site.canonical_url("https://shop.example/en/tents") == "https://shop.example/en/tents"
    assert site.canonical_url("https://shop.example/en") == "https://shop.example/en"
    with pytest.raises(AnotherSite):
        site.canonical_url("https://shop.example/english")


tail = st.text(
    st.one_of(st.sampled_from("/.%?&=#:@;+ ~utm_sourcegclid2eE5F"), st.characters(blacklist_categories=["Cs"])),
    max_size=30,
)


@tried(200)
@given(tail, st.booleans(), st.booleans(), st.sampled_from(["https://shop.example", "http://WWW.shop.example:80"]))
def test_a_key_is_its_own_key(tail, strip_slash, strip_www, start):
    site = Site("https://www.shop.example", strip_slash, strip_www)
    try:
        key = site.canonical_url(f"{start}/{tail}")
    except (NotAnAddress, AnotherSite):
        return
    assert site.canonical_url(key) == key


def test_a_category_is_keyed_by_its_names():
    assert category_key(("A / B", "C")) == sha256(b"A / B\x1fC").hexdigest()
    assert category_key(("A", "B")) != category_key(("A B",))
    assert clean_name("  Tents\n&\x1f tarps ") == "Tents & tarps"


def test_folders_leave_the_page_itself_out():
    assert folder_names(folder("https://shop.example/camping/tents/dome-2/")) == ("camping", "tents")
    assert folder_names(folder("https://shop.example/camping/gr%C3%BC%C3%9Fe/x?y=/z")) == ("camping", "grüße")
    assert folder_names(folder("https://shop.example/")) == ()


@tried(500)
@given(
    st.builds(
        "{}://{}{}/{}".format,
        st.sampled_from(("http", "https", "HTTPS", "ftp")),
        st.sampled_from(("", "www.")),
        st.sampled_from(("shop.example", "shop.example:443", "Shop.example", "other.example")),
        st.text("ab/.-_~%7?=", max_size=12),
    ),
    st.booleans(),
    st.booleans(),
)
def test_plain_addresses_are_told_apart_as_all_others_are(address, strip_slash, strip_www):
    site = Site("https://shop.example", strip_slash=strip_slash, strip_www=strip_www)

    def key(text: str) -> str:
        try:
            return site.canonical_url(text)
        except (NotAnAddress, AnotherSite) as error:
            return type(error).__name__

    with_query = f"{address}{'&' if '?' in address else '?'}utm_source=x"  # no plain address, and of the same page
    assert key(address) == key(with_query)
