"""A site that answers with a login form or in another language at every address: nothing is imported, and nothing is
lost."""

from __future__ import annotations

import pytest

from ingest.fetching.manage import create_source
from ingest.fetching.run import start_fetch
from ingest.fetching.steps import again
from linker.models import Page, Run, RunKind, RunStatus
from tests.factories import make_project
from tests.ingest.schedules.work import work_off
from tests.ingest.sources.generated import SITE, Generated, MadeSite

pytestmark = pytest.mark.django_db(transaction=True)

GUIDE = "How to pitch tent number {} on soft ground, with pegs that hold in the wind and a groundsheet that stays dry."
GERMAN = "Wie man Zelt Nummer {} auf weichem Boden aufstellt, mit Heringen, die im Wind halten, und trockenem Boden."
LOGIN = "Please sign in with your user name and your password to see this page. Forgotten your password? Ask for it."


@pytest.fixture
def site(monkeypatch, settings, tmp_path) -> MadeSite:
    from ingest.sources.connectors import registry

    settings.FETCH_ROOT, settings.VAR = tmp_path / "fetched", tmp_path
    made = MadeSite()
    say(made, [GUIDE.format(n) for n in range(30)])
    monkeypatch.setattr(registry, "CONNECTORS", (Generated(made),))
    return made


@pytest.fixture
def source(site, redis_server):
    project = make_project("shop", base_url=SITE, model_name="all-MiniLM-L6-v2")
    made = create_source(project, None, refresh_matches=False, kind="crawl", name="Site", address=f"{SITE}/")
    assert fetched(made).status == RunStatus.SUCCEEDED
    assert texts(project)["0"] == GUIDE.format(0)
    return made


def say(site: MadeSite, bodies: list[str]) -> None:
    for n, body in enumerate(bodies):
        site.add(f"/guides/{n}", body, f"/guides/{n + 1}")


def fetched(source) -> Run:
    """The import of pages of a fetch from now."""
    start_fetch(source, None)
    work_off(source.project)
    return Run.objects.filter(project=source.project, kind=RunKind.IMPORT_PAGES).latest("pk")


def texts(project) -> dict[str, str]:
    """By the last part of the address."""
    pages = Page.objects.filter(project=project).values_list("url", "body")
    return {url.rpartition("/")[2]: body for url, body in pages}


def test_a_login_form_at_every_address_replaces_no_text(source, site):
    before = texts(source.project)
    say(site, [GUIDE.format(n) if n < 3 else LOGIN for n in range(30)])

    run = fetched(source)

    assert run.status == RunStatus.FAILED
    assert "27 of 30 pages whose texts were known have one and the same text now" in run.error
    assert "Import anyway" in run.error
    assert texts(source.project) == before


@pytest.mark.nightly
def test_another_language_at_every_address_replaces_no_text(source, site):
    before = texts(source.project)
    say(site, [GERMAN.format(n) for n in range(30)])

    run = fetched(source)

    assert run.status == RunStatus.FAILED
    assert "of the texts that were known are in another language now, mostly in German instead of English" in run.error
    assert texts(source.project) == before


@pytest.mark.nightly
def test_who_looked_at_the_site_can_have_it_imported(source, site):
    say(site, [GERMAN.format(n) for n in range(30)])
    run = fetched(source)
    again(Run.objects.filter(project=source.project, kind=RunKind.FETCH).latest("pk"), None, allow_shrink=True)
    work_off(source.project)
    assert Run.objects.filter(project=source.project, kind=RunKind.IMPORT_PAGES).latest("pk").pk > run.pk
    assert texts(source.project)["0"] == GERMAN.format(0)


@pytest.mark.nightly
def test_a_few_pages_that_say_the_same_or_are_translated_are_a_change_like_any(source, site):
    say(site, [LOGIN if n < 8 else GERMAN.format(n) if n < 14 else GUIDE.format(n) for n in range(30)])
    assert fetched(source).status == RunStatus.SUCCEEDED
    assert texts(source.project)["0"] == LOGIN
