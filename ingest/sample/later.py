"""Build two later crawls of the sample site, in which links that were released have been put in, or have not.

Reads ``content/released.csv``: links that the sample project's editors accept, some of which they withdraw later, and
what the second and the third crawl show of each:

- ``live``      in the text, as it was asked for
- ``words``     in the text with other words, those of the column ``words``
- ``nofollow``  in the text, not to be followed
- ``aside``     beside the text and not in it
- nothing       nowhere

Between the crawls pages move and go: ``MOVED``, ``GONE``. As the first crawl, these depend on the content alone. Run
``python -m ingest.sample.later`` to rewrite the files.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from ingest.sample.build import (
    CONTENT,
    CRAWL_START,
    HERE,
    LINK,
    SHOP_SUFFIX,
    SITE,
    Link,
    Page,
    collect_links,
    crawl_files,
    csv_bytes,
    read_csv,
    read_pages,
)

CRAWLS = ("second", "third")
DAYS_APART = 30
# Where a page is in the second crawl, and by way of which addresses one gets there.
MOVED = {
    "/magazine/reading-an-avalanche-forecast/": ["/magazine/how-to-read-an-avalanche-forecast/"],
    "/magazine/reading-contour-lines/": ["/magazine/contour-lines/", "/magazine/how-to-read-contour-lines/"],
}
GONE = ("/magazine/field-repairs/", "/shop/p/ullstad-waterproof-sock/")


@dataclass(frozen=True)
class Released:
    """A link that was released. `shown`: what each crawl has of it, in the order of CRAWLS."""

    donor: str
    acceptor: str
    anchor: str
    rel: str
    words: str
    shown: tuple[str, ...]
    withdrawn: bool


def read_released() -> list[Released]:
    return [
        Released(
            row["donor"], row["acceptor"], row["anchor"], row["rel"], row["words"],
            tuple(row[crawl] for crawl in CRAWLS), row["withdrawn"] == "yes",
        )
        for row in read_csv(CONTENT / "released.csv")
    ]  # fmt: skip


def crawl(number: int) -> tuple[dict[str, Page], list[Link]]:
    """Pages and links of a later crawl: 0 is the second, 1 the third."""
    pages = read_pages()
    shown = [(one, one.shown[number]) for one in read_released()]
    for link, how in shown:
        if how in ("live", "words", "nofollow"):
            put_in(pages[link.donor], link.words if how == "words" else link.anchor, link.acceptor)
    for path, addresses in MOVED.items():
        move(pages, path, addresses)
    for path in GONE:
        remove(pages, path)
    not_followed = {(one.donor, one.acceptor) for one, how in shown if how == "nofollow"}
    links = [
        replace(link, follow=False, rel="nofollow") if (link.source, link.target) in not_followed else link
        for link in collect_links(pages)
    ]
    links += [
        Link(one.donor, one.acceptor, one.anchor, "//body/aside/p/a", "Aside") for one, how in shown if how == "aside"
    ]
    return pages, links


def put_in(page: Page, words: str, target: str) -> None:
    """Makes a link of the first such words in the text of the page that are none yet."""
    for place, block in enumerate(page.body):
        linked = [range(*found.span()) for found in LINK.finditer(block)]
        start = block.find(words)
        if start < 0 or block.startswith("## ") or any(start in span for span in linked):
            continue
        page.body[place] = f"{block[:start]}[{words}]({target}){block[start + len(words) :]}"
        return
    raise ValueError(f"{page.path} has no “{words}” to make a link of")


def move(pages: dict[str, Page], path: str, addresses: list[str]) -> None:
    """The page answers at the last of the addresses, and each one before it leads to the next. Lists of pages know the
    new address; links in texts do not."""
    end = addresses[-1]
    pages[end] = replace(pages[path], path=end, canonical=end)
    for before, after in zip([path, *addresses], addresses, strict=False):
        pages[before] = Page(path=before, kind="redirect", status=301, redirect=after)
    for page in pages.values():
        page.cards = [end if card == path else card for card in page.cards]


def remove(pages: dict[str, Page], path: str) -> None:
    """The page is no longer found, and no list names it."""
    pages[path] = Page(
        path=path, kind="error", status=404, title="Page not found" + SHOP_SUFFIX, h1="We cannot find that page"
    )
    for page in pages.values():
        page.cards = [card for card in page.cards if card != path]


def build(out: Path) -> None:
    """Writes both crawls, packed, and what the editors decide before each, into folders below ``out``."""
    released = read_released()
    done = {
        "second": [(one, "accept") for one in released],
        "third": [(one, "withdraw") for one in released if one.withdrawn],
    }
    for number, name in enumerate(CRAWLS):
        pages, links = crawl(number)
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        start = CRAWL_START + timedelta(days=DAYS_APART * (number + 1))
        for file, content in crawl_files(pages, links, start).items():
            (folder / f"{file}.gz").write_bytes(gzip.compress(content, 9, mtime=0))
        rows = [[SITE + one.donor, SITE + one.acceptor, one.anchor, one.rel, verb] for one, verb in done[name]]
        header = ["donor_url", "acceptor_url", "anchor_text", "rel", "decision"]
        (folder / "decisions.csv").write_bytes(csv_bytes(header, rows, quoted=False))


if __name__ == "__main__":
    build(HERE)
