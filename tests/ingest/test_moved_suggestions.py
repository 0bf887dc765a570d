"""An import that gives pages other categories keeps no editor waiting for the suggestions of these pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connections, transaction

from ingest import services
from linker.models import CandidateEdge
from linker.storage import sections
from linker.storage.edge_counts import differences
from tests.factories import make_category, make_edge, make_page
from tests.ingest.files import write

if TYPE_CHECKING:
    from pathlib import Path

    from linker.models import Project

pytestmark = pytest.mark.django_db(transaction=True)


def behind(project: Project) -> int:
    edges = CandidateEdge.objects.filter(project=project).select_related("source")
    return sum(edge.section != (edge.source.category_id or 0) for edge in edges)


@pytest.mark.nightly
def test_while_an_import_moves_a_page_others_decide_on_its_suggestions(project: Project, tmp_path: Path):
    donor = make_page(project, "/a", title="A", category=make_category(project, "Old"))
    edge = make_edge(project, donor)
    done = []

    def decide(_done: int, _total: int, stage: str) -> None:
        if stage != "Scanning for sensitive pages" or done:
            return
        other = connections.create_connection("default")
        try:
            with other.cursor() as cursor:
                cursor.execute("SET lock_timeout = '500ms'")
                cursor.execute("UPDATE linker_candidateedge SET status = 'accepted' WHERE id = %s", [edge.pk])
                done.append(cursor.rowcount)
        finally:
            other.close()

    file = write(tmp_path / "categories.csv", ("URL", "Category"), [(donor.url, "New")])
    services.import_file(project, "pages", file, progress=decide)
    assert done == [1]
    edge.refresh_from_db()
    donor.refresh_from_db()
    assert (edge.status, str(donor.category)) == ("accepted", "New")
    assert behind(project) == 0
    assert differences(project) == []


def test_what_an_import_that_was_killed_has_left_is_moved_by_the_next(project: Project, monkeypatch):
    monkeypatch.setattr(sections, "AT_A_TIME", 2)
    donor, category = make_page(project), make_category(project, "New")
    for _ in range(5):
        make_edge(project, donor)
    make_edge(project)
    with transaction.atomic():
        sections.put_off()
        type(donor).objects.filter(pk=donor.pk).update(category=category)
    assert behind(project) == 5  # killed after its commit
    assert sections.settle(project) == 5
    assert sections.settle(project) == behind(project) == 0
    type(donor).objects.filter(pk=donor.pk).update(category=None)  # whoever does not put it off moves them at once
    assert behind(project) == 0
