"""Whether a site that was crawled ends in suggestions as good as those of a file import.

    python bench/crawled_site.py SITE FILES [--design semantic] [--model NAME]
    python bench/crawled_site.py            # the sample site, a fifth of whose links in texts is hidden

SITE is a folder with pages.jsonl.gz and links.csv.gz, FILES one with internal_html.csv and all_inlinks.csv of the same
site, without some of the links of its texts: those are hidden. The site is rendered without them in a design of
tests/ingest/reading/designs.py, served on the loopback address by nginx (where there is none, by Python's own server)
with robots.txt and a sitemap with lastmod, and crawled into one project; the files are imported into another. Both are
embedded and matched with the default settings. Prints, as a Markdown table, what each knows of the site, against
the truth: pages; pages whose categories are the files'; F1 of the tokens of texts, the mean over pages; pairs of pages
linked in texts, precision and recall; and how many hidden links are among the first five and ten suggestions of their
page. `--beside` also gives the files what the crawl found outside of texts; `--unmatched` neither embeds nor matches,
which takes a tenth of the time. With ANCHORLINE_BENCH_VAR, what an earlier call crawled, imported and embedded is taken
up again.
"""

from __future__ import annotations

import argparse
import csv
import functools
import http.server
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

os.environ["OUTGOING_ALLOW"] = "127.0.0.0/8"

from _common import load_of_ours, migrate, note, timed  # starts Django on a database of its own
from django.core.management import call_command
from reading import f1_of_texts, sample_site, stored_site

from ingest.sample.build import HERE as SAMPLE
from linker.models import Block, ExistingLink, Project
from linker.projects.create import create_project
from tests.ingest.reading.designs import DESIGNS, Site, SitePage, rendered_links

Pair = tuple[str, str]
PAGES, LINKS = "internal_html.csv", "all_inlinks.csv"
SHARE, SEED = 0.2, 11
LISTED = 50_000  # addresses of a sitemap
RECALL_LOST = 0.03  # against the files


# ------------------------------------------------------------------------------------------------------- the site


def base_of(site: Site) -> str:
    parts = urlsplit(site.pages[0].url)
    return f"{parts.scheme}://{parts.netloc}"


def linked_pairs(site: Site) -> set[Pair]:
    """The pairs of pages that texts link, as rendered; addresses everywhere as unquote() writes them."""
    known = {page.url for page in site.pages}
    return {
        (unquote(page.url), unquote(link.target))
        for page in site.pages
        for link in rendered_links(page)
        if link.target in known and link.target != page.url
    }


def pairs_in_files(folder: Path) -> set[Pair]:
    with (folder / LINKS).open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["Link Position"] == "Content"]
    return {(unquote(row["Source"]), unquote(row["Destination"])) for row in rows}


def sample_files(site: Site, out: Path) -> None:
    """The sample's files, without a fifth of the links in texts."""
    pairs = sorted(linked_pairs(site))
    hidden = set(random.Random(SEED).sample(pairs, int(SHARE * len(pairs))))
    shutil.copy(SAMPLE / PAGES, out / PAGES)
    with (SAMPLE / LINKS).open(encoding="utf-8-sig", newline="") as file, (out / LINKS).open("w", newline="") as kept:
        rows = csv.DictReader(file)
        writer = csv.DictWriter(kept, rows.fieldnames or [])
        writer.writeheader()
        writer.writerows(
            row
            for row in rows
            if row["Link Position"] != "Content" or (unquote(row["Source"]), unquote(row["Destination"])) not in hidden
        )


def without(site: Site, hidden: set[Pair]) -> Site:
    """The site, the hidden pairs not linked. Its home page is the root, made where it has none."""
    home = f"{base_of(site)}/"
    pages = [
        replace(page, links=[link for link in page.links if (unquote(page.url), unquote(link.target)) not in hidden])
        for page in site.pages
        if not urlsplit(page.url).query
    ]
    if not any(page.url == home for page in pages):
        pages.append(SitePage(home, site.name, site.name, f"Welcome to {site.name}."))
    return Site(site.name, pages, home)


def write_site(site: Site, design: str, served_at: str, out: Path) -> None:
    """Each page as a file in the folder of its path, with addresses as they are served."""
    own = base_of(site)
    for page in site.pages:
        folder = out / unquote(urlsplit(page.url).path).strip("/")
        folder.mkdir(parents=True, exist_ok=True)
        html = DESIGNS[design](site, page).replace(f'"{own}/', f'"{served_at}/')
        (folder / "index.html").write_text(html, encoding="utf-8")
    (out / "robots.txt").write_text(f"User-agent: *\nDisallow: /basket/\nSitemap: {served_at}/sitemap.xml\n")
    entries = "".join(
        f"<url><loc>{page.url.replace(own, served_at, 1)}</loc>"
        f"<lastmod>{page.date[:10] or '2026-01-15'}</lastmod></url>"
        for page in site.pages[:LISTED]
    )
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    (out / "sitemap.xml").write_text(
        f'{head}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>', encoding="utf-8"
    )


# ------------------------------------------------------------------------------------------------------ the server


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def served(root: Path, port: int) -> Iterator[str]:
    """The name of the server that answers with the files below a folder."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        with _served_by_python(root, port):
            yield "http.server"
        return
    with tempfile.TemporaryDirectory(prefix="crawled-nginx-") as folder:
        config = Path(folder) / "nginx.conf"
        config.write_text(_nginx_config(root, port, Path(folder)))
        process = subprocess.Popen([nginx, "-p", folder, "-c", str(config)], stderr=subprocess.DEVNULL)
        try:
            _wait_for(port)
            yield "nginx"
        finally:
            process.terminate()
            process.wait()


def _nginx_config(root: Path, port: int, folder: Path) -> str:
    temporary = " ".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.geteuid() == 0 else ""  # the files lie in a folder of this user's
    return (
        f"daemon off; {user} pid {folder}/pid; error_log {folder}/error.log; events {{}} "
        "http { types { text/html html; text/plain txt; application/xml xml; } charset utf-8; "
        f"access_log off; {temporary} gzip on; "
        f"server {{ listen 127.0.0.1:{port}; root {root}; "
        "location / { try_files $uri $uri/index.html =404; } "
        "location ~ /$ { try_files ${uri}index.html =404; } } }"
    )


class _Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def translate_path(self, path: str) -> str:
        found = Path(super().translate_path(path))
        return str(found / "index.html" if found.is_dir() else found)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def _served_by_python(root: Path, port: int) -> Iterator[None]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(_Handler, directory=str(root)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


def _wait_for(port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("nginx does not answer.")


# --------------------------------------------------------------------------------------------------- two projects


def served_and_crawled(site: Site, design: str, root: Path) -> Project:
    port = free_port()
    at = f"http://127.0.0.1:{port}"
    write_site(site, design, at, root)
    with served(root, port) as server, load_of_ours() as load, timed() as watch:
        project = crawled("crawled", at)
    note(f"crawled from {server} in {watch.seconds:.0f} s, {load.cpu:.0f} s of computing")
    return project


def crawled(slug: str, base: str) -> Project:
    project = create_project(slug=slug, name=slug, base_url=base, manager=None)
    call_command("crawl_site", slug, "--pages-a-second", "200", stdout=sys.stderr)
    return project


def imported(slug: str, base: str, files: Path) -> Project:
    project = create_project(slug=slug, name=slug, base_url=base, manager=None)
    call_command("import_pages", slug, str(files / PAGES), stdout=sys.stderr)
    call_command("import_links", slug, str(files / LINKS), stdout=sys.stderr)
    return project


def give_links_beside(crawl: Project, files: Project, as_in_truth: Callable[[str], str]) -> None:
    """Gives the project of the files the links that the crawl found outside of texts."""
    ids = {unquote(url): pk for url, pk in files.pages.values_list("url", "pk")}
    rows = ExistingLink.objects.filter(project=crawl).exclude(block=Block.CONTENT).select_related("source", "target")
    found = []
    for link in rows.iterator():
        ends = ids.get(as_in_truth(link.source.url)), ids.get(as_in_truth(link.target.url))
        if None not in ends:
            link.pk, link.project, (link.source_id, link.target_id) = None, files, ends
            found.append(link)
    ExistingLink.objects.bulk_create(found, ignore_conflicts=True, batch_size=5000)


def suggested(project: Project, model: str) -> list[Pair]:
    """The open suggestions, those of a donor in the order of their scores."""
    call_command("embed_pages", project.slug, *(["--model", model] if model else []), stdout=sys.stderr)
    call_command("match_project", project.slug, stdout=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="crawled-out-") as folder:
        out = Path(folder) / "suggestions.csv"
        call_command("export_links", project.slug, str(out), "--status", "suggested", stdout=sys.stderr)
        with out.open(encoding="utf-8-sig", newline="") as file:
            rows = [(-float(row["score"] or 0), row["donor_url"], row["acceptor_url"]) for row in csv.DictReader(file)]
    return [(donor, acceptor) for _, donor, acceptor in sorted(rows, key=lambda row: row[0])]


# ----------------------------------------------------------------------------------------------------- the figures


@dataclass
class Known:
    """What a project knows of the site, by the addresses of the truth."""

    texts: dict[str, str]
    categories: dict[str, tuple[str, ...]]
    pairs: set[Pair]


def below_root(categories: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Without the names that all paths begin with: a breadcrumb on the site begins with the site's own."""
    while len({path[0] for path in categories.values() if path}) == 1:
        categories = {url: path[1:] for url, path in categories.items()}
    return categories


def known(project: Project, as_in_truth: Callable[[str], str]) -> Known:
    texts, categories = {}, {}
    for page in project.pages.filter(status_code=200).select_related("category").iterator():
        url = as_in_truth(page.url)
        texts[url] = page.body
        categories[url] = tuple(page.category.path) if page.category is not None else ()
    categories = below_root(categories)
    links = ExistingLink.objects.filter(project=project, block=Block.CONTENT)
    pairs = {
        (as_in_truth(source), as_in_truth(target))
        for source, target in links.values_list("source__url", "target__url").iterator()
    }
    return Known(texts, categories, {(source, target) for source, target in pairs if source != target})


def recall(hidden: set[Pair], ranked: list[Pair], first: int) -> float:
    of_donor: dict[str, list[str]] = defaultdict(list)
    for donor, acceptor in ranked:
        of_donor[donor].append(acceptor)
    return sum(target in of_donor[source][:first] for source, target in hidden) / max(1, len(hidden))


def figures(site: Site, found: Known, files: Known, hidden: set[Pair]) -> dict[str, str]:
    true = linked_pairs(site) - hidden
    texts = {unquote(page.url): page.text for page in site.pages}
    both = texts.keys() & found.texts.keys()
    shared = len(true & found.pairs)
    same = sum(found.categories[url] == category for url, category in files.categories.items() if url in found.texts)
    return {
        "pages": f"{len(found.texts):,} ({len(both):,} of {len(site.pages):,})",
        "categories of the files": f"{same / max(1, len(files.categories)):.3f}",
        "texts, F1": f"{sum(f1_of_texts(found.texts[url], texts[url]) for url in both) / max(1, len(both)):.3f}",
        "links in texts, precision and recall": f"{shared / max(1, len(found.pairs)):.3f}, "
        f"{shared / max(1, len(true)):.3f} (of {len(true):,})",
    }


def show_differences(site: Site, crawl: Known, files: Known, true: set[Pair], most: int) -> None:
    both = [url for url in files.categories if url in crawl.categories]
    other = [url for url in both if files.categories[url] != crawl.categories[url]]
    for url in other[:most]:
        note(f"category of {url}: {crawl.categories[url]} and {files.categories[url]} in the files")
    texts = {unquote(page.url): page.text for page in site.pages}
    read = [(f1_of_texts(crawl.texts[url], texts[url]), url) for url in texts if url in crawl.texts]
    for score, url in sorted(read)[:most]:
        note(f"text of {url}, {score:.2f}: {crawl.texts[url][:300]!r} for {texts[url][:300]!r}")
    for what, pairs in (
        ("a link not found", true - crawl.pairs),
        ("a link that is none", crawl.pairs - true),
        ("a page not found", {(url,) for url in texts.keys() - crawl.texts.keys()}),
        ("a page too many", {(url,) for url in crawl.texts.keys() - texts.keys()}),
    ):
        for pair in sorted(pairs)[:most]:
            note(f"{what}: {' to '.join(pair)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path, nargs="?", help="a folder with the site's pages and links")
    parser.add_argument("files", type=Path, nargs="?", help="a folder with its files without the hidden links")
    parser.add_argument("--design", choices=list(DESIGNS), default="semantic")
    parser.add_argument("--model", default="", help="the model that embeds both (default: the projects')")
    parser.add_argument("--show", type=int, default=0, help="differences of each kind shown")
    parser.add_argument("--unmatched", action="store_true", help="compare what is known of the site alone")
    parser.add_argument("--beside", action="store_true", help="the files also name the links outside of texts")
    options = parser.parse_args()
    if (options.site is None) != (options.files is None):
        parser.error("name both the site and its files, or neither for the sample")
    with tempfile.TemporaryDirectory(prefix="crawled-site-") as folder:
        compare(options, Path(folder))


def compare(options: argparse.Namespace, folder: Path) -> None:
    site = sample_site() if options.site is None else stored_site(options.site)
    files = options.files
    if files is None:
        files = folder / "files"
        files.mkdir()
        sample_files(site, files)
    hidden = linked_pairs(site) - pairs_in_files(files)
    own = base_of(site)
    migrate()
    kept = {project.slug: project for project in Project.objects.all()}
    crawl = kept.get("crawled") or served_and_crawled(without(site, hidden), options.design, folder / "site")
    from_files = kept.get("files") or imported("files", own, files)
    at = crawl.base_url.rstrip("/")

    def as_in_truth(url: str) -> str:
        return unquote(own + url.removeprefix(at) if url.startswith(at) else url)

    if options.beside:
        give_links_beside(crawl, from_files, as_in_truth)
    both = {"crawled": crawl, "files": from_files}
    seen = {name: known(project, as_in_truth) for name, project in both.items()}
    columns = {}
    for name, project in both.items():
        columns[name] = figures(site, seen[name], seen["files"], hidden)
        if not options.unmatched:
            ranked = [(as_in_truth(donor), as_in_truth(to)) for donor, to in suggested(project, options.model)]
            columns[name] |= {"suggestions": f"{len(ranked):,}"} | {
                f"recall@{first}": f"{recall(hidden, ranked, first):.3f}" for first in (5, 10)
            }
    if options.show:
        show_differences(site, seen["crawled"], seen["files"], linked_pairs(site) - hidden, options.show)
    note(f"{site.name}, design {options.design}: {len(hidden):,} links hidden")
    print("| of the site | crawled | from files | target | result |\n|---|---|---|---|---|")
    for what, of_files in columns["files"].items():
        crawled = columns["crawled"][what]
        goal = f"≥ {float(of_files) - RECALL_LOST:.3f}" if what.startswith("recall") else ""
        result = ("met" if float(crawled) >= float(of_files) - RECALL_LOST else "missed") if goal else ""
        print(f"| {what} | {crawled} | {of_files} | {goal} | {result} |", flush=True)


if __name__ == "__main__":
    main()
