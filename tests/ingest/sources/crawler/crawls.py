"""Crawls of a test's site, by the process that crawls and without a database."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from ingest.sources.connectors.crawler.plan import Plan
from ingest.sources.store import FetchStore

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ingest.sources.crawler.sites import SiteServer

QUICK = {"pages_a_second": 200, "concurrent": 4}


def plan(site: SiteServer, folder: Path, **values: Any) -> Plan:
    """What the process is told; other `values` than a plan's are options of the crawl."""
    own = {name: values.pop(name) for name in list(values) if name in Plan.__dataclass_fields__}
    return Plan(
        **{
            "store": str(folder / "crawl.sqlite3"),
            "previous": "",
            "address": f"{site.base}/",
            "base_url": site.base,
            "strip_slash": False,
            "strip_www": False,
            "allowed": ("127.0.0.0/8",),
            "user_agent": "Anchorline/test",
            "parent": os.getpid(),
            "timeout": 2,
            "pause": 0.1,
            "options": QUICK | values,
        }
        | own
    )


def begin(plan: Plan) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "ingest.sources.connectors.crawler.process"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    process.stdin.write(plan.to_json())
    process.stdin.close()
    process.stdin = None  # or communicate() would write to it
    return process


def crawl(site: SiteServer, folder: Path, **values: Any) -> FetchStore:
    """A crawl to its end; the store it filled."""
    planned = plan(site, folder, **values)
    process = begin(planned)
    said, faults = process.communicate(timeout=60)
    assert process.returncode == 0, said + faults
    assert faults == ""
    return FetchStore(folder / planned.store.rpartition("/")[2], read_only=True)


def pages(store: FetchStore, columns: str) -> dict[str, Any]:
    """By the path of each address, a column, or several as a tuple."""
    rows = store.connection.execute(f"SELECT url, {columns} FROM page ORDER BY id").fetchall()
    return {"/" + url.split("/", 3)[3]: found[0] if len(found) == 1 else tuple(found) for url, *found in rows}
