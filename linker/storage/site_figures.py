"""The figures of a site, which pages read (linker.models.KeptFigures): counted as a run ends."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.db.models import Count

from linker.models import CandidateEdge, ExistingLink, KeptFigures, Page, PageEmbedding, Project, Run, RunKind
from linker.models.linked import TEXT_LINK
from linker.models.querysets import INDEXABLE, LEFT, LIVE, MISSING, OPEN, ORPHAN, of, sql


def changes_figures(run: Run) -> bool:
    """A match, too: it reads the languages of pages that were imported before languages were read. What links count as
    follows from rules, and from the roles of pages."""
    return run.is_import or run.kind in (
        *(RunKind.EMBED, RunKind.MATCH, RunKind.RESTORE_PAGES),
        *(RunKind.LINKS, RunKind.ROLES),
    )


def site_figures(project: Project) -> KeptFigures:
    """The figures as kept. Those of a project that has none yet are counted, and kept if a run has ended in it."""
    kept = KeptFigures.objects.filter(project=project).first()
    if kept is not None:
        return kept
    ended = Run.objects.filter(project=project, finished_at__isnull=False)
    return keep_figures(project) if ended.exists() else _counted(project)


def keep_figures(project: Project) -> KeptFigures:
    """Counts, and keeps what was counted."""
    figures = _counted(project)
    fields = [field.name for field in KeptFigures._meta.fields if not field.primary_key]
    KeptFigures.objects.bulk_create([figures], update_conflicts=True, unique_fields=["project"], update_fields=fields)
    return figures


def forget_vectors(project: Project, model_id: int) -> None:
    """Takes a set of vectors out of what is kept, without counting the others anew."""
    for kept in KeptFigures.objects.filter(project=project):
        kept.vectors.pop(str(model_id), None)
        kept.vector_sets.pop(str(model_id), None)
        kept.save(update_fields=["vectors", "vector_sets"])


def _counted(project: Project) -> KeptFigures:
    by_category, languages = _by_category_and_language(project)
    vectors = PageEmbedding.objects.filter(page__project=project).order_by().values_list("model")
    sets = list(vectors.annotate(live_pages=Count("page", filter=of("page", LIVE)), all_pages=Count("page")))
    edges = CandidateEdge.objects.filter(OPEN, project=project, run__model__isnull=False).order_by()
    suggested = edges.values_list("run__model").annotate(Count("pk")) if sets else ()
    return KeptFigures(
        project=project,
        by_category=by_category,
        languages=languages,
        vectors={str(model): live for model, live, _ in sets if live},
        vector_sets={str(model): pages for model, _, pages in sets},
        suggested_by={str(model): edges for model, edges in suggested},
        pages=sum(pages for _, pages, *_ in by_category),
        missing=Page.objects.filter(MISSING, project=project).count(),
        left=Page.objects.filter(LEFT, project=project).count(),
        body_links=ExistingLink.objects.filter(TEXT_LINK, project=project).count(),
    )


def _by_category_and_language(project: Project) -> tuple[list[list[Any]], list[list[Any]]]:
    """Live pages: of each category with how many of them are indexable and orphans; and of each language, as
    language_counts has them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT grouping(category_id) = 0, category_id, own_language, count(*), "
            f"count(*) FILTER (WHERE {sql(INDEXABLE)}), count(*) FILTER (WHERE {sql(ORPHAN)}) "
            f"FROM linker_page WHERE project_id = %s AND {sql(LIVE)} "
            "GROUP BY GROUPING SETS ((category_id), (own_language))",
            [project.pk],
        )
        rows = cursor.fetchall()
    by_category = [[category, *counts] for is_category, category, _, *counts in rows if is_category]
    languages = [[language, pages] for is_category, _, language, pages, *_ in rows if not is_category]
    return by_category, sorted(languages, key=lambda one: (-one[1], one[0]))


def language_counts(project: Project) -> dict[str, int]:
    """Live pages by the language they count as, the most common first; "" where none is known."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT own_language, count(*) FROM linker_page WHERE project_id = %s AND {sql(LIVE)} "
            "GROUP BY 1 ORDER BY 2 DESC, 1",
            [project.pk],
        )
        return dict(cursor.fetchall())
