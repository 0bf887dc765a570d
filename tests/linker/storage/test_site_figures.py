"""The figures of a site are counted when a run ends, and no page counts them again."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from linker.errors import UserError
from linker.models import KeptFigures, RunKind
from linker.runs import lifecycle
from linker.storage.site_figures import _counted, site_figures
from tests.factories import make_category, make_link, make_page

pytestmark = pytest.mark.django_db(transaction=True)


def run_that(project, work, kind=RunKind.IMPORT_PAGES):
    run = lifecycle.start_run(project, kind, {}, to_queue=False)
    return lifecycle.execute(run.pk, lambda _run, _progress: work() or {})


def as_kept(figures: KeptFigures) -> dict:
    found = {
        field.name: getattr(figures, field.name) for field in KeptFigures._meta.fields if field.name != "counted_at"
    }
    return found | {"by_category": sorted(figures.by_category, key=str)}


def test_a_run_that_ends_keeps_what_a_count_finds(project):
    category = make_category(project, "Shoes")

    def imported() -> None:
        pages = [make_page(project, category=category if n % 2 else None, inlinks=n % 3) for n in range(7)]
        make_page(project, missing_since=timezone.now())
        make_page(project, indexable=False)
        make_link(pages[0], pages[1])

    run_that(project, imported)
    kept = KeptFigures.objects.get(project=project)
    assert as_kept(kept) == as_kept(_counted(project))
    assert (kept.pages, kept.missing, kept.body_links) == (8, 1, 1)
    assert sorted(kept.by_category, key=str) == [[category.pk, 3, 3, 1], [None, 5, 4, 2]]


def test_a_run_that_fails_keeps_what_it_left(project):
    def half_done() -> None:
        make_page(project)
        raise UserError("The file ends in the middle.")

    run_that(project, half_done)
    assert KeptFigures.objects.get(project=project).pages == 1


@pytest.mark.nightly
def test_the_overview_counts_no_pages_links_or_vectors(project, client_for, manager):
    run_that(project, lambda: make_link(make_page(project), make_page(project)) and None)
    client = client_for(manager)
    with CaptureQueriesContext(connection) as asked:
        page = client.get(f"/p/{project.slug}/")
    assert page.status_code == 200
    large = ("page", "existinglink", "pageembedding", "candidateedge")
    counted = [query["sql"] for query in asked if "count(" in query["sql"].lower()]
    # Links that came back from the site have an index of their own, which holds no others.
    [back] = [sql for sql in counted if 'WHERE ("linker_candidateedge"."regressed" AND' in sql]
    counted.remove(back)
    [waiting] = [sql for sql in counted if "review_opinionrequest" in sql]  # of each kind a hundred at most
    assert waiting.count("LIMIT 100)") >= 4
    counted.remove(waiting)
    assert not [sql for sql in counted if any(f'FROM "linker_{name}"' in sql for name in large)]


def test_the_list_of_projects_shows_what_is_kept(project, client_for, manager):
    run_that(project, lambda: make_page(project) and None)
    KeptFigures.objects.update(pages=12_345)
    assert "12,345" in client_for(manager).get("/").text


def test_a_project_without_runs_is_counted_and_nothing_is_kept(project):
    make_page(project)
    assert site_figures(project).pages == 1
    make_page(project)
    assert site_figures(project).pages == 2
    assert not KeptFigures.objects.exists()


def test_a_project_that_has_run_before_is_counted_once(project):
    run_that(project, lambda: make_page(project) and None)
    KeptFigures.objects.all().delete()  # as of a version that kept none
    assert site_figures(project).pages == 1
    assert KeptFigures.objects.get(project=project).pages == 1
