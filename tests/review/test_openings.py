"""What a card shows of the acceptor first: its description, unless that is another page's or the whole site's."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from review.queue.openings import openings_of
from tests.factories import make_page

pytestmark = pytest.mark.django_db

SITE = "Everything about the hills since 1998."
BODY = "Wool socks keep feet warm when they are wet. Wash them cold."


def opening(page) -> str:
    return openings_of(page.project, [page.pk])[page.pk]


def test_a_page_begins_with_its_own_description(project):
    assert opening(make_page(project, title="Wool socks", description="How wool keeps feet warm.", body=BODY)) == (
        "How wool keeps feet warm."
    )
    assert opening(make_page(project, title="Wool socks", description="", body=BODY)) == BODY


def test_a_description_that_other_pages_have_too_says_nothing_of_this_one(project):
    pages = [make_page(project, description=SITE, title="Hills", body=f"Hills. {BODY}") for _ in range(3)]
    assert {opening(page) for page in pages} == {f"Hills. {BODY}"}
    assert opening(make_page(project, description=SITE, title="Hills", body="")) == "", "it has no words of its own"


def test_a_description_of_another_page_gives_way_to_the_pages_own_text(project):
    make_page(project, title="Ice axes", description="How to hold an ice axe on steep snow.")
    page = make_page(project, title="Wool socks", description="How to hold an ice axe on steep snow.", body=BODY)
    assert opening(page) == BODY


def test_words_without_spaces_are_compared_by_their_characters(project):
    page = make_page(
        project, title="冬の登山靴", description="冬の登山靴", body="冬の登山靴の選び方を説明します。", language="ja"
    )
    assert opening(page) == "冬の登山靴"


def test_a_long_opening_is_cut_between_words(project):
    said = opening(make_page(project, title="Socks", body="Warm socks. " * 60))
    assert said.endswith("…")
    assert len(said) < 260


def test_the_number_of_queries_does_not_grow_with_the_pages(project):
    pages = [make_page(project, description=f"Page {n}") for n in range(9)]
    with CaptureQueriesContext(connection) as queries:
        openings_of(project, [page.pk for page in pages])
    assert len(queries) == 2
