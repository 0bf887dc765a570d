"""Sites that lack something: every ranking ends in links that make sense, or says in a sentence what is missing."""

from __future__ import annotations

import math

import pytest
from django.db import DataError

from linker.engine.params import MatchParams, Mode, Ranking
from linker.errors import UserError
from linker.matching.start import run_match
from linker.models import CandidateEdge, Page, PageEmbedding, Project, RunKind
from linker.runs import lifecycle
from tests.factories import embed, make_category, make_link, make_page

pytestmark = pytest.mark.django_db

BODY = "Warm boots are for snow. A good tent is for rain. Read about page number 3 before you go.\n" * 6


def match(project: Project, ranking: Ranking, **params):
    values = MatchParams(ranking=ranking, **params).to_dict()
    run = lifecycle.start_run(project, RunKind.MATCH, values, to_queue=False)
    type(run).objects.filter(pk=run.pk).update(status="running")
    run.refresh_from_db()
    run_match(run)
    run.refresh_from_db()
    assert run.status == "succeeded"
    return run


def pages(
    project: Project, count: int, *, body: str = BODY, category: bool = True, vector=None, **fields
) -> list[Page]:
    found = []
    for number in range(count):
        where = make_category(project, "All", f"Part {number % 3}") if category else None
        named = {"title": f"Page number {number}", "body": body, **fields}
        found.append(make_page(project, f"/{number}", category=where, **named))
        embed(found[-1], vector or [1, number / 10, (number % 4) / 5, 0.1])
    return found


every_ranking = pytest.mark.parametrize("ranking", list(Ranking))


@pytest.mark.nightly
@every_ranking
@pytest.mark.parametrize(
    "site",
    [
        {"count": 1},
        {"count": 2, "category": False},
        {"count": 12, "body": ""},
        {"count": 12, "category": False},
        {"count": 12, "category": False, "body": "", "h1": ""},
        {"count": 12, "title": "The same", "h1": "The same", "vector": [1, 1, 1, 1]},
        {"count": 12, "title": "", "h1": "", "body": "\u200b\n\n"},
        {"count": 12, "body": "= {} ; <script>alert(1)</script> " * 40},
    ],
    ids=["one", "two", "no-text", "no-categories", "nothing-but-titles", "identical", "no-titles", "code"],
)
def test_a_site_that_lacks_something_ends_in_sensible_links(project, ranking, site):
    pages(project, **site)
    run = match(project, ranking)
    edges = list(CandidateEdge.objects.filter(run=run).select_related("source"))
    assert len(edges) == run.report["edges"] <= site["count"] * (site["count"] - 1)
    for edge in edges:
        assert edge.source_id != edge.target_id
        assert math.isfinite(edge.score)
        assert edge.anchor.strip()
        assert edge.why
        if edge.span_start is not None:
            assert edge.source.body[edge.span_start : edge.span_end] == edge.anchor
            assert edge.anchor in edge.sentence
            assert edge.body_hash == edge.source.body_hash
        else:
            assert (edge.sentence, edge.section_heading, edge.body_hash) == ("", "", None)


@pytest.mark.nightly
@every_ranking
def test_vectors_of_zeros_are_near_to_nothing(project, ranking):
    pages(project, 6, body="")
    PageEmbedding.objects.update(vector=[0, 0, 0, 0])
    run = match(project, ranking)
    assert not CandidateEdge.objects.filter(run=run, similarity__gt=0).exists()


def test_a_vector_with_nan_does_not_get_into_the_database(project):
    with pytest.raises(DataError, match="NaN"):
        embed(make_page(project), [math.nan, 0, 0, 0])


@pytest.mark.nightly
@every_ranking
def test_links_from_every_page_to_one_and_to_themselves_are_no_trouble(project, ranking):
    site = pages(project, 30)
    for page in site:
        make_link(page, site[0], "home")
        make_link(page, page, "here")
    run = match(project, ranking)
    assert not CandidateEdge.objects.filter(run=run, target=site[0]).exists()


@every_ranking
def test_a_project_without_pages_says_what_to_do(project, ranking):
    with pytest.raises(UserError, match="no vectors yet"):
        match(project, ranking)


@pytest.mark.nightly
@pytest.mark.parametrize("mode", list(Mode))
def test_every_mode_keeps_the_caps_of_both_sides(project, mode):
    pages(project, 30)
    match(project, Ranking.FORMULA, mode=mode, threshold=0, inline_per_donor=1, related_per_donor=2, target_share=0.01)
    edges = CandidateEdge.objects.values_list("source_id", "target_id", "placement")
    given = [source for source, _, _ in edges]
    received = [target for _, target, _ in edges]
    inline = [source for source, _, placement in edges if placement == "inline"]
    assert max(map(given.count, given)) <= 3
    assert max(map(received.count, received)) <= 20
    assert max(map(inline.count, inline), default=0) <= 1


def test_a_weight_that_the_formula_does_not_know_is_named(project):
    pages(project, 3)
    with pytest.raises(UserError, match="no part luck"):
        match(project, Ranking.FORMULA, weights={"luck": 1.0})


@pytest.mark.nightly
def test_auto_says_how_it_ranked_and_why(project):
    site = pages(project, 12)
    assert match(project, Ranking.AUTO).report["ranking"] == "shipped"
    own = match(project, Ranking.AUTO, weights={"mention": 2.0})
    assert (own.report["ranking"], "it takes 60" in own.report["ranked_why"]) == ("formula", True)
    Page.objects.update(body="")
    bare = match(project, Ranking.AUTO)
    assert (bare.report["ranking"], "it takes 60" in bare.report["ranked_why"]) == ("shipped", True)
    for source in site:
        for target in site[:6]:
            make_link(source, target, target.title)
    many = match(project, Ranking.AUTO)
    assert many.report["ranking"] in {"learned", "shipped"}
    assert many.report["ranked_why"]
