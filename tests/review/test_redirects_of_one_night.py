"""A redirect that is there for one night takes no link along for good."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from ingest import services
from linker.models import EdgeStatus, Page
from review.decisions import decide_edges
from review.models import Pending, PublishedLink, Verb
from review.releases.create import create_release
from tests.factories import make_edge, make_page
from tests.review.test_release import release_of

pytestmark = pytest.mark.django_db(transaction=True)
SITE = "https://shop.example"


def event(*words: str) -> None:
    call_command("page_event", "shop", *words)


@pytest.fixture
def link(project):
    return make_edge(project, make_page(project, "/donor"), make_page(project, "/boots"), status=EdgeStatus.ACCEPTED)


@pytest.fixture
def other(project) -> Page:
    return make_page(project, "/login")


def pair(edge) -> tuple[str, str, str]:
    edge.refresh_from_db()
    return edge.source.url.removeprefix(SITE), edge.target.url.removeprefix(SITE), edge.status


@pytest.mark.nightly
@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("status", [EdgeStatus.SUGGESTED, EdgeStatus.ACCEPTED])
def test_a_link_follows_its_page_back(project, other, side, status):
    edge = make_edge(project, make_page(project, "/donor"), make_page(project, "/boots"), status=status)
    before, page = pair(edge), getattr(edge, side)
    event("redirected", page.url, other.url)
    assert pair(edge) != before
    event("restored", page.url)
    assert pair(edge) == before


@pytest.mark.nightly
def test_a_released_link_that_is_back_with_its_page_asks_for_no_change(project, link, other):
    release_of(project)
    event("redirected", link.target.url, other.url)
    assert Pending.objects.get().operation == "change"
    event("restored", f"{SITE}/boots")
    assert pair(link) == ("/donor", "/boots", "exported")
    assert not Pending.objects.exists()
    assert PublishedLink.objects.get().acceptor_was == ""


def test_a_link_that_was_decided_on_meanwhile_stays_where_it_is(project, other, editor):
    edge = make_edge(project, make_page(project, "/donor"), make_page(project, "/boots"))
    event("redirected", edge.target.url, other.url)
    decide_edges(project, [edge.pk], Verb.REJECT, editor)
    event("restored", f"{SITE}/boots")
    assert pair(edge) == ("/donor", "/login", "rejected")


@pytest.mark.nightly
def test_what_gave_up_its_pair_has_it_again(project, link, other):
    open_one = make_edge(project, link.source, other)
    event("redirected", link.target.url, other.url)
    assert pair(link)[1] == "/login"
    event("restored", f"{SITE}/boots")
    assert pair(link)[1] == "/boots"
    assert pair(open_one)[1] == "/login"


def crawl(project, tmp_path, *rows: tuple[str, str, str]) -> None:
    lines = "".join(f"{SITE}{path},{path} words,{code},{to}\n" for path, code, to in rows)
    file = tmp_path / "pages.csv"
    file.write_text(f"Address,Title 1,Status Code,Redirect URL\n{lines}")
    services.import_file(project, "pages", file, allow_shrink=True)


@pytest.mark.nightly
@pytest.mark.parametrize("code", ["302", "303", "307"])
def test_a_redirect_that_says_it_is_temporary_moves_no_page_and_no_link(project, link, tmp_path, code):
    release_of(project)
    page = link.target
    crawl(project, tmp_path, ("/donor", "200", ""), ("/boots", code, f"{SITE}/signin"), ("/signin", "200", ""))
    page.refresh_from_db()
    assert (page.url, page.status, page.successor_id) == (f"{SITE}/boots", "redirected", None)
    assert pair(link) == ("/donor", "/boots", "exported")
    crawl(project, tmp_path, ("/donor", "200", ""), ("/boots", "200", ""), ("/signin", "200", ""))
    page.refresh_from_db()
    assert (page.status, pair(link)) == ("live", ("/donor", "/boots", "exported"))
    assert not Pending.objects.exists()


@pytest.mark.nightly
def test_a_page_that_answers_where_it_was_before_has_moved_back(project, link, tmp_path):
    accepted = make_edge(project, link.target, make_page(project, "/socks"), status=EdgeStatus.ACCEPTED)
    create_release(project, project.edges.filter(pk=link.pk))
    page, others = link.target, [("/donor", "200", ""), ("/socks", "200", "")]
    crawl(project, tmp_path, *others, ("/boots", "301", f"{SITE}/shoes"), ("/shoes", "200", ""))
    page.refresh_from_db()
    assert (page.url, Pending.objects.get().operation) == (f"{SITE}/shoes", "change")
    crawl(project, tmp_path, *others, ("/boots", "200", ""), ("/shoes", "404", ""))
    page.refresh_from_db()
    assert (page.url, page.status, project.pages.count()) == (f"{SITE}/boots", "live", 3)
    assert (pair(link), pair(accepted)) == (("/donor", "/boots", "exported"), ("/boots", "/socks", "accepted"))
    assert not Pending.objects.exists()
    assert PublishedLink.objects.get().acceptor_was == ""
    crawl(project, tmp_path, *others, ("/boots", "200", ""), ("/shoes", "404", ""))
    assert project.pages.count() == 3


@pytest.mark.nightly
def test_a_link_released_at_the_new_address_is_changed_when_its_page_moves_back(project, link, tmp_path):
    crawl(project, tmp_path, ("/donor", "200", ""), ("/boots", "301", f"{SITE}/shoes"), ("/shoes", "200", ""))
    release_of(project)
    crawl(project, tmp_path, ("/donor", "200", ""), ("/boots", "200", ""), ("/shoes", "404", ""))
    assert PublishedLink.objects.get().acceptor_was == f"{SITE}/shoes"
    assert Pending.objects.get().operation == "change"


@pytest.mark.nightly
def test_a_page_keeps_its_words_while_it_answers_with_an_error(project, tmp_path):
    crawl(project, tmp_path, ("/boots", "200", ""), ("/socks", "200", ""))
    file = tmp_path / "pages.csv"
    file.write_text(f"Address,Title 1,H1-1,Status Code\n{SITE}/boots,Not found,,404\n{SITE}/socks,Socks,Socks,200\n")
    services.import_file(project, "pages", file, allow_shrink=True)
    titles = dict(project.pages.values_list("url", "title"))
    assert titles == {f"{SITE}/boots": "/boots words", f"{SITE}/socks": "Socks"}
