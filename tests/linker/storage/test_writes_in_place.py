"""What makes writes of many rows cheap: rows that stay in their place, and statistics of what the planner asks for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.db import connection

from linker.models import Page
from linker.storage.copy import analyze
from linker.storage.page_writes import KEEP_PLANS
from tests.factories import make_page, make_project

pytestmark = pytest.mark.django_db


def fetch(query: str) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()


def make_four_pages() -> None:
    project = make_project()
    for number in range(4):
        make_page(project, f"/page-{number}")


@pytest.mark.parametrize("numbers", [{"inlinks": 3, "outlinks": 4}, {"last_seen_at": "2026-01-01T00:00Z"}])
def test_a_page_whose_numbers_change_stays_in_its_place_and_indexes_are_not_written(numbers):
    make_four_pages()
    counted = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = 'linker_page'"
    [(before, hot_before)] = fetch(counted)
    Page.objects.update(**numbers)
    assert fetch(counted) == [(before + 4, hot_before + 4)]


def test_an_update_of_many_pages_sets_a_column_that_a_generated_one_is_made_of_or_it_takes_four_times_as_long():
    made_of_it = "SELECT attname FROM pg_attribute WHERE attrelid = 'linker_page'::regclass AND attgenerated = 's'"
    made_of_it += " AND pg_get_expr((SELECT adbin FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum), "
    made_of_it += f"attrelid) LIKE '%{KEEP_PLANS.partition(' ')[0]}%'"
    assert fetch(made_of_it) == [("role_in_force",)]
    sets_one = re.compile(r"KEEP_PLANS|\bseen\b|SET role = |SET detected_language = ")
    for app in ("linker", "ingest", "review"):
        for file in Path(app).rglob("*.py"):
            if "migrations" not in file.parts:
                for statement in file.read_text(encoding="utf-8").split("UPDATE linker_page ")[1:]:
                    assert sets_one.search(statement[:200]), f"{file}: {statement[:80]}"


def test_pages_that_are_updated_together_stay_in_their_places_as_well():
    make_four_pages()
    counted = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = 'linker_page'"
    [(before, hot_before)] = fetch(counted)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE linker_page p SET inlinks = 3, {KEEP_PLANS}")
    assert fetch(counted) == [(before + 4, hot_before + 4)]


def test_statistics_without_texts_know_how_many_rows_there_are_and_which_values_columns_have():
    make_four_pages()
    analyze("linker_page", texts=False)
    known = {column for (column,) in fetch("SELECT attname FROM pg_stats WHERE tablename = 'linker_page'")}
    assert {"id", "project_id", "status", "own_language"} <= known
    assert {"url", "title", "body", "headings"}.isdisjoint(known)
    assert fetch("SELECT reltuples FROM pg_class WHERE relname = 'linker_page'") == [(4,)]
