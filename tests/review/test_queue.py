"""The queue's pages: what a card shows, who may do what, and that it all works without a script."""

from __future__ import annotations

import html
import re

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext

from linker.models import CandidateEdge, EdgeStatus
from review.anchor_warnings import CODES
from review.decisions import Ruling, decide_edges
from review.models import Decision, Verb
from review.queue import cards, selectors
from review.queue.filters import QueueFilter
from tests.factories import make_category, make_edge, make_link, make_member, make_page
from tests.markup import compact

pytestmark = pytest.mark.django_db

PAGE = "/p/shop/queue/"
UNDO = f"{PAGE}undo/"
GROUP = f"{PAGE}group/"
HTMX = {"HX-Request": "true"}
BODY = "Warm feet\nThe day is long. Wear warm winter boots on snow. Dry them at night.\n"


def decide_url(edge: CandidateEdge) -> str:
    return f"{PAGE}{edge.pk}/decide/"


def form(edge: CandidateEdge, do: str = "accept", **changes: object) -> dict[str, object]:
    """What the card's form sends."""
    sent = {"do": do, "expected": edge.status, "run": edge.run_id, "shown": edge.anchor, "anchor": edge.anchor}
    return {**sent, "query": "", **changes}


def text(response) -> str:
    """The page as a person reads it."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def status(edge: CandidateEdge) -> str:
    return CandidateEdge.objects.get(pk=edge.pk).status


@pytest.fixture
def as_editor(client_for, editor):
    return client_for(editor)


@pytest.fixture
def edge(project) -> CandidateEdge:
    donor = make_page(project, "/warm-feet", title="Warm feet", body=BODY, category=make_category(project, "Tips"))
    target = make_page(project, "/boots", title="Winter boots", inlinks=12, outlinks=3, clicks=1234)
    alternatives = [{"text": "boots for snow", "source": "title", "raw": ""}, {"text": "winter boots", "source": "h1"}]
    return make_edge(
        project, donor, target, anchor="Warm winter boots", level=2, block=donor.category,
        anchor_alternatives=alternatives,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------ reading


def test_a_card_says_what_an_editor_needs(edge, as_editor):
    page = as_editor.get(PAGE)
    for words in ("Warm feet", "Tips", "/boots", "12 in", "3 out", "1,234 clicks", "0.850 score", "0.850 similarity"):
        assert words in text(page)
    for words in ("2 levels up", "In the text", "Inline · rel=follow", f"run {edge.run_id}", "test-model 1"):
        assert words in text(page)
    assert "0 accepted of 1 suggested on this page" in text(page)
    assert "1 boots for snow Title 2 winter boots in the text · H1" in text(page)


def test_a_card_says_where_its_anchors_came_from(project, as_editor):
    others = [{"text": "boots for snow", "source": "query", "raw": "", "impressions": 1200}]
    make_edge(project, anchor="Winter boots", anchor_source="query", anchor_alternatives=others)
    page = text(as_editor.get(PAGE))
    assert "boots for snow Search query, 1,200 impressions" in page


def test_the_anchor_is_marked_in_its_sentence(edge, as_editor):
    content = as_editor.get(PAGE).content.decode()
    assert "Wear <mark>warm winter boots</mark> on snow." in content
    assert "The day is long." in content
    assert "Dry them at night." in content


def test_an_anchor_that_is_not_in_the_text_is_called_a_copy_change(project, as_editor):
    make_edge(project, anchor="nowhere to be found")
    assert "Not in the text: needs a copy change" in text(as_editor.get(PAGE))


def test_a_link_of_the_related_block_needs_no_place_in_the_text(project, as_editor):
    make_edge(project, score=0.7, anchor="nowhere to be found")
    page = text(as_editor.get(PAGE))
    assert "Related block" in page
    assert "copy change" not in page


def test_a_sensitive_card_says_why_a_person_must_look(project, as_editor):
    make_edge(project, sensitive="Medical: Magazine › Health")
    assert "Needs human review. Medical: Magazine › Health" in text(as_editor.get(PAGE))


def test_hostile_titles_and_anchors_stay_text(project, as_editor):
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    donor = make_page(project, "/a", title=evil, body=f"A {evil} b.")
    target = make_page(project, "javascript:alert(1)", title=evil, canonical_url="x")
    target.url = "javascript:alert(1)"
    target.save()
    first = make_edge(project, donor, target, anchor=evil, anchor_alternatives=[{"text": evil + "2", "source": "h1"}])
    as_editor.post(decide_url(first), form(first, "reject", note=evil))
    make_edge(project, donor, make_page(project, title=evil), anchor=evil, sensitive=evil)
    for address in (
        PAGE,
        f"{PAGE}?status=all",
        f"{PAGE}{first.pk}/",
        f"{GROUP}?donor={donor.pk}",
        f"{PAGE}?text={evil}",
    ):
        content = as_editor.get(address).content.decode()
        assert "<script>alert" not in content
        assert "<img" not in content
        assert 'href="javascript' not in content


def test_levels_in_words(project):
    block = make_category(project, "Tips")
    named = {0: "same category", 1: "1 level up", 3: "3 levels up"}
    assert {level: cards.level_in_words(make_edge(project, level=level, block=block)) for level in named} == named
    assert cards.level_in_words(make_edge(project, level=2, block=None)) == "whole site"


def test_counts_tell_open_held_stale_sensitive_and_decided_apart(project, editor):
    for fields in (
        {}, {"sensitive": "Medical: x"}, {"score": 0.55}, {"stale": True}, {"score": 0.55, "stale": True},
        {"score": 0.1}, {"status": "rejected"}, {"status": "exported"}, {"status": "exported", "stale": True},
    ):  # fmt: skip
        make_edge(project, **fields)
    decide_edges(project, [make_edge(project).pk], Verb.ACCEPT, editor)
    decide_edges(project, [make_edge(project).pk], Verb.ACCEPT, make_member(project))
    counts = selectors.queue_counts(project, QueueFilter(), editor)
    assert (counts.to_review, counts.sensitive, counts.held, counts.stale) == (2, 1, 2, 2)
    assert (counts.accepted, counts.rejected, counts.exported, counts.today) == (2, 1, 2, 1)
    assert counts.total == 11
    shown = selectors.queue_counts(project, QueueFilter(held=True, stale=True), editor)
    assert (shown.to_review, shown.held, shown.stale) == (6, 0, 0)
    assert selectors.queue_counts(project, QueueFilter(sensitive="only"), editor).total == 1


def test_what_was_undone_is_not_counted_as_done_today(project, editor):
    from review.decisions import undo

    decide_edges(project, [make_edge(project).pk], Verb.ACCEPT, editor)
    undo(project, editor)
    assert selectors.queue_counts(project, QueueFilter(), editor).today == 0


def test_the_pages_of_the_list_hold_every_edge_once(project, as_editor):
    donor = make_page(project)
    edges = [make_edge(project, donor, score=0.9) for _ in range(45)]
    seen: list[str] = []
    address = PAGE
    while address:
        content = compact(as_editor.get(address).content.decode())
        seen += re.findall(r'id="edge-(\d+)"', content)
        more = re.search(r'data-more href="([^"]+)"', content)
        address = PAGE + html.unescape(more.group(1)) if more else ""
    assert seen == [str(edge.pk) for edge in edges]


def test_more_is_only_the_rows_for_htmx(project, as_editor):
    for _ in range(21):
        make_edge(project)
    more = selectors.queue_page(project, QueueFilter()).next
    content = as_editor.get(PAGE, {"after": more}, headers=HTMX).content.decode()
    assert content.count("<article") == 1
    assert "<html" not in content
    assert 'name="position" value="21"' in content


def test_a_list_costs_the_same_number_of_queries_however_long_it_is(project, as_editor, editor):
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            assert as_editor.get(f"{PAGE}?status=all").status_code == 200
        return len(captured)

    full = make_page(project)
    for _ in range(3):
        make_link(make_page(project), full, "winter boots")

    def add(number: int) -> None:
        for _ in range(number):
            make_edge(project, make_page(project, body=BODY, category=make_category(project, f"c{number}")))
            make_edge(project, make_page(project), full, anchor="Winter boots")
            decide_edges(project, [make_edge(project).pk], Verb.REJECT, editor)

    as_editor.get(PAGE)
    add(1)
    few = queries()
    add(12)
    assert queries() == few


def test_a_decision_costs_the_same_number_of_queries_however_full_the_queue(project, as_editor):
    def queries() -> int:
        edge = make_edge(project)
        with CaptureQueriesContext(connection) as captured:
            assert as_editor.post(decide_url(edge), form(edge), headers=HTMX).status_code == 200
        return len(captured)

    as_editor.get(PAGE)
    few = queries()
    for _ in range(10):
        make_edge(project)
    assert queries() == few


def test_an_empty_project_asks_for_a_match_run(project, as_editor):
    assert "No suggestions yet" in text(as_editor.get(PAGE))


def test_an_emptied_queue_says_so_and_offers_what_is_held_back(project, as_editor):
    make_edge(project, score=0.55)
    make_edge(project, score=0.1)
    page = as_editor.get(PAGE)
    assert "Nothing left to review for this filter" in text(page)
    assert "2 held back" in text(page)
    assert "held=1" in page.content.decode()


def test_a_field_that_is_not_known_is_named(edge, as_editor):
    page = text(as_editor.get(f"{PAGE}?categroy=5&after=1"))
    assert "The filter ignores these, because the field or its value is unknown: categroy." in page


def test_the_filter_goes_along_to_the_export(project, as_editor):
    edge = make_edge(project)
    make_edge(project, edge.source, status=EdgeStatus.ACCEPTED)
    decide_edges(project, [edge.pk], Verb.ACCEPT, make_member(project))
    content = compact(as_editor.get(f"{PAGE}?donor={edge.source_id}&sensitive=not").content.decode())
    links = re.findall(r'href="([^"]+)">(Export [^<]+)', content)
    there = f"/p/shop/export/?sensitive=not&amp;donor={edge.source_id}&amp;status=suggested"
    accepted = f"/p/shop/export/?status=accepted&amp;sensitive=not&amp;donor={edge.source_id}"
    assert links == [(there, "Export this selection"), (accepted, "Export accepted links")]
    assert "2 links" in text(as_editor.get(html.unescape(accepted)))


def test_a_bad_filter_is_named_instead_of_failing(project, as_editor):
    page = as_editor.get(f"{PAGE}?tier=x&after=nonsense&status=gone")
    assert page.status_code == 200
    assert "unknown: tier, status" in text(page)


@pytest.mark.parametrize("bad", ["category=abc", "tier=x", "sensitive=maybe"])
def test_a_value_that_the_queue_leaves_out_is_refused_by_the_export_that_it_leads_to(project, as_editor, bad):
    edge = make_edge(project, status=EdgeStatus.ACCEPTED)
    content = compact(as_editor.get(f"{PAGE}?donor={edge.source_id}&{bad}").content.decode())
    there = [html.unescape(link) for link in re.findall(r'href="([^"]+)">Export [^<]+', content)]
    assert len(there) == 2
    for address in there:
        assert "Nothing is selected, and nothing is exported" in text(as_editor.get(address))
        assert as_editor.post(address, {"format": "full"}).status_code == 400
    assert status(edge) == "accepted"


def test_reading_writes_nothing(edge, as_editor, project):
    make_link(edge.source, make_page(project))
    addresses = (PAGE, f"{PAGE}{edge.pk}/", f"{GROUP}?donor={edge.source_id}", decide_url(edge), UNDO)
    as_editor.get(PAGE)
    with CaptureQueriesContext(connection) as captured:
        for address in addresses:
            as_editor.get(address)
    assert not [query for query in captured if re.match(r"(INSERT|UPDATE|DELETE)", query["sql"])]
    assert status(edge) == "suggested"


# ------------------------------------------------------------------------------------------------------- access


def test_decisions_are_taken_by_post_alone(edge, as_editor):
    assert as_editor.get(decide_url(edge)).url == PAGE
    assert as_editor.get(UNDO).url == PAGE
    assert status(edge) == "suggested"
    assert as_editor.post(PAGE).status_code == 405
    assert as_editor.put(GROUP).status_code == 405


def test_outsiders_get_404_everywhere(edge, client_for, outsider):
    client = client_for(outsider)
    for address in (PAGE, f"{PAGE}{edge.pk}/", f"{GROUP}?donor={edge.source_id}"):
        assert client.get(address).status_code == 404
    for address, data in ((decide_url(edge), form(edge)), (UNDO, {}), (GROUP, {"donor": edge.source_id})):
        assert client.post(address, data).status_code == 404
    assert status(edge) == "suggested"


def test_a_member_reaches_no_edge_of_another_project(edge, client_for, outsider):
    client = client_for(outsider)
    for address in (f"/p/elsewhere/queue/{edge.pk}/", f"/p/elsewhere/queue/group/?donor={edge.source_id}"):
        assert client.get(address).status_code == 404
    assert client.post(f"/p/elsewhere/queue/{edge.pk}/decide/", form(edge)).status_code == 404


def test_viewers_look_and_do_not_decide(edge, client_for, viewer):
    client = client_for(viewer)
    page = client.get(PAGE)
    assert page.status_code == 200
    assert "data-decide" not in page.content.decode()
    assert "data-group" not in page.content.decode()
    for address, data in ((decide_url(edge), form(edge)), (UNDO, {}), (GROUP, {"donor": edge.source_id})):
        assert client.post(address, data).status_code == 403
    assert status(edge) == "suggested"


# ----------------------------------------------------------------------------------------------------- deciding


def test_without_a_script_an_accept_returns_to_its_place_in_the_list(project, as_editor):
    first, second = make_edge(project, score=0.9), make_edge(project, score=0.8)
    answer = as_editor.post(decide_url(first), form(first, query="order=score&after=1.0%7E1%7E0", position=1))
    assert answer.status_code == 302
    assert answer.url == f"{PAGE}?order=score&after=1.0%7E1%7E0#edge-{second.pk}"
    assert status(first) == "accepted"
    assert Decision.objects.get().position == 1


def test_with_htmx_the_card_its_group_and_the_counters_come_back(edge, as_editor):
    content = compact(as_editor.post(decide_url(edge), form(edge), headers=HTMX).content.decode())
    for root in (f"edge-{edge.pk}", f"group-{edge.source_id}", "queue-counts", "queue-end"):
        assert re.search(rf'id="{root}" hx-swap-oob="true"', content), root
    assert "<html" not in content
    assert "1 accepted of 1 suggested" in content
    assert "Nothing left to review" in content


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


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_an_anchor_that_cannot_be_used_comes_back_with_the_reason(edge, as_editor, headers):
    answer = as_editor.post(decide_url(edge), form(edge, anchor="click here"), headers=headers)
    assert answer.status_code == 422
    content = compact(answer.content.decode())
    assert "says nothing about the page" in content
    assert 'value="click here"' in content
    assert 'name="shown" value="Warm winter boots"' in content
    assert status(edge) == "suggested"


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_the_second_editor_sees_who_was_first_and_the_fresh_card(edge, project, as_editor, headers):
    seen = form(edge)
    decide_edges(project, [edge.pk], Verb.REJECT, make_member(project, username="maria"))
    answer = as_editor.post(decide_url(edge), seen, headers=headers)
    assert answer.status_code == 409
    assert "maria decided first: rejected. Nothing of yours was saved." in text(answer)
    assert 'data-state="rejected"' in answer.content.decode()
    assert Decision.objects.count() == 1


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


def test_a_card_that_a_run_refreshed_is_shown_again_before_it_is_decided(edge, as_editor):
    answer = as_editor.post(decide_url(edge), form(edge, run=edge.run_id + 1), headers=HTMX)
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


def test_undo_without_a_script_goes_back_to_the_card(edge, as_editor):
    as_editor.post(decide_url(edge), form(edge))
    answer = as_editor.post(UNDO, {"query": "order=score"})
    assert answer.url == f"{PAGE}?order=score#edge-{edge.pk}"
    assert status(edge) == "suggested"


def test_undo_with_htmx_brings_the_card_back(edge, as_editor):
    as_editor.post(decide_url(edge), form(edge))
    content = as_editor.post(UNDO, {"decision": Decision.objects.get().pk}, headers=HTMX).content.decode()
    assert f'id="edge-{edge.pk}" hx-swap-oob="true"' in compact(content)
    assert 'data-state="suggested"' in content


def test_an_undo_that_comes_too_late_says_why(edge, as_editor):
    assert "no decision of yours left to undo" in text(as_editor.post(UNDO, follow=True))
    as_editor.post(decide_url(edge), form(edge))
    CandidateEdge.objects.update(status=EdgeStatus.EXPORTED)
    answer = as_editor.post(UNDO, {"decision": Decision.objects.get().pk}, headers=HTMX)
    assert answer.status_code == 409
    assert "been exported already" in text(answer)


@pytest.mark.parametrize("decision", ["x", "²", "9" * 30, "9" * 5000, "9" * 18])
def test_an_undo_of_nothing_known_is_refused(project, as_editor, decision):
    assert as_editor.post(UNDO, {"decision": decision}).status_code in {400, 404}


@pytest.mark.parametrize("digits", [30, 5000])
def test_an_id_of_any_length_is_answered(project, as_editor, digits):
    number = "9" * digits
    assert as_editor.get(f"{PAGE}{number}/").status_code == 404
    assert as_editor.post(f"{PAGE}{number}/decide/").status_code == 404
    assert as_editor.get(GROUP, {"donor": number}).status_code == 400
    assert as_editor.get(f"{PAGE}?tier={number}&after=1~{number}~1").status_code == 200
    assert as_editor.get("/p/shop/export/", {"before": number, "tier": number}).status_code == 200
    assert as_editor.get(f"/p/shop/export/{number}/").status_code == 404


def test_a_form_whose_place_holds_a_line_break_is_refused(edge, as_editor):
    as_editor.post(decide_url(edge), form(edge))
    assert as_editor.post(UNDO, {"query": "text=a\nb"}).status_code == 400
    assert as_editor.post(GROUP, {"donor": edge.source_id, "query": "text=a\nb"}).status_code == 400
    assert status(edge) == "accepted"


# ------------------------------------------------------------------------------------------------------ a group


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
    as_editor.post(UNDO)
    assert {status(edge) for edge in edges} == {"suggested"}


def test_the_preview_keeps_to_the_filter(project, as_editor):
    donor = make_page(project)
    make_edge(project, donor, anchor="red boots")
    make_edge(project, donor, anchor="blue boots")
    assert "Accept 1 suggestion on" in text(as_editor.get(GROUP, {"donor": donor.pk, "query": "text=blue"}))


def test_what_others_decided_meanwhile_is_left_alone_and_counted(project, as_editor):
    donor = make_page(project)
    edges = [make_edge(project, donor) for _ in range(3)]
    pairs = [f"{edge.pk}:{edge.run_id}" for edge in edges]
    decide_edges(project, [edges[0].pk], Verb.REJECT, make_member(project, username="maria"))
    answer = as_editor.post(GROUP, {"donor": donor.pk, "edge": pairs}, headers=HTMX)
    assert [status(edge) for edge in edges] == ["rejected", "accepted", "accepted"]
    assert "maria decided first" in text(answer)
    assert f'id="preview-{donor.pk}" data-preview hx-swap-oob="true"' in answer.content.decode()


@pytest.mark.parametrize("pairs", [["x"], ["1"], ["1:²"], ["9" * 30 + ":1"]])
def test_a_group_form_that_no_preview_sends_is_refused(edge, as_editor, pairs):
    assert as_editor.post(GROUP, {"donor": edge.source_id, "edge": pairs}).status_code == 400


def test_the_next_edge_follows_in_the_order_of_the_list(project):
    edges = [make_edge(project, score=score) for score in (0.9, 0.85, 0.82)]
    filters = QueueFilter.from_query(QueryDict("order=score"))
    assert selectors.next_edge(project, filters, edges[0]) == edges[1]
    assert selectors.next_edge(project, filters, edges[2]) == edges[0]
    CandidateEdge.objects.exclude(pk=edges[2].pk).update(status=EdgeStatus.REJECTED)
    assert selectors.next_edge(project, filters, edges[2]) is None


# ----------------------------------------------------------------------------------------- where it goes, and why


SOCKS = "Socks\nPut socks on. Warm socks help.\nBoots\nDry the socks at night. Then rest."


def learned(project, body: str = SOCKS, **fields: object) -> CandidateEdge:
    """A suggestion of a learned run."""
    fields = {"ranked_by": "learned", "probability": 0.624, "quantile": 0.95, **fields}
    return make_edge(project, make_page(project, body=body), **fields)  # type: ignore[arg-type]


def at(phrase: str, body: str = SOCKS) -> dict[str, int]:
    return {"span_start": body.rindex(phrase), "span_end": body.rindex(phrase) + len(phrase)}


def test_the_sentence_is_that_of_the_place_and_not_the_first_mention(project, as_editor):
    learned(project, anchor="socks", **at("socks"))
    content = as_editor.get(PAGE).content.decode()
    assert "Dry the <mark>socks</mark> at night." in content
    assert 'small">Boots</span>' in content


def test_where_an_import_has_moved_the_text_the_words_are_looked_for_anew(project, as_editor):
    learned(project, anchor="warm socks", span_start=1, span_end=11)
    assert "<mark>Warm socks</mark> help." in as_editor.get(PAGE).content.decode()
    CandidateEdge.objects.update(span_start=5000, span_end=5010)
    assert "<mark>Warm socks</mark> help." in as_editor.get(PAGE).content.decode()


def test_the_card_says_why_in_words_and_who_found_it(project, as_editor):
    learned(project, why="The text names this page: “socks”.", generators=["mention", "nearest", "neighbour_links"])
    page = text(as_editor.get(PAGE))
    assert "The text names this page: “socks”." in page
    assert "Mention · Nearest by meaning · Neighbours link to it" in page
    assert "62% probability" in page
    assert "Ranked by learned" in page


def test_the_numbers_behind_it_are_folded_away(project, as_editor):
    learned(project, evidence={"share": 0.8, "an_unknown_one": 2})
    content = as_editor.get(PAGE).content.decode()
    assert '<details class="edge__numbers"><summary>' in content
    assert "0.800 of the phrase's links lead here 2 an unknown one" in text(as_editor.get(PAGE))


@pytest.mark.parametrize(
    ("quantile", "words"),
    [(1.0, "best 10%"), (0.9, "best 10%"), (0.89, "best 25%"), (0.5, "upper half"), (0.0, "lower half")],
)
def test_words_for_a_score_are_read_off_its_run(project, quantile, words):
    assert words in selectors.card_of(learned(project, quantile=quantile, score=0.3, similarity=0.1)).quantile_in_words


@pytest.mark.parametrize(
    ("probability", "shown"), [(0.0, "0%"), (0.004, "<1%"), (0.625, "62%"), (0.998, ">99%"), (1.0, "100%")]
)
def test_a_probability_is_never_rounded_to_certainty(project, probability, shown):
    assert selectors.card_of(learned(project, probability=probability)).headline == (shown, "probability")


def test_a_content_gap_says_what_an_editor_can_do(project, as_editor):
    learned(project, anchor="blisters", content_gap=True, placement="related")
    page = text(as_editor.get(PAGE))
    assert "Content gap: no words of the text fit well" in page
    assert "Write the sentence and edit the anchor to its words, or accept the link for the related block." in page


def gap(project, paragraph: str, body: str = SOCKS, **fields: object) -> CandidateEdge:
    """A content gap that a match found a paragraph for."""
    page = make_page(project, body=body)
    page.refresh_from_db()
    start = body.index(paragraph)
    span = {"paragraph_start": start, "paragraph_end": start + len(paragraph), "paragraph_hash": page.body_hash}
    fields = {"anchor": "blisters", "content_gap": True, "placement": "related", **span, **fields}
    return make_edge(project, page, make_page(project, "/blisters", title="All about blisters"), **fields)


def test_a_content_gap_shows_the_paragraph_that_a_sentence_could_follow(project, as_editor):
    gap(project, "Warm socks help.", paragraph_heading="Boots")
    page = text(as_editor.get(PAGE))
    assert "A sentence about blisters could follow this paragraph: Boots Warm socks help." in page


def test_a_paragraph_of_a_text_that_has_changed_is_not_shown(project, as_editor):
    edge = gap(project, "Warm socks help.")
    type(edge.source).objects.filter(pk=edge.source_id).update(body=f"{SOCKS} Always.")
    assert "could follow this paragraph" not in text(as_editor.get(PAGE))


def test_of_a_long_paragraph_the_card_shows_the_beginning_and_the_end(project):
    body = "First words of it. " + "And so it goes on and on. " * 40 + "Last words of it."
    shown = selectors.card_of(gap(project, body, body)).paragraph
    assert shown is not None
    assert shown.text.startswith("First words of it.")
    assert shown.text.endswith("Last words of it.")
    assert len(shown.text) < 450
    assert shown.text.count("…") == 1


def test_a_hostile_paragraph_stays_text(project, as_editor):
    evil = "<script>alert(1)</script> and <img src=x>."
    gap(project, evil, evil, paragraph_heading=evil)
    content = as_editor.get(PAGE).content.decode()
    assert "<script>alert" not in content
    assert "<img" not in content


def test_alternatives_say_where_they_come_from_and_whether_the_text_holds_them(project, as_editor):
    others = [
        {"text": "warm socks", "source": "anchor", "raw": "", "start": 20, "end": 30},
        {"text": "wool", "source": "query", "raw": "", "impressions": 1200},
    ]
    learned(project, anchor="socks", anchor_alternatives=others, **at("socks"))
    page = text(as_editor.get(PAGE))
    assert "1 warm socks in the text · Anchor in use 2 wool Search query, 1,200 impressions" in page


def test_an_edited_anchor_that_the_text_does_not_hold_says_so(project, as_editor, editor):
    edge = learned(project, anchor="socks", **at("socks"))
    decide_edges(project, [edge.pk], Verb.EDIT, editor, Ruling(anchor="woollen hats", overrules={edge.pk: CODES}))
    assert "needs a copy change" in text(as_editor.get(f"{PAGE}?status=accepted"))
    assert "Not in the text: needs a copy change" in text(as_editor.get(f"{PAGE}{edge.pk}/"))


def test_hostile_reasons_and_numbers_stay_text(project, as_editor):
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    body = f"A {evil} b."
    alternatives = [{"text": evil, "source": evil, "raw": "", "start": 2, "end": 2 + len(evil)}]
    learned(project, body, why=evil, evidence={evil: 1.0}, anchor="b", anchor_alternatives=alternatives)
    learned(project, body, why=evil, generators=[evil[:20]], anchor=evil, **at(evil, body))
    content = as_editor.get(PAGE).content.decode()
    assert "<script>alert" not in content
    assert "<img" not in content


def test_tiers_of_one_name_are_one_choice(project, as_editor):
    edge = learned(project, tier=project.tiers.get(basis="probability", name="Inline"))
    other = make_edge(project, score=0.9)
    page = as_editor.get(PAGE, {"tier": edge.tier_id}).content.decode()
    assert page.count(">Inline</option>") == 1
    assert f'id="edge-{edge.pk}"' in page
    assert f'id="edge-{other.pk}"' in page
