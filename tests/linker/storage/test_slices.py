"""A statement over many rows runs slice by slice and misses none."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction

from linker.storage import slices
from linker.storage.slices import in_slices
from tests.factories import make_page

pytestmark = pytest.mark.django_db
MARK = "UPDATE linker_page SET title = title || '!' WHERE id > %(after)s AND id <= %(last)s"


def titles() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT title FROM linker_page ORDER BY id")
        return [title for (title,) in cursor.fetchall()]


@pytest.mark.parametrize("pages", [0, 1, 2, 3, 4, 5])
def test_each_row_is_written_once_whether_or_not_the_last_slice_is_full(project, monkeypatch, pages):
    monkeypatch.setattr(slices, "ROWS", 2)
    for _ in range(pages):
        make_page(project, title="page")
    assert in_slices(MARK, {}, "linker_page", "id") == pages
    assert titles() == ["page!"] * pages


def test_a_row_that_refers_to_nothing_is_refused_with_its_slice(project):
    make_page(project)
    wrong = "UPDATE linker_page SET category_id = 0 WHERE id > %(after)s AND id <= %(last)s"
    with pytest.raises(IntegrityError), transaction.atomic():
        in_slices(wrong, {}, "linker_page", "id")
