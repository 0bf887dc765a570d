"""After a crawl, first words of other pages are neither a page's text nor an editor's links."""

from __future__ import annotations

import pytest

from tests.ingest.sources.crawler.crawls import crawl
from tests.ingest.sources.crawler.sites import Reply, page, served

NAMES = (
    "Kettles",
    "Lanterns",
    "Orchards",
    "Harbours",
    "Bridges",
    "Windmills",
    "Gardens",
    "Chimneys",
    "Barrels",
    "Ferries",
)


def teaser(name: str) -> str:
    return f"<p><a href='/{name.lower()}'>{name}</a><br>{said(name)[:70]} …</p>"


def said(name: str) -> str:
    return f"{name} have a long story that nobody in our village has told so far, for want of time"


@pytest.mark.nightly
def test_teasers_are_told_from_links_of_editors_once_all_pages_are_read(tmp_path):
    replies = {f"/{name.lower()}": page(name, text=said(name)) for name in NAMES}
    told = "Copper boils sooner than iron, and a lid saves a third of the wood. Whoever walks far takes the small one. "
    linked = (
        f"<p>{told}</p><p>Before a night outdoors, read about <a href='/lanterns'>lamps with a wick</a>. {told}</p>"
    )
    with_teasers = page("Kettles", text=said("Kettles")).body.replace("</main>", f"{linked}</main>")
    listed = "".join(map(teaser, NAMES))
    replies["/kettles"] = Reply(with_teasers.replace("</main>", f"<h3>More stories</h3>{teaser('Harbours')}</main>"))
    replies["/"] = Reply(
        f"<html><title>All</title><main><h1>All</h1><p>What we wrote so far.</p>{listed}</main></html>"
    )
    with served(replies) as site:
        store = crawl(site, tmp_path)
        rows = store.connection.execute(
            "SELECT replace(p.url, ?, ''), l.anchor, l.block FROM link l JOIN page p ON p.id = l.source "
            "WHERE p.url IN (? || '/', ? || '/kettles')",
            [site.base] * 3,
        ).fetchall()
        [(text, words)] = store.connection.execute(
            "SELECT text, word_count FROM reading r JOIN page p ON p.id = r.page WHERE url = ?",
            [f"{site.base}/kettles"],
        )
    assert {(anchor, block) for url, anchor, block in rows if url == "/"} == {(name, "list") for name in NAMES}
    assert ("/kettles", "Harbours", "aside") in rows
    assert ("/kettles", "lamps with a wick", "content") in rows
    assert "Harbours" not in text
    assert "More stories" not in text
    assert words == len(text.split())


@pytest.mark.nightly
def test_boxes_of_a_series_are_told_from_links_of_editors_once_all_pages_are_read(tmp_path):
    """Each page names the others below the same words, and one is named in a sentence as well."""
    replies = {}
    for number, title in enumerate(NAMES):
        parts = "".join(
            f"<li>{name}</li>" if name == title else f"<li><a href='/{name.lower()}'>{name}</a></li>" for name in NAMES
        )
        linked = (
            f"{said(title)}; see <a href='/{NAMES[number - 1].lower()}'>the other story</a>, which is longer still."
        )
        box = f"<p>Part {number + 1} of {len(NAMES)} of our series:</p><ol>{parts}</ol><p>{linked}</p></main>"
        replies[f"/{title.lower()}"] = Reply(page(title, text=said(title)).body.replace("</main>", box))
    replies["/"] = page("Village", *(f"/{title.lower()}" for title in NAMES))
    with served(replies) as site:
        rows = crawl(site, tmp_path).connection.execute("SELECT anchor, block FROM link").fetchall()
    assert {block for anchor, block in rows if anchor == "the other story"} == {"content"}
    assert {block for anchor, block in rows if anchor == "Kettles"} <= {"navigation", "list"}
