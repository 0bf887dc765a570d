"""The queue in Chromium: one test a key, paint before the answer, two editors, and no script at all."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from linker.models import CandidateEdge
from review import decisions
from review.decisions import Ruling, decide_edges
from review.models import Decision, Verb
from tests.factories import make_edge, make_link, make_member, make_page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BODY = "The day is long. Wear warm boots on snow. Dry them at night."


@pytest.fixture
def edges(project) -> list[CandidateEdge]:
    """Two suggestions of one donor, best first, then two of another."""
    donors = [make_page(project, title=f"Donor {n}", body=BODY) for n in (1, 2)]
    alternatives = [{"text": "snow boots", "source": "h1", "raw": ""}, {"text": "dry boots", "source": "h1", "raw": ""}]
    return [
        make_edge(
            project, donors[n // 2], make_page(project, title=f"Target {n}"), score=0.95 - n / 100, anchor="warm boots",
            donor_best=0.95 if n < 2 else 0.9, anchor_alternatives=alternatives,
        )
        for n in range(4)
    ]  # fmt: skip


@pytest.fixture
def at_queue(live_server, page, project, edges, editor, sign_in):
    """The queue page, its first card current."""
    sign_in(editor)
    page.goto(f"{live_server.url}/p/shop/queue/")
    expect(card(page, edges[0])).to_have_class(re.compile("is-current"))
    return page


def answer_decisions(page, handler) -> None:
    """From now on `handler` answers what the queue sends.

    The page is loaded anew, since Chromium may let the first request of a page that stands already go past a route.
    """
    page.route("**/decide/", handler)
    page.reload()
    expect(page.locator("[data-edge].is-current")).to_be_focused()


def card(page, edge: CandidateEdge):
    return page.locator(f"#edge-{edge.pk}")


def expect_current(page, edge: CandidateEdge) -> None:
    expect(card(page, edge)).to_have_class(re.compile("is-current"))
    assert page.evaluate("document.activeElement.closest('[data-edge]')?.id") == f"edge-{edge.pk}"


def expect_answered(page, edge: CandidateEdge, state: str) -> None:
    """The server's own card is there: it alone has the word on who decided."""
    expect(card(page, edge)).to_have_attribute("data-state", state)
    if state != "suggested":
        expect(card(page, edge).locator(".edge__by time")).to_be_visible()


def until(page, is_so) -> None:
    """Waits for what the browser tells this process, which only hears it while it waits."""
    for _ in range(500):
        if is_so():
            return
        page.wait_for_timeout(10)
    raise AssertionError("it did not happen within five seconds")


def stored(edge: CandidateEdge) -> tuple[str, str, str]:
    edge = CandidateEdge.objects.get(pk=edge.pk)
    return edge.status, edge.anchor, edge.rel


# --------------------------------------------------------------------------------------------------------- keys


def test_a_accepts_and_the_next_card_is_current(at_queue, edges):
    at_queue.keyboard.press("a")
    expect_current(at_queue, edges[1])
    expect_answered(at_queue, edges[0], "accepted")
    assert stored(edges[0]) == ("accepted", "warm boots", "follow")
    expect(at_queue.locator("[data-left]")).to_have_text("3")
    expect(at_queue.get_by_text("1 accepted of 2 suggested")).to_be_visible()


def test_n_accepts_as_nofollow(at_queue, edges):
    at_queue.keyboard.press("n")
    expect_answered(at_queue, edges[0], "accepted")
    assert stored(edges[0]) == ("accepted", "warm boots", "nofollow")


@pytest.mark.parametrize("second", ["x", "Enter"])
def test_x_twice_or_with_enter_rejects_without_a_reason(at_queue, edges, second):
    at_queue.keyboard.press("x")
    assert stored(edges[0])[0] == "suggested"
    at_queue.keyboard.press(second)
    expect_current(at_queue, edges[1])
    expect_answered(at_queue, edges[0], "rejected")
    assert Decision.objects.get().reason == ""


@pytest.mark.parametrize(("key", "reason"), [("1", "irrelevant"), ("3", "bad_anchor"), ("8", "other")])
def test_x_and_a_digit_reject_with_that_reason(at_queue, edges, key, reason):
    at_queue.keyboard.press("x")
    at_queue.keyboard.press(key)
    expect_answered(at_queue, edges[0], "rejected")
    assert Decision.objects.get().reason == reason


def test_escape_leaves_the_reasons(at_queue, edges):
    at_queue.keyboard.press("x")
    at_queue.keyboard.press("Escape")
    expect(card(at_queue, edges[0]).locator("[data-reason]").first).to_be_hidden()
    expect_current(at_queue, edges[0])


def test_s_skips_and_decides_nothing(at_queue, edges):
    at_queue.keyboard.press("s")
    expect_current(at_queue, edges[1])
    assert not Decision.objects.exists()


def test_j_and_k_move(at_queue, edges):
    for key, place in (("j", 1), ("j", 2), ("k", 1), ("k", 0), ("k", 0)):
        at_queue.keyboard.press(key)
        expect_current(at_queue, edges[place])


@pytest.mark.parametrize("save", ["Control+Enter", "Enter"])
def test_e_edits_the_anchor_and_saving_accepts_it(at_queue, edges, save):
    at_queue.keyboard.press("e")
    at_queue.keyboard.type("axe target")
    assert stored(edges[0])[0] == "suggested"
    at_queue.keyboard.press(save)
    expect_current(at_queue, edges[1])
    expect_answered(at_queue, edges[0], "accepted")
    assert stored(edges[0])[1] == "axe target"
    assert Decision.objects.get().verb == "edit"


def test_escape_leaves_the_field_and_forgets_what_was_typed(at_queue, edges):
    at_queue.keyboard.press("e")
    at_queue.keyboard.type("nonsense")
    at_queue.keyboard.press("Escape")
    expect_current(at_queue, edges[0])
    at_queue.keyboard.press("a")
    expect_answered(at_queue, edges[0], "accepted")
    assert stored(edges[0])[1] == "warm boots"


@pytest.mark.parametrize(("key", "anchor"), [("1", "snow boots"), ("2", "dry boots")])
def test_a_digit_picks_an_alternative_for_the_accept(at_queue, edges, key, anchor):
    at_queue.keyboard.press(key)
    expect(card(at_queue, edges[0]).locator("[data-anchor]")).to_have_value(anchor)
    at_queue.keyboard.press("a")
    expect_answered(at_queue, edges[0], "accepted")
    assert stored(edges[0])[1] == anchor


def test_u_undoes_level_by_level(at_queue, edges):
    at_queue.keyboard.press("a")
    at_queue.keyboard.press("x")
    at_queue.keyboard.press("2")
    expect_current(at_queue, edges[2])
    at_queue.keyboard.press("u")
    expect(card(at_queue, edges[1])).to_have_attribute("data-state", "suggested")
    expect(card(at_queue, edges[1])).to_be_focused()
    at_queue.keyboard.press("u")
    expect(card(at_queue, edges[0])).to_have_attribute("data-state", "suggested")
    expect(card(at_queue, edges[0])).to_be_focused()
    assert {stored(edge)[0] for edge in edges} == {"suggested"}
    expect(at_queue.locator("[data-left]")).to_have_text("4")


def test_u_pressed_at_once_never_overtakes_the_decision(at_queue, edges):
    for key in ("a", "u", "a", "a", "u"):
        at_queue.keyboard.press(key)
    expect(at_queue.locator("[data-left]")).to_have_text(re.compile("^[34]$"))
    at_queue.wait_for_load_state("networkidle")
    verbs = list(Decision.objects.order_by("pk").values_list("verb", flat=True))
    assert verbs == ["accept", "undo", "accept", "accept", "undo"]


def test_u_brings_back_a_card_that_is_no_longer_on_the_page(at_queue, edges):
    at_queue.keyboard.press("a")
    expect_answered(at_queue, edges[0], "accepted")
    at_queue.reload()
    expect(card(at_queue, edges[0])).to_have_count(0)
    at_queue.keyboard.press("u")
    expect(card(at_queue, edges[0])).to_be_focused()
    at_queue.keyboard.press("a")
    expect_answered(at_queue, edges[0], "accepted")


@pytest.mark.parametrize(("key", "page_of"), [("o", "source"), ("t", "target")])
def test_o_and_t_open_the_pages(at_queue, edges, key, page_of):
    at_queue.context.route("https://shop.example/**", lambda route: route.fulfill(body="there"))
    with at_queue.context.expect_page() as opened:
        at_queue.keyboard.press(key)
    assert opened.value.url == getattr(edges[0], page_of).url


def test_shift_a_accepts_the_group_after_a_preview_and_u_undoes_it_as_one(at_queue, edges):
    at_queue.keyboard.press("Shift+A")
    expect(at_queue.get_by_role("heading", name="Accept 2 suggestions on this page?")).to_be_visible()
    assert not Decision.objects.exists()
    expect(at_queue.locator("[data-accept-group] .button--primary")).to_be_focused()
    at_queue.keyboard.press("Enter")
    expect_answered(at_queue, edges[0], "accepted")
    expect_answered(at_queue, edges[1], "accepted")
    expect(card(at_queue, edges[2])).to_be_focused()
    at_queue.keyboard.press("u")
    expect(card(at_queue, edges[1])).to_have_attribute("data-state", "suggested")
    assert {stored(edge)[0] for edge in edges} == {"suggested"}


def test_no_warning_of_the_preview_is_cut_off_on_a_phone(at_queue, edges):
    reason = "The acceptor is medical (Magazine \u203a Health and safety in the mountains)"
    CandidateEdge.objects.filter(pk=edges[0].pk).update(sensitive=reason)
    at_queue.set_viewport_size({"width": 390, "height": 844})
    at_queue.reload()
    at_queue.keyboard.press("Shift+A")
    badge = at_queue.locator(".preview__list .badge").first
    badge.wait_for()
    assert at_queue.locator(".preview__list").evaluate("list => list.scrollWidth <= list.clientWidth")


def test_escape_closes_the_preview(at_queue, edges):
    at_queue.keyboard.press("Shift+A")
    expect(at_queue.locator("[data-accept-group]")).to_be_visible()
    at_queue.keyboard.press("Escape")
    expect(at_queue.locator("[data-accept-group]")).to_have_count(0)
    at_queue.keyboard.press("Shift+A")
    expect(at_queue.locator("[data-accept-group]")).to_be_visible()


def test_slash_searches_and_letters_rest_in_the_field(at_queue, edges):
    at_queue.keyboard.press("/")
    at_queue.keyboard.type("target 3 xau")
    expect(at_queue.locator("[data-search]")).to_have_value("target 3 xau")
    assert not Decision.objects.exists()
    at_queue.locator("[data-search]").fill("target 3")
    at_queue.keyboard.press("Enter")
    expect(at_queue.locator("[data-edge]")).to_have_count(1)


def test_question_mark_shows_the_keys(at_queue):
    at_queue.keyboard.press("?")
    expect(at_queue.locator(".keys__list")).to_be_visible()
    at_queue.keyboard.press("Escape")
    expect(at_queue.locator(".keys__list")).to_be_hidden()


# ------------------------------------------------------------------------------------------------------- paint


def test_a_decision_is_painted_before_the_server_answers(at_queue, edges):
    held: list = []
    answer_decisions(at_queue, lambda route: held.append(route))
    at_queue.keyboard.press("a")
    expect(card(at_queue, edges[0])).to_have_attribute("data-state", "accepted")
    expect(card(at_queue, edges[0]).locator(".edge__body")).to_be_hidden()
    expect_current(at_queue, edges[1])
    assert stored(edges[0])[0] == "suggested"
    until(at_queue, lambda: held)
    held[0].continue_()
    expect_answered(at_queue, edges[0], "accepted")
    expect_current(at_queue, edges[1])


def test_a_failure_takes_the_paint_off_again(at_queue, edges):
    answer_decisions(at_queue, lambda route: route.fulfill(status=500, body="no"))
    at_queue.keyboard.press("a")
    expect(card(at_queue, edges[0])).to_have_attribute("data-state", "suggested")
    expect(card(at_queue, edges[0]).locator(".edge__body")).to_be_visible()
    expect_current(at_queue, edges[0])
    expect(at_queue.locator("#messages").get_by_role("alert")).to_be_visible()


def test_a_lost_connection_takes_the_paint_off_again(at_queue, edges):
    answer_decisions(at_queue, lambda route: route.abort())
    at_queue.keyboard.press("a")
    expect(at_queue.locator("#messages").get_by_role("alert")).to_be_visible()
    expect(card(at_queue, edges[0])).to_have_attribute("data-state", "suggested")
    at_queue.unroute("**/decide/")
    at_queue.keyboard.press("a")
    expect_answered(at_queue, edges[0], "accepted")


def test_a_refused_anchor_comes_back_with_its_reason_and_the_focus(at_queue, edges):
    at_queue.keyboard.press("e")
    at_queue.keyboard.press("Delete")
    at_queue.keyboard.press("Control+Enter")
    expect(card(at_queue, edges[0]).get_by_role("alert")).to_contain_text("The anchor is empty")
    expect(card(at_queue, edges[0]).locator("[data-anchor]")).to_be_focused()


# ----------------------------------------------------------------------------------------------------- warnings


def rewrite(page, words: str) -> None:
    page.keyboard.press("e")
    page.keyboard.type(words)
    page.keyboard.press("Enter")


def test_words_that_speak_for_nothing_are_warned_of_and_y_accepts_them_anyway(at_queue, edges):
    rewrite(at_queue, "click here")
    warned = card(at_queue, edges[0])
    expect(warned.get_by_role("alert")).to_contain_text("says nothing about the page")
    expect(warned.locator("[data-anchor]")).to_have_value("click here")
    expect_current(at_queue, edges[0])
    assert stored(edges[0])[0] == "suggested"
    at_queue.keyboard.press("a")  # asks again
    expect_current(at_queue, edges[0])
    expect(warned.get_by_role("alert")).to_be_visible()
    at_queue.keyboard.press("y")
    expect_current(at_queue, edges[1])
    expect_answered(at_queue, edges[0], "accepted")
    assert stored(edges[0])[:2] == ("accepted", "click here")
    assert [one["code"] for one in Decision.objects.get().overruled] == ["generic"]


def test_a_card_warns_before_the_decision_and_y_accepts_at_once(project, at_queue, edges):
    for _ in range(3):
        make_link(make_page(project), edges[0].target, edges[0].anchor)
    at_queue.reload()
    warned = card(at_queue, edges[0])
    expect(warned.get_by_text("3 other links to this page say the same.")).to_be_visible()
    at_queue.keyboard.press("y")
    expect_current(at_queue, edges[1])
    expect_answered(at_queue, edges[0], "accepted")
    assert [one["code"] for one in Decision.objects.get().overruled] == ["identical"]
    at_queue.keyboard.press("y")  # the next card has no such word, and no other asks
    expect_current(at_queue, edges[1])
    assert stored(edges[1])[0] == "suggested"


def test_other_words_after_a_warning_are_looked_at_anew(at_queue, edges):
    rewrite(at_queue, "click here")
    expect(card(at_queue, edges[0]).get_by_role("alert")).to_be_visible()
    rewrite(at_queue, "cheap loans")
    expect(card(at_queue, edges[0]).get_by_role("alert")).to_contain_text("None of these words is in the name")
    rewrite(at_queue, "my target")
    expect_answered(at_queue, edges[0], "accepted")
    assert Decision.objects.get().overruled == []


def test_no_key_is_lost_to_a_warning_that_comes_while_typing_goes_on(at_queue, edges):
    answer_decisions(at_queue, lambda route: (at_queue.wait_for_timeout(150), route.continue_()))
    rewrite(at_queue, "click here")
    for _ in edges[1:]:
        at_queue.keyboard.press("a")
    for edge in edges[1:]:
        expect_answered(at_queue, edge, "accepted")
    expect(card(at_queue, edges[0]).get_by_role("alert")).to_be_visible()
    assert stored(edges[0])[0] == "suggested"
    at_queue.keyboard.press("y")  # goes to the card that asks
    expect_current(at_queue, edges[0])
    at_queue.keyboard.press("y")
    expect_answered(at_queue, edges[0], "accepted")


def test_the_button_and_the_choice_of_rel_overrule_as_well(at_queue, edges):
    at_queue.keyboard.press("e")
    at_queue.keyboard.type("click here")
    card(at_queue, edges[0]).locator("[data-rel=nofollow]").click()
    card(at_queue, edges[0]).get_by_role("button", name="Accept anyway").click()
    expect_answered(at_queue, edges[0], "accepted")
    assert stored(edges[0]) == ("accepted", "click here", "nofollow")


def test_whoever_is_signed_out_is_sent_to_sign_in(at_queue, edges):
    at_queue.context.clear_cookies(name="sessionid")
    at_queue.keyboard.press("a")
    at_queue.wait_for_url("**/login/**")
    assert stored(edges[0])[0] == "suggested"


def test_the_last_decision_says_that_nothing_is_left(at_queue, edges):
    for _ in edges:
        at_queue.keyboard.press("a")
    expect(at_queue.get_by_text("Nothing left to review for this filter")).to_be_visible()
    at_queue.keyboard.press("a")
    expect(at_queue.locator("[data-left]")).to_have_text("0")
    assert Decision.objects.count() == 4


def test_at_the_end_of_what_is_loaded_the_next_card_is_fetched(live_server, page, project, editor, sign_in):
    edges = [make_edge(project, score=0.95 - n / 1000) for n in range(22)]
    sign_in(editor)
    page.goto(f"{live_server.url}/p/shop/queue/?order=score")
    card(page, edges[19]).focus()
    page.keyboard.press("a")
    expect(card(page, edges[20])).to_be_focused()
    expect_answered(page, edges[19], "accepted")


# ------------------------------------------------------------------------------------------------- two editors


def test_the_second_editor_is_told_and_sees_the_fresh_card(at_queue, edges, project):
    decide_edges(project, [edges[0].pk], Verb.REJECT, make_member(project, username="maria"), Ruling(reason="outdated"))
    at_queue.keyboard.press("a")
    expect(card(at_queue, edges[0]).get_by_role("alert")).to_contain_text("maria decided first: rejected (Page out of")
    expect_answered(at_queue, edges[0], "rejected")
    expect(at_queue.locator("#messages").get_by_role("alert")).to_have_count(0)
    assert Decision.objects.count() == 1


def test_two_browsers_on_one_card_leave_one_decision(at_queue, browser, live_server, edges, project, client_for):
    other = make_member(project, username="maria")
    context = browser.new_context()
    cookie = client_for(other).cookies["sessionid"]
    context.add_cookies([{"name": "sessionid", "value": cookie.value, "url": live_server.url}])
    second = context.new_page()
    second.goto(f"{live_server.url}/p/shop/queue/")
    at_queue.keyboard.press("a")
    second.keyboard.press("x")
    second.keyboard.press("x")
    # The server's cards, not the painted ones: both browsers show the one decision, and one of them a warning.
    expect(card(at_queue, edges[0]).locator(".edge__by time")).to_be_visible()
    expect(card(second, edges[0]).locator(".edge__by time")).to_be_visible()
    for page in (at_queue, second):
        expect_answered(page, edges[0], stored(edges[0])[0])
    assert Decision.objects.count() == 1
    warned = [card(page, edges[0]).get_by_role("alert").count() for page in (at_queue, second)]
    assert sorted(warned) == [0, 1]
    context.close()


# ---------------------------------------------------------------------------------------------------- no script


@pytest.fixture
def plain(browser, live_server, edges, editor, client_for):
    """The queue in a browser that runs no script."""
    context = browser.new_context(java_script_enabled=False)
    cookie = client_for(editor).cookies["sessionid"]
    context.add_cookies([{"name": "sessionid", "value": cookie.value, "url": live_server.url}])
    page = context.new_page()
    page.goto(f"{live_server.url}/p/shop/queue/")
    yield page
    context.close()


def test_without_a_script_everything_can_be_decided_and_undone(plain, edges):
    card(plain, edges[0]).get_by_role("button", name="Accept").click()
    assert stored(edges[0])[0] == "accepted"
    assert plain.url.endswith(f"#edge-{edges[1].pk}")

    card(plain, edges[1]).get_by_text("Reject…").click()
    card(plain, edges[1]).get_by_role("button", name="Poor anchor").click()
    assert Decision.objects.get(edge=edges[1]).reason == "bad_anchor"

    card(plain, edges[2]).get_by_label("Anchor", exact=True).fill("my own words")
    card(plain, edges[2]).get_by_label("Anchor", exact=True).press("Enter")
    assert stored(edges[2])[0] == "suggested"
    assert plain.get_by_text("None of these words is in the name").is_visible()
    plain.get_by_role("button", name="Accept anyway").click()
    assert stored(edges[2])[:2] == ("accepted", "my own words")

    card(plain, edges[3]).get_by_label("dry boots").check()
    card(plain, edges[3]).get_by_role("button", name="as ugc").click()
    assert stored(edges[3]) == ("accepted", "dry boots", "ugc")
    assert plain.get_by_text("Nothing left to review").is_visible()

    for _ in edges:
        plain.get_by_role("button", name="Undo last").click()
    assert {stored(edge)[0] for edge in edges} == {"suggested"}


def test_without_a_script_a_note_and_enter_reject(plain, edges):
    card(plain, edges[0]).get_by_text("Reject…").click()
    card(plain, edges[0]).get_by_label("Note").fill("no")
    card(plain, edges[0]).get_by_label("Note").press("Enter")
    assert stored(edges[0])[0] == "rejected"


def test_without_a_script_a_group_is_previewed_and_accepted(plain, edges):
    plain.get_by_role("link", name="Accept group").first.click()
    assert plain.get_by_role("heading", name="Accept 2 suggestions on this page?").is_visible()
    plain.get_by_role("checkbox").first.uncheck()
    plain.get_by_role("button", name="Accept checked").click()
    assert [stored(edge)[0] for edge in edges[:2]] == ["suggested", "accepted"]


def test_without_a_script_the_filters_work(plain, edges):
    plain.get_by_label("Search").fill("target 2")
    plain.get_by_role("button", name="Apply").click()
    assert plain.locator("[data-edge]").count() == 1


# ------------------------------------------------------------------------------------------------------- the page


def test_the_queue_breaks_no_content_policy(live_server, page, project, editor, sign_in, edges):
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: refused.append(str(error)))
    sign_in(editor)
    for path in ("queue/", f"queue/{edges[0].pk}/", f"queue/group/?donor={edges[0].source_id}", "queue/?status=all"):
        page.goto(f"{live_server.url}/p/shop/{path}")
    assert refused == []


@pytest.mark.parametrize("path", ["queue/", "queue/?order=score&status=all"])
def test_the_queue_fits_a_phone(live_server, page, project, editor, sign_in, edges, path):
    word = "x" * 300
    make_edge(project, make_page(project, "/" + word, title=word), make_page(project, title=word), anchor=word)
    decide_edges(project, [edges[0].pk], Verb.ACCEPT, editor)
    decisions.undo(project, editor)
    page.set_viewport_size({"width": 390, "height": 800})
    sign_in(editor)
    page.goto(f"{live_server.url}/p/shop/{path}")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


# --------------------------------------------------------------------------------------- the place, and the numbers


@pytest.fixture
def placed(project) -> CandidateEdge:
    """A suggestion with a place in the text and two more anchors, one of which stands there."""
    others = [
        {"text": "Dry them", "source": "h1", "raw": "", "start": BODY.index("Dry"), "end": BODY.index("Dry") + 8},
        {"text": "woollen hats", "source": "title", "raw": ""},
    ]
    start = BODY.index("warm boots")
    return make_edge(
        project, make_page(project, body=BODY), anchor="warm boots", span_start=start, span_end=start + 10,
        anchor_alternatives=others, evidence={"share": 0.8}, score=0.99, donor_best=0.99,
    )  # fmt: skip


def marked(page, edge: CandidateEdge):
    return card(page, edge).locator("mark").filter(visible=True)


def test_a_picked_anchor_is_shown_where_it_stands_and_escape_goes_back(at_queue, placed):
    at_queue.reload()
    expect(marked(at_queue, placed)).to_have_text("warm boots")
    at_queue.keyboard.press("1")
    expect(marked(at_queue, placed)).to_have_text("Dry them")
    at_queue.keyboard.press("2")  # not in the text: the card's own place again
    expect(marked(at_queue, placed)).to_have_text("warm boots")
    at_queue.keyboard.press("1")
    at_queue.keyboard.press("e")
    at_queue.keyboard.press("Escape")
    expect(marked(at_queue, placed)).to_have_text("warm boots")
    at_queue.keyboard.press("a")
    expect_answered(at_queue, placed, "accepted")
    assert stored(placed)[1] == "warm boots"


def test_the_numbers_unfold(at_queue, placed):
    at_queue.reload()
    numbers = card(at_queue, placed).locator(".edge__numbers")
    expect(numbers.get_by_text("of the phrase's links lead here")).to_be_hidden()
    numbers.get_by_text("Numbers").click()
    expect(numbers.get_by_text("of the phrase's links lead here")).to_be_visible()


def test_an_anchor_edited_to_words_that_are_not_there_says_so_on_its_line(at_queue, placed):
    at_queue.reload()
    at_queue.keyboard.press("2")
    at_queue.keyboard.press("a")
    expect_answered(at_queue, placed, "accepted")
    expect(card(at_queue, placed).locator(".edge__by")).to_contain_text("needs a copy change")
