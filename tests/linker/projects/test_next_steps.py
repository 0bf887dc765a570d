"""The steps on a project's overview follow what is really missing."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from linker.models import EdgeStatus, EmbeddingModel, RunKind, SensitiveRule
from linker.pages.sensitivity import find_sensitive
from linker.projects import overview
from linker.projects.policies.sensitive import decide_sensitive
from tests.factories import embed, make_edge, make_page, make_run
from tests.markup import compact

if TYPE_CHECKING:
    from linker.models import Project, Run

pytestmark = pytest.mark.django_db


def steps(project: Project) -> dict[str, overview.Step]:
    return {step.name: step for step in overview.next_steps(project, overview.site_figures(project))}


def undone(project: Project) -> list[str]:
    return [name for name, step in steps(project).items() if not step.done]


def ran(project: Project, kind: RunKind, minutes_ago: float, **report) -> Run:
    then = timezone.now() - timedelta(minutes=minutes_ago)
    run = make_run(project, kind, report=report, finished_at=then + timedelta(seconds=20))
    type(run).objects.filter(pk=run.pk).update(created_at=then)
    return run


ALL = [
    "Import pages",
    "Import links",
    "Import queries",
    "Check what is sensitive",
    "Embed",
    "Match",
    "Review",
    "Export",
]


def test_a_new_project_begins_at_the_beginning(project):
    assert undone(project) == ALL


@pytest.fixture
def worked(project):
    """A project through which everything has gone once: pages, links, queries, vectors, suggestions, a release."""
    page, other = make_page(project, "/tents"), make_page(project, "/stoves")
    embed(page, [1, 0, 0, 0])
    embed(other, [1, 0, 0, 0])
    ran(project, RunKind.IMPORT_PAGES, 60, new=2, sensitive_pages=0)
    ran(project, RunKind.IMPORT_LINKS, 50, new=2)
    ran(project, RunKind.IMPORT_QUERIES, 40, new=2)
    ran(project, RunKind.EMBED, 30, embedded=2)
    run = ran(project, RunKind.MATCH, 20)
    make_edge(project, page, other, run=run, status=EdgeStatus.EXPORTED)
    return project


def test_a_project_that_is_through_has_nothing_to_do(worked):
    assert undone(worked) == []


def test_pages_imported_after_the_last_embed_want_a_vector_and_a_match(worked):
    ran(worked, RunKind.IMPORT_PAGES, 10, new=1)
    assert undone(worked) == ["Embed", "Match"]
    assert "imported since" in steps(worked)["Embed"].text
    ran(worked, RunKind.EMBED, 5, embedded=1)
    assert undone(worked) == ["Match"]
    assert "Match again" in steps(worked)["Match"].text
    ran(worked, RunKind.MATCH, 1)
    assert undone(worked) == []


def test_an_import_that_brought_nothing_new_asks_for_nothing(worked):
    ran(worked, RunKind.IMPORT_PAGES, 10, new=0, updated=0, missing=0, unchanged=2)
    assert undone(worked) == []


def test_links_and_queries_that_came_later_want_a_match_alone(worked):
    ran(worked, RunKind.IMPORT_LINKS, 10, new=5)
    assert undone(worked) == ["Match"]


def test_numbers_that_changed_want_a_match_and_others_do_not(worked):
    ran(worked, RunKind.IMPORT_TRAFFIC, 10, new=0, updated=0, unchanged=2, set=0)
    assert undone(worked) == []
    ran(worked, RunKind.IMPORT_TRAFFIC, 9, new=2, set=2)
    assert undone(worked) == ["Match"]


def button(run: Run, client) -> str:
    """What the page of a run offers to do next; empty where nothing."""
    text = compact(client.get(reverse("run", args=[run.project.slug, run.pk])).content.decode())
    return text.partition('<a class="button button--primary" href="')[2].partition("</a>")[0].partition('">')[2]


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("kind", "offered"),
    [
        (RunKind.IMPORT_PAGES, "Embed"),
        (RunKind.IMPORT_LINKS, "Match"),
        (RunKind.IMPORT_QUERIES, "Match"),
        (RunKind.IMPORT_TRAFFIC, "Match"),
        (RunKind.EMBED, "Match"),
        (RunKind.MATCH, ""),
        (RunKind.RETIER, ""),
        (RunKind.SENSITIVE, ""),
        (RunKind.RELEASE, "Download the release"),
    ],
)
def test_the_page_of_a_run_offers_what_the_project_needs_next(worked, manager, client_for, kind, offered):
    assert button(ran(worked, kind, 10, new=1, embedded=1, sensitive_pages=0), client_for(manager)) == offered


@pytest.mark.nightly
def test_an_editor_is_offered_what_an_editor_can_do(worked, editor, client_for):
    run = ran(worked, RunKind.IMPORT_PAGES, 10, new=1)
    assert button(run, client_for(editor)) == ""
    make_edge(worked)
    assert button(run, client_for(editor)) == "Review"


def test_vectors_of_the_crawl_need_no_embedding(worked):
    worked.vector_source = "imported"
    model = EmbeddingModel.objects.create(project=worked, name="imported: vectors", version="as crawled", dimensions=4)
    embed(worked.pages.first(), [0, 1, 0, 0], model)
    ran(worked, RunKind.IMPORT_PAGES, 10, new=1)
    assert undone(worked) == ["Match"]


def test_what_was_proposed_as_sensitive_waits_for_a_manager(worked, manager):
    make_page(worked, "/loans", title="Loans")
    find_sensitive(worked)
    assert undone(worked) == ["Check what is sensitive"]
    assert steps(worked)["Check what is sensitive"].text.startswith("1 rule proposed")
    decide_sensitive(worked, [SensitiveRule.objects.get().pk], "dismissed", manager)
    assert undone(worked) == []


def test_a_project_of_before_is_asked_to_look(worked):
    worked.runs.filter(kind=RunKind.IMPORT_PAGES).update(report={"new": 2})
    assert undone(worked) == ["Check what is sensitive"]
    ran(worked, RunKind.SENSITIVE, 1, sensitive_pages=0)
    assert undone(worked) == []


def test_open_suggestions_and_accepted_links_are_counted(worked):
    make_edge(worked)
    make_edge(worked, status=EdgeStatus.ACCEPTED)
    assert undone(worked) == ["Review", "Export"]
    assert steps(worked)["Review"].text == "1 suggestion waits for a decision."
    assert steps(worked)["Export"].text == "1 accepted link has not been exported yet."


def test_an_optional_step_is_never_the_next(project, manager, client_for):
    make_page(project)
    ran(project, RunKind.IMPORT_PAGES, 60, new=1, sensitive_pages=0)
    ran(project, RunKind.IMPORT_LINKS, 50, new=0)
    page = compact(client_for(manager).get(reverse("project", args=[project.slug])).content.decode())
    assert steps(project)["Import queries"].optional
    assert page.index("Next. ") > page.index("<strong>Embed</strong>")


@pytest.mark.nightly
def test_the_steps_cost_the_same_however_much_has_run(worked):
    def cost() -> int:
        site = overview.site_figures(worked)
        with CaptureQueriesContext(connection) as asked:
            overview.next_steps(worked, site)
        return len(asked)

    before = cost()
    for minute in range(20):
        ran(worked, RunKind.IMPORT_PAGES, 15 - minute / 10, new=1, sensitive_pages=0)
    assert cost() == before <= 6


@pytest.mark.nightly
def test_a_new_project_may_have_its_site_fetched(project, manager, client_for, editor):
    overview_page = reverse("project", args=["shop"])
    fetch = f'<a class="button" href="{reverse("sources", args=["shop"])}">Fetch the site</a>'
    assert fetch in compact(client_for(manager).get(overview_page).content.decode())
    assert fetch not in compact(client_for(editor).get(overview_page).content.decode())
    make_page(project)
    assert fetch not in compact(client_for(manager).get(overview_page).content.decode())
