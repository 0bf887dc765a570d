"""From a card to a rule that leaves out pages like its own: managers set it, editors ask a manager."""

from __future__ import annotations

import re

import pytest
from django.utils.html import escape

from linker.models import ExclusionRule
from review.models import OpinionRequest
from review.queue.alike_pages import alike, patterns_of
from tests.factories import make_edge, make_member, make_page
from tests.review.queue_requests import PAGE, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def listed(project):
    """A suggestion to a list of tags, of which there are two more."""
    for name in ("hats", "socks"):
        make_page(project, f"/tag/{name}/")
    return make_edge(project, make_page(project, "/warm-feet"), make_page(project, "/tag/boots/"))


@pytest.mark.parametrize(
    ("path", "sections"),
    [("/tag/boots/", ["/tag/"]), ("/a/b/c/d", ["/a/b/", "/a/"]), ("/boots", []), ("/", []), ("/a.b/c", ["/a.b/"])],
)
def test_pages_alike_are_those_of_the_sections_of_an_address(path, sections):
    own, *found = patterns_of(f"https://shop.example{path}")
    assert re.fullmatch(own.strip("^$"), f"https://shop.example{path}")
    assert found == [f"^{re.escape(f'https://shop.example{section}')}" for section in sections]


@pytest.mark.nightly
def test_a_manager_sees_what_a_rule_takes_and_sets_it(project, listed, client_for):
    as_manager = client_for(make_member(project, role="manager"))
    page = as_manager.get(f"{PAGE}{listed.pk}/alike/")
    assert f"{PAGE}{listed.pk}/alike/" in as_manager.get(PAGE).content.decode()
    rule = next(one for one in alike(listed) if one.matches.count == 3)
    assert "3 pages" in text(page)
    address = f"/p/shop/settings/exclusions/?{rule.query}"
    assert escape(address) in page.content.decode()
    assert "1 open suggestion would not be proposed by the next match" in text(as_manager.get(address))
    as_manager.post("/p/shop/settings/exclusions/", {"pattern": rule.pattern, "side": rule.side.value, "note": ""})
    saved = ExclusionRule.objects.get()
    assert (saved.pattern, saved.side) == (rule.pattern, "acceptor")


def test_an_editor_asks_a_manager(project, listed, editor, as_editor):
    manager = make_member(project, role="manager")
    page = as_editor.get(f"{PAGE}{listed.pk}/alike/")
    assert "See what it takes" not in text(page)
    assert manager.username in text(page)
    wanted = alike(listed)[0].request
    as_editor.post(f"{PAGE}{listed.pk}/ask/", {"query": "", "asked_of": manager.username, "text": wanted})
    request = OpinionRequest.objects.get()
    assert (request.asked_of, request.comment.text) == (manager, wanted)
