"""How well pages are read: their texts and the links in them against the truth, and how long that takes.

    python bench/reading.py [--data FOLDER] [--pages 400] [--speed]

The sites, the sample and those below `--data` (folders with pages.jsonl.gz and links.csv.gz), are rendered in the four
designs of tests/ingest/reading/designs.py, links at their places. The template is learned from other pages than those
that are read, where a site has so many. F1 of text: of the tokens that the stored and the true text share, the mean
over pages. F1 of links: triples of source, target and anchor in the block content, over all pages; `at place`: of those
found, the share whose words before the anchor are the true ones. `--speed` compares milliseconds of process time a page
with parsing alone, and with what a plain Scrapy spider does with a page: parse it, and extract its links.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ingest.sample.build import LINK, SITE, body_links, read_pages
from ingest.sources.reading import SiteTemplate, read_head, read_page
from ingest.sources.reading.document import parse
from tests.ingest.reading.designs import DESIGNS, BodyLink, Site, SitePage, rendered_links

TOKEN = re.compile(r"\w+")
LEARNED = 300
GOAL = 0.95  # of texts and of links in them
Link = tuple[str, str, str]


def sample_site() -> Site:
    pages = []
    for page in read_pages().values():
        if page.status != 200 or not page.body:
            continue
        links, start = [], 0
        for block in page.body:
            shown = block.removeprefix("## ").replace("*", "")
            for found in LINK.finditer(shown):
                before = LINK.sub(r"\1", shown[: found.start()])
                target = found[2] if found[2].startswith("http") else SITE + found[2]
                links.append(BodyLink(target, found[1], start + len(before)))
            start += len(LINK.sub(r"\1", shown)) + 1
        crumbs = [name for name, address in page.crumbs[:-1]]
        pages.append(SitePage(page.url, page.title, page.h1, page.text, page.language, crumbs, links, page.description))
        assert len(links) == len(list(body_links(page))) or page.kind == "category"
    return Site("Fernpeak", pages)


def stored_site(folder: Path) -> Site:
    csv.field_size_limit(1 << 30)
    links: dict[str, list[BodyLink]] = defaultdict(list)
    with gzip.open(folder / "links.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["kind"] == "content" and row["offset"]:
                links[row["source_url"]].append(
                    BodyLink(row["target_url"], row["anchor"], int(row["offset"]), row["ctx"])
                )
    pages = []
    with gzip.open(folder / "pages.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            page = json.loads(line)
            pages.append(
                SitePage(
                    page["url"], page["title"] or "", page["h1"] or "", page["text"], page.get("lang") or "",
                    page["breadcrumb"], links[page["url"]], page.get("meta_description") or "", page.get("date") or "",
                )
            )  # fmt: skip
    return Site(folder.name, pages)


def f1_of_texts(found: str, true: str) -> float:
    one, other = Counter(TOKEN.findall(found.lower())), Counter(TOKEN.findall(true.lower()))
    shared = (one & other).total()
    return 2 * shared / (one.total() + other.total()) if one or other else 1.0


def f1_of_links(found: Iterable[Link], true: Iterable[Link]) -> tuple[float, float, float]:
    """Precision, recall and F1."""
    one, other = set(found), set(true)
    shared = len(one & other)
    precision, recall = shared / max(1, len(one)), shared / max(1, len(other))
    return precision, recall, 2 * shared / max(1, len(one) + len(other))


def judge(site: Site, design: str, pages: int, worst: int) -> dict[str, float]:
    drawn = random.Random(1).sample(site.pages, len(site.pages))
    render = DESIGNS[design]
    read, others = drawn[:pages], drawn[pages:] if len(drawn) >= pages + LEARNED else drawn
    template = SiteTemplate.learn((page.url, render(site, page)) for page in others[:LEARNED])
    scores, found, true, placed = [], [], [], []
    for page in read:
        result = read_page(render(site, page), page.url, template)
        scores.append((f1_of_texts(result.text, page.text), page, result.text))
        true += [(page.url, link.target, " ".join(link.anchor.split())) for link in rendered_links(page)]
        before: dict[tuple[str, str], list[int]] = defaultdict(list)
        for link in rendered_links(page):
            before[link.target, " ".join(link.anchor.split())].append(link.start)
        for link in result.links:
            if link.block == "content":
                found.append((page.url, link.target, link.anchor))
                starts = before[link.target, link.anchor]
                if starts and link.place is not None:
                    start = starts.pop(0)
                    words = "".join(page.text[max(0, start - 30) : start].split())
                    placed.append("".join(result.text[: link.place].replace("|", "").split())[-9:] == words[-9:])
    for score, page, text in sorted(scores, key=lambda one: one[0])[:worst]:
        print(f"\n--- {score:.2f} {page.url}\n{text[:700]!r}\n=== {page.text[:700]!r}")
    precision, recall, f1 = f1_of_links(found, true)
    if worst:
        print("missing", list(set(true) - set(found))[:5])
        print("wrong", list(set(found) - set(true))[:5])
    text = sum(score for score, *_ in scores) / len(scores)
    return {"text": text, "links": f1, "precision": precision, "recall": recall, "links_true": len(set(true)),
            "at_place": sum(placed) / max(1, len(placed))}  # fmt: skip


def speed(site: Site, pages: int) -> None:
    for design, render in DESIGNS.items():
        drawn = [
            (page.url, render(site, page)) for page in random.Random(2).sample(site.pages, min(pages, len(site.pages)))
        ]
        template = SiteTemplate.learn(drawn)
        ways: dict[str, Callable[[str, str], object]] = {
            "parse": lambda url, html: parse(html),
            "read_head": lambda url, html: read_head(html, url),
            "read_page": lambda url, html, template=template: read_page(html, url, template),
            **_of_scrapy(),
        }
        parts = []
        for name, way in ways.items():
            start = time.process_time()
            for url, html in drawn:
                way(url, html)
            parts.append(f"{name} {(time.process_time() - start) * 1000 / len(drawn):.2f}")
        size = sum(len(html) for _, html in drawn) // len(drawn)
        print(f"{site.name:20} {design:9} {size:6,} characters, ms a page: {', '.join(parts)}", flush=True)


def _of_scrapy() -> dict[str, Callable[[str, str], object]]:
    try:
        from scrapy.http import HtmlResponse
        from scrapy.linkextractors import LinkExtractor
    except ImportError:
        return {}
    extractor = LinkExtractor()
    return {
        "scrapy": lambda url, html: extractor.extract_links(HtmlResponse(url, body=html.encode(), encoding="utf-8"))
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder of sites; without it the sample alone is read")
    parser.add_argument("--site", help="one of them")
    parser.add_argument("--design", choices=list(DESIGNS))
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--worst", type=int, default=0, help="pages shown that were read worst")
    parser.add_argument("--speed", action="store_true")
    arguments = parser.parse_args()
    sites: list[Callable[[], Site]] = [sample_site] if arguments.site in (None, "sample") else []
    if arguments.data is not None and arguments.data.is_dir():
        for file in sorted(arguments.data.glob("*/pages.jsonl.gz")):
            if arguments.site in (None, file.parent.name):
                sites.append(lambda folder=file.parent: stored_site(folder))
    if not arguments.speed:
        print("| site | design | texts: F1 of tokens | links in texts: F1 | precision, recall | links at their place | "
              "target | result |", flush=True)  # fmt: skip
        print("|---" * 8 + "|", flush=True)
    for load in sites:
        site = load()
        if arguments.speed:
            speed(site, arguments.pages)
            continue
        for design in DESIGNS if arguments.design is None else [arguments.design]:
            found = judge(site, design, arguments.pages, arguments.worst)
            lowest = min(found["text"], found["links"] if found["links_true"] else 1)
            print(f"| {site.name} | {design} | {found['text']:.3f} | {found['links']:.3f} | {found['precision']:.3f}, "
                  f"{found['recall']:.3f} of {found['links_true']:,} | {found['at_place']:.3f} | ≥ {GOAL} | "
                  f"{'met' if lowest >= GOAL else 'missed'} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
