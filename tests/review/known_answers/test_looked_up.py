"""A card whose answer is known is a suggestion wherever its reader could look it up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from review.models import KnownReading
from review.queue.counts import queue_counts
from review.queue.filters import QueueFilter
from tests.factories import make_edge, make_member, make_page
from tests.review.known_answers.cards import followed, make_known, said
from tests.review.queue_requests import (
    AS_JSON,
    BODY,
    DECK,
    PAGE,
    cards,
    decision,
    operation,
    readable,
    send,
)

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.django_db


def left(answer: Any) -> int:
    return answer["counts"]["left"]


@pytest.mark.nightly
def test_the_number_of_what_is_left_goes_down_with_every_card_alike(project, donor, edge, known, ada, client_for):
    client = client_for(ada)
    assert queue_counts(project, QueueFilter(), ada).to_review == len(cards(client)) == 2
    assert left(send(client, said(known, "reject"))) == 1
    assert left(send(client, decision(edge, "accept"))) == 0
    assert cards(client) == {}
    page = client.get(PAGE).content.decode()
    assert "data-left>0" in page.replace("\n", "")


@pytest.mark.nightly
def test_at_the_end_of_the_list_comes_what_the_number_still_holds(project, donor, ada, client_for):
    first = followed(project, is_followed=False, source=donor)
    known = make_known(project, donor)
    client = client_for(ada)
    assert list(cards(client)) == [first.pk, known.pk]
    assert left(send(client, decision(first, "accept"))) == 1
    assert f'data-edge="{known.pk}"' in client.get(PAGE).content.decode()
    assert left(send(client, said(known))) == 0


@pytest.mark.nightly
def test_of_a_large_sample_no_more_come_up_than_the_share_of_what_is_left(project, donor, ada, client_for):
    for _ in range(9):
        make_edge(project)
        make_known(project, make_page(project, body=BODY, body_hash=1))
    assert queue_counts(project, QueueFilter(), ada).to_review == 9 + 4  # a fifth of 16


@pytest.mark.nightly
def test_after_a_reload_it_is_among_the_last_decisions_and_comes_back_with_u(project, edge, known, ada, client_for):
    client = client_for(ada)
    sent = said(known, "reject")
    send(client, sent)
    page = client.get(PAGE).content.decode()
    assert f'data-reading="{sent["key"]}"' in page
    assert 'Rejected</span>:\n    <b data-name dir="auto">warm winter boots' in page
    answer = send(client, operation("undo", of=sent["key"]))["answers"][0]
    assert [card["edge"] for card in answer["cards"]] == [known.pk]
    assert answer["cards"][0]["open"]
    assert answer["verb"] == "Undone"
    assert "data-reading=" not in client.get(PAGE).content.decode()
    send(client, said(known))
    assert client.post(f"{PAGE}undo/", {"query": ""}).status_code == 302  # without a script, what was done last
    assert KnownReading.objects.last().verb == "undo"


@pytest.mark.nightly
def test_set_aside_it_is_in_the_list_of_that_and_among_the_last(project, edge, known, ada, client_for):
    client = client_for(ada)
    send(client, operation("aside", edge=known.pk))
    assert list(cards(client, "later=1")) == [known.pk]
    counts = queue_counts(project, QueueFilter(), ada)
    assert (counts.to_review, counts.later) == (1, 1)
    page = client.get(PAGE).content.decode()
    assert f'data-edge-id="{known.pk}"' in page


@pytest.mark.nightly
def test_its_page_and_the_lists_show_what_its_reader_said_and_nobody_elses(project, edge, known, ada, client_for):
    send(client_for(ada), said(known, "reject:irrelevant"))
    other = make_edge(project, status="rejected", score=0.2)
    for user, is_reader in ((ada, True), (make_member(project), False), (make_member(project, "viewer"), False)):
        shown = client_for(user).get(f"{PAGE}{known.pk}/").content.decode()
        assert ("Rejected by ada" in readable(shown)) == is_reader
        listed = client_for(user).get(f"{PAGE}?status=rejected").content.decode()
        assert f'id="edge-{other.pk}"' in listed
        assert (f'id="edge-{known.pk}"' in listed) == is_reader
        assert f'id="edge-{known.pk}"' not in client_for(user).get(f"{PAGE}?status=accepted").content.decode()
    assert KnownReading.objects.get().key is not None


@pytest.mark.nightly
def test_in_a_long_list_of_decided_links_it_is_in_its_place(project, donor, ada, client_for):
    edges = [make_edge(project, status="accepted", score=0.99 - number / 100) for number in range(25)]
    known = make_known(project, donor, score=0.855)
    client = client_for(ada)
    send(client, said(known))
    listed = []
    after = ""
    for _ in range(2):
        page = client.get(f"{PAGE}?status=accepted&order=score&after={after}").content.decode()
        listed += [int(pk) for pk in re.findall(r'id="edge-(\d+)"', page)]
        after = (re.findall(r"after=([^&\"]+)&amp;status", page) or [""])[0]
    expected = [edge.pk for edge in edges]
    assert listed == [*expected[:14], known.pk, *expected[14:]]


@pytest.mark.nightly
def test_why_not_answers_as_of_a_suggestion(project, donor, edge, known, ada, client_for):
    client, asked = client_for(ada), {"donor": donor.url, "acceptor": known.target.url}
    page = client.get("/p/shop/why-not/", asked).content.decode()
    assert "There is a suggestion" in page
    assert f"{PAGE}{known.pk}/" in page
    assert "already links" not in page
    send(client, said(known))
    assert "it was accepted" in client.get("/p/shop/why-not/", asked).content.decode()
    send(client, operation("undo", of=str(KnownReading.objects.get().key)))
    send(client, said(known, "reject:irrelevant"))
    page = client.get("/p/shop/why-not/", asked).content.decode()
    assert "ada rejected it on" in page
    assert "already links" not in page
    project.known_share = 0
    project.save()
    assert "already links" in client.get("/p/shop/why-not/", asked).content.decode()


@pytest.mark.nightly
def test_the_page_of_the_donor_names_it_among_the_suggestions_alone(project, donor, edge, known, ada, client_for):
    for page in (donor, known.target):
        shown = readable(client_for(ada).get(f"/p/shop/pages/{page.pk}/").content.decode())
        assert shown.count("“warm winter boots”") == 1
        assert "0.850 To review" in shown
        assert "Body links out 0" in shown
    project.known_share = 0
    project.save()
    shown = readable(client_for(ada).get(f"/p/shop/pages/{donor.pk}/").content.decode())
    assert shown.count("0.850 To review") == 1  # the suggestion before it


def test_no_other_card_of_the_donor_marks_its_words(project, donor, edge, known, ada, client_for):
    assert "is-linked" not in cards(client_for(ada))[edge.pk]


@pytest.mark.nightly
def test_the_head_of_its_donor_counts_it(project, donor, edge, known, ada, client_for):
    client = client_for(ada)
    head = client.get(DECK, headers=AS_JSON).json()["cards"][0]["head"]
    assert "0 accepted of 2" in readable(head)
    send(client, said(known))
    head = client.get(DECK, headers=AS_JSON).json()["cards"][0]["head"]
    assert "1 accepted of 2" in readable(head)


@pytest.mark.nightly
def test_a_donor_that_takes_no_more_links_is_closed_for_who_said_so_and_nobody_else(
    project, donor, edge, known, ada, client_for
):
    other = make_edge(project)
    client, sent = client_for(ada), said(known, "reject:too_many")
    assert left(send(client, sent)) == 1
    assert list(cards(client)) == [other.pk]
    assert queue_counts(project, QueueFilter(), ada).to_review == 1
    assert edge.pk in cards(client_for(make_member(project)))
    assert not project.suppressions.exists()
    assert left(send(client, operation("undo", of=sent["key"]))) == 3
    assert set(cards(client)) == {edge.pk, known.pk, other.pk}


@pytest.mark.nightly
def test_a_comment_stays_on_its_card_for_who_wrote_it(project, edge, known, ada, client_for):
    send(client_for(ada), operation("comment", edge=known.pk, text="Is it @ada?"))
    assert "Is it @ada?" in cards(client_for(ada))[known.pk]
    assert "Is it @ada?" not in cards(client_for(make_member(project)))[known.pk]
