"""What lies in a category: the category itself and everything below it. The one home of that rule.

A category knows its parent and the names on the way down to it. `tree_sql` goes from parent to
child, the others compare the names; both find the same categories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Q

from linker.models.page import Category

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet

    from linker.models.project import Project


def subtree(category: Category) -> QuerySet[Category]:
    """The category and everything below it."""
    return Category.objects.filter(_below(category), project=category.project_id)


def above(category: Category) -> QuerySet[Category]:
    """The category and those that it lies in."""
    paths = [category.path[:depth] for depth in range(1, category.depth + 1)]
    return Category.objects.filter(project=category.project_id, path__in=paths)


def subtrees(project: Project, roots: Iterable[int]) -> QuerySet[Category]:
    """The project's categories of these ids and everything below them; none where it has none of them."""
    inside = Q()
    for category in Category.objects.filter(project=project, pk__in=list(roots)):
        inside |= _below(category)
    return Category.objects.filter(inside, project=project) if inside else Category.objects.none()


def categories_below(project: Project, roots: Iterable[int]) -> set[int]:
    """Ids of what `subtrees` gives."""
    return set(subtrees(project, roots).values_list("pk", flat=True))


def categories_below_each(project: Project, roots: Iterable[int]) -> dict[int, frozenset[int]]:
    """Ids of what `subtrees` gives, for each of the roots by itself. One query."""
    found: dict[int, set[int]] = {root: set() for root in roots}
    if found:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT root.id, c.id FROM linker_category root JOIN linker_category c "
                f"ON {inside_sql('c', 'root')} WHERE root.project_id = %s AND root.id = ANY(%s)",
                [project.pk, list(found)],
            )
            for root, category in cursor.fetchall():
                found[root].add(category)
    return {root: frozenset(categories) for root, categories in found.items()}


def nearby(project: Project, chosen: int | None, most: int = 300) -> list[Category]:
    """Categories to choose from, in the order of the tree: all where a list can hold them, at most `most`. Of a larger
    tree those on the way down to the chosen one, and the first of those right below it: the way on."""
    known = Category.objects.filter(project=project)
    everything = list(known.order_by("path")[: most + 1])
    if len(everything) <= most:
        return everything
    place = known.filter(pk=chosen).first() if chosen is not None else None
    path = place.path if place is not None else []
    way = Q(*(Q(path=path[:depth]) for depth in range(1, len(path) + 1)), _connector=Q.OR) if path else Q(pk__in=[])
    return sorted([*known.filter(way), *known.filter(parent=place).order_by("path")[:most]], key=lambda one: one.path)


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


def inside_sql(category: str, root: str) -> str:
    """SQL: whether the category of one alias lies in that of the other, which is in itself."""
    return f"({category}.project_id = {root}.project_id AND {category}.path[1:{root}.depth] = {root}.path)"
