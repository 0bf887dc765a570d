"""What other bounds would do is said before they are saved, from kept counts, and is what saving them does."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from datetime import UTC, datetime
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from linker.matching.cohorts import saved_cohort
from linker.matching.tiers import retier
from linker.models import Basis, Block, CandidateEdge, Tier
from linker.models.querysets import OPEN, TO_REVIEW
from linker.projects import tier_preview
from linker.projects.policies.cohorts import CohortName, set_bounds
from linker.projects.policies.tiers import change_tiers
from linker.projects.tier_preview import Bound, Spread
from tests.factories import make_edge, make_link, make_member, make_page, make_project, make_run
from tests.markup import compact

pytestmark = pytest.mark.django_db

ADDRESS = "/p/shop/settings/tiers/"


def some_edges(project, number: int, seed: int = 1, **fields) -> None:
    """Open and decided suggestions of any value, among them some right on a bound."""
    chance = random.Random(seed)
    run, pages = make_run(project), [make_page(project) for _ in range(number + 1)]
    tiers = sorted(project.tiers.filter(basis="probability"), key=lambda tier: -tier.lower_bound)
    for place in range(number):
        value = chance.choice([chance.random(), tiers[0].lower_bound, 0.29, 1.0, 0.0])
        tier = next((tier for tier in tiers if tier.lower_bound <= value), None)
        status, reviewed, stale = chance.choice(
            [("suggested", False, False)] * 3
            + [("accepted", True, False), ("rejected", True, False), ("exported", True, False)]
            + [("suggested", False, True), ("exported", False, False), ("withdrawn", True, False)]
        )
        make_edge(
            project, pages[place], pages[place + 1], run=run, probability=value, similarity=0.5, status=status,
            reviewed=reviewed, stale=stale, tier=tier, ranked_by="learned", **fields,
        )  # fmt: skip


def asked_of(project, *lower: float) -> list[Bound]:
    """The tiers of the probability with other bounds, highest tier first."""
    tiers = Tier.objects.filter(project=project, basis="probability").order_by("-lower_bound")
    return [Bound(tier.pk, tier.name, bound, tier.held) for tier, bound in zip(tiers, lower, strict=True)]


def counted(project, bounds: list[Bound]) -> dict[str, tuple[int, int, int]]:
    """By brute force: the open suggestions that each tier would hold, and the accepted and rejected above its bound."""
    edges = list(CandidateEdge.objects.filter(project=project))
    bounds = sorted(bounds, key=lambda bound: -bound.lower)

    def reading(edge) -> str | None:
        return next((bound.name for bound in bounds if bound.lower <= edge.probability), None)

    is_open = [edge for edge in edges if edge.status == "suggested" and not edge.stale]
    accepted = [edge for edge in edges if edge.status in ("accepted", "exported") and edge.reviewed]
    rejected = [edge for edge in edges if edge.status == "rejected"]
    return {
        bound.name: (
            sum(reading(edge) == bound.name for edge in is_open),
            sum(edge.probability >= bound.lower for edge in accepted),
            sum(edge.probability >= bound.lower for edge in rejected),
        )
        for bound in bounds
    }


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3))
def test_what_is_said_is_what_a_count_of_every_suggestion_finds(project, seed):
    some_edges(project, 40, seed)
    chance = random.Random(seed)
    for _ in range(8):
        bounds = asked_of(project, *(number / 100 for number in chance.sample(range(100), 3)))
        effect = Spread(project, Basis.PROBABILITY).effect(bounds, in_use=True)
        found = {tier.name: (tier.then, tier.accepted, tier.rejected) for tier in effect.tiers}
        assert found == counted(project, bounds)
        assert effect.is_exact
        assert all(tier.now + tier.enter - tier.leave == tier.then >= 0 for tier in effect.tiers)


@pytest.mark.nightly
def test_saving_does_what_was_said(project):
    some_edges(project, 40)
    make_run(project)  # a newer one, which leaves stale what is stale
    bounds = asked_of(project, 0.6, 0.29, 0.1)
    effect = Spread(project, Basis.PROBABILITY).effect(bounds, in_use=True)
    assert effect.queue.now == CandidateEdge.objects.filter(TO_REVIEW, project=project).count()
    tiers = {tier.pk: tier for tier in Tier.objects.filter(project=project, basis="probability")}
    for bound in bounds:
        tiers[bound.tier].lower_bound = bound.lower
    change_tiers(project, list(tiers.values()))
    edges = CandidateEdge.objects.filter(OPEN, project=project)
    assert {tier.name: tier.then for tier in effect.tiers} == {
        bound.name: edges.filter(tier=bound.tier).count() for bound in bounds
    }
    assert effect.queue.then == CandidateEdge.objects.filter(TO_REVIEW, project=project).count()
    assert effect.below.then == edges.filter(tier=None).count()


def linked_edges(project, number: int) -> None:
    """Open suggestions with words in the text, of donors with room for two links; the site has some of the pairs
    beside its text, and some in it."""
    chance = random.Random(3)
    run, body = make_run(project), "Wear warm boots on snow. Dry them at night, and sleep well. " * 3
    targets = [make_page(project) for _ in range(5)]
    for _ in range(number):
        donor = make_page(project, body=body)
        for place, target in enumerate(chance.sample(targets, 3)):
            start = 5 + 60 * place
            make_edge(
                project, donor, target, run=run, probability=chance.random(), similarity=0.5, ranked_by="learned",
                anchor="warm boots", span_start=start, span_end=start + 10, body_hash=donor.body_hash,
            )  # fmt: skip
            block = chance.choice([None, None, Block.ASIDE, Block.UNKNOWN, Block.CONTENT])
            if block is not None:
                make_link(donor, target, "boots", block=block)


def held_now(project) -> tuple[dict[int | None, int], int]:
    """The open suggestions of each tier, and those that the queue holds."""
    edges = CandidateEdge.objects.filter(OPEN, project=project)
    queue = CandidateEdge.objects.filter(TO_REVIEW, project=project).count()
    return Counter(edges.values_list("tier", flat=True)), queue


@pytest.mark.nightly
def test_links_that_the_site_has_where_they_would_stand_then_are_counted_as_saving_does_it(project):
    linked_edges(project, 12)
    retier(project)
    left, chance = set(), random.Random(5)
    tiers = {tier.pk: tier for tier in Tier.objects.filter(project=project, basis="probability")}
    for _ in range(6):
        bounds = asked_of(project, *(number / 100 for number in chance.sample(range(100), 3)))
        effect = Spread(project, Basis.PROBABILITY).effect_of_saving(bounds, in_use=True)
        now, queue = held_now(project)
        assert ({bound.tier: tier.now for bound, tier in zip(by_bound(bounds), effect.tiers, strict=True)}, queue) == (
            {bound.tier: now[bound.tier] for bound in bounds}, effect.queue.now,
        )  # fmt: skip
        for bound in bounds:
            tiers[bound.tier].lower_bound = bound.lower
        change_tiers(project, list(tiers.values()))
        after, queue_after = held_now(project)
        assert [tier.then for tier in effect.tiers] == [after[bound.tier] for bound in by_bound(bounds)]
        assert (effect.below.then, effect.queue.then) == (after[None], queue_after)
        assert after.total() - now.total() == effect.linked.leave - effect.linked.enter
        left.add(after.total() - now.total())
    assert min(left) < 0 < max(left), "some left, and some came back"


def test_where_there_are_too_many_to_look_the_preview_says_that_it_leaves_them_out(project, monkeypatch):
    linked_edges(project, 2)
    monkeypatch.setattr(tier_preview, "MOST_READ", 3)
    effect = Spread(project, Basis.PROBABILITY).effect_of_saving(asked_of(project, 0.9, 0.5, 0.1), in_use=True)
    assert not effect.knows_linked


def by_bound(bounds: list[Bound]) -> list[Bound]:
    return sorted(bounds, key=lambda bound: -bound.lower)


def test_bounds_that_nobody_moved_move_nothing_wherever_they_are(project):
    Tier.objects.filter(project=project, basis="probability", name="Likely").update(lower_bound=0.7512)
    some_edges(project, 40)
    spread = Spread(project, Basis.PROBABILITY)
    assert not spread.effect(spread.bounds(), in_use=True).moves


def test_a_bound_within_a_hundredth_takes_its_share_and_says_so(project):
    run = make_run(project)
    for n in range(10):
        make_edge(project, run=run, probability=0.5 + n / 1000, similarity=0.5, tier=None, ranked_by="learned")
    effect = Spread(project, Basis.PROBABILITY).effect([Bound(None, "Half", 0.505, False)], in_use=True)
    assert not effect.is_exact
    assert (effect.tiers[0].then, effect.below.then, effect.queue.enter) == (5, 5, 5)


def test_a_tier_that_is_held_back_or_new_or_gone_counts_in_the_queue_as_it_would(project):
    some_edges(project, 40)
    highest, *others = asked_of(project, 0.8, 0.4, 0.2)
    spread = Spread(project, Basis.PROBABILITY)
    shown = CandidateEdge.objects.filter(OPEN, project=project, probability__gte=0.4)
    alone = spread.effect([Bound(None, "New", 0.4, False)], in_use=True)
    assert (alone.queue.then, alone.tiers[0].enter) == (shown.count(), shown.count())
    held = spread.effect([Bound(highest.tier, "Likely", 0.4, True), *others[1:]], in_use=True)
    assert held.queue.leave == CandidateEdge.objects.filter(TO_REVIEW, project=project).count()


def test_suggestions_without_a_probability_keep_their_place_in_the_queue(project):
    some_edges(project, 20)
    make_edge(project, score=0.9)
    effect = Spread(project, Basis.PROBABILITY).effect(asked_of(project, 0.9, 0.8, 0.7), in_use=True)
    assert effect.queue.now == CandidateEdge.objects.filter(TO_REVIEW, project=project).count()
    similarity = Spread(project, Basis.COSINE)
    assert sum(bar.open for bar in similarity.bars()) == 1, "the bounds of the similarity are for this one alone"
    assert similarity.effect(similarity.bounds(), in_use=True).queue.now == effect.queue.now


def form_of(project, basis: str = "probability", **changes: str) -> dict[str, str]:
    tiers = list(Tier.objects.filter(project=project, basis=basis).order_by("-lower_bound"))
    fields = {"tiers-TOTAL_FORMS": str(len(tiers)), "tiers-INITIAL_FORMS": str(len(tiers))}
    for place, tier in enumerate(tiers):
        fields |= {f"tiers-{place}-{name}": str(getattr(tier, name)) for name in ("id", "name", "lower_bound")}
        fields |= {f"tiers-{place}-{name}": getattr(tier, name) for name in ("placement", "rel", "confirmed_rel")}
        fields |= {f"tiers-{place}-held": "on"} if tier.held else {}
    return fields | changes


def said(response) -> str:
    return " ".join(response.content.decode().split())


@pytest.mark.nightly
def test_the_first_press_shows_what_would_change_and_saves_nothing(project, manager, client_for):
    some_edges(project, 30)
    client, form = client_for(manager), form_of(project, **{"tiers-0-lower_bound": "0.05"})
    before = list(Tier.objects.order_by("pk").values())
    page = said(client.post(ADDRESS, form | {"check": "1"}))
    assert "The queue would hold <strong>" in page
    assert 'value="0.05"' in page
    fragment = said(client.post(ADDRESS, form | {"check": "1"}, headers={"HX-Request": "true"}))
    assert fragment.startswith('<div id="tier-effect"')
    wrong = client.post(ADDRESS, form | {"check": "1", "tiers-0-lower_bound": "2"}, headers={"HX-Request": "true"})
    assert "until the fields below are right" in said(wrong)
    assert list(Tier.objects.order_by("pk").values()) == before


def undo_form(page: str) -> tuple[str, dict[str, str]]:
    form = re.search(r'<form class="notice undo" method="post" action="([^"]*)">(.*?)</form>', page, re.S)
    assert form is not None, "there is nothing to undo"
    fields = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', form[2])
    return unescape(form[1]), {name: unescape(value) for name, value in fields if name != "csrfmiddlewaretoken"}


@pytest.mark.nightly
def test_saved_bounds_can_be_taken_back_a_deleted_tier_and_a_new_one_included(project, manager, client_for):
    some_edges(project, 10)
    client = client_for(manager)
    names = ("name", "lower_bound", "placement", "rel", "confirmed_rel", "export_unreviewed", "held")
    before = sorted(Tier.objects.filter(project=project).values_list(*names))
    form = form_of(project, **{"tiers-0-lower_bound": "0.35", "tiers-0-name": "High", "tiers-1-DELETE": "on"})
    new = {"name": "New", "lower_bound": "0.9", "placement": "inline", "rel": "follow", "confirmed_rel": "follow"}
    form |= {"tiers-TOTAL_FORMS": "4", **{f"tiers-3-{name}": value for name, value in new.items()}}
    page = client.post(ADDRESS, form, follow=True).content.decode()
    assert sorted(Tier.objects.filter(project=project).values_list(*names)) != before
    client.post(*undo_form(page))
    assert sorted(Tier.objects.filter(project=project).values_list(*names)) == before
    assert "Undo" in client.get(ADDRESS).content.decode(), "and back again"
    other = make_member(project, "manager", username="other")
    client_for(other).post(ADDRESS, form_of(project, **{"tiers-0-lower_bound": "0.5"}))
    assert "notice undo" not in client.get(ADDRESS).content.decode(), "somebody has changed them since"


@pytest.mark.nightly
def test_a_basis_that_was_saved_and_used_is_taken_back_with_its_bounds(project, manager, client_for):
    client = client_for(manager)
    before = sorted(Tier.objects.filter(project=project).values_list("basis", "name", "lower_bound"))
    other = form_of(project, "quantile", **{"tiers-0-lower_bound": "0.97"})
    page = client.post(f"{ADDRESS}?basis=quantile", other | {"use": "quantile"}, follow=True).content.decode()
    project.refresh_from_db()
    assert project.tier_basis == Basis.QUANTILE
    page = client.post(*undo_form(page), follow=True).content.decode()
    project.refresh_from_db()
    assert project.tier_basis == Basis.PROBABILITY
    assert sorted(Tier.objects.filter(project=project).values_list("basis", "name", "lower_bound")) == before
    client.post(*undo_form(page))
    project.refresh_from_db()
    assert project.tier_basis == Basis.QUANTILE, "and back again"


def test_who_is_no_manager_sees_and_changes_nothing(project, editor, client_for):
    for client, status in ((client_for(editor), 403), (client_for(make_member(make_project("other"))), 404)):
        assert client.get(ADDRESS).status_code == status
        assert client.post(ADDRESS, form_of(project, check="1")).status_code == status


@pytest.mark.nightly
def test_the_page_asks_as_much_for_many_suggestions_as_for_few_and_reads_no_edges(project, manager, client_for):
    client, form = client_for(manager), form_of(project, **{"tiers-0-lower_bound": "0.05", "check": "1"})

    def asked() -> list[str]:
        with CaptureQueriesContext(connection) as queries:
            assert client.post(ADDRESS, form).status_code == 200
        return [query["sql"] for query in queries]

    some_edges(project, 3)
    asked()
    few = asked()
    some_edges(project, 40, 2)
    many = asked()
    assert len(many) == len(few)
    reads = [sql for sql in many if "linker_candidateedge" in sql and "LIMIT 1" not in sql]
    assert not reads, reads


def a_match(project, version: str = "a1", shift: float = 0.0, day: int = 1):
    """A run of March 2026 that moved what the model of that version says."""
    approval = {"version": version, "judged": 900, "sites": 9, "decisions": 40, "slope": 1.0, "shift": shift}
    report = {"version": 1, "ranking": "learned", "approval": approval}
    return make_run(project, report=report, finished_at=datetime(2026, 3, day, 12, tzinfo=UTC))


def suggested(project, run, probability: float, **fields):
    return make_edge(project, make_page(project), make_page(project), run=run, probability=probability, **fields)


def bars_of(spread) -> dict[str, list[int]]:
    """The first hundredths of the bars with open, accepted and rejected suggestions."""
    bars = spread.bars()
    return {name: [bar.low for bar in bars if getattr(bar, name)] for name in ("open", "accepted", "rejected")}


def a_recalibrated_site(project) -> None:
    """Decided in runs before two calibrations; the last halves the odds of what the model says."""
    doubled, halved = math.log(2), -math.log(2)
    other, first = a_match(project, "a0", day=1), a_match(project, shift=doubled, day=2)
    suggested(project, first, 0.505, status="accepted", reviewed=True)
    suggested(project, first, 0.805, status="rejected", reviewed=True)
    suggested(project, other, 0.95, status="rejected", reviewed=True)
    last = a_match(project, shift=halved, day=3)
    suggested(project, last, 0.2)
    suggested(project, last, 0.705, status="accepted", reviewed=True)


def test_decisions_of_earlier_runs_stand_where_the_newest_calibration_puts_them(project, manager, client_for):
    a_recalibrated_site(project)
    spread = Spread(project, Basis.PROBABILITY)
    # A quarter of the odds of 0.505 are those of 0.203; of 0.805, those of 0.508.
    assert bars_of(spread) == {"open": [20], "accepted": [20, 70], "rejected": [50]}
    assert spread.other_scale == 1, "another model stated it"
    [_, *tiers] = spread.effect(asked_of(project, 0.9, 0.5, 0.1), in_use=True).tiers
    assert [(tier.accepted, tier.rejected) for tier in tiers] == [(1, 1), (2, 1)]
    page = compact(client_for(manager).get(f"{ADDRESS}?basis=probability").content.decode())
    assert "the 3 that have been decided" in page
    assert "What was decided in other runs stands where the calibration of 3 Mar 2026 puts it." in page
    assert "1 decision is not shown: its probability is on another scale than the calibration of 3 Mar 2026." in page


def test_those_of_links_with_bounds_of_their_own_do_too(project):
    a_recalibrated_site(project)
    tiers = project.tiers.filter(basis="probability").order_by("-lower_bound")
    project.pages.update(role="product")
    name = CohortName("probability", role="product")
    set_bounds(project, name, {tier.pk: tier.lower_bound for tier in tiers}, None)
    spread = Spread(project, Basis.PROBABILITY, saved_cohort(project, name.find(project).pk))
    assert bars_of(spread) == {"open": [20], "accepted": [20, 70], "rejected": [50]}
    assert spread.other_scale == 1
    others = Spread(project, Basis.PROBABILITY)
    assert bars_of(others) == {"open": [], "accepted": [], "rejected": []}
    assert others.other_scale == 0


def test_one_calibration_reads_no_edges_and_says_nothing(project, manager, client_for):
    a_match(project, day=1)
    run = a_match(project, day=2)
    suggested(project, run, 0.5, status="accepted", reviewed=True)
    with CaptureQueriesContext(connection) as queries:
        Spread(project, Basis.PROBABILITY)
    assert not [query for query in queries if "linker_candidateedge" in query["sql"]]
    page = client_for(manager).get(f"{ADDRESS}?basis=probability").content.decode()
    assert "another scale" not in page
    assert "puts it" not in page
