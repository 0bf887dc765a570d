"""A release of many links is made in the background; it ends whole or not at all."""

from __future__ import annotations

import pytest

from linker.models import EdgeStatus, Run, RunKind
from linker.runs import lifecycle
from review.models import Release
from review.releases import create, rows
from tests.factories import make_category, make_edge, make_page
from tests.markup import compact

PAGE = "/p/shop/export/"


@pytest.fixture
def many(project, monkeypatch):
    """More links than are exported while somebody waits."""
    monkeypatch.setattr(create, "MAX_IN_REQUEST", 2)
    return [make_edge(project, status=EdgeStatus.ACCEPTED) for _ in range(3)]


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_many_links_leave_in_the_background(project, many, client_for, editor, run_jobs):
    client = client_for(editor)

    response = client.post(PAGE, {"format": "full", "bom": "on"})
    run = Run.objects.get(kind=RunKind.RELEASE)
    run_jobs()

    run.refresh_from_db()
    release = Release.objects.get()
    assert response.url == f"/p/shop/runs/{run.pk}/"
    assert (run.status, run.report["release"], run.report["links"]) == ("succeeded", 1, 3)
    assert (release.links, release.created_by) == (3, editor)
    assert b"".join(create.release_pieces(release)).startswith(rows.BOM)
    assert "Download the release" in client.get(response.url).content.decode()


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_the_filter_goes_along(project, many, client_for, editor, run_jobs):
    tents = make_category(project, "Tents")
    wanted = [make_edge(project, make_page(project, category=tents), status=EdgeStatus.ACCEPTED) for _ in range(3)]

    client_for(editor).post(f"{PAGE}?category={tents.pk}", {"format": "joil"})
    run_jobs()

    release = Release.objects.get()
    assert set(release.release_links.values_list("edge", flat=True)) == {edge.pk for edge in wanted}
    assert (release.format, release.filters) == ("joil", {"category": tents.pk})


def test_a_page_with_many_links_says_so(project, many, client_for, editor):
    page = compact(client_for(editor).get(PAGE).content.decode())

    assert "More than 2 links are approved" in page
    assert f"{PAGE}held/" not in page
    assert ">Export</button>" in page


def test_where_they_have_become_many_since_the_page_was_shown_it_comes_back(project, many, client_for, editor):
    response = client_for(editor).post(PAGE, {"format": "full", "links": 2})

    assert response.status_code == 409
    assert "more than 2 links are approved by now, and 2 were to be exported" in response.content.decode()
    assert not Run.objects.filter(kind=RunKind.RELEASE).exists()


@pytest.mark.parametrize("query", ["", "?file", "?file&reason=gone", "?after=1"])
def test_many_links_are_not_looked_at_while_a_viewer_waits(
    project, many, client_for, viewer, django_assert_max_num_queries, query
):
    client = client_for(viewer)

    with django_assert_max_num_queries(20) as queries:
        answer = client.get(f"{PAGE}held/{query}")

    assert "More than 2 links are approved. Make the release" in answer.content.decode()
    assert answer["Content-Type"].startswith("text/html")
    assert not [query["sql"] for query in queries if "leaving" in query["sql"]]


def test_a_filter_that_leaves_few_links_is_looked_at(project, many, client_for, viewer):
    many[0].target.missing_since = many[0].created_at
    many[0].target.save()
    client = client_for(viewer)

    page = client.get(f"{PAGE}held/?donor={many[0].source_id}").content.decode()

    assert "The acceptor is missing from the newest import." in page


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_second_export_leads_to_the_run_that_waits(project, many, client_for, editor, redis_server):
    client = client_for(editor)

    first, second = client.post(PAGE, {"format": "full"}), client.post(PAGE, {"format": "full"})

    assert first.url == second.url
    assert Run.objects.filter(kind=RunKind.RELEASE).count() == 1


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_filter_that_this_version_does_not_know_lets_nothing_leave(project, many):
    params = {"filters": {"generator": "of-old"}, "format": "full", "bom": False}
    run = lifecycle.start_run(project, RunKind.RELEASE, params, to_queue=False)

    lifecycle.execute(run.pk, create.run_release)

    run.refresh_from_db()
    assert (run.status, Release.objects.count()) == ("failed", 0)
    assert "the filter has an unknown field or value (generator)" in run.error


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_job_that_comes_twice_makes_one_release(project, many):
    run = lifecycle.start_run(project, RunKind.RELEASE, {"filters": {}, "format": "full", "bom": False}, to_queue=False)

    lifecycle.execute(run.pk, create.run_release)

    assert lifecycle.execute(run.pk, create.run_release) is None
    assert Run.objects.get(pk=run.pk).status == "succeeded"
    assert Release.objects.count() == 1


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_a_release_that_is_stopped_leaves_nothing_behind(project, many):
    run = lifecycle.start_run(project, RunKind.RELEASE, {"filters": {}, "format": "full", "bom": False}, to_queue=False)

    def stopped(run, progress):
        def at(done, total, stage=""):
            if done == 3:
                raise lifecycle.RunCancelled

        return create.run_release(run, at)

    lifecycle.execute(run.pk, stopped)

    assert Run.objects.get(pk=run.pk).status == "cancelled"
    assert not Release.objects.exists()
    assert set(project.edges.values_list("status", flat=True)) == {EdgeStatus.ACCEPTED}
