"""The queue's list: what it holds, how it is counted, and who may look at it."""

from __future__ import annotations

import html
import re

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext

from linker.models import CandidateEdge, EdgeStatus, RunKind, RunStatus
from review.decisions import decide_edges
from review.models import SetAside, Verb
from review.queue import selectors
from review.queue.counts import queue_counts
from review.queue.filters import QueueFilter
from review.undoing import undo
from tests.factories import make_category, make_edge, make_link, make_member, make_page, make_run
from tests.markup import compact
from tests.review.queue_requests import (
    BODY,
    DECK,
    GROUP,
    PAGE,
    UNDO,
    decide_url,
    form,
    operation,
    readable,
    send,
    status,
    text,
)

pytestmark = pytest.mark.django_db


def test_counts_tell_open_held_stale_sensitive_and_decided_apart(project, editor):
    for fields in (
        {}, {"sensitive": "Medical: x"}, {"score": 0.55}, {"stale": True}, {"score": 0.55, "stale": True},
        {"score": 0.1}, {"status": "rejected"}, {"status": "exported"}, {"status": "exported", "stale": True},
    ):  # fmt: skip
        make_edge(project, **fields)
    decide_edges(project, [make_edge(project).pk], Verb.ACCEPT, editor)
    decide_edges(project, [make_edge(project).pk], Verb.ACCEPT, make_member(project))
    counts = queue_counts(project, QueueFilter(), editor)
    assert (counts.to_review, counts.sensitive, counts.held, counts.stale) == (2, 1, 2, 2)
    assert (counts.accepted, counts.rejected, counts.exported, counts.today) == (2, 1, 2, 1)
    assert counts.total == 11
    shown = queue_counts(project, QueueFilter(held=True, stale=True), editor)
    assert (shown.to_review, shown.held, shown.stale) == (6, 0, 0)
    assert queue_counts(project, QueueFilter(sensitive="only"), editor).total == 1


def test_what_was_undone_is_not_counted_as_done_today(project, editor):
    decide_edges(project, [make_edge(project).pk], Verb.ACCEPT, editor)
    undo(project, editor)
    assert queue_counts(project, QueueFilter(), editor).today == 0


@pytest.mark.nightly
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


def test_an_empty_project_asks_for_a_match_run(project, as_editor):
    make_page(project)
    page = text(as_editor.get(PAGE))
    assert "No suggestions yet" in page
    assert "Run a match" in page


def test_the_key_of_the_search_is_told_as_other_keys_are(project, as_editor):
    """A phone hides them, and could not hide what stands in the field."""
    page = compact(as_editor.get(PAGE).content.decode())
    assert 'placeholder="Search" ' in page
    assert '<kbd aria-hidden="true">/</kbd>' in page


def test_a_project_without_pages_asks_for_pages_first(project, as_editor):
    page = as_editor.get(PAGE)
    assert f'href="/p/{project.slug}/import/">Import pages' in page.content.decode()
    assert "Run a match" not in text(page)


def test_while_a_match_runs_the_empty_queue_says_how_far_it_is_and_offers_no_other(project, as_editor):
    run = make_run(project, RunKind.MATCH, RunStatus.RUNNING, done=45, total=60)
    page = as_editor.get(PAGE)
    assert f"A match is under way. What it suggests is listed here once it has finished. Match #{run.pk}" in text(page)
    assert "75%" in text(page)
    assert f'href="/p/shop/runs/{run.pk}/"' in page.content.decode()
    assert "Run a match" not in text(page)


def test_while_pages_are_read_the_empty_queue_names_the_runs(project, as_editor):
    runs = [make_run(project, kind, RunStatus.QUEUED) for kind in (RunKind.IMPORT_PAGES, RunKind.EMBED)]
    make_run(project, RunKind.ALERTS, RunStatus.RUNNING)
    page = text(as_editor.get(PAGE))
    assert f"Import pages #{runs[0].pk} Waiting Embed pages #{runs[1].pk} Waiting" in page
    assert "Run a match" not in page
    assert "Look for alerts" not in page


def test_an_emptied_queue_says_so_and_offers_what_is_held_back(project, as_editor):
    make_edge(project, score=0.55)
    make_edge(project, score=0.1)
    page = as_editor.get(PAGE)
    assert "Nothing left to review" in text(page)
    assert "for this filter" not in text(page), "there is none"
    assert "Held back 2" in text(page)
    assert "held=1" in page.content.decode()


def test_the_end_of_the_list_says_what_was_decided_and_leads_to_what_waits(project, as_editor, editor):
    decide_edges(project, [make_edge(project).pk, make_edge(project).pk], Verb.ACCEPT, editor)
    decide_edges(project, [make_edge(project).pk], Verb.REJECT, editor)
    SetAside.objects.create(project=project, user=editor, edge=make_edge(project))
    page = as_editor.get(PAGE)
    end = page.content.decode().partition('class="end"')[2].partition("</ul>")[0]
    shown = [readable(row.strip("> ")) for row in end.split("<li data-end-row")[1:] if not row.startswith(" hidden")]
    assert shown == ["Set aside for later 1", "Accepted 2", "Rejected 1"]
    assert "You have decided 3 today." in text(page)
    for query in ("later=1", "status=accepted", "status=rejected"):
        assert f'href="?{query}"' in end
    sent = send(as_editor, operation("back", edge=SetAside.objects.get().edge_id))
    assert {sent["counts"]["menu"][name] for name in ("later", "today")} == {"0", "3"}


def test_the_end_of_a_filtered_list_says_which_numbers_are_of_the_filter(project, as_editor, editor):
    edges = [make_edge(project, anchor=words) for words in ("red boots", "blue boots")]
    decide_edges(project, [edge.pk for edge in edges], Verb.ACCEPT, editor)
    page = text(as_editor.get(f"{PAGE}?text=red"))
    assert "You have decided 2 today, with this filter and others." in page
    assert re.search(r"whoever decided: .*Accepted 1 ", page)


def test_each_tick_of_the_filter_stands_before_its_label(edge, as_editor):
    form = compact(as_editor.get(f"{PAGE}all-filters/").content.decode())
    ticks = re.findall(r'<label class="field--check field"> ?<input type="checkbox" name="(\w+)"', form)
    assert ticks == re.findall(r'type="checkbox" name="(\w+)"', form) == ["held", "stale", "regressed"]


def test_a_field_that_is_not_known_is_named(edge, as_editor):
    page = text(as_editor.get(f"{PAGE}?categroy=5&after=1"))
    assert "The filter ignores these, because the field or its value is unknown: categroy." in page


def test_the_filter_goes_along_to_the_export(project, as_editor):
    edge = make_edge(project)
    make_edge(project, edge.source, status=EdgeStatus.ACCEPTED)
    decide_edges(project, [edge.pk], Verb.ACCEPT, make_member(project))
    query = f"?donor={edge.source_id}&sensitive=not"
    content = "".join(compact(as_editor.get(page + query).content.decode()) for page in (f"{PAGE}all-filters/", PAGE))
    links = re.findall(r'href="([^"]+)">\s*(Export [^<]*\w)', content)
    there = f"/p/shop/export/?sensitive=not&amp;donor={edge.source_id}&amp;status=suggested"
    accepted = f"/p/shop/export/?status=accepted&amp;sensitive=not&amp;donor={edge.source_id}"
    assert links == [(there, "Export this selection"), (accepted, "Export accepted links")]
    assert "2 links" in text(as_editor.get(html.unescape(accepted)))


@pytest.mark.nightly
def test_a_bad_filter_is_named_instead_of_failing(project, as_editor):
    page = as_editor.get(f"{PAGE}?tier=x&after=nonsense&status=gone")
    assert page.status_code == 200
    assert "unknown: tier, status" in text(page)


@pytest.mark.nightly
@pytest.mark.parametrize("bad", ["category=abc", "tier=x", "sensitive=maybe"])
def test_a_value_that_the_queue_leaves_out_is_refused_by_the_export_that_it_leads_to(project, as_editor, bad):
    edge = make_edge(project, status=EdgeStatus.ACCEPTED)
    query = f"?donor={edge.source_id}&{bad}"
    content = "".join(compact(as_editor.get(page + query).content.decode()) for page in (f"{PAGE}all-filters/", PAGE))
    there = [html.unescape(link) for link in re.findall(r'href="([^"]+)">\s*Export [^<]+', content)]
    assert len(there) == 2
    for address in there:
        assert "Nothing is selected, and nothing is exported" in text(as_editor.get(address))
        assert as_editor.post(address, {"format": "full"}).status_code == 400
    assert status(edge) == "accepted"


def test_a_category_that_is_gone_lists_nothing(project, as_editor):
    make_edge(project)
    page = as_editor.get(f"{PAGE}?category=0&donor=0")
    assert page.status_code == 200
    assert page.context["counts"].total == 0


@pytest.mark.nightly
def test_reading_writes_nothing(edge, as_editor, project):
    make_link(edge.source, make_page(project))
    addresses = (PAGE, f"{PAGE}{edge.pk}/", f"{GROUP}?donor={edge.source_id}", decide_url(edge), UNDO)
    as_editor.get(PAGE)
    with CaptureQueriesContext(connection) as captured:
        for address in addresses:
            as_editor.get(address)
    assert not [query for query in captured if re.match(r"(INSERT|UPDATE|DELETE)", query["sql"])]
    assert status(edge) == "suggested"


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


@pytest.mark.nightly
def test_viewers_look_and_do_not_decide(edge, client_for, viewer):
    client = client_for(viewer)
    page = client.get(PAGE)
    assert page.status_code == 200
    assert "data-decide" not in page.content.decode()
    assert "data-group" not in page.content.decode()
    for address, data in ((decide_url(edge), form(edge)), (UNDO, {}), (GROUP, {"donor": edge.source_id})):
        assert client.post(address, data).status_code == 403
    assert status(edge) == "suggested"


def test_tiers_of_one_name_are_one_choice(project, as_editor):
    edge = make_edge(
        project, ranked_by="learned", probability=0.624, tier=project.tiers.get(basis="probability", name="Likely")
    )
    other = make_edge(project, score=0.9)
    page = as_editor.get(f"{PAGE}all-filters/", {"tier": edge.tier_id}).content.decode()
    assert page.count(">Likely (2)</option>") == 1
    listed = as_editor.get(DECK, {"tier": edge.tier_id}).json()["cards"]
    assert {card["edge"] for card in listed} == {edge.pk, other.pk}


@pytest.mark.nightly
def test_the_next_edge_follows_in_the_order_of_the_list(project, editor):
    edges = [make_edge(project, score=score) for score in (0.9, 0.85, 0.82)]
    filters = QueueFilter.from_query(QueryDict("order=score"))
    assert selectors.next_edge(project, filters, editor, edges[0]) == edges[1]
    assert selectors.next_edge(project, filters, editor, edges[2]) == edges[0]
    CandidateEdge.objects.exclude(pk=edges[2].pk).update(status=EdgeStatus.REJECTED)
    assert selectors.next_edge(project, filters, editor, edges[2]) is None
