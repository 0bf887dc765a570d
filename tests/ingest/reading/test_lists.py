"""What an editor linked, told from the lists that a site makes of its pages. Themes and words are made up."""

from __future__ import annotations

from random import Random

from ingest.sources.reading import SiteTemplate, read_page

SITE = "https://example.org"
PAGES = 12
WORDS = (
    *("river", "stone", "winter", "market", "bridge", "garden", "letter", "island", "window", "summer", "copper"),
    *("forest", "harbour", "village", "paper", "kettle", "meadow", "lantern", "orchard", "cellar", "mountain"),
)


def paragraph(number):
    """Thirty words that no other paragraph has in this order."""
    words = Random(number).choices(WORDS, k=30)
    return f"{' '.join(words).capitalize()}."


def article(number, *, before="", after="", text=""):
    body = f"<p>{paragraph(number)}</p><p>{text or paragraph(number + 50)}</p><p>{paragraph(number + 90)}</p>"
    return f"{SITE}/post-{number}", f"<body><main><h1>Post {number}</h1>{before}{body}{after}</main></body>"


def link(number, words=""):
    return f'<a href="/post-{number}">{words or f"The story of number {number}"}</a>'


def blocks(page, pages):
    """Of a page of a site, the blocks of the links by their anchors."""
    template = SiteTemplate.from_json(SiteTemplate.learn(pages).to_json())
    return {link.anchor: link.block for link in read_page(page[1], page[0], template).links}


def text(page, pages):
    return read_page(page[1], page[0], SiteTemplate.learn(pages)).text


def test_lines_with_the_same_words_around_other_links_after_each_text_are_the_site_s():
    pages = [
        article(
            n,
            text=f"{paragraph(n + 50)[:-1]} {link(n + 20, 'what we wrote')} {paragraph(n + 70)}",
            before=f'<p>Abgelegt unter <a href="/t/{n % 3}">Topic {n % 3}</a>, 3. 4. 20{n + 10}</p>',
            after=f"<p>Vorher: {link(n + 1)}</p><p>Danach: {link(n + 2)}</p>",
        )
        for n in range(PAGES)
    ]
    found = blocks(pages[4], pages)
    assert found["what we wrote"] == "content"
    assert found["Topic 1"] == found["The story of number 5"] == found["The story of number 6"] == "navigation"
    assert "Vorher" not in text(pages[4], pages)
    assert "Abgelegt" not in text(pages[4], pages)


def test_words_that_repeat_within_texts_are_editors():
    pages = [article(n, text=f"See also {link(n + 20)}.") for n in range(PAGES)]
    assert blocks(pages[4], pages) == {"The story of number 24": "content"}


def test_a_list_that_an_editor_wrote_below_a_text_is_the_editor_s():
    items = [f"<h2>See also</h2><p>{link(20 + n)}</p><p>{link(40 + 2 * n)}</p>" for n in range(PAGES)]
    pages = [article(n, after=items[n] if n % 4 else "") for n in range(PAGES)]
    assert set(blocks(pages[5], pages).values()) == {"content"}


def test_a_page_that_many_such_lists_name_is_kept_in_them():
    pages = [article(n, after=f"<h2>See also</h2><p>{link(20 + n)}</p><p>{link(99)}</p>") for n in range(PAGES)]
    assert blocks(pages[5], pages) == {"The story of number 25": "content", "The story of number 99": "content"}


def test_a_box_of_links_on_all_texts_is_beside_them():
    box = "<div class=b7><h4>Mehr davon</h4><ul>{}</ul></div>"
    pages = [
        article(
            n,
            text=f"{paragraph(n + 50)[:-1]} {link(n + 20, 'what we wrote')} {paragraph(n + 70)}",
            after=box.format("".join(f"<li>{link(n + more)}</li>" for more in (1, 3, 5))),
        )
        for n in range(PAGES)
    ]
    found = blocks(pages[4], pages)
    assert found.pop("what we wrote") == "content"
    assert set(found.values()) == {"aside"}


def test_links_that_say_what_they_are_are_not_editors():
    page = article(
        1,
        text=f"Read {link(2, 'this')} and <a rel=tag href=/t/1>hills</a>, then <a rel=next href=/post-2>on</a>.",
    )
    found = {link.anchor: link.block for link in read_page(page[1], page[0]).links}
    assert found == {"this": "content", "hills": "aside", "on": "navigation"}


def test_pages_that_are_lists_link_as_lists():
    shapes = {
        "/t/1/": [f"<ul>{''.join(f'<li>{link(n)}</li>' for n in range(9))}</ul>"],
        "/all/": [f"<table>{''.join(f'<tr><td>{n}. 4. 2015</td><td>{link(n)}</td></tr>' for n in range(9))}</table>"],
        "/page/2/": [
            f"<article><h2>{link(n)}</h2><p>{paragraph(n)[:190]} {link(n, 'Weiter')}</p></article>" for n in range(9)
        ],
        "/page/3/": [f"<dl>{''.join(f'<dt>{link(n)}</dt><dd>{paragraph(n)[:150]}</dd>' for n in range(9))}</dl>"],
    }
    for path, body in shapes.items():
        page = f"<body><main><h1>More</h1>{''.join(body)}<p><a href='/page/9/'>Älter</a></p></main></body>"
        found = [link.block for link in read_page(page, SITE + path).links]
        assert found.count("list") >= 9, path
        assert "content" not in found, path


def test_each_card_of_a_list_is_one_though_articles_stand_at_the_same_path():
    cards = [f"<article><h2>{link(n)}</h2><p>{paragraph(n)[:190]} {link(n, 'Weiter')}</p></article>" for n in range(27)]
    lists = [(f"{SITE}/page/{n}/", f"<body><main>{''.join(cards[n::3])}</main></body>") for n in range(3)]
    texts = [
        (url, html.replace("<h1>", "<article><h1>").replace("</main>", "</article></main>"))
        for url, html in map(article, range(PAGES))
    ]
    assert set(blocks(lists[0], texts + lists).values()) == {"list"}


def test_a_page_that_is_nothing_but_cards_is_a_list_though_they_stand_beside_texts_elsewhere():
    def cards(*numbers):
        made = (f'<div class="c4"><h3>{link(n)}</h3><p>{paragraph(n)[:120]}</p></div>' for n in numbers)
        return f'<div class="g1">{"".join(made)}</div>'

    pages = [article(n, after=cards(*range(n + 20, n + 24))) for n in range(PAGES)]
    archive = f"{SITE}/all", f"<body><main><h1>All</h1>{cards(*range(60, 84))}</main></body>"
    assert set(blocks(archive, [*pages, archive]).values()) == {"list"}
    assert set(blocks(pages[3], [*pages, archive]).values()) == {"aside"}


def test_an_index_of_the_pages_below_it_is_its_editor_s_unless_these_have_days():
    items = [f'<li>{{}}<a href="/guide/part-{n}">Part {n}: a chapter</a></li>' for n in range(9)]
    page = f"<body><main><h1>Guide</h1><ul>{''.join(items)}</ul></main></body>"
    assert {link.block for link in read_page(page.format(*[""] * 9), f"{SITE}/guide/").links} == {"content"}
    assert {link.block for link in read_page(page.format(*["3 May 2015 "] * 9), f"{SITE}/guide/").links} == {"list"}
    assert {link.block for link in read_page(page.format(*[""] * 9), f"{SITE}/other/").links} == {"list"}


def rows_below(pages, *, label="Weiter im Haus", size=3):
    """The pages with a row of links in paragraphs below each text, as many on all."""

    def row(n):
        return f"<p>{label}</p>" + "".join(f"<p>{link(n * 10 + at)}</p>" for at in range(40, 40 + size))

    return [article(n, text=text, after=row(n)) for n, text in enumerate(pages)]


def test_all_items_of_a_list_are_read_though_texts_stand_where_its_first_item_does():
    def item(n):
        return f"<section><h2>{link(n)}</h2><p>{paragraph(n)[:120]}</p></section>"

    def story(n):
        body = "".join(f"<p>{paragraph(n + more)}</p>" for more in (0, 200, 400))
        return f"{SITE}/post-{n}", f"<body><section><h1>Post {n}</h1>{body}</section></body>"

    pages = [story(n) for n in range(PAGES)]
    archive = f"{SITE}/notes", f"<body>{''.join(map(item, range(50, 56)))}</body>"
    found = blocks(archive, [*pages, archive])
    assert list(found.values()) == ["list"] * 6


def test_a_list_of_two_is_one_though_its_days_stand_in_cells_of_their_own():
    pages = [article(n) for n in range(PAGES)]
    rows = "".join(f"<tr><td>{n}. März 20{n}</td><td>{link(n)}</td></tr>" for n in (11, 12))
    archive = f"{SITE}/thema/klein", f"<body><main><h1>Klein</h1><table>{rows}</table></main></body>"
    assert set(blocks(archive, [*pages, archive]).values()) == {"list"}


def test_as_many_names_of_pages_below_each_text_are_the_site_s_without_any_class():
    pages = rows_below(
        [f"{paragraph(n)[:-1]} {link(n + 20, 'what we wrote')} {paragraph(n + 70)}" for n in range(PAGES)]
    )
    found = blocks(pages[4], pages)
    assert found.pop("what we wrote") == "content"
    assert set(found.values()) == {"navigation"}
    assert "number 80" not in text(pages[4], pages)


def test_their_first_words_go_with_them():
    def row(n):
        return "".join(
            f"<div>{link(n * 10 + at)}</div><div>{paragraph(n * 10 + at)[:120]}</div>" for at in range(40, 43)
        )

    pages = [article(n, after=f"<div>{row(n)}</div>") for n in range(PAGES)]
    assert "content" not in blocks(pages[4], pages).values()
    assert paragraph(81)[:120] not in text(pages[4], pages)


def test_a_link_that_an_editor_set_last_stays_above_the_row():
    pages = rows_below([""] * PAGES)
    own = article(30, after=f"<p>{link(99, 'All of it')}</p><p>Weiter im Haus</p><p>{link(1)}</p><p>{link(2)}</p>")
    found = blocks(own, [*pages, own])
    assert found["All of it"] == "content"
    assert found["The story of number 2"] == "navigation"


def test_lists_of_as_many_items_as_an_editor_needs_stay():
    def items(n):
        return "".join(f"<li>{link(n * 10 + at)}</li>" for at in range(1 + n * 7 % 5))

    pages = [article(n, after=f"<h2>See also</h2><ul>{items(n)}</ul>") for n in range(PAGES)]
    assert set(blocks(pages[4], pages).values()) == {"content"}


def test_lines_that_are_links_to_other_sites_are_no_list_of_pages():
    """Code whose names are linked to a manual, and one link to a page of the site."""
    code = "".join(f"<p><a href=https://manual.example.com/{n}>draw.line_{n}</a>(12)</p>" for n in range(9))
    page = f"{SITE}/drawing", f"<body><main><h1>Drawing</h1>{code}<p>{link(3, 'What lines are')}</p></main></body>"
    assert blocks(page, [*map(article, range(PAGES)), page])["What lines are"] == "content"
