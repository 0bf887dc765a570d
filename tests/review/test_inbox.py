"""What waits for a user is in one list, with its number in the navigation."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from review.decisions import decide_edges
from review.models import Verb
from review.quality.inbox import MOST, number_waiting
from review.queue import opinions
from tests.factories import make_edge, make_member
from tests.review.queue_requests import EVIL, text

pytestmark = pytest.mark.django_db

INBOX = "/p/shop/inbox/"


def badge(client) -> str:
    """What every page says beside "Inbox"."""
    return text(client.get("/p/shop/")).partition(" Why not?")[0].rpartition("Inbox")[2].strip()


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
    assert (number_waiting(project, editor), number_waiting(project, ada)) == (1, 0)


def test_the_number_costs_one_query_and_stops_counting(project, editor, ada):
    edge = make_edge(project)
    for _ in range(MOST + 5):
        opinions.say(project, ada, edge.pk, f"@{editor.username}")
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert number_waiting(project, editor) == MOST
    assert len(asked) == 1
