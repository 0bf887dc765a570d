"""Reports from before they were types open as before: the same sentences, the same rows, the same values.

`old/` holds runs of the sample site, each with its report as it was stored and with what its page and the commands
said of it then.
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from linker.models import Run
from linker.reports.details import reading_rows, report_rows
from linker.reports.summaries import summary
from linker.runs.reports import REPORTS, report_of

FOLDER = Path(__file__).parent / "old"
OLD = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))}


def run_of(old: dict[str, Any], report: dict[str, Any] | None = None) -> Run:
    return Run(kind=old["kind"], status=old["status"], params=old["params"], report=report or old["report"])


def words(run: Run) -> tuple[list[str], list[tuple[str, str]], list[tuple[str, str]]]:
    return summary(run), report_rows(run), reading_rows(run)


def in_order(rows: list[Any]) -> list[tuple[str, str]]:
    """Rows of one count ("Pages by role: hub") by name: the database kept them in no order of theirs."""
    found = []
    for _, group in groupby(rows, key=lambda row: row[0].partition(":")[0]):
        found += sorted(map(tuple, group))
    return found


@pytest.mark.parametrize("name", [name for name, old in OLD.items() if old["kind"] in REPORTS])
def test_a_report_from_before_says_what_it_said(name):
    old, (sentences, rows, reading) = OLD[name], words(run_of(OLD[name]))
    assert sentences == old.get("sentences", [])
    assert in_order(rows) == in_order(old.get("rows", []))
    assert in_order(reading) == in_order(old.get("reading", []))


@pytest.mark.parametrize("name", [name for name, old in OLD.items() if old["kind"] in REPORTS])
def test_the_same_report_stored_today_says_the_same(name):
    old = run_of(OLD[name])
    today = report_of(old).to_json()
    assert today["version"] == report_of(old).version
    assert words(run_of(OLD[name], today)) == words(old)
    assert report_of(run_of(OLD[name], today)) == report_of(old)


def test_there_is_an_old_report_of_every_kind():
    assert {old["kind"] for old in OLD.values()} >= set(REPORTS)
