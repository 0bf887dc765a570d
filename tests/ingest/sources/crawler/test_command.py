"""An address in, pages and links in the database."""

from __future__ import annotations

import ipaddress
import os
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from ingest.management.commands.demo import allow_site
from ingest.models import SiteSource
from ingest.sources.outgoing import Rules
from linker.errors import UserError
from linker.models import Block, ExistingLink, Page, Run, RunKind
from tests.factories import make_page, make_project
from tests.ingest.sources.crawler.sites import Reply, page, redirect, served

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    settings.FETCH_ROOT, settings.VAR = tmp_path / "fetched", tmp_path
    settings.OUTGOING_ALLOW = (ipaddress.ip_network("127.0.0.0/8"),)


def crawl_site(*args: str) -> str:
    out = StringIO()
    call_command("crawl_site", *args, "--pages-a-second", "200", stdout=out)
    return out.getvalue()


def test_a_site_is_crawled_and_imported_by_one_command():
    replies = {"/": page("Home", "/tents", "/stoves"), "/tents": page("Tents", "/stoves"), "/stoves": page("Stoves")}
    with served(replies) as site:
        project = make_project("shop", base_url=site.base)
        said = crawl_site("shop")
    assert "3 pages were fetched." in said
    assert {(found.title, found.crawl_depth) for found in Page.objects.all()} == {
        ("Home", 0),
        ("Tents", 1),
        ("Stoves", 1),
    }
    tents = Page.objects.get(title="Tents")
    assert "Here is more on the page /stoves of the site." in tents.body
    link = ExistingLink.objects.get(source=tents, target__title="Stoves")
    assert link.anchor == "the page /stoves"
    assert tents.body[link.place :].startswith("the page /stoves")
    assert SiteSource.objects.get(project=project).name == "Crawl"
    kinds = list(Run.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds[:3] == [RunKind.FETCH, RunKind.IMPORT_PAGES, RunKind.IMPORT_LINKS]
    assert not {RunKind.EMBED, RunKind.MATCH} & set(kinds)  # the command does no more than it says


@pytest.mark.nightly
def test_links_of_a_page_that_lists_others_are_not_links_in_a_text_and_the_page_is_a_hub():
    names = [f"/{word}" for word in ("tents", "stoves", "maps", "boots", "ropes", "tarps")]
    items = "".join(f'<li>3. 5. 2015 <a href="{name}">All about {name[1:]} on the hill</a></li>' for name in names)
    archive = Reply(f"<html><body><main><h1>Archive</h1><ul>{items}</ul></main></body></html>")
    replies = {"/": page("Home", "/notes"), "/notes": archive} | {name: page(name[1:], "/boots") for name in names}
    with served(replies) as site:
        make_project("shop", base_url=site.base)
        crawl_site("shop")
    assert set(ExistingLink.objects.filter(source__title="").values_list("block", flat=True)) == {Block.LIST}
    notes = Page.objects.get(url__endswith="/notes")
    assert (notes.role, notes.outlinks) == ("hub", 0)
    assert Page.objects.get(url__endswith="/maps").inlinks == 0


@pytest.mark.nightly
def test_the_pages_without_text_are_completed_and_nothing_else_is_changed():
    replies = {"/a": page("A of the site", "/b", "/new"), "/b": page("B of the site"), "/new": page("New")}
    with served(replies) as site:
        project = make_project("shop", base_url=site.base)
        a = make_page(project, "/a", title="A as it was", body="")
        b = make_page(project, "/b", title="B as it was", body="A text that is there.")
        gone = make_page(project, "/gone", title="Gone", body="")
        link = ExistingLink.objects.create(
            project=project, source=a, target=b, block=Block.CONTENT, anchor="the page /b", follow=False
        )
        crawl_site("shop", "--texts-only")
        assert site.asked["/b"] == site.asked["/new"] == site.asked["/"] == 0
    for found in (a, b, gone, link):
        found.refresh_from_db()
    assert (a.title, b.title, b.body, gone.missing_since) == (
        "A as it was",
        "B as it was",
        "A text that is there.",
        None,
    )
    assert a.body[link.place : link.place + len(link.anchor)] == link.anchor
    assert (link.follow, link.missing_since, ExistingLink.objects.count()) == (False, None, 1)
    assert Page.objects.count() == 3


@pytest.mark.nightly
def test_pages_without_text_have_the_statuses_that_were_answered_and_none_is_added():
    replies = {
        "/moved": redirect("/new"), "/new": page("New"),
        "/hidden": page("H", head="<meta name=robots content=noindex>"),
        "/copy": page("Copy", head="<link rel=canonical href=/known>"),
    }  # fmt: skip
    with served(replies) as site:
        project = make_project("shop", base_url=site.base)
        make_page(project, "/known", title="Known", body="A text that is there.")
        for path in ("/gone", "/moved", "/hidden", "/copy"):
            make_page(project, path, title=path, body="")
        crawl_site("shop", "--texts-only")
        assert site.asked["/new"] == 0
    found = Page.objects.order_by("pk").values_list(
        "title", "status_code", "indexability_status", "indexable", "status"
    )
    assert list(found) == [
        ("Known", 200, "", True, "live"),
        ("/gone", 404, "Client Error", False, "removed"),
        ("/moved", 301, "Redirected", False, "redirected"),
        ("/hidden", 200, "noindex", False, "live"),
        ("/copy", 200, "Canonicalised", False, "merged"),
    ]


@pytest.mark.nightly
def test_pages_without_text_that_are_all_gone_are_said_to_be():
    with served({}) as site:
        project = make_project("shop", base_url=site.base)
        make_page(project, "/gone", title="Gone", body="")
        crawl_site("shop", "--texts-only")
    assert Page.objects.get().status_code == 404


def test_a_site_that_may_not_be_asked_is_refused_in_a_sentence(settings):
    settings.OUTGOING_ALLOW = ()
    make_project("shop", base_url="http://127.0.0.1:9")
    with pytest.raises(CommandError, match="not on the public internet"):
        crawl_site("shop")


def test_the_demo_allows_the_one_address_that_it_is_given(settings, monkeypatch):
    monkeypatch.setenv("OUTGOING_ALLOW", "10.0.0.0/8")
    settings.OUTGOING_ALLOW = (ipaddress.ip_network("10.0.0.0/8"),)
    assert allow_site("http://127.0.0.1:8080/blog/") == ("http://127.0.0.1:8080", "127.0.0.1:8080")
    assert os.environ["OUTGOING_ALLOW"] == "10.0.0.0/8,127.0.0.1/32"
    assert not Rules.in_force().allows(ipaddress.ip_address("127.0.0.2"))
    with pytest.raises(UserError, match="begins with http"):
        allow_site("file:///etc/passwd")
