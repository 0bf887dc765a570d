"""Requests for an opinion, and comments: who may, what they do to the lists, and how they are answered."""

from __future__ import annotations

import html
import json
import re
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from linker.errors import UserError
from linker.models import CandidateEdge, EdgeStatus
from review import undoing
from review.decisions import Verb, decide_edges
from review.models import Comment, OpinionRequest, Presence, SetAside
from review.queue import opinions, presence, selectors
from review.queue.counts import queue_counts
from review.queue.filters import ExportFilter, QueueFilter
from tests.factories import make_edge, make_member, make_project, make_user

pytestmark = pytest.mark.django_db

PAGE = "/p/shop/queue/"
ASKED = QueueFilter(asked=True)
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


@pytest.fixture
def edge(project) -> CandidateEdge:
    return make_edge(project, score=0.9)


@pytest.fixture
def maria(project):
    return make_member(project, "manager", username="Maria")


@pytest.fixture
def as_editor(client_for, editor):
    return client_for(editor)


def text(response) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def send(client, *operations):
    """What the server answers to some operations from the browser."""
    body = {"query": "", "operations": [{"key": str(uuid4()), **operation} for operation in operations]}
    answer = client.post(f"{PAGE}operations/", json.dumps(body), content_type="application/json")
    assert answer.status_code == 200, answer.content
    return answer.json()


def listed(project, chosen, user) -> list[int]:
    return [line.edge.pk for line in selectors.lines(project, chosen, user).lines]


def counts(project, user):
    found = queue_counts(project, QueueFilter(), user)
    return found.to_review, found.waiting, found.asked


# ------------------------------------------------------------------------------------------------------- the lists


def test_a_suggestion_that_is_asked_about_leaves_the_list_of_who_asks_and_no_others(project, editor, maria, edge):
    other = make_edge(project, score=0.8)
    opinions.ask(project, editor, edge.pk)
    assert listed(project, QueueFilter(), editor) == [other.pk]
    assert listed(project, QueueFilter(), maria) == [edge.pk, other.pk]
    assert counts(project, editor) == (1, 1, 0)
    assert counts(project, maria) == (2, 0, 1)


def test_asked_of_me_lists_what_is_asked_of_me_or_of_anybody_and_is_still_open(project, editor, maria):
    of_her, of_anybody, of_other, answered, by_her, _ = edges = [
        make_edge(project, score=0.9 - n / 100) for n in range(6)
    ]
    other = make_member(project)
    opinions.ask(project, editor, of_her.pk, "Maria")
    opinions.ask(project, editor, of_anybody.pk)
    opinions.ask(project, editor, of_other.pk, other.get_username())
    opinions.ask(project, editor, answered.pk, "Maria")
    opinions.say(project, maria, answered.pk, "Take it.")
    opinions.ask(project, maria, by_her.pk)
    assert listed(project, ASKED, maria) == [of_her.pk, of_anybody.pk]
    assert counts(project, maria) == (5, 1, 2)
    assert listed(project, ASKED, other) == [of_anybody.pk, of_other.pk, by_her.pk]
    assert listed(project, ASKED, editor) == [by_her.pk]
    assert len(edges) == 6


def test_what_is_asked_of_two_editors_by_one_another_is_in_the_lists_of_both(project, editor, maria, edge):
    opinions.ask(project, editor, edge.pk, "Maria")
    opinions.ask(project, maria, edge.pk, editor.get_username())
    assert listed(project, ASKED, editor) == listed(project, ASKED, maria) == [edge.pk]


def test_what_is_asked_and_set_aside_leaves_the_list(project, editor, maria, edge):
    opinions.ask(project, editor, edge.pk)
    SetAside.objects.create(project=project, user=maria, edge=edge)
    assert listed(project, ASKED, maria) == []
    assert listed(project, QueueFilter(asked=True, later=True), maria) == [edge.pk]


@pytest.mark.nightly
def test_the_menu_counts_what_is_asked_and_a_chip_removes_the_filter(client_for, project, editor, maria, edge):
    make_edge(project)
    opinions.ask(project, editor, edge.pk)
    as_maria = client_for(maria)
    assert "Asked of me 1" in text(as_maria.get(PAGE))
    page = as_maria.get(f"{PAGE}?asked=1")
    assert f'id="edge-{edge.pk}"' in page.content.decode()
    assert "Remove the filter: Asked of me" in " ".join(text(page).split()).replace("filter :", "filter:")
    assert list(page.context["lines"]) == []


def test_the_last_suggestion_that_is_asked_about_leaves_a_list_that_says_so(as_editor, project, editor, edge):
    opinions.ask(project, editor, edge.pk)
    assert "Asked by me 1" in text(as_editor.get(PAGE))


@pytest.mark.parametrize("name", ["asked", "waiting"])
def test_what_is_asked_does_not_narrow_an_export(name):
    assert ExportFilter.from_query({name: "1"}).to_dict() == {}
    assert ExportFilter.from_query({name: "1"}).ignored == ()
    assert QueueFilter.from_query({name: "1"}).to_query() == f"{name}=1"


@pytest.mark.nightly
def test_asked_by_me_lists_what_i_wait_for_until_it_is_answered(as_editor, project, editor, maria):
    waiting, answered, of_me, _ = (make_edge(project, score=0.9 - n / 100) for n in range(4))
    assert "Asked by me" not in text(as_editor.get(PAGE)).partition("Nothing left")[0]
    for edge in (waiting, answered):
        opinions.ask(project, editor, edge.pk, "Maria")
    opinions.say(project, maria, answered.pk, "Take it.")
    opinions.ask(project, maria, of_me.pk)
    assert "Asked by me 1" in text(as_editor.get(PAGE))
    page = as_editor.get(f"{PAGE}?waiting=1")
    assert f'id="edge-{waiting.pk}"' in page.content.decode()
    assert list(page.context["lines"]) == []
    assert '<b class="num" data-left>1</b>' in page.content.decode()
    assert "Remove the filter: Asked by me" in text(page)
    assert listed(project, QueueFilter(waiting=True), maria) == [of_me.pk]
    sent = {"key": str(uuid4()), "kind": "unask", "edge": waiting.pk}
    assert send(as_editor, sent)["answers"][0]["result"] == "saved"
    assert listed(project, QueueFilter(waiting=True), editor) == []


# ----------------------------------------------------------------------------------------------------------- answers


@pytest.mark.parametrize("verb", [Verb.ACCEPT, Verb.REJECT])
def test_a_decision_answers_every_request_and_undoing_it_opens_them_again(project, editor, maria, edge, verb):
    opinions.ask(project, editor, edge.pk, "Maria")
    opinions.ask(project, make_member(project), edge.pk)
    (decision,) = decide_edges(project, [edge.pk, make_edge(project).pk], verb, maria).decided[:1]
    answered = OpinionRequest.objects.values_list("answered_by", "decision")
    assert list(answered) == [(maria.pk, decision.pk)] * 2
    undoing.undo(project, maria)
    assert [request.answered_at for request in OpinionRequest.objects.all()] == [None, None]


def test_a_decision_leaves_requests_on_other_suggestions_open(project, editor, maria, edge):
    opinions.ask(project, editor, edge.pk)
    decide_edges(project, [make_edge(project).pk], Verb.ACCEPT, maria)
    assert listed(project, ASKED, maria) == [edge.pk]


def test_a_comment_of_somebody_who_was_asked_brings_the_suggestion_back(project, editor, maria, edge):
    other = make_member(project)
    opinions.ask(project, editor, edge.pk, "Maria")
    opinions.say(project, other, edge.pk, "I would like to know as well.")
    opinions.say(project, editor, edge.pk, "Please.")
    assert listed(project, QueueFilter(), editor) == []
    opinions.say(project, maria, edge.pk, "Take it.")
    assert listed(project, QueueFilter(), editor) == [edge.pk]
    assert OpinionRequest.objects.get().answered_by == maria


def test_whoever_has_an_answer_can_ask_again(project, editor, maria, edge):
    opinions.ask(project, editor, edge.pk, "Maria")
    opinions.say(project, maria, edge.pk, "Why?")
    opinions.ask(project, editor, edge.pk, "Maria", "Because.")
    assert listed(project, ASKED, maria) == [edge.pk]


# --------------------------------------------------------------------------------------------------- who can be asked


def test_only_members_who_decide_can_be_asked(project, editor, maria, viewer):
    make_member(make_project(slug="elsewhere"), username="stranger")
    gone = make_member(project)
    gone.is_active = False
    gone.save()
    assert list(opinions.colleagues(project, editor.pk)) == [maria]


@pytest.mark.parametrize("who", ["the viewer", "the editor", "stranger", "nobody of this name"])
def test_who_cannot_be_asked_is_named_and_nothing_is_kept(project, editor, viewer, edge, who):
    make_user("stranger")
    name = {"the viewer": viewer.get_username(), "the editor": editor.get_username()}.get(who, who)
    with pytest.raises(UserError, match=f"{name} cannot be asked"):
        opinions.ask(project, editor, edge.pk, name, "Well?")
    assert not OpinionRequest.objects.exists()
    assert not Comment.objects.exists()


def test_one_request_of_an_editor_on_a_suggestion_is_open_at_a_time(project, editor, edge):
    opinions.ask(project, editor, edge.pk)
    with pytest.raises(UserError, match="already"):
        opinions.ask(project, editor, edge.pk)
    with pytest.raises(IntegrityError, match="opinion_asked_once"), transaction.atomic():
        OpinionRequest.objects.create(project=project, edge=edge, asked_by=editor)


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        (lambda editor: {"asked_of": editor}, "opinion_not_of_oneself"),
        (lambda editor: {"answered_by": editor}, "opinion_open_has_no_answer"),
    ],
)
def test_the_database_refuses_requests_that_make_no_sense(project, editor, edge, fields, constraint):
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        OpinionRequest.objects.create(project=project, edge=edge, asked_by=editor, **fields(editor))


def test_nobody_is_asked_about_what_has_been_decided(project, editor, maria, edge):
    decide_edges(project, [edge.pk], Verb.REJECT, maria)
    with pytest.raises(UserError, match="has been decided"):
        opinions.ask(project, editor, edge.pk)


# ------------------------------------------------------------------------------------------------------- operations


def test_the_browser_asks_comments_and_takes_back(as_editor, project, editor, maria, edge):
    ask = {"kind": "ask", "edge": edge.pk, "asked_of": "Maria", "text": "Well?"}
    comment = {"kind": "comment", "edge": edge.pk, "text": "I am not sure."}
    answer = send(as_editor, ask, comment)
    assert [one["result"] for one in answer["answers"]] == ["saved", "saved"]
    assert answer["counts"]["left"] == 0
    assert list(Comment.objects.values_list("text", flat=True)) == ["Well?", "I am not sure."]
    assert OpinionRequest.objects.get().asked_of == maria
    assert send(as_editor, {"kind": "unask", "edge": edge.pk})["counts"]["left"] == 1
    assert not OpinionRequest.objects.exists()
    assert Comment.objects.get().text == "I am not sure."


@pytest.mark.parametrize(
    "operation", [{"kind": "ask", "asked_of": "", "text": "Well?"}, {"kind": "comment", "text": "Well?"}]
)
def test_an_operation_that_arrives_twice_is_carried_out_once(as_editor, edge, operation):
    sent = {"key": str(uuid4()), "edge": edge.pk, **operation}
    for _ in range(2):
        assert [one["result"] for one in send(as_editor, sent, sent)["answers"]] == ["saved", "saved"]
    assert Comment.objects.count() == 1
    assert OpinionRequest.objects.count() == (operation["kind"] == "ask")


def test_what_cannot_be_asked_is_refused_with_the_card(as_editor, project, maria, edge):
    decide_edges(project, [edge.pk], Verb.REJECT, maria)
    (answer,) = send(as_editor, {"kind": "ask", "edge": edge.pk})["answers"]
    assert answer["result"] == "refused"
    assert "has been decided" in answer["message"]
    assert [card["edge"] for card in answer["cards"]] == [edge.pk]


@pytest.mark.parametrize(
    "fields", [{"kind": "ask", "asked_of": "x" * 151}, {"kind": "comment"}, {"kind": "comment", "text": "x" * 2001}]
)
def test_a_malformed_operation_is_refused_as_a_whole(as_editor, edge, fields):
    body = {"operations": [{"key": str(uuid4()), "edge": edge.pk, **fields}]}
    assert as_editor.post(f"{PAGE}operations/", json.dumps(body), content_type="application/json").status_code == 400


@pytest.mark.parametrize("kind", ["ask", "unask", "comment"])
def test_a_suggestion_of_another_project_is_not_touched(as_editor, project, edge, kind):
    elsewhere = make_edge(make_project(slug="elsewhere"))
    send(as_editor, {"kind": kind, "edge": elsewhere.pk, "text": "Well?"})
    assert not Comment.objects.exists()
    assert not OpinionRequest.objects.exists()


# --------------------------------------------------------------------------------------------------- without a script


@pytest.mark.nightly
def test_a_form_asks_and_goes_on_to_the_next(as_editor, project, editor, maria, edge):
    other = make_edge(project, score=0.8)
    sent = {"asked_of": "Maria", "text": "Well?", "query": "order=score"}
    answer = as_editor.post(f"{PAGE}{edge.pk}/ask/", sent, follow=True)
    assert answer.redirect_chain == [(f"{PAGE}?order=score&at={other.pk}", 302)]
    assert "You asked Maria for an opinion." in text(answer)
    assert "Opinion asked by" not in text(answer)
    card = as_editor.get(f"{PAGE}{edge.pk}/")
    assert f"Opinion asked by {editor.get_username()} : They ask Maria." in text(card)
    as_editor.post(f"{PAGE}{edge.pk}/ask/", {"back": "1"})
    assert not OpinionRequest.objects.exists()


def test_a_form_that_cannot_be_carried_out_says_why_beside_the_card(as_editor, edge):
    answer = as_editor.post(f"{PAGE}{edge.pk}/ask/", {"asked_of": "Zoe"}, follow=True)
    assert answer.redirect_chain == [(f"{PAGE}{edge.pk}/", 302)]
    assert "Zoe cannot be asked" in text(answer)


@pytest.mark.nightly
def test_a_form_comments_and_shows_the_card_with_the_comment(as_editor, editor, edge):
    answer = as_editor.post(f"{PAGE}{edge.pk}/comment/", {"text": " I would take it. "}, follow=True)
    assert "Comments 1" in text(answer)
    assert "I would take it." in text(answer)
    assert editor.get_username() in text(answer)
    assert as_editor.post(f"{PAGE}{edge.pk}/comment/", {"text": "  "}).status_code == 400


@pytest.mark.parametrize(("who", "status"), [("viewer", 403), ("outsider", 404)])
def test_viewers_and_outsiders_neither_ask_nor_comment(request, client_for, edge, who, status):
    client = client_for(request.getfixturevalue(who))
    for do in ("ask", "comment"):
        assert client.post(f"{PAGE}{edge.pk}/{do}/", {"text": "Well?"}).status_code == status
    body = json.dumps({"operations": [{"key": str(uuid4()), "kind": "ask", "edge": edge.pk}]})
    assert client.post(f"{PAGE}operations/", body, content_type="application/json").status_code == status
    assert not Comment.objects.exists()


def test_a_viewer_reads_comments_and_has_no_form(client_for, project, editor, viewer, edge):
    opinions.say(project, editor, edge.pk, "I would take it.")
    page = client_for(viewer).get(f"{PAGE}{edge.pk}/")
    assert "I would take it." in text(page)
    assert "data-comment-form" not in page.content.decode()
    assert "data-ask" not in page.content.decode()


def test_an_edge_of_another_project_is_not_found(as_editor, project):
    elsewhere = make_edge(make_project(slug="elsewhere"))
    for do in ("ask", "comment"):
        assert as_editor.post(f"{PAGE}{elsewhere.pk}/{do}/", {"text": "Well?"}).status_code == 404


# ----------------------------------------------------------------------------------------------- comments on a card


def test_hostile_comments_stay_text(as_editor, project, editor, edge):
    opinions.ask(project, make_member(project), edge.pk, text=f"{EVIL} @{editor.get_username()}")
    content = as_editor.get(PAGE).content.decode()
    assert "alert(1)" in content
    assert "<script>alert" not in content
    assert "<img" not in content


@pytest.mark.parametrize(
    ("said", "marked"),
    [
        ("@Maria, please", ["@Maria"]),
        ("Ask @maria.", ["@maria"]),
        ("@MARIA and @maria", ["@MARIA", "@maria"]),
        ("@stranger and @mariana", []),
        ("write to anna@maria", []),
        ("@", []),
        ("@zoe.k. and (@Zoe.K)", ["@zoe.k", "@Zoe.K"]),
    ],
)
def test_members_are_mentioned_in_capital_or_small_letters_and_others_stay_text(
    project, editor, maria, edge, said, marked
):
    make_member(project, "viewer", username="zoe.k")
    make_user("stranger")
    comment = opinions.say(project, editor, edge.pk, said)
    shown = opinions.with_mentions(comment)
    assert re.findall(r'<b class="mention">(.*?)</b>', shown) == marked
    assert html.unescape(re.sub(r"<[^>]+>", "", shown)) == said
    assert {one.get_username().lower() for one in comment.mentions.all()} == {name[1:].lower() for name in marked}


@pytest.mark.nightly
def test_cards_with_comments_and_requests_cost_no_more_queries_than_one(
    project, editor, maria, django_assert_num_queries, django_assert_max_num_queries
):
    def ask_about(number: int) -> list[int]:
        edges = [make_edge(project).pk for _ in range(number)]
        for pk in edges:
            opinions.ask(project, editor, pk, "Maria", "What do you say, @maria?")
            opinions.say(project, editor, pk, "@Maria?")
        return edges

    def read(edges: list[int]) -> None:
        for card in selectors.cards_of(project, edges):
            assert [opinions.with_mentions(comment) for comment in card.comments][1] == '<b class="mention">@Maria</b>?'
            assert card.signs[0].text == "They ask Maria."

    one, many = ask_about(1), ask_about(5)
    with django_assert_max_num_queries(50) as captured:
        read(one)
    with django_assert_num_queries(len(captured)):
        read(many)


def test_a_project_goes_with_its_comments_and_requests(project, editor, maria, edge):
    opinions.ask(project, editor, edge.pk, "Maria", "@maria?")
    assert edge.status == EdgeStatus.SUGGESTED
    edge.delete()
    assert not Comment.objects.exists()
    assert not OpinionRequest.objects.exists()


# --------------------------------------------------------------------------------------- who looks at the same card


def looks_at(client, edge) -> list[str]:
    return client.post(f"{PAGE}{edge.pk}/presence/").json()["names"]


def test_editors_with_the_same_card_open_learn_of_one_another(client_for, project, editor, maria, edge):
    other = make_edge(project)
    as_editor, as_maria = client_for(editor), client_for(maria)
    assert looks_at(as_editor, edge) == []
    assert looks_at(as_maria, edge) == [editor.get_username()]
    assert looks_at(as_editor, edge) == ["Maria"]
    assert looks_at(as_editor, other) == []
    assert looks_at(as_maria, edge) == []
    assert Presence.objects.count() == 2


def test_a_card_that_was_open_long_ago_is_not(project, editor, maria, edge):
    presence.look(editor, edge)
    Presence.objects.update(at=timezone.now() - presence.COUNTS_FOR)
    assert presence.look(maria, edge) == []


@pytest.mark.parametrize(("who", "status"), [("viewer", 403), ("outsider", 404)])
def test_viewers_and_outsiders_learn_nothing_of_who_looks(request, client_for, edge, who, status):
    assert client_for(request.getfixturevalue(who)).post(f"{PAGE}{edge.pk}/presence/").status_code == status
    assert not Presence.objects.exists()


def test_nobody_is_seen_at_a_card_of_another_project(as_editor, project):
    elsewhere = make_edge(make_project(slug="elsewhere"))
    assert as_editor.post(f"{PAGE}{elsewhere.pk}/presence/").status_code == 404
