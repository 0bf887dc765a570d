"""A run finds what pages lack, gives under-linked pages their best links first, and keeps the need with each edge."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from linker.engine.params import MatchParams, Mode, PageFilter, Ranking
from linker.matching.needs import NEW_DAYS, needs_of
from linker.matching.start import run_match
from linker.models import Block, CandidateEdge, Page, RunKind
from linker.models.querysets import OPEN
from linker.reports.match_page import match_page
from linker.runs import lifecycle
from tests.factories import embed, make_category, make_link, make_model, make_page, make_project

pytestmark = pytest.mark.django_db


def match(project, **params):
    values = MatchParams(**{"ranking": Ranking.COSINE, **params})
    run = lifecycle.start_run(project, RunKind.MATCH, values.to_dict(), to_queue=False)
    type(run).objects.filter(pk=run.pk).update(status="running")
    run.refresh_from_db()
    run_match(run)
    run.refresh_from_db()
    assert run.status == "succeeded", run.error
    return run


def vector(angle: float) -> list[float]:
    return [float(np.cos(angle)), float(np.sin(angle)), 0.0, 0.0]


@pytest.fixture
def shop(project):
    """A donor, five pages that others link to, the nearer the lower their number, and one a little further away that
    nobody links to. Links come from six pages of another category, about something else."""
    model, tents, news = make_model(), make_category(project, "Tents"), make_category(project, "News")
    pages = {"donor": make_page(project, "/donor", title="Donor", category=tents)}
    embed(pages["donor"], vector(0), model)
    for number in range(5):
        pages[f"p{number}"] = make_page(project, f"/p{number}", title=f"Tent number {number}", category=tents)
        embed(pages[f"p{number}"], vector(0.1 + number / 50), model)
    pages["orphan"] = make_page(
        project, "/orphan", title="Lonely tent", category=tents, crawl_depth=5, impressions=1240, position=8.2, value=80
    )
    embed(pages["orphan"], vector(-0.35), model)
    others = [make_page(project, f"/n{number}", title=f"News {number}", category=news) for number in range(6)]
    for other in others:
        for number in range(5):
            make_link(other, pages[f"p{number}"])
        make_link(other, pages["donor"])
    return pages


def targets(project, donor) -> set[str]:
    edges = CandidateEdge.objects.filter(project=project, source=donor).select_related("target")
    return {edge.target.url.rsplit("/", 1)[1] for edge in edges}


@pytest.mark.nightly
@pytest.mark.parametrize("mode", list(Mode))
def test_an_orphan_gets_its_link_before_well_linked_pages_get_their_last(project, shop, mode):
    run = match(project, inline_per_donor=0, related_per_donor=4, levels_up=0, mode=mode)
    assert "orphan" in targets(project, shop["donor"])
    assert len(targets(project, shop["donor"])) == 4
    assert run.report["orphans"] == run.report["under_linked"]
    assert run.report["orphans"]["pages"] == run.report["orphans"]["shown"] == 1
    assert run.report["allocation"]["for_need"] == 2
    assert "2 links were allocated to under-linked pages before" in match_page(run).allocation


@pytest.mark.nightly
def test_a_new_page_gets_its_links_first_however_many_there_are_to_it_already(project, shop):
    match(project, inline_per_donor=0, related_per_donor=4, levels_up=0)
    new = make_page(project, "/new", title="New tent", category=shop["donor"].category)
    embed(new, vector(-0.4), make_model())  # further away than any other
    for other in Page.objects.filter(category__name="News"):
        make_link(other, new)
    match(project, inline_per_donor=0, related_per_donor=4, levels_up=0)
    assert {"new", "orphan"} <= targets(project, shop["donor"])
    edge = CandidateEdge.objects.get(source=shop["donor"], target=new)
    assert (edge.lacks, edge.need) == ("Needs links: is new", 0.5)

    Page.objects.filter(pk=new.pk).update(first_seen_at=timezone.now() - timedelta(days=NEW_DAYS, seconds=1))
    match(project, inline_per_donor=0, related_per_donor=4, levels_up=0)
    assert "New tent" not in {edge.target.title for edge in CandidateEdge.objects.filter(OPEN, source=shop["donor"])}
    assert needs_of(project).facts.new.sum() == 0


@pytest.mark.nightly
def test_no_page_is_new_before_the_first_match(project, shop):
    assert not needs_of(project).facts.new.any()
    match(project, inline_per_donor=0, related_per_donor=4, levels_up=0)
    assert not needs_of(project).facts.new.any()
    make_page(project, "/new")
    assert needs_of(project).facts.new.sum() == 1


@pytest.mark.nightly
def test_it_gets_none_that_would_not_be_shown_anyway(project, shop):
    project.tiers.filter(basis="cosine").update(held=True)
    project.tiers.filter(basis="cosine", name="Likely").update(lower_bound=0.97, held=False)
    run = match(project, inline_per_donor=0, related_per_donor=4, levels_up=0)
    assert "orphan" not in targets(project, shop["donor"])
    assert (run.report["orphans"]["held_back"], run.report["orphans"]["too_unlikely"]) == (0, 1)


@pytest.mark.nightly
def test_edges_keep_what_their_target_lacks_and_their_scores_do_not_change(project, shop):
    match(project, inline_per_donor=0, related_per_donor=8, levels_up=0)
    edges = {edge.target_id: edge for edge in CandidateEdge.objects.filter(source=shop["donor"])}
    lonely, near = edges[shop["orphan"].pk], edges[shop["p0"].pk]
    assert lonely.lacks == "Needs links: has none from texts, 5 clicks deep, 1,240 impressions at position 8, value 80"
    assert (near.need, near.lacks) == (0, "")
    assert 0.8 < lonely.need < 0.9
    assert lonely.score == lonely.similarity == pytest.approx(np.cos(0.35), abs=1e-3)
    for edge in edges.values():
        assert edge.worth == pytest.approx(edge.score * (0.4 + 0.5 * edge.need + 0.1 * edge.authority), rel=1e-5)
        assert edge.donor_worth == pytest.approx(lonely.worth, rel=1e-5)


@pytest.mark.nightly
def test_the_worth_of_a_donor_is_one_value_after_a_run_over_a_part(project, shop):
    match(project, inline_per_donor=0, related_per_donor=8, levels_up=0)
    Page.objects.filter(pk=shop["orphan"].pk).update(impressions=0, value=None, crawl_depth=1)
    match(project, inline_per_donor=0, related_per_donor=8, levels_up=0, acceptors=PageFilter(url_pattern="orphan"))
    worths = CandidateEdge.objects.filter(source=shop["donor"]).values_list("donor_worth", flat=True)
    assert len(set(worths)) == 1


def test_links_are_counted_once_a_page_and_in_texts_alone(project):
    a, b, c = (make_page(project, path) for path in ("/a", "/b", "/c"))
    make_link(a, c, "one")
    make_link(a, c, "two")
    make_link(b, c, block=Block.ASIDE)
    other = make_project("other")
    make_link(make_page(other, "/x"), make_page(other, "/y"))
    needs = needs_of(project)
    assert needs.ids.tolist() == [a.pk, b.pk, c.pk]
    assert needs.facts.links.tolist() == [0, 0, 1]
    assert needs.under_linked(np.array([a.pk, c.pk])).tolist() == [a.pk, c.pk]
    assert needs.orphans(np.array([a.pk, c.pk, 10**9])).tolist() == [a.pk]


def test_authority_is_the_imported_one_or_else_pagerank(project):
    a, b, c = (make_page(project, path) for path in ("/a", "/b", "/c"))
    make_link(a, b)
    make_link(c, b)
    assert needs_of(project).authority.tolist() == pytest.approx([1 / 3, 5 / 6, 1 / 3], abs=1e-6)
    Page.objects.filter(pk=c.pk).update(authority=71)
    known = needs_of(project).authority
    assert np.isnan(known[:2]).all()
    assert known[2] == 0.5


def test_where_links_were_never_imported_nobody_knows_what_lacks_them(project):
    page = make_page(project, "/a", crawl_depth=6)
    needs = needs_of(project)
    assert needs.under_linked(needs.ids).tolist() == []
    assert needs.need.tolist() == pytest.approx([0.15])
    assert np.isnan(needs.authority).all()
    assert needs.said(0) == "Needs links: 6 clicks deep"
    assert needs.places(np.array([page.pk, page.pk + 1])).tolist() == [0, -1]


def test_where_menus_alone_link_all_pages_are_orphans(project):
    make_link(make_page(project, "/a"), make_page(project, "/b"), block=Block.NAVIGATION)
    needs = needs_of(project)
    assert needs.orphans(needs.ids).tolist() == needs.ids.tolist()
    assert np.isnan(needs.authority).all()


def test_a_project_without_pages_needs_nothing(project):
    needs = needs_of(project)
    assert needs.under_linked(np.array([1, 2])).tolist() == needs.orphans(np.array([1])).tolist() == []
    assert needs.places(np.array([1])).tolist() == [-1]
