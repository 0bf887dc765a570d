"""What an editor linked, told once all pages are read, by what these say. Themes and words are made up."""

from __future__ import annotations

import pytest

from ingest.sources.reading import SiteTemplate, groups, read_page
from ingest.sources.reading.site_names import SiteNames, page_number
from ingest.sources.reading.surroundings import Surroundings, learn
from ingest.sources.reading.whole_site import settle, settle_around
from tests.ingest.reading.test_lists import SITE, article, paragraph

PAGES = 12


def name(number):
    return f"Post {number}"


def settled(page, pages):
    """Of a page of a site, the blocks of the links by their anchors, and the text."""
    template = SiteTemplate.learn(pages)
    read = {url: read_page(html, url, template) for url, html in pages}
    names = SiteNames.of((url, of.title, of.h1, of.description, of.text) for url, of in read.items())
    own = read[page[0]]
    found = settle(page[0], own.text, own.links, names)
    blocks = {} if found is None else found.blocks
    text = own.text if found is None else found.text
    for number, link in enumerate(own.links):
        place = found.places.get(number, link.place) if found is not None else link.place
        if link.place is not None and number not in blocks:
            assert text[place : place + len(link.anchor)] == link.anchor
    return {link.anchor: blocks.get(number, link.block) for number, link in enumerate(own.links)}, text


def opening(number, size=110):
    return paragraph(number)[:size]


TEASERS = {
    "paragraphs": lambda n: f"<p><a href=/post-{n}>{name(n)}</a><br>{opening(n)} … <a href=/post-{n}>Weiter</a></p>",
    "lines": lambda n: f"<p><a href=/post-{n}>{name(n)}</a>: {opening(n)}</p>",
    "terms": lambda n: f"<dl><dt><a href=/post-{n}>{name(n)}</a></dt><dd>3. 4. 2015 {opening(n)}</dd></dl>",
    "rows": lambda n: f"<table><tr><td><a href=/post-{n}>{name(n)}</a></td><td>{opening(n)}</td></tr></table>",
    "cards": lambda n: f"<a href=/post-{n}><div><h4>{name(n)}</h4><span>{opening(n)}</span></div></a>",
    "names without links": lambda n: f"<h4>{name(n)}</h4><p>{opening(n)} … <a href=/post-{n}>Weiter</a></p>",
}


@pytest.mark.parametrize("shape", TEASERS)
def test_names_with_the_first_words_of_their_pages_are_teasers_in_any_markup(shape):
    """A few texts have one or two, so that nothing repeats but what they say."""
    more = {2: (5, 6, 7), 3: (8,), 9: (4, 1)}
    pages = [
        article(
            n,
            text=f"{paragraph(n + 50)[:-1]} <a href=/post-{(n + 1) % PAGES}>what we wrote</a> {paragraph(n + 70)}",
            after="".join(map(TEASERS[shape], more.get(n, ()))),
        )
        for n in range(PAGES)
    ]
    found, text = settled(pages[2], pages)
    assert found.pop("what we wrote") == "content"
    assert set(found.values()) == {"aside"}
    assert opening(5)[:40] not in text
    assert text.endswith(paragraph(92))


def test_what_an_editor_says_of_a_page_is_no_teaser():
    lines = "".join(f"<p><a href=/post-{n}>{name(n)}</a>: {paragraph(n + 400)[:110]}</p>" for n in range(4, 9))
    pages = [article(n, after=lines if n == 2 else "") for n in range(PAGES)]
    assert set(settled(pages[2], pages)[0].values()) == {"content"}


@pytest.mark.parametrize("shape", TEASERS)
def test_a_page_that_is_teasers_below_a_sentence_is_a_list(shape):
    body = f"<p>All that we wrote on hills.</p>{''.join(map(TEASERS[shape], range(3, 9)))}"
    page = f"{SITE}/hills", f"<body><main><h1>Hills</h1>{body}</main></body>"
    pages = [*map(article, range(PAGES)), page]
    assert set(settled(page, pages)[0].values()) == {"list"}


def test_a_list_of_reading_with_comments_is_its_editor_s():
    items = "".join(f"<li><a href=/post-{n}>{name(n)}</a>, {paragraph(n + 400)}</li>" for n in range(3, 11))
    page = f"{SITE}/reading", f"<body><main><h1>Reading</h1><p>{paragraph(300)}</p><ul>{items}</ul></main></body>"
    pages = [*map(article, range(PAGES)), page]
    assert set(settled(page, pages)[0].values()) == {"content"}


def settled_around(page, pages):
    """The same after the lines around texts are learned of all pages."""
    template = SiteTemplate.learn(pages)
    read = {url: read_page(html, url, template) for url, html in pages}
    lists = {page_number(url) for url, of in read.items() if any(link.block == "list" for link in of.links)}
    names = SiteNames.of((url, of.title, of.h1, of.description, of.text) for url, of in read.items())
    known = learn([(of.text, of.links) for of in read.values()], lists, names)
    known = known._replace(groups=groups.learn([(url, of.text, of.links) for url, of in read.items()], names))
    known = Surroundings.nothing(lists).with_earlier(known.to_json())
    own = read[page[0]]
    found = settle_around(page[0], own.text, own.links, known, names)
    of_site = {} if found is None else found.blocks
    text = own.text if found is None else found.text
    return {link.anchor: of_site.get(number, link.block) for number, link in enumerate(own.links)}, text


MANY = 20


def in_text(number):
    return (
        f"{paragraph(number + 50)[:-1]} <a href=/post-{(number + 1) % MANY}>what we wrote</a> {paragraph(number + 70)}"
    )


def test_words_with_another_number_on_each_page_are_the_site_s():
    """A fifth of the pages is of the series, which is fewer than a line of many words has to stand on by itself."""
    series = "<p>Dies ist Teil {} einer Reihe. <a href=/post-{}>Teil davor</a> · <a href=/r/{}>Alle Teile</a></p>"
    pages = [article(n, text=in_text(n), before=series.format(n, n - 1, n) if n % 4 == 0 else "") for n in range(MANY)]
    found, text = settled_around(pages[4], pages)
    assert found == {"Teil davor": "navigation", "Alle Teile": "navigation", "what we wrote": "content"}
    assert text.startswith(paragraph(4))


def test_lines_that_name_lists_alone_below_texts_are_the_site_s():
    """They stand below fewer than half of the texts, and so are no row of all pages."""
    items = ["".join(f"<li><a href=/post-{n}>Post {n}</a></li>" for n in range(t, MANY, 5)) for t in range(5)]
    lists = [(f"{SITE}/t/{t}", f"<body><main><h1>T{t}</h1><ul>{items[t]}</ul></main></body>") for t in range(5)]
    tags = "<p><a href=/t/{}>#hill{}</a> <a href=/t/{}>#river{}</a></p>"
    pages = [
        article(n, text=in_text(n), after=tags.format(n % 5, n % 5, (n + 2) % 5, n % 5) if n % 3 == 1 else "")
        for n in range(MANY)
    ]
    pages[7] = article(7, text=in_text(7), after="<p><a href=/post-3>A story</a> and <a href=/post-9>another</a></p>")
    found, text = settled_around(pages[4], [*pages, *lists])
    assert found == {"what we wrote": "content", "#hill4": "navigation", "#river4": "navigation"}
    assert "#hill" not in text


PARTS = 7


def box_of_series(number, window, template):
    """Of a site whose posts are parts of series, of PARTS each, the parts around one, its own name without a link."""
    part, series = number % PARTS, number // PARTS
    shown = [at for at in range(PARTS) if abs(at - part) <= window]
    items = [
        f"<li>{name(at)}</li>" if at == number else f"<li><a href=/post-{at}>{name(at)}</a></li>"
        for at in (series * PARTS + at for at in shown)
    ]
    return template.format(part=part + 1, of=PARTS, items="".join(items))


BOXES = {
    "its words have numbers": "<p>Deel {part} van {of} van onze reeks:</p><ul>{items}</ul>",
    "its words are always the same": "<div><h4>In deze reeks</h4><ol>{items}</ol></div>",
    "no words": "<ul>{items}</ul>",
}


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("window", [2, PARTS], ids=["some parts", "all parts"])
@pytest.mark.parametrize("where", ["before", "after", "text"])
def test_names_of_the_other_parts_of_a_series_are_no_editor_s(where, window, box):
    if where == "text" and box == "no words":
        pytest.skip("within a text, words have to tell it")
    pages = []
    for n in range(4 * PARTS):
        around = {"before": "", "after": ""}
        text = f"{paragraph(n + 50)[:-1]} <a href=/post-{(n + 9) % 28}>what we wrote</a> {paragraph(n + 70)}"
        inner = box_of_series(n, window, BOXES[box]) if n // PARTS % 2 == 0 else ""
        if where == "text":
            text = f"{text}</p>{inner}<p>{paragraph(n + 200)}"
        else:
            around[where] = inner
        pages.append(article(n, text=text, **around))
    found, text = settled_around(pages[2], pages)
    assert found.pop("what we wrote") == "content"
    assert set(found.values()) == {"navigation"}
    assert len(found) == (4 if window == 2 else 6)
    assert "reeks" not in text
    assert name(2) not in text.split("\n")


def test_parts_that_a_sentence_names_are_the_editor_s():
    told = (
        "In part one we saw why <a href=/post-{}>hills</a> are steep, in part two what <a href=/post-{}>rains</a> do."
    )
    pages = [
        article(n, text=f"{told.format(n // 7 * 7, n // 7 * 7 + 1)} {paragraph(n + 50)}") for n in range(2 * PARTS)
    ]
    assert set(settled_around(pages[4], pages)[0].values()) == {"content"}


def test_lists_of_editors_that_name_back_now_and_then_are_theirs():
    """Two of five pages name each other below the same words; the others name whom they like."""
    pages = []
    for n in range(4 * PARTS):
        named = {n + 1 if n % 2 == 0 else n - 1} if n % 5 < 2 else set()
        named |= {(3 * n + 7 * k + 5) % 28 for k in range(1, 2 + n % 4)} - {n}
        items = "".join(f"<li><a href=/post-{at}>{name(at)}</a></li>" for at in sorted(named))
        pages.append(article(n, after=f"<h3>See also</h3><ul>{items}</ul>"))
    assert set(settled_around(pages[6], pages)[0].values()) == {"content"}


def test_the_same_list_on_all_pages_of_a_small_group_is_no_editor_s():
    """The rest of the site has nothing like it; of three pages an editor may well have copied it."""

    def chapters(n, group):
        return "".join(f"<li><a href=/post-{at}>Chapter {at}</a></li>" for at in group if at != n)

    small, smaller = range(10, 16), range(20, 23)
    pages = [article(n, text=in_text(n)) for n in range(2 * MANY)]
    for group, words in ((small, "Go on"), (smaller, "See also")):
        for n in group:
            pages[n] = article(n, text=in_text(n), after=f"<p>{words}</p><ul>{chapters(n, group)}</ul>")
    found, text = settled_around(pages[12], pages)
    assert found.pop("what we wrote") == "content"
    assert set(found.values()) == {"navigation"}
    assert "Go on" not in text
    assert set(settled_around(pages[21], pages)[0].values()) == {"content"}


def names_within(number, size, above=0):
    """A text with names below the same words, which are other ones on each page, so that none is named back."""
    named = ((5 * number + 9 * at) % 40 for at in range(size))
    items = "".join(f"<p><a href=/post-{at}>{name(at)}</a></p>" for at in named)
    more = "".join(f"<p>{paragraph(number + 500 + 40 * at)}</p>" for at in range(above))
    return f"{in_text(number)}</p>{more}<h4>Others asked</h4>{items}<p>{paragraph(number + 200)}"


@pytest.mark.parametrize(
    ("size", "above"),
    [(lambda n: 3, lambda n: n // 4 % 5), (lambda n: 2 + n // 4 % 3, lambda n: 0)],
    ids=["always as many", "always at the same place"],
)
def test_names_below_the_same_words_within_texts_are_the_site_s_where_they_are(size, above):
    pages = [article(n, text=names_within(n, size(n), above(n)) if n % 4 == 0 else in_text(n)) for n in range(2 * MANY)]
    found, text = settled_around(pages[8], pages)
    assert found.pop("what we wrote") == "content"
    assert set(found.values()) == {"navigation"}
    assert "Others asked" not in text


def test_as_many_names_as_an_editor_needs_where_they_are_needed_are_the_editor_s():
    pages = [
        article(n, text=names_within(n, 2 + n // 4 % 3, n // 4 % 5) if n % 4 == 0 else in_text(n))
        for n in range(2 * MANY)
    ]
    assert set(settled_around(pages[8], pages)[0].values()) == {"content"}


def test_a_sentence_that_names_two_other_pages_each_time_is_the_site_s():
    def told(n, one, other):
        one, other = (f"<a href=/post-{at}>{name(at)}</a>" for at in (one, other))
        return f"{in_text(n)}</p><p>Who liked this has also read {one} and {other}.</p><p>{paragraph(n + 200)}"

    pages = [article(n, text=told(n, (n + 5) % 20, (n * 3 + 7) % 20) if n % 3 else in_text(n)) for n in range(MANY)]
    found, text = settled_around(pages[4], pages)
    assert found == {"what we wrote": "content", name(9): "navigation", name(19): "navigation"}
    assert "Who liked" not in text
    pages = [article(n, text=told(n, n % 4, 6) if n % 3 else in_text(n)) for n in range(MANY)]
    assert set(settled_around(pages[4], pages)[0].values()) == {"content"}


READ_NEXT = ["Read next:", "Lesen Sie auch –", "→ Siga leyendo:", "続きを読む："]


def with_label(label, n, target, after=""):
    line = f"<p>{label} <a href=/post-{target}><em>{name(target)}</em></a>{after}</p>"
    return f"{in_text(n)}</p>{line}<p>{paragraph(n + 200)}"


@pytest.mark.parametrize("label", READ_NEXT)
def test_a_label_within_texts_before_the_name_of_another_page_each_time_is_the_site_s(label):
    pages = [article(n, text=with_label(label, n, (3 * n + 7) % 20) if n % 3 else in_text(n)) for n in range(MANY)]
    found, text = settled_around(pages[4], pages)
    assert found == {"what we wrote": "content", name(19): "navigation"}
    assert label not in text


def test_a_label_before_the_newest_page_of_a_category_is_the_site_s_where_many_texts_have_it():
    """Those of ten texts lead to three pages, but all of them to fifty."""
    pages = [
        article(n, text=with_label("Read next:", n, n // 7 * 7 + (n % 7 == 0)) if n % 5 < 4 else in_text(n))
        for n in range(10 * MANY)
    ]
    found, text = settled_around(pages[31], pages)
    assert found == {"what we wrote": "content", name(28): "navigation"}
    assert "Read next" not in text


@pytest.mark.parametrize(
    ("every", "target"),
    [(4, lambda n: n % 29), (2, lambda n: n % 16), (2, lambda n: n % 4 and n)],
    ids=["on a quarter of the texts", "eight pages", "every second time the same page"],
)
def test_a_label_before_pages_that_are_named_again_is_the_editor_s(every, target):
    pages = [
        article(n, text=with_label("The rules:", n, target(n + 5)) if n % every == 1 else in_text(n))
        for n in range(10 * MANY)
    ]
    assert set(settled_around(pages[9], pages)[0].values()) == {"content"}


def test_a_label_that_an_editor_writes_before_the_same_page_or_a_sentence_is_the_editor_s():
    same = [article(n, text=with_label("The rules:", n, 13 + n % 7) if n % 3 else in_text(n)) for n in range(MANY)]
    said = ", which says more"
    told = [
        article(n, text=with_label("See:", n, (3 * n + 7) % 20, said) if n % 9 == 1 else in_text(n))
        for n in range(MANY)
    ]
    seldom = [article(n, text=with_label("Read next:", n, (n + 5) % 20) if n < 2 else in_text(n)) for n in range(MANY)]
    for pages in (same, told, seldom):
        assert set(settled_around(pages[1], pages)[0].values()) == {"content"}
