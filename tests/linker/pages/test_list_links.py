"""Links of home pages, lists and utility pages are no editor's, unless the project says so or a sentence has them."""

from __future__ import annotations

import pytest

from ingest import services
from ingest.kinds.links.reread import run_read_links
from linker.engine.roles.policy import USUAL, Gives, PageRole, RoleLinks
from linker.models import Block, CountsBy, ExistingLink, LinkRule, Page, Run, RunKind
from linker.models.linked import TEXT_LINK
from linker.models.querysets import ORPHAN
from linker.pages.list_links import in_sentences, settle_list_links
from linker.pages.roles import find_roles, run_find_roles
from linker.projects.policies import roles as policies
from linker.runs import lifecycle
from linker.storage.site_figures import site_figures
from tests.factories import make_link, make_page
from tests.ingest.files import LINK_HEADER, SITE, link, write

pytestmark = pytest.mark.django_db

PATHS = ("/", "/tag/tents/", "/contact/", "/a", "/b", "/c")
ROWS = (
    *(link("/", path, f"to {path}") for path in ("/a", "/b", "/contact/")),
    *(link("/tag/tents/", path, f"Page {path}") for path in ("/a", "/b", "/c")),
    link("/contact/", "/a", "our guide"),
    link("/a", "/b", "in a sentence"),
    link("/b", "/tag/tents/", "tents"),
)


@pytest.fixture
def pages(project, redis_server) -> dict[str, Page]:
    return {path: make_page(project, path, title=f"Page {path}") for path in PATHS}


def load(project, tmp_path, *rows):
    path = write(tmp_path / "all_inlinks.csv", LINK_HEADER, rows)
    return services.import_file(project, "links", path, skipped_file=tmp_path / "skipped.csv")


def in_texts() -> set[tuple[str, str]]:
    links = ExistingLink.objects.filter(TEXT_LINK).select_related("source", "target")
    return {(one.source.url[len(SITE) :], one.target.url[len(SITE) :]) for one in links}


def counts() -> dict[str, tuple[int, int]]:
    return {page.url[len(SITE) :]: (page.outlinks, page.inlinks) for page in Page.objects.all()}


def roles() -> dict[str, str]:
    return {page.url[len(SITE) :]: page.role_in_force for page in Page.objects.all()}


OF_EDITORS = {("/a", "/b"), ("/b", "/tag/tents/")}
COUNTED = {
    "/": (0, 0),
    "/tag/tents/": (0, 1),
    "/contact/": (0, 0),
    "/a": (1, 0),
    "/b": (1, 1),
    "/c": (0, 0),
}


def test_links_of_lists_in_a_file_are_no_editors(project, pages, tmp_path):
    report = load(project, tmp_path, *ROWS)
    assert {path: role for path, role in roles().items() if role != "article"} == {
        "/": "home",
        "/tag/tents/": "hub",
        "/contact/": "utility",
    }
    assert in_texts() == OF_EDITORS
    assert counts() == COUNTED
    assert (report["links"], report["body"], report["template"], report["by_roles"]) == (9, 2, 7, 7)
    assert report["links_by_block"] == {Block.CONTENT: 2, Block.LIST: 7}
    orphans = Page.objects.filter(ORPHAN)
    assert {page.url[len(SITE) :] for page in orphans} == {"/a", "/c"}


def test_the_same_file_twice_changes_nothing(project, pages, tmp_path):
    load(project, tmp_path, *ROWS)
    before = list(ExistingLink.objects.order_by("pk").values_list("pk", "block", "read_block", "counts_by"))
    known = roles()
    report = load(project, tmp_path, *ROWS)
    assert (report["new"], report["seen_before"], report["missing"], report["roles_changed"]) == (0, 9, 0, 0)
    assert (report["body"], report["by_roles"]) == (2, 7)
    assert list(ExistingLink.objects.order_by("pk").values_list("pk", "block", "read_block", "counts_by")) == before
    assert (counts(), roles()) == (COUNTED, known)


def test_what_a_role_rests_on_stays_as_it_was_read(project, tmp_path, redis_server):
    """A page is a hub for its many links, which are links of a list once it is one."""
    hub = make_page(project, "/guides", title="Guides", body="\n".join(f"Guide {n}" for n in range(8)), word_count=16)
    rows = [(make_page(project, f"/guides/{n}", title=f"Guide {n}"), f"Guide {n}") for n in range(8)]
    load(project, tmp_path, *(link("/guides", f"/guides/{n}", words) for n, (_, words) in enumerate(rows)))
    hub.refresh_from_db()
    assert (hub.role, hub.outlinks) == ("hub", 0)
    why = hub.role_why
    for _ in range(2):
        assert find_roles(project)["roles_changed"] == 0
        hub.refresh_from_db()
        assert (hub.role, hub.role_why, hub.outlinks) == ("hub", why, 0)


def test_a_rule_for_links_goes_before_the_role_of_the_page(project, pages, tmp_path):
    rule = LinkRule.objects.create(project=project, source_pattern="/tag/", target_pattern="/c$", counts_as="text")
    report = load(project, tmp_path, *ROWS)
    assert in_texts() == OF_EDITORS | {("/tag/tents/", "/c")}
    assert (report["body"], report["by_roles"], counts()["/c"]) == (3, 6, (0, 1))
    assert load(project, tmp_path, *ROWS)["by_roles"] == 6
    assert in_texts() == OF_EDITORS | {("/tag/tents/", "/c")}
    find_roles(project)
    assert in_texts() == OF_EDITORS | {("/tag/tents/", "/c")}
    rule.delete()
    run_read_links(lifecycle.start_run(project, RunKind.LINKS, {}, to_queue=False))
    assert (in_texts(), counts()) == (OF_EDITORS, COUNTED)


def test_a_rule_does_not_make_a_page_a_list(project, pages, tmp_path):
    LinkRule.objects.create(project=project, words="in a sentence", counts_as="list")
    load(project, tmp_path, *ROWS)
    assert roles()["/a"] == "article"


def test_a_role_that_gives_links_has_links_of_editors(project, pages, tmp_path, manager):
    load(project, tmp_path, *ROWS)
    chosen = {**USUAL, PageRole.HOME: RoleLinks(Gives.YES, USUAL[PageRole.HOME].receives)}
    assert policies.set_role_links(project, chosen, manager) is None
    assert in_texts() == OF_EDITORS | {("/", "/a"), ("/", "/b"), ("/", "/contact/")}
    assert counts()["/"] == (3, 0)
    assert counts()["/a"] == (1, 1)
    assert counts()["/b"] == (1, 2)
    assert site_figures(project).body_links == len(in_texts())
    policies.reset_role_links(project, manager)
    assert (in_texts(), counts()) == (OF_EDITORS, COUNTED)
    assert site_figures(project).body_links == len(OF_EDITORS)


def test_a_role_by_hand_counts_at_once(project, pages, tmp_path, manager):
    load(project, tmp_path, *ROWS)
    policies.set_page_role(pages["/tag/tents/"], PageRole.ARTICLE, manager)
    assert in_texts() == OF_EDITORS | {("/tag/tents/", path) for path in ("/a", "/b", "/c")}
    assert (counts()["/tag/tents/"], counts()["/c"], counts()["/b"]) == ((3, 1), (0, 1), (1, 2))
    policies.set_page_role(pages["/tag/tents/"], None, manager)
    policies.set_page_role(pages["/a"], PageRole.HUB, manager)
    assert in_texts() == OF_EDITORS - {("/a", "/b")}


def test_on_a_large_site_a_run_follows(project, pages, tmp_path, manager, monkeypatch):
    load(project, tmp_path, *ROWS)
    monkeypatch.setattr(policies, "ROLES_AT_ONCE", 3)
    chosen = {**USUAL, PageRole.HOME: RoleLinks(Gives.YES, USUAL[PageRole.HOME].receives)}
    run = policies.set_role_links(project, chosen, manager)
    assert in_texts() == OF_EDITORS
    run_find_roles(Run.objects.get(pk=run.pk), lifecycle.no_progress)
    assert ("/", "/a") in in_texts()
    assert site_figures(project).body_links == len(in_texts())


def test_a_pair_that_another_link_connects_counts_on(project, pages):
    hub, target = pages["/tag/tents/"], pages["/c"]
    Page.objects.filter(pk=hub.pk).update(role="hub", outlinks=1)
    Page.objects.filter(pk=target.pk).update(inlinks=1)
    kept = make_link(hub, target, "by a rule")
    ExistingLink.objects.filter(pk=kept.pk).update(counts_by=CountsBy.RULE)
    make_link(hub, target, "other words")
    settled = settle_list_links(project)
    assert (settled.to_lists, settled.back) == (1, 0)
    assert counts()["/c"] == (0, 1)


BODY = """Welcome
Tents
We walked for a week with the ultralight tent and would take it again, whatever the weather.
Boots, 3 May"""


def test_links_in_sentences_of_a_list_are_editors(project, pages):
    home = pages["/"]
    Page.objects.filter(pk=home.pk).update(role="home", body=BODY)
    said = {"Tents": "/tag/tents/", "ultralight tent": "/a", "Boots": "/b"}
    for words, path in said.items():
        one = make_link(home, pages[path], words)
        ExistingLink.objects.filter(pk=one.pk).update(place=BODY.index(words))
    make_link(home, pages["/c"], "without a place")
    assert settle_list_links(project).to_lists == 3
    assert in_texts() == {("/", "/a")}
    Page.objects.filter(pk=home.pk).update(body="ultralight tent")
    assert settle_list_links(project).to_lists == 1
    assert in_texts() == set()


def test_a_line_of_many_links_is_no_sentence():
    line = ", ".join(f"a rather long name of page number {n}" for n in range(9))
    places = [line.index(f"a rather long name of page number {n}") for n in range(9)]
    anchors = [f"a rather long name of page number {n}" for n in range(9)]
    assert in_sentences(line, list(range(9)), places, anchors) == []
    assert in_sentences("other words", [1], [3], ["elsewhere"]) == []
