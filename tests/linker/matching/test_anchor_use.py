"""How often a target carries the same words: one count, whoever asks."""

from __future__ import annotations

import pytest

from linker.matching.anchor_use import carried, carried_query, use_of
from linker.models import Block
from linker.storage.cursors import stream
from tests.factories import make_edge, make_link, make_page

pytestmark = pytest.mark.django_db


def test_links_of_settled_words_and_of_the_site_count_and_open_ones_do_not(project):
    target = make_page(project)
    make_edge(project, target=target, anchor="Snow boots", status="accepted")
    make_edge(project, target=target, anchor="Boots for the snow", status="exported")
    make_edge(project, target=target, anchor="snow boots", edited=True)
    make_edge(project, target=target, anchor="snow boots", status="rejected", edited=True)
    make_edge(project, target=target, anchor="snow boots")
    make_link(make_page(project), target, "SNOW BOOTS")
    make_link(make_page(project), target, "snow boots", block=Block.NAVIGATION)
    assert use_of(project, [target.pk]).times(target.pk, "snow boots") == 4


def test_a_link_that_left_and_stands_on_the_site_by_now_counts_once(project):
    edge = make_edge(project, anchor="snow boots", status="exported")
    make_link(edge.source, edge.target, "Snow Boots")
    make_link(edge.source, edge.target, "winter footwear")
    use = use_of(project, [edge.target_id])
    assert (use.times(edge.target_id, "snow boots"), use.times(edge.target_id, "winter footwear")) == (1, 1)


def test_what_is_asked_about_can_be_left_out_and_statuses_chosen(project):
    target = make_page(project)
    accepted = make_edge(project, target=target, anchor="snow boots", status="accepted")
    make_edge(project, target=target, anchor="snow boots", status="exported")
    assert use_of(project, [target.pk], without=[accepted.pk]).times(target.pk, "snow boots") == 1
    query, params = carried_query(project, [target.pk], statuses=["exported"])
    assert [tuple(row) for row in stream("carried", query, params)] == [(target.pk, "snow boots", "", 1)]


def test_targets_come_one_after_the_other_and_only_those_asked_for(project):
    targets = [make_page(project) for _ in range(3)]
    for target in reversed(targets):
        make_link(make_page(project), target, "tents")
        make_link(make_page(project), target, "huts")
    found = [target for target, _, _ in carried(project)]
    assert found == sorted(found)
    assert {target for target, _, _ in carried(project, [targets[1].pk])} == {targets[1].pk}
