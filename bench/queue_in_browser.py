"""A thousand decisions by keyboard in Chromium: from a key to the painted next card, what was lost, and the memory.

    python bench/queue_in_browser.py [--edges 50000] [--decisions 1000] [--rate 10]

An editor accepts, rejects with a reason, sets aside and undoes, so many keys a second, in the queue that gunicorn
serves. A time goes from the event of the key to the end of the task behind the next frame. The floor is the same key on
an empty page of the app that writes a number into its heading. Memory is the heap and the nodes of the page after a
collection, at the end compared with after three tenths of the decisions. What was pressed is compared with what the
database holds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from typing import TYPE_CHECKING

from _common import head, migrate, note, row
from _suggestions import make_suggestions
from django.conf import settings
from django.contrib.auth.models import User
from playwright.sync_api import sync_playwright
from review_queue import served, session_of

from linker.models import CandidateEdge, Membership, Project
from linker.projects.create import create_project
from review.models import SetAside
from tests.chromium import FLAGS, system_chromium

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import CDPSession, Page

FRAMES = """
    window.painted = [];
    addEventListener("keydown", (event) => requestAnimationFrame(() => setTimeout(() => {
        painted.push(performance.now() - event.timeStamp);
    })), true);
"""
FLOOR = 'addEventListener("keydown", () => { document.querySelector("h1").textContent = String(Math.random()); });'
WORK = [("a",), ("n",), ("x", "1"), ("s",), ("a", "u", "f")]
BECOMES = ["accepted", "accepted", "rejected", "aside", "accepted"]


LISTED = """async (most) => {
    const root = document.querySelector("[data-review]");
    const found = [Number(document.querySelector("[data-card] > [data-edge]").dataset.edge)];
    for (let cursor = root.dataset.cursor; cursor && found.length < most;) {
        const { cards, next } = await (await fetch(`${root.dataset.deck}?after=${encodeURIComponent(cursor)}`)).json();
        found.push(...cards.map((card) => card.edge));
        cursor = next;
    }
    return found.slice(0, most);
}"""


def press(page: Page, keys: Sequence[str], rate: float) -> list[float]:
    """Presses the keys, so many a second; seconds from each to the frame behind it."""
    page.evaluate("painted.length = 0")
    began = time.monotonic()
    for number, key in enumerate(keys, start=1):
        page.keyboard.press(key)
        page.wait_for_timeout(max(0.0, 1000 * (began + number / rate - time.monotonic())))
    page.wait_for_function("painted.length == " + str(len(keys)))
    return [took / 1000 for took in page.evaluate("painted")]


def memory(devtools: CDPSession) -> tuple[float, float]:
    """Bytes of the heap, and nodes, of what is still held."""
    devtools.send("HeapProfiler.collectGarbage")
    found = {metric["name"]: metric["value"] for metric in devtools.send("Performance.getMetrics")["metrics"]}
    return found["JSHeapUsedSize"], found["Nodes"]


def wrong_ones(project: Project, user: User, edges: Sequence[int]) -> int:
    """How many of the edges, in the order of the list, are not what was pressed."""
    statuses = dict(CandidateEdge.objects.filter(pk__in=edges).values_list("pk", "status"))
    aside = set(SetAside.objects.filter(project=project, user=user).values_list("edge", flat=True))
    return sum(
        ("aside" if pk in aside else statuses[pk]) != BECOMES[number % len(WORK)] for number, pk in enumerate(edges)
    )


def p95(seconds: Sequence[float]) -> float:
    return statistics.quantiles(seconds, n=20)[18]


def in_ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=50_000)
    parser.add_argument("--decisions", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=10.0)
    options = parser.parse_args()
    migrate()
    project = make_suggestions(options.edges, "browser")
    empty = Project.objects.filter(slug="empty").first()
    empty = empty or create_project(slug="empty", name="Empty", base_url="https://bench.example")
    user = User.objects.get(username="editor-0")
    Membership.objects.get_or_create(project=empty, user=user)
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # Playwright's loop runs in this thread
    with served() as port, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system_chromium(), args=FLAGS)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        session = {"name": settings.SESSION_COOKIE_NAME, "value": session_of(user), "url": f"http://127.0.0.1:{port}"}
        context.add_cookies([session])
        page = context.new_page()
        page.add_init_script(FRAMES)
        page.goto(f"http://127.0.0.1:{port}/p/empty/pages/")
        page.evaluate(FLOOR)
        floor = press(page, "a" * 200, options.rate)
        page.goto(f"http://127.0.0.1:{port}/p/{project.slug}/queue/")
        page.wait_for_selector("[data-saved][data-state]")
        edges = page.evaluate(LISTED, options.decisions)
        devtools = context.new_cdp_session(page)
        devtools.send("Performance.enable")
        few = options.decisions * 3 // 10  # the page keeps the last 200 cards for undo
        times: list[float] = []
        held: list[tuple[float, float]] = []
        for first, last in ((0, few), (few, options.decisions)):
            keys = [key for number in range(first, last) for key in WORK[number % len(WORK)]]
            times += press(page, keys, options.rate)
            page.wait_for_selector("[data-saved][data-state=saved]", timeout=60_000)
            held.append(memory(devtools))
        browser.close()
    wrong = wrong_ones(project, user, edges)
    note(f"slowest {in_ms(max(times))}; heap and nodes {json.dumps(held)}; {len(times):,} keys")
    head()
    size = f"{options.decisions:,} decisions, {options.rate:.0f} keys a second"
    what = "queue in the browser"
    row(f"{what}, key to painted card, p95, against 33 ms", size, in_ms(p95(times)), "33.0 ms", p95(times) / 0.033, 1)
    row(f"{what}, key to painted card, median, against an empty page", size, in_ms(statistics.median(times)),
        in_ms(statistics.median(floor)), statistics.median(times) / statistics.median(floor), 3)  # fmt: skip
    row(f"{what}, lost or wrong", size, str(wrong), "0", float(wrong), 0)
    for name, few_held, all_held in zip(("heap", "nodes"), *held, strict=True):
        row(f"{what}, {name} at the end against three tenths of the way", size, f"{all_held:,.0f}", f"{few_held:,.0f}",
            all_held / few_held, 1.2)  # fmt: skip


if __name__ == "__main__":
    main()
