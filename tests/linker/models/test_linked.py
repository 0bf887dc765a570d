"""Already linked means linked where the new link would stand, and caps know the links that a page has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connection

from linker.engine.allocation.allocate import Reason
from linker.engine.params import Mode, Ranking
from linker.explain.page import why_not_page
from linker.explain.pair import why_not_pair
from linker.matching.room import Room, rooms_of
from linker.matching.tiers import retier
from linker.models import Block, CandidateEdge, ExistingLink, Page, Placement, Tier, UnallocatedPairs
from linker.models.linked import LINKED_IN, already_linked, linked_sql, links_in_place
from review.queue.selectors import card_of
from tests.factories import make_edge, make_link, make_page
from tests.linker.matching.test_match import MatchParams, match, pairs, small

if TYPE_CHECKING:
    from linker.models import Project

pytestmark = pytest.mark.django_db

BESIDE = [Block.ASIDE, Block.LIST, Block.HEADER, Block.NAVIGATION, Block.UNKNOWN]
NOWHERE = [Block.FOOTER]


def tiers(project: Project, placement: str) -> None:
    """Every similarity belongs there."""
    Tier.objects.filter(project=project, basis="cosine").update(placement=placement)


def write(page: Page, body: str) -> None:
    Page.objects.filter(pk=page.pk).update(body=body)


def ask(*pair: Page):
    return why_not_pair(pair[0].project, *(Page.objects.get(pk=page.pk) for page in pair))


def codes(answer) -> list[str]:
    return [finding.code for finding in answer.findings if finding.blocking]


# ------------------------------------------------------------------------------------------------------- the rule


@pytest.mark.sample(14)
@pytest.mark.parametrize("placement", ["inline", "related"])
@pytest.mark.parametrize("block", list(Block))
def test_a_link_counts_by_the_block_it_stands_in(project, block, placement):
    edge = make_edge(project, placement=placement)
    make_link(edge.source, edge.target, block=block)
    counts = block == Block.CONTENT or (placement == "related" and block in BESIDE)
    edges = CandidateEdge.objects.all()
    assert already_linked(edges).exists() is counts
    assert bool(links_in_place(edges)) is counts
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {linked_sql('e')} FROM linker_candidateedge e")
        assert cursor.fetchone() == (counts,)
    assert bool(card_of(edge).linked) is counts
    ExistingLink.objects.update(missing_since="2026-01-01T00:00:00Z")
    assert not already_linked(edges).exists()


def test_the_link_nearest_to_the_text_is_named_on_the_card(project):
    edge = make_edge(project, placement="related")
    make_link(edge.source, edge.target, "beside", Block.ASIDE)
    assert card_of(edge).linked == "The donor links to this page already beside its text (“beside”)."
    make_link(edge.source, edge.target, "words")
    assert card_of(edge).linked == "The donor links to this page already in its text (“words”)."


# ---------------------------------------------------------------------------------------------------------- a run


@pytest.mark.sample(2)
@pytest.mark.parametrize("block", [*BESIDE, Block.CONTENT])
def test_a_pair_linked_beside_the_text_is_not_proposed_for_there(project, block):
    pages = small(project, "a", "b")
    make_link(pages["a"], pages["b"], "in the aside", block)
    tiers(project, "related")
    match(project)
    assert pairs(project) == {("b", "a")}


@pytest.mark.parametrize("block", NOWHERE)
def test_a_link_of_the_navigation_or_footer_keeps_nothing_away(project, block):
    pages = small(project, "a", "b")
    make_link(pages["a"], pages["b"], "", block)
    tiers(project, "related")
    match(project)
    assert pairs(project) == {("a", "b"), ("b", "a")}


@pytest.mark.nightly
@pytest.mark.parametrize("block", BESIDE)
def test_a_pair_linked_beside_the_text_may_be_proposed_for_the_text(project, block):
    pages = small(project, "a", "b")
    make_link(pages["a"], pages["b"], block=block)
    write(pages["a"], "Here we say all about b and more.")
    tiers(project, "inline")
    match(project)
    assert CandidateEdge.objects.get(source=pages["a"]).placement == "inline"
    assert not codes(ask(pages["a"], pages["b"]))


def test_it_does_not_fall_back_to_the_block_where_the_text_has_no_words_for_it(project):
    pages = small(project, "a", "b")
    make_link(pages["a"], pages["b"], "the aside", Block.ASIDE)
    write(pages["a"], "Not one word of the other page.")
    tiers(project, "inline")
    run = match(project)
    assert pairs(project) == {("b", "a")}
    assert run.report["allocation"]["without_place"] == 1
    answer = ask(pages["a"], pages["b"])
    assert codes(answer) == ["linked-beside"]
    assert "beside its text (“the aside”), so a new link could only go in its text" in answer.findings[0].text
    assert "has no words for it that fit well" in answer.findings[0].text


def test_a_run_that_ranks_the_whole_site_keeps_the_reason(project):
    pages = small(project, "a", "b", "c")
    make_link(pages["a"], pages["b"], "the aside", Block.ASIDE)
    match(project, ranking=Ranking.FORMULA, threshold=-1)
    assert ("a", "b") not in pairs(project)
    left = UnallocatedPairs.objects.get(source=pages["a"].pk)
    assert left.reasons[left.targets.index(pages["b"].pk)] == Reason.LINKED_BESIDE
    assert codes(ask(pages["a"], pages["b"])) == ["linked-beside"]


@pytest.mark.nightly
def test_pages_that_are_linked_beside_the_text_leave_their_room_to_others(project):
    """Those nearest are linked there already, more than are looked for to spare: the next get the donor's links."""
    pages = small(project, "a", *(f"p{number}" for number in range(40)))
    for number in range(30):
        make_link(pages["a"], pages[f"p{number}"], f"aside {number}", Block.ASIDE)
    match(project, inline_per_donor=0, related_per_donor=5, related_in_all=0)
    found = {target for source, target in pairs(project) if source == "a"}
    assert len(found) == 5
    assert not found & {f"p{number}" for number in range(30)}


@pytest.mark.nightly
def test_a_decided_link_that_is_not_on_the_site_yet_stays_whatever_stands_beside_the_text(project):
    pages = small(project, "a", "b")
    write(pages["a"], "Here we say all about b and more.")
    tiers(project, "inline")
    match(project)
    CandidateEdge.objects.filter(source=pages["a"]).update(status="accepted")
    make_link(pages["a"], pages["b"], block=Block.ASIDE)
    tiers(project, "related")
    match(project)
    assert pairs(project, status="accepted", stale=False) == {("a", "b")}


# ------------------------------------------------------------------------------------------------------- new tiers


@pytest.mark.nightly
def test_new_tiers_take_a_link_back_that_would_stand_twice_beside_the_text_and_bring_it_again(project):
    pages = small(project, "a", "b")
    make_link(pages["a"], pages["b"], block=Block.ASIDE)
    write(pages["a"], "Here we say all about b and more.")
    tiers(project, "inline")
    match(project)
    edge = CandidateEdge.objects.get(source=pages["a"])
    for placement, is_stale in (("inline", False), ("related", True), ("inline", False)):
        tiers(project, placement)
        retier(project)
        edge.refresh_from_db()
        assert (edge.placement, edge.stale) == (placement, is_stale)


@pytest.mark.nightly
def test_what_an_older_run_proposed_and_the_newest_does_not_stays_away(project):
    pages = small(project, "a", "b")
    match(project)
    Page.objects.filter(pk=pages["b"].pk).update(indexable=False)
    match(project)
    retier(project)
    assert CandidateEdge.objects.get(target=pages["b"]).stale


# ------------------------------------------------------------------------------------------------------------ caps


def room(project: Project, page: Page, **params) -> Room:
    asked = MatchParams(**params)
    return rooms_of(project, asked).get(page.pk, Room(asked.inline_per_donor, asked.related_per_donor))


@pytest.mark.parametrize(
    ("links", "words", "caps", "inline"),
    [
        (20, 1000, {}, 5),  # an ordinary page that is well linked
        (97, 1000, {}, 3),
        (100, 1000, {}, 0),
        (463, 1000, {}, 0),
        (463, 1000, {"inline_in_all": 0}, 5),
        (20, 1000, {"per_1000_words": 22}, 2),
        (20, 500, {"per_1000_words": 22}, 0),
        (20, 5000, {"per_1000_words": 22}, 5),
        (0, 0, {"per_1000_words": 22}, 0),
    ],
)
def test_links_in_a_text_count_towards_what_it_may_hold_in_all(project, links, words, caps, inline):
    page = make_page(project, outlinks=links, word_count=words)
    assert room(project, page, **caps).inline == inline


def test_words_that_no_crawl_counted_are_taken_from_the_text(project):
    page = make_page(project, outlinks=0, body="x" * 6000)
    assert room(project, page, per_1000_words=3).inline == 3


@pytest.mark.nightly
def test_links_in_an_aside_count_towards_what_may_stand_beside_the_text(project):
    pages = small(project, "a", *(f"p{number}" for number in range(12)))
    for number in range(8):
        make_link(pages["a"], pages[f"p{number}"], "one", Block.ASIDE)
        make_link(pages["a"], pages[f"p{number}"], "the same page by another word", Block.ASIDE)
        make_link(pages["a"], pages[f"p{number}"], "", Block.NAVIGATION)
    assert room(project, pages["a"]) == Room(5, 10)
    assert room(project, pages["a"], related_in_all=10) == Room(5, 2)
    assert room(project, pages["a"], related_in_all=5) == Room(5, 0)
    tiers(project, "related")
    run = match(project, related_in_all=10)
    assert len([pair for pair in pairs(project) if pair[0] == "a"]) == 2
    assert len([pair for pair in pairs(project) if pair[0] == "p0"]) == 10
    assert (run.report["allocation"]["donors_with_less_room"], run.report["allocation"]["donors_without_room"]) == (
        1,
        0,
    )
    [said] = [one.text for one in why_not_page(project, Page.objects.get(pk=pages["a"].pk)) if one.code[:5] == "donor"]
    assert "2 of 2 beside it. There is less room than on other pages: beside its text there are already 8" in said


@pytest.mark.parametrize("mode", list(Mode))
def test_a_page_whose_text_is_full_gets_links_beside_it_alone(project, mode):
    pages = small(project, "a", "b", "c")
    Page.objects.filter(pk=pages["a"].pk).update(outlinks=100, body="We say all about b, and all about c.")
    tiers(project, "inline")
    match(project, mode=mode, related_per_donor=1)
    assert list(CandidateEdge.objects.filter(source=pages["a"]).values_list("placement", flat=True)) == ["related"]
    retier(project)
    assert not CandidateEdge.objects.filter(source=pages["a"], placement="inline").exists()


@pytest.mark.nightly
def test_an_exported_link_that_the_crawl_has_seen_counts_once(project):
    pages = small(project, "a", "b", "c", "d")
    tiers(project, "related")
    match(project, inline_per_donor=0, related_per_donor=1)
    edge = CandidateEdge.objects.get(source=pages["a"])
    CandidateEdge.objects.filter(pk=edge.pk).update(status="exported")
    match(project, inline_per_donor=0, related_per_donor=1)
    assert len(pairs(project, source=pages["a"], stale=False)) == 1  # it waits to come onto the site
    make_link(edge.source, edge.target, block=Block.ASIDE)
    match(project, inline_per_donor=0, related_per_donor=1, related_in_all=2)
    assert len(pairs(project, source=pages["a"], status="suggested", stale=False)) == 1
    match(project, inline_per_donor=0, related_per_donor=1, related_in_all=1)
    assert not pairs(project, source=pages["a"], status="suggested", stale=False)


def test_links_that_a_target_has_already_do_not_count_towards_its_cap(project):
    pages = small(project, "a", "b", "c")
    Page.objects.filter(pk=pages["c"].pk).update(inlinks=500)
    match(project, per_target=1, ranking=Ranking.COSINE)
    assert len([pair for pair in pairs(project) if pair[1] == "c"]) == 1


def test_every_block_has_its_rule():
    named = {*LINKED_IN[Placement.INLINE], *LINKED_IN[Placement.RELATED], *NOWHERE}
    assert named == set(Block)


# ------------------------------------------------------------------------------------------------------ data of before
