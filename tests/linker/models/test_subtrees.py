"""What lies in a category: by the names on the way down and by the parents, the same."""

from __future__ import annotations

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from linker.models import Category
from linker.models.subtrees import categories_below, categories_below_each, subtree, subtrees, tree_sql
from tests.examples import tried
from tests.factories import make_category, make_project

pytestmark = pytest.mark.django_db

PATHS = st.lists(st.lists(st.sampled_from("ab"), min_size=1, max_size=4).map(tuple), min_size=1, max_size=6)


def by_parents(root: Category) -> set[int]:
    chosen = "SELECT id FROM linker_category WHERE id = %s"
    with connection.cursor() as cursor:
        cursor.execute(f"WITH RECURSIVE {tree_sql('tree', chosen)} SELECT category FROM tree", [root.pk])
        return {category for (category,) in cursor.fetchall()}


@pytest.mark.nightly
@given(paths=PATHS)
@tried(30)
def test_names_and_parents_find_the_same_categories(project, paths):
    Category.objects.all().delete()
    for path in paths:
        make_category(project, *path)
    known = list(Category.objects.filter(project=project))
    for root in known:
        below = {one.pk for one in known if one.path[: len(root.path)] == root.path}
        assert set(subtree(root).values_list("pk", flat=True)) == below
        assert categories_below(project, [root.pk]) == below
        assert by_parents(root) == below
        assert categories_below_each(project, [root.pk]) == {root.pk: below}
    both = [one.pk for one in known[:2]]
    assert categories_below(project, both) == set().union(*(categories_below(project, [root]) for root in both))


def test_a_category_of_the_same_name_elsewhere_is_another_one(project):
    tents, other = make_category(project, "Shop", "Tents"), make_category(project, "Blog", "Tents")
    assert set(subtree(tents)) == {tents}
    elsewhere = make_category(make_project(slug="other"), "Shop", "Tents", "Small")
    assert not subtree(tents).filter(pk__in=[other.pk, elsewhere.pk]).exists()
    assert categories_below(project, [elsewhere.pk]) == set()


def test_nothing_lies_below_no_category(project):
    make_category(project, "Shop")
    assert not subtrees(project, []).exists()
    assert categories_below(project, []) == set()


def test_a_tree_knows_the_root_that_each_category_lies_under(project):
    shop, tents = make_category(project, "Shop"), make_category(project, "Shop", "Tents")
    chosen = "SELECT id, id FROM linker_category WHERE id = ANY(%s)"
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE {tree_sql('tree', chosen, key='root')} SELECT root, category FROM tree ORDER BY 1, 2",
            [[shop.pk, tents.pk]],
        )
        assert cursor.fetchall() == [(shop.pk, shop.pk), (shop.pk, tents.pk), (tents.pk, tents.pk)]


def test_what_lies_below_each_of_many_categories_is_asked_once(project, django_assert_num_queries):
    shop, tents, domes, other = (
        make_category(project, *path) for path in (["Shop"], ["Shop", "Tents"], ["Shop", "Tents", "Domes"], ["Other"])
    )
    with django_assert_num_queries(1):
        found = categories_below_each(project, [shop.pk, tents.pk, other.pk])
    assert found == {
        shop.pk: {shop.pk, tents.pk, domes.pk},
        tents.pk: {tents.pk, domes.pk},
        other.pk: {other.pk},
    }
    assert categories_below_each(project, []) == {}
