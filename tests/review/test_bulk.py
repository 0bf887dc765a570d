"""Deciding on all that a filter lists, and filters under a name."""

from __future__ import annotations

import re

import pytest

from linker.models import CandidateEdge, EdgeStatus, Suppression
from review import decisions, undoing
from review.models import Decision, SavedFilter, SetAside
from review.queue import bulk
from review.queue.filters import QueueFilter
from tests.factories import make_category, make_edge, make_member, make_page, make_project

pytestmark = pytest.mark.django_db

BULK = "/p/shop/queue/bulk/"
FILTERS = "/p/shop/queue/filters/"


@pytest.fixture
def tents(project):
    return make_category(project, "Tents")


@pytest.fixture
def edges(project, tents) -> list[CandidateEdge]:
    """Three suggestions of pages about tents, the last sensitive, and one of another page."""
    donors = [make_page(project, title=f"Tent {n}", category=tents) for n in range(3)]
    sensitive = ["", "", "The acceptor is medical"]
    found = [make_edge(project, donor, sensitive=said) for donor, said in zip(donors, sensitive, strict=True)]
    return [*found, make_edge(project, make_page(project, title="Stove"))]


@pytest.fixture
def as_editor(client_for, editor):
    return client_for(editor)


def statuses(edges) -> list[str]:
    return [CandidateEdge.objects.get(pk=edge.pk).status for edge in edges]


def seen(client, query: str) -> str:
    """What the page that asks would send."""
    page = client.get(f"{BULK}?{query}").content.decode()
    return re.search(r'name="seen"\s+value="([^"]*)"', page)[1]  # type: ignore[index]


def as_shown(edge) -> str:
    return f"{edge.pk}:{edge.run_id}:{edge.source_id}-{edge.target_id}"


@pytest.mark.nightly
def test_all_that_the_filter_lists_is_accepted_and_undone_as_one(as_editor, editor, project, edges, tents):
    query = f"category={tents.pk}"
    answer = as_editor.post(BULK, {"do": "accept", "seen": seen(as_editor, query), "query": query}, follow=True)
    assert statuses(edges) == ["accepted", "accepted", "suggested", "suggested"]
    assert "2 links, undone as one." in answer.content.decode()
    assert Decision.objects.count() == 2
    undoing.undo(project, editor)
    assert statuses(edges) == ["suggested"] * 4


def test_the_page_shows_how_many_with_examples_and_says_that_sensitive_ones_are_left_out(as_editor, edges, tents):
    page = as_editor.get(f"{BULK}?category={tents.pk}").content.decode()
    assert "2 suggestions" in page
    assert "1 sensitive suggestion is not among them" in page
    assert "Tent 0" in page
    assert "Tent 2" not in page


def test_a_filter_with_fields_that_nobody_knows_decides_on_nothing(as_editor, edges):
    answer = as_editor.get(f"{BULK}?donor=zz&plcement=gap")
    assert (answer.status_code, answer.url) == (302, "/p/shop/queue/?donor=zz&plcement=gap")


def test_all_are_rejected_with_one_reason(as_editor, edges, tents):
    sent = {"do": "reject", "reason": "irrelevant", "seen": seen(as_editor, f"category={tents.pk}")}
    as_editor.post(BULK, sent)
    assert statuses(edges) == ["rejected", "rejected", "suggested", "suggested"]
    assert set(Decision.objects.values_list("reason", flat=True)) == {"irrelevant"}


@pytest.mark.nightly
def test_what_is_rejected_together_may_come_back_as_what_is_rejected_alone(as_editor, edges, tents):
    shown = seen(as_editor, f"category={tents.pk}")
    assert "for 90 days" in as_editor.get(f"{BULK}?category={tents.pk}").content.decode()
    as_editor.post(BULK, {"do": "reject", "reach": "days", "seen": shown})
    assert list(Suppression.objects.values_list("reach", flat=True)) == ["days", "days"]


@pytest.mark.nightly
def test_what_was_not_shown_or_was_decided_in_between_is_left_alone(as_editor, project, edges, tents):
    shown = seen(as_editor, f"category={tents.pk}")
    decisions.decide_edges(project, [edges[0].pk], decisions.Verb.REJECT, make_member(project))
    make_edge(project, make_page(project, category=tents))
    as_editor.post(BULK, {"do": "accept", "seen": shown})
    assert statuses(edges) == ["rejected", "accepted", "suggested", "suggested"]
    assert project.edges.filter(status=EdgeStatus.ACCEPTED).count() == 1


@pytest.mark.nightly
def test_a_sensitive_suggestion_that_is_slipped_in_is_refused_with_all_others(as_editor, edges):
    sent = " ".join(f"{edge.pk}:{edge.run_id}" for edge in edges)
    page = as_editor.post(BULK, {"do": "accept", "seen": sent}, follow=True).content.decode()
    assert "needs a look of its own" in page
    assert statuses(edges) == ["suggested"] * 4


@pytest.mark.nightly
def test_too_many_are_not_decided(as_editor, edges, monkeypatch):
    monkeypatch.setattr(bulk, "MAX_AT_ONCE", 2)
    page = as_editor.get(BULK).content.decode()
    assert "That is too many to decide at once" in page
    assert 'name="seen"' not in page
    sent = " ".join(f"{edge.pk}:{edge.run_id}" for edge in edges)
    assert "Narrow the filter" in as_editor.post(BULK, {"do": "accept", "seen": sent}, follow=True).content.decode()
    assert statuses(edges) == ["suggested"] * 4


def test_what_the_editor_has_set_aside_is_not_among_them(as_editor, editor, project, edges, tents):
    SetAside.objects.create(project=project, user=editor, edge=edges[0])
    assert seen(as_editor, f"category={tents.pk}").split() == [as_shown(edges[1])]


@pytest.mark.sample(7)
@pytest.mark.parametrize(
    "sent", ["x", "1", "1:2:3", "1:2:3-", "1:2:3-4:5", "1:", ":1", "-1:1", "1:9223372036854775808"]
)
def test_what_is_no_list_of_suggestions_is_refused(as_editor, edges, sent):
    assert as_editor.post(BULK, {"do": "accept", "seen": sent}).status_code == 400
    assert statuses(edges) == ["suggested"] * 4


def test_of_another_project_nothing_is_decided(as_editor, edges):
    other = make_edge(make_project("other"))
    as_editor.post(BULK, {"do": "accept", "seen": f"{edges[0].pk}:{edges[0].run_id} {other.pk}:{other.run_id}"})
    assert statuses([edges[0], other]) == ["suggested"] * 2


# Saved filters


@pytest.mark.nightly
def test_a_filter_is_a_tab_under_its_name(as_editor, edges, tents):
    as_editor.post(FILTERS, {"name": "My tents", "query": f"category={tents.pk}"})
    page = as_editor.get("/p/shop/queue/").content.decode()
    assert re.search(rf'<a href="\?category={tents.pk}"[^>]*>My tents</a>', page)


def test_the_same_name_replaces_the_filter_and_one_is_removed_by_its_owner(as_editor, edges, tents):
    for query in ("sensitive=only", f"category={tents.pk}"):
        as_editor.post(FILTERS, {"name": "Mine", "query": query})
    kept = SavedFilter.objects.get()
    assert kept.query == f"category={tents.pk}"
    as_editor.post(f"{FILTERS}{kept.pk}/remove/")
    assert not SavedFilter.objects.exists()


@pytest.mark.nightly
def test_only_a_manager_shares_a_filter_and_others_cannot_remove_it(as_editor, client_for, manager, edges):
    as_editor.post(FILTERS, {"name": "Mine", "query": "sensitive=only", "shared": "1"})
    client_for(manager).post(FILTERS, {"name": "Ours", "query": "sensitive=not", "shared": "1"})
    assert dict(SavedFilter.objects.values_list("name", "shared")) == {"Mine": False, "Ours": True}
    assert "Mine" not in client_for(manager).get("/p/shop/queue/").content.decode()
    assert "Ours" in as_editor.get("/p/shop/queue/").content.decode()
    ours = SavedFilter.objects.get(name="Ours")
    assert as_editor.post(f"{FILTERS}{ours.pk}/remove/").status_code == 400
    assert SavedFilter.objects.filter(pk=ours.pk).exists()


@pytest.mark.nightly
def test_unknown_fields_are_not_kept_and_there_is_a_most(as_editor, edges, monkeypatch):
    as_editor.post(FILTERS, {"name": "Odd", "query": "sensitive=only&evil=1"})
    assert SavedFilter.objects.get().query == "sensitive=only"
    monkeypatch.setattr("review.queue.saved.MOST", 1)
    page = as_editor.post(FILTERS, {"name": "More", "query": "held=1"}, follow=True).content.decode()
    assert "Remove one first" in page
    assert SavedFilter.objects.count() == 1


@pytest.mark.nightly
def test_more_of_the_same_acceptor_are_listed_and_named(as_editor, project, edges):
    found = QueueFilter.from_query({"acceptor": str(edges[0].target_id)})
    assert list(found.queryset(project)) == [edges[0]]
    page = as_editor.get(f"/p/shop/queue/?acceptor={edges[0].target_id}").content.decode()
    assert f"To {edges[0].target.title or edges[0].target.url}" in page


def test_the_buttons_and_the_examples_say_how_many(as_editor, edges, tents):
    page = " ".join(as_editor.get(f"{BULK}?category={tents.pk}").content.decode().split())
    assert "Accept all 2<" in page
    assert "Reject all 2<" in page
    assert "drawn by chance" not in page, "all are shown"


def test_a_list_of_decided_links_says_why_there_is_nothing_to_decide(as_editor, edges):
    page = as_editor.get(f"{BULK}?status=accepted").content.decode()
    assert "Only open suggestions can be decided on together" in page
    assert "without a filter" not in page


@pytest.mark.nightly
@pytest.mark.parametrize("do", ["accept", "reject"])
def test_what_is_of_other_pages_since_it_was_shown_is_left_and_counted(as_editor, project, edges, tents, do):
    """Two of three donors move after the page was opened: one is merged into another page, one is removed."""
    donors = [edges[0].source, edges[1].source]
    third = make_edge(project, make_page(project, category=tents))
    shown = seen(as_editor, f"category={tents.pk}")
    other = make_page(project, category=tents)
    CandidateEdge.objects.filter(pk=edges[0].pk).update(source=other)
    type(donors[1]).objects.filter(pk=donors[1].pk).update(status="removed", state_since="2026-03-01T00:00Z")
    answer = as_editor.post(BULK, {"do": do, "seen": shown}, follow=True).content.decode()
    assert statuses([*edges[:2], third]) == ["suggested", "suggested", f"{do}ed"]
    assert "2 links were left unchanged: pages of theirs were merged, redirected or removed" in answer
    assert "decided by another editor" not in answer
