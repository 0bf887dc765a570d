"""Tiers and placements are read twice: by a match run, in Python, and by a change of the tiers, in SQL. They agree."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.params import Ranking
from linker.engine.tiers import read_tiers
from linker.matching.tiers import retier
from linker.models import Basis, Placement, Project, Tier
from linker.projects.policies.cohorts import WORDLESS, CohortName, set_bounds
from tests.factories import embed, make_category, make_model, make_page
from tests.linker.matching.test_match import match

pytestmark = pytest.mark.django_db

NAMES = ["dome tents", "tunnel tents", "gas stoves", "wool socks", "down bags", "dry bags"]


@pytest.fixture
def texts(project: Project) -> Project:
    """36 pages, half of whose texts name other pages."""
    random = np.random.default_rng(11)
    for number in range(36):
        name = f"{NAMES[number % 6].capitalize()} {number}"
        others = [f"{NAMES[other % 6]} {other}" for other in range(number % 5, 36, 5)]
        lines = [f"In the rain people also ask for {other} in this place." for other in others]
        body = "\n".join(lines) if number % 2 else "A text that names no other page, however long it may be. " * 12
        page = make_page(project, f"/p{number}", title=name, h1=name, body=body)
        embed(page, random.normal(size=8) + 1.5 * (number % 6 == 2), make_model(8))
    return project


def read(project: Project) -> list[tuple]:
    edges = project.edges.order_by("pk")
    return list(edges.values_list("source", "target", "tier__name", "placement", "rel", "content_gap", "stale"))


@pytest.mark.nightly
@pytest.mark.parametrize("ranking", [Ranking.COSINE, Ranking.FORMULA])
@pytest.mark.parametrize("bounds", [(0.6, 0.3, 0.0), (0.31, 0.3, 0.29), (0.99, 0.98, 0.97), (0.2, 0.1, 0.0)])
@pytest.mark.parametrize("caps", [{}, {"inline_per_donor": 1, "related_per_donor": 2}])
def test_reading_the_tiers_again_changes_nothing_that_a_run_has_just_read(texts, ranking, bounds, caps):
    for basis in Basis.values:
        tiers = list(texts.tiers.filter(basis=basis).order_by("-lower_bound"))
        texts.tiers.filter(basis=basis).delete()
        for tier, bound in zip(tiers, bounds, strict=True):
            tier.pk, tier.lower_bound = None, bound
        Tier.objects.bulk_create(tiers)
    match(texts, ranking=ranking, **caps)
    before = read(texts)
    retier(texts)
    assert read(texts) == before
    assert before


@pytest.mark.nightly
@pytest.mark.parametrize("ranking", [Ranking.COSINE, Ranking.FORMULA])
@pytest.mark.parametrize("basis", Basis.values)
def test_nor_where_links_of_a_category_or_to_a_role_have_bounds_of_their_own(texts, ranking, basis):
    if ranking == Ranking.COSINE and basis == Basis.PROBABILITY:
        basis = Basis.COSINE
    Project.objects.filter(pk=texts.pk).update(tier_basis=basis)
    texts.refresh_from_db()
    part, whole = make_category(texts, "Gear", "Tents"), make_category(texts, "Gear")
    for place, page in enumerate(texts.pages.order_by("pk")):
        page.category = [None, part, whole][place % 3]
        page.role_by_hand = ["", "hub"][place % 2]
        page.save()
    high, low = texts.tiers.filter(basis=basis).order_by("-lower_bound")[:2]
    for name, bounds in (
        (CohortName(basis, category=part), {high.pk: 0.05}),
        (CohortName(basis, category=whole), {high.pk: 0.9, low.pk: 0.1}),
        (CohortName(basis, role="hub"), {low.pk: 0.02}),
    ):
        set_bounds(texts, name, bounds, None)
    match(texts, ranking=ranking)
    before = read(texts)
    retier(texts)
    assert read(texts) == before
    assert len({tier for _, _, tier, *_ in before}) > 1


@pytest.mark.nightly
@pytest.mark.parametrize(("of_text", "of_wordless"), [(0.5, 0.5), (0.9, 0.1), (0.1, 0.9)])
def test_nor_where_links_without_words_have_bounds_of_their_own(texts, of_text, of_wordless):
    match(texts, ranking=Ranking.FORMULA)
    known = texts.edges.filter(span_start__isnull=False), texts.edges.filter(span_start__isnull=True)
    stated = [np.array(edges.values_list("probability", flat=True)) for edges in known]
    texts.tiers.filter(basis=Basis.PROBABILITY, name="Related").delete()
    high, low = texts.tiers.filter(basis=Basis.PROBABILITY).order_by("-lower_bound")
    Tier.objects.filter(pk=low.pk).update(lower_bound=0.001)
    Tier.objects.filter(pk=high.pk).update(lower_bound=np.quantile(stated[0], of_text))
    set_bounds(texts, WORDLESS, {high.pk: float(np.quantile(stated[1], of_wordless)), low.pk: 0.001}, None)
    match(texts, ranking=Ranking.FORMULA)
    before = read(texts)
    retier(texts)
    assert read(texts) == before
    assert len({tier for _, _, tier, *_ in before}) > 1


@pytest.mark.nightly
def test_the_site_of_these_tests_has_links_of_each_placement(texts):
    texts.tiers.filter(basis=Basis.COSINE, placement=Placement.INLINE).update(lower_bound=-0.5)
    match(texts, ranking=Ranking.COSINE)
    found = {(placement, gap) for _, _, _, placement, _, gap, _ in read(texts)}
    assert {("inline", False), ("related", True)} <= found


values = st.floats(-1, 1).map(lambda value: round(value, 6))


@given(st.lists(values, min_size=1, max_size=20), st.lists(values, max_size=5, unique=True))
def test_a_tier_is_the_highest_bound_at_or_below_the_value(read_values, bounds):
    places = read_tiers(np.array(read_values), np.array(bounds, dtype=np.float64))
    for value, place in itertools.zip_longest(read_values, places.tolist()):
        below = [bound for bound in bounds if bound <= value]
        assert (bounds[place] if place >= 0 else None) == max(below, default=None)
