"""More links, or surer ones: a choice says what the queue would show and what share of that can be expected to be
approved, and saving it shows just that."""

from __future__ import annotations

import random
from html import unescape

import pytest
from django.core.cache import cache
from django.db.models import F

from linker.matching.tiers import retier
from linker.models import CandidateEdge, Change, ChangeKind, Tier
from linker.models.querysets import TO_REVIEW
from linker.projects.policies import retier as retier_policy
from linker.projects.policies.cohorts import CohortName, set_bounds
from linker.projects.policies.retier_run import run_retier
from linker.projects.policies.share_again import after_match
from linker.projects.policies.tiers import change_tiers
from linker.projects.shown_share import SHARES, ShownShares
from linker.runs.kinds import FOLLOWED_BY
from tests.factories import make_edge, make_page, make_run
from tests.linker.web.test_cohort_pages import undo_form

pytestmark = pytest.mark.django_db

ADDRESS = "/p/shop/settings/tiers/sure/"
SUREST = SHARES[-1]


@pytest.fixture(autouse=True)
def forget() -> None:
    cache.clear()


@pytest.fixture
def tiers(project) -> None:
    """As new projects have them: one tier in the queue, and one held back."""
    project.tiers.filter(basis="probability", name="Related").delete()


@pytest.fixture
def edges(project, tiers) -> None:
    """Suggestions of any probability; every second has words in the text of its donor."""
    chance, run = random.Random(7), make_run(project)
    for place in range(60):
        donor = make_page(project, body="The tents of our shop stand firm in every wind. " * 20)
        words = {"span_start": 4, "span_end": 9, "anchor": "tents"} if place % 2 else {}
        make_edge(
            project, donor, make_page(project, role="hub" if place < 20 else "product"), run=run,
            probability=round(0.3 + 0.69 * chance.random(), 6), similarity=0.5, ranked_by="learned", **words,
        )  # fmt: skip
    retier(project)


def queue(project) -> dict[str, list[float]]:
    """The probabilities of what the queue shows, by where it stands."""
    rows = CandidateEdge.objects.filter(TO_REVIEW, project=project).values_list("placement", "probability")
    found: dict[str, list[float]] = {"inline": [], "related": []}
    for placement, probability in rows:
        found[placement].append(probability)
    return found


def mean(values) -> float:
    return sum(values) / len(values)


def lowest(project) -> float:
    return Tier.objects.get(project=project, basis="probability", name="Likely").lower_bound


@pytest.mark.parametrize("share", SHARES)
def test_the_queue_shows_what_the_choice_said_and_as_much_as_its_share_allows(project, edges, share):
    shares = ShownShares(project)
    said = shares.for_share(share)
    shares.tier.lower_bound = said.bound

    wordless = shares.wordless_bounds(said)
    change_tiers(project, [shares.tier], basis="probability", share=share, wordless=wordless)

    shown = queue(project)
    assert (len(shown["inline"]), len(shown["related"])) == (said.text.number, said.beside.number)
    assert mean(shown["inline"]) == pytest.approx(said.text.share)
    assert mean(shown["related"]) == pytest.approx(said.beside.share)
    assert mean(shown["inline"]) >= share
    assert mean(shown["related"]) >= share - 0.04
    assert not shares.at(said.lower - 1, said.wordless).reaches(share) or said.lower == shares.least
    assert not shares.at(said.lower, said.wordless - 1).reaches(share) or said.wordless == shares.least


def test_nothing_changes_for_a_project_that_has_not_chosen(project, edges):
    now = ShownShares(project).at(None)

    assert project.expected_share is None
    assert (now.text.number, now.beside.number) == tuple(len(part) for part in queue(project).values())


def test_links_with_bounds_of_their_own_are_counted_and_stay(project, edges):
    tiers = list(project.tiers.filter(basis="probability").order_by("-lower_bound"))
    set_bounds(project, CohortName("probability", role="hub"), {tiers[0].pk: 0.4}, None)
    before = queue(project)

    shares = ShownShares(project)

    assert shares.at(None).text.number == len(before["inline"])
    said = shares.at(90)
    shares.tier.lower_bound = 0.9
    change_tiers(project, [shares.tier])
    assert (said.text.number, said.beside.number) == tuple(len(part) for part in queue(project).values())
    assert min(queue(project)["inline"]) < 0.9


def test_a_choice_never_shows_what_is_likelier_to_be_rejected(project, edges):
    assert ShownShares(project).for_share(0.0).lower == 50


def test_a_choice_is_previewed_saved_logged_and_taken_back(project, edges, manager, client_for):
    client, before = client_for(manager), lowest(project)
    said = ShownShares(project).for_share(SUREST)
    page = unescape(client.get(ADDRESS).content.decode())
    assert f"<strong>{said.text.number}</strong>" in page
    assert "an expectation, not a promise" in " ".join(page.split())

    page = client.post(ADDRESS, {"share": "0.92"}, follow=True).content.decode()

    project.refresh_from_db()
    assert (project.expected_share, lowest(project)) == (SUREST, said.bound)
    change = Change.objects.filter(project=project, kind=ChangeKind.TIERS).latest("pk")
    assert (change.user, change.after["expected share"]) == (manager, "92%")
    client.post(*undo_form(page))
    project.refresh_from_db()
    assert (project.expected_share, lowest(project)) == (None, before)


def test_bounds_that_are_set_by_hand_end_the_choice(project, edges, manager, client_for):
    client = client_for(manager)
    client.post(ADDRESS, {"share": "0.92"})
    bound = lowest(project)

    client.post(ADDRESS, {"share": ""})

    project.refresh_from_db()
    assert (project.expected_share, lowest(project)) == (None, bound)


def test_a_bound_cannot_pass_the_tier_above_it(project, edges):
    Tier.objects.create(project=project, basis="probability", name="Top", lower_bound=0.9, placement="inline")

    shares = ShownShares(project)

    assert (shares.least, shares.most, shares.above.name) == (50, 88, "Top")
    assert shares.for_share(0.99) is None


def test_a_share_that_no_bound_brings_about_cannot_be_chosen(project, edges, manager, client_for):
    CandidateEdge.objects.filter(project=project).update(probability=0.6)
    client = client_for(manager)
    assert "No bound brings this about" in client.get(ADDRESS).content.decode()
    before = lowest(project)

    for sent in ("0.92", "0.5", "much"):
        page = client.post(ADDRESS, {"share": sent}, follow=True).content.decode()
        assert "Nothing was saved" in page

    project.refresh_from_db()
    assert (project.expected_share, lowest(project)) == (None, before)


def test_a_project_by_another_basis_is_told_why_it_has_no_choice(project, edges, manager, client_for):
    project.tier_basis = "quantile"
    project.save()
    assert "tiers by probability" in client_for(manager).get(ADDRESS).content.decode()


def test_in_a_large_project_a_run_makes_the_choice(project, edges, manager, client_for, monkeypatch):
    monkeypatch.setattr(retier_policy, "AT_ONCE", 2)
    before, said = lowest(project), ShownShares(project).for_share(SUREST)

    client_for(manager).post(ADDRESS, {"share": "0.92"})

    run = project.runs.get(kind="retier")
    project.refresh_from_db()
    assert (project.expected_share, lowest(project)) == (None, before)
    run_retier(run)
    project.refresh_from_db()
    assert (project.expected_share, lowest(project)) == (SUREST, said.bound)


def test_who_is_no_manager_cannot_choose(project, edges, editor, client_for):
    client = client_for(editor)
    assert client.get(ADDRESS).status_code == 403
    assert client.post(ADDRESS, {"share": "0.92"}).status_code == 403
    project.refresh_from_db()
    assert project.expected_share is None


def test_after_a_match_the_bound_is_chosen_anew_for_the_same_share(project, edges, manager, client_for):
    client = client_for(manager)
    client.post(ADDRESS, {"share": "0.92"})
    before = lowest(project)
    CandidateEdge.objects.filter(project=project, probability__lt=0.95).update(probability=F("probability") * 0.9)
    match = make_run(project)

    again = after_match(match)

    assert again.kind == "retier"
    assert again.follows == match
    page = " ".join(client.get(f"/p/shop/runs/{match.pk}/").content.decode().split())
    assert "was chosen anew after this match" in page
    run_retier(again)
    project.refresh_from_db()
    assert (project.expected_share, lowest(project)) == (SUREST, ShownShares(project).for_share(SUREST).bound)
    assert lowest(project) != before
    assert mean(queue(project)["inline"]) >= SUREST
    assert after_match(match) is None  # the bound is right now


def test_a_match_leaves_bounds_that_were_set_by_hand(project, edges):
    assert after_match(make_run(project)) is None


def test_a_match_leaves_the_bound_where_none_brings_the_share_about(project, edges, manager, client_for):
    client_for(manager).post(ADDRESS, {"share": "0.92"})
    CandidateEdge.objects.filter(project=project).update(probability=0.6)
    assert after_match(make_run(project)) is None


def test_a_match_and_one_of_what_changed_ask_for_it():
    for kind in ("match", "changes"):
        assert "linker.projects.policies.share_again.after_match" in FOLLOWED_BY[kind]
