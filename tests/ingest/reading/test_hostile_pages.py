"""Pages that would take a parser the square of their size, or more memory than there is, are cut to bounds first."""

from __future__ import annotations

import pytest

from ingest.sources.reading import SiteTemplate, read_head, read_page
from ingest.sources.reading.bounds import MAX_CHARACTERS, MAX_DEPTH, bounded
from ingest.sources.reading.document import MAX_NODES, flatten, parse

URL = "https://www.shop.example/"
FONTS = "".join(f"<font class=c{n}>" for n in range(500))
DEEP = {
    "div": "<div>" * 100_000 + "end",
    "closed again": "<div>" * 100_000 + "end" + "</div>" * 100_000,
    "lists": "<ul><li>" * 50_000 + "end",
    "ends that end nothing": "<div><table></div></table>" * 30_000 + "end",
    "ends of others": "<div><svg></div></svg>" * 30_000 + "end",
    "quotations": "<blockquote><p>" * 50_000 + "end",
}


def depth(html: str) -> int:
    document = flatten(parse(html))
    depths = [0] * len(document)
    for place in range(1, len(document)):
        depths[place] = depths[document.parents[place]] + 1
    return max(depths, default=0)


@pytest.mark.nightly
@pytest.mark.parametrize("html", DEEP.values(), ids=DEEP)
def test_no_page_is_nested_deeper_than_browsers_nest(html):
    assert depth(html) <= 2 * MAX_DEPTH + 10  # an item or a cell may be within each


@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_no_element_has_attributes_without_end(quote):
    value = "<>" if quote else "1"
    html = "<p " + " ".join(f"a{n}={quote}{value}{quote}" for n in range(50_000)) + ">end"
    assert len(bounded(html)) < 5_000
    assert read_page(html, URL).text == "end"


@pytest.mark.nightly
def test_formatting_that_is_never_closed_does_not_come_back_in_each_paragraph():
    assert len(flatten(parse(f"<p>{FONTS}" + "<p>x" * 5_000))) < 200_000
    assert len(flatten(parse(f"<p>{FONTS}" + "<p>x" * 100_000))) <= MAX_NODES


def test_a_page_within_the_bounds_comes_back_as_it_is():
    html = "<div class='a b'><p>one<br>two<ul>" + "<li><a href='x'>x</a>" * 5_000 + "</ul></div>" * 3
    assert bounded(html) == html
    assert len(bounded("x" * (MAX_CHARACTERS + 1))) == MAX_CHARACTERS


ODD = {
    "open quotes": '<p a="' * 50_000,
    "open comments": "<!--" * 50_000,
    "signs": "<" * 200_000,
    "scripts": "<script>" * 50_000,
    "no body": "<html><head><title>a</title><title>b</title></head></html>",
    "frames": "<frameset>" * 10_000,
    "a base elsewhere": '<base href="javascript:1"><base href="//other.example/x/"><a href="y">y</a>',
    "links of other kinds": "<a href='javascript:1'>a</a><a href='mailto:a@b.c'>b</a><a href='data:,x'>c</a><a href>d",
    "many links": "".join(f"<p><a href=/x{n}>link {n}</a></p>" for n in range(10_000)),
    "one link around all": "<a href=/x>" + "<p>word</p>" * 5_000,
    "one id": "<p id=a>x</p>" * 5_000,
    "nested tables": "<table><tr><td>" * 5_000 + "<a href=x>y</a>",
    "data": f"<img src='data:{'A' * 1_000_000}'><p>end",
    "controls": "<p>a\x00\x01\ud800\u202eb<a href='/\ud800'>c\ud800</a>",
    "json": '<script type="application/ld+json">' + "[" * 100_000 + "</script>BreadcrumbList",
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("html", ODD.values(), ids=ODD)
def test_odd_pages_are_read(html):
    page = read_page(html, URL, SiteTemplate.learn([(URL, html)] * 3))
    page.text.encode()
    assert "\0" not in page.text
    assert all(link.target.startswith(("https://", "http://")) for link in page.links)
    for link in page.links:
        assert link.place is None or page.text[link.place : link.place + len(link.anchor)] == link.anchor
    read_head(html, URL)


def test_the_first_base_counts_where_it_is_an_address():
    links = read_page('<base href="//other.example/x/"><a href="y#z">y</a>', URL).links
    assert [link.target for link in links] == ["https://other.example/x/y#z"]
