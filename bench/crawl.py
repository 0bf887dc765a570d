"""How fast a crawl is beside a plain Scrapy spider with a LinkExtractor, and how much memory it takes.

    python bench/crawl.py [--pages 2000] [--memory 10000 100000]

The site is served on the loopback address by a process of its own. Seconds are those of the crawling process and its
readers on a core, by the operating system's account; the pauses between requests are off for both. The plain spider
follows all links and keeps nothing.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARE = 0.7  # of the pages that a plain spider fetches in a second of computing
CRAWLS = {
    "plain": "plain Scrapy spider",
    "fetch": "pages fetched and stored, links followed",
    "all": "and read: texts, links, places",
}
sys.path.insert(0, str(ROOT))
WORDS = [
    "tent",
    "stove",
    "boot",
    "rope",
    "map",
    "trail",
    "summit",
    "river",
    "camp",
    "snow",
    "jacket",
    "filter",
    "water",
    "cook",
    "light",
    "sleep",
    "warm",
    "dry",
    "pack",
]
PLAIN = """
import sys, scrapy
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.linkextractors import LinkExtractor
class Plain(scrapy.Spider):
    name = "plain"
    start_urls = [sys.argv[1]]
    links = LinkExtractor()
    def parse(self, response):
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)
process = AsyncCrawlerProcess({"LOG_LEVEL": "ERROR", "CONCURRENT_REQUESTS": 8, "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "DOWNLOAD_DELAY": 0, "ROBOTSTXT_OBEY": True, "TELNETCONSOLE_ENABLED": False})
process.crawl(Plain)
process.start()
"""


def page(number: int, pages: int) -> bytes:
    """A page of about 25 kB: a menu of 40 links, ten paragraphs with as many links in them, a list and a footer."""
    some = random.Random(number)

    def prose(words: int) -> str:
        return " ".join(some.choices(WORDS, k=words)).capitalize() + "."

    menu = "".join(f'<li class="item"><a href="/p/{n}" class="menu-link">Section {n}</a></li>' for n in range(1, 41))
    near = [min(pages - 1, 10 * number + n) for n in range(1, 11)]
    body = "".join(f'<p>{prose(60)} <a href="/p/{to}">{prose(3)}</a> {prose(60)}</p>' for to in near)
    cards = "".join(
        f'<div class="card"><a href="/p/{some.randrange(pages)}"><h3>{prose(4)}</h3></a><p>{prose(20)}</p></div>'
        for _ in range(20)
    )
    return (
        f'<!doctype html><html lang="en"><head><title>Page {number}</title>'
        f'<meta name="description" content="{prose(20)}">'
        f'<link rel="canonical" href="/p/{number}"></head><body><header><nav><ul>{menu}</ul></nav></header><main>'
        f"<h1>Page {number}</h1>{body}</main><aside>{cards}</aside><footer>{menu}</footer></body></html>"
    ).encode()


def serve(pages: int) -> None:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            found = self.path == "/" or self.path.startswith("/p/")
            body = page(int(self.path[3:] or 0), pages) if found else b""
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


def measured(command: list[str], told: str = "") -> tuple[float, float, float]:
    """CPU seconds, wall seconds, and the most memory in MB of a process and its children."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert process.stdin is not None
    process.stdin.write(told)
    process.stdin.close()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[1:3]} ended with {status}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.monotonic() - began, used.ru_maxrss / 1024


def our_crawl(base: str, pages: int, folder: Path, phase: str) -> tuple[float, float, float]:
    """`phase`: “fetch” leaves out the reading of the pages."""
    from ingest.sources.connectors.crawler.plan import Plan

    plan = Plan(
        store=str(folder / "crawl.sqlite3"),
        previous="",
        address=f"{base}/",
        base_url=base,
        strip_slash=False,
        strip_www=False,
        allowed=("127.0.0.0/8",),
        user_agent="Anchorline/bench",
        parent=os.getpid(),
        cores=1,
        options={"pages_a_second": 200, "concurrent": 8, "max_pages": pages * 2},
    )
    run = "from ingest.sources.connectors.crawler import network, process; import sys\n"
    run += "old = process.settings_of\n"
    run += "process.settings_of = lambda *a: old(*a) | {'DOWNLOAD_DELAY': 0, 'AUTOTHROTTLE_ENABLED': False}\n"
    if phase == "fetch":
        run += "process.read_all = lambda plan, store: None\n"
    run += "sys.exit(process.main())"
    return measured([sys.executable, "-c", run], plan.to_json())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--memory", type=int, nargs="*", default=[])
    parser.add_argument("--serve", type=int)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    plain = 0.0
    print(
        "| crawl | pages | pages a CPU second | against the plain spider | target | peak memory | result |", flush=True
    )
    print("|---" * 7 + "|", flush=True)
    for pages in [options.pages, *options.memory]:
        server = subprocess.Popen(
            [sys.executable, __file__, "--serve", str(pages)], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert server.stdout is not None
        base = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        try:
            for name in ("plain", "fetch", "all") if pages == options.pages else ("all",):
                with tempfile.TemporaryDirectory() as folder:
                    if name == "plain":
                        found = measured([sys.executable, "-c", PLAIN, f"{base}/"])
                    else:
                        found = our_crawl(base, pages, Path(folder), name)
                cpu, wall, memory = found
                rate = pages / cpu
                plain = rate if name == "plain" else plain
                compared = pages == options.pages and name != "plain"
                ratio, goal = (f"{rate / plain:.2f}", f"≥ {SHARE}") if compared else ("", "")
                result = ("met" if rate >= SHARE * plain else "missed") if compared else ""
                print(f"| {CRAWLS[name]} | {pages:,} | {rate:.0f} | {ratio} | {goal} | {memory:.0f} MB | {result} |",
                      flush=True)  # fmt: skip
                print(f"{name}: {cpu:.1f} s of computing, {wall:.1f} s", file=sys.stderr)
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
