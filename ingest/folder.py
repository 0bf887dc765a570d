"""A folder with a crawl's files: which of them are pages, links and queries, and whose site it is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from django.utils.text import slugify

from ingest.errors import FileError
from ingest.files import sniff
from ingest.files.table import Table
from ingest.kinds import registry
from linker.errors import UserError

PAGES, LINKS, QUERIES = "pages", "links", "queries"
LATER = ("second", "third")  # folders of the sample
SAMPLE = Path(__file__).resolve().parent / "sample"
# Names in the order of preference; each may be packed.
NAMES = {
    PAGES: ("internal_html.csv", "internal_all.csv", *sorted(registry.get(PAGES).preferred_files)),
    LINKS: ("all_inlinks.csv", "all_outlinks.csv", *sorted(registry.get(LINKS).preferred_files)),
}
ROWS_LOOKED_AT = 2000


@dataclass(frozen=True)
class Crawl:
    """A site to import; `links` and `queries` are None where the folder has no such file. `later`: what happens to the
    site afterwards, of the sample only."""

    slug: str
    name: str
    base_url: str
    pages: Path
    links: Path | None
    queries: Path | None
    later: tuple[Later, ...] = ()


@dataclass(frozen=True)
class Later:
    """A later crawl of the same site, and the file with what editors decide before it."""

    decisions: Path
    crawl: Crawl


def find_crawl(folder: Path) -> Crawl:
    """The crawl in a folder; the site is the one most of its first pages belong to.

    Raises UserError where the folder has no file of pages or the file cannot be read.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder. Name the folder that holds the crawl's exports.")
    pages, links = _find(folder, PAGES), _find(folder, LINKS)
    if pages is None:
        raise UserError(
            f"{folder} holds no file of pages. Export the tab “Internal”, filter “HTML”, from Screaming Frog into it, "
            "as internal_html.csv; all_inlinks.csv belongs beside it. Both may be packed as .gz or .zip."
        )
    queries = _find_queries(folder, {pages, links})
    if folder.resolve() == SAMPLE:
        site = ("fernpeak", "Fernpeak Outfitters", "https://www.fernpeak.example")
        return Crawl(*site, pages, links, queries, tuple(_later(folder / name, site) for name in LATER))
    base_url = _base_url(pages)
    host = urlsplit(base_url).netloc
    return Crawl(
        slugify(host.removeprefix("www.").replace(".", "-").replace(":", "-"))[:60],
        host,
        base_url,
        pages,
        links,
        queries,
    )


def _later(folder: Path, site: tuple[str, str, str]) -> Later:
    pages = _find(folder, PAGES)
    assert pages is not None
    return Later(folder / "decisions.csv", Crawl(*site, pages, _find(folder, LINKS), None))


def _find(folder: Path, kind: str) -> Path | None:
    files = {path.name.lower(): path for path in sorted(folder.iterdir()) if path.is_file()}
    wanted = (spelling for name in NAMES[kind] for spelling in (name, f"{name}.gz", f"{name}.zip", f"{name[:-4]}.zip"))
    return next((files[spelling] for spelling in wanted if spelling in files), None)


def _find_queries(folder: Path, taken: set[Path | None]) -> Path | None:
    """The first file, by name, whose columns are those of pages' search queries: it has no fixed name."""
    kind = registry.get(QUERIES)
    for path in sorted(folder.iterdir()):
        if path in taken or not path.is_file() or not path.name.lower().endswith((".csv", ".tsv", ".gz", ".zip")):
            continue
        try:
            header = sniff.inspect(path, path.name, known=kind.fields.known_columns).header
        except FileError:
            continue
        if registry.kind_of(header) is kind and not registry.what_is_missing(kind, header, kind.guess(header, [])):
            return path
    return None


def _base_url(pages: Path) -> str:
    """Scheme and host that most of the first pages share."""
    kind = registry.get(PAGES)
    known, preferred = kind.fields.known_columns, kind.preferred_files
    table = Table(pages, pages.name, sniff.inspect(pages, pages.name, known=known, preferred=preferred), preferred)
    rows = [cells for _, cells in islice(table, ROWS_LOOKED_AT)]
    header = table.format.header
    mapping = kind.fields.resolve(kind.guess(header, rows), pages.name, header, {}, {})
    column = header.index(mapping["url"][0])
    addresses = (urlsplit(row[column].strip()) for row in rows if len(row) > column)
    hosts = Counter(
        f"{url.scheme}://{url.netloc}" for url in addresses if url.scheme in {"http", "https"} and url.netloc
    )
    if not hosts:
        raise UserError(f"{pages}: no row holds an address, https://..., in its column “{header[column]}”.")
    return hosts.most_common(1)[0][0]
