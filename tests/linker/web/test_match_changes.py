"""The match page offers a match over what changed, with what has come in; a run's page says why it was over all."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from linker.matching.changes_report import ChangesReport, Whole
from linker.matching.changes_run import run_changes, start_whole_if_due
from linker.matching.changes_since import changes_since, instead_of, whole_instead
from linker.matching.changes_start import start_changes
from linker.matching.kept_runs import standing_run
from linker.models import MatchedPages, Run, RunKind
from linker.projects.overview import next_steps, site_figures
from tests.factories import make_run
from tests.guides import guides_once, make_guides, match, matched_once, site
from tests.guides import matched_project as project

pytestmark = pytest.mark.django_db
__all__ = ["guides_once", "matched_once", "project", "site"]


def end(run: Run, report: ChangesReport) -> Run:
    Run.objects.filter(pk=run.pk).update(status="succeeded", report=report.to_json(), finished_at=timezone.now())
    run.refresh_from_db()
    return run


def imported(project, kind: RunKind, **report) -> Run:
    return make_run(project, kind, report={"version": 1, **report}, finished_at=timezone.now())


def page_of(client, project) -> str:
    return client.get(reverse("match", args=[project.slug])).content.decode()


@pytest.mark.nightly
def test_the_page_says_what_has_come_in_since_pages_were_last_read(project, manager, client_for):
    make_guides(project)
    client = client_for(manager)
    assert "Match only what changed" not in page_of(client, project)
    run = match(project)
    assert changes_since(project).whole is None
    assert "has brought anything since" in page_of(client, project)

    imported(project, RunKind.IMPORT_PAGES, new=12, updated=3456, missing=7)
    imported(project, RunKind.IMPORT_PAGES, new=1)
    imported(project, RunKind.IMPORT_LINKS, new=20, missing=1)
    imported(project, RunKind.EMBED, embedded=99)
    make_run(project, RunKind.IMPORT_PAGES, "failed", report={"new": 5}, finished_at=timezone.now())
    since = changes_since(project)
    assert (since.run, since.new, since.changed, since.gone, since.links, since.vectors) == (run, 13, 3456, 7, 21, 99)
    said = (
        "New pages: 13, changed: 3,456, gone: 7. Links of the site that are new, changed or gone: 21. Vectors made: 99."
    )
    assert said in " ".join(page_of(client, project).split())

    changes = end(start_changes(project, to_queue=False), ChangesReport(run=run.pk))
    assert not changes_since(project).any
    assert changes_since(project).since == changes.created_at


@pytest.mark.nightly
def test_the_button_starts_it_and_shows_it(
    project, site, manager, client_for, redis_server, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        response = client_for(manager).post(reverse("match_changes", args=[project.slug]))
    run = project.runs.get(kind=RunKind.CHANGES)
    assert (response.url, run.created_by) == (reverse("run", args=[project.slug, run.pk]), manager)
    again = client_for(manager).post(reverse("match_changes", args=[project.slug]), follow=True).content.decode()
    assert "already waiting" in again
    assert project.runs.filter(kind=RunKind.CHANGES).count() == 1


@pytest.mark.nightly
def test_where_the_whole_site_has_to_be_matched_the_page_says_why(project, site, manager, client_for):
    run = standing_run(project)
    MatchedPages.objects.all().delete()
    assert changes_since(project).whole == Whole.NOT_KEPT
    page = page_of(client_for(manager), project)
    assert "has kept no record of the pages" in page
    assert "disabled" in page[page.index('id="changed"') : page.index("Or match the whole site")]
    Run.objects.filter(pk=run.pk).update(params=run.params | {"donors": {"url_pattern": "x"}})
    assert changes_since(project).whole == Whole.LIMITED


def test_the_pages_of_both_runs_say_why_one_was_over_the_whole_site(project, site, manager, client_for):
    MatchedPages.objects.all().delete()
    changes = start_changes(project, to_queue=False)
    changes = end(changes, run_changes(changes))
    whole = start_whole_if_due(changes)
    assert (whole_instead(changes), instead_of(whole)) == (whole, changes)
    client = client_for(manager)
    first = client.get(reverse("run", args=[project.slug, changes.pk])).content.decode()
    assert "has kept no record of the pages" in first
    assert f"run {whole.pk}</a>" in first
    second = client.get(reverse("run", args=[project.slug, whole.pk])).content.decode()
    assert "asked to match only what had" in second
    Run.objects.filter(pk=whole.pk).update(status="succeeded", finished_at=timezone.now())
    assert instead_of(make_run(project, RunKind.MATCH)) is None


def test_a_match_that_had_begun_before_is_not_said_to_stand_in(project, site):
    changes = end(start_changes(project, to_queue=False), ChangesReport(whole=Whole.MUCH_CHANGED))
    other = make_run(project, RunKind.MATCH)
    Run.objects.filter(pk=other.pk).update(created_at=changes.finished_at - timedelta(seconds=1))
    assert whole_instead(changes) is None
    assert instead_of(Run.objects.get(pk=other.pk)) is None


def test_a_run_over_what_changed_takes_the_match_off_the_steps(project, site):
    run = standing_run(project)

    def is_matched() -> bool:
        [step] = [step for step in next_steps(project, site_figures(project)) if step.name == "Match"]
        return step.done

    assert is_matched()
    imported(project, RunKind.IMPORT_PAGES, new=1)
    assert not is_matched()
    end(start_changes(project, to_queue=False), ChangesReport(whole=Whole.MUCH_CHANGED))
    assert not is_matched()
    end(start_changes(project, to_queue=False), ChangesReport(run=run.pk))
    assert is_matched()
