"""What is done where a page has as many links with the same anchor as the project wants: said, or asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.urls import reverse

from linker.engine.anchors.diversity import is_own_name
from linker.models import AnchorRepeats
from review.anchor_warnings import beforehand
from review.decisions import decide_edges, warnings_beforehand
from review.models import Held, Verb
from review.queue.selectors import card_of
from review.releases.create import create_release
from tests.factories import lenient_tiers, make_edge, make_link, make_page
from tests.markup import compact

if TYPE_CHECKING:
    from linker.models import CandidateEdge, Project

pytestmark = pytest.mark.django_db


def crowded(project: Project, anchor: str, repeats: str = "say") -> CandidateEdge:
    """A suggestion with the words that four other links to its page have."""
    project.anchor_repeats = repeats
    project.save()
    target = make_page(project, title="Snow boots")
    for _ in range(4):
        make_link(make_page(project), target, anchor)
    return make_edge(project, target=target, anchor=anchor)


@pytest.mark.parametrize(
    ("anchor", "title", "h1"),
    [
        ("Snow boots", "Snow boots | Shop", ""),
        ("boots for snow", "Snow boots", ""),
        ("Anna Meier", "Meier, Anna", ""),
        ("Oakmill Institute", "The Oakmill Institute (OI) – Partners", ""),
        ("Anna Meier", "Staff", "Anna Meier"),
    ],
)
def test_a_page_is_called_by_its_title_and_its_heading(anchor, title, h1):
    assert is_own_name(anchor, title, h1)


@pytest.mark.parametrize("anchor", ["boots", "cheap snow boots", "Shop", "Partners"])
def test_other_words_are_no_name(anchor):
    assert not is_own_name(anchor, "Snow boots – Partners | Shop", "")


def test_a_usual_project_says_it_and_does_not_ask(project, editor):
    edge = crowded(project, "cheap boots")
    (warning,) = beforehand(project, [edge])[edge.pk]
    assert (warning.code, warning.stops) == ("identical", False)
    assert warning.text == "4 other links to “Snow boots” say “cheap boots”. This project would rather have 3 in all."
    assert warnings_beforehand(project, [edge]) == {}, "a group keeps it ticked"
    (decision,) = decide_edges(project, [edge.pk], Verb.ACCEPT, editor).decided
    assert decision.overruled == []


@pytest.mark.parametrize("repeats", ["say", "ask"])
def test_the_pages_own_name_is_natural_in_the_text_too(project, editor, repeats):
    edge = crowded(project, "snow boots", repeats=repeats)
    assert beforehand(project, [edge]) == {}
    assert decide_edges(project, [edge.pk], Verb.ACCEPT, editor).decided


def test_a_project_that_asks_does_so_for_other_words_and_if_it_likes_for_names(project, editor):
    for anchor, repeats in (("cheap boots", "ask"), ("snow boots", "names")):
        edge = crowded(project, anchor, repeats=repeats)
        outcome = decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
        assert [warning.code for doubt in outcome.doubts for warning in doubt.warnings] == ["identical"]


def test_what_is_only_said_stops_no_key_and_is_a_quiet_sign(project, as_editor):
    edge = crowded(project, "cheap boots")
    page = compact(as_editor.get(reverse("queue", args=["shop"])).content.decode())
    assert 'name="warned" data-warned-codes value=""' in page
    assert 'name="warned_of" data-warned-of value=""' in page
    assert "4 other links to “Snow boots” say “cheap boots”" in page
    (sign,) = [sign for sign in card_of(edge).signs if sign.name == "Anchor used 4 times"]
    assert sign.is_mild
    words = as_editor.get(reverse("words", args=["shop", edge.pk]), {"anchor": "cheap boots"}).json()
    assert [(one["code"], one["stops"]) for one in words["warnings"]] == [("identical", False)]


def test_a_release_lets_out_what_a_person_accepted_and_holds_back_what_nobody_read(project, editor):
    lenient_tiers(project, name="Related")
    read = crowded(project, "cheap boots")
    decide_edges(project, [read.pk], Verb.ACCEPT, editor)
    unread = make_edge(project, target=read.target, anchor="cheap boots", score=0.7)
    named = make_edge(project, target=read.target, anchor="snow boots", score=0.7)
    release = create_release(project, project.edges.all())
    assert set(release.release_links.values_list("edge", flat=True)) == {read.pk, named.pk}
    assert list(release.held_back.values_list("edge", "reason")) == [(unread.pk, Held.SAME_ANCHOR)]


def test_the_setting_is_on_the_projects_page(project, manager, client_for):
    page = compact(client_for(manager).get(reverse("settings", args=["shop"])).content.decode())
    assert 'name="anchor_repeats"' in page
    assert project.anchor_repeats == AnchorRepeats.SAY
