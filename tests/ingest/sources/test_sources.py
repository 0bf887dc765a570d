"""A source is kept with its secret unreadable, and what it fetched goes through all the steps to the queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import pytest
from cryptography.fernet import Fernet
from django.utils import timezone

from ingest.fetching import steps
from ingest.fetching.manage import change_source, create_source, remove_source, sources_of
from ingest.fetching.run import run_fetch, start_fetch
from ingest.models import SiteSource
from ingest.services import run_import
from ingest.sources import secrets
from ingest.sources.connectors import registry
from ingest.sources.connectors.base import Connector
from ingest.sources.fetched import store_path
from ingest.sources.store import FetchStore, Reading, StoredLink
from linker.errors import UserError
from linker.models import Change, ExistingLink, Page, Run, RunKind, RunStatus
from linker.runs import lifecycle
from tests.factories import make_project, make_run, make_user

if TYPE_CHECKING:
    from ingest.sources.connectors.base import Fetching

pytestmark = pytest.mark.django_db(transaction=True)
SITE = "https://shop.example"


@dataclass(frozen=True)
class Options:
    pages: int = 3

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        if values.get("pages", 1) < 1:
            raise UserError("At least one page.")
        return cls(**values)


class Generated(Connector):
    """Pages /0 to /n - 1, each linking to the next in its text."""

    kind = "crawl"
    Options = Options

    def fetch(self, fetching: Fetching) -> None:
        store = fetching.store
        for n in range(fetching.options.pages):
            url, text = f"{SITE}/guides/{n}", f"All & about tents <{n}>: read page {n + 1} too."
            with store.transaction() as rows:
                rows.execute(
                    "INSERT INTO page (key, url, state, status_code, content_type, depth) "
                    "VALUES (?, ?, 'done', 200, 'text/html', ?)",
                    [url, url, n],
                )
                [page] = rows.execute("SELECT id FROM page WHERE key = ?", [url]).fetchone()
                place = text.index("read")
                anchor = text[place : text.index(" too")]
                link = StoredLink(f"{SITE}/guides/{n + 1}", anchor, "content", True, place)
                crumbs = ("Guides", "Tents")
                store.save_reading(page, Reading(title=f"Page {n}", text=text, breadcrumb=crumbs), [link])
        store.note("is_whole", True)


@pytest.fixture
def project(monkeypatch, settings, tmp_path):
    settings.FETCH_ROOT, settings.VAR = tmp_path / "fetched", tmp_path
    monkeypatch.setattr(registry, "CONNECTORS", (Generated(),))
    return make_project("shop", base_url=SITE)


def make_source(project, **values):
    return create_source(project, None, **{"kind": "crawl", "name": "Site", "address": f"{SITE}/"} | values)


def work(run: Run) -> Run:
    """What a worker would do."""
    job = run_fetch if run.kind == RunKind.FETCH else run_import
    return lifecycle.execute(run.pk, job)


@pytest.mark.nightly
def test_a_fetch_is_followed_by_the_import_of_its_pages_and_then_of_its_links(project):
    fetch = work(start_fetch(make_source(project)))
    assert fetch.status == RunStatus.SUCCEEDED
    assert fetch.report["pages"] == 3
    [pages] = fetch.followed_by.all()
    assert pages.kind == RunKind.IMPORT_PAGES
    work(pages)
    links = fetch.followed_by.get(kind=RunKind.IMPORT_LINKS)
    work(links)
    assert fetch.followed_by.filter(kind=RunKind.EMBED, status=RunStatus.QUEUED).count() == 1
    assert Page.objects.order_by("url").first().body == "All & about tents <0>: read page 1 too."
    assert Page.objects.first().category.path == ["Guides", "Tents"]
    assert ExistingLink.objects.count() == 2  # the third leads to a page that is not there


@pytest.mark.nightly
def test_the_last_step_matches_what_changed_where_a_run_stands_and_else_the_whole_site(project):
    source = make_source(project)
    for standing, kind in ((False, RunKind.MATCH), (True, RunKind.CHANGES)):
        if standing:
            make_run(project, RunKind.MATCH)
        fetch = work(start_fetch(source))
        for _ in range(2):
            work(fetch.followed_by.get(status=RunStatus.QUEUED))
        embed = fetch.followed_by.get(kind=RunKind.EMBED)
        Run.objects.filter(pk=embed.pk).update(status=RunStatus.SUCCEEDED)
        steps.go_on(embed)
        last = fetch.followed_by.order_by("pk").last()
        assert last.kind == kind
        Run.objects.filter(pk=last.pk).update(status=RunStatus.CANCELLED)
        assert [step.kind for step in steps.steps_of(fetch)] == list(steps.STEPS)


def test_a_fetch_that_ends_early_marks_nothing_as_missing(project, monkeypatch):
    source = make_source(project, options={"pages": 30})
    for step in ("fetch", "pages", "links"):
        run = start_fetch(source) if step == "fetch" else Run.objects.order_by("pk").last()
        work(run)
    Run.objects.filter(status=RunStatus.QUEUED).update(status=RunStatus.CANCELLED)
    original = Generated.fetch

    def partly(self, fetching):
        original(self, fetching)
        fetching.store.note("is_whole", False)

    monkeypatch.setattr(Generated, "fetch", partly)
    fetch = work(start_fetch(source, pages=2))
    work(fetch.followed_by.get())
    assert not Page.objects.exclude(missing_since=None).exists()
    assert not fetch.report["is_whole"]


@pytest.mark.nightly
def test_the_shrink_guard_stops_a_fetch_that_brings_half_of_the_pages(project):
    source = make_source(project, options={"pages": 30})
    for _ in range(2):
        work(start_fetch(source) if not Run.objects.exists() else Run.objects.order_by("pk").last())
    Run.objects.filter(status=RunStatus.QUEUED).update(status=RunStatus.CANCELLED)
    fetch = work(start_fetch(source, pages=10))
    stopped = work(fetch.followed_by.get())
    assert stopped.status == RunStatus.FAILED
    assert "less than 80%" in stopped.error
    assert Page.objects.filter(missing_since=None).count() == 30
    assert steps.start_due() == []  # a failed step ends the row


def test_a_row_goes_on_when_the_run_that_was_in_its_way_has_ended(project):
    source = make_source(project)
    other = lifecycle.start_run(project, RunKind.IMPORT_PAGES, {})
    fetch = work(start_fetch(source))
    assert not fetch.followed_by.exists()
    assert steps.start_due() == []
    Run.objects.filter(pk=other.pk).update(status=RunStatus.CANCELLED)
    [started] = steps.start_due()
    assert (started.kind, started.follows_id) == (RunKind.IMPORT_PAGES, fetch.pk)


def test_only_the_newest_stores_are_kept(project):
    source = make_source(project, refresh_matches=False)
    fetches = []
    for _ in range(4):
        fetches.append(work(start_fetch(source)))
        Run.objects.filter(status=RunStatus.QUEUED).update(status=RunStatus.CANCELLED)
    assert [store_path(fetch).is_file() for fetch in fetches] == [False, False, True, True]


def test_a_secret_is_stored_encrypted_and_told_to_nobody(project, settings):
    settings.SOURCE_KEYS = [Fernet.generate_key().decode()]
    source = make_source(project, secret="open sesame", username="ann")
    source.refresh_from_db()
    assert b"sesame" not in bytes(source.secret)
    assert secrets.decrypt(source.secret) == "open sesame"
    assert "sesame" not in str(list(Change.objects.values()))
    newer = Fernet.generate_key().decode()
    settings.SOURCE_KEYS = [newer, *settings.SOURCE_KEYS]
    assert secrets.decrypt(source.secret) == "open sesame"
    settings.SOURCE_KEYS = [newer]
    with pytest.raises(UserError, match="Enter it again"):
        secrets.decrypt(source.secret)


def test_production_keeps_no_secret_without_a_key(project, settings):
    settings.PRODUCTION = True
    with pytest.raises(UserError, match="SOURCE_KEYS"):
        make_source(project, secret="open sesame")
    assert not SiteSource.objects.exists()


def test_a_password_does_not_follow_to_another_host(project):
    source = make_source(project, secret="open sesame")
    change_source(source, None, address=f"{SITE}/blog/")
    assert source.secret is not None
    change_source(source, None, address="https://www.shop.example/")
    assert source.secret is None


def test_an_address_of_another_site_is_refused_at_once(project):
    with pytest.raises(UserError, match="not an address of the project"):
        make_source(project, address="https://elsewhere.example/")


def test_a_removed_source_is_fetched_no_further(project):
    source = make_source(project)
    waiting, fetched = start_fetch(source), None
    remove_source(source, None)
    waiting.refresh_from_db()
    assert waiting.status == RunStatus.CANCELLED
    source = make_source(project)
    fetched = start_fetch(source)
    SiteSource.objects.filter(pk=source.pk).update(removed_at=timezone.now())  # while its last page is read
    assert not work(fetched).followed_by.exists()


@pytest.mark.nightly
def test_who_allows_fewer_pages_allows_their_fewer_links(project):
    source = make_source(project, options={"pages": 30})
    for _ in range(3):
        work(start_fetch(source) if not Run.objects.exists() else Run.objects.order_by("pk").last())
    Run.objects.filter(status=RunStatus.QUEUED).update(status=RunStatus.CANCELLED)
    fetch = work(start_fetch(source, pages=10))
    assert work(fetch.followed_by.get()).status == RunStatus.FAILED
    allowed = work(steps.again(fetch, None, allow_shrink=True))
    links = work(fetch.followed_by.get(kind=RunKind.IMPORT_LINKS))
    assert (allowed.status, links.status) == (RunStatus.SUCCEEDED, RunStatus.SUCCEEDED)


def test_pages_that_did_not_answer_are_not_counted_as_fetched(project, monkeypatch):
    original = Generated.fetch

    def silent(self, fetching):
        original(self, fetching)
        with fetching.store.transaction() as rows:
            rows.execute("UPDATE page SET fault = 'no answer', unchanged = 1 WHERE id <= ?", [silent.pages])

    monkeypatch.setattr(Generated, "fetch", silent)
    source = make_source(project)
    silent.pages = 2
    assert work(start_fetch(source)).report["pages"] == 1
    silent.pages = 3
    assert work(start_fetch(source)).status == RunStatus.FAILED


def test_a_removed_source_leaves_the_list_and_forgets_its_secret(project):
    user = make_user()
    source = make_source(project, secret="open sesame")
    remove_source(source, user)
    source.refresh_from_db()
    assert (source.secret, list(sources_of(project))) == (None, [])
    with pytest.raises(UserError, match="was removed"):
        start_fetch(source)
    make_source(project)  # its name is free again


@pytest.mark.parametrize(
    "values", [{"address": "http://10.0.0.1/"}, {"options": {"pages": 0}}, {"address": "file:///etc/passwd"}]
)
def test_what_cannot_be_fetched_is_not_kept(project, values):
    with pytest.raises(UserError):
        make_source(project, **values)
    assert not SiteSource.objects.exists()


def test_two_sources_of_a_project_have_different_names(project):
    make_source(project)
    with pytest.raises(UserError, match="another name"):
        make_source(project)


def test_a_killed_writer_leaves_whole_pages_or_none(tmp_path):
    store = FetchStore(tmp_path / "a.sqlite3")

    def write() -> None:
        with store.transaction() as rows:
            rows.execute("INSERT INTO page (key, url) VALUES ('a', 'a')")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write()
    assert store.counts() == {}
