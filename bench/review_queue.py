"""The review queue of a large project, with ten editors at once, against an empty view of the same app.

    python bench/review_queue.py [--edges 5000000] [--small 50000] [--seconds 4] [--only queue,search]

gunicorn serves the app, two processes of five threads; ten clients, each signed in as an editor of its own, ask for the
same page for so many seconds. The empty view is the list of pages of a project without any, measured in turn with the
page that is asked for in the small project and in the large one, so that whatever else the machine does weighs on all
of them. One row compares the median, and one the 99th percentile, with those of the empty view; a third the median with
that of the same page in a project of `--small` suggestions, in the same database, both in empty views. A decision is a
request that accepts one suggestion.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import TYPE_CHECKING
from uuid import uuid4

from _common import ROOT, head, migrate, note, row
from _suggestions import EDITORS, make_suggestions
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore

from linker.models import CandidateEdge, Category, EdgeStatus, Membership, Page, Project, Tier
from linker.models.querysets import TO_REVIEW
from linker.projects.create import create_project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOKEN = "b" * 32
EMPTY = "/p/empty/pages/"
ROUNDS = 4


@dataclass(frozen=True)
class Times:
    """Seconds that the requests of all editors took."""

    seconds: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def high(self) -> float:
        return statistics.quantiles(self.seconds, n=100)[98]


def session_of(user: User) -> str:
    """The key of a new session in which the user is signed in."""
    session = SessionStore()
    session[SESSION_KEY], session[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
    session.create()
    return session.session_key or ""


class Editor:
    """A signed-in browser, reduced to its requests."""

    def __init__(self, port: int, user: User) -> None:
        self.connection = HTTPConnection("127.0.0.1", port, timeout=120)
        cookies = f"{settings.SESSION_COOKIE_NAME}={session_of(user)}; {settings.CSRF_COOKIE_NAME}={TOKEN}"
        self.headers = {"Cookie": cookies, "X-CSRFToken": TOKEN, "Content-Type": "application/json"}

    def ask(self, path: str, body: str | None = None) -> float:
        began = time.perf_counter()
        self.connection.request("POST" if body else "GET", path, body, self.headers)
        answer = self.connection.getresponse()
        content = answer.read()
        took = time.perf_counter() - began
        if answer.status != 200 or (body and b'"saved"' not in content):
            raise RuntimeError(f"{path}: {answer.status} {content[:300]!r}")
        return took


@contextmanager
def served() -> Iterator[int]:
    """The app behind gunicorn; the port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    options = ["--bind", f"127.0.0.1:{port}", "--workers", "2", "--threads", "5", "--log-level", "error"]
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", *options, "--no-control-socket", "--keep-alive", "60", "linker.wsgi"],
        cwd=ROOT,
        env=os.environ | {"LOG_LEVEL": "ERROR"},
    )
    try:
        for _ in range(600):
            with socket.socket() as client:
                if not client.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(60)


def at_once(editors: list[Editor], request: Callable[[Editor], float], seconds: float) -> Times:
    """All editors ask again and again, one request after the other, for so long, and each at least once."""
    times: list[float] = []
    errors: list[Exception] = []
    end = time.perf_counter() + seconds

    def work(editor: Editor) -> None:
        try:
            times.append(request(editor))
            while time.perf_counter() < end:
                times.append(request(editor))
        except Exception as error:  # noqa: BLE001 - said below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(editor,)) for editor in editors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return Times(times)


def pages(project: Project) -> dict[str, str]:
    """What is asked for, by what it is called."""
    queue = f"/p/{project.slug}/queue/"
    large, rare = (Category.objects.filter(project=project).order_by(order).first() for order in ("-pk", "pk"))
    donor = Page.objects.filter(project=project).order_by("pk").first()
    tiers = {tier.name: tier.pk for tier in Tier.objects.filter(project=project, basis=project.tier_basis)}
    filters = {
        "tier": f"tier={tiers['Related']}", "held tier": f"tier={tiers['Reserve']}",
        "large category": f"category={large.pk}", "small category": f"category={rare.pk}",
        "sensitive": "sensitive=only", "not sensitive": "sensitive=not", "donor": f"donor={donor.pk}",
        "in the text": "placement=inline", "gap": "placement=gap", "generator": "generator=words",
        "rare generator": "generator=mentions", "ranked by": "ranked_by=learned", "probability": "probability=95",
        "probability, all": "probability=10", "pilot": "pilot=only", "no pilot": "pilot=not", "held": "held=1",
        "stale": "stale=1", "later": "later=1",
        **{f"status {status}": f"status={status}" for status in [*EdgeStatus.values[1:], "all"]},
        **{f"order {order}": f"order={order}" for order in ("need", "target", "category", "score")},
        "order score, all": "order=score&status=all",
        "category and tier": f"category={large.pk}&tier={tiers['Likely']}&order=score",
        "search rare": "text=copperhead", "search common": "text=guide", "search usual": "text=w17",
        "search none": "text=nowhere", "search two words": "text=guide+w42",
    }  # fmt: skip
    return {
        "queue": queue,
        "deck": f"{queue}deck/",
        "overview": f"/p/{project.slug}/",
        "export page": f"/p/{project.slug}/export/",
        **{name: f"{queue}?{query}" for name, query in filters.items()},
    }


class Deciding:
    """Accepts open suggestions, each once."""

    def __init__(self, project: Project, many: int) -> None:
        self.path = f"/p/{project.slug}/queue/operations/"
        edges = CandidateEdge.objects.filter(TO_REVIEW, project=project).order_by("-score")
        self.waiting = list(edges.values_list("pk", "run_id", "anchor")[:many])
        self.lock = threading.Lock()

    def __call__(self, editor: Editor) -> float:
        with self.lock:
            edge, run, anchor = self.waiting.pop()
        operation = {"key": str(uuid4()), "kind": "decide", "edge": edge, "do": "anyway", "expected": "suggested",
                     "run": run, "shown": anchor, "anchor": anchor, "warned_of": anchor,
                     "warned": "unrelated generic identical misleading too_long address banned"}  # fmt: skip
        return editor.ask(self.path, json.dumps({"query": "", "operations": [operation]}))


@dataclass(frozen=True)
class Measured:
    """A page's times, and the empty view's before it."""

    page: Times
    empty: Times

    @property
    def ratios(self) -> tuple[float, float]:
        return self.page.median / self.empty.median, self.page.high / self.empty.high


def works_of(project: Project) -> dict[str, Callable[[Editor], float]]:
    asked: dict[str, Callable[[Editor], float]] = {
        name: lambda editor, path=path: editor.ask(path) for name, path in pages(project).items()
    }
    return asked | {"decision": Deciding(project, 20_000)}


def measure(
    editors: list[Editor], small: Project, large: Project, seconds: float, only: list[str]
) -> dict[str, tuple[Measured, Measured]]:
    """By what is asked for, the times in the small project and in the large one."""
    found: dict[str, tuple[Measured, Measured]] = {}
    of_large = works_of(large)
    for name, of_small in works_of(small).items():
        if only and not any(name.startswith(part) for part in only):
            continue
        works = (of_small, of_large[name])
        measured = (Measured(Times([]), Times([])), Measured(Times([]), Times([])))
        for work in works:
            work(editors[0])
        for _ in range(ROUNDS):
            for work, times in zip(works, measured, strict=True):
                empty = at_once(editors, lambda editor: editor.ask(EMPTY), seconds / ROUNDS / 3)
                times.empty.seconds.extend(empty.seconds)
                times.page.seconds.extend(at_once(editors, work, seconds / ROUNDS).seconds)
        found[name] = measured
        for project, times in zip((small, large), measured, strict=True):
            note(f"{project.slug}, {name}: {1000 * times.page.median:.1f} ms, p99 {1000 * times.page.high:.1f} ms, "
                 f"{len(times.page.seconds)} requests; empty {1000 * times.empty.median:.1f} ms")  # fmt: skip
    return found


def in_ms(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=5_000_000)
    parser.add_argument("--small", type=int, default=50_000)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    migrate()
    projects = [make_suggestions(edges, slug) for edges, slug in ((options.small, "small"), (options.edges, "large"))]
    only = options.only.split(",") if options.only else []
    empty = Project.objects.filter(slug="empty").first()
    empty = empty or create_project(slug="empty", name="Empty", base_url="https://bench.example")
    users = [User.objects.get(username=f"editor-{number}") for number in range(EDITORS)]
    for user in users:
        Membership.objects.get_or_create(project=empty, user=user)
    with served() as port:
        editors = [Editor(port, user) for user in users]
        measured = measure(editors, *projects, options.seconds, only)
    head()
    for name, (small, found) in measured.items():
        medians, highs = (4, 15) if name == "decision" else (10, 30)
        median, high = found.ratios
        size = f"{options.edges:,} suggestions"
        page, empty = found.page, found.empty
        row(f"{name}, median", size, in_ms(page.median), in_ms(empty.median), median, medians)
        row(f"{name}, p99", size, in_ms(page.high), in_ms(empty.high), high, highs)
        row(f"{name}, against {options.small:,}", size, f"{median:.1f} times empty",
            f"{small.ratios[0]:.1f} times empty", median / small.ratios[0], 1.3)  # fmt: skip


if __name__ == "__main__":
    main()
