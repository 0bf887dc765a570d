"""What the browser sends of an editor's work: several operations in one request, each carried out once."""

from __future__ import annotations

import json
import re
from unittest.mock import ANY
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from linker.models import CandidateEdge, EdgeStatus
from review.decisions import decide_edges
from review.models import Decision, SetAside, Verb
from review.queue.operations import MAX_OPERATIONS, Aside, Decide, Result, Undo, carry_out
from review.web.forms import operations_in
from tests.factories import make_edge, make_member, make_page
from tests.review.queue_requests import (
    EVIL,
    OPERATIONS,
    PAGE,
    decision,
    operation,
    readable,
    results,
    send,
    status,
)
from tests.review.races import race

pytestmark = pytest.mark.django_db


def post(client: Client, body: object) -> int:
    sent = body if isinstance(body, bytes | str) else json.dumps(body)
    return client.post(OPERATIONS, sent, content_type="application/json").status_code


def log() -> list[str]:
    return list(Decision.objects.order_by("pk").values_list("verb", flat=True))


@pytest.mark.nightly
def test_operations_are_carried_out_in_the_order_in_which_they_were_made(project, as_editor):
    first, second = make_edge(project), make_edge(project)
    accept, reject = decision(first), decision(second, "reject:outdated")
    answer = send(as_editor, accept, reject, operation("undo", of=accept["key"]), decision(first, "reject"))
    assert results(answer) == ["saved"] * 4
    assert log() == ["accept", "reject", "undo", "reject"]
    assert (status(first), status(second)) == ("rejected", "rejected")
    assert [one["key"] for one in answer["answers"]][:2] == [accept["key"], reject["key"]]


def test_the_answer_counts_what_is_left_and_what_was_done_today(project, as_editor):
    edges = [make_edge(project) for _ in range(4)]
    assert send(as_editor, decision(edges[0]))["counts"] == {"left": 3, "today": 1, "percent": 25, "menu": ANY}
    counts = send(as_editor)["counts"]
    assert counts["menu"] == {
        "suggested": "3", "accepted": "1", "rejected": "0", "exported": "0", "withdrawn": "0", "all": "4", "later": "0",
        "asked": "0", "waiting": "0", "today": "1",
    }  # fmt: skip


def test_the_counts_are_those_of_the_filter_on_the_screen(project, as_editor):
    edge, _ = make_edge(project, anchor="red boots"), make_edge(project, anchor="blue boots")
    assert send(as_editor, query="text=red")["counts"]["left"] == 1
    assert send(as_editor, decision(edge), query="?text=red")["counts"] == {
        "left": 0,
        "today": 1,
        "percent": 100,
        "menu": ANY,
    }


@pytest.mark.nightly
def test_an_operation_that_arrives_twice_is_saved_once(edge, as_editor):
    sent = decision(edge)
    first, second = send(as_editor, sent), send(as_editor, sent)
    assert first == second
    assert results(send(as_editor, sent, sent)) == ["saved", "saved"]
    assert log() == ["accept"]


@pytest.mark.nightly
def test_a_decision_that_arrives_again_after_it_was_undone_is_not_made_again(edge, as_editor):
    sent = decision(edge)
    send(as_editor, sent, operation("undo", of=sent["key"]))
    assert results(send(as_editor, sent)) == ["saved"]
    assert (status(edge), log()) == ("suggested", ["accept", "undo"])


@pytest.mark.nightly
@pytest.mark.parametrize(("kind", "back", "query"), [("aside", "back", "later=1"), ("ask", "unask", "waiting=1")])
def test_what_is_put_off_or_taken_back_and_arrives_again_after_the_contrary_is_not_done_again(
    edge, as_editor, kind, back, query
):
    off, on = operation(kind, edge=edge.pk), operation(back, edge=edge.pk)
    send(as_editor, off, on)
    assert results(send(as_editor, off)) == ["saved"]
    assert send(as_editor, query=query)["counts"]["left"] == 0
    send(as_editor, operation(kind, edge=edge.pk))
    assert results(send(as_editor, on)) == ["saved"]
    assert send(as_editor, query=query)["counts"]["left"] == 1


@pytest.mark.nightly
def test_an_undo_that_arrives_twice_takes_back_one_decision(project, as_editor):
    for _ in range(3):
        send(as_editor, decision(make_edge(project)))
    undo = operation("undo")
    assert results(send(as_editor, undo)) == results(send(as_editor, undo)) == ["saved"]
    assert log() == ["accept"] * 3 + ["undo"]


def test_the_undo_of_what_never_arrived_changes_nothing(edge, as_editor):
    send(as_editor, decision(edge))
    assert results(send(as_editor, operation("undo", of=str(uuid4())))) == ["saved"]
    assert (status(edge), log()) == ("accepted", ["accept"])


def test_the_undo_of_what_was_refused_leaves_the_others_decision(project, edge, as_editor):
    sent = decision(edge)
    decide_edges(project, [edge.pk], Verb.REJECT, make_member(project, username="maria"))
    answer = send(as_editor, sent, operation("undo", of=sent["key"]))
    assert results(answer) == ["refused", "saved"]
    assert "maria decided first" in answer["answers"][0]["message"]
    assert (status(edge), log()) == ("rejected", ["reject"])


@pytest.mark.nightly
def test_a_decision_that_was_made_in_another_window_can_be_undone_by_its_id(project, editor, edge, as_editor):
    sent = decision(edge)
    (made,) = decide_edges(project, [edge.pk], Verb.ACCEPT, editor).decided
    answer = send(as_editor, sent)["answers"][0]
    assert (answer["result"], answer["decision"]) == ("saved", made.pk)
    assert results(send(as_editor, operation("undo", decision=answer["decision"]))) == ["saved"]
    assert status(edge) == "suggested"


@pytest.mark.nightly
def test_one_that_is_refused_leaves_the_others_saved(project, as_editor):
    edges = [make_edge(project) for _ in range(5)]
    sent = [decision(edge) for edge in edges]
    sent[1] = decision(edges[1], anchor="—!")
    sent[3] = {**decision(edges[3]), "edge": edges[4].pk + 10_000}
    answer = send(as_editor, *sent)
    assert results(answer) == ["saved", "refused", "saved", "refused", "saved"]
    assert [status(edge) for edge in edges] == ["accepted", "suggested", "accepted", "suggested", "accepted"]
    assert "The anchor is empty" in answer["answers"][1]["message"]
    assert "not in this project" in answer["answers"][3]["message"]


@pytest.mark.nightly
def test_what_is_refused_or_asks_comes_back_as_the_card_that_it_is_now(project, edge, as_editor):
    other = make_edge(project)
    sent = decision(other)
    CandidateEdge.objects.filter(pk=other.pk).update(status=EdgeStatus.REJECTED)
    asks, refused = send(as_editor, decision(edge, anchor="cheap loans"), sent)["answers"]
    assert (asks["result"], refused["result"]) == ("asks", "refused")
    assert "None of these words is in the name" in asks["message"]
    [card] = asks["cards"]
    assert (card["edge"], card["source"], card["open"]) == (edge.pk, edge.source_id, True)
    assert 'value="cheap loans"' in card["card"]
    [card] = refused["cards"]
    assert (card["edge"], card["open"]) == (other.pk, False)
    assert refused["message"] in readable(card["card"])
    again = decision(edge, "anyway", anchor="cheap loans", warned="unrelated", warned_of="cheap loans")
    assert results(send(as_editor, again)) == ["saved"]


@pytest.mark.nightly
def test_what_is_undone_comes_back_as_an_open_card(edge, as_editor):
    sent = decision(edge)
    assert send(as_editor, sent)["answers"][0]["cards"] == []
    [answer] = send(as_editor, operation("undo", of=sent["key"]))["answers"]
    assert [(card["edge"], card["open"]) for card in answer["cards"]] == [(edge.pk, True)]


@pytest.mark.nightly
def test_an_undo_brings_back_the_whole_group(project, editor, as_editor):
    edges = [make_edge(project) for _ in range(3)]
    decide_edges(project, [edge.pk for edge in edges], Verb.ACCEPT, editor)
    [answer] = send(as_editor, operation("undo"))["answers"]
    assert {card["edge"] for card in answer["cards"]} == {edge.pk for edge in edges}


def test_nothing_to_undo_and_a_decision_of_nowhere_are_refused(project, outsider, as_editor):
    elsewhere = make_edge(outsider.memberships.get().project)
    (other,) = decide_edges(elsewhere.project, [elsewhere.pk], Verb.ACCEPT, outsider).decided
    answer = send(as_editor, operation("undo"), operation("undo", decision=other.pk))
    assert results(answer) == ["refused", "refused"]
    assert "no decision of yours left to undo" in answer["answers"][0]["message"]
    assert "not in this project" in answer["answers"][1]["message"]
    assert status(elsewhere) == "accepted"


@pytest.mark.nightly
def test_a_key_is_its_editors_own(project, edge, as_editor, client_for):
    other, sent = make_edge(project), decision(edge)
    send(as_editor, sent)
    colleague = client_for(make_member(project))
    assert results(send(colleague, operation("undo", of=sent["key"]))) == ["saved"]  # nothing of theirs has the key
    assert results(send(colleague, {**decision(other), "key": sent["key"]})) == ["saved"]
    assert (status(edge), status(other)) == ("accepted", "accepted")


@pytest.mark.nightly
def test_a_request_holds_200_operations_at_most(project, as_editor):
    sent = [operation("undo", of=str(uuid4())) for _ in range(MAX_OPERATIONS + 1)]
    assert post(as_editor, {"operations": sent}) == 400
    assert results(send(as_editor, *sent[:-1])) == ["saved"] * MAX_OPERATIONS == ["saved"] * 200


@pytest.mark.sample(16)
@pytest.mark.parametrize(
    "body",
    [
        "", "x", "null", "1", "[]", "{}", b"\xff\xfe", '{"operations": {}}', '{"operations": null}',
        '{"operations": ["x"]}', '{"operations": [[]]}', '{"operations": [null]}', '{"operations": [{}]}',
        "[" * 100_000, '{"operations": ' + "[" * 100_000, '{"operations": [{"key": ' + "9" * 5000 + "}]}",
        '{"operations": [], "x": NaN', " " * 1_000_001, '{"operations": [], "query": "a\\nb"}',
        '{"operations": [], "query": "\\ud800"}', '{"operations": [], "query": "' + "a" * 2001 + '"}',
    ],
)  # fmt: skip
def test_a_body_that_no_browser_sends_is_refused(project, as_editor, body):
    assert post(as_editor, body) == 400


@pytest.mark.sample(9)
@pytest.mark.parametrize(
    "changes",
    [
        {"key": ""}, {"key": "x"}, {"key": None}, {"key": 1}, {"kind": "accept"}, {"kind": ""}, {"edge": "x"},
        {"edge": 0}, {"edge": -1}, {"edge": 10**30}, {"edge": ""}, {"edge": [1]}, {"edge": 1.5}, {"do": "undo"},
        {"do": "accept:dofollow"}, {"do": "reject:spite"}, {"do": {"a": 1}}, {"run": "x"}, {"expected": "exported"},
        {"expected": "gone"}, {"position": 0}, {"position": 2**31}, {"anchor": "a\0b"}, {"anchor": "a" * 2001},
        {"start": -1}, {"end": 0}, {"end": 2**31}, {"where": "moon"}, {"note": "n" * 501}, {"note": "a\0b"},
        {"warned": "<script>"}, {"of": "x"}, {"query": ["a"]},
        {"kind": "undo", "decision": "x"}, {"kind": "undo", "decision": 10**30}, {"kind": "aside", "edge": ""},
    ],
)  # fmt: skip
def test_an_operation_that_no_card_sends_is_refused_and_the_others_with_it(project, edge, as_editor, changes):
    other = make_edge(project)
    assert post(as_editor, {"operations": [decision(other), {**decision(edge), **changes}]}) == 400
    assert (status(edge), status(other), log()) == ("suggested", "suggested", [])
    assert not SetAside.objects.exists()


def test_halves_of_characters_are_left_out(edge, as_editor):
    assert results(send(as_editor, decision(edge, "reject", note="too \ud83d broad"))) == ["saved"]
    assert Decision.objects.get().note == "too  broad"


def test_outsiders_get_404_and_viewers_403_and_nothing_is_written(edge, client_for, outsider, viewer):
    body = {"operations": [decision(edge), operation("aside", edge=edge.pk)]}
    assert post(client_for(outsider), body) == 404
    assert post(client_for(viewer), body) == 403
    assert (status(edge), log(), SetAside.objects.count()) == ("suggested", [], 0)


def test_a_suggestion_of_another_project_is_out_of_reach(edge, outsider, client_for):
    body = json.dumps({"operations": [decision(edge), operation("aside", edge=edge.pk)]})
    address = OPERATIONS.replace("shop", "elsewhere")
    answer = client_for(outsider).post(address, body, content_type="application/json").json()
    assert results(answer) == ["refused", "refused"]
    assert [one["cards"] for one in answer["answers"]] == [[], []]
    assert (status(edge), SetAside.objects.count()) == ("suggested", 0)


@pytest.mark.nightly
def test_the_address_only_takes_what_is_posted_with_the_token(edge, as_editor, editor):
    assert as_editor.get(OPERATIONS).url == PAGE
    assert as_editor.put(OPERATIONS).status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(editor)
    assert post(strict, {"operations": [decision(edge)]}) == 403
    assert status(edge) == "suggested"
    strict.get(PAGE)
    token = {"X-CSRFToken": strict.cookies["csrftoken"].value}
    body = json.dumps({"operations": [decision(edge)]})
    assert strict.post(OPERATIONS, body, content_type="application/json", headers=token).status_code == 200
    assert status(edge) == "accepted"


@pytest.mark.nightly
def test_hostile_words_stay_text_in_the_answer(project, as_editor):
    donor = make_page(project, title=EVIL, body=f"A {EVIL} b.")
    edge = make_edge(project, donor, make_page(project, title="Boots"), anchor=f"Boots {EVIL}", why=EVIL)
    sent = decision(edge, note=EVIL)
    send(as_editor, sent)
    undone = send(as_editor, operation("undo", of=sent["key"]))
    asks = send(as_editor, decision(edge, anchor=f"cheap loans {EVIL}"))
    assert results(asks) == ["asks"]
    for answer in (undone, asks):
        [card] = answer["answers"][0]["cards"]
        for part in ("card", "line", "head"):
            assert "<script>alert" not in card[part]
            assert "<img" not in card[part]


@pytest.mark.nightly
def test_an_operation_costs_the_same_number_of_queries_however_full_the_queue(project, as_editor):
    def queries(number: int) -> int:
        edges = [make_edge(project) for _ in range(number)]
        sent = [decision(edge) for edge in edges]
        with CaptureQueriesContext(connection) as captured:
            assert results(send(as_editor, *sent)) == ["saved"] * number
        return len(captured)

    queries(1)
    one, three = queries(1), queries(3)
    for _ in range(30):
        make_edge(project)
    assert (queries(1), queries(3)) == (one, three)


@pytest.mark.nightly
def test_the_cards_that_come_back_cost_the_same_number_of_queries_however_many(project, editor, as_editor):
    def queries(number: int) -> int:
        edges = [make_edge(project) for _ in range(number)]
        decide_edges(project, [edge.pk for edge in edges], Verb.ACCEPT, editor)
        with CaptureQueriesContext(connection) as captured:
            [answer] = send(as_editor, operation("undo"))["answers"]
        assert len(answer["cards"]) == number
        return len(captured)

    queries(2)
    assert queries(2) == queries(12)


# At the same moment, in two requests.


def read(*sent: dict[str, object]) -> list[Decide | Undo | Aside]:
    return operations_in({"operations": list(sent)}, MAX_OPERATIONS)


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("do", ["accept", "accept:ugc", "reject:outdated"])
def test_the_same_decision_twice_at_once_is_saved_once(project, do):
    editor = make_member(project)
    for _ in range(5):
        sent = read(decision(make_edge(project), do))
        answers = race(*[lambda sent=sent: carry_out(project, editor, sent)] * 2)
        assert [[one.result for one in answer] for answer in answers] == [[Result.SAVED]] * 2
    assert len(log()) == 5


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_the_same_undo_twice_at_once_takes_back_one_decision(project):
    editor = make_member(project)
    for _ in range(5):
        for _ in range(2):
            decide_edges(project, [make_edge(project).pk], Verb.ACCEPT, editor)
        before = len(log())
        sent = read(operation("undo"))
        answers = race(*[lambda sent=sent: carry_out(project, editor, sent)] * 2)
        assert [[one.result for one in answer] for answer in answers] == [[Result.SAVED]] * 2
        assert len(log()) == before + 1


@pytest.mark.django_db(transaction=True)
def test_a_decision_and_its_undo_that_overtakes_an_unfinished_request_end_undone(project):
    """The first request is still under way when the browser, which heard nothing, sends both again."""
    editor, edge = make_member(project), make_edge(project)
    accept = decision(edge)
    first, both = read(accept), read(accept, operation("undo", of=accept["key"]))
    answers = race(lambda: carry_out(project, editor, first), lambda: carry_out(project, editor, both))
    assert {one.result for answer in answers for one in answer} == {Result.SAVED}
    assert (status(edge), log()) == ("suggested", ["accept", "undo"])


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_one_key_for_two_suggestions_at_once_is_used_for_one(project):
    editor = make_member(project)
    for _ in range(5):
        one, other = decision(make_edge(project)), decision(make_edge(project))
        other["key"] = one["key"]
        race(*[lambda sent=sent: carry_out(project, editor, read(sent)) for sent in (one, other)])
        assert Decision.objects.filter(key=one["key"]).count() == 1
    assert project.edges.filter(status="accepted").count() == 5


@pytest.mark.django_db(transaction=True)
def test_a_request_that_fails_halfway_keeps_what_was_saved_before(project):
    editor, edges = make_member(project), [make_edge(project) for _ in range(2)]
    sent = read(*(decision(edge) for edge in edges))

    class Broken(Exception):
        pass

    def cut_off():
        yield sent[0]
        raise Broken

    with pytest.raises(Broken):
        carry_out(project, editor, cut_off())
    assert not transaction.get_connection().in_atomic_block
    assert [one.result for one in carry_out(project, editor, sent)] == [Result.SAVED] * 2
    assert log() == ["accept", "accept"]


@pytest.mark.nightly
def test_an_undo_takes_back_what_another_window_had_saved_under_another_key(project, editor):
    """Sent with the decision in one request, and after it with the number that the answer gave."""
    for together in (True, False):
        edge = make_edge(project)
        [first] = carry_out(project, editor, read(decision(edge)))
        twice = decision(edge)
        undo = {"key": str(uuid4()), "kind": "undo", "of": twice["key"]}
        if together:
            answers = carry_out(project, editor, [*read(twice), *read(undo)])
        else:
            [saved] = carry_out(project, editor, read(twice))
            assert saved.decision == first.decision
            answers = carry_out(project, editor, read(undo | {"decision": saved.decision.pk}))
        assert answers[-1].result == Result.SAVED
        edge.refresh_from_db()
        assert edge.status == "suggested"


@pytest.mark.nightly
def test_cards_that_the_browser_holds_come_back_where_a_decision_has_changed_them(as_editor, project, editor):
    target = make_page(project, title="Boots")
    decided, same, other, gone = (
        make_edge(project, target=page, anchor="boots")
        for page in (target, target, make_page(project), make_page(project))
    )
    decide_edges(project, [gone.pk], Verb.REJECT, editor)
    held = [same.pk, other.pk, gone.pk, "x", -1, True, 2**70]
    sent = {"query": "", "held": held, "operations": [decision(decided)]}
    answer = as_editor.post("/p/shop/queue/operations/", json.dumps(sent), content_type="application/json").json()
    assert [card["edge"] for card in answer["changed"]] == [same.pk], (
        "another acceptor's card is as it was, and one decided elsewhere keeps its place"
    )
    assert 'data-edge="' in answer["changed"][0]["card"]


@pytest.mark.nightly
def test_an_answer_says_what_the_decision_is_called(as_editor, edge):
    words = decision(edge, anchor="winter boots")
    answer = send(as_editor, words, {"key": str(uuid4()), "kind": "undo", "of": words["key"]})
    assert [one["verb"] for one in answer["answers"]] == ["Accepted with an edit", "Undone"]


@pytest.mark.nightly
def test_cards_that_may_show_an_accepted_link_come_back_with_it_and_without_it_once_it_is_undone(as_editor, project):
    """Those of the same paragraph; a link in another one changes nothing on a card."""
    body = "Dry warm socks and old boots. " + "x " * 1000 + "\nMore of wool."
    donor = make_page(project, body=body)
    decided, near, far = (
        make_edge(project, donor, anchor=words, span_start=body.index(words), span_end=body.index(words) + len(words))
        for words in ("warm socks", "old boots", "wool")
    )
    sent = {"query": "", "held": [near.pk, far.pk]}

    def changed(operation: dict[str, object]) -> dict[int, str]:
        body = json.dumps(sent | {"operations": [operation]})
        answer = as_editor.post("/p/shop/queue/operations/", body, content_type="application/json").json()
        return {card["edge"]: card["card"] for card in answer["changed"]}

    accepted = decision(decided)
    found = changed(accepted)
    assert list(found) == [near.pk]
    assert re.findall(r'class="is-linked">([^<]*)<', found[near.pk]) == ["warm", " ", "socks"]
    found = changed({"key": str(uuid4()), "kind": "undo", "of": accepted["key"]})
    assert list(found) == [near.pk]
    assert "is-linked" not in found[near.pk]
    assert changed(decision(decided, "reject")) == {}


def test_what_the_page_of_somebody_else_sends_is_refused_as_a_whole(project, client_for, editor):
    sent = {"by": editor.pk, "operations": [decision(make_edge(project))]}
    assert post(client_for(make_member(project)), sent) == 409
    assert not log()
    assert post(client_for(editor), sent) == 200
    assert log() == ["accept"]
