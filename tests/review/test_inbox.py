"""What waits for a user is in one list, with its number in the navigation."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from linker.models import CandidateEdge, ExpertSection, Gate, Membership
from linker.projects.policies.gates import add_gate
from review import second_person
from review.decisions import decide_edges
from review.live import funnel
from review.models import LiveState, OpinionRequest, PublishedLink, Verb
from review.quality.inbox import MOST, SHOWN, dead_links, number_waiting, questions
from review.queue import opinions
from review.releases import outgoing
from tests.factories import make_category, make_edge, make_member, make_page
from tests.review.queue_requests import EVIL, text
from tests.review.test_release import release_of

pytestmark = pytest.mark.django_db

INBOX = "/p/shop/inbox/"


def badge(client) -> str:
    """What every page says beside "Inbox"."""
    return text(client.get("/p/shop/")).partition(" Why not?")[0].rpartition("Inbox")[2].strip()


def waiting(project, user) -> int:
    return number_waiting(Membership.objects.get(project=project, user=user), user)


@pytest.mark.nightly
def test_questions_and_mentions_wait_until_they_are_answered(project, editor, ada, as_editor, client_for):
    asked, named, over = (make_edge(project, anchor=anchor) for anchor in ("warm boots", "dry socks", "old hats"))
    assert "Nothing waits for you" in text(as_editor.get(INBOX))
    assert badge(as_editor) == ""
    opinions.ask(project, ada, asked.pk, editor.username, f"Take it? {EVIL}")
    opinions.say(project, ada, named.pk, f"Look at this, @{editor.username}.")
    opinions.say(project, ada, over.pk, f"And at this, @{editor.username}.")
    decide_edges(project, [over.pk], Verb.REJECT, ada)
    page = as_editor.get(INBOX)
    assert EVIL not in page.content.decode()
    assert "warm boots" in text(page)
    assert "dry socks" in text(page)
    assert "old hats" not in text(page)
    assert badge(as_editor) == "2 wait for you"
    assert badge(client_for(ada)) == ""
    opinions.say(project, editor, asked.pk, "Yes.")
    opinions.say(project, editor, named.pk, "Seen.")
    assert badge(as_editor) == ""


def test_what_is_asked_of_anybody_waits_for_everybody_else(project, editor, ada, as_editor):
    opinions.ask(project, ada, make_edge(project).pk)
    make_member(project, username="bo")
    assert (waiting(project, editor), waiting(project, ada)) == (1, 0)


@pytest.mark.nightly
def test_the_list_of_questions_looks_at_none_that_was_answered(project, editor, ada):
    edges = [make_edge(project) for _ in range(30)]
    for edge in edges:
        opinions.ask(project, ada, edge.pk)
    OpinionRequest.objects.filter(edge__in=edges[1:]).update(answered_at=timezone.now())
    listed, values = questions(project, editor)[:SHOWN].query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {listed}", values)
        [[plan]] = cursor.fetchall()
    [step] = [step for step in steps(plan[0]["Plan"]) if step.get("Relation Name") == "review_opinionrequest"]
    assert (step["Index Name"], step.get("Rows Removed by Filter", 0)) == ("opinion_open", 0)


def steps(plan):
    return [plan, *(step for part in plan.get("Plans", ()) for step in steps(part))]


@pytest.mark.nightly
def test_the_number_costs_one_query_and_stops_counting(project, editor, ada):
    edge, membership = make_edge(project), Membership.objects.get(project=project, user=editor)
    membership.project = project
    for _ in range(MOST + 5):
        opinions.say(project, ada, edge.pk, f"@{editor.username}")
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert number_waiting(membership, editor) == MOST
    assert len(asked) == 1


@pytest.mark.nightly
def test_links_that_a_member_may_approve_as_the_second_person_wait_for_them(
    project, redis_server, editor, ada, manager, client_for
):
    """Never one's own, and for an expert those of pages that both lie in their sections."""
    add_gate(Gate(project=project, min_clicks=100), manager)
    inside, outside = make_category(project, "Health"), make_category(project, "Money")
    pages = [make_page(project, category=one, clicks=100) for one in (inside, inside, outside)]
    edges = [make_edge(project, pages[0], pages[1]), make_edge(project, pages[1], pages[2])]
    expert = make_member(project, role="expert", username="eve")
    ExpertSection.objects.create(membership=Membership.objects.get(user=expert), category=inside)
    decide_edges(project, [edges[0].pk], Verb.ACCEPT, ada)
    decide_edges(project, [edges[1].pk], Verb.ACCEPT, manager)
    assert {user.username: waiting(project, user) for user in (editor, ada, manager, expert)} == {
        editor.username: 0, "ada": 0, manager.username: 1, "eve": 1,
    }  # fmt: skip
    page = text(client_for(manager).get(INBOX))
    assert "Waits for a second person 1 Review them" in page
    assert badge(client_for(manager)) == "1 wait for you"
    assert "Nothing waits for you" in text(client_for(editor).get(INBOX))
    second_person.approve(Membership.objects.get(project=project, user=manager), edges[0].pk, manager)
    assert (waiting(project, manager), waiting(project, expert)) == (0, 0)


@pytest.mark.nightly
def test_of_many_that_wait_a_hundred_are_counted_and_few_are_looked_at(project, ada, manager, client_for):
    pages = [make_page(project) for _ in range(MOST + 2)]
    edges = [make_edge(project, pages[0], page, status="accepted", reviewed=True) for page in pages[1:]]
    CandidateEdge.objects.update(waits=True)
    assert len(edges) > MOST
    assert waiting(project, manager) == MOST
    assert f"Waits for a second person {MOST}+" in text(client_for(manager).get(INBOX))
    assert f"LIMIT {second_person.LOOKED_AT}" in str(
        second_person.may_approve(Membership.objects.get(project=project, user=manager)).query
    )


@pytest.mark.nightly
def test_released_links_that_lead_nowhere_wait_for_managers_until_somebody_sees_to_them(
    project, editor, manager, client_for
):
    edge = make_edge(project, status="accepted", reviewed=True)
    release_of(project)
    assert badge(client_for(manager)) == ""
    PublishedLink.objects.update(state=LiveState.DEAD)
    as_manager = client_for(manager)
    assert badge(as_manager) == "1 wait for you"
    page = as_manager.get(INBOX)
    assert "Released links that lead nowhere 1 See to them" in text(page)
    assert "/p/shop/export/live/?state=dead" in page.content.decode()
    assert "1 released link leads nowhere: its acceptor is gone." in text(as_manager.get("/p/shop/"))
    assert badge(client_for(editor)) == ""
    outgoing.withdraw(project, project.edges.filter(pk=edge.pk), manager)
    assert badge(as_manager) == ""
    assert "leads nowhere" not in text(as_manager.get("/p/shop/"))


def test_of_many_links_that_lead_nowhere_few_are_looked_at_by_their_index(project, manager):
    membership = Membership.objects.get(project=project, user=manager)
    listed, values = dead_links(membership)[:MOST].query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        # On a table of few rows any index will do, so that the others are left out.
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indrelid = 'review_publishedlink'::regclass "
            "AND indexrelid <> 'published_open_by_state'::regclass"
        )
        cursor.execute(f"EXPLAIN (FORMAT JSON) {listed}", values)
        [[plan]] = cursor.fetchall()
    assert f"LIMIT {funnel.LOOKED_AT}" in listed
    assert "published_open_by_state" in {step.get("Index Name") for step in steps(plan[0]["Plan"])}
