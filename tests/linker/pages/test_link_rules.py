"""A manager corrects what links count as, and sees first what that changes."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from ingest.kinds.links.reread import run_read_links
from linker.models import Block, Change, ChangeKind, LinkRule, Page, Run, RunKind
from linker.pages import link_rules
from linker.projects import link_preview
from linker.projects.policies.links import add_link_rule, remove_link_rule
from tests.factories import make_link, make_page, make_project
from tests.linker.projects.test_rule_preview import said, undo_form

pytestmark = pytest.mark.django_db

RULE = {
    "words": "Read more",
    "source_pattern": "",
    "target_pattern": "",
    "read_as": "",
    "counts_as": "list",
    "note": "",
}


@pytest.fixture
def address(project, redis_server) -> str:
    return f"/p/{project.slug}/settings/links/"


@pytest.fixture
def links(project):
    pages = [make_page(project, f"/{name}", title=f"Page {name}") for name in "abc"]
    return [make_link(one, other, "read more") for one in pages for other in pages if one != other]


def work(run: Run):
    return run_read_links(run)


def blocks(project) -> set[int]:
    return {link.block for page in Page.objects.filter(project=project) for link in page.links_out.all()}


def test_a_rule_is_checked_saved_applied_and_taken_back(project, links, address, client_for, manager):
    client = client_for(manager)
    assert "All links count as they were read." in said(client.get(address))
    checked = client.post(address, RULE | {"check": "1"})
    assert "6 links would count otherwise, such as" in said(checked)
    assert "/a → “read more” → /b" in said(checked)
    assert not LinkRule.objects.exists()

    client.post(address, RULE)
    assert "not read yet" in said(client.get(address))
    assert work(Run.objects.get(kind=RunKind.LINKS)).changed == 6
    assert Run.objects.get(kind=RunKind.LINKS).status == "succeeded"
    assert blocks(project) == {Block.LIST}
    shown = client.get(address)
    assert "6 links" in said(shown)

    action, fields = undo_form(shown.content.decode())
    client.post(action, fields)
    work(Run.objects.get(kind=RunKind.LINKS, status="queued"))
    assert blocks(project) == {Block.CONTENT}
    action, fields = undo_form(client.get(address).content.decode())
    client.post(action, fields)
    assert LinkRule.objects.get().words == "Read more"
    log = [(one.subject, bool(one.before), bool(one.after)) for one in Change.objects.filter(kind=ChangeKind.LINKS)]
    assert log == [("“Read more”", False, True), ("“Read more”", True, False), ("“Read more”", False, True)]


def test_words_with_a_star_are_checked_as_they_are_saved(project, links, address, client_for, manager):
    client = client_for(manager)
    assert "6 links would count otherwise" in said(client.post(address, RULE | {"words": "*More", "check": "1"}))
    beside = client.post(address, RULE | {"words": "*More", "read_as": "aside", "check": "1"})
    assert "No link fits it" in said(beside)
    client.post(address, RULE | {"words": "READ*", "read_as": "text"})
    assert work(Run.objects.get(kind=RunKind.LINKS)).changed == 6
    assert "In the text" in said(client.get(address))


def test_only_the_last_rule_comes_back_where_it_was(project, address, client_for, manager):
    first = LinkRule.objects.create(project=project, words="a", counts_as="list")
    LinkRule.objects.create(project=project, words="b", counts_as="list")
    client = client_for(manager)
    client.post(f"{address}{first.pk}/remove/")
    assert 'class="notice undo"' not in client.get(address).content.decode()
    assert "already been removed" in said(client.post(f"{address}{first.pk}/remove/", follow=True))


def test_what_earlier_rules_take_is_not_counted(project, links, address, client_for, manager):
    LinkRule.objects.create(project=project, source_pattern="/a$", counts_as="text")
    client = client_for(manager)
    assert "4 links would count" in said(client.post(address, RULE | {"check": "1"}))
    already = client.post(address, RULE | {"counts_as": "text", "check": "1"})
    assert "the links that it takes count so already" in said(already)
    none = client.post(address, RULE | {"words": "", "source_pattern": "/a", "check": "1"})
    assert "No link fits it" in said(none)


def test_counting_ends_somewhere(project, links, address, client_for, manager, monkeypatch):
    monkeypatch.setattr(link_preview, "MOST", 4)
    shown = said(client_for(manager).post(address, RULE | {"check": "1"}))
    assert "4+ links would count otherwise" in shown


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"source_pattern": "("}, "missing )"),
        ({"target_pattern": "(?:(?:a{1000}){1000}){1000}"}, "RE2"),
        ({"source_pattern": "a" * 301}, "300"),
        ({"words": "a" * 301}, "300"),
        ({"words": " "}, "Fill in an address or words"),
        ({"words": " ", "read_as": "text"}, "Fill in an address or words"),
        ({"words": "* *"}, "Write words beside the *"),
        ({"read_as": "menu"}, "menu"),
        ({"words": "a\0b"}, "Null characters"),
        ({"counts_as": "menu"}, "menu"),
        ({"words": "READ  twice"}, "There is a rule for these links already"),
    ],
)
def test_what_cannot_be_a_rule_is_refused(project, address, client_for, manager, sent, says):
    LinkRule.objects.create(project=project, words="Read twice", counts_as="text")
    answer = client_for(manager).post(address, RULE | sent)
    assert answer.status_code == 422
    assert says in said(answer)
    assert not Run.objects.exists()


def test_a_pattern_that_other_engines_hang_on_is_searched_in_no_time(project, links, address, client_for, manager):
    Page.objects.filter(project=project).update(url="https://shop.example/" + "a" * 3000)
    answer = client_for(manager).post(address, RULE | {"source_pattern": "(a+)+$|(a|aa)+b", "words": "", "check": "1"})
    assert "6 links would count otherwise" in said(answer)


def test_a_project_has_as_many_rules_as_there_are_bits(project, links, address, client_for, manager):
    for number in range(link_rules.MOST_RULES - 1):
        LinkRule.objects.create(project=project, words=f"words {number}", counts_as="text")
    last = add_link_rule(LinkRule(project=project, words="read more", counts_as="list"), manager)
    work(last)
    assert blocks(project) == {Block.LIST}
    answer = client_for(manager).post(address, RULE | {"words": "one more"})
    assert "at most 60 rules" in said(answer)


def test_the_list_of_rules_costs_the_same_however_many_there_are(
    project, links, address, client_for, manager, django_assert_max_num_queries
):
    client = client_for(manager)
    client.get(address)
    for number in range(20):
        LinkRule.objects.create(project=project, words=f"words {number}", counts_as="text", links=number)
    with django_assert_max_num_queries(12):
        client.get(address)


def test_a_rule_that_comes_before_a_run_reads_the_rules_is_read_by_it(project, links, manager, redis_server):
    first = add_link_rule(LinkRule(project=project, words="other", counts_as="list"), manager)
    assert add_link_rule(LinkRule(project=project, words="read more", counts_as="list"), manager) == first
    work(first)
    assert blocks(project) == {Block.LIST}
    assert remove_link_rule(project, LinkRule.objects.last().pk, manager) != first


def test_a_link_on_a_page_leads_to_a_rule_for_it(project, links, address, client_for, manager, editor):
    page = Page.objects.get(project=project, title="Page a")
    shown = client_for(manager).get(f"/p/{project.slug}/pages/{page.pk}/").content.decode()
    led = [unescape(one) for one in re.findall(rf'href="({address}\?[^"]*)"', shown)]
    assert len(led) == 4
    assert parse_qs(urlsplit(led[0]).query) == {
        "words": ["read more"],
        "source_pattern": [r"^https://shop\.example/a$"],
        "target_pattern": [r"^https://shop\.example/b$"],
        "counts_as": ["list"],
    }
    client = client_for(manager)
    form = client.get(led[0]).content.decode()
    assert r'value="^https://shop\.example/a$"' in form
    assert address not in client_for(editor).get(f"/p/{project.slug}/pages/{page.pk}/").content.decode()


@pytest.mark.parametrize("where", ["", "1/remove/"])
@pytest.mark.parametrize("who", ["editor", "outsider"])
def test_only_managers_have_rules_for_links(where, who, project, address, client_for, request):
    client, status = client_for(request.getfixturevalue(who)), {"editor": 403, "outsider": 404}[who]
    assert client.post(f"{address}{where}", RULE).status_code == status
    assert client.get(address).status_code == status
    assert not LinkRule.objects.exists()


def test_a_rule_of_another_project_is_not_removed(project, address, client_for, manager):
    theirs = LinkRule.objects.create(project=make_project("other"), words="a", counts_as="list")
    client_for(manager).post(f"{address}{theirs.pk}/remove/")
    assert LinkRule.objects.filter(pk=theirs.pk).exists()
