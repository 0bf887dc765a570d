"""The queue of a small project in Chromium, with and without a script."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from django.contrib.auth.models import User
    from playwright.sync_api import BrowserContext, Page

    from linker.models import CandidateEdge, Project


@pytest.fixture(autouse=True)
def _answered(live_server) -> Iterator[None]:
    """A page that is closed may still send what it has kept; the database is emptied once that is answered."""
    yield
    for _ in range(500):
        if not any("process_request_thread" in thread.name for thread in threading.enumerate()):
            return
        time.sleep(0.01)


@pytest.fixture
def edges(project) -> list[CandidateEdge]:
    """Two suggestions of one donor, best first, then two of another."""
    return _suggest(project, 4, 2)


@pytest.fixture
def many(project) -> list[CandidateEdge]:
    """Sixty suggestions, thirty of each of two donors, best first: more than the browser fetches at once."""
    return _suggest(project, 60, 30)


@pytest.fixture
def row(project) -> list[CandidateEdge]:
    """Eighteen suggestions of one donor, best first."""
    return _suggest(project, 18, 18)


def _suggest(project: Project, count: int, per_donor: int) -> list[CandidateEdge]:
    from linker.engine.params import MatchParams
    from tests.browser.queue.screen import BODY
    from tests.factories import make_edge, make_page, make_run

    run = make_run(project, params=MatchParams(inline_per_donor=30).to_dict())  # a donor has room for all of its links
    donors = [make_page(project, title=f"Donor {n + 1}", body=BODY) for n in range(count // per_donor)]
    alternatives = [{"text": "snow boots", "source": "h1", "raw": ""}, {"text": "dry boots", "source": "h1", "raw": ""}]
    return [
        make_edge(
            project, donors[n // per_donor], make_page(project, title=f"Target {n}"), score=0.95 - n / 1000, run=run,
            anchor="warm boots", donor_best=0.95 - n // per_donor / 20, anchor_alternatives=alternatives,
        )
        for n in range(count)
    ]  # fmt: skip


@pytest.fixture
def queue_url(live_server, project) -> str:
    return f"{live_server.url}/p/{project.slug}/queue/"


@pytest.fixture
def at_queue(page, queue_url, edges, editor, sign_in) -> Page:
    """The queue page, its first card open."""
    from tests.browser.queue.screen import open_queue

    sign_in(editor)
    return open_queue(page, queue_url)


@pytest.fixture
def at_row(page, queue_url, row, editor, sign_in) -> Page:
    """The queue of the row, its first card open."""
    from tests.browser.queue.screen import open_queue

    sign_in(editor)
    return open_queue(page, queue_url)


@pytest.fixture
def at_many(page, queue_url, many, editor, sign_in) -> Page:
    """The queue of the many suggestions, its first card open."""
    from tests.browser.queue.screen import open_queue

    sign_in(editor)
    return open_queue(page, queue_url)


@pytest.fixture
def context_of(browser, live_server, client_for) -> Iterator[Callable[..., BrowserContext]]:
    """context_of(user): another browser, in which the user is signed in."""
    contexts: list[BrowserContext] = []

    def make(user: User, **options: object) -> BrowserContext:
        context = browser.new_context(**options)
        contexts.append(context)
        cookie = client_for(user).cookies["sessionid"]
        context.add_cookies([{"name": "sessionid", "value": cookie.value, "url": live_server.url}])
        return context

    yield make
    for context in contexts:
        context.close()
