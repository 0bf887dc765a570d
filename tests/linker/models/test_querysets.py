"""What counts as what: each rule says what it is meant to, and says the same to the ORM, in SQL and of a row."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from linker.models import Block, CandidateEdge, EdgeStatus, ExistingLink, Page, PageEmbedding, PageStatus
from linker.models import linked as of_links
from linker.models import querysets as rules
from linker.models.querysets import PRESENT, holds, of, sql
from tests.factories import embed, make_edge, make_page

pytestmark = pytest.mark.django_db

# What each rule is meant to say, written a second time on purpose.
OF_PAGES = {
    "PRESENT": lambda page: page.missing_since is None,
    "MISSING": lambda page: page.missing_since is not None,
    "LIVE_STATUS": lambda page: page.status == "live",
    "LIVE": lambda page: page.missing_since is None and page.status == "live",
    "ANSWERED_200": lambda page: page.status_code in (None, 200),
    "ANSWERING": lambda page: page.status_code in (None, 200) and not page.redirect_url,
    "EMBEDDABLE": lambda page: page.missing_since is None and page.status == "live" and page.status_code in (None, 200),
    "LINKABLE": lambda page: (
        page.missing_since is None
        and page.status == "live"
        and page.status_code in (None, 200)
        and not page.redirect_url
    ),
    "GIVES": lambda page: (
        page.missing_since is None
        and page.status == "live"
        and page.status_code in (None, 200)
        and not page.redirect_url
    ),
    "RECEIVES": lambda page: (
        page.missing_since is None
        and page.status == "live"
        and page.status_code in (None, 200)
        and not page.redirect_url
        and page.indexable
    ),
    "LEFT": lambda page: page.missing_since is None and page.status != "live",
    "INDEXABLE": lambda page: page.missing_since is None and page.status == "live" and page.indexable,
    "NOT_INDEXABLE": lambda page: page.missing_since is None and page.status == "live" and not page.indexable,
    "FOUND_BY_TEXT": lambda page: page.role_in_force in ("article", "product", "event", "thin"),
    "ORPHAN": lambda page: (
        page.missing_since is None
        and page.status == "live"
        and page.indexable
        and page.role_in_force not in ("home", "hub", "utility")
        and page.inlinks == 0
    ),
}
OF_EDGES = {
    "UNDECIDED": lambda edge: edge.status == "suggested",
    "DECIDED": lambda edge: edge.status != "suggested",
    "APPROVED": lambda edge: edge.status in ("accepted", "exported"),
    "ACCEPTED": lambda edge: edge.status == "accepted",
    "WAITING": lambda edge: edge.status == "accepted" and edge.waits,
    "SEEN_ONCE": lambda edge: edge.status == "accepted" and not edge.waits and edge.second_by_id is None,
    "REOPENED": lambda edge: edge.regressed,
    "OUT": lambda edge: edge.status == "exported" or edge.regressed,
    "ONCE_APPROVED": lambda edge: edge.status in ("accepted", "exported", "withdrawn"),
    "REFUSED": lambda edge: edge.status in ("rejected", "withdrawn"),
    "PROPOSED": lambda edge: not edge.stale,
    "STALE": lambda edge: edge.stale,
    "OPEN": lambda edge: edge.status == "suggested" and not edge.stale,
    "NOT_OPEN": lambda edge: edge.status != "suggested" or edge.stale,
    "ACTIVE": lambda edge: edge.status in ("accepted", "exported") or (edge.status == "suggested" and not edge.stale),
    "SHOWN": lambda edge: edge.tier is not None and not edge.tier.held,
    "HIDDEN": lambda edge: edge.tier is None or edge.tier.held,
    "TO_REVIEW": lambda edge: (
        edge.status == "suggested" and not edge.stale and edge.tier is not None and not edge.tier.held
    ),
    "HELD": lambda edge: edge.status == "suggested" and not edge.stale and (edge.tier is None or edge.tier.held),
}
OF_LINKS = {
    "TEXT_LINK": lambda link: link.missing_since is None and link.block == Block.CONTENT,
    "LIST_LINK": lambda link: link.missing_since is None and link.block == Block.LIST,
    "BESIDE_LINK": lambda link: (
        link.missing_since is None
        and link.block in (Block.LIST, Block.ASIDE, Block.HEADER, Block.NAVIGATION, Block.UNKNOWN)
    ),
    "IN_BODY": lambda link: link.missing_since is None and link.block in (Block.CONTENT, Block.LIST),
    "ASIDE_LINK": lambda link: link.missing_since is None and link.block == Block.ASIDE,
}
GONE = [None, timezone.now()]


def rule_of(name: str) -> Q:
    return getattr(of_links if name in OF_LINKS else rules, name)


def selected(query: str) -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return {row for (row,) in cursor.fetchall()}


@pytest.fixture
def pages(project):
    """One page of every kind that the rules tell apart."""
    kinds = itertools.product(PageStatus.values, GONE, [None, 200, 404], ["", "https://shop.example/"], [True, False])
    names = ("status", "missing_since", "status_code", "redirect_url", "indexable")
    rows = [
        Page(
            project=project,
            url=f"/{kind}/{n}",
            canonical_url=f"/{number}/{n}",
            inlinks=inlinks,
            role=role,
            **dict(zip(names, kind, strict=True)),
        )
        for number, kind in enumerate(kinds)
        for n, (inlinks, role) in enumerate(((0, "article"), (3, "article"), (0, "hub")))
    ]
    Page.objects.bulk_create(rows)
    return list(Page.objects.filter(project=project))


@pytest.fixture
def edges(project):
    held, shown = project.tiers.filter(held=True).first(), project.tiers.filter(held=False).first()
    source = make_page(project)
    return [
        make_edge(
            project,
            source,
            status=status,
            stale=stale,
            tier=tier,
            waits=status == "accepted" and stale,
            regressed=status in ("suggested", "rejected") and not stale,
        )
        for status, stale, tier in itertools.product(EdgeStatus.values, [True, False], [None, held, shown])
    ]


@pytest.fixture
def links(project):
    source = make_page(project)
    rows = [
        ExistingLink(
            project=project,
            source=source,
            target=make_page(project),
            anchor="",
            block=block,
            missing_since=gone,
        )
        for block, gone in itertools.product(Block, GONE)
    ]
    return ExistingLink.objects.bulk_create(rows)


# ------------------------------------------------------------------------------------------------------- the rules


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", OF_PAGES)
def test_a_rule_about_pages_has_one_meaning(pages, name):
    rule, meant = rule_of(name), OF_PAGES[name]
    wanted = {page.pk for page in pages if meant(page)}
    assert 0 < len(wanted) < len(pages)
    assert set(Page.objects.filter(rule).values_list("pk", flat=True)) == wanted
    assert selected(f"SELECT id FROM linker_page WHERE {sql(rule)} AND true") == wanted
    assert selected(f"SELECT p.id FROM linker_page p WHERE {sql(rule, 'p')} AND true") == wanted
    assert {page.pk for page in pages if holds(rule, page)} == wanted


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", OF_EDGES)
def test_a_rule_about_edges_has_one_meaning(edges, name):
    rule, meant = rule_of(name), OF_EDGES[name]
    wanted = {edge.pk for edge in edges if meant(edge)}
    assert 0 < len(wanted) < len(edges)
    assert set(CandidateEdge.objects.filter(rule).values_list("pk", flat=True)) == wanted
    rows = "linker_candidateedge e LEFT JOIN linker_tier t ON t.id = e.tier_id"
    assert selected(f"SELECT e.id FROM {rows} WHERE {sql(rule, 'e', tier='t')} AND true") == wanted
    assert {edge.pk for edge in edges if holds(rule, edge)} == wanted


@pytest.mark.parametrize("name", OF_LINKS)
def test_a_rule_about_links_has_one_meaning(links, name):
    rule, meant = rule_of(name), OF_LINKS[name]
    wanted = {link.pk for link in links if meant(link)}
    assert wanted
    assert set(ExistingLink.objects.filter(rule).values_list("pk", flat=True)) == wanted
    assert selected(f"SELECT l.id FROM linker_existinglink l WHERE {sql(rule, 'l')} AND true") == wanted
    assert {link.pk for link in links if holds(rule, link)} == wanted


def test_every_rule_is_among_those_that_are_checked():
    named = {name for name in vars(rules) if name.isupper() and isinstance(getattr(rules, name), Q)}
    assert named == {*OF_PAGES, *OF_EDGES}
    named = {name for name in vars(of_links) if name.isupper() and isinstance(getattr(of_links, name), Q)}
    assert named - {"PRESENT"} == {*OF_LINKS}


@pytest.mark.parametrize("status", EdgeStatus.values)
def test_an_edge_is_undecided_approved_or_refused(status):
    edge = SimpleNamespace(status=status)
    assert sum(holds(rule, edge) for rule in (rules.UNDECIDED, rules.APPROVED, rules.REFUSED)) == 1


def test_an_edge_says_itself_whether_it_is_held(edges):
    held = set(CandidateEdge.objects.filter(rules.HELD).values_list("pk", flat=True))
    assert {edge.pk for edge in edges if edge.is_held} == held
    assert any(edge.stale and edge.status == "suggested" and edge.tier is None for edge in edges)


def test_a_rule_can_be_asked_of_a_related_row(project):
    here, gone = make_page(project), make_page(project, missing_since=timezone.now())
    vectors = {page.pk: embed(page, [1, 0, 0, 0]).pk for page in (here, gone)}
    assert list(PageEmbedding.objects.filter(of("page", PRESENT)).values_list("pk", flat=True)) == [vectors[here.pk]]
    assert list(PageEmbedding.objects.filter(of("page", ~PRESENT)).values_list("pk", flat=True)) == [vectors[gone.pk]]


def test_text_is_quoted(project):
    make_page(project, title="Bob's tents")
    assert selected(f"SELECT count(*) FROM linker_page WHERE {sql(Q(title='Bob' + chr(39) + 's tents'))}") == {1}
