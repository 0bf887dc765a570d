"""A match run stores the links that a plain loop over all pairs would choose, with where they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from linker.engine.arrays.vectors import unit_rows
from linker.engine.params import MatchParams, Mode, PageFilter, Ranking, Scope
from linker.errors import UserError
from linker.matching.batches import batches_left, run_batch
from linker.matching.chosen import ChosenPairs, chosen_pairs
from linker.matching.finish import finish_match
from linker.matching.plan import plan_match
from linker.matching.report_types import MatchReport
from linker.matching.start import run_match
from linker.matching.tiers import retier
from linker.models import (
    Block,
    CandidateEdge,
    ExclusionRule,
    PageEmbedding,
    Project,
    RunBatch,
    RunCandidate,
    RunKind,
    SensitiveRule,
)
from linker.pages.sensitive_marks import mark_sensitive
from linker.projects.policies.sensitive import add_sensitive
from linker.reports.match import reason_words
from linker.runs import lifecycle
from tests.factories import embed, make_category, make_edge, make_link, make_model, make_page
from tests.follow_ups import follow_up

if TYPE_CHECKING:
    from linker.models import Page, Run

pytestmark = pytest.mark.django_db

TREE = [("Shop", "Tents", "Domes"), ("Shop", "Tents", "Tunnels"), ("Shop", "Stoves"), ("News",), ()]


def left_out(run: Run) -> dict[str, int]:
    """Pages that take no part in a run, by why."""
    return {reason_words(one): one.pages for one in MatchReport.from_json(run.report).left_out}


def start(project: Project, **params) -> Run:
    values = MatchParams(**{"ranking": Ranking.COSINE, "threshold": 0.0, **params})
    return lifecycle.start_run(project, RunKind.MATCH, values.to_dict(), to_queue=False)


def match(project: Project, **params) -> Run:
    run = start(project, **params)
    type(run).objects.filter(pk=run.pk).update(status="running")
    run.refresh_from_db()
    run_match(run)
    follow_up(run)
    run.refresh_from_db()
    return run


def pairs(project: Project, **filters) -> set[tuple[str, str]]:
    edges = CandidateEdge.objects.filter(project=project, **filters).select_related("source", "target")
    return {(edge.source.url.rsplit("/", 1)[1], edge.target.url.rsplit("/", 1)[1]) for edge in edges}


@pytest.fixture
def site(project: Project) -> list[Page]:
    """40 pages over a small tree, with random vectors."""
    random = np.random.default_rng(5)
    categories = [make_category(project, *path) if path else None for path in TREE]
    pages = []
    for number in range(40):
        page = make_page(project, f"/p{number}", title=f"Page number {number} about things | Shop")
        page.category = categories[number % len(categories)]
        page.save()
        embed(page, random.normal(size=8), make_model(8))
        pages.append(page)
    return pages


def slow_level(donor: Page, target: Page, levels_up: int) -> int:
    left = donor.category.path if donor.category else []
    right = target.category.path if target.category else []
    if left == right:
        return 0
    for level in range(1, levels_up + 1):
        top = left[: max(0, len(left) - level)]
        if right[: len(top)] == top:
            return level
    return -1


def slow_match(pages: list[Page], params: MatchParams) -> dict[tuple[int, int], tuple[float, float, int]]:
    """The whole run as a double loop and a greedy pass: {(donor, target): (similarity, score, level)}."""
    unit = {}
    for page in pages:
        stored = np.asarray(PageEmbedding.objects.get(page=page).vector)
        unit[page.pk] = unit_rows(stored[None, :])[0].astype(np.float64)
    found = {}
    for donor in pages:
        mine = []
        for target in pages:
            level = slow_level(donor, target, 9 if params.scope is Scope.SITE else params.levels_up)
            if donor == target or level < 0:
                continue
            similarity = round(float(unit[donor.pk] @ unit[target.pk]), 6)
            score = round(similarity - level * params.level_penalty, 6)
            if score >= params.threshold:
                mine.append((-score, target.pk, similarity, level))
        for minus, target, similarity, level in sorted(mine)[: params.pool]:
            found[donor.pk, target] = (similarity, -minus, level)
    given: dict[int, int] = {}
    received: dict[int, int] = {}
    chosen = {}
    for pair in sorted(found, key=lambda pair: (-found[pair][1], pair)):
        donor, target = pair
        if given.get(donor, 0) < params.related_per_donor and received.get(target, 0) < (params.per_target or 10**9):
            given[donor] = given.get(donor, 0) + 1
            received[target] = received.get(target, 0) + 1
            chosen[pair] = found[pair]
    return chosen


@pytest.mark.nightly
@pytest.mark.parametrize(
    "values",
    [
        {"levels_up": 0},
        {"levels_up": 0, "scope": Scope.SITE},
        {"levels_up": 1, "per_target": 3},
        {"levels_up": 2, "related_per_donor": 2, "per_target": 0},
        {"levels_up": 5, "level_penalty": 0.05, "threshold": 0.2, "related_per_donor": 5, "pool": 10},
    ],
)
@pytest.mark.parametrize("pairs_a_batch", [50, 10**9])
def test_the_stored_edges_are_those_of_a_plain_loop(project, site, values, pairs_a_batch, monkeypatch):
    monkeypatch.setattr("linker.matching.plan.BATCH_PAIRS", pairs_a_batch)
    run = match(project, **values)

    expected = slow_match(site, MatchParams(**{"threshold": 0.0, **values}))
    stored = {
        (edge.source_id, edge.target_id): (edge.similarity, edge.score, edge.level)
        for edge in CandidateEdge.objects.filter(run=run)
    }
    assert stored == expected
    assert run.report["edges"] == len(expected)


@pytest.mark.nightly
@pytest.mark.parametrize("accepted", [False, True])
def test_a_donor_whose_best_targets_are_full_is_looked_at_again(project, site, monkeypatch, accepted):
    """Batches find no more candidates than a donor has links, and yet the edges are those of the whole pool."""
    monkeypatch.setattr("linker.matching.batches.LOOSE_CAP", 0)
    values = {"levels_up": 5, "inline_per_donor": 0, "related_per_donor": 4, "per_target": 4, "pool": 12}
    expected = slow_match(site, MatchParams(**{"threshold": 0.0, **values}))
    if accepted:
        last = max(expected, key=lambda pair: (pair[0], -expected[pair][1]))
        make_edge(project, *(next(page for page in site if page.pk == pk) for pk in last), status="accepted")
    run = match(project, **values)
    stored = set(CandidateEdge.objects.filter(stale=False).values_list("source_id", "target_id"))
    assert stored == set(expected)
    assert run.report["candidates"] > len(expected)


def test_the_links_of_a_million_pages_take_up_little_memory(project, site, monkeypatch):
    """A million pages have five million links, and a process may take 1.5 GiB for all it does. What can be said of one
    link by itself is said when it is made, and not held of all of them."""
    held: list[ChosenPairs] = []

    def kept(*args) -> ChosenPairs:
        held.append(chosen_pairs(*args))
        return held[-1]

    monkeypatch.setattr("linker.matching.edges.chosen_pairs", kept)
    match(project, levels_up=5, inline_per_donor=0, related_per_donor=4, pool=4)
    [chosen] = held
    assert len(chosen) == len(chosen.rows) == 4 * len(site)
    arrays = [value for value in vars(chosen).values() if isinstance(value, np.ndarray)]
    assert 5_000_000 * sum(array.nbytes for array in arrays) / len(chosen) <= 0.4 * 2**30


@pytest.mark.nightly
def test_memory_of_any_size_gives_the_same_edges(project, site, settings):
    settings.MATCH_MEMORY_MB = 384
    roomy = slow_match(site, MatchParams(levels_up=5, threshold=0.0))
    settings.MATCH_MEMORY_MB = 0
    match(project, levels_up=5)
    stored = CandidateEdge.objects.filter(project=project).values_list("source_id", "target_id")
    assert set(stored) == set(roomy)


@pytest.mark.nightly
def test_an_edge_says_where_it_comes_from(project, site):
    run = match(project, levels_up=1)
    edge = CandidateEdge.objects.filter(run=run, level=1, source__category__name="Domes").first()
    assert edge is not None
    assert edge.block.name == "Tents"
    assert (edge.generators, edge.ranked_by, edge.probability) == (["category"], "cosine", None)
    assert edge.why == "The two pages are alike in meaning, both in Shop › Tents."
    assert edge.evidence == {"cosine": edge.similarity, "level": 1}
    assert 0 < edge.quantile <= 1
    assert edge.run.model.name == "test-model"
    assert edge.run.params["threshold"] == 0.0
    assert edge.run.code_version
    assert edge.anchor
    assert edge.tier is None or edge.tier.lower_bound <= edge.similarity
    assert not RunCandidate.objects.exists()


def small(project: Project, *names: str) -> dict[str, Page]:
    """Pages with one and the same vector in one category."""
    category = make_category(project, "All")
    found = {}
    for name in names:
        found[name] = make_page(project, f"/{name}", category=category, title=f"All about {name}")
        embed(found[name], [1, 0, 0, 0])
    return found


def test_what_must_never_be_suggested_is_not(project):
    pages = small(
        project,
        *(
            "a",
            "linked",
            "rejected",
            "noindex",
            "gone",
            "moved",
            "missing",
            "out",
            "fine",
            "list?page=2",
            "fine?sort=x",
        ),
    )
    make_link(pages["a"], pages["linked"])
    make_edge(project, pages["a"], pages["rejected"], status="rejected")
    ExclusionRule.objects.create(project=project, pattern="/out$")
    for name, values in {
        "noindex": {"indexable": False},
        "gone": {"status_code": 404},
        "moved": {"redirect_url": "https://shop.example/fine"},
        "missing": {"missing_since": "2026-01-01T00:00:00Z"},
    }.items():
        type(pages[name]).objects.filter(pk=pages[name].pk).update(**values)
    run = match(project)
    from_a = {target for source, target in pairs(project, run=run) if source == "a"}
    assert from_a == {"fine"}
    assert left_out(run) == {
        "excluded as acceptor": 1,
        "excluded as donor": 1,
        "not answering with 200": 2,
        "not indexable (as acceptor)": 1,
        "pagination": 1,
        "addresses with a query": 1,
        "without a vector": 0,
    }


def test_a_link_in_the_footer_does_not_count_as_linked_and_one_in_a_menu_does_beside_the_text(project):
    pages = small(project, "a", "b", "c")
    project.tiers.update(placement="related")
    make_link(pages["a"], pages["b"], block=Block.FOOTER)
    make_link(pages["a"], pages["c"], block=Block.NAVIGATION)
    match(project)
    assert {pair for pair in pairs(project) if pair[0] == "a"} == {("a", "b")}


def test_donors_and_acceptors_are_chosen_apart(project):
    pages = small(project, "a", "b", "c")
    type(pages["c"]).objects.filter(pk=pages["c"].pk).update(clicks=100, inlinks=4)
    match(project, donors=PageFilter(min_clicks=50), acceptors=PageFilter(url_pattern="/[ab]$", max_inlinks=0))
    assert pairs(project) == {("c", "a"), ("c", "b")}


@pytest.mark.nightly
def test_a_category_filter_takes_the_subtree(project, site):
    tents = make_category(project, "Shop", "Tents")
    match(project, levels_up=5, acceptors=PageFilter(categories=(tents.pk,)))
    names = set(CandidateEdge.objects.values_list("target__category__name", flat=True))
    assert names == {"Domes", "Tunnels"}


@pytest.mark.nightly
def test_a_second_run_refreshes_and_keeps_what_people_decided(project):
    pages = small(project, "a", "b", "c")
    first = match(project)
    edge = CandidateEdge.objects.get(source=pages["a"], target=pages["b"])
    CandidateEdge.objects.filter(pk=edge.pk).update(status="accepted", anchor="Mine", edited=True, rel="ugc")
    second = match(project, related_per_donor=5)
    edge.refresh_from_db()
    assert (edge.status, edge.anchor, edge.rel, edge.run_id) == ("accepted", "Mine", "ugc", first.pk)
    assert not edge.stale
    assert second.report["new"] == 0
    assert second.report["refreshed"] == 6


@pytest.mark.nightly
def test_a_decided_edge_keeps_the_provenance_its_editor_saw(project):
    pages = small(project, "a", "b")
    first = match(project)
    CandidateEdge.objects.filter(source=pages["a"]).update(status="accepted")
    PageEmbedding.objects.filter(page=pages["b"]).update(vector=[1, 1, 0, 0])
    second = match(project)
    decided = CandidateEdge.objects.get(source=pages["a"])
    refreshed = CandidateEdge.objects.get(source=pages["b"])
    assert (decided.run_id, decided.similarity, decided.tier.name) == (first.pk, 1.0, "Likely")
    assert (refreshed.run_id, round(refreshed.similarity, 2), refreshed.tier.name) == (second.pk, 0.71, "Related")


@pytest.mark.nightly
def test_accepted_links_use_up_the_caps_of_later_runs(project):
    pages = small(project, "a", "b", "c", "d")
    match(project, inline_per_donor=0, related_per_donor=2)
    CandidateEdge.objects.filter(source=pages["a"]).update(status="accepted")
    match(project, inline_per_donor=0, related_per_donor=2)
    assert CandidateEdge.objects.filter(source=pages["a"], stale=False).count() == 2
    match(project, inline_per_donor=0, related_per_donor=3)
    assert CandidateEdge.objects.filter(source=pages["a"], stale=False).count() == 3


@pytest.mark.nightly
@pytest.mark.parametrize("known", [{"h1": "ALL about b"}, {"headings": ["Other", "All about b"]}])
def test_no_link_stands_in_a_heading_that_was_imported(project, known):
    pages = small(project, "a", "b")
    body = "All about b\nWe know it all. Truly all about b."
    type(pages["a"]).objects.filter(pk=pages["a"].pk).update(body=body, **known)
    match(project)
    assert CandidateEdge.objects.get(source=pages["a"]).span_start == body.rindex("all about b")


@pytest.mark.nightly
@pytest.mark.parametrize("status", ["accepted", "exported"])
def test_links_beside_a_text_that_stand_use_up_the_room_there(project, status):
    pages = small(project, *"abcdefghijk")
    match(project, inline_per_donor=3, related_per_donor=4)
    edges = CandidateEdge.objects.filter(source=pages["a"], stale=False)
    assert edges.filter(placement="related").count() == 4
    edges.update(status=status)
    match(project, inline_per_donor=3, related_per_donor=4)
    assert edges.filter(placement="related").count() == 4


@pytest.fixture
def mentions(project) -> tuple[CandidateEdge, CandidateEdge]:
    """Links of one donor to two pages of one name: an accepted one on the second of two mentions, and a suggestion."""
    pages = small(project, "a", "b", "c")
    type(pages["a"]).objects.filter(pk=pages["a"].pk).update(body="First, all about b. Then all about b once more.")
    type(pages["a"]).objects.filter(pk=pages["c"].pk).update(title="All about b", h1="All about b")
    accepted = {"status": "accepted", "span_start": 25, "span_end": 36, "placement": "inline"}
    return (
        make_edge(project, pages["a"], pages["c"], anchor="all about b", **accepted),
        make_edge(project, pages["a"], pages["b"], anchor="anything"),
    )


@pytest.mark.nightly
def test_words_that_an_accepted_link_stands_on_are_left_to_it(project, mentions):
    accepted, other = mentions
    match(project)
    other.refresh_from_db()
    assert (other.span_start, other.placement) == (7, "inline")
    make_link(accepted.source, make_page(project), anchor="all about b")
    match(project)
    accepted.refresh_from_db()
    other.refresh_from_db()
    assert (accepted.span_start, accepted.span_end, accepted.placement) == (25, 36, "inline")
    assert (other.span_start, other.placement) == (None, "related")


@pytest.mark.nightly
def test_an_accepted_link_that_is_on_the_site_by_now_takes_its_words_once(project, mentions):
    accepted, other = mentions
    make_link(accepted.source, accepted.target, anchor="All about B")
    match(project)
    other.refresh_from_db()
    assert other.span_start == 7


@pytest.mark.nightly
def test_words_that_no_longer_read_as_the_accepted_link_are_free(project, mentions):
    accepted, other = mentions
    CandidateEdge.objects.filter(pk=accepted.pk).update(anchor="words that are gone")
    make_link(accepted.source, make_page(project), anchor="all about b")
    match(project)
    other.refresh_from_db()
    assert other.span_start == 25


@pytest.mark.nightly
def test_the_groups_of_a_donor_stay_together_after_a_run_over_a_part(project):
    pages = small(project, "a", "b", "c")
    match(project)
    PageEmbedding.objects.filter(page=pages["b"]).update(vector=[1, 1, 0, 0])
    match(project, acceptors=PageFilter(url_pattern="/b$"))
    best = CandidateEdge.objects.filter(source=pages["a"]).values_list("donor_best", flat=True)
    assert set(best) == {1.0}


@pytest.mark.nightly
def test_a_model_that_has_only_begun_is_not_matched_by(project):
    pages = small(project, "a", "b", "c", "d", "e", "f")
    newer = make_model(4, "test-model")
    newer = type(newer).objects.create(name="test-model", version="2", recipe=newer.recipe, dimensions=4)
    embed(pages["a"], [0, 1, 0, 0], newer)
    run = match(project)
    assert run.model.version == "1"
    for name in "bcdef":
        embed(pages[name], [0, 1, 0, 0], newer)
    make_page(project, "/unseen")
    run = match(project)
    assert run.model.version == "2"
    assert left_out(run)["without a vector"] == 1


@pytest.mark.nightly
def test_what_the_newest_run_no_longer_proposes_becomes_stale_and_comes_back(project):
    pages = small(project, "a", "b")
    match(project)
    link = make_link(pages["a"], pages["b"])
    match(project)
    assert pairs(project, stale=True) == {("a", "b")}
    link.delete()
    match(project)
    assert pairs(project, stale=True) == set()


@pytest.mark.nightly
def test_a_rejected_pair_is_no_suggestion_that_is_no_longer_proposed(project):
    pages = small(project, "a", "b")
    match(project)
    CandidateEdge.objects.filter(source=pages["a"]).update(status="rejected", reviewed=True)
    make_link(pages["a"], pages["b"])
    assert match(project).report["stale"] == 0


@pytest.mark.nightly
def test_a_run_over_a_part_of_the_site_leaves_the_rest_standing(project):
    small(project, "a", "b", "c")
    match(project)
    match(project, donors=PageFilter(url_pattern="/a$"), related_per_donor=1)
    assert pairs(project, stale=True) == {("a", "c")}


@pytest.mark.nightly
def test_planning_or_running_twice_changes_nothing(project, site):
    run = start(project, levels_up=2)
    type(run).objects.filter(pk=run.pk).update(status="running")
    run.refresh_from_db()
    plan_match(run)
    plan_match(run)
    run.refresh_from_db()
    numbers = batches_left(run)
    assert [run_batch(run, number) for number in numbers] == [True] * len(numbers)
    before = list(RunCandidate.objects.order_by("pk").values())
    assert [run_batch(run, number) for number in numbers] == [False] * len(numbers)
    plan_match(run)
    assert list(RunCandidate.objects.order_by("pk").values()) == before
    first = finish_match(run)
    assert first.edges == CandidateEdge.objects.count()


def test_a_cancelled_run_writes_nothing_more(project, site):
    run = start(project)
    type(run).objects.filter(pk=run.pk).update(status="running")
    run.refresh_from_db()
    plan_match(run)
    type(run).objects.filter(pk=run.pk).update(cancel_requested=True)
    assert not run_batch(run, 0)
    assert not RunBatch.objects.filter(run=run, done=True).exists()
    assert not RunCandidate.objects.exists()


@pytest.mark.nightly
def test_equal_rounds_reach_more_acceptors(project, site):
    match(project, levels_up=5, inline_per_donor=0, related_per_donor=3, mode=Mode.EQUAL)
    equal = CandidateEdge.objects.filter(stale=False).values("target").distinct().count()
    match(project, levels_up=5, inline_per_donor=0, related_per_donor=3, mode=Mode.BEST)
    best = CandidateEdge.objects.filter(stale=False).values("target").distinct().count()
    assert equal >= best


def test_more_than_three_identical_anchors_for_a_target_rotate(project):
    pages = small(project, "hub", *(f"p{number}" for number in range(6)))
    hub = pages["hub"]
    hub.title, hub.h1, hub.headings = "Choosing a tent: the long guide", "Choosing a tent", ["How big a tent must be"]
    hub.save()
    match(project)
    anchors = list(CandidateEdge.objects.filter(target=hub).values_list("anchor", flat=True))
    assert len(anchors) == 6
    assert max(anchors.count(text) for text in anchors) == 3


def test_without_vectors_or_without_anybody_left_it_says_so(project):
    make_page(project, "/a")
    with pytest.raises(UserError, match="no vectors yet"):
        match(project)
    type(project.runs.first()).objects.update(status="failed")
    small(project, "b", "c")
    with pytest.raises(UserError, match="No page can be a donor: 2 pages"):
        match(project, donors=PageFilter(min_clicks=10))


def test_a_page_alone_is_counted_as_one(project):
    small(project, "a")
    with pytest.raises(UserError, match="No page can be a donor: 1 page has a vector and is live"):
        match(project, donors=PageFilter(min_clicks=10))


@pytest.mark.parametrize("vector", [[0, 0, 0, 0]])
def test_a_vector_of_zeros_is_like_nothing(project, vector):
    pages = small(project, "a", "b")
    PageEmbedding.objects.filter(page=pages["b"]).update(vector=vector)
    match(project, threshold=0.1)
    assert pairs(project) == set()


def test_one_page_alone_gets_no_link_and_no_error(project):
    small(project, "a")
    assert match(project).report["edges"] == 0


# ----------------------------------------------------------------------------------------------- tiers, sensitivity


def test_moving_a_bound_reads_the_scores_again_and_leaves_decisions_alone(project):
    high = make_edge(project, score=0.9, span_start=0, span_end=5)
    middle = make_edge(project, score=0.7, span_start=0, span_end=5)
    accepted = make_edge(project, score=0.7, status="accepted", rel="follow")
    below = make_edge(project, score=0.3)
    inline = project.tiers.get(name="Likely", basis="cosine")
    inline.lower_bound = 0.69
    inline.save()
    counts = retier(project)
    for edge in (high, middle, accepted, below):
        edge.refresh_from_db()
    assert (high.tier.name, middle.tier.name, middle.placement, middle.rel) == ("Likely", "Likely", "inline", "follow")
    assert (accepted.tier.name, accepted.rel) == ("Related", "follow")
    assert below.tier is None
    assert counts == {"Likely": 2, "Related": 0, "Reserve": 0, "below every tier": 1}


def test_an_edge_touching_a_sensitive_subtree_or_address_says_why(project):
    health = make_category(project, "Magazine", "Health")
    pills = make_page(project, "/pills", category=make_category(project, "Magazine", "Health", "Medication"))
    loans = make_page(project, "/loans/rates")
    to_pills = make_edge(project, None, pills)
    from_loans = make_edge(project, loans, None)
    plain = make_edge(project)
    SensitiveRule.objects.create(project=project, category=health, kind="medical")
    rule = SensitiveRule(project=project, url_pattern="/loans/", kind="financial")
    add_sensitive(rule)
    assert mark_sensitive(project) == 2
    for edge in (to_pills, from_loans, plain):
        edge.refresh_from_db()
    assert to_pills.sensitive == "The acceptor is medical (Magazine › Health)"
    assert from_loans.sensitive == "The donor is financial (address has /loans/)"
    assert plain.sensitive == ""
    rule.delete()
    assert mark_sensitive(project) == 1


@pytest.mark.nightly
def test_a_new_run_marks_sensitivity_too(project):
    pages = small(project, "a", "b")
    SensitiveRule.objects.create(project=project, category=pages["a"].category, kind="legal")
    assert match(project).report["sensitive"] == 2
