"""Whoever decides on a link of pages that were merged, redirected or removed meanwhile saves nothing, and reads why."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from linker.matching.tiers import retier
from linker.pages.identity import edges
from review.decisions import decide_edges
from review.models import Decision, Verb
from review.rulings import Ruling, Shown
from review.undoing import undo
from tests.factories import make_edge, make_page

pytestmark = pytest.mark.django_db(transaction=True)
AT = ("--at", "2026-03-01T09:00Z")


@pytest.fixture
def link(project):
    return make_edge(project, make_page(project, "/donor"), make_page(project, "/acceptor"))


def post(client, link, do: str = "accept", **data):
    """A decision from a card that was painted before anything happened."""
    seen = {"expected": "suggested", "run": link.run_id, "shown": link.anchor, "anchor": link.anchor}
    pages = f"{link.source_id}-{link.target_id}"
    return client.post(f"/p/shop/queue/{link.pk}/decide/", {"do": do, **seen, "pages": pages, **data})


@pytest.mark.nightly
@pytest.mark.parametrize("do", ["accept", "reject:irrelevant"])
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_page_that_was_removed(project, editor, client_for, link, do, side):
    url = getattr(link, side).url
    call_command("page_event", "shop", "removed", url, *AT)

    response = post(client_for(editor), link, do)

    assert f"{url} was removed on 1 Mar 2026. Nothing was saved." in _said(response)
    assert not Decision.objects.exists()
    link.refresh_from_db()
    assert (link.status, link.stale) == ("suggested", True)


@pytest.mark.nightly
def test_an_acceptor_that_was_merged_asks_for_another_look(project, editor, client_for, link):
    other = make_page(project, "/other")
    call_command("page_event", "shop", "merged", link.target.url, other.url, *AT)

    response = post(client_for(editor), link)

    assert f"the link goes from {link.source.url} to {other.url} now. Nothing was saved." in _said(response)
    assert not Decision.objects.exists()
    link.refresh_from_db()
    assert (link.status, link.target) == ("suggested", other)


@pytest.mark.nightly
def test_a_second_look_decides(project, editor, client_for, link):
    call_command("page_event", "shop", "merged", link.target.url, make_page(project, "/other").url, *AT)
    link.refresh_from_db()

    post(client_for(editor), link)

    link.refresh_from_db()
    assert link.status == "accepted"


def test_before_the_suggestions_have_followed(project, editor, link, monkeypatch):
    other = make_page(project, "/other")
    monkeypatch.setattr("ingest.management.commands.page_event._followed", lambda run: 0)
    call_command("page_event", "shop", "merged", link.target.url, other.url, *AT)

    outcome = decide_edges(project, [link.pk], Verb.ACCEPT, editor)

    assert not outcome.decided
    said = f"{link.target.url} was merged into {other.url} on 1 Mar 2026. Nothing was saved."
    assert [conflict.message for conflict in outcome.conflicts] == [said]


@pytest.mark.nightly
def test_what_was_closed_for_its_pages_is_opened_by_no_reading_of_the_tiers(project, link):
    call_command("page_event", "shop", "removed", link.target.url)

    retier(project)

    link.refresh_from_db()
    assert link.stale


@pytest.mark.nightly
def test_what_is_undone_stays_closed_until_its_page_is_back(project, editor, link):
    decide_edges(project, [link.pk], Verb.ACCEPT, editor)
    call_command("page_event", "shop", "removed", link.target.url)

    undo(project, editor)

    link.refresh_from_db()
    assert (link.status, link.stale) == ("suggested", True)
    assert edges.settle(project) == 0
    assert Decision.objects.count() == 2


@pytest.mark.nightly
def test_what_a_rejection_ruled_out_is_not_opened_for_a_page_that_is_gone(project, editor, link):
    decide_edges(project, [link.pk], Verb.REJECT, editor, Ruling(reason="irrelevant"))
    call_command("page_event", "shop", "removed", link.target.url)

    undo(project, editor)

    link.refresh_from_db()
    assert (link.status, link.stale) == ("suggested", True)


@pytest.mark.nightly
def test_several_at_once_are_decided_but_for_those(project, editor, link):
    stands = make_edge(project, link.source, make_page(project, "/stands"))
    call_command("page_event", "shop", "removed", link.target.url)

    outcome = decide_edges(project, [link.pk, stands.pk], Verb.ACCEPT, editor, Ruling(), Shown("suggested"))

    assert [decision.edge_id for decision in outcome.decided] == [stands.pk]
    assert [conflict.edge.pk for conflict in outcome.conflicts] == [link.pk]


def _said(response) -> str:
    return " ".join(response.content.decode().split())
