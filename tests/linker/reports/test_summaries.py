"""A run says in plain sentences what it did, with the right numbers and the right grammar."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.import_report import left_out
from ingest.kinds.pages.report import PagesReport
from linker.management.commands._cli import ProjectCommand
from linker.models import RunKind, RunStatus
from linker.reports.words import reading_rows, report_rows, summary
from tests.factories import make_run

pytestmark = pytest.mark.django_db


def said(project, kind: str, report: dict) -> str:
    return " ".join(summary(make_run(project, kind, report=report)))


def test_an_import_of_pages(project):
    report = {"file": "a.csv", "pages": 246, "new": 200, "updated": 1, "unchanged": 43, "missing": 1, "came_back": 2}
    report |= {"categories": 60, "without_category": 3, "indexable": 238, "skipped": {"bad_address": 2}}
    text = said(project, RunKind.IMPORT_PAGES, report)
    assert "246 pages were read from a.csv: 200 new, 1 changed, 2 came back, 43 as before." in text
    assert "1 page of the project is not in this file. Nothing is deleted: it is marked as missing" in text
    assert "The pages are in 60 categories; 3 pages have no category." in text
    assert "2 rows or cells could not be used" in text  # as older versions reported it


def test_a_match_says_where_one_worker_compared_all_pages(project):
    one = "One worker compared the pages: they are too few to share."
    assert one in said(project, RunKind.MATCH, {"edges": 3, "batches": 1})
    assert one not in said(project, RunKind.MATCH, {"edges": 3, "batches": 2})


def test_rows_are_told_from_cells_and_from_rows_that_another_stands_for(project):
    report = {"skipped_rows": 2, "skipped_cells": 1, "duplicates": 3, "skipped_file": True, "skipped": {"a": 6}}
    text = said(project, RunKind.IMPORT_PAGES, report)
    assert "2 rows could not be used. 3 rows repeat a page that another row already provides." in text
    assert "1 cell could not be used, or only in part; the rest of its row was used." in text
    assert left_out(PagesReport.from_json(report)) == "2 rows, 3 repeated rows, 1 cell"
    none = {"skipped_rows": 0, "skipped_cells": 0, "duplicates": 0, "skipped": {}}
    assert left_out(PagesReport.from_json(none)) == ""
    assert "could not be used" not in said(project, RunKind.IMPORT_PAGES, none)


@pytest.mark.parametrize(("source", "words"), [("folders", "the folders of the addresses"), ("json-ld", "JSON-LD")])
def test_an_import_says_where_categories_come_from_if_the_breadcrumb_is_empty(project, source, words):
    report = {"pages": 2, "categories": 2, "category_source": source, "empty_breadcrumb": ["Breadcrumb_Name 1"]}
    text = said(project, RunKind.IMPORT_PAGES, report)
    assert f"2 categories. No row fills the breadcrumb columns, so categories come from {words}." in text


def test_the_column_of_the_main_text_is_no_count_of_links(project):
    pages = make_run(project, RunKind.IMPORT_PAGES, report={"mapping": {"body": ["Content 1"]}})
    assert reading_rows(pages) == [("Columns: main text", "Content 1")]
    links = make_run(project, RunKind.IMPORT_LINKS, report={"body": 530})
    assert report_rows(links) == [("Links in the text", "530")]


def test_rows_that_moved_came_by_a_redirect_or_by_a_canonical(project):
    run = make_run(project, RunKind.IMPORT_TRAFFIC, report={"rows_moved": 3})
    told = "Rows of pages that redirect or name a canonical, added to the pages they lead to"
    assert report_rows(run) == [(told, "3")]


def test_a_match_says_what_under_linked_pages_and_orphans_got_and_why_others_did_not(project):
    got = {"pages": 92, "shown": 61, "in_text": 30, "held_back": 12, "no_room": 1, "too_unlikely": 0, "linked": 0}
    orphans = {"pages": 1, "shown": 0, "in_text": 0, "held_back": 0, "no_room": 0, "not_found": 1}
    report = {"edges": 3, "under_linked": got | {"not_found": 18}, "orphans": orphans}
    text = said(project, RunKind.MATCH, report)
    assert (
        "Of 92 under-linked acceptors, with at most two body links, 61 got a suggestion that the queue shows, "
        "30 of them in a text. Of the other 31, 12 got suggestions that are held back, 1 found no room at "
        "likely donors, 18 were not found for any donor, or score below the run’s minimum."
    ) in text
    assert (
        "The only orphan acceptor, without any body link, got no suggestion that the queue shows: 1 was not found for "
        "any donor, or scores below the run’s minimum."
    ) in text


def test_what_under_linked_pages_got_is_printed_in_sentences_alone(project, capsys):
    got = {"pages": 2, "shown": 1, "in_text": 1, "held_back": 1, "no_room": 0, "not_found": 0}
    ProjectCommand().show(make_run(project, RunKind.MATCH, report={"edges": 3, "under_linked": got, "orphans": {}}))
    printed = capsys.readouterr().out
    assert "Of 2 under-linked acceptors" in printed
    assert "Under linked" not in printed


def test_a_command_says_in_five_sentences_what_a_run_did_and_the_rest_if_asked(project, capsys):
    learned = json.loads((Path(__file__).parent / "old" / "match_learned.json").read_text())
    run = make_run(project, RunKind.MATCH, params=learned["params"], report=learned["report"])
    ProjectCommand().show(run, is_last=False)
    short = capsys.readouterr().out.splitlines()
    ProjectCommand().show(run, verbose=True, is_last=False)
    full = capsys.readouterr().out.splitlines()
    assert len(short) <= 5 < 20 < len(full)
    assert set(short) <= set(full)


def test_a_look_for_what_is_sensitive(project):
    found = said(project, "sensitive", {"sensitive_pages": 312, "sensitive_proposed": {"medical": 1, "legal": 2}})
    assert found == (
        "312 pages count as sensitive, so every link from or to them needs human review. "
        "3 new rules wait for a manager."
    )
    nothing = said(project, "sensitive", {"sensitive_pages": 0, "sensitive_proposed": {}})
    assert nothing == "No page is about medicine, law or money."


def test_an_import_of_links(project):
    report = {"file": "l.csv", "links": 6161, "body": 530, "template": 5631, "ignored": {"external": 262, "self": 1}}
    text = said(project, RunKind.IMPORT_LINKS, report)
    assert "6,161 links were read from l.csv: 530 in the text of pages and 5,631 around it" in text
    assert "263 rows do not link one page of the site to another." in text
    assert "role" not in text


def test_an_import_of_links_says_which_roles_the_links_changed(project):
    report = {"file": "l.csv", "links": 9, "roles": {"hub": 41, "article": 299}, "roles_changed": 41}
    text = said(project, RunKind.IMPORT_LINKS, report)
    assert "By their links, 41 pages have another role. By role, the pages are 299 articles, 41 hubs." in text


def test_an_import_of_traffic(project):
    report = {"file": "Pages.csv", "traffic": 2, "period": "2026-01-01 to 2026-01-31", "gone": 1}
    report |= {"clicks": {"in_file": 1234, "on_pages": 1200, "on_unknown": 34, "skipped": 0}}
    text = said(project, RunKind.IMPORT_TRAFFIC, report)
    assert (
        "2 pages were given numbers from Pages.csv for 2026-01-01 to 2026-01-31. Nothing else about them "
        "changed." in text
    )
    assert "Of 1,234 clicks in the file, 1,200 went to pages, 34 belong to addresses that are not pages" in text
    assert "1 page had numbers for this period before and no longer has them." in text


def test_a_match(project):
    report = {"edges": 2058, "new": 2000, "refreshed": 58, "donors": 1, "acceptors": 234, "sensitive": 100}
    report |= {"tiers": {"Inline": 30, "below every tier": 1307}, "stale": 1}
    text = said(project, RunKind.MATCH, report)
    assert "2,058 links are proposed between 1 donor and 234 acceptors: 2,000 new, 58 proposed before." in text
    assert "1,307 of them score below the tiers that the queue shows and are held back." in text
    assert "1 earlier suggestion is no longer proposed." in text


@pytest.mark.parametrize(
    ("texts", "words"),
    [(0, "No donor has a text."), (3, "Only 3 of the 10 donors have a text."), (5, None), (None, None)],
)
def test_a_match_says_what_a_crawl_with_the_main_texts_would_add(project, texts, words):
    report = {"edges": 20, "donors": 10} | ({} if texts is None else {"donors_with_text": texts})
    text = said(project, RunKind.MATCH, report)
    assert ("crawl the site again with its main text" in text) == bool(words)
    assert (words or "") in text


def test_the_counts_of_a_match_begin_with_its_links_and_end_with_its_time(project):
    report = {"new": 2, "seconds": 5.1, "donors": 9, "left_out": {"parameter URL": 3}, "edges": 4, "stale": 1}
    assert report_rows(make_run(project, "match", report=report)) == [
        ("Links proposed", "4"),
        ("New", "2"),
        ("No longer proposed", "1"),
        ("Donors", "9"),
        ("Left out: addresses with a query", "3"),
        ("Seconds", "5.1"),
    ]


def test_tiers_read_anew_name_what_moved(project):
    report = {"before": {"Inline": 30, "Related": 7}, "after": {"Inline": 28, "Related": 7, "Reserve": 2}}
    text = said(project, RunKind.RETIER, report)
    assert text == "Open suggestions by tier: Inline 30 → 28, Reserve 0 → 2."


def test_a_release_says_what_it_holds_and_what_it_held_back(project):
    report = {"release": 3, "added": 2000, "changed": 0, "removed": 1, "held": 1}
    text = said(project, RunKind.RELEASE, report)
    assert text == (
        "Release 3 was made: 2,000 added, 1 removed. 1 approved link was held back; the page of the release says why."
    )


@pytest.mark.parametrize("kind", RunKind.values)
def test_reports_of_older_versions_are_read_too(project, kind):
    """Whatever their keys."""
    assert all(sentence.endswith(".") for sentence in summary(make_run(project, kind, report={})))


def test_a_run_that_failed_says_nothing_but_its_error(project):
    run = make_run(project, RunKind.MATCH, RunStatus.FAILED, report={"edges": 5})
    assert summary(run) == []
