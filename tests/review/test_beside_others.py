"""Editors go on deciding while an import moves pages, and while tiers change."""

from __future__ import annotations

import threading
import time

import pytest
from django.db import connection

from ingest import services
from ingest.kinds.pages import load
from linker.matching.tiers import retier
from linker.models import EdgeStatus, Tier
from linker.pages.sensitivity import find_sensitive
from linker.projects.policies import tiers
from linker.runs import lifecycle
from linker.storage.edge_counts import differences
from review.decisions import decide_edges
from review.models import Reason, Verb
from review.rulings import Ruling
from review.undoing import undo
from tests.factories import make_edge, make_member, make_page, make_project
from tests.ingest.files import SITE, write
from tests.linker.storage.test_edge_counts import at_once


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        return cursor.fetchone()[0]


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_an_undo_and_an_import_that_moves_pages_lock_in_one_order(tmp_path, monkeypatch):
    project = make_project()
    editor = make_member(project)
    edge = make_edge(project, make_page(project, f"{SITE}/a"), make_page(project, f"{SITE}/b"))
    decide_edges(project, [edge.pk], Verb.ACCEPT, editor)
    rows = [(f"{SITE}/a", "A", "Shop", "Tents"), (f"{SITE}/b", "B", "Shop", "Stoves")]
    path = write(tmp_path / "crawl.csv", ("Address", "Title", "Breadcrumb 1", "Breadcrumb 2"), rows)
    moved = threading.Event()

    def once_somebody_waits(*args):
        moved.set()
        for _ in range(100):
            if somebody_waits():
                break
            time.sleep(0.05)
        return find_sensitive(*args)

    monkeypatch.setattr(load, "find_sensitive", once_somebody_waits)

    def take_back() -> None:
        assert moved.wait(20)
        undo(project, editor)

    assert not at_once(lambda: services.import_file(project, "pages", path), take_back)
    edge.refresh_from_db()
    edge.source.refresh_from_db()
    assert (edge.status, edge.section) == (EdgeStatus.SUGGESTED, edge.source.category_id)
    assert edge.section
    assert not differences(project)


@pytest.mark.django_db(transaction=True)
def test_what_is_ruled_out_while_tiers_change_leaves_the_queue_once_they_have(monkeypatch):
    project = make_project()
    editor = make_member(project)
    rejected = make_edge(project, score=0.95)
    other = make_edge(project, rejected.source, score=0.62)
    retier(project)  # so that the change alone moves, and holds, a suggestion
    tier = Tier.objects.get(pk=other.tier_id)
    tier.lower_bound = 0.63
    record_run = lifecycle.record_run

    def and_meanwhile_somebody_rejects(*args, **kwargs):
        def reject() -> None:
            decide_edges(project, [rejected.pk], Verb.REJECT, editor, Ruling(reason=Reason.TOO_MANY))

        assert not at_once(reject)
        return record_run(*args, **kwargs)

    monkeypatch.setattr(lifecycle, "record_run", and_meanwhile_somebody_rejects)
    tiers.change_tiers(project, [tier])
    was = other.tier_id
    other.refresh_from_db()
    assert other.tier_id != was, "the change of tiers held the suggestion"
    assert (other.stale, other.suppressed_by.edge_id) == (True, rejected.pk)
