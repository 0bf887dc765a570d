"""A match gives each content gap the paragraph of the donor that would take a sentence about the acceptor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from linker.matching.content_gaps import DONORS_AT_A_TIME, find_paragraphs
from linker.matching.tiers import retier
from linker.models import CandidateEdge, Page
from tests.factories import embed, make_edge, make_link, make_model, make_page, make_run
from tests.linker.matching.test_match import match

if TYPE_CHECKING:
    from linker.models import Project

pytestmark = pytest.mark.django_db

HILLS = "Long walks in the hills ask for good shoes, a warm jacket and a little patience with the weather."
NIGHT = "At night the tent keeps the wind out, and a thick sleeping mat keeps the cold of the ground away."
MORE = (
    "Snow may lie on the passes until June, and the huts open only when the wardens have carried the wood up. "
    "Whoever starts early takes a stove along, since there is little to eat on the way before the summer comes."
)
BODY = f"{HILLS}\n{NIGHT}\n{MORE}"


@pytest.fixture
def pages(project: Project) -> tuple[Page, Page]:
    donor = make_page(project, "/donor", title="Packing", body=BODY)
    target = make_page(project, "/mats", title="Self-inflating mattresses", body="For a warm night on the cold ground.")
    for page, vector in ((donor, [1.0, 0.1, 0, 0]), (target, [1.0, 0.0, 0.1, 0])):
        embed(page, vector, make_model(4))
    return donor, target


def paragraph(edge: CandidateEdge) -> str:
    edge.refresh_from_db()
    body = Page.objects.get(pk=edge.source_id).body
    return "" if edge.paragraph_start is None else body[edge.paragraph_start : edge.paragraph_end]


@pytest.mark.nightly
def test_a_match_finds_the_paragraph_of_a_gap(project, pages):
    project.tiers.filter(basis="cosine").update(placement="inline")
    run = match(project)
    edge = CandidateEdge.objects.get(source=pages[0], target=pages[1])
    assert edge.content_gap
    assert paragraph(edge) == NIGHT
    assert edge.paragraph_hash == Page.objects.get(pk=pages[0].pk).body_hash
    assert run.report["gaps_with_paragraph"] == 1


@pytest.mark.nightly
@pytest.mark.parametrize("change", [{"body": f"{HILLS}\n{NIGHT}"}, {"role": "product"}], ids=["short", "product"])
def test_nobody_is_asked_to_add_a_sentence_to_a_few_words_or_a_product(project, pages, change):
    project.tiers.filter(basis="cosine").update(placement="inline")
    Page.objects.filter(pk=pages[0].pk).update(**change)
    match(project)
    edge = CandidateEdge.objects.get(source=pages[0], target=pages[1])
    assert (edge.tier.placement, edge.placement, edge.content_gap) == ("inline", "related", False)
    retier(project)
    edge.refresh_from_db()
    assert (edge.placement, edge.content_gap) == ("related", False)


@pytest.mark.nightly
def test_nobody_is_asked_to_add_a_sentence_where_a_role_gives_beside_the_text_alone(project, pages):
    project.tiers.filter(basis="cosine").update(placement="inline")
    project.role_links = {"article": {"gives": "beside"}}
    project.save(update_fields=["role_links"])
    match(project)
    edge = CandidateEdge.objects.get(source=pages[0], target=pages[1])
    assert (edge.placement, edge.content_gap) == ("related", False)
    retier(project)
    edge.refresh_from_db()
    assert (edge.placement, edge.content_gap) == ("related", False)


def test_anchors_that_the_site_uses_for_the_acceptor_count(project, pages):
    donor, target = pages
    Page.objects.filter(pk=target.pk).update(body="", title="Part 7", h1="")
    make_link(make_page(project), target, anchor="good shoes")
    edge = make_edge(project, donor, target, content_gap=True)
    assert find_paragraphs(edge.run) == 1
    assert paragraph(edge) == HILLS


def test_a_newer_match_reads_the_text_of_now(project, pages):
    edge = make_edge(project, *pages, content_gap=True)
    find_paragraphs(edge.run)
    Page.objects.filter(pk=pages[0].pk).update(body=f"{NIGHT}\nAnd a word more.\n{HILLS}")
    find_paragraphs(edge.run)
    assert paragraph(edge) == NIGHT
    Page.objects.filter(pk=pages[0].pk).update(body="Words of no use.")
    assert find_paragraphs(edge.run) == 0
    edge.refresh_from_db()
    assert (edge.paragraph_start, edge.paragraph_hash, edge.paragraph_heading) == (None, None, "")


@pytest.mark.parametrize("kept", [{"status": "accepted"}, {"content_gap": False}, {"stale": True}])
def test_what_is_no_open_gap_is_left_alone(project, pages, kept):
    edge = make_edge(project, *pages, **{"content_gap": True, **kept})
    assert find_paragraphs(edge.run) == 0
    assert paragraph(edge) == ""


def test_gaps_of_other_runs_are_left_alone(project, pages):
    edge = make_edge(project, *pages, content_gap=True, run=make_run(project))
    assert find_paragraphs(make_run(project)) == 0
    assert paragraph(edge) == ""


@pytest.mark.nightly
def test_gaps_of_many_donors_all_get_theirs(project, pages):
    run = make_run(project)
    addresses = [f"https://shop.example/{number}" for number in range(DONORS_AT_A_TIME + 5)]
    donors = Page.objects.bulk_create(
        Page(project=project, url=url, canonical_url=url, body=f"{HILLS}\n{NIGHT} See {url}.", language="en")
        for url in addresses
    )
    for donor in donors:
        make_edge(project, donor, pages[1], content_gap=True, run=run)
    assert find_paragraphs(run) == len(donors)
    assert project.edges.filter(paragraph_start=len(HILLS) + 1).count() == len(donors)
