"""Reports from before they were types open as before: the same sentences, the same rows, the same values.

`old/` holds runs of the sample site, each with its report as it was stored and with what its page and the commands
said of it then.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from ingest.fields.skipped import FORMER_REASONS
from linker.models import Ranker, Run, RunKind
from linker.reports.match_page import ON_PAGE, match_page
from linker.reports.words import reading_rows, report_rows, summary
from linker.runs.kinds import run_kinds
from linker.runs.reports import report_of
from tests.factories import make_model, make_run

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


@pytest.mark.parametrize("name", [name for name, old in OLD.items() if old["kind"] in run_kinds()])
def test_a_report_from_before_says_what_it_said(name):
    old, (sentences, rows, reading) = OLD[name], words(run_of(OLD[name]))
    assert sentences == old.get("sentences", [])
    assert in_order(rows) == in_order(old.get("rows", []))
    assert in_order(reading) == in_order(old.get("reading", []))


@pytest.mark.parametrize("name", [name for name, old in OLD.items() if old["kind"] in run_kinds()])
def test_the_same_report_stored_today_says_the_same(name):
    old = run_of(OLD[name])
    today = report_of(old).to_json()
    assert today["version"] == report_of(old).version
    assert words(run_of(OLD[name], today)) == words(old)
    assert report_of(run_of(OLD[name], today)) == report_of(old)


@pytest.mark.parametrize(
    ("kind", "reason", "said"),
    [
        ("import_pages", "unknown_page", "The address is not a page of the project, and the file has no title for a "),
        ("import_queries", "page_of_query_unknown", "The query's address is not a page of the project"),
        ("import_traffic", "page_of_traffic_unknown", "The address is not a page of the project, so its numbers "),
    ],
)
@pytest.mark.parametrize("version", [0, 1])
def test_a_reason_that_no_import_gives_any_more_is_said_as_before(kind, reason, said, version):
    key = FORMER_REASONS[reason] if version == 0 else reason
    stored = {"skipped": {key: 3}} | ({"version": version} if version else {})
    [(label, _)] = [row for row in report_rows(Run(kind=kind, report=stored)) if row[1] == "3"]
    assert label.lower().startswith(f"skipped: {said}".lower())


@pytest.mark.django_db
def test_the_page_of_a_match_run_from_before_shows_what_it_showed(project):
    """The runs follow each other as they did, so that each stands beside the one before."""
    model = make_model()
    for name in ("match_formula", "match_learned", "match_cosine_optimal", "match_shipped_equal", "match_decided"):
        old = OLD[name]
        run = make_run(project, params=old["params"], report=old["report"], model=model)
        if "ranker" in old:
            Ranker.objects.create(run=run, **old["ranker"])
        page = match_page(run)
        assert page is not None
        assert shown(replace(page, before=None)) == shown(old["match"] | {"before": None}), name
        assert in_order(report_rows(run, without=ON_PAGE)) == in_order(old["page_rows"]), name


def shown(page: Any) -> Any:
    """What a page shows, but for the numbers of the runs."""
    if is_dataclass(page):
        return {one.name: shown(getattr(page, one.name)) for one in fields(page) if one.name != "run"}
    if isinstance(page, dict):
        return {name: shown(part) for name, part in page.items() if name != "run"}
    if isinstance(page, list | tuple):
        return [shown(part) for part in page]
    return re.sub(r"run \d+", "a run", page, flags=re.IGNORECASE) if isinstance(page, str) else page


@pytest.mark.django_db
def test_a_gain_over_greedy_allocation_that_was_stored_for_a_day_is_worked_out_again(project):
    allocation = {"mode": "optimal", "total": 10.0, "best_first": 9.0, "gain": 0.1111, "target_cap": 3}
    page = match_page(make_run(project, report={"allocation": allocation}))
    assert page is not None
    assert "1 (11.11%) more than the 9.0 of greedy allocation" in page.allocation


def test_there_is_an_old_report_of_every_kind():
    assert {old["kind"] for old in OLD.values()} >= set(RunKind.values)
