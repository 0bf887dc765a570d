"""Sitemaps and feeds as sites really have them: every address is read as it is meant, whatever is wrong around it."""

from __future__ import annotations

import gzip

import pytest

from ingest.sources.sitemaps import MAX_ENTRIES, BadSitemap, Entry, entries

AT = "https://shop.example/sitemap.xml"
TWO = ["https://shop.example/?x=1&y=2", "https://shop.example/b"]


def urls(body: bytes | str) -> list[str]:
    return [entry.url for entry in entries(body.encode() if isinstance(body, str) else body, AT)]


def urlset(*locs: str, attributes: str = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"', p: str = "") -> str:
    rows = "".join(f"<{p}url><{p}loc>{loc}</{p}loc></{p}url>" for loc in locs)
    return f"<{p}urlset {attributes}>{rows}</{p}urlset>"


@pytest.mark.parametrize(
    "loc",
    [
        "https://shop.example/?x=1&y=2",
        "https://shop.example/?x=1&amp;y=2",
        "https://shop.example/?x=1&amp;amp;y=2",
        "https://shop.example/?x=1&#38;y=2",
        "https://shop.example/?x=1&#x26;y=2",
        "<![CDATA[https://shop.example/?x=1&y=2]]>",
        "<![CDATA[https://shop.example/?x=1&amp;y=2]]>",
        "\n   https://shop.example/?x=1&y=2\n  ",
        "/?x=1&y=2",
    ],
)
def test_an_ampersand_is_one_however_it_is_written(loc):
    assert urls(urlset(loc, "https://shop.example/b")) == TWO


def test_parameters_that_are_called_as_entities_of_html_stay():
    assert urls(urlset("https://shop.example/?a=1&copy=2&reg=3")) == ["https://shop.example/?a=1&copy=2&reg=3"]


@pytest.mark.parametrize(
    "body",
    [
        urlset(*TWO, attributes=""),
        urlset(*TWO, attributes='xmlns="https://www.sitemaps.org/schemas/sitemap/0.9"'),
        urlset(*TWO, attributes='xmlns="http://www.google.com/schemas/sitemap/0.84"'),
        urlset(*TWO, attributes='xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9"', p="sm:"),
        urlset(*TWO, attributes="", p="sm:"),
        "\n\n  <?xml version='1.0'?><?xml-stylesheet href='a.xsl'?><!-- made by a plugin <urlset> -->" + urlset(*TWO),
        "<!DOCTYPE urlset [<!ENTITY a 'b'>]>" + urlset(*TWO),
        urlset(*TWO).upper().replace("HTTPS://SHOP.EXAMPLE/?X=1&Y=2", TWO[0]).replace("HTTPS://SHOP.EXAMPLE/B", TWO[1]),
    ],
)
def test_namespaces_prefixes_and_prologues_do_no_harm(body):
    assert urls(body) == TWO


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(urlset(*TWO).encode()),
        b"\xef\xbb\xbf" + urlset(*TWO).encode(),
        ('<?xml version="1.0" encoding="UTF-16"?>' + urlset(*TWO)).encode("utf-16"),
        b"\xef\xbb\xbf" + "\r\n".join(["# made by hand", *TWO]).encode(),
        gzip.compress("\n".join(TWO).encode()),
    ],
    ids=["gzip", "mark", "utf-16", "text", "packed text"],
)
def test_it_may_be_packed_marked_or_plain_text(packed):
    assert urls(packed) == TWO


def test_addresses_of_pictures_news_and_translations_are_no_pages():
    body = """<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
    <url><image:image><image:loc>https://shop.example/a.jpg</image:loc></image:image>
    <xhtml:link rel="alternate" hreflang="de" href="https://shop.example/de/a"/>
    <video:video><video:player_loc>https://shop.example/v</video:player_loc></video:video>
    <loc>https://shop.example/a</loc><lastmod>2026-11-01</lastmod></url></urlset>"""
    assert list(entries(body.encode(), AT)) == [Entry("https://shop.example/a", "2026-11-01")]


@pytest.mark.parametrize(
    "body",
    [
        "<rss version='2.0'><channel><link>https://shop.example/</link><atom:link href='/feed' rel='self'/>"
        "<image><url>https://shop.example/logo.png</url></image>"
        "<item><title>A & B</title><link>https://shop.example/a?x=1&y=2</link>"
        "<pubDate>Sun, 01 Nov 2026 10:00:00 GMT</pubDate></item></channel></rss>",
        "<rss><channel><item><guid>https://shop.example/a?x=1&amp;y=2</guid>"
        "<pubDate>Sun, 01 Nov 2026 10:00:00 GMT</pubDate></item></channel></rss>",
        "<feed xmlns='http://www.w3.org/2005/Atom'><link href='https://shop.example/'/><entry>"
        "<link rel='edit' href='/edit'/><link href='/a?x=1&amp;y=2'/><published>2026-10-01</published>"
        "<updated>Sun, 01 Nov 2026 10:00:00 GMT</updated></entry></feed>",
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><item><link>/a?x=1&y=2</link>"
        "<dc:date>Sun, 01 Nov 2026 10:00:00 GMT</dc:date></item></rdf:RDF>",
    ],
    ids=["rss", "guid", "atom", "rdf"],
)
def test_a_feed_names_its_pages(body):
    assert list(entries(body.encode(), AT)) == [
        Entry("https://shop.example/a?x=1&y=2", "Sun, 01 Nov 2026 10:00:00 GMT", is_of_feed=True)
    ]


def test_a_bomb_of_entities_costs_nothing():
    levels = "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 10}'>" for n in range(1, 12))
    body = f"<!DOCTYPE urlset [<!ENTITY l0 'ha'>{levels}]>" + urlset("https://shop.example/&l11;", TWO[1])
    assert urls(body) == ["https://shop.example/&l11;", TWO[1]]
    outside = '<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/hostname">]>' + urlset("https://shop.example/&x;")
    assert urls(outside) == ["https://shop.example/&x;"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<!DOCTYPE html><p>Not found</p>", "It is a page"),
        (b"<html><body></body></html>", "It is a page"),
        (b"<kml><Document/></kml>", "It is no sitemap"),
        (b'{"error": "no"}', "It holds no addresses"),
        (b"", "It holds no addresses"),
        (b"\x1f\x8b damaged", "cannot be unpacked"),
    ],
)
def test_what_is_none_is_said(body, said):
    with pytest.raises(BadSitemap, match=said):
        urls(body)


@pytest.mark.nightly
def test_more_addresses_than_are_read_are_told():
    body = "\n".join(f"https://shop.example/{n}" for n in range(MAX_ENTRIES + 1)).encode()
    with pytest.raises(BadSitemap, match="more than 500,000 addresses"):
        urls(body)


def test_what_stands_before_a_damage_is_read():
    found = entries(urlset(*TWO)[:-40].encode(), AT)
    assert next(found).url == TWO[0]
    with pytest.raises(BadSitemap, match="It is damaged"):
        list(found)
