"""Pages that an import finds missing, or not to be linked, are offered in no queue, whatever the match after it does;
their suggestions come back with them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ingest import services
from linker.matching import away
from linker.matching.recheck import run_recheck
from linker.matching.recheck import start as start_recheck
from linker.matching.start import run_match
from linker.matching.tiers import retier
from linker.models import CandidateEdge, Page, PageTurn, Project, Run, RunKind
from linker.models.querysets import GIVES, OPEN, RECEIVES, holds
from linker.runs import lifecycle
from linker.storage.edge_counts import differences
from tests.factories import embed, make_edge, make_page, make_run
from tests.ingest.files import write
from tests.linker.matching.test_match import start

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.django_db(transaction=True)
COLUMNS = ("Address", "Status Code", "Title 1", "Indexability")


@pytest.fixture
def ring(project: Project) -> list[CandidateEdge]:
    """Five pages, each with a suggestion to the next."""
    pages = [make_page(project, f"/{name}", title=name) for name in "abcde"]
    return [make_edge(project, pages[at], pages[(at + 1) % 5]) for at in range(5)]


def crawl(project: Project, folder: Path, names: str, **cells: tuple[int, str]) -> None:
    """Imports a crawl of the pages with these names; `cells` are the answer and the indexability of some."""
    rows = []
    for name in names:
        code, indexable = cells.get(name, (200, "Indexable"))
        rows.append((f"https://shop.example/{name}", code, name, indexable))
    file = write(folder / "internal_html.csv", COLUMNS, rows)
    services.import_file(project, "pages", file, allow_shrink=True)


def offered(project: Project) -> str:
    """The pairs in the queue, such as "ab bc"."""
    edges = project.edges.filter(OPEN).select_related("source", "target").order_by("source__title")
    return " ".join(edge.source.title + edge.target.title for edge in edges)


def test_pages_that_went_missing_leave_the_queue_without_a_match(project, tmp_path, ring):
    crawl(project, tmp_path, "abde")
    assert offered(project) == "ab de ea"
    assert differences(project) == []
    assert not PageTurn.objects.exists()


@pytest.mark.nightly
def test_a_page_that_may_not_be_indexed_receives_nothing_and_gives_as_before(project, tmp_path, ring):
    crawl(project, tmp_path, "abcde", c=(200, "Non-Indexable"))
    assert offered(project) == "ab cd de ea"


def test_a_page_that_does_not_answer_takes_no_part(project, tmp_path, ring):
    crawl(project, tmp_path, "abcde", c=(503, "Indexable"))
    assert offered(project) == "ab de ea"


@pytest.mark.nightly
def test_what_left_comes_back_with_its_page(project, tmp_path, ring):
    crawl(project, tmp_path, "ade")
    assert offered(project) == "de ea"
    crawl(project, tmp_path, "acde")
    assert offered(project) == "cd de ea"
    crawl(project, tmp_path, "abcde")
    assert offered(project) == "ab bc cd de ea"
    assert differences(project) == []


@pytest.mark.nightly
@pytest.mark.parametrize("kind", [RunKind.MATCH, RunKind.CHANGES])
def test_what_a_match_has_passed_over_meanwhile_is_left_to_the_next(project, tmp_path, ring, kind):
    crawl(project, tmp_path, "abde")
    later = timezone.now() + timedelta(seconds=1)
    make_run(project, kind, started_at=later, finished_at=later)
    crawl(project, tmp_path, "abcde")
    assert offered(project) == "ab de ea"


@pytest.mark.nightly
def test_no_reading_of_the_tiers_opens_it(project, tmp_path, ring):
    crawl(project, tmp_path, "abde")
    retier(project)
    assert offered(project) == "ab de ea"


@pytest.mark.nightly
def test_what_is_decided_and_what_was_live_and_is_gone_stays(project, tmp_path, ring):
    CandidateEdge.objects.filter(pk=ring[1].pk).update(status="accepted", reviewed=True)
    CandidateEdge.objects.filter(pk=ring[2].pk).update(regressed=True)
    crawl(project, tmp_path, "abde")
    assert project.edges.filter(stale=True).count() == 0


@pytest.mark.nightly
def test_what_an_import_that_was_killed_has_left_is_done_by_the_verification(project, tmp_path, ring, monkeypatch):
    monkeypatch.setattr("linker.matching.follow_up_work.away.follow", lambda project: away.Followed(0, 0))
    crawl(project, tmp_path, "abde")
    assert offered(project) == "ab bc cd de ea"
    monkeypatch.undo()
    for page in project.pages.all():
        embed(page, [1, 0, 0, 0])
    run_recheck(start_recheck(project, to_queue=False))
    assert "c" not in offered(project)


@pytest.mark.nightly
def test_a_removed_page_that_is_live_again_and_missing_stays_out(project, tmp_path, ring):
    call_command("page_event", "shop", "removed", "https://shop.example/c")
    crawl(project, tmp_path, "abde")
    call_command("page_event", "shop", "restored", "https://shop.example/c")
    assert offered(project) == "ab de ea"
    crawl(project, tmp_path, "abcde")
    assert offered(project) == "ab bc cd de ea"


@pytest.mark.nightly
def test_a_page_that_goes_missing_while_a_match_is_under_way_is_proposed_by_none(project, tmp_path, ring):
    """The match had read it before; it comes back with its page, as others do."""
    for page in project.pages.all():
        embed(page, [1, 0, 0, 0])
    run = start(project)
    Run.objects.filter(pk=run.pk).update(status="running")
    run.refresh_from_db()

    def progress(done: int, total: int, stage: str = "") -> None:
        if stage == "Allocating links" and not PageTurn.objects.exists():
            crawl(project, tmp_path, "abde")
            assert PageTurn.objects.count() == 1, "the match does not know of it yet"

    assert lifecycle.execute(run.pk, lambda run, also: run_match(run, progress)).status == "succeeded"
    proposed = set(project.edges.filter(run=run).values_list("source__title", "target__title"))
    assert {title for pair in proposed for title in pair} == set("abcde")
    assert offered(project)
    assert "c" not in offered(project)
    assert not PageTurn.objects.exists()
    crawl(project, tmp_path, "abcde")
    assert sorted(offered(project).split()) == sorted(a + b for a, b in proposed)
    assert differences(project) == []


def test_no_note_is_lost_to_a_match_that_ends_while_it_is_followed(project, ring, monkeypatch):
    run = make_run(project, status="running", finished_at=None)
    Page.objects.filter(title="c").update(missing_since=timezone.now())

    def write_when_the_match_has_ended(*args: Any) -> away.Followed:
        Run.objects.filter(pk=run.pk).update(status="succeeded", finished_at=timezone.now())
        return away.Followed(0, 0)

    with monkeypatch.context() as patch:
        patch.setattr(away, "_write", write_when_the_match_has_ended)
        away.follow(project)
    assert PageTurn.objects.count() == 1
    assert away.follow(project) == (2, 0)
    assert not PageTurn.objects.exists()


@pytest.mark.nightly
def test_only_suggestions_of_pages_that_changed_are_read(project, tmp_path, ring):
    """And in lots: the number of statements does not follow the number of pages that turned."""
    more = [make_page(project, f"/more-{number}") for number in range(30)]
    for page in more:
        make_edge(project, ring[0].source, page)
    Page.objects.filter(pk__in=[page.pk for page in more]).update(missing_since=timezone.now())
    assert PageTurn.objects.count() == 30
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert away.follow(project) == (30, 0)
    assert len(queries) < 20
    assert away.follow(project) == (0, 0)


def _states() -> Iterator[dict[str, object]]:
    for missing in (None, timezone.now()):
        for code in (None, 200, 404):
            for status in ("live", "removed"):
                for leads in ("", "https://shop.example/else"):
                    for indexable in (True, False):
                        yield {
                            "missing_since": missing, "status_code": code, "status": status, "redirect_url": leads,
                            "indexable": indexable, "state_since": None if status == "live" else timezone.now(),
                        }  # fmt: skip


def test_the_database_notes_what_the_rules_read_otherwise(project):
    page = make_page(project)
    before = (True, True)
    for state in _states():
        Page.objects.filter(pk=page.pk).update(**state)
        page.refresh_from_db()
        now = (holds(GIVES, page), holds(RECEIVES, page))
        assert PageTurn.objects.filter(page=page).exists() == (now != before), state
        PageTurn.objects.all().delete()
        before = now
