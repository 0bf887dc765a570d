"""What makes writes of many rows cheap: rows that stay in their place, and statistics of what the planner asks for."""

from __future__ import annotations

import pytest
from django.db import connection

from linker.models import Page
from linker.storage.copy import analyze
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


def test_statistics_without_texts_know_how_many_rows_there_are_and_which_values_columns_have():
    make_four_pages()
    analyze("linker_page", texts=False)
    known = {column for (column,) in fetch("SELECT attname FROM pg_stats WHERE tablename = 'linker_page'")}
    assert {"id", "project_id", "status", "own_language"} <= known
    assert {"url", "title", "body", "headings"}.isdisjoint(known)
    assert fetch("SELECT reltuples FROM pg_class WHERE relname = 'linker_page'") == [(4,)]
