"""Words of lists that a site makes of its pages are links, and take no other."""

from __future__ import annotations

from linker.matching.donor_texts import read_donor_texts
from linker.models import Block
from review.link_places import allowed_place
from tests.factories import make_edge, make_link, make_page

BODY = "Topics\nMedia queries\nGood boots for long walks in the hills."


def test_a_match_puts_no_link_on_the_words_of_a_list(project):
    page = make_page(project, body=BODY)
    make_link(page, make_page(project), "Media queries", Block.LIST)
    text = read_donor_texts([page.pk], "en", [])[page.pk].page
    assert text.places([("Media queries", "", 1.0)]) == []
    assert text.places([("Good boots", "", 1.0)]) != []


def test_neither_does_an_editor(project):
    page = make_page(project, body=BODY)
    make_link(page, make_page(project), "Media queries", Block.LIST)
    assert allowed_place(make_edge(project, page, anchor="media queries")) is None
    assert allowed_place(make_edge(project, page, anchor="good boots")) is not None
