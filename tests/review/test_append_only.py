"""Decisions, what left, what was held back and the log of changes are kept by one trigger function."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.db import IntegrityError, connection, transaction

from linker import audit
from linker.models import ChangeKind

pytestmark = pytest.mark.django_db
core, review = (import_module(f"{app}.migrations.0001_initial") for app in ("linker", "review"))
TABLES = {"linker_change", *review.TABLES}


def functions() -> dict[str, str]:
    """The function that keeps each table append-only."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT t.tgrelid::regclass::text, p.proname FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid "
            "WHERE t.tgname LIKE '%_append_only'"
        )
        return dict(cursor.fetchall())


def refused(project) -> None:
    """Fails where the log of changes can be written over."""
    audit.record(project, ChangeKind.SETTINGS, user=None, after={"name": "x"})
    for change in ("UPDATE linker_change SET subject = 'other'", "DELETE FROM linker_change"):
        with (
            pytest.raises(IntegrityError, match="the log of changes is append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(change)


def test_one_function_keeps_all_of_them():
    assert functions() == dict.fromkeys(TABLES, "anchorline_append_only")


def test_only_a_purge_deletes_and_nothing_changes(project):
    refused(project)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL anchorline.purge = 'on'")
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            cursor.execute("UPDATE linker_change SET subject = 'other'")
        cursor.execute("DELETE FROM linker_change")


def test_the_way_back_and_forth_leaves_them_kept(project):
    with connection.cursor() as cursor:
        cursor.execute(review.NOT_APPEND_ONLY + core.NOT_APPEND_ONLY)
    assert functions() == {}
    with connection.cursor() as cursor:
        cursor.execute(core.APPEND_ONLY + review.APPEND_ONLY)
    assert functions() == dict.fromkeys(TABLES, "anchorline_append_only")
    refused(project)
