"""What lies in a category: the category itself and everything below it. The one home of that rule.

A category knows its parent and the names on the way down to it. `subtree` and `subtrees` compare the names, `tree_sql`
goes from parent to child; both find the same categories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from linker.models.page import Category

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet

    from linker.models.project import Project


def subtree(category: Category) -> QuerySet[Category]:
    """The category and everything below it."""
    return Category.objects.filter(_below(category), project=category.project_id)


def subtrees(project: Project, roots: Iterable[int]) -> QuerySet[Category]:
    """The project's categories of these ids and everything below them; none where it has none of them."""
    inside = Q()
    for category in Category.objects.filter(project=project, pk__in=list(roots)):
        inside |= _below(category)
    return Category.objects.filter(inside, project=project) if inside else Category.objects.none()


def categories_below(project: Project, roots: Iterable[int]) -> set[int]:
    """Ids of what `subtrees` gives."""
    return set(subtrees(project, roots).values_list("pk", flat=True))


def _below(category: Category) -> Q:
    return Q((f"path__0_{category.depth}", category.path))


def tree_sql(table: str, roots: str, key: str = "") -> str:
    """A recursive common table of categories with everything below them, to be written after WITH RECURSIVE.

    `roots` selects ids of categories as the column `category`, after a column `key` where one is named, which each
    category has from the root it lies under.
    """
    columns, kept = (f"{key}, category", f"{table}.{key}, ") if key else ("category", "")
    return (
        f"{table}({columns}) AS ({roots} "
        f"UNION SELECT {kept}child.id FROM {table} JOIN linker_category child ON child.parent_id = {table}.category)"
    )
