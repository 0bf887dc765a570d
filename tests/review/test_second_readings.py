"""A share of the suggestions is read by two people, the second of whom does not see the first decision."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.utils import InternalError
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from linker.models import CandidateEdge, Change, EdgeStatus
from review import overlap, undoing
from review.decisions import decide_edges
from review.models import Decision, DueReading, SecondReading, Verb
from review.queue import opinions, second_readings
from review.queue.agreement import agreement
from review.queue.counts import queue_counts
from review.queue.filters import QueueFilter
from review.rulings import Ruling, Shown
from tests.factories import make_category, make_edge, make_member, make_page, make_project
from tests.review.queue_requests import AS_JSON, DECK, PAGE, cards, decision, operation, results, send, text

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db

TEAM = f"{PAGE}team/"


@pytest.fixture
def project():
    return make_project(read_twice=20)


@pytest.fixture
def bo(project) -> User:
    return make_member(project, username="bo")


def shared(project, *, is_shared: bool = True, **fields: Any) -> CandidateEdge:
    """A suggestion that is among the share that two people read, or among the others."""
    while overlap.is_read_twice(project, (edge := make_edge(project, **fields)).pk) != is_shared:
        edge.delete()
    return edge


@pytest.fixture
def edge(project, ada) -> CandidateEdge:
    """Ada has rejected it for its words, and another is to read it."""
    edge = shared(project, anchor="warm boots")
    decide_edges(project, [edge.pk], Verb.REJECT, ada, Ruling(reason="bad_anchor"))
    return edge


def said(edge: CandidateEdge, do: str = "accept", **changes: object) -> dict[str, object]:
    """A decision on a card that looks open, whatever has become of its suggestion."""
    return decision(edge, do, expected="suggested", **changes)


def names(card: str, user: User) -> bool:
    """Whether a card says a name, but for the list of whom one can ask.

    As a whole word: the random letters of a form's token may hold any short name.
    """
    said = re.sub(r"<select.*?</select>", "", card, flags=re.DOTALL)
    return re.search(rf"\b{re.escape(user.username)}\b", said) is not None


def test_the_share_follows_from_the_ids(project):
    chosen = [pk for pk in range(1, 10_001) if overlap.is_read_twice(project, pk)]
    assert 1_850 < len(chosen) < 2_150
    project.read_twice = 5
    fewer = [pk for pk in range(1, 10_001) if overlap.is_read_twice(project, pk)]
    assert set(fewer) < set(chosen)
    project.read_twice = 0
    assert not any(overlap.is_read_twice(project, pk) for pk in range(1, 10_001))


@pytest.mark.nightly
def test_another_editor_is_offered_the_card_as_if_nobody_had_decided(project, edge, ada, bo, client_for):
    card = cards(client_for(bo))[edge.pk]
    assert 'data-state="suggested"' in card
    assert not names(card, ada)
    assert "Rejected" not in card
    assert edge.pk not in cards(client_for(ada))
    assert edge.pk not in cards(client_for(make_member(project, "viewer")))


@pytest.mark.nightly
def test_what_the_second_editor_says_is_kept_and_changes_nothing(project, edge, ada, bo, client_for):
    answer = send(client_for(bo), said(edge, "accept"))
    assert results(answer) == ["saved"]
    assert answer["answers"][0]["verb"] == "Accepted"
    reading = SecondReading.objects.get()
    assert (reading.reader, reading.first_reader, reading.verb, reading.anchor) == (bo, ada, "accept", "warm boots")
    edge.refresh_from_db()
    assert edge.status == EdgeStatus.REJECTED
    assert Decision.objects.count() == 1
    assert queue_counts(project, QueueFilter(), bo).today == 1
    assert edge.pk not in cards(client_for(bo))
    assert edge.pk not in cards(client_for(make_member(project)))  # once more, and not again


@pytest.mark.nightly
def test_what_is_sent_twice_is_kept_once(edge, bo, client_for):
    sent = said(edge, "reject:irrelevant")
    assert results(send(client_for(bo), sent)) == results(send(client_for(bo), sent)) == ["saved"]
    assert SecondReading.objects.get().reason == "irrelevant"


@pytest.mark.nightly
def test_u_takes_it_back_and_it_is_read_again(project, edge, bo, client_for):
    sent = said(edge, "reject")
    client = client_for(bo)
    taken_back = operation("undo", of=sent["key"])
    send(client, sent, taken_back)
    assert results(send(client, taken_back)) == ["saved"]
    assert SecondReading.objects.filter(verb="undo").count() == 1
    assert edge.pk in cards(client)
    assert queue_counts(project, QueueFilter(), bo).today == 0
    send(client, said(edge, "accept"))
    found = agreement(project, timezone.now() - timedelta(days=1))
    assert (found.whole.pairs, found.whole.agreed) == (1, 0)


@pytest.mark.nightly
def test_nobody_reads_the_same_suggestion_twice(project, edge, ada, bo, client_for):
    assert results(send(client_for(ada), said(edge, "accept"))) == ["refused"]
    # Bo has decided it before, has taken that back, and does not read what Ada then decides.
    other = shared(project)
    decide_edges(project, [other.pk], Verb.ACCEPT, bo)
    undoing.undo(project, bo)
    decide_edges(project, [other.pk], Verb.ACCEPT, ada)
    assert other.pk not in cards(client_for(bo))
    assert results(send(client_for(bo), said(other, "reject"))) == ["refused"]
    assert not SecondReading.objects.exists()
    first = Decision.objects.filter(user=ada).last()
    with pytest.raises(IntegrityError, match="second_reading_by_another"), transaction.atomic():
        SecondReading.objects.create(
            project=project, edge=other, first=first, first_reader=ada, reader=ada, verb="accept", anchor="x"
        )


@pytest.mark.nightly
def test_who_has_read_it_does_not_read_it_again_when_the_first_editor_decides_anew(project, edge, ada, bo, client_for):
    send(client_for(bo), said(edge, "accept"))
    undoing.undo(project, ada)
    decide_edges(project, [edge.pk], Verb.ACCEPT, ada)
    assert edge.pk not in cards(client_for(bo))
    assert edge.pk in cards(client_for(make_member(project)))


@pytest.mark.nightly
def test_what_is_read_in_two_windows_counts_once(project, edge, bo, client_for):
    client = client_for(bo)
    assert results(send(client, said(edge, "accept"), said(edge, "reject"))) == ["saved", "saved"]
    assert SecondReading.objects.get().verb == "accept"


@pytest.mark.nightly
def test_a_reading_that_arrives_again_after_it_was_taken_back_is_answered(edge, bo, client_for):
    sent = said(edge, "accept")
    again = [sent, operation("undo", of=sent["key"])]
    assert results(send(client_for(bo), *again)) == results(send(client_for(bo), *again)) == ["saved", "saved"]
    assert SecondReading.objects.count() == 2


@pytest.mark.nightly
def test_once_the_share_is_0_who_comes_second_is_told_so(project, edge, ada, bo, client_for):
    overlap.set_share(project, ada, 0)
    assert results(send(client_for(bo), said(edge, "accept"))) == ["refused"]


@pytest.mark.nightly
def test_a_request_for_an_opinion_gives_nothing_away(project, edge, ada, bo, client_for):
    answer = send(client_for(bo), operation("ask", edge=edge.pk))["answers"][0]
    assert answer["result"] == "refused"
    assert "by yourself" in answer["message"]
    [shown] = answer["cards"]
    assert 'data-state="suggested"' in shown["card"]
    assert not names(shown["card"], ada)
    page = client_for(bo).post(f"{PAGE}{edge.pk}/ask/", {"asked_of": ""}, follow=True)
    assert "decided in the meantime" not in text(page)
    assert 'data-state="suggested"' in page.content.decode()
    assert not names(page.content.decode(), ada)


@pytest.mark.nightly
def test_the_card_shows_no_comment_on_the_decision(project, ada, bo, client_for):
    edge = shared(project)
    opinions.say(project, ada, edge.pk, "The price is old.")
    decide_edges(project, [edge.pk], Verb.REJECT, ada)
    opinions.say(project, ada, edge.pk, "So I have rejected it.")
    card = cards(client_for(bo))[edge.pk]
    assert "The price is old." in card
    assert "rejected it" not in card


@pytest.mark.nightly
def test_what_is_set_aside_comes_back_in_the_list_of_that_alone(edge, bo, client_for):
    client = client_for(bo)
    send(client, operation("aside", edge=edge.pk))
    assert edge.pk not in cards(client)
    assert edge.pk in cards(client, "later=1")
    reading = said(edge, "accept")
    send(client, reading)
    assert edge.pk not in cards(client, "later=1")
    send(client, operation("undo", of=reading["key"]))
    assert edge.pk in cards(client, "later=1")
    assert edge.pk not in cards(client)


@pytest.mark.nightly
def test_a_decision_that_is_taken_back_is_read_by_nobody_else(project, edge, ada, bo, client_for):
    undoing.undo(project, ada)
    assert not DueReading.objects.exists()
    assert edge.pk in cards(client_for(bo))  # as an open suggestion
    send(client_for(bo), said(edge, "accept"))
    assert CandidateEdge.objects.get(pk=edge.pk).status == EdgeStatus.ACCEPTED
    assert not SecondReading.objects.exists()


@pytest.mark.nightly
def test_an_edited_card_is_offered_with_the_words_it_had(project, ada, bo, client_for):
    donor = make_page(project, body="Wear warm winter boots on snow.")
    edge = shared(project, source=donor, anchor="winter boots")
    words = Ruling(anchor="warm winter boots", overrules={edge.pk: ["unrelated"]})
    assert decide_edges(project, [edge.pk], Verb.EDIT, ada, words).decided
    card = cards(client_for(bo))[edge.pk]
    assert 'value="winter boots"' in card
    assert 'value="warm winter boots"' not in card


def test_only_single_decisions_on_the_share_are_read_again(project, ada):
    others = [shared(project, is_shared=False), shared(project), shared(project)]
    decide_edges(project, [others[0].pk], Verb.ACCEPT, ada)
    decide_edges(project, [edge.pk for edge in others[1:]], Verb.REJECT, ada)
    assert not DueReading.objects.exists()


@pytest.mark.nightly
def test_the_card_comes_in_the_lists_that_would_have_held_it(project, ada, bo, client_for):
    tents, boots = (make_category(project, name) for name in ("Tents", "Boots"))
    edge = shared(project, source=make_page(project, category=tents))
    for _ in range(3):
        make_edge(project, make_page(project, category=boots))
    decide_edges(project, [edge.pk], Verb.ACCEPT, ada)
    assert edge.pk in cards(client_for(bo), f"category={tents.pk}")
    assert edge.pk not in cards(client_for(bo), f"category={boots.pk}")
    assert edge.pk not in cards(client_for(bo), "status=accepted&order=score&later=1")


@pytest.mark.nightly
def test_while_a_list_goes_on_no_more_than_the_share_is_mixed_in(project, ada, bo, client_for):
    due = [shared(project) for _ in range(6)]
    for edge in due:
        decide_edges(project, [edge.pk], Verb.REJECT, ada)
    for number in range(25):
        make_edge(project, score=0.9 - number / 100)
    found = list(cards(client_for(bo)))
    assert len(found) == 20 + 4
    assert found[0] not in {edge.pk for edge in due}


@pytest.mark.nightly
def test_when_the_list_is_empty_the_page_opens_with_what_is_to_be_read(edge, bo, ada, client_for):
    assert f'data-edge="{edge.pk}"' in client_for(bo).get(PAGE).content.decode()
    assert f'data-edge="{edge.pk}"' not in client_for(ada).get(PAGE).content.decode()


@pytest.mark.nightly
def test_without_a_script_it_is_kept_as_well(edge, bo, client_for):
    sent = {name: value for name, value in said(edge, "reject").items() if name not in ("key", "kind", "edge")}
    assert client_for(bo).post(f"{PAGE}{edge.pk}/decide/", sent).status_code == 302
    assert SecondReading.objects.get().verb == "reject"


def test_a_card_that_is_fetched_by_itself_shows_no_decision_either(edge, ada, bo, client_for):
    [card] = client_for(bo).get(f"{PAGE}{edge.pk}/", headers=AS_JSON).json()["cards"]
    assert card["open"]
    assert not names(card["card"], ada)


@pytest.mark.nightly
def test_an_address_that_names_the_card_opens_it_as_if_nobody_had_decided(edge, ada, bo, client_for):
    page = client_for(bo).get(f"{PAGE}?at={edge.pk}").content.decode()
    assert f'data-edge="{edge.pk}"' in page
    assert not names(page, ada)


def test_who_decides_on_a_card_that_another_has_decided_meanwhile_has_read_it_too(project, ada, bo, client_for):
    edge = shared(project)
    decide_edges(project, [edge.pk], Verb.ACCEPT, ada)
    third = make_member(project, username="cy")
    for user in (bo, third):
        assert second_readings.take(project, user, edge.pk, Verb.REJECT, Ruling(), Shown(), uuid4())
    assert SecondReading.objects.count() == 2


def test_second_readings_are_never_changed_or_deleted(edge, bo, client_for):
    send(client_for(bo), said(edge))
    for change in (lambda rows: rows.update(verb="reject"), lambda rows: rows.delete()):
        with pytest.raises((IntegrityError, InternalError), match="append-only"), transaction.atomic():
            change(SecondReading.objects.all())


@pytest.mark.nightly
def test_a_manager_sets_the_share_which_is_logged_and_told_to_the_team(project, manager, bo, client_for):
    project.read_twice = 0
    project.save()
    assert "read by two people" not in client_for(bo).get(PAGE).content.decode()
    assert client_for(manager).post(f"{TEAM}read-twice/", {"percent": 5}).status_code == 302
    project.refresh_from_db()
    assert project.read_twice == 5
    assert "5% of the suggestions are read by two people" in client_for(bo).get(PAGE).content.decode()
    change = Change.objects.get(subject="Suggestions that two people read")
    assert (change.user, change.before, change.after) == (manager, {"percent": 0}, {"percent": 5})
    refused = client_for(manager).post(f"{TEAM}read-twice/", {"percent": 21})
    assert refused.status_code == 422
    assert client_for(bo).post(f"{TEAM}read-twice/", {"percent": 5}).status_code == 403


@pytest.mark.nightly
def test_the_team_page_names_both_answers_where_they_differ(project, edge, bo, manager, client_for):
    send(client_for(bo), said(edge, "accept"))
    page = client_for(manager).get(TEAM).content.decode()
    assert "1 suggestion was read by two people" in page
    assert f"{PAGE}{edge.pk}/" in page
    assert "Rejected (poor anchor)" in page


@pytest.mark.nightly
def test_the_deck_and_the_team_page_ask_as_much_for_many_as_for_few(project, ada, bo, manager, client_for):
    def more(number: int) -> None:
        for _ in range(number):
            edge = shared(project)
            decide_edges(project, [edge.pk], Verb.ACCEPT, ada)
            second_readings.take(project, manager, edge.pk, Verb.REJECT, Ruling(), Shown())
            decide_edges(project, [shared(project).pk], Verb.REJECT, ada)

    def asked() -> list[int]:
        numbers = []
        for client, address in ((client_for(bo), DECK), (client_for(manager), TEAM), (client_for(bo), PAGE)):
            with CaptureQueriesContext(connection) as queries:
                assert client.get(address, headers=AS_JSON).status_code == 200
            numbers.append(len(queries))
        return numbers

    more(2)
    asked()
    few = asked()
    more(10)
    assert asked() == few


# ------------------------------------------------------------------------------------------- giving nothing away


@pytest.mark.nightly
def test_why_not_and_the_page_of_the_donor_call_it_open(project, ada, bo, client_for):
    edge = shared(project, source=make_page(project, body="Wear warm boots.", category=make_category(project, "Tips")))
    decide_edges(project, [edge.pk], Verb.REJECT, ada, Ruling(reason="wrong_target"))
    asked = {"donor": edge.source.url, "acceptor": edge.target.url}

    def pages(user: User) -> tuple[str, str]:
        client = client_for(user)
        return text(client.get("/p/shop/why-not/", asked)), text(client.get(f"/p/shop/pages/{edge.source_id}/"))

    why, page = pages(bo)
    assert "There is a suggestion" in why
    assert "ada" not in why
    assert "To review" in page
    assert "Rejected" not in page
    why, page = pages(ada)
    assert "ada rejected it on" in why
    assert "Rejected" in page
    send(client_for(bo), said(edge, "accept"))
    assert "ada rejected it on" in pages(bo)[0]  # who has read it may know


@pytest.mark.nightly
def test_the_lists_of_decided_links_leave_it_out_until_it_is_read(project, edge, ada, bo, client_for):
    viewer = make_member(project, "viewer")

    def listed(user: User, address: str) -> bool:
        return f"{PAGE}{edge.pk}/" in client_for(user).get(address).content.decode()

    for address in (f"{PAGE}?status=rejected", f"{PAGE}?status=all", f"{PAGE}suppressed/"):
        assert [listed(user, address) for user in (ada, bo, viewer)] == [True, False, True], address
    assert f"\n{edge.pk}," not in client_for(bo).get(f"{PAGE}sheet.csv?status=rejected").getvalue().decode()
    send(client_for(bo), said(edge, "accept"))
    assert listed(bo, f"{PAGE}?status=rejected")


@pytest.mark.nightly
def test_after_a_reload_it_is_among_the_last_decisions_and_comes_back_with_u(project, edge, bo, client_for):
    client, sent = client_for(bo), said(edge, "accept")
    send(client, sent)
    page = client.get(PAGE).content.decode()
    assert f'data-reading="{sent["key"]}"' in page
    answer = send(client, operation("undo", of=sent["key"]))["answers"][0]
    assert [(card["edge"], card["open"]) for card in answer["cards"]] == [(edge.pk, True)]
    assert f'data-reading="{sent["key"]}"' not in client.get(PAGE).content.decode()


@pytest.mark.nightly
def test_the_number_of_what_is_left_goes_down_with_it_as_with_any_card(project, edge, bo, client_for):
    make_edge(project)
    client = client_for(bo)
    assert len(cards(client)) == 2
    assert queue_counts(project, QueueFilter(), bo).to_review == 2
    assert send(client, said(edge, "accept"))["counts"]["left"] == 1
