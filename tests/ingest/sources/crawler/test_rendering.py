"""A site that shows its texts by scripts alone is read in a browser, which itself reaches nothing."""

from __future__ import annotations

import json
import socket
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from ingest.sources.connectors.crawler import rendering
from ingest.sources.connectors.crawler.options import Options
from linker.errors import UserError
from tests.chromium import system_chromium
from tests.ingest.sources.crawler.crawls import begin, crawl, pages, plan
from tests.ingest.sources.crawler.sites import Reply, served

if TYPE_CHECKING:
    from collections.abc import Iterator

CHROMIUM = system_chromium()
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")

TITLE = "(SELECT title FROM reading r WHERE r.page = page.id)"
WRITTEN = "(SELECT text FROM reading r WHERE r.page = page.id)"
SHELL = '<!doctype html><html lang="en"><title>Shop</title><body><div id="root"></div><script src="/app.js"></script>'
SCRIPT = """
(async () => {
  const page = await (await fetch("/api" + location.pathname + ".json")).json();
  document.title = page.title;
  document.getElementById("root").innerHTML =
    `<main><h1>${page.title}</h1><p>${page.text}</p><p>See <a href="${page.next}">the next page</a>.</p></main>`;
  for (const url of page.asks || []) {
    fetch(url).catch(() => {});
    new Image().src = url;
    navigator.sendBeacon(url, "found");
    if (url.startsWith("ws")) new WebSocket(url);
  }
  if (page.leads) location.href = page.leads;
})();
"""
TEXTS = {
    "": "Pitch the tent on even ground, and turn its back to the wind before the poles go in, one after the other. ",
    "tents": "Two people carry a dome of five kilos for a week without a word, and three share a tunnel. ",
    "pegs": "Sand takes long flat pegs, rock takes none at all, and a heavy stone on the guy does what no peg can do. ",
}


def shop(**more: dict[str, object]) -> dict[str, Reply]:
    """Three pages that scripts write; `more` is what their data say besides, by the page's name."""
    replies = {"/app.js": Reply(SCRIPT, kind="text/javascript"), "/": Reply(SHELL)}
    for name, follows in (("", "/tents"), ("tents", "/pegs"), ("pegs", "/")):
        data = {"title": f"All about {name or 'home'}", "text": 3 * TEXTS[name], "next": follows} | more.get(name, {})
        replies[f"/{name}"] = Reply(SHELL)
        replies[f"/api/{name}.json"] = Reply(json.dumps(data), kind="application/json")
    return replies


@pytest.mark.nightly
@needs_chromium
def test_texts_and_links_that_scripts_write_are_read(tmp_path, monkeypatch):
    monkeypatch.setenv("CHROMIUM", CHROMIUM or "")
    with served(shop()) as site:
        store = crawl(site, tmp_path, browser=True)
        asked = Counter(site.asked)
    found = pages(store, f"{TITLE}, {WRITTEN}")
    assert {path: title for path, (title, _) in found.items()} == {
        "/": "All about home",
        "/tents": "All about tents",
        "/pegs": "All about pegs",
    }
    assert all(text.startswith(TEXTS[path[1:]]) for path, (_, text) in found.items())
    assert store.noted("counts")["rendered"] == 3
    assert (asked["/app.js"], asked["/tents"]) == (1, 1), "a script is asked for once, and no page twice"


@pytest.mark.nightly
@needs_chromium
def test_without_the_option_the_pages_are_counted_and_not_rendered(tmp_path):
    with served(shop()) as site:
        store = crawl(site, tmp_path)
    assert pages(store, WRITTEN) == {"/": ""}
    assert store.noted("counts")["rendered"] == 0


@pytest.fixture
def private() -> Iterator[socket.socket]:
    """Listens at an address that the crawl may not ask."""
    with socket.socket() as listening:
        try:
            listening.bind(("127.0.0.2", 0))
        except OSError:
            pytest.skip("this system has one loopback address")
        listening.listen()
        listening.setblocking(False)
        yield listening


@pytest.mark.nightly
@needs_chromium
def test_a_page_reaches_no_private_address_and_nothing_that_robots_txt_bars(tmp_path, monkeypatch, private):
    monkeypatch.setenv("CHROMIUM", CHROMIUM or "")
    there = f"127.0.0.2:{private.getsockname()[1]}"
    asks = [f"http://{there}/secret", f"ws://{there}/secret", "/barred/data", "file:///etc/passwd"]
    replies = shop(tents={"asks": asks}, pegs={"leads": f"http://{there}/stolen"})
    replies["/robots.txt"] = Reply("User-agent: *\nDisallow: /barred/", kind="text/plain")
    with served(replies) as site:
        store = crawl(site, tmp_path, browser=True, allowed=("127.0.0.1/32",))
        assert "/barred/data" not in site.asked
    with pytest.raises(BlockingIOError):
        private.accept()
    assert pages(store, WRITTEN)["/tents"].startswith(TEXTS["tents"])
    assert pages(store, WRITTEN)["/pegs"] == "", "its script led elsewhere"


def test_where_no_browser_is_the_option_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(rendering, "chromium", lambda: None)
    with pytest.raises(UserError, match="no Chromium is installed"):
        Options.of({"browser": True})


@pytest.mark.nightly
def test_a_browser_that_does_not_start_ends_the_crawl_with_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("CHROMIUM", "/bin/false")
    with served(shop()) as site:
        said, _ = begin(plan(site, tmp_path, browser=True)).communicate(timeout=60)
    assert "The browser /bin/false cannot be started" in json.loads(said.splitlines()[-1])["error"]
