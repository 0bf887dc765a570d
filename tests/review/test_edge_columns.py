"""One list of an edge's columns, which a run's rows, decisions and the export go by."""

from __future__ import annotations

import pytest
from django.db import connection

from linker.models import CandidateEdge
from linker.models.edge_columns import (
    EDGE_COLUMNS,
    EXPORTED_COLUMNS,
    NOT_LISTED,
    SEEN_COLUMNS,
    EdgeColumn,
    Refresh,
    Value,
)
from review.models import Decision, ReleaseFormat
from review.releases.columns import CELLS, COLUMNS, JOINED_CELLS, PLACE_CELLS


def columns_of(model: type) -> set[str]:
    return {field.column for field in model._meta.concrete_fields}  # type: ignore[attr-defined]


def test_every_column_of_an_edge_is_in_the_list_or_named_with_the_reason_why_not():
    listed = [column.name for column in EDGE_COLUMNS]
    assert len(listed) == len(set(listed))
    assert {*listed, *NOT_LISTED} == columns_of(CandidateEdge)
    assert not NOT_LISTED.keys() & set(listed)


@pytest.mark.django_db
def test_the_forms_are_those_of_the_table():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name, data_type, is_nullable FROM information_schema.columns "
            "WHERE table_name = 'linker_candidateedge'"
        )
        table = {name: (form, nullable == "YES") for name, form, nullable in cursor.fetchall()}
    listed = {column.name: (column.form.value, column.nullable) for column in EDGE_COLUMNS}
    assert listed == {name: table[name] for name in table if name not in NOT_LISTED}


def test_a_decision_keeps_each_column_that_is_seen_and_the_name_of_the_tier():
    assert {f"seen_{name}" for name in SEEN_COLUMNS} | {"seen_tier"} == {
        name for name in columns_of(Decision) if name.startswith("seen_")
    }


def test_the_full_export_has_each_column_that_is_exported_and_what_is_joined():
    file = COLUMNS[ReleaseFormat.FULL]
    assert len(file) == len(set(file))
    assert set(file) == {*EXPORTED_COLUMNS, *JOINED_CELLS, "paragraph", *PLACE_CELLS} == set(CELLS)


@pytest.mark.parametrize("column", EDGE_COLUMNS, ids=lambda column: column.name)
def test_a_run_refreshes_only_what_it_writes(column: EdgeColumn):
    assert column.value is not Value.NOT_OF_RUN or column.refresh is Refresh.NEVER
