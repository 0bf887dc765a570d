"""The figures of a site, which pages read (linker.models.KeptFigures): counted as a run ends."""

from __future__ import annotations

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
    # Names of their own: an aggregate named like a column would stand for it in the filters that follow.
    rows = Page.objects.filter(LIVE, project=project).order_by().values_list("category").annotate(
        present_count=Count("project"),
        indexable_count=Count("project", filter=INDEXABLE),
        orphan_count=Count("project", filter=ORPHAN),
    )  # fmt: skip
    by_category = [list(row) for row in rows]
    vectors = PageEmbedding.objects.filter(page__project=project).order_by().values_list("model")
    sets = list(vectors.annotate(live_pages=Count("page", filter=of("page", LIVE)), all_pages=Count("page")))
    edges = CandidateEdge.objects.filter(OPEN, project=project, run__model__isnull=False).order_by()
    suggested = edges.values_list("run__model").annotate(Count("pk")) if sets else ()
    return KeptFigures(
        project=project,
        by_category=by_category,
        languages=[*map(list, language_counts(project).items())],
        vectors={str(model): live for model, live, _ in sets if live},
        vector_sets={str(model): pages for model, _, pages in sets},
        suggested_by={str(model): edges for model, edges in suggested},
        pages=sum(pages for _, pages, *_ in by_category),
        missing=Page.objects.filter(MISSING, project=project).count(),
        left=Page.objects.filter(LEFT, project=project).count(),
        body_links=ExistingLink.objects.filter(TEXT_LINK, project=project).count(),
    )


def language_counts(project: Project) -> dict[str, int]:
    """Live pages by the language they count as, the most common first; "" where none is known."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT own_language, count(*) FROM linker_page WHERE project_id = %s AND {sql(LIVE)} "
            "GROUP BY 1 ORDER BY 2 DESC, 1",
            [project.pk],
        )
        return dict(cursor.fetchall())
