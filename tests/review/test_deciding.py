"""Decisions without a script: one form each, and a page for an answer."""

from __future__ import annotations

import re

import pytest

from linker.models import CandidateEdge, EdgeStatus
from review.decisions import decide_edges
from review.models import Decision, Verb
from tests.factories import make_edge, make_member, make_page, make_run
from tests.markup import compact
from tests.review.queue_requests import GROUP, PAGE, UNDO, decide_url, form, status, text

pytestmark = pytest.mark.django_db


def test_without_a_script_an_accept_returns_to_its_place_in_the_list(project, as_editor):
    first, second = make_edge(project, score=0.9), make_edge(project, score=0.8)
    answer = as_editor.post(decide_url(first), form(first, query="order=score&after=1.0%7E1%7E0", position=1))
    assert answer.status_code == 302
    assert answer.url == f"{PAGE}?order=score&after=1.0%7E1%7E0&at={second.pk}"
    assert status(first) == "accepted"
    assert Decision.objects.get().position == 1


@pytest.mark.parametrize(
    ("do", "wanted"),
    [
        ("accept:nofollow", ("accepted", "nofollow")),
        ("accept:ugc", ("accepted", "ugc")),
        ("reject", ("rejected", "follow")),
    ],
)
def test_the_buttons_say_what_is_done(edge, as_editor, do, wanted):
    as_editor.post(decide_url(edge), form(edge, do))
    edge.refresh_from_db()
    assert (edge.status, edge.rel) == wanted


def test_a_reason_travels_with_its_button(edge, as_editor):
    as_editor.post(decide_url(edge), form(edge, "reject:wrong_target", note="see the guide"))
    decision = Decision.objects.get()
    assert (decision.verb, decision.reason, decision.note) == ("reject", "wrong_target", "see the guide")


def test_a_typed_anchor_is_an_edit_and_an_alternative_counts_where_nothing_was_typed(project, as_editor):
    edges = [make_edge(project, target=make_page(project, title="Words of all kinds")) for _ in range(3)]
    as_editor.post(decide_url(edges[0]), form(edges[0], anchor="my words"))
    as_editor.post(decide_url(edges[1]), form(edges[1], pick="their words"))
    as_editor.post(decide_url(edges[2]), form(edges[2], anchor="my words", pick="their words"))
    anchors = CandidateEdge.objects.order_by("pk").values_list("anchor", "edited")
    assert list(anchors) == [("my words", True), ("their words", True), ("my words", True)]


def test_an_anchor_that_cannot_be_used_comes_back_with_the_reason(edge, as_editor):
    answer = as_editor.post(decide_url(edge), form(edge, anchor="click here"))
    assert answer.status_code == 422
    content = compact(answer.content.decode())
    assert "says nothing about the page" in content
    assert 'value="click here"' in content
    assert 'name="shown" value="Warm winter boots"' in content
    assert status(edge) == "suggested"


def test_the_second_editor_sees_who_was_first_and_the_fresh_card(edge, project, as_editor):
    seen = form(edge)
    decide_edges(project, [edge.pk], Verb.REJECT, make_member(project, username="maria"))
    answer = as_editor.post(decide_url(edge), seen)
    assert answer.status_code == 409
    assert "maria decided first: rejected. Nothing of yours was saved." in text(answer)
    assert 'data-state="rejected"' in answer.content.decode()
    assert Decision.objects.count() == 1


@pytest.mark.nightly
def test_a_group_that_is_sent_twice_was_saved_once(project, as_editor):
    donor = make_page(project)
    for _ in range(2):
        make_edge(project, donor)
    boxes = re.findall(r'name="edge" value="([^"]+)"', as_editor.get(GROUP, {"donor": donor.pk}).content.decode())
    sent = {"donor": donor.pk, "edge": boxes}
    as_editor.post(GROUP, sent)
    answer = as_editor.post(GROUP, sent, follow=True)
    assert "2 decisions of yours were already saved." in text(answer)
    assert Decision.objects.count() == 2


@pytest.mark.nightly
def test_the_preview_of_a_group_says_where_its_links_go(project, as_editor):
    donor = make_page(project)
    make_edge(project, donor, placement="inline")
    for _ in range(2):
        make_edge(project, donor, placement="related")
    make_edge(project, donor, placement="related", content_gap=True)
    preview = text(as_editor.get(GROUP, {"donor": donor.pk}))
    assert "Where they go: 1 in the text, 3 in the list at the end" in preview
    assert preview.count("in the list at the end, follow") == 3
    type(project).objects.filter(pk=project.pk).update(gap_links="gap")
    preview = text(as_editor.get(GROUP, {"donor": donor.pk}))
    assert "Where they go: 1 in the text, 2 in the list at the end, 1 as a content gap" in preview


def test_a_card_that_a_run_refreshed_is_shown_again_before_it_is_decided(edge, as_editor):
    answer = as_editor.post(decide_url(edge), form(edge, run=edge.run_id + 1))
    assert answer.status_code == 409
    assert "newer match run" in text(answer)


@pytest.mark.parametrize(
    "changes",
    [{"do": ""}, {"do": "undo"}, {"do": "accept:dofollow"}, {"do": "reject:spite"}, {"expected": "exported"},
     {"run": "x"}, {"run": 10**30}, {"position": 0}, {"anchor": "a\0b"},
     {"query": "text=a\nb"}, {"query": "text=a\r\nSet-Cookie: x"}, {"run": "9" * 5000}, {"position": "9" * 5000}],
)  # fmt: skip
def test_a_form_that_no_card_sends_is_refused(edge, as_editor, changes):
    answer = as_editor.post(decide_url(edge), {**form(edge), **changes})
    assert answer.status_code == 400
    assert status(edge) == "suggested"


@pytest.mark.nightly
def test_undo_without_a_script_goes_back_to_the_card(edge, as_editor):
    as_editor.post(decide_url(edge), form(edge))
    answer = as_editor.post(UNDO, {"query": "order=score"})
    assert answer.url == f"{PAGE}?order=score&at={edge.pk}"
    assert status(edge) == "suggested"


@pytest.mark.nightly
def test_an_undo_that_comes_too_late_says_why(edge, as_editor):
    assert "no decision of yours left to undo" in text(as_editor.post(UNDO, follow=True))
    as_editor.post(decide_url(edge), form(edge))
    CandidateEdge.objects.update(status=EdgeStatus.EXPORTED)
    answer = as_editor.post(UNDO, {"decision": Decision.objects.get().pk})
    assert answer.status_code == 409
    assert "been exported already" in text(answer)


@pytest.mark.parametrize("decision", ["x", "²", "9" * 30, "9" * 5000, "9" * 18])
def test_an_undo_of_nothing_known_is_refused(project, as_editor, decision):
    assert as_editor.post(UNDO, {"decision": decision}).status_code in {400, 404}


@pytest.mark.nightly
@pytest.mark.parametrize("digits", [30, 5000])
def test_an_id_of_any_length_is_answered(project, as_editor, digits):
    number = "9" * digits
    assert as_editor.get(f"{PAGE}{number}/").status_code == 404
    assert as_editor.post(f"{PAGE}{number}/decide/").status_code == 404
    assert as_editor.get(GROUP, {"donor": number}).url == PAGE
    assert as_editor.get(f"{PAGE}?tier={number}&after=1~{number}~1").status_code == 200
    assert as_editor.get("/p/shop/export/", {"before": number, "tier": number}).status_code == 200
    assert as_editor.get(f"/p/shop/export/{number}/").status_code == 404


def test_a_form_whose_place_holds_a_line_break_is_refused(edge, as_editor):
    as_editor.post(decide_url(edge), form(edge))
    assert as_editor.post(UNDO, {"query": "text=a\nb"}).status_code == 400
    assert as_editor.post(GROUP, {"donor": edge.source_id, "query": "text=a\nb"}).status_code == 400
    assert status(edge) == "accepted"


@pytest.mark.nightly
def test_a_group_is_previewed_then_accepted_and_undone_as_one(project, as_editor):
    donor = make_page(project)
    edges = [make_edge(project, donor, score=0.9 - n / 100) for n in range(3)]
    sensitive = make_edge(project, donor, sensitive="Medical: Health")
    held = make_edge(project, donor, score=0.55)
    preview = as_editor.get(GROUP, {"donor": donor.pk, "query": ""})
    assert "Accept 4 suggestions on this page?" in text(preview)
    checked = re.findall(r'name="edge" value="([^"]+)" checked', compact(preview.content.decode()))
    assert checked == [f"{edge.pk}:{edge.run_id}:a good anchor" for edge in edges]
    as_editor.post(GROUP, {"donor": donor.pk, "query": "", "edge": checked[:2]})
    assert [status(edge) for edge in (*edges, sensitive, held)] == ["accepted"] * 2 + ["suggested"] * 3
    answer = as_editor.post(UNDO, follow=True)
    assert "Undone: the decisions on 2 links." in text(answer)
    assert {status(edge) for edge in edges} == {"suggested"}


@pytest.mark.parametrize(
    ("at", "ticked", "goes_to"), [(2, (2, 3), 4), (2, (3,), 2), (4, (4, 5), 0), (None, (2, 3), 4), (3, (), 3)]
)
def test_the_list_goes_on_behind_the_card_that_was_open_when_its_group_was_accepted(
    project, as_editor, at, ticked, goes_to
):
    donors = [make_page(project) for _ in range(3)]
    edges = [make_edge(project, donors[n // 2], score=0.9 - n / 100, donor_best=0.9 - n // 2 / 10) for n in range(6)]
    sent = [f"{edges[n].pk}:{edges[n].run_id}" for n in ticked]
    open_card = {} if at is None else {"at": edges[at].pk}
    answer = as_editor.post(GROUP, {"donor": edges[at or 2].source_id, "query": "text=a", "edge": sent, **open_card})
    assert answer.url == f"{PAGE}?text=a&at={edges[goes_to].pk}"


def test_the_preview_keeps_to_the_filter(project, as_editor):
    donor = make_page(project)
    make_edge(project, donor, anchor="red boots")
    make_edge(project, donor, anchor="blue boots")
    assert "Accept 1 suggestion on" in text(as_editor.get(GROUP, {"donor": donor.pk, "query": "text=blue"}))


@pytest.mark.nightly
def test_what_others_decided_meanwhile_is_left_alone_and_counted(project, as_editor):
    donor = make_page(project)
    edges = [make_edge(project, donor) for _ in range(3)]
    pairs = [f"{edge.pk}:{edge.run_id}" for edge in edges]
    decide_edges(project, [edges[0].pk], Verb.REJECT, make_member(project, username="maria"))
    answer = as_editor.post(GROUP, {"donor": donor.pk, "edge": pairs}, follow=True)
    assert [status(edge) for edge in edges] == ["rejected", "accepted", "accepted"]
    assert "Accepted: 2 links, undone as one. maria decided first" in text(answer)


@pytest.mark.parametrize("pairs", [["x"], ["1"], ["1:²"], ["9" * 30 + ":1"]])
def test_a_group_form_that_no_preview_sends_is_refused(edge, as_editor, pairs):
    assert as_editor.post(GROUP, {"donor": edge.source_id, "edge": pairs}).status_code == 400


@pytest.mark.nightly
def test_a_group_in_a_stale_tab_leaves_the_links_of_pages_that_moved_since(project, as_editor):
    donor, other = make_page(project), make_page(project)
    edges = [make_edge(project, donor) for _ in range(4)]
    page = as_editor.get(GROUP, {"donor": donor.pk}).content.decode()
    sent = {name: re.findall(rf'name="{name}"\s+value="([^"]*)"', page) for name in ("edge", "pages")}
    for edge in edges[:2]:  # their acceptors were merged into another page, and they followed
        type(edge).objects.filter(pk=edge.pk).update(target=make_page(project))
    type(other).objects.filter(pk=edges[2].target_id).update(status="removed", state_since="2026-03-01T00:00Z")
    answer = as_editor.post(GROUP, {"donor": donor.pk, **sent}, follow=True)
    assert [status(edge) for edge in edges] == ["suggested", "suggested", "suggested", "accepted"]
    assert "3 links were left unchanged: pages of theirs were merged, redirected or removed" in text(answer)


def test_a_group_that_a_run_has_refreshed_is_not_said_to_be_decided_by_others(project, as_editor):
    donor = make_page(project)
    edges = [make_edge(project, donor) for _ in range(3)]
    pairs = [f"{edge.pk}:{edge.run_id}" for edge in edges]
    project.edges.filter(pk__in=[edge.pk for edge in edges[:2]]).update(run=make_run(project))
    answer = as_editor.post(GROUP, {"donor": donor.pk, "edge": pairs}, follow=True)
    assert [status(edge) for edge in edges] == ["suggested", "suggested", "accepted"]
    assert "2 links were left unchanged: a newer match run" in text(answer)
    assert "another editor" not in text(answer)


@pytest.mark.parametrize("pages", ["1:2", "1:2:3", "1:2:x-4", "1:2:3-"])
def test_pages_that_no_preview_sends_are_refused(edge, as_editor, pages):
    sent = {"donor": edge.source_id, "edge": f"{edge.pk}:{edge.run_id}", "pages": pages}
    assert as_editor.post(GROUP, sent).status_code == 400
