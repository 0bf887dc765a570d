"""Categories that an import of pages calls by another name than before. What is set for one stays set for it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ingest.addresses.normalise import category_key
from ingest.kinds.sql import fetch
from linker.models import Category, Project
from linker.models.querysets import PRESENT, sql

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ingest.kinds.pages.category_paths import PathOfNames

GONE_OVER = 0.9  # of the pages that a category held: so many are in one new category, which is the same one
CAME_FROM = 0.5  # of the pages of the new one that had a category before


def rename_categories(
    project: Project, paths: Sequence[PathOfNames], wanted: set[PathOfNames]
) -> list[tuple[str, str]]:
    """Renames those that no page of the stage is in any more, and whose pages are all but together in one that is new
    and stands below the same parent. Returns old and new names, from the top.

    `paths`: by number, as the stage has them; `wanted`: these and all above them.
    """
    rows = {tuple(row.path): row for row in Category.objects.filter(project=project)}
    if not (rows.keys() - wanted) or not (wanted - rows.keys()):
        return []
    votes, held, came = _count(project, paths, {row.pk: path for path, row in rows.items()})
    renamed: dict[PathOfNames, PathOfNames] = {}  # the former path, and the new one
    pairs = sorted(votes.items(), key=lambda pair: (len(pair[0][0]), -pair[1]))  # parents first, then the strongest
    taken: set[PathOfNames] = set()
    for (old, new), pages in pairs:
        if old in wanted or new in rows or new in taken or old in renamed or len(old) != len(new):
            continue
        is_same = pages >= GONE_OVER * held[old] and pages > CAME_FROM * came[new]
        if is_same and renamed.get(old[:-1], old[:-1]) == new[:-1]:
            renamed[old] = new
            taken.add(new)
    changed = []
    for path, row in rows.items():
        now = _renamed(path, renamed)
        if now != path:
            row.name, row.path, row.path_key = now[-1], list(now), category_key(now)
            changed.append(row)
    Category.objects.bulk_update(changed, ["name", "path", "path_key"], batch_size=2000)
    return [(" › ".join(old), " › ".join(new)) for old, new in renamed.items() if old[-1] != new[-1]]


def _count(
    project: Project, paths: Sequence[PathOfNames], known: dict[int, PathOfNames]
) -> tuple[Counter[tuple[PathOfNames, PathOfNames]], Counter[PathOfNames], Counter[PathOfNames]]:
    """Pages at or below each category: by the old and the new one, in all that are known, and by the new one of those
    that had a category."""
    votes: Counter[tuple[PathOfNames, PathOfNames]] = Counter()
    held: Counter[PathOfNames] = Counter()
    came: Counter[PathOfNames] = Counter()
    staged = fetch(
        "SELECT p.category_id, s.category, count(*) FROM stage_page s JOIN linker_page p ON p.project_id = %s "
        "AND md5(p.canonical_url) = md5(s.canonical_url) WHERE p.category_id IS NOT NULL AND s.category IS NOT NULL "
        "GROUP BY 1, 2",
        [project.pk],
    )
    for id, number, pages in staged:
        old, new = known[id], paths[number]
        for depth in range(1, len(new) + 1):
            came[new[:depth]] += pages
            if depth <= len(old):
                votes[old[:depth], new[:depth]] += pages
    holding = f"SELECT category_id, count(*) FROM linker_page WHERE project_id = %s AND {sql(PRESENT)} GROUP BY 1"
    for id, pages in fetch(holding, [project.pk]):
        for depth in range(1, len(known.get(id, ())) + 1):
            held[known[id][:depth]] += pages
    return votes, held, came


def _renamed(path: PathOfNames, renamed: dict[PathOfNames, PathOfNames]) -> PathOfNames:
    """The path, with the new names of what is renamed of it."""
    for depth in range(len(path), 0, -1):
        if path[:depth] in renamed:
            return renamed[path[:depth]] + path[depth:]
    return path
