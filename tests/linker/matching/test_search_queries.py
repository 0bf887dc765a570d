"""The queries of a run's targets: the heaviest of each page, and what becomes of them in a match."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from ingest import services as ingest
from ingest.folder import SAMPLE, find_crawl
from linker.engine.anchors.search_queries import Query
from linker.engine.params import MatchParams, Ranking
from linker.matching.search_queries import target_queries
from linker.matching.start import run_match
from linker.models import Project, RunKind, RunStatus, SearchQuery
from linker.runs import lifecycle
from tests.factories import embed, make_model, make_page, make_project

pytestmark = pytest.mark.django_db


def add(page, query, source="search_console", **numbers):
    return SearchQuery.objects.create(page=page, query=query, source=source, **numbers)


def test_weights_are_shares_of_all_the_page_s_impressions_and_only_the_heaviest_come(project):
    page = make_page(project)
    for n in range(1, 21):
        add(page, f"query {n:02}", impressions=n)
    found = target_queries([page.pk])[page.pk]
    assert [(query.text, query.impressions) for query in found] == [(f"query {n}", n) for n in range(20, 10, -1)]
    assert found[0].weight == pytest.approx(20 / 210)


def test_importance_and_impressions_count_half_each(project):
    page = make_page(project)
    add(page, "tents", impressions=75)
    add(page, "cheap tents", impressions=25)
    add(page, "tents", "joil", importance=2.0)
    add(page, "family tents", "joil", importance=8.0)
    assert target_queries([page.pk])[page.pk] == [
        Query("tents", pytest.approx((0.75 + 0.2) / 2), 75),
        Query("family tents", pytest.approx(0.4), None),
        Query("cheap tents", pytest.approx(0.125), 25),
    ]


def test_without_numbers_all_weigh_the_same_and_go_by_their_text(project):
    page = make_page(project)
    for text in ("b", "a", "Z"):
        add(page, text)
    assert target_queries([page.pk])[page.pk] == [Query(text, pytest.approx(1 / 3)) for text in ("Z", "a", "b")]


def test_one_question_for_all_pages_and_none_for_a_page_without_queries(project):
    pages = [make_page(project) for _ in range(5)]
    for page in pages[:4]:
        add(page, "tents", impressions=0)
    with CaptureQueriesContext(connection) as asked:
        found = target_queries([page.pk for page in pages])
    assert sorted(found) == sorted(page.pk for page in pages[:4])
    assert sum("DECLARE" in entry["sql"] for entry in asked) == 1


@pytest.mark.parametrize(
    "fields", [{"query": ""}, {"source": "rumour"}, {"importance": -1.0}], ids=["empty", "source", "importance"]
)
def test_the_database_refuses_what_no_import_may_write(project, fields):
    with pytest.raises(IntegrityError), transaction.atomic():
        SearchQuery.objects.create(page=make_page(project), **{"query": "tents", "source": "joil"} | fields)


def test_a_blend_outside_of_0_to_1_is_refused(project):
    with pytest.raises(IntegrityError), transaction.atomic():
        Project.objects.filter(pk=project.pk).update(query_blend=1.2)


@pytest.fixture
def site(project):
    """Five pages that all want to link to the first; no page has a text."""
    model = make_model()
    pages = [make_page(project, f"/{n}", title=f"Topic number {n}") for n in range(6)]
    for n, page in enumerate(pages):
        embed(page, [1.0, 0.01 * n, 0.0, 0.0], model)
    return pages


def match(project, ranking=Ranking.COSINE) -> None:
    params = MatchParams(ranking=ranking, levels_up=9)
    run = lifecycle.start_run(project, RunKind.MATCH, params.to_dict(), to_queue=False)
    run.status = RunStatus.RUNNING
    run.save()
    run_match(run)


@pytest.mark.parametrize(
    ("blend", "first", "others"), [(0.0, "h1", set()), (0.3, "h1", {"query"}), (1.0, "query", {"h1"})]
)
def test_the_project_s_setting_says_how_much_queries_weigh(project, site, blend, first, others):
    Project.objects.filter(pk=project.pk).update(query_blend=blend)
    project.refresh_from_db()
    add(site[0], "how to do it", impressions=1200)
    match(project)
    edge = project.edges.filter(target=site[0]).order_by("-score", "id").first()
    assert edge.anchor_source == first
    assert {other["source"] for other in edge.anchor_alternatives} == others
    if blend == 0.3:
        assert edge.anchor_alternatives == [
            {"text": "how to do it", "source": "query", "raw": "how to do it", "impressions": 1200}
        ]


@pytest.mark.nightly
def test_from_the_sample_s_files_to_an_anchor_that_people_searched_for():
    crawl = find_crawl(SAMPLE)
    project = make_project("fernpeak", base_url=crawl.base_url)
    ingest.import_file(project, "pages", crawl.pages)
    report = ingest.import_file(project, "queries", crawl.queries)
    assert (report["rows"], report["queries"], report["query_pages"], report["skipped"]) == (652, 652, 234, {})
    model = make_model()
    pages = list(project.pages.filter(indexable=True, url__contains="/shop/p/").order_by("pk")[:12])
    for n, page in enumerate(pages):
        embed(page, [1.0, 0.01 * n, 0.0, 0.0], model)
    match(project)
    offered = [other["source"] for edge in project.edges.all() for other in edge.anchor_alternatives]
    assert "query" in offered
    Project.objects.filter(pk=project.pk).update(query_blend=1.0)
    project.refresh_from_db()
    match(project)
    queries = project.edges.filter(anchor_source="query")
    assert queries.exists()
    assert all("fernpeak" not in edge.anchor.lower() for edge in queries)
    assert all(SearchQuery.objects.filter(page=edge.target, query__iexact=edge.anchor).exists() for edge in queries)


@pytest.mark.parametrize(("blend", "anchor"), [(0.0, "snow boots"), (0.3, "snow boots"), (1.0, "winter footwear")])
def test_the_setting_holds_for_words_of_a_text_that_the_engine_found(project, blend, anchor):
    Project.objects.filter(pk=project.pk).update(query_blend=blend, tier_basis="cosine")
    project.refresh_from_db()
    model = make_model()
    texts = {"Snow boots": "All about them.", "Care": "Put on your snow boots, which are winter footwear, and go out."}
    pages = [make_page(project, f"/{title}", title=title, h1=title, body=body) for title, body in texts.items()]
    for n, page in enumerate(pages):
        embed(page, [1.0, 0.01 * n, 0.0, 0.0], model)
    add(pages[0], "winter footwear", impressions=900)
    match(project, Ranking.FORMULA)
    edge = project.edges.get(source=pages[1], target=pages[0])
    assert (edge.anchor, edge.placement) == (anchor, "inline")
    assert anchor in pages[1].body[edge.span_start : edge.span_end]


def test_queries_take_no_good_words_out_of_the_text(project):
    """Words weigh less beside queries; they are as likely to be approved as before."""
    project.tiers.filter(basis="probability").exclude(name="Likely").delete()
    project.tiers.filter(basis="probability").update(lower_bound=0.3)
    model = make_model()
    texts = {"Snow boots": "All about them.", "Care": "Put on your snow boots, which are winter footwear, and go out."}
    pages = [make_page(project, f"/{title}", title=title, h1=title, body=body) for title, body in texts.items()]
    for n, page in enumerate(pages):
        embed(page, [1.0, 0.01 * n, 0.0, 0.0], model)
    match(project, Ranking.FORMULA)
    plain = project.edges.get(source=pages[1], target=pages[0])
    add(pages[0], "shoes for the cold", impressions=900)
    match(project, Ranking.FORMULA)
    blended = project.edges.get(source=pages[1], target=pages[0])
    assert (plain.placement, blended.placement) == ("inline", "inline")
    assert blended.probability == plain.probability
