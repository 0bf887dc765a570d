"""Sitemaps: XML, plain text, gzipped or not, and indexes of them. Neither Django nor a network here."""

from __future__ import annotations

import gzip
import io
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES = 50 * 2**20  # of one sitemap, unpacked; by sitemaps.org
MAX_ENTRIES = 50_000  # of one sitemap, by sitemaps.org
MAX_FILES = 1_000  # that one crawl reads
MAX_LEVELS = 3  # of indexes in indexes
_GZIP = b"\x1f\x8b"
_CHUNK = 2**16


class BadSitemap(Exception):
    """What was answered is no sitemap, or more than is read. The text says so."""


@dataclass(frozen=True, slots=True)
class Entry:
    """`is_sitemap`: the address of another sitemap, from an index. `modified` is the sitemap's lastmod as written."""

    url: str
    modified: str = ""
    is_sitemap: bool = False


def unpacked(body: bytes, most: int = MAX_BYTES) -> bytes:
    """The bytes of a sitemap that may be gzipped. Raises BadSitemap beyond `most`, and where they are damaged."""
    if not body.startswith(_GZIP):
        if len(body) > most:
            raise BadSitemap(f"It holds more than {most // 2**20} MB.")
        return body
    parts, size = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as file:
            while part := file.read(_CHUNK):
                size += len(part)
                if size > most:
                    raise BadSitemap(f"It holds more than {most // 2**20} MB.")
                parts.append(part)
    except (OSError, EOFError, zlib.error):
        raise BadSitemap("It is damaged: it cannot be unpacked.") from None
    return b"".join(parts)


def entries(body: bytes, url: str) -> Iterator[Entry]:
    """The entries of a sitemap in their order, at most MAX_ENTRIES, addresses absolute.

    Entities are not expanded and nothing is loaded, so an XML bomb costs nothing. Raises BadSitemap before the first
    entry where it is none, and behind the last that could be read where it is damaged.
    """
    content = unpacked(body)
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:5].lower()
    if not start.startswith(b"<"):
        yield from _of_text(content, url)
        return
    if start.startswith((b"<html", b"<!doc")):
        raise BadSitemap("It is a page, not a sitemap.")
    yield from _of_xml(content, url)


def _absolute(base: str, address: str) -> str:
    """The address as the sitemap at `base` means it; one that cannot be parsed as it is written."""
    try:
        return urljoin(base, address)
    except ValueError:  # a host in brackets that is none
        return address


def _of_text(content: bytes, base: str) -> Iterator[Entry]:
    lines = content.decode("utf-8-sig", "replace").splitlines()
    found = [line.strip() for line in lines[:MAX_ENTRIES] if line.strip().startswith(("http://", "https://"))]
    if not found:
        raise BadSitemap("It holds no addresses.")
    for address in found:
        yield Entry(_absolute(base, address))


def _of_xml(content: bytes, base: str) -> Iterator[Entry]:
    count, root = 0, ""
    reader = etree.iterparse(
        io.BytesIO(content), events=("start", "end"), resolve_entities=False, no_network=True, recover=True,
        load_dtd=False, remove_comments=True, remove_pis=True, huge_tree=False,
    )  # fmt: skip
    try:
        for event, element in reader:
            name = _local(element.tag)
            if event == "start":
                root = root or name
                if root not in ("urlset", "sitemapindex", "rss", "feed"):
                    raise BadSitemap("It is no sitemap.")
                continue
            if name not in ("url", "sitemap"):
                continue
            cells = {_local(child.tag): (child.text or "").strip() for child in element}
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
            if address := cells.get("loc", ""):
                count += 1
                yield Entry(_absolute(base, address), cells.get("lastmod", "")[:40], name == "sitemap")
                if count >= MAX_ENTRIES:
                    return
    except (etree.XMLSyntaxError, ValueError):
        raise BadSitemap("It cannot be read as XML.") from None
    faults = reader.error_log.filter_from_fatals()
    if faults:
        raise BadSitemap(f"It is damaged from line {faults[0].line} on.")


def _local(tag: object) -> str:
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""
