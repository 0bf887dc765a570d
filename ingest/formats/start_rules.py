"""Rules by which a file is recognised that is no table: how it begins."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ingest.formats.table_rules import mostly

if TYPE_CHECKING:
    from collections.abc import Callable

    from ingest.files.peek import Start

COMBINED = re.compile(r'(?:\S+ )?\S+ \S+ [^\[\]"]*\[\d{1,2}/[A-Za-z]{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "')
BALANCER = re.compile(r"(?:https?|h2|grpcs?|wss?) \d{4}-\d\d-\d\dT[\d:.]+Z \S+ \S+:\d+ ")
_REQUEST = frozenset(
    {"clientrequesturi", "clientrequestpath", "request_uri", "requesturi", "request_url", "requesturl", "httprequest"}
    | {"uri", "path", "request", "cs-uri-stem", "request_path"}
)
_ANSWER = frozenset(
    {"edgeresponsestatus", "status", "statuscode", "status_code", "response_status", "method", "request_method"}
    | {"clientrequestmethod", "useragent", "user_agent", "http_user_agent", "clientrequestuseragent", "remote_addr"}
    | {"httprequest", "responsecode"}
)


def begins(*magic: bytes) -> Callable[[Start], bool]:
    return lambda start: start.data.startswith(magic)


def is_log(pattern: re.Pattern[str]) -> Callable[[Start], bool]:
    return lambda start: mostly(start.lines, pattern.match)


def log_header(text: str) -> Callable[[Start], bool]:
    """A rule: lines of comment say which fields a log has, and one of them is `text`."""
    return lambda start: any(line.startswith("#Fields:") and text in line for line in start.lines)


def objects(start: Start) -> list[dict[str, Any]]:
    """The JSON objects of the first lines; none where a line is no object."""
    found = []
    for line in start.lines:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return []
        if not isinstance(value, dict):
            return []
        found.append(value)
    return found


def is_json_log(start: Start) -> bool:
    if not start.text.lstrip().startswith("{"):
        return False
    keys = [{key.lower() for key in entry} for entry in objects(start)]
    return mostly([" "] * len(keys), str) and all(some & _REQUEST and some & _ANSWER for some in keys)


def is_google_shortcut(start: Start) -> bool:
    return start.text.lstrip().startswith("{") and "docs.google.com/" in start.text and '"doc_id"' in start.text


def root(*wanted: str) -> Callable[[Start], bool]:
    return lambda start: start.root in wanted


def is_wordpress(start: Start) -> bool:
    return start.root == "rss" and ("wordpress.org/export" in start.text or "<wp:" in start.text)


def holds(*starts: str) -> Callable[[Start], bool]:
    """A rule: an archive with a file whose path begins so."""
    return lambda start: any(member.startswith(starts) for member in start.members)


def is_open_document(start: Start) -> bool:
    return "mimetype" in start.members and b"opendocument" in start.data[:200]


def is_frog_crawl(start: Start) -> bool:
    is_named = start.name.lower().endswith((".seospider", ".dbseospider"))
    is_opaque = not start.text or start.data.startswith((b"PK", b"\xac\xed"))
    return (is_named and is_opaque) or any(member.endswith("DbSeoSpiderFileKey") for member in start.members)


def is_overview(start: Start) -> bool:
    """Screaming Frog's overview: names and values before any table."""
    lines = start.lines[:20]
    first = [line.partition(",")[0].partition(";")[0].strip('" \t').lower() for line in lines]
    wanted = {"site crawled", "total urls encountered", "total urls crawled", "total internal urls"}
    return bool(wanted & set(first))


def is_analytics(start: Start) -> bool:
    lines = start.lines
    return len(lines) > 1 and lines[0].startswith("# ---") and lines[1].startswith("# ")


def is_bare_list(start: Start) -> bool:
    return len(start.lines) > 1 and all(re.fullmatch(r"\s*https?://[^\s,;\t]+\s*", line) for line in start.lines)


def is_robots(start: Start) -> bool:
    lines = [line for line in start.lines if not line.startswith("#")]
    return bool(lines) and mostly(
        lines, re.compile(r"(?:user-agent|disallow|allow|sitemap|crawl-delay)\s*:", re.I).match
    )
