"""Build the sample site: five export files of an invented outdoor shop, Fernpeak Outfitters.

Reads ``content/`` (articles and pages as Markdown with a small header, products and categories as CSV) and
writes, next to this file or into another folder:

- ``internal_html.csv``     pages as a Screaming Frog crawl has them, with breadcrumb and main text
- ``all_inlinks.csv``       every link of that crawl: in the text, in listings and in the template
- ``search_console.zip``    a performance export of Search Console
- ``page_queries.csv``      rows of page and query, as Search Console's API has them
- ``access.log.gz``         a week of requests in Apache's combined format

The result depends on the content alone: no clock, no network, and every invented number comes from a
generator seeded with the name of what it belongs to. Run ``python ingest/sample/build.py`` to rewrite
the files.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import re
import sys
import zipfile
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise
from pathlib import Path
from random import Random
from urllib.parse import quote, urlsplit

HERE = Path(__file__).resolve().parent
CONTENT = HERE / "content"
SITE = "https://www.fernpeak.example"
SHOP_SUFFIX = " | Fernpeak Outfitters"
MAGAZINE_SUFFIX = " \u2013 Fernpeak Magazine"
CRAWL_START = datetime(2026, 1, 19, 9, 2, 11)
CRUMBS = 6
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")

PAGE_HEADER = """
Address, Content Type, Status Code, Status, Indexability, Indexability Status, Title 1,
Title 1 Length, Title 1 Pixel Width, Meta Description 1, Meta Description 1 Length,
Meta Description 1 Pixel Width, Meta Keywords 1, Meta Keywords 1 Length, H1-1, H1-1 Length, H2-1,
H2-1 Length, H2-2, H2-2 Length, Meta Robots 1, Meta Robots 2, X-Robots-Tag 1, Meta Refresh 1,
Canonical Link Element 1, rel="next" 1, rel="prev" 1, HTTP rel="next" 1, HTTP rel="prev" 1,
amphtml Link Element, Size (bytes), Transferred (bytes), Total Transferred (bytes), CO2 (mg),
Carbon Rating, Word Count, Sentence Count, Average Words Per Sentence, Flesch Reading Ease Score,
Readability, Text Ratio, Crawl Depth, Folder Depth, Link Score, Inlinks, Unique Inlinks,
Unique JS Inlinks, % of Total, Outlinks, Unique Outlinks, Unique JS Outlinks, External Outlinks,
Unique External Outlinks, Unique External JS Outlinks, Closest Near Duplicate Match,
No. Near Duplicates, Spelling Errors, Grammar Errors, Hash, Response Time, Last Modified,
Redirect URL, Redirect Type, Cookies, Language, HTTP Version, Mobile Alternate Link,
Closest Semantically Similar Address, Semantic Similarity Score, No. Semantically Similar,
Semantic Relevance Score, URL Encoded Address, Crawl Timestamp
"""
LINK_HEADER = """
Type, Source, Destination, Size (Bytes), Alt Text, Anchor, Status Code, Status, Crawlability,
Follow, Target, Rel, Path Type, Link Path, Link Position, Link Origin
"""
PAGE_COLUMNS = [
    *re.split(r",\s+", PAGE_HEADER.strip()),
    *(f"Breadcrumb_Name {n}" for n in range(1, CRUMBS + 1)),
    *(f"Breadcrumb_URL {n}" for n in range(1, CRUMBS + 1)),
    "Content 1",
]

LINK_COLUMNS = re.split(r",\s+", LINK_HEADER.strip())

NAVIGATION = [
    ("Camping", "/shop/camping/"),
    ("Clothing", "/shop/clothing/"),
    ("Footwear", "/shop/footwear/"),
    ("Equipment", "/shop/equipment/"),
    ("Magazine", "/magazine/"),
    ("Skills", "/magazine/skills/"),
    ("Gear guides", "/magazine/gear-guides/"),
    ("Care and repair", "/magazine/care-and-repair/"),
    ("Trip reports", "/magazine/trip-reports/"),
    ("Health", "/magazine/health/"),
]
FOOTER = [
    ("About us", "/about/"),
    ("Contact", "/contact/"),
    ("Delivery", "/delivery/"),
    ("Returns", "/returns/"),
    ("Privacy", "/privacy/"),
    ("Newsletter", "/newsletter/"),
    ("Back to top", "#"),
]


@dataclass
class Page:
    """One address of the crawl. ``body`` holds blocks of Markdown: headings begin with ``## ``."""

    path: str
    kind: str
    title: str = ""
    h1: str = ""
    description: str = ""
    body: list[str] = field(default_factory=list)
    crumbs: list[tuple[str, str]] = field(default_factory=list)
    date: str = "2025-02-01"
    language: str = "en-GB"
    status: int = 200
    robots: str = ""
    canonical: str = ""
    redirect: str = ""
    next: str = ""
    prev: str = ""
    cards: list[str] = field(default_factory=list)
    extra: list[tuple[str, str]] = field(default_factory=list)
    twin: float = 0.0

    @property
    def url(self) -> str:
        return SITE + self.path

    @property
    def reason(self) -> str:
        if self.status == 301:
            return "Redirected"
        if self.status == 404:
            return "Client Error"
        if "noindex" in self.robots:
            return "noindex"
        return "Canonicalised" if self.canonical and self.canonical != self.path else ""

    @property
    def headings(self) -> list[str]:
        return [block[3:] for block in self.body if block.startswith("## ")]

    @property
    def text(self) -> str:
        """The main text: a heading or a paragraph a line, without markup."""
        return "\n".join(LINK.sub(r"\1", block.removeprefix("## ")).replace("*", "") for block in self.body)


@dataclass(frozen=True)
class Link:
    """One row of the link export; ``target`` is a path of the site, a fragment or a full address."""

    source: str
    target: str
    anchor: str
    path: str
    position: str
    kind: str = "Hyperlink"
    alt: str = ""
    follow: bool = True
    rel: str = ""
    blank: bool = False


def seeded(name: str) -> Random:
    """A generator that is the same on every run for one name."""
    return Random(name)  # noqa: S311 - invented figures, nothing secret


# --- reading content


def read_markdown(file: Path) -> tuple[dict[str, str], list[str]]:
    """Header fields and blocks of one Markdown file."""
    _, header, body = file.read_text(encoding="utf-8").split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in header.splitlines())
    return fields, [block.strip().replace("\n", " ") for block in re.split(r"\n\s*\n", body) if block.strip()]


def read_csv(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def read_pages() -> dict[str, Page]:
    """All pages by path: what the content folder holds, and the awkward addresses around it."""
    categories = read_csv(CONTENT / "categories.csv")
    names = {row["path"]: row["name"] for row in categories}

    def trail(category: str) -> list[tuple[str, str]]:
        parts = category.split("/")
        keys = ["/".join(parts[:n]) for n in range(1, len(parts) + 1)]
        return [("Home", "/"), *((names[key], f"/{key}/") for key in keys)]

    pages: dict[str, Page] = {}

    def add(page: Page) -> Page:
        if page.path in pages:
            raise ValueError(f"two pages at {page.path}")
        if page.status == 200 and not page.canonical:
            page.canonical = page.path
        pages[page.path] = page
        return page

    for file in sorted((CONTENT / "pages").glob("*.md")):
        fields, body = read_markdown(file)
        crumbs = [] if fields["url"] == "/" else [("Home", "/"), (fields["h1"], "")]
        add(
            Page(
                path=fields["url"],
                kind="page",
                title=fields["title"] + SHOP_SUFFIX,
                h1=fields["h1"],
                description=fields["description"],
                body=body,
                crumbs=crumbs,
                date=fields["date"],
                language=fields.get("language", "en-GB"),
                robots=fields.get("robots", ""),
            )
        )

    for row in categories:
        magazine = row["path"].startswith("magazine")
        add(
            Page(
                path=f"/{row['path']}/",
                kind="category",
                title=row["name"] + (MAGAZINE_SUFFIX if magazine else SHOP_SUFFIX),
                h1=row["name"],
                description=LINK.sub(r"\1", row["intro"])[:150],
                body=[row["intro"]],
                crumbs=trail(row["path"]),
                date="2025-11-03",
            )
        )

    for row in read_csv(CONTENT / "products.csv"):
        body = [row["text"], f"Brand: {row['brand']}", f"Price: £{row['price']}"]
        add(
            Page(
                path=f"/shop/p/{row['slug']}/",
                kind="product",
                title=row["name"] + SHOP_SUFFIX,
                h1=row["name"],
                description=row["text"].split(". ")[0].rstrip(".") + ".",
                body=body,
                crumbs=[*trail(f"shop/{row['category']}"), (row["name"], "")],
                date="2025-12-01",
            )
        )

    for file in sorted((CONTENT / "articles").glob("*.md")):
        fields, body = read_markdown(file)
        add(
            Page(
                path=fields["url"],
                kind="article",
                title=fields["title"] + MAGAZINE_SUFFIX,
                h1=fields["h1"],
                description=fields["description"],
                body=body,
                date=fields["date"],
                crumbs=[*trail(f"magazine/{fields['section']}"), (fields["h1"], "")],
            )
        )

    add_cards(pages)
    add_awkward_pages(pages, add)
    return pages


def add_cards(pages: dict[str, Page]) -> None:
    """What each listing shows: the categories one level down, or the products and articles at its end."""
    for page in list(pages.values()):
        if page.kind in ("product", "article") or (page.kind == "category" and len(page.crumbs) > 2):
            pages[page.crumbs[-2][1]].cards.append(page.path)
    pages["/"].cards = [
        "/magazine/how-to-choose-a-sleeping-bag/",
        "/magazine/winter-walking-what-changes/",
        "/shop/p/tarnwater-drift-400/",
        "/shop/p/osterby-glacier-b2/",
        "/shop/",
    ]


def add_awkward_pages(pages: dict[str, Page], add: Callable[[Page], Page]) -> None:
    """Duplicates, parameters, pagination, a redirect and an error: the traps that README.md lists."""
    article = "/magazine/the-layering-system/"
    jackets, jacket = "/shop/clothing/jackets/waterproof/", "/shop/p/carnmor-squall-jacket-men/"
    down, bag = "/shop/camping/sleeping-bags/down/", "/shop/p/skarn-moss-5/"

    add(replace(pages[bag], path="/sale/p/skarn-moss-5/", extra=[], cards=[], canonical=bag))
    add(replace(pages[jacket], path=jacket + "?colour=red", extra=[], canonical=jacket))
    add(replace(pages[jackets], path=jackets + "?sort=price", extra=[], canonical=jackets))
    add(replace(pages[down], path=down + "?sort=price", extra=[], canonical=down))
    add(
        replace(
            pages[article],
            path=article + "?utm_source=newsletter&utm_medium=email",
            extra=[],
            canonical=article,
        )
    )
    pages[jacket].extra.append(("Red", jacket + "?colour=red"))
    pages[jackets].extra.append(("Sort by price", jackets + "?sort=price"))
    pages[down].extra.append(("Sort by price", down + "?sort=price"))
    for name in ("", "-brown"):
        pages[f"/shop/p/hollin-wray-fellwalker-leather{name}/"].twin = 96.88
    pages[bag].twin = pages["/sale/p/skarn-moss-5/"].twin = 100.0

    paginate(pages, add, "/magazine/", ["/magazine/page/2/", "/magazine/page/3/"], "article", MAGAZINE_SUFFIX)
    paginate(pages, add, "/shop/camping/", ["/shop/camping/?page=2"], "product", SHOP_SUFFIX)
    paginate(pages, add, "/shop/equipment/", ["/shop/equipment/?page=2"], "product", SHOP_SUFFIX)

    target = "/magazine/how-to-choose-a-sleeping-bag/"
    add(Page(path="/magazine/choosing-a-sleeping-bag/", kind="redirect", status=301, redirect=target))
    add(
        Page(
            path="/shop/p/tarnwater-drift-200/",
            kind="error",
            status=404,
            title="Page not found" + SHOP_SUFFIX,
            h1="We cannot find that page",
        )
    )


def paginate(
    pages: dict[str, Page],
    add: Callable[[Page], Page],
    first: str,
    later: Sequence[str],
    kind: str,
    suffix: str,
) -> None:
    """Give a listing following pages, each its own canonical, with rel next and prev."""
    items = [page.path for page in pages.values() if page.kind == kind and any(c[1] == first for c in page.crumbs)]
    size = 15
    head = pages[first]
    series = [first, *later]
    for number, path in enumerate(later, start=2):
        add(
            replace(
                head,
                path=path,
                extra=[],
                kind="pagination",
                title=f"{head.h1} \u2013 page {number}{suffix}",
                canonical=path,
                cards=items[(number - 1) * size : number * size],
                body=[f"Page {number}"],
            )
        )
    head.cards += [path for path in items[:size] if path not in head.cards]
    for before, after in pairwise(series):
        pages[before].next, pages[after].prev = after, before
        pages[before].extra.append(("Next page", after))
        pages[after].extra.append(("Previous page", before))


# --- links


def body_links(page: Page) -> Iterator[Link]:
    """Links in the text of a page, with the path of the paragraph that holds them."""
    root = {"article": "//body/main/article/div[2]"}.get(page.kind, "//body/main/section/div")
    paragraphs = 0
    for block in page.body:
        if block.startswith("## "):
            continue
        paragraphs += 1
        found = LINK.findall(block)
        for number, (anchor, target) in enumerate(found, start=1):
            step = f"/a[{number}]" if len(found) > 1 else "/a"
            yield Link(page.path, target, anchor, f"{root}/p[{paragraphs}]{step}", "Content")


def listing_links(page: Page, pages: dict[str, Page]) -> Iterator[Link]:
    """Cards of a listing (a name, and for products a picture) and its sorting and paging links."""
    for number, target in enumerate(page.cards, start=1):
        path = f"//body/main/section/ul/li[{number}]"
        name = pages[target].h1
        if pages[target].kind == "product":
            yield Link(page.path, target, "", f"{path}/a[1]", "Content", alt=name)
            yield Link(page.path, image_of(target), "", f"{path}/a[1]/img", "Content", kind="Image", alt=name)
            yield Link(page.path, target, name, f"{path}/a[2]", "Content")
        else:
            yield Link(page.path, target, name, f"{path}/a", "Content")
    for number, (anchor, target) in enumerate(page.extra, start=1):
        yield Link(page.path, target, anchor, f"//body/main/section/div[2]/a[{number}]", "Content")


def image_of(path: str) -> str:
    return f"/media/{path.strip('/').split('/')[-1]}.webp"


def template_links(page: Page, pages: dict[str, Page], popular: Sequence[str]) -> Iterator[Link]:
    """What the site's template puts on every page."""
    at = page.path
    if page.canonical:
        yield Link(at, page.canonical, "", "//head/link[1]", "Head", kind="Canonical")
    yield Link(at, "/static/site.css", "", "//head/link[2]", "Head", kind="CSS")
    yield Link(at, "/static/site.js", "", "//head/script", "Head", kind="JavaScript")
    yield Link(at, "#main", "Skip to content", "//body/a", "Content")
    yield Link(at, "/", "", "//body/header/a[1]", "Header", alt="Fernpeak Outfitters")
    yield Link(at, "/media/logo.svg", "", "//body/header/a[1]/img", "Header", kind="Image", alt="Fernpeak Outfitters")
    yield Link(at, "/basket/", "Basket", "//body/header/a[2]", "Header", follow=False, rel="nofollow")
    for number, (anchor, target) in enumerate(NAVIGATION, start=1):
        yield Link(at, target, anchor, f"//body/nav/ul/li[{number}]/a", "Navigation")
    for number, (anchor, target) in enumerate(page.crumbs, start=1):
        if target:
            yield Link(at, target, anchor, f"//body/main/div[1]/ol/li[{number}]/a", "Content")
    if page.kind in ("article", "product"):
        siblings = [path for path in pages[page.crumbs[-2][1]].cards if path != page.canonical]
        chosen = seeded(f"aside {at}").sample(siblings, min(3, len(siblings)))
        for number, target in enumerate([*chosen, *popular], start=1):
            yield Link(at, target, pages[target].h1, f"//body/aside/ul/li[{number}]/a", "Aside")
    for number, (anchor, target) in enumerate(FOOTER, start=1):
        yield Link(at, target, anchor, f"//body/footer/ul/li[{number}]/a", "Footer")
    yield Link(
        at,
        "https://social.example/fernpeak",
        "Follow us",
        "//body/footer/p/a",
        "Footer",
        follow=False,
        rel="nofollow noopener",
        blank=True,
    )


def odd_links(pages: dict[str, Page]) -> Iterator[Link]:
    """Links an importer must leave out or treat with care: self, fragment, empty, external, sponsored."""
    for page in pages.values():
        if page.kind != "article":
            continue
        dice = seeded(f"odd {page.path}")
        root = "//body/main/article"
        first = re.sub(r"[^a-z]+", "-", page.headings[0].lower()).strip("-")
        yield Link(page.path, f"#{first}", page.headings[0], f"{root}/div[1]/ul/li[1]/a", "Content")
        yield Link(page.path, image_of(page.path), "", f"{root}/figure/img", "Content", kind="Image", alt=page.h1)
        if dice.random() < 0.25:
            yield Link(page.path, page.path, "Permalink", f"{root}/div[3]/p/a[1]", "Content")
        if dice.random() < 0.2:
            yield Link(page.path, "/contact/", "", f"{root}/div[3]/p/a[2]", "Content")
        if dice.random() < 0.3:
            yield Link(
                page.path,
                "https://forecast.example/mountain",
                "mountain weather forecast",
                f"{root}/div[2]/p[2]/a[9]",
                "Content",
                rel="noopener",
                blank=True,
            )
        if dice.random() < 0.1:
            yield Link(
                page.path,
                "https://maker.example/offer",
                "our partner's range",
                f"{root}/div[3]/p/a[3]",
                "Content",
                follow=False,
                rel="sponsored nofollow",
                blank=True,
            )


def collect_links(pages: dict[str, Page]) -> list[Link]:
    popular = ["/shop/p/tarnwater-drift-400/", "/shop/p/beadwell-spray-proofer/"]
    odd: dict[str, list[Link]] = defaultdict(list)
    for link in odd_links(pages):
        odd[link.source].append(link)
    links: list[Link] = []
    for page in pages.values():
        if page.status == 301:
            links.append(Link(page.path, page.redirect, "", "", "", kind="HTTP Redirect"))
        if page.status != 200:
            continue
        links += [*template_links(page, pages, popular), *body_links(page)]
        links += [*listing_links(page, pages), *odd[page.path]]
    known = set(pages)
    for link in links:
        if link.kind == "Hyperlink" and link.target.startswith("/") and link.target not in known:
            raise ValueError(f"{link.source} links to {link.target}, which does not exist")
    return links


def address(link: Link) -> str:
    if link.target.startswith("#"):
        return SITE + link.source + link.target
    return link.target if link.target.startswith("http") else SITE + link.target


def link_rows(links: Iterable[Link], pages: dict[str, Page]) -> Iterator[list[str]]:
    phrases = {200: "OK", 301: "Moved Permanently", 404: "Not Found"}
    for link in links:
        inside = not link.target.startswith("http")
        page = pages.get(link.target)
        status = page.status if page else 200
        size = seeded(link.target).randrange(900, 60_000)
        if page and status == 200:
            size = len(page.text) * 3 + 18_000
        path_type = "Root-Relative" if link.target.startswith("/") else "Path-Relative" if inside else "Absolute"
        yield [
            link.kind,
            SITE + link.source,
            address(link),
            str(size),
            link.alt,
            link.anchor,
            str(status),
            phrases[status],
            "Crawlable",
            "true" if link.follow else "false",
            "_blank" if link.blank else "",
            link.rel,
            path_type,
            link.path,
            link.position,
            "HTML" if link.kind != "HTTP Redirect" else "HTTP Header",
        ]


# --- pages


@dataclass
class Graph:
    """Numbers that the crawler takes from the links, by path."""

    depth: dict[str, int]
    inlinks: dict[str, list[str]]
    outlinks: dict[str, list[str]]
    external: dict[str, list[str]]
    score: dict[str, int]


def measure(links: Iterable[Link], pages: dict[str, Page]) -> Graph:
    inlinks: dict[str, list[str]] = defaultdict(list)
    outlinks: dict[str, list[str]] = defaultdict(list)
    external: dict[str, list[str]] = defaultdict(list)
    for link in links:
        if link.kind not in ("Hyperlink", "HTTP Redirect"):
            continue
        target = link.source if link.target.startswith("#") else link.target
        if target in pages:
            outlinks[link.source].append(target)
            inlinks[target].append(link.source)
        else:
            external[link.source].append(target)
    depth, queue = {"/": 0}, deque(["/"])
    while queue:
        here = queue.popleft()
        for target in outlinks[here]:
            if target not in depth:
                depth[target] = depth[here] + 1
                queue.append(target)
    unreached = set(pages) - set(depth)
    if unreached:
        raise ValueError(f"no way from the home page to {sorted(unreached)}")
    rank = dict.fromkeys(pages, 1.0)
    for _ in range(20):
        fresh = dict.fromkeys(pages, 0.15)
        for source, targets in outlinks.items():
            for target in targets:
                fresh[target] += 0.85 * rank[source] / len(targets)
        rank = fresh
    top = max(rank.values())
    score = {path: max(1, round(100 * (value / top) ** 0.5)) for path, value in rank.items()}
    return Graph(depth, inlinks, outlinks, external, score)


def syllables(text: str) -> int:
    return max(1, len(re.findall(r"[aeiouyäöüé]+", text.lower())))


def readability(score: float) -> str:
    for limit, name in ((80, "Very Easy"), (70, "Easy"), (60, "Normal"), (50, "Fairly Hard"), (30, "Hard")):
        if score >= limit:
            return name
    return "Very Hard"


def encoded(url: str) -> str:
    return quote(url, safe=":/?&=%#")


def pixel_width(text: str) -> int:
    return round(sum(4 if c in "il.,:;'|!" else 14 if c in "mwMW" else 9 for c in text))


def page_row(page: Page, moment: datetime, graph: Graph, pages: dict[str, Page]) -> dict[str, str]:
    dice = seeded(f"page {page.path}")
    live = page.status == 200
    text = page.text if live else ""
    words = re.findall(r"[^\W\d_][\w\u2019'-]*", text)
    sentences = max(1, len(re.findall(r"[.!?](?:\s|$)", text))) if text else 0
    average = len(words) / sentences if sentences else 0.0
    flesch = 206.835 - 1.015 * average - 84.6 * syllables(text) / max(1, len(words)) if words else 0.0
    size = 18_000 + len(text) * 3 + dice.randrange(4_000) if live else 0 if page.status == 301 else 4_812
    carbon = size * 0.0052
    headings = [*page.headings, "", ""] if live else ["", ""]
    inlinks, outlinks, external = (
        graph.inlinks[page.path],
        graph.outlinks[page.path],
        graph.external[page.path],
    )
    unique = len(set(inlinks))
    modified = datetime.fromisoformat(page.date).replace(hour=8, minute=dice.randrange(60), tzinfo=UTC)

    def full(path: str) -> str:
        return SITE + path if path else ""

    row: dict[str, object] = {
        "Address": page.url,
        "Content Type": "text/html; charset=utf-8",
        "Status Code": page.status,
        "Status": {200: "OK", 301: "Moved Permanently", 404: "Not Found"}[page.status],
        "Indexability": "Non-Indexable" if page.reason else "Indexable",
        "Indexability Status": page.reason,
        "Title 1": page.title,
        "Meta Description 1": page.description,
        "H1-1": page.h1,
        "H2-1": headings[0],
        "H2-2": headings[1],
        "Meta Keywords 1 Length": 0,
        "Meta Robots 1": page.robots,
        "Canonical Link Element 1": full(page.canonical),
        'rel="next" 1': full(page.next),
        'rel="prev" 1': full(page.prev),
        "Size (bytes)": size,
        "Transferred (bytes)": size // 4,
        "Total Transferred (bytes)": size // 4 + 182_440 if live else size // 4,
        "CO2 (mg)": f"{carbon:.3f}",
        "Carbon Rating": "A+" if carbon < 120 else "A",
        "Word Count": len(words) + 96 if live else 0,
        "Sentence Count": sentences,
        "Average Words Per Sentence": f"{average:.3f}",
        "Flesch Reading Ease Score": f"{flesch:.3f}",
        "Readability": readability(flesch) if words else "",
        "Text Ratio": f"{100 * len(text) / size:.3f}" if size else "0",
        "Crawl Depth": graph.depth[page.path],
        "Folder Depth": len([part for part in urlsplit(page.path).path.split("/") if part]),
        "Link Score": graph.score[page.path],
        "Inlinks": len(inlinks),
        "Unique Inlinks": unique,
        "Unique JS Inlinks": 0,
        "% of Total": f"{100 * unique / len(pages):.3f}",
        "Outlinks": len(outlinks),
        "Unique Outlinks": len(set(outlinks)),
        "Unique JS Outlinks": 0,
        "External Outlinks": len(external),
        "Unique External Outlinks": len(set(external)),
        "Unique External JS Outlinks": 0,
        "Closest Near Duplicate Match": f"{page.twin:.2f}" if page.twin else "",
        "No. Near Duplicates": 1 if page.twin else "",
        "Spelling Errors": 0 if live else "",
        "Grammar Errors": 0 if live else "",
        "Hash": hashlib.md5(f"{page.h1}\n{text}".encode(), usedforsecurity=False).hexdigest() if live else "",
        "Response Time": f"{dice.uniform(0.06, 0.42):.3f}",
        "Last Modified": format_datetime(modified, usegmt=True) if live else "",
        "Redirect URL": full(page.redirect),
        "Redirect Type": "HTTP Redirect" if page.redirect else "",
        "Language": page.language if live else "",
        "HTTP Version": "2",
        "URL Encoded Address": encoded(page.url),
        "Crawl Timestamp": f"{moment:%Y-%m-%d %H:%M:%S}",
        "Content 1": text,
    }
    for column in ("Title 1", "Meta Description 1", "H1-1", "H2-1", "H2-2"):
        row[f"{column} Length"] = len(str(row[column]))
    for column in ("Title 1", "Meta Description 1"):
        row[f"{column} Pixel Width"] = pixel_width(str(row[column]))
    for number, (name, path) in enumerate(page.crumbs, start=1):
        row[f"Breadcrumb_Name {number}"], row[f"Breadcrumb_URL {number}"] = name, full(path)
    return {column: str(row.get(column, "")) for column in PAGE_COLUMNS}


def csv_bytes(header: Sequence[str], rows: Iterable[Iterable[str]], *, quoted: bool) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, csv.unix_dialect, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().encode("utf-8-sig" if quoted else "utf-8")


# --- Search Console


def figures(dice: Random, scale: float, position: float) -> tuple[int, int, float]:
    """Clicks, impressions and position that agree with each other."""
    impressions = max(1, round(dice.lognormvariate(5.2, 1.1) * scale))
    rate = min(0.4, 0.32 / position**1.1 * dice.uniform(0.6, 1.3))
    return round(impressions * rate), impressions, position


def percent(clicks: int, impressions: int) -> str:
    return f"{100 * clicks / impressions:.2f}".rstrip("0").rstrip(".") + "%"


def metric_rows(items: Iterable[tuple[str, float, float]], seed: str) -> list[list[str]]:
    rows: list[tuple[int, int, str, float]] = []
    for name, scale, best in items:
        dice = seeded(f"{seed} {name}")
        clicks, impressions, position = figures(dice, scale, best + dice.expovariate(0.12) * (best > 1))
        rows.append((clicks, impressions, name, position))
    rows.sort(key=lambda row: (-row[0], -row[1], row[2]))
    return [[n, str(c), str(i), percent(c, i), f"{p:.2f}".rstrip("0").rstrip(".")] for c, i, n, p in rows]


def shares(rows: Sequence[Sequence[str]], weights: dict[str, float], whole: float = 0.0) -> list[list[str]]:
    """The totals of ``rows`` dealt out by weight, a little unevenly; weights add up to ``whole`` or to 1."""
    clicks, impressions = (sum(int(row[column]) for row in rows) for column in (1, 2))
    total = whole or sum(weights.values())
    dealt = []
    for name, weight in weights.items():
        dice = seeded(f"share {name}")
        seen = max(1, round(impressions * weight / total * dice.uniform(0.85, 1.15)))
        hits = round(clicks * weight / total * dice.uniform(0.85, 1.15))
        dealt.append([name, str(hits), str(seen), percent(hits, seen), f"{dice.uniform(8, 14):.2f}"])
    return sorted(dealt, key=lambda row: -int(row[1]))


def query_names(pages: dict[str, Page]) -> list[tuple[str, float, float]]:
    queries: dict[str, float] = {"fernpeak": 0.3, "fernpeak outfitters": 0.4, "fernpeak magazine": 0.1}
    for page in pages.values():
        name = topic_words(page)
        if page.kind == "article":
            queries.setdefault(name, 1.2)
            queries.setdefault(page.path.strip("/").split("/")[-1].replace("-", " "), 0.7)
        elif page.kind == "category" and page.path.startswith("/shop/") and len(page.crumbs) > 2:
            queries.setdefault(name, 1.5)
            queries.setdefault(f"best {name}", 0.8)
        elif page.kind == "product" and seeded(f"query {name}").random() < 0.5:
            queries.setdefault(name, 0.4)
    for name in (
        "r value sleeping mat",
        "b2 boots crampons",
        "how to stop blisters walking",
        "waterproofing spray jacket",
        "what is hydrostatic head",
        "lead for compass bearing",
        "tick removal",
        "midge net",
    ):
        queries.setdefault(name, 0.9)
    return [(name, scale, 1.0 if name.startswith("fernpeak") else 2.5) for name, scale in queries.items()]


def search_console(pages: dict[str, Page]) -> bytes:
    scales = {"article": 1.4, "category": 0.9, "product": 0.35, "page": 0.5, "pagination": 0.05}
    seen = [page for page in pages.values() if page.kind in scales and not page.reason]
    items = [
        (encoded(page.url), scales[page.kind], 3.0)
        for page in seen
        if page.kind != "product" or seeded(f"seen {page.path}").random() < 0.7
    ]
    items += [
        (f"{SITE}/magazine/how-to-choose-a-sleeping-bag/#temperature-ratings", 0.4, 5.0),
        (f"{SITE}/magazine/winter-boots-and-crampons/#what-the-letters-mean", 0.3, 5.0),
        (f"{SITE}/magazine/the-layering-system/?utm_source=newsletter&utm_medium=email", 0.1, 6.0),
        (f"{SITE}/shop/p/carnmor-squall-jacket-men/?colour=red", 0.2, 8.0),
        (f"{SITE}/sale/p/skarn-moss-5/", 0.1, 12.0),
        (f"{SITE}/magazine/choosing-a-sleeping-bag/", 0.3, 9.0),
    ]
    by_page = metric_rows(items, "page")
    days = [datetime(2025, 10, 18) + timedelta(days=n) for n in range(92)]
    weekend = {f"{day:%Y-%m-%d}": 1.4 if day.weekday() > 4 else 1.0 for day in days}
    places = {
        "United Kingdom": 70.0,
        "United States": 9.0,
        "Ireland": 6.0,
        "Germany": 3.0,
        "Canada": 2.0,
        "Australia": 2.0,
        "Netherlands": 2.0,
        "France": 2.0,
        "Austria": 1.0,
        "Norway": 1.0,
        "Türkiye": 0.3,
    }
    devices = {"Mobile": 58.0, "Desktop": 38.0, "Tablet": 3.0}
    tail = ["Clicks", "Impressions", "CTR", "Position"]
    files = {
        "Chart.csv": (["Date", *tail], sorted(shares(by_page, weekend))),
        "Countries.csv": (["Country", *tail], shares(by_page, places)),
        "Devices.csv": (["Device", *tail], shares(by_page, devices)),
        "Filters.csv": (["Filter", "Value"], [["Search type", "Web"], ["Date", "Last 3 months"]]),
        "Pages.csv": (["Top pages", *tail], by_page),
        "Queries.csv": (["Top queries", *tail], metric_rows(query_names(pages), "query")),
        "Search appearance.csv": (
            ["Search Appearance", *tail],
            shares(by_page, {"Product snippets": 0.07}, 1.0),
        ),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (header, rows) in files.items():
            info = zipfile.ZipInfo(name, date_time=(2026, 1, 19, 9, 0, 0))
            info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            archive.writestr(info, csv_bytes(header, rows, quoted=False))
    return out.getvalue()


def topic_words(page: Page) -> str:
    """An H1 as people would type it: lower case, without what follows a colon or question mark."""
    return re.sub(r"[^\w\s'-]", "", re.split(r"[:?\u2013]", page.h1)[0]).lower().strip()


def page_queries(pages: dict[str, Page]) -> bytes:
    """What pages were found by: their topic, its variants, the shop's name; the home page by the name above all."""
    rows: list[list[str]] = []
    for page in pages.values():
        if page.reason or page.kind not in ("article", "category", "product", "page"):
            continue
        dice, topic = seeded(f"queries {page.path}"), topic_words(page)
        slug = page.path.strip("/").split("/")[-1].replace("-", " ")
        if page.path == "/":
            wanted = {"fernpeak": 9.0, "fernpeak outfitters": 6.0, "fernpeak login": 1.0, "outdoor shop": 2.0}
        elif page.kind == "article":
            wanted = {topic: 1.4, slug: 0.9, f"{slug} guide": 0.5, "fernpeak magazine": 0.05}
        elif page.kind == "category":
            wanted = {topic: 1.2, f"best {topic}": 0.8, f"{topic} uk": 0.4, "fernpeak": 0.05}
        else:
            wanted = {topic: 0.3, f"{topic} review": 0.2}
        for query, scale in wanted.items():
            clicks, seen, position = figures(dice, scale, 2.0 + dice.expovariate(0.2))
            ctr = f"{clicks / seen:.4f}".rstrip("0").rstrip(".")
            rows.append([query, encoded(page.url), str(clicks), str(seen), ctr, f"{position:.2f}"])
    # The same page at a heading: to be added to the row of the page itself.
    rows.append(
        ["sleeping bag temperature ratings", f"{SITE}/magazine/how-to-choose-a-sleeping-bag/#temperature-ratings"]
    )
    rows[-1] += ["31", "412", "0.0752", "4.1"]
    rows.sort(key=lambda row: (-int(row[2]), -int(row[3]), row[0], row[1]))
    return csv_bytes(["query", "page", "clicks", "impressions", "ctr", "position"], rows, quoted=False)


# --- access log

LOG_LINES = 4_000
GOOGLE = (
    "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/143.0.0.0 Mobile Safari/537.36 "
    "(compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
)
BING = (
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; "
    "+http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36"
)
BROWSERS = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.2 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.2 Safari/605.1.15",
]
STATIC = [
    "/static/site.css",
    "/static/site.js",
    "/media/logo.svg",
    "/robots.txt",
    "/sitemap.xml",
    "/favicon.ico",
]


def log_line(
    dice: Random, moment: datetime, paths: Sequence[str], weights: Sequence[float], pages: dict[str, Page]
) -> str:
    """One request. The Googlebot in 198.51.100.0/28 counts as real; the one at 203.0.113.66 only says so."""
    visitor = dice.choices(["google", "bing", "forged", "person"], [24, 9, 0.5, 66.5])[0]
    path = dice.choices(paths, weights)[0]
    referrer, method = "-", "GET"
    if visitor == "google":
        host, agent = f"198.51.100.{dice.randrange(1, 15)}", GOOGLE
    elif visitor == "bing":
        host, agent = f"198.51.100.{dice.randrange(33, 39)}", BING
    elif visitor == "forged":
        host, agent = "203.0.113.66", GOOGLE
    else:
        if dice.random() < 0.12:
            host = f"2001:db8::{dice.randrange(1, 0xFFFF):x}"
        else:
            host = f"{dice.choice(['192.0.2', '203.0.113'])}.{dice.randrange(100, 250)}"
        agent = dice.choice(BROWSERS)
        referrer = dice.choices(["-", "https://www.google.com/", SITE + "/"], [3, 4, 3])[0]
        method = dice.choices(["GET", "HEAD", "POST"], [97, 1, 2])[0]
        if dice.random() < 0.2:
            path = dice.choice(STATIC)
    if visitor != "person" and dice.random() < 0.06:
        path = dice.choice(STATIC[3:5])
    if method == "POST":
        path = "/basket/"
    status = pages[path].status if path in pages else 200
    if path in STATIC and status == 200 and dice.random() < 0.25:
        status = 304
    elif dice.random() < 0.004:
        path, status = dice.choice(["/wp-login.php", "/shop/p/unknown/", "/.env"]), 404
    elif dice.random() < 0.001:
        status = 503
    sent = {301: 178, 404: 4812, 503: 0}.get(status, dice.randrange(6_000, 42_000))
    size = "-" if status == 304 or method == "HEAD" else str(sent)
    stamp = f"{moment:%d/%b/%Y:%H:%M:%S} +0000"
    return f'{host} - - [{stamp}] "{method} {encoded(path)} HTTP/1.1" {status} {size} "{referrer}" "{agent}"'


def access_log(pages: dict[str, Page]) -> bytes:
    kinds = {"article": 5.0, "category": 4.0, "product": 1.6, "page": 2.0, "redirect": 6.0, "error": 3.0}
    dice = seeded("access log")
    paths = list(pages)
    weights = [kinds.get(pages[path].kind, 1.0) * dice.lognormvariate(0, 0.8) for path in paths]
    weights[paths.index("/")] = 40.0
    start = datetime(2026, 1, 12)
    moments = sorted(start + timedelta(seconds=dice.randrange(7 * 86_400)) for _ in range(LOG_LINES))
    text = "".join(log_line(dice, moment, paths, weights, pages) + "\n" for moment in moments)
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=out, mtime=0) as packed:
        packed.write(text.encode("utf-8"))
    return out.getvalue()


# --- build


def crawl_files(pages: dict[str, Page], links: list[Link], start: datetime) -> dict[str, bytes]:
    """The two files of a crawl that began at a time, by name."""
    graph = measure(links, pages)
    order = sorted(pages.values(), key=lambda page: graph.depth[page.path])
    moments = (start + timedelta(seconds=n // 4) for n in range(len(order)))
    rows = (page_row(*pair, graph, pages).values() for pair in zip(order, moments, strict=True))
    return {
        "internal_html.csv": csv_bytes(PAGE_COLUMNS, rows, quoted=True),
        "all_inlinks.csv": csv_bytes(LINK_COLUMNS, link_rows(links, pages), quoted=True),
    }


def build(out: Path) -> None:
    """Write the five exports into ``out``, which is made if need be."""
    pages = read_pages()
    out.mkdir(parents=True, exist_ok=True)
    for name, content in crawl_files(pages, collect_links(pages), CRAWL_START).items():
        (out / name).write_bytes(content)
    (out / "search_console.zip").write_bytes(search_console(pages))
    (out / "page_queries.csv").write_bytes(page_queries(pages))
    (out / "access.log.gz").write_bytes(access_log(pages))


def summary() -> str:
    """Counts for the README."""
    pages = read_pages()
    links = collect_links(pages)
    kinds = Counter(page.kind for page in pages.values())
    articles = [page for page in pages.values() if page.kind == "article"]
    own = [link for page in pages.values() if page.reason == "" for link in body_links(page)]
    from_articles = [link for link in own if pages[link.source].kind == "article"]
    between = [link for link in from_articles if link.target.startswith("/magazine/")]
    words = [len(page.text.split()) for page in articles]
    return (
        f"pages {len(pages)}: {dict(kinds)}\n"
        f"links {len(links)}: {dict(Counter(link.kind for link in links))}\n"
        f"positions {dict(Counter(link.position for link in links))}\n"
        f"body links {len(own)}, from articles {len(from_articles)}, between articles {len(between)}\n"
        f"words in articles {min(words)} to {max(words)}, {sum(words)} in all"
    )


if __name__ == "__main__":
    build(HERE)
    sys.stdout.write(summary() + "\n")
