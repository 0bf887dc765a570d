"""The sets of vectors that a project keeps: what there is, and dropping what is no longer wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection, transaction
from django.db.models import Count
from django.utils.translation import gettext as _

from linker import audit
from linker.embedding.service import embedding_model
from linker.errors import UserError
from linker.models import CandidateEdge, ChangeKind, EmbeddingModel, PageEmbedding, Project, Run, RunKind
from linker.models.querysets import OPEN
from linker.models.run import ACTIVE
from linker.storage.locks import lock_project
from linker.storage.site_figures import keep_figures

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

# Bytes of a row without its vector: header, ids, sha256, time, and its entries in three indexes.
ROW_BYTES = 170
NEED_VECTORS = (RunKind.EMBED, RunKind.MATCH, RunKind.CHANGES)


@dataclass(frozen=True)
class VectorSet:
    """`pages` of the project, gone ones too, have a vector of the set, which take about `bytes`; `suggestions` that
    are open came from it. `is_in_use`: a match of today takes it."""

    model: EmbeddingModel
    pages: int
    bytes: int
    suggestions: int
    is_in_use: bool


def vector_sets(project: Project) -> list[VectorSet]:
    """The sets of which the project's pages have vectors, the newest first."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT e.model_id, count(*), sum(pg_column_size(e.vector)) FROM linker_pageembedding e "
            "JOIN linker_page p ON p.id = e.page_id WHERE p.project_id = %s GROUP BY e.model_id",
            [project.pk],
        )
        sizes = {model: (pages, int(size) + pages * ROW_BYTES) for model, pages, size in cursor.fetchall()}
    try:
        in_use = embedding_model(project).pk
    except UserError:
        in_use = None
    edges = CandidateEdge.objects.filter(OPEN, project=project)
    suggestions = dict(edges.values_list("run__model").annotate(Count("pk")).order_by())
    return [
        VectorSet(model, *sizes[model.pk], suggestions.get(model.pk, 0), model.pk == in_use)
        for model in EmbeddingModel.objects.filter(pk__in=sizes).order_by("-pk")
    ]


def drop_vectors(project: Project, model_id: int, user: AbstractBaseUser | AnonymousUser | None = None) -> VectorSet:
    """Deletes the vectors that the project's pages have of a set; returns what it was.

    Suggestions, decisions and what they say of the set stay. The room on disk is used for new vectors. Raises UserError
    where there are none, or an embedding or a match is under way, which may need them.
    """
    with transaction.atomic():
        lock_project(project.pk)
        found = next((one for one in vector_sets(project) if one.model.pk == model_id), None)
        if found is None:
            raise UserError(_("The project has no vectors of this set. Look at the list again."))
        if Run.objects.filter(project=project, kind__in=NEED_VECTORS, status__in=ACTIVE).exists():
            raise UserError(
                _("An embedding or a match is under way and may need these vectors. Wait until it has ended.")
            )
        PageEmbedding.objects.filter(model=model_id, page__project=project).delete()
        keep_figures(project)
        audit.record(
            project,
            ChangeKind.VECTORS,
            user=user,
            subject=str(found.model)[:300],
            before={"pages": found.pages, "bytes": found.bytes, "text": found.model.made_of},
        )
    return found
