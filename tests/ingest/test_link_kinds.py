"""An import says how many links of which kind it found, with examples, and its page leads to a rule for each."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from ingest import services
from ingest.kinds.links import examples
from ingest.kinds.links.report import LinksReport
from linker.models import LinkRule, Page, Run, RunKind, RunStatus
from linker.reports.link_kinds import NAMES, link_kinds
from tests.factories import make_page
from tests.ingest.files import LINK_HEADER, SITE, link, write

pytestmark = pytest.mark.django_db

HOSTILE = '<script>alert("x")</script>'
PATHS = ("/", "/tag/tents/", "/a", "/b", "/c")
ROWS = (
    link("/", "/a", "from home"),
    link("/tag/tents/", "/b", "from the tag"),
    link("/a", "/b", HOSTILE),
    link("/b", "/c", "read more"),
    link("/c", "/a", "side", position="Sidebar"),
    link("/c", "/b", "menu", position="Navigation"),
    link("/c", "/b", "foot", position="Footer"),
    link("/b", "/a", "listed", position="List"),
)


@pytest.fixture
def pages(project, redis_server) -> dict[str, Page]:
    return {path: make_page(project, path, title=f"Page {path}") for path in PATHS}


def load(project, tmp_path, *rows) -> Run:
    path = write(tmp_path / "all_inlinks.csv", LINK_HEADER, rows)
    report = services.import_file(project, "links", path, skipped_file=tmp_path / "skipped.csv")
    stored = LinksReport.from_json(report).to_json()
    return Run.objects.create(
        project=project, kind=RunKind.IMPORT_LINKS, status=RunStatus.SUCCEEDED, params={}, report=stored
    )


def kinds(run: Run) -> dict[str, tuple[int, list[tuple[str, str, str]]]]:
    return {
        shown.kind.group.value: (
            shown.kind.links,
            [(one.link.source[len(SITE) :], one.link.words, one.link.target[len(SITE) :]) for one in shown.examples],
        )
        for shown in link_kinds(run)
    }


def page_of(client, run: Run) -> str:
    answer = client.get(f"/p/{run.project.slug}/runs/{run.pk}/")
    assert answer.status_code == 200
    return answer.content.decode()


def test_links_are_counted_by_kind_with_examples(project, pages, tmp_path):
    LinkRule.objects.create(project=project, words="read more", counts_as="list")
    run = load(project, tmp_path, *ROWS)
    assert kinds(run) == {
        "text": (1, [("/a", HOSTILE, "/b")]),
        "role": (2, [("/", "from home", "/a"), ("/tag/tents/", "from the tag", "/b")]),
        "list": (2, [("/b", "listed", "/a")]),
        "aside": (1, [("/c", "side", "/a")]),
        "navigation": (1, [("/c", "", "/b")]),
        "footer": (1, [("/c", "", "/b")]),
        "rule": (1, [("/b", "read more", "/c")]),
    }
    again = load(project, tmp_path, *ROWS)
    assert kinds(again) == kinds(run)


def test_examples_are_ten_and_from_many_pages(project, tmp_path, redis_server):
    paths = [f"/article/{n}" for n in range(15)]
    for path in paths:
        make_page(project, path)
    rows = [link(one, other, f"to {other}") for one in paths for other in paths if one != other]
    links, found = kinds(load(project, tmp_path, *rows))["text"]
    assert (links, len(found), len({source for source, *_ in found})) == (210, 10, 10)


def test_a_kind_that_few_pages_have_is_looked_for(project, pages, tmp_path, monkeypatch):
    monkeypatch.setattr(examples, "PAGES", 1)
    found = kinds(load(project, tmp_path, *ROWS))
    assert found["footer"] == (1, [("/c", "", "/b")])
    assert all(links == len(drawn) for links, drawn in found.values())


def test_the_page_of_the_run_shows_them_and_leads_to_rules(project, pages, tmp_path, client_for, manager, editor):
    run = load(project, tmp_path, *ROWS)
    shown = page_of(client_for(manager), run)
    assert HOSTILE not in shown
    assert "&lt;script&gt;" in shown
    assert all(str(NAMES[kind.kind.group]) in unescape(shown) for kind in link_kinds(run))
    led = [unescape(one) for one in re.findall(r'href="([^"]*/settings/links/\?[^"]*)"', shown)]
    asked = [parse_qs(urlsplit(one).query) for one in led]
    assert {"words": [HOSTILE], "read_as": ["text"], "counts_as": ["list"]} in asked
    home = r"^https://shop\.example/?$"
    assert {"words": ["from home"], "source_pattern": [home], "read_as": ["text"], "counts_as": ["text"]} in asked
    assert {"words": ["side"], "read_as": ["aside"], "counts_as": ["text"]} in asked
    form = client_for(manager).get(led[[one.get("words") for one in asked].index([HOSTILE])])
    assert form.status_code == 200
    assert HOSTILE not in form.content.decode()
    theirs = page_of(client_for(editor), run)
    assert "&lt;script&gt;" in theirs
    assert "/settings/links/?" not in theirs


def test_strangers_do_not_see_them(project, pages, tmp_path, client_for, outsider):
    run = load(project, tmp_path, *ROWS)
    assert client_for(outsider).get(f"/p/{project.slug}/runs/{run.pk}/").status_code == 404


def test_a_fetch_shows_those_of_the_import_after_it(project, pages, tmp_path, client_for, manager):
    fetch = Run.objects.create(project=project, kind=RunKind.FETCH, status=RunStatus.SUCCEEDED, params={})
    assert link_kinds(fetch) == []
    run = load(project, tmp_path, *ROWS)
    Run.objects.filter(pk=run.pk).update(follows=fetch)
    assert kinds(fetch) == kinds(run)
    assert 'id="link-kinds"' in page_of(client_for(manager), fetch)
    run.refresh_from_db()
    Run.objects.filter(pk=run.pk).update(report={name: run.report[name] for name in run.report if name != "kinds"})
    assert 'id="link-kinds"' not in page_of(client_for(manager), fetch)
