"""The learned ranking on sites with few links, few pages or none to learn from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from linker.engine.ranking.approval import shipped
from linker.engine.ranking.other_sites import other_sites_scorer
from linker.models import CandidateEdge
from linker.reports.match_page import match_page
from tests.factories import embed, make_link, make_page
from tests.guides import match

if TYPE_CHECKING:
    from linker.models import Project

pytestmark = pytest.mark.django_db


@pytest.mark.nightly
def test_links_that_say_nothing_lend_their_words_to_no_suggestion(project):
    guide = make_page(project, "/guide", title="Waxing skis", body="All of it.")
    embed(guide, [1, 0, 0, 0])
    for number in range(14):
        page = make_page(project, f"/{number}", title=f"Snow diary {number}", body="Snow fell. Click here for more.")
        embed(page, [1, number / 50, 0, 0])
        if number < 8:
            make_link(page, guide, "click here")
    match(project, related_per_donor=20)
    edges = CandidateEdge.objects.filter(target=guide)
    assert edges
    said = {edge.anchor.lower() for edge in edges}
    said |= {other["text"].lower() for edge in edges for other in edge.anchor_alternatives}
    assert "click here" not in said


@pytest.fixture
def tents(project: Project) -> None:
    """A site without links."""
    for number in range(12):
        page = make_page(project, f"/{number}", title=f"Tent number {number}", body="Tents and more tents.")
        embed(page, [1, number / 10, 0, 0])


@pytest.mark.nightly
def test_a_site_without_links_is_ranked_by_the_ranker_that_ships(project, tents):
    run = match(project)
    assert run.report["ranking"] == "shipped"
    assert run.report["edges"] > 0
    ranker = other_sites_scorer()
    assert (run.ranker.kind, run.ranker.version) == ("shipped", f"{ranker.version}+{shipped().version}")
    assert set(CandidateEdge.objects.values_list("ranked_by", flat=True)) == {"learned"}
    said = match_page(run)
    assert said.ranked_by == "the built-in ranker (learned from the links of other sites)"
    assert said.learned_from == f"Learned from {ranker.links:,} links of {ranker.sites} other sites."


def test_weights_of_ones_own_keep_the_formula(project, tents):
    run = match(project, weights={"mention": 2.0})
    assert run.report["ranking"] == run.ranker.kind == "formula"
    assert run.ranker.weights["mention"] == 2.0


@pytest.mark.nightly
def test_one_page_and_pages_with_a_zero_vector_end_sensibly(project):
    page = make_page(project, "/only", body="Nothing to link to here.")
    embed(page, [1, 0, 0, 0])
    assert match(project).report["edges"] == 0
    other = make_page(project, "/zero", body="Nothing at all.")
    embed(other, [1, 0, 0, 0])
    other.embeddings.update(vector=[0, 0, 0, 0])
    match(project)
