"""Links to the page before and the page after, told once all pages are read. Themes and words are made up."""

from __future__ import annotations

import pytest

from tests.ingest.reading.test_lists import article, paragraph
from tests.ingest.reading.test_whole_site import in_text, name, settled_around

PAGES = 40

SIGNS = {
    "arrows in the links": "<div><a href=/post-{0}>← {1}</a><a href=/post-{2}>{3} →</a></div>",
    "entities beside the links": "<p>&larr; <a href=/post-{0}>{1}</a> | <a href=/post-{2}>{3}</a> &rarr;</p>",
    "lines of their own": "<p><a href=/post-{0}>« {1}</a></p><p><a href=/post-{2}>{3} »</a></p>",
    "the page after alone": "<p><a href=/post-{2}>{3} ›</a></p>",
    "words that are no names": "<p><a href=/post-{0}>◀ Vorige</a> <a href=/post-{2}>Volgende ▶</a></p>",
}


def link(number):
    return f"<a href=/post-{number}>{name(number)}</a>"


def some(around, *, every=6):
    """A site on which one page in some has a line around its text."""
    return [article(n, text=in_text(n), after=around(n) if n % every == 2 else "") for n in range(PAGES)]


@pytest.mark.parametrize("where", ["before", "after"])
@pytest.mark.parametrize("signs", SIGNS)
def test_lines_of_links_with_arrows_are_the_site_s_on_a_tenth_of_the_pages(signs, where):
    """No page names back."""
    pages = []
    for n in range(PAGES):
        one, other = (3 * n + 7) % PAGES, (7 * n + 4) % PAGES
        line = SIGNS[signs].format(one, name(one), other, name(other)) if n % 6 == 2 else ""
        pages.append(article(n, text=in_text(n), **{where: line}))
    found, text = settled_around(pages[8], pages)
    assert found.pop("what we wrote") == "content"
    assert found
    assert set(found.values()) == {"navigation"}
    assert not set(text) & set("←→«›◀")


OF_EDITORS = {
    "a sentence": lambda n: f"<p>{paragraph(n)[:20]} {link(n + 1)} → {link((n + 9) % PAGES)}</p>",
    "quotation marks": lambda n: f"<p><a href=/post-{(7 * n) % PAGES}>« {name(n)} »</a></p>",
    "a list": lambda n: "".join(f"<p>» {link((n + 3 * k) % PAGES)}</p>" for k in range(1, 6)),
    "read on": lambda n: f"<p><a href=/post-{n % 3}>All that we found →</a></p>",
}


@pytest.mark.parametrize("line", OF_EDITORS)
def test_what_an_editor_writes_with_arrows_stays(line):
    pages = some(OF_EDITORS[line])
    assert set(settled_around(pages[8], pages)[0].values()) == {"content"}


def test_signs_on_fewer_pages_stay():
    pages = some(lambda n: f"<p><a href=/post-{n - 1}>← {name(n - 1)}</a></p>", every=15)
    assert set(settled_around(pages[17], pages)[0].values()) == {"content"}


@pytest.mark.parametrize("pager", ["<p>{} {}</p>", "<p>{}</p><p>{}</p>"], ids=["a line", "two lines"])
def test_pages_that_name_each_other_in_turn_are_a_pager_whatever_their_signs(pager):
    """Below lists that the editors wrote."""
    pages = []
    for n in range(PAGES):
        listed = "".join(f"<li>{link((11 * n + 7 * k) % PAGES)}</li>" for k in range(2, 3 + n % 4))
        after = f"<h3>See also</h3><ul>{listed}</ul>{pager.format(link(n - 1), link(n + 1))}" if 5 < n < 25 else ""
        pages.append(article(n, text=in_text(n), after=after))
    found, text = settled_around(pages[9], pages)
    assert [anchor for anchor, block in found.items() if block == "navigation"] == [name(8), name(10)]
    assert found["what we wrote"] == found[name((99 + 14) % PAGES)] == "content"
    assert "See also" in text
    assert paragraph(9 + 90) in text
