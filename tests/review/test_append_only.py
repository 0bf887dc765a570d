"""Decisions, what left, what was held back and the log of changes are kept by one trigger function."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.db import IntegrityError, connection, transaction

from linker import audit
from linker.models import ChangeKind

pytestmark = pytest.mark.django_db
core, review = (import_module(f"{app}.migrations.0001_initial") for app in ("linker", "review"))
readings = import_module("review.migrations.0007_second_readings")
known = import_module("review.migrations.0009_known_answers")
lives = import_module("review.migrations.0012_published_links")
audits = import_module("review.migrations.0013_audits")
alerts = import_module("review.migrations.0017_alerts")
identity = import_module("linker.migrations.0032_page_identity")
learning = import_module("linker.migrations.0050_learning_choices")
TABLES = {
    "linker_change", "review_secondreading", "review_knownreading", "review_linkevent", "review_judgement",
    "review_alertclosing", "linker_learningchoice", *review.TABLES, *identity.TABLES,
}  # fmt: skip
OTHERS = (readings, known, lives, audits, alerts, identity, learning)


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
        cursor.execute("".join(one.NOT_APPEND_ONLY for one in (*OTHERS, review, core)))
    assert functions() == {}
    with connection.cursor() as cursor:
        cursor.execute("".join(one.APPEND_ONLY for one in (core, review, *OTHERS)))
    assert functions() == dict.fromkeys(TABLES, "anchorline_append_only")
    refused(project)
