"""What is claimed of crawls holds against nginx, a server that many sites run: conditional requests, redirects,
compression, faults of the network, kills, and certificates."""

from __future__ import annotations

import signal
import socket
import threading
import time
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import translation

from ingest.sources.connectors import registry
from ingest.sources.outgoing import Rules
from linker.errors import UserError
from tests.ingest.sources.crawler.crawls import QUICK, begin, crawl, pages, plan
from tests.ingest.sources.crawler.nginx import NGINX, WHY_NOT, certificate, nginx
from tests.ingest.sources.crawler.sites import page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(not NGINX, reason=WHY_NOT)
PAGES = 120
GZIP = "gzip on; gzip_min_length 100;"


def site_of(count: int = PAGES) -> dict[str, str]:
    """A home page, sections of ten pages, and a sitemap with one page that no link leads to."""
    sections = range(count // 10)
    files = {"/index.html": body("Home", *(f"/s{n}/" for n in sections))}
    for n in sections:
        files[f"/s{n}/index.html"] = body(f"Section {n}", *(f"/s{n}/p{m}.html" for m in range(10)))
        files |= {f"/s{n}/p{m}.html": body(f"Page {n}.{m}", f"/s{n}/p{(m + 1) % 10}.html", "/") for m in range(10)}
    return files | {"/alone.html": body("Alone")}


def body(title: str, *links: str) -> str:
    return str(page(title, *links).body)


def with_sitemap(files: dict[str, str], base: str, root: Path) -> None:
    (root / "sitemap.xml").write_text(
        f"<urlset><url><loc>{base}/alone.html</loc><lastmod>2026-02-03</lastmod></url></urlset>"
    )


@pytest.mark.nightly
def test_a_second_crawl_of_a_site_that_has_not_changed_is_answered_with_304(tmp_path):
    files = site_of()
    with nginx(tmp_path, files, server=GZIP) as site:
        with_sitemap(files, site.base, site.root)
        first = crawl(site, tmp_path, store=str(tmp_path / "first.sqlite3"))
        assert first.is_whole
        assert first.counts() == {"done": len(files)}
        site.forget()
        (site.root / "s3/p3.html").write_text(body("Written anew", "/s4/"))
        second = crawl(site, tmp_path, previous=str(first.path))
        answers = [status for status, path in site.asked() if path not in ("/robots.txt", "/sitemap.xml")]
    assert answers.count(304) == len(files) - 1
    assert answers.count(200) == 1
    titles = {kind: pages(store, "html IS NOT NULL, unchanged") for kind, store in (("1", first), ("2", second))}
    assert titles["1"].keys() == titles["2"].keys()
    assert [path for path, (_, unchanged) in titles["2"].items() if not unchanged] == ["/s3/p3.html"]
    text = "SELECT url, title, text FROM reading JOIN page ON id = page WHERE url NOT LIKE '%/s3/p3.html' ORDER BY url"
    assert second.connection.execute(text).fetchall() == first.connection.execute(text).fetchall()
    orphan = "SELECT in_sitemap, sitemap_modified, depth FROM page WHERE url LIKE '%/alone.html'"
    assert second.connection.execute(orphan).fetchone() == (1, "2026-02-03", None)


def test_redirects_and_chains_as_nginx_writes_them_are_rows_of_their_own(tmp_path):
    rules = (
        "absolute_redirect off; location = /old { return 301 /older; } location = /older { return 302 /s0/; }"
        "location = /round { return 301 /round; } location = /away { return 301 http://elsewhere.example/; }"
        "location = /meta { return 302 http://169.254.169.254/latest/; }"
    )
    home = {"/index.html": body("Home", "/old", "/s0", "/round", "/away", "/meta"), "/s0/index.html": body("Section")}
    with nginx(tmp_path, home, server=rules) as site:
        store = crawl(site, tmp_path)
        base = site.base
        found = pages(store, "status_code, redirect_url")
        assert site.times()["/round"] == 1
    assert found["/old"] == (301, f"{base}/older")
    assert found["/older"] == (302, f"{base}/s0/")
    assert found["/s0"] == (301, f"{base}/s0/")  # a folder, as nginx completes it
    assert found["/s0/"] == (200, "")
    assert found["/away"] == (301, "http://elsewhere.example/")
    assert found["/meta"] == (302, "http://169.254.169.254/latest/")
    assert len(found) == 8
    assert store.is_whole


@pytest.mark.nightly
def test_faults_of_the_network_cost_the_page_alone(tmp_path):
    """Broken off in the body, by the server behind; a byte at a time; too large; of another type."""
    files: dict[str, str | bytes] = {
        "/index.html": body("Home", "/broken", "/trickle.html", "/huge.html", "/fine.html", "/file", "/busy"),
        "/fine.html": body("Fine"),
        "/trickle.html": body("Trickle") + "<!-- -->" * 2000,
        "/huge.html": b"<p>More and more." * 700_000,
        "/file": b"%PDF-1.7" * 1000,
    }
    with hanging_up() as behind:
        rules = (
            f"{GZIP} location = /broken {{ proxy_pass http://127.0.0.1:{behind}; }}"
            "location = /trickle.html { gzip off; limit_rate 100; }"
            "location = /file { default_type application/pdf; }"
            "location = /busy { add_header Retry-After 0 always; return 503; }"
        )
        with nginx(tmp_path, files, server=rules) as site:
            store = crawl(site, tmp_path)
            times = site.times()
    faults = pages(store, "state, fault")
    assert faults["/"] == faults["/fine.html"] == faults["/file"] == ("done", "")
    assert faults["/broken"] == ("failed", "the answer broke off")
    assert faults["/trickle.html"] == ("failed", "no answer in time")
    assert faults["/huge.html"] == ("failed", "more than 10 MB")
    assert faults["/busy"] == ("failed", "error 503")
    assert (times["/broken"], times["/trickle.html"], times["/huge.html"], times["/busy"]) == (3, 3, 1, 3)
    assert not store.is_whole  # four of seven


@pytest.mark.nightly
def test_a_site_that_limits_requests_is_read_as_it_bears(tmp_path):
    rules = "location /s0/ { limit_req zone=slow burst=1 nodelay; add_header Retry-After 1 always; }"
    with nginx(tmp_path, site_of(20), server=rules) as site:
        store = crawl(site, tmp_path, concurrent=1)
        refused = [path for status, path in site.asked() if status == 429]
    assert refused
    assert store.is_whole
    assert store.counts() == {"done": 23}


@pytest.mark.nightly
def test_a_site_that_limits_requests_and_does_not_say_how_is_asked_more_slowly(tmp_path):
    """Ten requests a second at the most; no refusal says when to come again."""
    with nginx(tmp_path, site_of(), server="location ~ html$|/$ { limit_req zone=slow burst=2 nodelay; }") as site:
        store = crawl(site, tmp_path)
        answers = [status for status, path in site.asked() if path not in ("/robots.txt", "/sitemap.xml")]
    assert store.is_whole
    assert store.counts() == {"done": 133}
    assert 0 < answers.count(429) < 40  # each page would be refused where only pauses follow
    found = store.noted("counts")
    assert found["slowed"] >= 4  # 5, 10, 20, 40, 80 milliseconds
    assert found["slowest"] >= 80


@pytest.mark.nightly
def test_a_page_that_alone_is_refused_slows_the_crawl_down_once(tmp_path):
    home = {"/index.html": body("Home", "/busy", *(f"/p{n}.html" for n in range(30)))}
    files = home | {f"/p{n}.html": body(f"Page {n}") for n in range(30)}
    with nginx(tmp_path, files, server="location = /busy { return 503; }") as site:
        store = crawl(site, tmp_path, concurrent=1)
        assert site.times()["/busy"] == 3
    assert store.noted("counts")["slowed"] == 1


@pytest.mark.nightly
def test_a_crawl_that_is_killed_goes_on_and_asks_twice_only_for_what_was_on_its_way(tmp_path):
    with nginx(tmp_path, site_of()) as site:
        for asked in (30, 60, 90):
            process = begin(plan(site, tmp_path))
            end = time.monotonic() + 30
            while len(site.asked()) < asked and time.monotonic() < end:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        store = crawl(site, tmp_path)
        times = site.times()
    assert store.counts() == {"done": 133}
    assert store.is_whole
    again = sum(n - 1 for path, n in times.items() if path not in ("/robots.txt", "/sitemap.xml"))
    assert again <= 3 * QUICK["concurrent"]
    assert store.connection.execute("SELECT count(*) FROM reading").fetchone() == (133,)


# ---------------------------------------------------------------------------------------------------- certificates


def _fault_of(kind: str) -> Callable[[Any, Rules], str]:
    def ask(source: Any, rules: Rules) -> str:
        with pytest.raises(UserError) as found:
            registry.get(kind).check(source, rules)
        return str(found.value)

    return ask


CHECKS = [_fault_of(kind) for kind in ("crawl", "sitemap", "wordpress")]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ({}, "it is self-signed"),
        ({"expired": True}, "it has expired"),
        ({"host": "www.shop.example"}, "it is not made for 127.0.0.1"),
    ],
)
def test_a_certificate_that_is_not_valid_ends_a_crawl_in_a_sentence(tmp_path, kind, says):
    made = certificate(tmp_path, "site", **kind)
    trusted = {"ca_file": str(made)} if kind else {}  # what else is wrong with it is to be seen
    with nginx(tmp_path, site_of(10), tls=str(made)) as site:
        store = crawl(site, tmp_path, **trusted)
        assert site.asked() == []
        source: Any = SimpleNamespace(address=f"{site.base}/", username="", options={})
        rules = Rules(plan(site, tmp_path).rules.allowed, **trusted)
        in_checks = {read(source, rules) for read in CHECKS}
        with translation.override("de"):
            in_german = {read(source, rules) for read in CHECKS}
    told = store.noted("stopped_by")
    assert told.startswith("The certificate of 127.0.0.1 is not valid: ")
    assert says in told
    assert in_checks == {told}
    assert len(in_german) == 1
    assert in_german.pop().startswith("Das Zertifikat von 127.0.0.1 ist nicht gültig: es ")
    assert not store.is_whole


@pytest.mark.nightly
def test_a_certificate_of_an_authority_that_an_operator_trusts_is_valid(tmp_path):
    authority = certificate(tmp_path, "authority")
    made = certificate(tmp_path, "site", signed_by=authority)
    with nginx(tmp_path, site_of(10), tls=str(made)) as site:
        store = crawl(site, tmp_path, ca_file=str(authority))
        source: Any = SimpleNamespace(address=f"{site.base}/")
        trusting = Rules(plan(site, tmp_path).rules.allowed, str(authority))
        assert "answers with a page" in registry.get("crawl").check(source, trusting)
        with pytest.raises(UserError, match="OUTGOING_CA_FILE"):
            registry.get("crawl").check(source, Rules(trusting.allowed))
    assert store.is_whole
    assert store.counts() == {"done": 12}


@contextmanager
def hanging_up() -> Iterator[int]:
    """A server that promises much, sends little and closes the connection; its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with suppress(OSError):
                while True:
                    client, _ = server.accept()
                    with client:
                        client.recv(65536)
                        client.sendall(
                            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9000\r\n\r\n<p>Yes"
                        )

        threading.Thread(target=answer, daemon=True).start()
        yield server.getsockname()[1]
