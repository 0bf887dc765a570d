"""Links from a category, or to pages with a role, may have bounds of their own; one rule says which bounds count."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from django.core.cache import cache
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from linker.engine.roles.policy import PageRole
from linker.errors import UserError
from linker.explain.pair import why_not_pair
from linker.matching.follow_up_work import run_follow_up
from linker.matching.tiers import catch_up, retier
from linker.models import Basis, Block, CandidateEdge, Change, ChangeKind, Cohort, CohortBound, Run, RunKind, Tier
from linker.models.querysets import OPEN, TO_REVIEW
from linker.projects.policies.cohorts import CohortName, set_bounds
from linker.projects.policies.roles import set_page_role
from linker.projects.policies.tiers import change_tiers
from linker.projects.tier_effect import NOT_USED, Bound
from linker.projects.tier_preview import Spread
from linker.web.views.settings.cohorts import _as_read
from tests.factories import make_category, make_edge, make_link, make_page, make_project, make_run

pytestmark = pytest.mark.django_db

ADDRESS = "/p/shop/settings/tiers/own/"
BODY = "Wear warm boots on snow. Dry them at night, and sleep well. " * 3
BASIS = Basis.PROBABILITY


@pytest.fixture(autouse=True)
def forget() -> None:
    cache.clear()


def tiers_of(project) -> list[Tier]:
    return list(project.tiers.filter(basis=BASIS).order_by("-lower_bound"))


def bounds_of(project, *lower: float | None) -> dict[int, float]:
    """Where each tier begins, the highest first; None where it is not used."""
    return {tier.pk: one for tier, one in zip(tiers_of(project), lower, strict=True) if one is not None}


def asked_of(project, *lower: float | None) -> list[Bound]:
    bounds = bounds_of(project, *lower)
    return [Bound(tier.pk, tier.name, bounds.get(tier.pk, NOT_USED), tier.held) for tier in tiers_of(project)]


def a_site(project, number: int = 12, seed: int = 3) -> dict[str, object]:
    """Donors in a tree of categories and without one, acceptors of three roles; open and decided suggestions, some of
    which the site has already, in its text or beside it."""
    chance = random.Random(seed)
    categories = [None, *(make_category(project, *path) for path in (("A",), ("A", "B"), ("A", "B", "C"), ("D",)))]
    targets = [make_page(project, role=role) for role in ("hub", "product", "article", "hub", "product")]
    run = make_run(project)
    for _ in range(number):
        donor = make_page(project, body=BODY, category=chance.choice(categories))
        for place, target in enumerate(chance.sample(targets, 3)):
            start = 5 + 60 * place
            status = chance.choice(["suggested"] * 4 + ["accepted", "rejected"])
            make_edge(
                project, donor, target, run=run, probability=chance.choice([chance.random(), 0.5, 1.0, 0.0]),
                similarity=0.5, ranked_by="learned", anchor="warm boots", span_start=start, span_end=start + 10,
                body_hash=donor.body_hash, status=status, reviewed=status != "suggested",
            )  # fmt: skip
            block = chance.choice([None, None, Block.ASIDE, Block.CONTENT])
            if block is not None:
                make_link(donor, target, "boots", block=block)
    retier(project)
    return {"categories": categories[1:], "targets": targets}


def reader(edge: CandidateEdge, cohorts: list[Cohort]) -> Cohort | None:
    """The rule, written out once more: the nearest category that has bounds, then the role."""
    category = edge.source.category
    while category is not None:
        if found := [one for one in cohorts if one.category_id == category.pk]:
            return found[0]
        category = category.parent
    return next((one for one in cohorts if one.role == edge.target.role_in_force), None)


def tiers_by_rule(project) -> dict[int, str]:
    """By edge, the tier that it must have, one suggestion after another."""
    cohorts = list(Cohort.objects.filter(project=project, basis=BASIS))
    found = {}
    for edge in CandidateEdge.objects.filter(project=project, status="suggested").select_related("source", "target"):
        own = reader(edge, cohorts)
        bounds = (
            [(tier.lower_bound, tier.name) for tier in tiers_of(project)]
            if own is None
            else [(one.lower_bound, one.tier.name) for one in own.bounds.select_related("tier")]
        )
        found[edge.pk] = max(((low, name) for low, name in bounds if low <= edge.probability), default=(0, ""))[1]
    return found


def tiers_now(project) -> dict[int, str]:
    edges = CandidateEdge.objects.filter(project=project, status="suggested")
    return {pk: name or "" for pk, name in edges.values_list("pk", "tier__name")}


def held_now(project, within) -> tuple[dict[int | None, int], int]:
    """The open suggestions of each tier among some, and all that the queue holds."""
    edges = CandidateEdge.objects.filter(OPEN, project=project, pk__in=within)
    return Counter(edges.values_list("tier", flat=True)), CandidateEdge.objects.filter(
        TO_REVIEW, project=project
    ).count()


def names(project, site) -> list[CohortName]:
    of_category = [CohortName(BASIS, category=one) for one in site["categories"]]
    return [*of_category, CohortName(BASIS, role="hub"), CohortName(BASIS, role="product")]


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_category_counts_then_the_role_of_the_acceptor(project, seed):
    site, chance = a_site(project, seed=seed), random.Random(seed)
    for name in chance.sample(names(project, site), 4):
        lower = [number / 100 for number in chance.sample(range(100), 3)]
        set_bounds(project, name, bounds_of(project, *lower), None)
        assert tiers_now(project) == tiers_by_rule(project)
    assert len(set(tiers_now(project).values())) > 1


def members(project, name: CohortName) -> set[int]:
    """What the cohort reads, or would read."""
    others = [
        one for one in Cohort.objects.filter(project=project) if (one.category, one.role) != (name.category, name.role)
    ]
    own = Cohort(pk=-1, project=project, basis=BASIS, category=name.category, role=name.role)
    edges = CandidateEdge.objects.filter(project=project).select_related("source", "target")
    return {edge.pk for edge in edges if (found := reader(edge, [*others, own])) and found.pk == -1}


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(6))
def test_saving_and_removing_do_what_the_preview_said(project, seed):
    site, chance = a_site(project, seed=seed), random.Random(seed)
    for _ in range(6):
        name = chance.choice(names(project, site))
        within = members(project, name)
        spread = Spread(project, BASIS, _as_read(project, name, name.find(project)))
        lower = [number / 100 for number in chance.sample(range(100), 3)]
        if chance.random() < 0.3:
            lower[chance.randrange(3)] = None
        is_removal = name.find(project) is not None and chance.random() < 0.5
        if is_removal:
            effect, bounds = spread.effect_of_removing(in_use=True), {}
        else:
            effect = spread.effect_of_saving(asked_of(project, *lower), in_use=True)
            bounds = bounds_of(project, *lower)
        now, queue = held_now(project, within)
        assert {tier.key: tier.now for tier in effect.tiers} == {tier.pk: now[tier.pk] for tier in tiers_of(project)}
        assert (effect.below.now, effect.queue.now) == (now[None], queue)
        decided = CandidateEdge.objects.filter(project=project, pk__in=within)
        for tier in effect.tiers if not is_removal else ():
            above = decided.filter(probability__gte=2 if tier.lower is None else tier.lower)
            assert tier.accepted == above.filter(status="accepted").count()
            assert tier.rejected == above.filter(status="rejected").count()
        set_bounds(project, name, bounds, None)
        then, queue_then = held_now(project, within)
        assert {tier.key: tier.then for tier in effect.tiers} == {tier.pk: then[tier.pk] for tier in tiers_of(project)}
        assert (effect.below.then, effect.queue.then) == (then[None], queue_then)


@pytest.mark.nightly
def test_the_preview_of_the_project_s_bounds_is_right_where_others_have_their_own(project):
    site, chance = a_site(project), random.Random(1)
    set_bounds(project, CohortName(BASIS, category=site["categories"][1]), bounds_of(project, 0.8, 0.4, None), None)
    set_bounds(project, CohortName(BASIS, role="hub"), bounds_of(project, 0.3, 0.2, 0.1), None)
    for _ in range(4):
        lower = [number / 100 for number in chance.sample(range(100), 3)]
        asked = [
            Bound(one.tier, one.name, one.lower, chance.random() < 0.5)
            for one in asked_of(project, *sorted(lower)[::-1])
        ]
        effect = Spread(project, BASIS).effect_of_saving(asked, in_use=True)
        tiers = {tier.pk: tier for tier in tiers_of(project)}
        for bound in asked:
            tiers[bound.tier].lower_bound, tiers[bound.tier].held = bound.lower, bound.held
        change_tiers(project, list(tiers.values()))
        edges = list(CandidateEdge.objects.filter(project=project).values_list("pk", flat=True))
        then, queue = held_now(project, edges)
        assert {tier.key: tier.then for tier in effect.tiers} == {tier.pk: then[tier.pk] for tier in tiers_of(project)}
        assert (effect.below.then, effect.queue.then) == (then[None], queue)


@pytest.mark.nightly
def test_links_that_the_site_has_where_they_would_stand_leave_and_come_back_in_these_tests(project):
    site, lengths = a_site(project), set()
    for lower in ((0.9, 0.5, 0.1), (0.1, 0.05, 0.01), (0.99, 0.98, 0.97)):
        set_bounds(project, CohortName(BASIS, role="hub"), bounds_of(project, *lower), None)
        set_bounds(project, CohortName(BASIS, category=site["categories"][0]), bounds_of(project, *lower), None)
        lengths.add(CandidateEdge.objects.filter(OPEN, project=project).count())
    assert len(lengths) > 1, "else the previews above were never asked about them"


@pytest.mark.nightly
def test_a_page_that_moves_or_gets_another_role_is_read_by_other_bounds(project):
    site = a_site(project)
    set_bounds(project, CohortName(BASIS, category=site["categories"][0]), bounds_of(project, 0.9, 0.8, None), None)
    set_bounds(project, CohortName(BASIS, role="product"), bounds_of(project, 0.3, 0.2, 0.1), None)
    before = tiers_now(project)
    project.pages.filter(category=None).update(category=site["categories"][2])
    project.pages.filter(role="article").update(role="product")
    assert tiers_now(project) == before != tiers_by_rule(project)
    assert catch_up(project)
    assert tiers_now(project) == tiers_by_rule(project)
    assert catch_up(project) == 0, "a second time there is nothing to do"


def test_without_own_bounds_nothing_is_looked_at_after_an_import(project):
    a_site(project, 2)
    with CaptureQueriesContext(connection) as queries:
        assert catch_up(project) == 0
    assert len(queries) == 1


def test_a_change_is_logged_and_stands_among_the_runs(project, manager):
    site = a_site(project, 4)
    name = CohortName(BASIS, category=site["categories"][1])
    set_bounds(project, name, bounds_of(project, 0.9, 0.5, None), manager)
    change = Change.objects.get(kind=ChangeKind.TIERS)
    assert (change.user, change.subject) == (manager, "Bounds of links from A › B")
    assert change.after == {"Probability, Likely": "from 0.9", "Probability, Related": "from 0.5"}
    set_bounds(project, name, bounds_of(project, 0.9, 0.5, None), manager)
    assert Change.objects.filter(kind=ChangeKind.TIERS).count() == 1, "nothing was changed"
    assert project.runs.filter(kind=RunKind.RETIER).count() == 1


def at_once(write) -> None:
    """Writes, and asks the database for what it would see only at the end."""
    with transaction.atomic():
        write()
        connection.check_constraints()


def test_the_database_takes_no_bounds_of_another_basis_or_project_nor_two_of_one_kind(project):
    a_site(project, 1)
    set_bounds(project, CohortName(BASIS, role="hub"), bounds_of(project, 0.9, 0.5, None), None)
    cohort, low = Cohort.objects.get(), tiers_of(project)[-1]
    other = make_project("other").tiers.filter(basis=BASIS).first()
    by_similarity = project.tiers.filter(basis=Basis.COSINE).first()
    values = {"project": project, "basis": BASIS, "cohort": cohort}
    wrong = [
        lambda: CohortBound.objects.create(tier=other, lower_bound=0.1, **values),
        lambda: CohortBound.objects.create(tier=by_similarity, lower_bound=0.1, **values),
        lambda: CohortBound.objects.create(tier=low, lower_bound=0.5, **values),
        lambda: CohortBound.objects.create(tier=low, lower_bound=1.5, **values),
        lambda: Cohort.objects.create(project=project, basis=BASIS, role="hub", looked_at=cohort.looked_at),
        lambda: Cohort.objects.create(project=project, basis=BASIS, looked_at=cohort.looked_at),
    ]
    for write in wrong:
        with pytest.raises(IntegrityError):
            at_once(write)


def test_a_tier_that_alone_reads_some_links_cannot_be_deleted(project):
    a_site(project, 1)
    set_bounds(project, CohortName(BASIS, role="hub"), bounds_of(project, 0.9, None, None), None)
    first, *others = tiers_of(project)
    with pytest.raises(UserError, match="The bounds of links to pages with the role “Hub” name no tier but"):
        change_tiers(project, others, [first])
    change_tiers(project, [], others)
    assert Cohort.objects.get().bounds.count() == 1


@pytest.mark.nightly
def test_why_not_names_the_bounds_that_decided(project):
    site = a_site(project)
    set_bounds(project, CohortName(BASIS, category=site["categories"][0]), bounds_of(project, 0.02, None, None), None)
    edge = project.edges.filter(OPEN, source__category=site["categories"][0], probability__gte=0.02).first()
    answer = why_not_pair(project, edge.source, edge.target)
    said = [finding.text for finding in answer.findings]
    assert "Links from A have bounds of their own. Its tier there is Likely, from 0.02." in said


@pytest.mark.nightly
def test_a_role_given_by_hand_counts_for_the_suggestions_to_that_page(project, manager):
    site = a_site(project)
    set_bounds(project, CohortName(BASIS, role="utility"), bounds_of(project, 0.02, None, None), None)
    set_page_role(site["targets"][0], PageRole.UTILITY, manager)
    run_follow_up(Run.objects.filter(project=project, kind=RunKind.FOLLOW_UP).latest("pk"))
    assert tiers_now(project) == tiers_by_rule(project)
    assert set(CandidateEdge.objects.filter(OPEN, target=site["targets"][0]).values_list("tier__name")) >= {("Likely",)}
