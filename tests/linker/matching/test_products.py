"""A product gets its alternatives and its complements, and not one kind alone."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.allocation.allocate import Reason, beyond
from linker.engine.params import Ranking
from linker.explain.pair import why_not_pair
from linker.matching.pair_rules import MAX_ALTERNATIVE_PRODUCTS, MAX_COMPLEMENTARY_PRODUCTS
from linker.models import CandidateEdge, Page, UnallocatedPairs
from tests.factories import embed, make_category, make_edge, make_model, make_page
from tests.linker.matching.test_copies import match, words

if TYPE_CHECKING:
    from linker.models import Project

NAMES = ("Alm", "Birk", "Dorn", "Esche", "Fichte", "Ginster", "Hasel", "Iris", "Klee", "Linde", "Moos", "Nessel")


@pytest.fixture
def shop(project: Project) -> list[Page]:
    """Twelve sofas and twelve covers, all much alike."""
    model, pages = make_model(4), []
    for kind in ("sofa", "cover"):
        category = make_category(project, f"{kind.title()}s")
        for number, name in enumerate(NAMES):
            path = f"/p/{name}-{kind}".lower()
            page = make_page(
                project,
                path,
                title=f"{name} {kind}",
                body=words(number + 100 * (kind == "cover")),
                category=category,
                role="product",
            )
            embed(page, [1, random.Random(path).random() / 4, 0, 0], model)
            pages.append(page)
    return pages


@pytest.mark.nightly
@pytest.mark.django_db
@pytest.mark.parametrize("ranking", [Ranking.FORMULA, Ranking.SHIPPED])
def test_a_product_gets_so_many_alternatives_and_so_many_complements(project, shop, ranking):
    match(project, ranking, inline_per_donor=0, related_per_donor=15)
    given_out = Counter(
        (edge.source_id, edge.source.category_id == edge.target.category_id)
        for edge in CandidateEdge.objects.filter(project=project).select_related("source", "target")
    )
    assert max(count for (_, alike), count in given_out.items() if alike) == MAX_ALTERNATIVE_PRODUCTS
    assert max(count for (_, alike), count in given_out.items() if not alike) == MAX_COMPLEMENTARY_PRODUCTS
    left = UnallocatedPairs.objects.filter(source=shop[0].pk).get()
    place = left.reasons.index(Reason.PRODUCTS_FULL)
    found = {one.code: one for one in why_not_pair(project, shop[0], Page.objects.get(pk=left.targets[place])).findings}
    assert "at most 5 suggestions" in found["products-full"].text


@pytest.mark.nightly
@pytest.mark.django_db
def test_an_accepted_link_is_one_of_them_and_stays_however_little_it_scores(project, shop):
    match(project, Ranking.SHIPPED, inline_per_donor=0, related_per_donor=15)
    left = UnallocatedPairs.objects.filter(source=shop[0].pk).get()
    same = {page.pk for page in shop if page.category_id == shop[0].category_id}
    late = next(
        target
        for target, reason in zip(left.targets, left.reasons, strict=True)
        if reason == Reason.PRODUCTS_FULL and target in same
    )
    accepted = make_edge(project, shop[0], Page.objects.get(pk=late), status="accepted", placement="related")
    match(project, Ranking.SHIPPED, inline_per_donor=0, related_per_donor=15)
    accepted.refresh_from_db()
    assert not accepted.stale
    alternatives = CandidateEdge.objects.filter(source=shop[0], target__in=same, stale=False)
    assert alternatives.count() == MAX_ALTERNATIVE_PRODUCTS


@pytest.mark.nightly
@pytest.mark.django_db
def test_pages_that_are_no_products_have_no_such_share(project, shop):
    Page.objects.filter(project=project).update(role="article")
    match(project, Ranking.FORMULA, inline_per_donor=0, related_per_donor=15)
    assert not any(Reason.PRODUCTS_FULL in left.reasons for left in UnallocatedPairs.objects.all())


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=30), st.integers(0, 4))
def test_what_comes_after_a_donors_best_is_what_sorting_says(pairs: list[tuple[int, int]], most: int) -> None:
    donors, score = (np.array([pair[side] for pair in pairs], dtype=kind) for side, kind in ((0, np.int64), (1, float)))
    late = beyond(donors, score, most)
    for donor in set(donors.tolist()):
        mine = sorted(np.flatnonzero(donors == donor).tolist(), key=lambda place: (-score[place], place))
        assert [bool(late[place]) for place in mine] == [rank >= most for rank in range(len(mine))]
