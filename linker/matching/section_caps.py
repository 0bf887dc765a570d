"""Which caps hold for the pages of a category: the one home of that rule.

Each number by itself: the nearest section that has it wins, the whole site comes last, and what no section says, the
match run does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.models import SectionCap
from linker.models.subtrees import inside_sql

if TYPE_CHECKING:
    from collections.abc import Callable

    from linker.models import Project

CAPS = ("inline_in_all", "related_in_all", "per_1000_words")


def caps_in_force(project: Project) -> list[SectionCap]:
    """The project's caps: those of the whole site, then section by section in the order of the tree."""
    found = SectionCap.objects.filter(project=project, ended_at=None).select_related("category")
    return sorted(found, key=lambda one: one.category.path if one.category else [])


def section_caps_sql(only: str = "true", caps: str = "linker_sectioncap") -> str:
    """SQL: a row for each category with a cap, 0 for pages without one: each of CAPS, and as `.._by` the id of the
    section cap that says it. %(project)s is the project's id.

    `only`: a condition on the id of a category, c.id. `caps`: the table that the caps are in.
    """
    nearest = ", ".join(
        f"(array_agg({value} ORDER BY coalesce(root.depth, 0) DESC) FILTER (WHERE k.{name} IS NOT NULL))[1] AS {alias}"
        for name in CAPS
        for value, alias in ((f"k.{name}", name), ("k.id", f"{name}_by"))
    )
    return f"""
        SELECT c.id AS category, {nearest}
        FROM {caps} k LEFT JOIN linker_category root ON root.id = k.category_id
        JOIN (
            SELECT id, project_id, path FROM linker_category WHERE project_id = %(project)s
            UNION ALL SELECT 0, %(project)s, ARRAY[]::varchar[]
        ) c ON k.category_id IS NULL OR {inside_sql("c", "root")}
        WHERE k.project_id = %(project)s AND k.ended_at IS NULL AND {only}
        GROUP BY c.id
    """


def cap_sql(name: str, of_run: Callable[[str], str]) -> str:
    """SQL: one of CAPS for a page, NULL for none. `section` is the alias of the row of section_caps_sql, if there is
    one; `of_run` gives the expression of the run's parameter of that name, where 0 is no cap."""
    return f"coalesce(section.{name}::int, nullif({of_run(name)}, 0))"
