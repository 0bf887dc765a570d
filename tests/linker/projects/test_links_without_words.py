"""Links that have no words in the text may begin at another bound than those in it."""

from __future__ import annotations

import random

import pytest
from django.core.cache import cache
from django.db.models import F

from linker.matching.tiers import retier
from linker.models import CandidateEdge, Cohort, Tier
from linker.models.querysets import OPEN, TO_REVIEW
from linker.projects.policies.cohorts import WORDLESS, CohortName, set_bounds
from linker.projects.policies.retier_run import run_retier
from linker.projects.policies.share_again import after_match
from linker.projects.shown_share import SHARES, ShownShares
from linker.projects.tier_effect import Bound
from linker.projects.tier_preview import Spread
from linker.web.views.settings.cohorts import _as_read
from review.releases.checks import READY
from tests.factories import make_edge, make_page, make_run
from tests.linker.web.test_cohort_pages import undo_form

pytestmark = pytest.mark.django_db

SHARE_ADDRESS = "/p/shop/settings/tiers/sure/"
OWN_ADDRESS = "/p/shop/settings/tiers/own/?basis=probability&wordless=1"
SUREST = SHARES[-1]


@pytest.fixture
def edges(project) -> None:
    """Suggestions from 0.5 to 0.98; those with words in the text are less likely to be approved."""
    cache.clear()
    project.tiers.filter(basis="probability", name="Related").delete()
    chance, run = random.Random(5), make_run(project)
    for place in range(40):
        donor = make_page(project, body="The tents of our shop stand firm in every wind. " * 20)
        words = {"span_start": 4, "span_end": 9, "anchor": "tents"} if place % 2 else {}
        stated = round(0.5 + (0.45 if words else 0.48) * chance.random(), 6)
        make_edge(
            project, donor, make_page(project, role="hub" if place < 4 else "product"), run=run, probability=stated,
            similarity=0.5, ranked_by="learned", **words,
        )  # fmt: skip
    retier(project)


def test_the_overview_says_where_tiers_begin_for_links_without_words(project, edges, client_for, viewer):
    def overview() -> str:
        return " ".join(client_for(viewer).get(f"/p/{project.slug}/").content.decode().split())

    assert "without words in the text" not in overview()
    likely = project.tiers.get(basis="probability", name="Likely")
    set_bounds(project, WORDLESS, {likely.pk: 0.88}, None)
    set_bounds(project, CohortName("probability", role="hub"), {likely.pk: 0.6}, None)
    page = overview()
    assert f"{likely.lower_bound:.2f} <span" in page
    assert "0.88 without words in the text" in page
    assert page.count("none without words in the text") == 1, "of the other tier there are none"
    assert "Tiers begin elsewhere for links to pages with the role “Hub”." in page


def bounds(project, likely: float) -> dict[int, float]:
    tiers = {tier.name: tier for tier in project.tiers.filter(basis="probability")}
    return {tiers["Likely"].pk: likely, tiers["Reserve"].pk: tiers["Reserve"].lower_bound}


def shown(project) -> dict[bool, list[float]]:
    """The probabilities of what the queue shows, by whether it has words in the text."""
    found: dict[bool, list[float]] = {True: [], False: []}
    rows = CandidateEdge.objects.filter(TO_REVIEW, project=project)
    for span, probability in rows.values_list("span_start", "probability"):
        found[span is not None].append(probability)
    return found


def wordless_bound(project) -> float | None:
    own = Cohort.objects.filter(project=project, wordless=True).first()
    return None if own is None else own.bounds.get(tier__name="Likely").lower_bound


def test_a_new_project_has_one_bound_for_all_links(project, edges):
    assert wordless_bound(project) is None
    assert min(shown(project)[True]) >= 0.74
    assert min(shown(project)[False]) < 0.8


def test_their_bound_reads_them_and_no_link_with_words_in_the_text(project, edges):
    in_text = shown(project)[True]

    set_bounds(project, WORDLESS, bounds(project, 0.88), None)

    assert shown(project)[True] == in_text
    assert min(shown(project)[False]) >= 0.88
    held = CandidateEdge.objects.filter(OPEN, project=project, tier__name="Reserve", span_start=None)
    assert max(held.values_list("probability", flat=True)) > 0.74


def test_the_bounds_of_a_role_count_before_theirs(project, edges):
    set_bounds(project, WORDLESS, bounds(project, 0.97), None)
    set_bounds(project, CohortName("probability", role="hub"), bounds(project, 0.31), None)

    of_hubs = CandidateEdge.objects.filter(OPEN, project=project, target__role="hub")
    assert {edge.tier.name for edge in of_hubs.select_related("tier")} == {"Likely"}


@pytest.mark.parametrize("lower", [0.5, 0.81, 0.93])
def test_the_preview_says_what_becomes_of_them(project, edges, lower):
    wanted = bounds(project, lower)
    tiers = project.tiers.filter(basis="probability")
    spread = Spread(project, "probability", _as_read(project, WORDLESS, None))
    said = spread.effect_of_saving([Bound(t.pk, t.name, wanted[t.pk], t.held) for t in tiers], in_use=True)
    before = sum(len(part) for part in shown(project).values())

    set_bounds(project, WORDLESS, wanted, None)

    assert said.queue.now == before
    assert said.queue.then == sum(len(part) for part in shown(project).values())


def test_a_choice_gives_each_of_the_two_its_own_bound_and_shows_more_than_one_bound_would(project, edges):
    shares = ShownShares(project)
    said = shares.for_share(SUREST)

    one_bound = next(one for lower in range(50, 99) if (one := shares.at(lower)).reaches(SUREST))
    assert said.reaches(SUREST)
    assert said.wordless < said.lower
    assert said.beside.number > one_bound.beside.number
    assert said.text.number >= one_bound.text.number


def test_a_choice_is_saved_for_both_and_taken_back_for_both(project, edges, manager, client_for):
    client, before = client_for(manager), shown(project)
    said = ShownShares(project).for_share(SUREST)

    page = client.post(SHARE_ADDRESS, {"share": "0.92"}, follow=True).content.decode()

    assert wordless_bound(project) == said.wordless_bound
    assert (len(shown(project)[True]), len(shown(project)[False])) == (said.text.number, said.beside.number)
    client.post(*undo_form(page))
    assert wordless_bound(project) is None
    assert shown(project) == before


def test_after_a_match_their_bound_follows_what_decisions_have_taught(project, edges, manager, client_for):
    client_for(manager).post(SHARE_ADDRESS, {"share": "0.92"})
    before = wordless_bound(project)
    of_text = Tier.objects.get(project=project, name="Likely", basis="probability")
    wordless = CandidateEdge.objects.filter(project=project, span_start=None)
    wordless.update(probability=F("probability") * 0.96)

    run_retier(after_match(make_run(project)))

    assert wordless_bound(project) > before
    assert sum(shown(project)[False]) / len(shown(project)[False]) >= SUREST - 0.04
    assert Tier.objects.get(pk=of_text.pk).lower_bound == of_text.lower_bound


def test_a_bound_that_is_set_by_hand_ends_the_choice(project, edges, manager, client_for):
    client = client_for(manager)
    client.post(SHARE_ADDRESS, {"share": "0.92"})

    page = client.get(OWN_ADDRESS).content.decode()
    assert "Bounds of links without words in the text" in " ".join(page.split())
    likely, reserve = (str(tier) for tier in bounds(project, 0.6))
    client.post(OWN_ADDRESS, {f"{likely}-lower_bound": "0.95", f"{reserve}-lower_bound": "0.3"})

    project.refresh_from_db()
    assert project.expected_share is None
    assert wordless_bound(project) == 0.95


def test_links_that_their_bound_holds_back_are_in_no_release(project, edges):
    project.tiers.filter(basis="probability", name="Likely").update(export_unreviewed=True)
    set_bounds(project, WORDLESS, bounds(project, 0.88), None)

    leaving = CandidateEdge.objects.filter(READY, project=project)
    assert min(leaving.filter(span_start=None).values_list("probability", flat=True)) >= 0.88
    assert min(leaving.exclude(span_start=None).values_list("probability", flat=True)) < 0.88
