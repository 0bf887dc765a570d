"""A site of guides whose texts name each other, and matches of it by the learned ranking.

    from tests.guides import guides_once, project, site

gives a module's tests `site`, made once, and the `project` that it belongs to; a test that does not ask for `site` has
an empty project. With `matched_once` and `matched_project as project` the site is matched by then, once, too.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from linker.engine.params import MatchParams, Ranking
from linker.matching.start import run_match
from linker.models import Page, Project, Run, RunKind
from linker.runs import lifecycle
from tests.factories import embed, make_category, make_link, make_model, make_page, make_project
from tests.kept import kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django import DjangoDbBlocker

TOPICS = ("tent", "stove", "kayak", "rope", "boot", "lamp")
GUIDES = 120


class Guides(NamedTuple):
    """The site by its ids: of its project, of its pages in the order of their numbers, and of the links between them
    that are named and not there."""

    project: int
    pages: list[int]
    hidden: list[tuple[int, int]]


def match(project: Project, **params: Any) -> Run:
    values = MatchParams(**{"ranking": Ranking.LEARNED, "threshold": 0.0, **params}).to_dict()
    run = lifecycle.start_run(project, RunKind.MATCH, values, to_queue=False)
    type(run).objects.filter(pk=run.pk).update(status="running")
    run.refresh_from_db()
    run_match(run)
    run.refresh_from_db()
    return run


def make_guides(project: Project, guides: int = GUIDES) -> Guides:
    """Pages whose texts name other guides; four in five of those names are links, the fifth was hidden."""
    chance, model = random.Random(4), make_model(8)
    categories = [make_category(project, topic.title()) for topic in TOPICS]
    pages = []
    for number in range(guides):
        topic = TOPICS[number % len(TOPICS)]
        name, category = f"{topic.title()} guide {number}", categories[number % len(TOPICS)]
        pages.append(make_page(project, f"/{topic}/{number}", title=f"{name} | Shop", h1=name, category=category))
        vector = [0.2 * chance.random() for _ in range(8)]
        vector[number % len(TOPICS)] += 1
        embed(pages[-1], vector, model)
    hidden = []
    for number, page in enumerate(pages):
        others = chance.sample([other for other in pages[number % 6 :: 6] if other != page], 4)
        lines = [f"About the weather of day {number}."]
        for other in others:
            lines.append(f"Please read {other.h1} before you go out.")
            if chance.random() < 0.2:
                hidden.append((page.pk, other.pk))
            else:
                make_link(page, other, other.h1)
        page.body = "\n".join(lines)
    Page.objects.bulk_update(pages, ["body"])
    return Guides(project.pk, [page.pk for page in pages], hidden)


@pytest.fixture(scope="module")
def guides_once(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Guides]:
    with kept(django_db_blocker):
        yield make_guides(make_project())


@pytest.fixture(scope="module")
def matched_once(guides_once: Guides, django_db_blocker: DjangoDbBlocker) -> Iterator[int]:
    """The id of the run."""
    with kept(django_db_blocker):
        yield match(Project.objects.get(pk=guides_once.project)).pk


def _project(request: pytest.FixtureRequest, guides: Guides) -> Project:
    if "site" in request.fixturenames:
        return Project.objects.get(pk=guides.project)
    return make_project(slug="empty")


@pytest.fixture
def project(request: pytest.FixtureRequest, db: None, guides_once: Guides) -> Project:
    return _project(request, guides_once)


@pytest.fixture
def matched_project(request: pytest.FixtureRequest, db: None, guides_once: Guides, matched_once: int) -> Project:
    return _project(request, guides_once)


@pytest.fixture
def site(db: None, guides_once: Guides) -> tuple[list[Page], list[tuple[Page, Page]]]:
    """The pages in the order of their numbers, and the links between them that are named and not there."""
    pages = Page.objects.select_related("project", "category").in_bulk(guides_once.pages)
    return [pages[pk] for pk in guides_once.pages], [(pages[a], pages[b]) for a, b in guides_once.hidden]
