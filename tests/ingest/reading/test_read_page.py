"""A page to its text, its links with places, and what its head says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.sources.reading import SiteTemplate, decode, read_head, read_page

URL = "https://www.shop.example/magazine/tents/"
PAGE = """<!doctype html><html lang="en-GB"><head><title>Tents | Shop</title>
<meta name="description" content="All about  tents"><link rel="canonical" href="/magazine/tents/">
<meta name="robots" content="index, max-snippet:-1"><link rel="next" href="?page=2">
<link rel="alternate" hreflang="de" href="/de/zelte/"><meta property="article:published_time" content="2026-01-02">
</head><body><a class="skip-link" href="#main">Skip</a>
<header><a href="/"><img src="logo.svg" alt="Shop"></a><nav><a href="/shop/">Shop</a></nav></header>
<nav class="breadcrumb"><ol><li><a href="/">Home</a></li><li><a href="/magazine/">Magazine</a></li><li>Tents</li></ol>
</nav><main id="main"><article><h1>Tents</h1>
<p>A tent keeps you <b>dry</b>. Read <a href="../pitching/#wind">how to
 pitch one</a>, then <a href="/shop/pegs/" rel="sponsored">buy pegs</a>.</p>
<h2>What to take</h2><ul><li>Pegs</li><li>A <a href="/shop/mallets/">mallet</a></li></ul>
<table><tr><th>Weight</th><td>2&nbsp;kg</td></tr></table><p>Write to <a href="mailto:a@b.example">us</a>.</p>
</article></main><aside><h2>Related</h2><a href="/magazine/stoves/">Stoves</a></aside>
<footer><a href="/privacy/">Privacy</a></footer></body></html>"""


def test_the_text_has_a_paragraph_a_heading_an_item_or_a_row_a_line():
    page = read_page(PAGE, URL)
    assert page.text.split("\n") == [
        "A tent keeps you dry. Read how to pitch one, then buy pegs.",
        "What to take",
        "Pegs",
        "A mallet",
        "Weight | 2 kg",
        "Write to us.",
    ]
    assert page.headings == ["What to take"]
    assert page.word_count == len(page.text.split())


@pytest.mark.parametrize(
    "sign",
    [
        '<a class="headerlink" href="#{}" title="Permalink">¶</a>',
        ' <a href="#{}">#</a>',
        '<a class="anchor" href="#{}" aria-hidden="true"><span>🔗</span></a>',
    ],
)
def test_the_sign_that_links_to_a_heading_is_no_part_of_it(sign):
    """Manuals have one after each heading and each term, and it would end in anchors."""
    html = f"""<main><h1 id="a">Tents{sign.format("a")}</h1><p>A tent keeps you dry, as all
    <a href="#b">tents with two poles</a> do.<a href="#n1">*</a></p><h2 id="b">Two poles{sign.format("b")}</h2>
    <p>They weigh more, and stand in any wind, as long as <a href="#b">§ 1</a> is heeded.</p></main>"""
    page = read_page(html, URL)
    assert (page.h1, page.headings) == ("Tents", ["Two poles"])
    assert page.text.split("\n")[-3:] == [
        "A tent keeps you dry, as all tents with two poles do.",
        "Two poles",
        "They weigh more, and stand in any wind, as long as § 1 is heeded.",
    ]


def test_links_of_the_text_have_places_and_others_have_their_block():
    page = read_page(PAGE, URL)
    shown = [(link.target.removeprefix("https://www.shop.example"), link.anchor, link.block) for link in page.links]
    assert shown == [
        ("/magazine/tents/#main", "Skip", "navigation"),
        ("/", "Shop", "header"),
        ("/shop/", "Shop", "navigation"),
        ("/", "Home", "navigation"),
        ("/magazine/", "Magazine", "navigation"),
        ("/magazine/pitching/#wind", "how to pitch one", "content"),
        ("/shop/pegs/", "buy pegs", "content"),
        ("/shop/mallets/", "mallet", "content"),
        ("/magazine/stoves/", "Stoves", "aside"),
        ("/privacy/", "Privacy", "footer"),
    ]
    assert [link.anchor for link in page.links if link.place is not None] == ["how to pitch one", "buy pegs", "mallet"]
    assert [link.anchor for link in page.links if not link.follow] == ["buy pegs"]


def test_first_headings_of_sections_do_not_name_a_page():
    def h1_of(title: str, *h1s: str) -> str:
        sections = "".join(f"<h1>{h1}</h1><p>It is said here at some length, as sections say it.</p>" for h1 in h1s)
        return read_page(f"<title>{title}</title><main>{sections}</main>", URL).h1

    assert h1_of("Kettles turn three | Kettle News", "The people", "What comes next") == ""
    assert h1_of("Kettle survey | Kettle News", "Kettle owners", "Lids") == ""
    assert h1_of("Three years | Kettle News", "The people") == "The people"
    assert h1_of("", "The people", "What comes next") == "The people"


def test_a_heading_of_a_section_below_the_title_does_not_name_a_page():
    def h1_of(title: str, heading: str, h1: str) -> str:
        said = "<p>It is said here at some length, as sections say it.</p>"
        return read_page(f"<title>{title}</title><h2>{heading}</h2><main>{said}<h1>{h1}</h1>{said}</main>", URL).h1

    assert h1_of("Kettles turn three | Kettle News", "Kettles turn three", "The people") == ""
    assert h1_of("Kettles turn three | Kettle News", "Kettle News", "The people") == "The people"
    assert h1_of("Kettles turn three | Kettle News", "Kettles turn three", "Three people") == "Three people"
    assert h1_of("", "Kettles turn three", "The people") == "The people"
    assert h1_of("Kettles turn three | Kettle News", "Kettles turn three", "What kettles are to the people") == ""


def test_the_head_is_read():
    page, head = read_page(PAGE, URL), read_head(PAGE.encode(), URL)
    assert (page.title, page.h1, page.description, page.language) == (
        "Tents | Shop",
        "Tents",
        "All about tents",
        "en-GB",
    )
    assert page.breadcrumb == ["Home", "Magazine", "Tents"]
    assert page.published == "2026-01-02"
    for found in (page, head):
        assert found.canonical == URL
        assert found.robots == {"index", "max-snippet:-1"}
        assert found.hreflang == {"de": "https://www.shop.example/de/zelte/"}
        assert found.next_page == URL + "?page=2"
    assert [link.target for link in head.links] == [link.target for link in page.links]


def test_what_repeats_on_the_pages_of_a_site_is_no_text_of_a_page():
    def page(number: int) -> str:
        own = " ".join(f"word{number * 100 + n}" for n in range(60))
        return (
            f"<body><div><div>Welcome to our shop, open every day</div><div><p>{own}</p><p>More of {number}.</p></div>"
            f"<div>Call us on weekdays from nine to five</div></div></body>"
        )

    template = SiteTemplate.learn((f"{URL}{number}", page(number)) for number in range(10))
    assert template == SiteTemplate.from_json(template.to_json())
    text = read_page(page(11), URL, template).text
    assert text.split("\n")[1:] == ["More of 11."]
    assert "Welcome" not in text
    assert "Call us" not in text


def test_names_and_first_words_of_other_pages_are_no_text_though_each_page_has_others():
    def page(number: int) -> str:
        own = " ".join(f"word{number * 100 + n}" for n in range(60))
        tiles = "".join(
            f"<div class=t3><a href=/{number}-{n}><div>Page {number} {n}</div>"
            f"<div>It begins so: {number} {n}</div></a></div>"
            for n in range(4)
        )
        return f"<body><div class=t1><h1>{number}</h1><p>{own}</p><div class=t2><h3>More</h3>{tiles}</div></div></body>"

    template = SiteTemplate.learn((f"{URL}{number}", page(number)) for number in range(10))
    read = read_page(page(11), URL, template)
    assert "begins" not in read.text
    assert {(link.block, link.place) for link in read.links} == {("aside", None)}
    assert "begins" in read_page(page(11), URL).text


def test_a_page_that_scripts_write_needs_a_browser():
    empty = '<body><div id="root"></div><noscript>You need JavaScript.</noscript><script src="/app.js"></script></body>'
    assert read_page(empty, URL).needs_browser
    assert not read_page(PAGE, URL).needs_browser


MENU = f"<header><nav>{''.join(f'<a href=/{n}>Category number {n}</a>' for n in range(40))}</nav></header>"
FOOTER = f"<footer><p>{'The address of the shop, and who runs it. ' * 10}</p></footer>"


@pytest.mark.parametrize(
    "body",
    [
        '<div id="root"></div><noscript>You need JavaScript.</noscript><script>render()</script>',
        '<div id="root"></div><script type="module">render()</script>',
        '<div class="x"></div><noscript>This page needs scripts.</noscript><script>render()</script>',
        '<div class="x"></div><noscript>Bitte aktivieren Sie Java Script.</noscript><script>render()</script>',
        '<div id="shop-app"></div><script src="/app.js"></script>',
        MENU + '<div id="root"></div><script src="/app.js"></script>' + FOOTER,
        MENU + '<main><h1>Tents</h1><div id="app"></div></main><script>render()</script>' + FOOTER,
    ],
)
def test_a_page_needs_a_browser_whose_script_stands_in_it_or_whose_frame_has_words(body):
    assert read_page(f"<body>{body}</body>", URL).needs_browser


@pytest.mark.parametrize(
    "body",
    [
        '<div id="root"><p>A short page.</p></div>',
        '<div id="root"></div><script type="application/ld+json">{}</script>',
        '<p>A short page.</p><noscript><img src="/count.gif"></noscript><script src="/count.js"></script>',
        f'<p>{"A page that says enough. " * 20}</p><div id="comments-app"></div><script src="/app.js"></script>',
        MENU + '<p>A short page.</p><script src="/count.js"></script>' + FOOTER,
    ],
)
def test_a_short_page_that_shows_its_text_needs_none(body):
    assert not read_page(f"<body>{body}</body>", URL).needs_browser


def test_a_page_is_decoded_by_what_its_bytes_are():
    text = "<p>Käse für Zürich, größer als gedacht – und schöner</p>"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        assert decode(text.encode(encoding), "text/html") == text
    assert decode(text.encode(), "text/html; charset=iso-8859-1") == text
    assert decode("<meta charset=koi8-r>Привет".encode("koi8-r")).endswith("Привет")
    assert decode(b"caf\xe9", "text/html; charset=hex") == "café"
    assert decode("é".encode() + b"\xff", "text/html; charset=utf-8").startswith("é")


TAGS = ["a href=/x", "a", "p", "div", "b", "table", "td", "li", "pre", "h2", "br", "nav", "script", "svg", "main", "h1"]
PIECES = st.one_of(
    st.sampled_from([f"<{tag}>" for tag in TAGS] + [f"</{tag.split()[0]}>" for tag in TAGS]),
    st.sampled_from(
        [" ", "\n", "word", "two  words ", "&nbsp;", "&shy;", "\u200b", "<", "&#0;", "<!--", "-->", "\ud800"]
    ),
    st.text(max_size=8),
)


@given(st.lists(PIECES, max_size=60).map("".join))
def test_each_place_is_where_the_anchor_stands_whatever_the_page(html):
    page = read_page(f'<a href="/first">first</a>{html}', URL)
    for link in page.links:
        if link.place is not None:
            assert link.anchor
            assert page.text[link.place : link.place + len(link.anchor)] == link.anchor
    lines = page.text.split("\n") if page.text else []
    assert all(line and line == " ".join(line.split()) for line in lines)
    page.text.encode()
    assert "\0" not in page.text


@given(st.text(max_size=300) | st.binary(max_size=300), st.text(max_size=40), st.text(max_size=40))
def test_nothing_that_a_page_holds_raises(html, url, content_type):
    read_head(html, url, content_type)
    read_page(html, url, content_type=content_type)
    SiteTemplate.learn([(url, html if isinstance(html, str) else decode(html, content_type))])
