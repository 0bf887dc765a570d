"""Links that the site's own editors made come among the suggestions as if they were not there."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.utils import InternalError
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from linker.matching.tiers import retier
from linker.models import (
    CandidateEdge,
    Change,
    EdgeCount,
    ExistingLink,
    KnownAnswer,
    SensitiveRule,
    SensitiveState,
)
from linker.storage.edge_counts import differences
from review.models import Comment, Decision, KnownReading, OpinionRequest, SetAside
from review.queue import known_cards, known_rates
from review.queue.counts import queue_counts
from review.queue.filters import QueueFilter
from tests.factories import make_edge, make_link, make_member, make_page, make_project
from tests.review.known_answers.cards import followed, make_known, said
from tests.review.queue_requests import (
    BODY,
    PAGE,
    cards,
    excerpts,
    operation,
    readable,
    results,
    send,
    text,
)

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.django_db

TEAM = f"{PAGE}team/"


def without_secrets(card: str) -> str:
    """The card without what differs with every request, and without the place in the list that a decision keeps."""
    return re.sub(r'name="(csrfmiddlewaretoken|position)" value="[^"]*"', "", card)


def test_behind_which_suggestions_one_comes_follows_from_their_ids(project):
    chosen = {pk for pk in range(1, 10_001) if known_cards.is_behind(project, pk)}
    assert 1_850 < len(chosen) < 2_150
    project.known_share = 5
    fewer = {pk for pk in range(1, 10_001) if known_cards.is_behind(project, pk)}
    assert fewer < chosen
    project.known_share = 0
    assert not any(known_cards.is_behind(project, pk) for pk in range(1, 10_001))


@pytest.mark.nightly
def test_it_comes_behind_its_suggestion_for_those_who_decide(project, edge, known, ada, client_for):
    assert list(cards(client_for(ada))) == [edge.pk, known.pk]
    assert list(cards(client_for(make_member(project, "viewer")))) == [edge.pk]


def test_with_a_share_of_0_none_comes(project, edge, known, ada, client_for):
    project.known_share = 0
    project.save()
    assert list(cards(client_for(ada))) == [edge.pk]


@pytest.mark.nightly
def test_the_card_has_all_that_another_has_and_no_word_of_the_link(project, edge, known, ada, client_for):
    card = cards(client_for(ada))[known.pk]
    assert excerpts(card) == ["Warm feet The day is long. Wear [warm winter boots] on snow. Dry them at night."]
    assert "is-linked" not in card
    assert "links to this page already" not in card
    assert 'data-state="suggested"' in card
    assert "Both are about boots." in card


@pytest.mark.nightly
def test_a_suggestion_of_the_same_values_has_the_same_card_to_the_letter(project, donor, edge, known, ada, client_for):
    client = client_for(ada)
    card = cards(client)[known.pk]
    ExistingLink.objects.all().delete()
    same = ["generators", "ranked_by", "level", "similarity", "quantile", "why", "tier", "placement", "rel"]
    same += ["span_start", "span_end", "anchor_source", "anchor_alternatives", "run", "score", "anchor"]
    values = {name: getattr(known, name) for name in same}
    KnownAnswer.objects.all().delete()
    make_edge(project, donor, known.target, id=known.pk, **values)
    assert without_secrets(cards(client)[known.pk]) == without_secrets(card)


@pytest.mark.nightly
def test_its_page_of_pages_like_it_opens_as_any_other(project, donor, edge, known, ada, client_for):
    client = client_for(ada)
    for one in (edge, known):
        page = client.get(f"/p/{project.slug}/queue/{one.pk}/alike/")
        assert page.status_code == 200
        assert f"?at={one.pk}" in page.content.decode()  # back to the card
    assert client.get(f"/p/{project.slug}/queue/{known.pk + 10**6}/alike/").status_code == 404


def test_another_link_in_the_paragraph_is_marked_as_on_any_card(project, donor, edge, known, ada, client_for):
    make_link(donor, make_page(project), "night")
    assert "is-linked" in cards(client_for(ada))[known.pk]


@pytest.mark.nightly
def test_in_a_list_by_donor_it_does_not_part_a_group(project, donor, edge, ada, client_for):
    other = make_page(project, body=BODY)
    other.refresh_from_db()
    make_edge(project, other, score=0.1)
    known = make_known(project, other)
    last = make_edge(project, donor, score=0.84)
    assert list(cards(client_for(ada)))[:3] == [edge.pk, last.pk, known.pk]


@pytest.mark.nightly
def test_it_comes_in_the_lists_that_would_have_held_it(project, donor, edge, known, ada, client_for):
    client = client_for(ada)
    held = ("text=winter", f"category={donor.category_id}", f"donor={donor.pk}", f"tier={known.tier_id}", "order=score")
    for query in held:
        assert known.pk in cards(client, query), query
    others = ("status=all", "later=1", "asked=1", "sensitive=only", f"acceptor={edge.target_id}")
    for query in (*others, "probability=90", "generator=nearest", "placement=gap"):
        assert known.pk not in cards(client, query), query


@pytest.mark.nightly
@pytest.mark.parametrize("what", ["link", "text", "acceptor", "suggested", "stale", "sensitive", "tier"])
def test_it_is_not_shown_where_the_answer_is_known_no_more(project, donor, edge, known, ada, client_for, what):
    gone = timezone.now()
    if what == "link":
        ExistingLink.objects.filter(target=known.target).update(missing_since=gone)
    elif what == "text":
        donor.body = donor.body.replace("snow", "ice")
        donor.save()
    elif what == "acceptor":
        type(donor).objects.filter(pk=known.target_id).update(missing_since=gone)
    elif what == "suggested":
        make_edge(project, donor, known.target, status="exported")
    elif what == "stale":
        KnownAnswer.objects.update(stale=True)
    elif what == "sensitive":
        SensitiveRule.objects.create(
            project=project, kind="medical", category=donor.category, state=SensitiveState.CONFIRMED
        )
    else:
        KnownAnswer.objects.update(tier=None)
    assert known.pk not in cards(client_for(ada))


@pytest.mark.nightly
def test_what_is_said_is_kept_by_itself_and_changes_nothing_else(project, edge, known, ada, client_for):
    before = EdgeCount.objects.count(), CandidateEdge.objects.values_list("status", "updated_at").get()
    assert results(send(client_for(ada), said(known, "reject:irrelevant"))) == ["saved"]
    reading = KnownReading.objects.get()
    assert (reading.reader, reading.verb, reading.reason) == (ada, "reject", "irrelevant")
    assert known.pk not in cards(client_for(ada))
    assert known.pk in cards(client_for(make_member(project)))
    assert not Decision.objects.exists()
    assert not project.suppressions.exists()
    assert (EdgeCount.objects.count(), CandidateEdge.objects.values_list("status", "updated_at").get()) == before
    assert differences(project) == []
    assert queue_counts(project, QueueFilter(), make_member(project, "viewer")).decided == 0
    counts = queue_counts(project, QueueFilter(), ada)
    assert (counts.today, counts.to_review, counts.rejected) == (1, 1, 1)  # as of any rejection


@pytest.mark.nightly
def test_what_is_sent_twice_is_kept_once_and_u_takes_it_back(edge, known, ada, project, client_for):
    client, sent = client_for(ada), said(known)
    assert results(send(client, sent)) == results(send(client, sent)) == ["saved"]
    assert KnownReading.objects.count() == 1
    back = operation("undo", of=sent["key"])
    assert results(send(client, back)) == results(send(client, back)) == ["saved"]
    assert list(KnownReading.objects.order_by("pk").values_list("verb", flat=True)) == ["accept", "undo"]
    assert known.pk in cards(client)
    assert queue_counts(project, QueueFilter(), ada).today == 0


@pytest.mark.nightly
def test_words_are_checked_as_on_any_card(edge, known, ada, client_for):
    client = client_for(ada)
    answer = send(client, said(known, anchor="purple rain"))
    assert results(answer) == ["asks"]
    [card] = answer["answers"][0]["cards"]
    assert card["edge"] == known.pk
    assert not KnownReading.objects.exists()
    assert results(send(client, said(known, anchor="winter boots", start=43, end=55))) == ["saved"]
    assert KnownReading.objects.get().anchor == "winter boots"
    found = client.get(f"{PAGE}{known.pk}/words/", {"anchor": "winter boots"}).json()
    assert {name: found[name] for name in ("warnings", "where", "note")} == {
        "warnings": [],
        "where": "text",
        "note": "",
    }
    assert client.get(f"{PAGE}{known.pk}/words/", {"anchor": "click here"}).json()["warnings"]


@pytest.mark.nightly
def test_set_aside_it_leaves_the_list_and_comes_back(edge, known, ada, client_for):
    client = client_for(ada)
    assert results(send(client, operation("aside", edge=known.pk))) == ["saved"]
    assert known.pk not in cards(client)
    assert results(send(client, operation("back", edge=known.pk))) == ["saved"]
    assert known.pk in cards(client)
    assert not SetAside.objects.exists()


@pytest.mark.nightly
def test_who_asks_for_an_opinion_is_told_afterwards_and_what_was_written_is_kept(edge, known, ada, client_for):
    client = client_for(ada)
    answer = send(
        client, operation("ask", edge=known.pk, text="Is it?"), operation("comment", edge=known.pk, text="Hm")
    )
    assert results(answer) == ["saved", "saved"]
    assert "its answer was known" in answer["answers"][0]["message"]
    assert list(KnownReading.objects.order_by("pk").values_list("verb", "note")) == [
        ("ask", "Is it?"),
        ("comment", "Hm"),
    ]
    assert known.pk not in cards(client)
    assert not OpinionRequest.objects.exists()
    assert not Comment.objects.exists()
    assert results(send(client, operation("unask", edge=known.pk))) == ["saved"]
    assert known.pk in cards(client)


@pytest.mark.nightly
def test_what_was_written_on_it_is_read_by_managers_alone(project, edge, known, ada, manager, client_for):
    written = [operation("ask", edge=known.pk, text="Is it <b>?"), operation("comment", edge=known.pk, text="Too old")]
    taken_back = said(known, "reject", note="No thanks")
    send(client_for(ada), *written, taken_back, operation("undo", of=taken_back["key"]))
    page = text(client_for(manager).get(TEAM))
    assert "Comment · " in page
    assert "Warm feet → Boots Too old" in page
    assert "Warm feet → Boots Is it <b>?" in page
    assert "No thanks" not in page
    assert "Too old" in text(client_for(ada).get(f"{PAGE}{known.pk}/"))  # as on any card
    assert "Too old" not in text(client_for(make_member(project)).get(f"{PAGE}{known.pk}/"))
    assert client_for(ada).get(TEAM).status_code == 403


@pytest.mark.nightly
def test_its_address_shows_the_card_to_every_member_and_presence_names_nobody(project, edge, known, ada, client_for):
    for user in (ada, make_member(project, "viewer")):
        page = client_for(user).get(f"{PAGE}{known.pk}/")
        assert page.status_code == 200
        assert f'data-edge="{known.pk}"' in page.content.decode()
    assert f'data-edge="{known.pk}"' in client_for(ada).get(f"{PAGE}?at={known.pk}").content.decode()
    assert client_for(ada).post(f"{PAGE}{known.pk}/presence/").json() == {"names": []}


@pytest.mark.nightly
def test_without_a_script_all_is_kept_as_well(edge, known, ada, client_for):
    client = client_for(ada)
    form = {name: value for name, value in said(known, "reject").items() if name not in ("key", "kind", "edge")}
    assert client.post(f"{PAGE}{known.pk}/decide/", form | {"do": "accept", "anchor": "purple"}).status_code == 422
    for address, sent in (("decide", form), ("later", {}), ("ask", {"text": "?"}), ("comment", {"text": "Hm"})):
        assert client.post(f"{PAGE}{known.pk}/{address}/", sent).status_code == 302, address
    assert set(KnownReading.objects.values_list("verb", flat=True)) == {"reject", "aside", "ask", "comment"}


@pytest.mark.nightly
def test_of_another_project_there_is_none(known, client_for):
    stranger = make_member(make_project("other"))
    answer = client_for(stranger).post(f"/p/other/queue/{known.pk}/presence/")
    assert answer.status_code == 404
    assert client_for(stranger).get(f"/p/other/queue/{known.pk}/").status_code == 404
    assert not KnownReading.objects.exists()


@pytest.mark.nightly
def test_no_sheet_group_or_bulk_decision_meets_it(edge, known, ada, client_for):
    client = client_for(ada)
    assert str(known.pk) not in client.get(f"{PAGE}sheet.csv").getvalue().decode()
    assert f'value="{known.pk}:' not in client.get(f"{PAGE}group/", {"donor": known.source_id}).content.decode()
    assert f"{known.pk}:" not in client.get(f"{PAGE}bulk/").content.decode()
    seen = f"{known.pk}:{known.run_id}:{known.anchor}"
    answer = client.post(f"{PAGE}group/", {"donor": known.source_id, "edge": [seen], "query": ""}, follow=True)
    assert "not in this project" in text(answer)
    assert not KnownReading.objects.exists()


def test_readings_are_never_changed_or_deleted(edge, known, ada, client_for):
    send(client_for(ada), said(known))
    for change in (lambda rows: rows.update(verb="reject"), lambda rows: rows.delete()):
        with pytest.raises((IntegrityError, InternalError), match="append-only"), transaction.atomic():
            change(KnownReading.objects.all())


@pytest.mark.nightly
def test_a_manager_sets_the_share_which_is_logged_and_told_to_the_team(project, manager, ada, client_for):
    project.known_share = 0
    project.save()
    assert "answer is known" not in client_for(ada).get(PAGE).content.decode()
    assert client_for(manager).post(f"{TEAM}known-answers/", {"cards": 5}).status_code == 302
    assert "5 cards whose answer is known" in client_for(ada).get(PAGE).content.decode()
    change = Change.objects.get(subject="Cards whose answer is known")
    assert (change.user, change.before, change.after) == (manager, {"cards": 0}, {"cards": 5})
    assert client_for(manager).post(f"{TEAM}known-answers/", {"cards": 21}).status_code == 422
    assert client_for(ada).post(f"{TEAM}known-answers/", {"cards": 5}).status_code == 403


def test_where_it_is_switched_on_stands_which_matches_draw_none_and_what_to_do(project, manager, client_for):
    page = readable(client_for(manager).get(TEAM).content.decode())
    assert "Matches ranked by cosine, pilots and matches of a part of the site draw none." in page
    assert "There is no sample yet, so no such card comes. Match the whole site" in page


@pytest.mark.parametrize(
    ("right", "number", "low", "high"),
    [(8, 10, 0.4902, 0.9433), (0, 5, 0.0, 0.4345), (10, 10, 0.7225, 1.0), (50, 100, 0.4038, 0.5962), (0, 0, 0, 1)],
)
def test_the_interval_is_that_of_wilson(right, number, low, high):
    assert known_rates.wilson(right, number) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.nightly
def test_of_each_person_the_last_answer_on_a_card_counts(project, donor, edge, known, ada, manager, client_for):
    bo = make_member(project, username="bo")
    second = make_known(project, donor, "snow")
    taken_back = said(second, "reject")
    send(client_for(ada), said(known, "reject"), said(known), said(second, anchor="Wear warm", do="reject:bad_anchor"))
    send(client_for(bo), taken_back, operation("undo", of=taken_back["key"]), said(known, "accept"))
    found = known_rates.known_rates(project, timezone.now() - timedelta(days=1))
    rows = [(rate.name, rate.read, rate.accepted, rate.edited, rate.rejected) for rate in (found.whole, *found.people)]
    assert rows == [("", 3, 2, 0, 1), ("ada", 2, 1, 0, 1), ("bo", 1, 1, 0, 0)]
    assert found.whole.why == [("Poor anchor", 1)]
    page = readable(client_for(manager).get(TEAM).content.decode())
    assert "All 3 2 0 1 67% 21% to 94% Poor anchor 1" in page
    assert "2 links of the site are in the sample" in page


def test_other_tiers_are_read_for_it_too(project, known, manager):
    project.tier_basis = "cosine"
    project.save()
    highest = project.tiers.filter(basis="cosine").order_by("-lower_bound").first()
    highest.lower_bound = known.similarity - 0.001
    highest.save()
    project.tiers.filter(basis="cosine", lower_bound__gt=highest.lower_bound).delete()
    retier(project)
    known.refresh_from_db()
    assert known.tier == highest


@pytest.mark.nightly
def test_the_deck_asks_as_much_for_many_as_for_few(project, donor, ada, client_for):
    def more(number: int) -> None:
        for _ in range(number):
            followed(project, source=donor)
            make_known(project, donor)

    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert len(cards(client_for(ada))) > 3
        return len(queries)

    more(8)
    asked()
    few = asked()
    more(16)
    assert asked() == few
