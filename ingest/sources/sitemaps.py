"""Sitemaps: XML, plain text, gzipped or not, indexes of them, and feeds. Neither Django nor a network here.

Real sitemaps are often no XML: a bare “&” in an address, an entity of HTML, a namespace that nobody declared, a byte
order mark or a blank line before the declaration. What any reader would understand is mended before it is parsed.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES = 50 * 2**20  # of one sitemap, unpacked; by sitemaps.org
MAX_ENTRIES = 500_000  # of one sitemap; sitemaps.org allows a tenth of it, and some have more
MAX_FILES = 1_000  # that one crawl reads
MAX_LEVELS = 3  # of indexes in indexes
SITEMAPS, FEEDS = ("urlset", "sitemapindex"), ("rss", "feed", "rdf")  # first elements
_GZIP = b"\x1f\x8b"
_CHUNK = 2**16
_ROOT = re.compile(rb"\s*<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)[\s>/]")
_IS_PAGE = re.compile(rb"\s*<!doctype\s+html", re.IGNORECASE)
_PROLOGUE = re.compile(rb"\s*(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>)", re.DOTALL | re.IGNORECASE)
# An ampersand that begins no entity of XML. Entities that a document declares are none either: none is expanded.
_AMPERSAND = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9A-Fa-f]{1,6});)")
_ENTITY = re.compile(r"&(?:amp|#38|#x26);", re.IGNORECASE)


class BadSitemap(Exception):
    """What was answered is no sitemap, or more than is read. The text says so."""


@dataclass(frozen=True, slots=True)
class Entry:
    """`is_sitemap`: the address of another sitemap, from an index. `modified` is the sitemap's lastmod as written.
    `is_of_feed`: a feed names it, which holds the newest pages alone."""

    url: str
    modified: str = ""
    is_sitemap: bool = False
    is_of_feed: bool = False


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
    """The entries of a sitemap or a feed in their order, at most MAX_ENTRIES, addresses absolute.

    Entities that a document declares are not expanded and nothing is loaded, so an XML bomb costs nothing. Raises
    BadSitemap before the first entry where it is none, and behind the last that could be read where it is damaged.
    """
    content = _in_utf_8(unpacked(body)).lstrip(b" \t\r\n")
    root = _root_of(content[:_CHUNK])
    if root in ("html", "head", "body"):
        raise BadSitemap("It is a page, not a sitemap.")
    if root and root not in (*FEEDS, *SITEMAPS):
        raise BadSitemap("It is no sitemap.")
    found = _of_feed(content) if root in FEEDS else _of_xml(content) if root else _of_text(content)
    for number, entry in enumerate(found):
        if number == MAX_ENTRIES:
            raise BadSitemap(f"It names more than {MAX_ENTRIES:,} addresses.")
        yield replace(entry, url=_absolute(url, entry.url))


def _in_utf_8(content: bytes) -> bytes:
    """Without a byte order mark; UTF-16 in UTF-8, which its declaration need not agree with any more."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = content.decode("utf-16", "replace")
        return re.sub(r"^\s*<\?xml.*?\?>", "", text, count=1).encode()
    return content.removeprefix(codecs.BOM_UTF8)


def _root_of(content: bytes) -> str:
    """The name of the first element, in small letters, without a prefix; empty for what is no XML."""
    if not content.startswith(b"<"):
        return ""
    at = 0
    while prologue := _PROLOGUE.match(content, at):
        if _IS_PAGE.match(prologue[0]):
            return "html"
        at = prologue.end()
    found = _ROOT.match(content, at)
    return found[1].decode("ascii").lower() if found else "?"


def _mended(content: bytes) -> bytes:
    """With each ampersand that begins no entity of XML as an entity, so that no part of an address is lost."""
    if not _AMPERSAND.search(content):
        return content
    parts, at = [], 0
    while (start := content.find(b"<![CDATA[", at)) >= 0 and (end := content.find(b"]]>", start)) >= 0:
        parts += [_AMPERSAND.sub(b"&amp;", content[at:start]), content[start:end]]
        at = end
    return b"".join([*parts, _AMPERSAND.sub(b"&amp;", content[at:])])


def _absolute(base: str, address: str) -> str:
    """The address as the sitemap at `base` means it; one that is whole or cannot be parsed as it is written."""
    if address.startswith(("http://", "https://")):
        return address
    try:
        return urljoin(base, address)
    except ValueError:  # a host in brackets that is none
        return address


def _address(text: str) -> str:
    """An address as it is meant, where it was escaped twice, or within CDATA."""
    return _ENTITY.sub("&", text.strip())


def _of_text(content: bytes) -> Iterator[Entry]:
    found = [line.strip() for line in content.decode("utf-8", "replace").splitlines()]
    found = [line for line in found if line.startswith(("http://", "https://"))]
    if not found:
        raise BadSitemap("It holds no addresses.")
    yield from map(Entry, found)


def _of_xml(content: bytes) -> Iterator[Entry]:
    for element in _elements(content, ("url", "sitemap")):
        cells: dict[str, str] = {}
        for child in element:  # pictures, videos and news have addresses of their own, one level below
            cells.setdefault(_local(child.tag), "".join(child.itertext()))
        if address := _address(cells.get("loc", "")):
            yield Entry(address, cells.get("lastmod", "").strip()[:40], _local(element.tag) == "sitemap")


def _of_feed(content: bytes) -> Iterator[Entry]:
    for element in _elements(content, ("item", "entry")):
        address = modified = permanent = ""
        for child in element:
            name, said = _local(child.tag), "".join(child.itertext()).strip()
            if name == "link" and child.get("rel", "alternate") == "alternate":
                address = address or _address(child.get("href") or said)
            elif name == "guid" and not permanent and child.get("isPermaLink", "true") == "true":
                permanent = said
            elif name in ("updated", "published", "pubdate", "date"):
                modified = said if name == "updated" else modified or said
        if address := address or permanent:
            yield Entry(address, modified[:40], is_of_feed=True)


def _elements(content: bytes, wanted: tuple[str, ...]) -> Iterator[etree._Element]:
    """The elements with one of these names, each with what it holds, one at a time."""
    reader = etree.iterparse(
        io.BytesIO(_mended(content)), events=("end",), resolve_entities=False, no_network=True, recover=True,
        load_dtd=False, remove_comments=True, remove_pis=True, huge_tree=False,
    )  # fmt: skip
    try:
        for _event, element in reader:
            if _local(element.tag) not in wanted:
                continue
            yield element
            element.clear()
            while (parent := element.getparent()) is not None and element.getprevious() is not None:
                del parent[0]
    except (etree.XMLSyntaxError, ValueError):
        raise BadSitemap("It cannot be read as XML.") from None
    faults = reader.error_log.filter_from_fatals()
    if faults:
        raise BadSitemap(f"It is damaged from line {faults[0].line} on.")


def _local(tag: object) -> str:
    return tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(tag, str) else ""
