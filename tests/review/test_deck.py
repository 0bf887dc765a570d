"""The cards that the browser fetches ahead, and what a card shows on request."""

from __future__ import annotations

import dataclasses

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.utils.html import strip_tags

from linker.models import CandidateEdge
from review.decisions import decide_edges
from review.models import Verb
from review.queue.chips import chips
from review.queue.filters import Order, QueueFilter
from review.queue.page_text import MAX_PARAGRAPHS, page_text
from tests.factories import make_category, make_edge, make_link, make_page, make_project
from tests.review.queue_requests import BODY, DECK, EVIL, PAGE, decision, excerpts, results, send, text

pytestmark = pytest.mark.django_db


def deck(client, order: Order, after: str = "") -> tuple[list[CandidateEdge], str]:
    found = client.get(DECK, {"order": order.value, "after": after}).json()
    return [CandidateEdge.objects.get(pk=card["edge"]) for card in found["cards"]], found["next"]


@pytest.mark.nightly
@pytest.mark.parametrize("order", list(Order))
def test_the_deck_holds_each_suggestion_once_while_cards_are_decided(project, as_editor, order):
    donors = [make_page(project) for _ in range(5)]
    for n in range(55):
        make_edge(project, donors[n % 5], score=0.99 - n % 7 / 100, donor_best=0.99, worth=n % 4 / 10, donor_worth=0.3)
    expected = list(QueueFilter(order=order).queryset(project).values_list("pk", flat=True))
    seen, after = [], ""
    while True:
        found, following = deck(as_editor, order, after)
        seen += [edge.pk for edge in found]
        sent = [decision(edge, "reject") for edge in found[::3]]
        assert set(results(send(as_editor, *sent))) == {"saved"}
        if not following:
            break
        after = following
    assert seen == expected


@pytest.mark.nightly
def test_each_card_says_where_the_list_goes_on_after_it(project, as_editor):
    for n in range(6):
        make_edge(project, score=0.95 - n / 100)
    cards = as_editor.get(DECK).json()["cards"]
    for at, card in enumerate(cards):
        following = as_editor.get(DECK, {"after": card["cursor"]}).json()["cards"]
        assert [one["edge"] for one in following] == [one["edge"] for one in cards[at + 1 :]]


@pytest.mark.nightly
@pytest.mark.parametrize("address", [PAGE, DECK])
def test_a_page_and_a_deck_cost_the_same_number_of_queries_however_many_cards(project, as_editor, address):
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert as_editor.get(address).status_code == 200
        return len(captured)

    def add(number: int) -> None:
        for _ in range(number):
            make_edge(project, make_page(project, body=BODY), anchor="Warm winter boots")

    add(2)
    queries()
    few = queries()
    add(15)
    assert queries() == few


@pytest.mark.parametrize("query", ["after=nonsense", "after=1~2~3~4", "tier=x", "order=moon", "after=nan~1~1"])
def test_a_deck_of_a_bad_address_is_answered(edge, as_editor, query):
    assert as_editor.get(f"{DECK}?{query}").status_code == 200


def test_what_a_card_shows_on_request_is_the_projects_alone(edge, outsider, viewer, client_for):
    for address in (f"{PAGE}page/{edge.target_id}/", f"{PAGE}{edge.pk}/words/?anchor=a", DECK):
        assert client_for(outsider).get(address).status_code == 404
    assert client_for(viewer).get(f"{PAGE}{edge.pk}/words/?anchor=a").status_code == 403
    elsewhere = client_for(outsider).get(f"{PAGE}page/{edge.target_id}/".replace("shop", "elsewhere"))
    assert elsewhere.status_code == 404


def test_a_card_that_the_browser_asks_for_by_its_number_is_the_projects_alone(edge, outsider, viewer, client_for):
    address, other = f"{PAGE}{edge.pk}/", make_edge(make_project("other"))
    accept = {"accept": "application/json"}
    [card] = client_for(viewer).get(address, headers=accept).json()["cards"]
    assert (card["edge"], "data-accept" in card["card"]) == (edge.pk, False)
    assert client_for(outsider).get(address, headers=accept).status_code == 404
    assert client_for(viewer).get(f"{PAGE}{other.pk}/", headers=accept).status_code == 404


def test_words_are_checked_before_they_are_sent(edge, as_editor):
    def said(anchor: str) -> dict:
        return as_editor.get(f"{PAGE}{edge.pk}/words/", {"anchor": anchor}).json()

    found = said("winter boots")
    paragraph = "Warm feet The day is long. Wear warm [winter boots] on snow. Dry them at night."
    assert excerpts(found.pop("excerpt")) == [paragraph]
    start = edge.source.body.index("winter boots")
    assert found == {"warnings": [], "where": "text", "place": [start, start + len("winter boots")], "note": ""}
    assert said("cheap loans")["excerpt"] == ""
    assert [one["code"] for one in said("cheap loans")["warnings"]] == ["unrelated"]
    assert "The anchor is empty" in said("—!")["error"]
    assert as_editor.get(f"{PAGE}{edge.pk}/words/", {"anchor": "a\0"}).status_code == 400


def test_of_words_that_stand_in_a_link_alone_is_said_why_they_make_a_gap(edge, as_editor):
    make_link(edge.source, make_page(edge.project), anchor="Warm winter boots")
    CandidateEdge.objects.filter(pk=edge.pk).update(
        content_gap=True, placement="related", span_start=None, span_end=None, anchor="Cold feet"
    )

    def note(anchor: str) -> str:
        said = as_editor.get(f"{PAGE}{edge.pk}/words/", {"anchor": anchor}).json()
        return f"{said['where']}: {said['note']}"

    assert note("Warm winter boots").startswith("beside: The text holds these words only in a link")
    assert note("Words of nowhere") == "beside: "


def test_a_chip_leads_to_the_filter_without_it(project):
    donor = make_page(project, title="Boots")
    category = make_category(project, "Tips")
    query = (
        f"text=red&tier={project.tiers.first().pk}&category={category.pk}&donor={donor.pk}&sensitive=only"
        "&placement=gap&generator=mention&ranked_by=learned&probability=40&pilot=not&order=need&held=1&stale=1&later=1"
        "&asked=1&waiting=1"
    )
    chosen = QueueFilter.from_query(QueryDict(query))
    found = chips(project, chosen)
    assert {chip.name for chip in found} == set(chosen.to_dict())
    for chip in found:
        without = QueueFilter.from_query(QueryDict(chip.without))
        assert set(without.to_dict()) == set(chosen.to_dict()) - {chip.name}
        assert dataclasses.replace(without, **{chip.name: getattr(chosen, chip.name)}) == chosen
    assert chips(project, QueueFilter()) == []


def test_a_page_is_shown_by_paragraphs_with_the_words_marked_once(project, as_editor):
    body = "Warm feet\nWear warm\u00a0boots.\nBoots\nWarm boots!"
    page = make_page(project, h1="Warm feet", headings=["Boots"], body=body)
    found = page_text(page, "warm boots").paragraphs
    assert [(one.before, one.words, one.after, one.is_heading) for one in found] == [
        ("Warm feet", "", "", True), ("Wear ", "warm boots", ".", False), ("Boots", "", "", True),
        ("Warm boots!", "", "", False),
    ]  # fmt: skip
    assert "Wear warm boots ." in text(as_editor.get(f"{PAGE}page/{page.pk}/?words=warm boots"))
    assert "No text of this page was imported" in text(as_editor.get(f"{PAGE}page/{make_page(project).pk}/"))


def test_the_words_of_a_link_are_marked_in_the_donors_text_where_the_card_has_them(project, as_editor):
    body = "Wear warm boots.\n\nThen dry warm boots at night."
    page = make_page(project, body=body)
    start = body.rindex("warm")
    asked = {"words": "Warm boots", "start": start, "end": start + 10}
    [first, second] = as_editor.get(f"{PAGE}page/{page.pk}/", asked).context["text"].paragraphs
    assert (first.words, second.before, second.words) == ("", "Then dry ", "warm boots")
    for moved in ({"start": 1, "end": 11}, {"start": "x", "end": 11}, {"start": 9**18, "end": 9**18 + 10}):
        [first, second] = as_editor.get(f"{PAGE}page/{page.pk}/", asked | moved).context["text"].paragraphs
        assert (first.words, second.words) == ("warm boots", "")


def test_a_long_or_hostile_page_is_shown_in_part_and_as_text(project, as_editor):
    page = make_page(project, title=EVIL, body=f"{EVIL}\n" * (MAX_PARAGRAPHS + 1))
    content = as_editor.get(f"{PAGE}page/{page.pk}/", {"words": EVIL}).content.decode()
    assert "<script>alert" not in content
    assert "<img" not in content
    assert "The page goes on." in content
    assert len(page_text(page).paragraphs) == MAX_PARAGRAPHS


@pytest.mark.parametrize(
    ("query", "said"), [("", "in the text: Warm socks on Tips Undo"), ("?status=accepted", "Tips → Warm socks")]
)
def test_where_the_words_of_a_link_are_the_acceptors_name_a_list_says_them_once(
    project, as_editor, editor, query, said
):
    edge = make_edge(
        project, make_page(project, title="Tips"), make_page(project, title="Warm socks"), anchor="Warm socks"
    )
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    page = text(as_editor.get(f"{PAGE}{query}"))
    assert said in page
    assert "Warm socks → Warm socks" not in page


def test_a_line_marks_the_acceptor_though_its_name_are_the_words_and_the_donor_is_left_out(project, as_editor):
    donor = make_page(project, title="Radishes")
    for score, name in ((0.9, "Plum trees"), (0.8, "Pear trees")):
        make_edge(project, donor, make_page(project, title=name), anchor=name, score=score)
    lines = [" ".join(strip_tags(card["line"]).split()) for card in as_editor.get(DECK).json()["cards"]]
    assert [line.partition("Radishes: ")[2] for line in lines] == ["→ Plum trees", "→ Pear trees"]
