"""A WordPress site comes in through its API: posts, pages, sections, links; and only what changed is read again."""

from __future__ import annotations

import ipaddress

import pytest

from ingest.fetching.manage import create_source
from ingest.fetching.run import run_fetch, start_fetch
from ingest.services import run_import
from ingest.sources.connectors import registry
from ingest.sources.fetched import store_path
from ingest.sources.store import FetchStore
from linker.errors import UserError
from linker.models import ExistingLink, Page, Run, RunKind, RunStatus
from linker.runs import lifecycle
from tests.factories import make_project
from tests.ingest.sources.wordpress_site import why_not, wordpress

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(bool(why_not()), reason=why_not() or "all is there"),
]
TENTS = "<!-- wp:paragraph --><p>Pitch it well; see <a href='/stoves/'>our stoves</a> too.</p><!-- /wp:paragraph -->"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with wordpress(tmp_path_factory.mktemp("wordpress")) as running:
        yield running


def work(run: Run) -> Run:
    return lifecycle.execute(run.pk, run_fetch if run.kind == RunKind.FETCH else run_import)


def fetch_and_import(source) -> Run:
    fetch = work(start_fetch(source))
    assert fetch.status == RunStatus.SUCCEEDED, fetch.error
    for _ in range(2):
        step = work(fetch.followed_by.get(status=RunStatus.QUEUED))
        assert step.status == RunStatus.SUCCEEDED, step.error
    return fetch


def rows(fetch: Run, columns: str) -> dict:
    with FetchStore(store_path(fetch), read_only=True) as store:
        return {key: rest for key, *rest in store.connection.execute(f"SELECT key, {columns} FROM page")}


@pytest.mark.nightly
def test_the_life_of_a_site(site, settings, tmp_path):
    settings.FETCH_ROOT = tmp_path
    settings.OUTGOING_ALLOW = (ipaddress.ip_network("127.0.0.0/8"),)
    guides = site.term("Guides &amp; tips")
    shelter = site.term("Shelter", guides)
    tents = site.post(post_title="Tents & poles", post_name="tents", post_content=TENTS, post_category=[shelter])
    stoves = site.post(post_title="Stoves", post_name="stoves", post_content="<p>They burn gas.</p>")
    site.post(post_title="About", post_name="about", post_type="page", post_content="<p>Who we are.</p>")
    site.post(post_title="Not yet", post_status="draft", post_content="<p>Draft.</p>")
    site.post(post_title="Members", post_name="members", post_password="sesame", post_content="<p>Secret.</p>")
    project = make_project("shop", base_url=site.address)
    password = site.application_password()
    source = create_source(
        project, None, kind="wordpress", name="Blog", address=f"{site.address}/", username="admin", secret=password,
        refresh_matches=False, options={"pause": 0},
    )  # fmt: skip
    said = registry.get("wordpress").check(source, _rules(settings), password)
    assert "Posts: 3" in said
    assert "Signed in as admin" in said

    fetch = fetch_and_import(source)
    assert fetch.report["is_whole"], fetch.report
    pages = {page.url.removeprefix(site.address): page for page in Page.objects.select_related("category")}
    lists = {"/category/guides-tips/shelter/", "/category/uncategorized/", "/author/admin/"}
    assert set(pages) == {"/", "/tents/", "/stoves/", "/about/"} | lists
    shelter_list = pages["/category/guides-tips/shelter/"]
    assert (shelter_list.h1, shelter_list.role, shelter_list.category.path) == (
        "Shelter", "hub", ["Guides & tips", "Shelter"]
    )  # fmt: skip
    assert pages["/author/admin/"].h1 == "admin"
    assert pages["/tents/"].category.path == ["Guides & tips", "Shelter"]
    assert pages["/tents/"].h1 == "Tents & poles"
    assert pages["/tents/"].body == "Pitch it well; see our stoves too."
    assert pages["/tents/"].last_modified is not None
    link = ExistingLink.objects.get(source=pages["/tents/"])
    assert (link.target, link.anchor, link.get_block_display()) == (pages["/stoves/"], "our stoves", "Content")

    # Nothing changed: every text is taken from the last fetch.
    again = work(start_fetch(source))
    assert again.report["unchanged"] == 3
    assert again.report["links"] == fetch.report["links"]
    Run.objects.filter(status=RunStatus.QUEUED).update(status=RunStatus.CANCELLED)

    # One changed, one moved to another address, one gone, one in another section.
    site.php("sleep(1);")
    site.post(ID=tents, post_title="Tents", post_content=TENTS.replace("well", "badly"), post_category=[guides])
    site.post(ID=stoves, post_title="Stoves", post_name="camping-stoves", post_content="<p>They burn gas.</p>")
    site.php("wp_delete_post(get_page_by_path('about')->ID, true);")
    was = pages["/stoves/"].pk
    later = fetch_and_import(source)
    assert (later.report["unchanged"], later.report["redirects"]) == (0, 1)
    pages = {page.url.removeprefix(site.address): page for page in Page.objects.select_related("category")}
    assert pages["/tents/"].body == "Pitch it badly; see our stoves too."
    assert pages["/tents/"].category.path == ["Guides & tips"]
    assert pages["/about/"].missing_since is not None
    assert pages["/camping-stoves/"].pk == was
    assert "/stoves/" not in pages
    link = ExistingLink.objects.get(source=pages["/tents/"], missing_since=None)
    assert link.target_id == was  # its address in the text is the old one, which leads there

    # A section is renamed, and no post is touched: every post stands in it by its new name.
    site.php("wp_update_term($given['term'], 'category', ['name' => 'Advice']);", term=guides)
    fetch_and_import(source)
    assert Page.objects.get(url=f"{site.address}/tents/").category.path == ["Advice"]


@pytest.mark.nightly
def test_a_wrong_password_is_said_and_changes_nothing(site, settings, tmp_path):
    settings.FETCH_ROOT = tmp_path
    settings.OUTGOING_ALLOW = (ipaddress.ip_network("127.0.0.0/8"),)
    project = make_project("shop", base_url=site.address)
    source = create_source(
        project, None, kind="wordpress", name="Blog", address=site.address, username="admin", secret="wrong"
    )
    with pytest.raises(UserError, match="application password"):
        registry.get("wordpress").check(source, _rules(settings), "wrong")
    failed = work(start_fetch(source))
    assert failed.status == RunStatus.FAILED
    assert not failed.followed_by.exists()
    assert "wrong" not in failed.error


def _rules(settings):
    from ingest.sources.outgoing import Rules

    return Rules(settings.OUTGOING_ALLOW)
