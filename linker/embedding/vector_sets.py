"""The sets of vectors that a project keeps: what there is, and dropping what is no longer wanted.

A set of more than AT_ONCE pages is dropped by a run. Either way it is one transaction: a match never finds half a set,
and a run that is cancelled or has failed has dropped nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection, transaction
from django.utils.translation import gettext as _

from linker import audit
from linker.embedding.service import embedding_model
from linker.errors import UserError
from linker.models import ChangeKind, EmbeddingModel, PageEmbedding, Project, Run, RunKind
from linker.models.run import ACTIVE
from linker.runs import lifecycle
from linker.runs.reports import Report
from linker.storage.locks import lock_pages, lock_project
from linker.storage.site_figures import forget_vectors, site_figures
from linker.storage.slices import ROWS, in_slices

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    from linker.runs.lifecycle import Progress

AT_ONCE = 5_000  # pages whose vectors are dropped while somebody waits; of more, by a run
# Bytes of a row without the numbers of its vector: header, ids, sha256, time, and its entries in three indexes.
ROW_BYTES = 178
NUMBER_BYTES = 2  # of a half vector
NEED_VECTORS = (RunKind.EMBED, RunKind.MATCH, RunKind.CHANGES)


@dataclass(frozen=True)
class VectorSet:
    """`pages` of the project, gone ones too, have a vector of the set, which take about `bytes`; `suggestions` that
    are open came from it, both as the last run left them. `is_in_use`: a match of today takes it."""

    model: EmbeddingModel
    pages: int
    suggestions: int
    is_in_use: bool

    @property
    def bytes(self) -> int:
        return self.pages * (ROW_BYTES + NUMBER_BYTES * self.model.dimensions)


@dataclass(frozen=True, kw_only=True)
class VectorsReport(Report):
    """Pages whose vectors of the set were dropped; the set, in words."""

    pages: int = 0
    set: str = ""


def vector_sets(project: Project) -> list[VectorSet]:
    """The sets of which the project's pages have vectors, the newest first, by the figures that are kept."""
    figures = site_figures(project)
    sizes = {int(model): pages for model, pages in figures.vector_sets.items()}
    try:
        in_use = embedding_model(project, figures.live_by_set).pk
    except UserError:
        in_use = None
    return [
        VectorSet(model, sizes[model.pk], figures.suggested_by.get(str(model.pk), 0), model.pk == in_use)
        for model in EmbeddingModel.objects.filter(pk__in=sizes).order_by("-pk")
    ]


def drop_vectors(
    project: Project, model_id: int, user: AbstractBaseUser | AnonymousUser | None = None, *, to_queue: bool = True
) -> VectorsReport | Run:
    """Deletes the vectors that the project's pages have of a set, or starts the run that does; returns what was
    dropped, or the run.

    Suggestions, decisions and what they say of the set stay. The room on disk is used for new vectors. Raises UserError
    where there are none, or an embedding or a match is under way, which may need them.
    """
    with transaction.atomic():
        lock_project(project.pk)
        first = PageEmbedding.objects.filter(model=model_id, page__project=project).order_by()[: AT_ONCE + 1]
        pages = first.count()
        if not pages:
            raise UserError(_("The project has no vectors of this set. Look at the list again."))
        _refuse_where_needed(project)
        if active := Run.objects.filter(project=project, kind=RunKind.VECTORS, status__in=ACTIVE).first():
            raise lifecycle.RunIsActive(active)
        if pages > AT_ONCE:
            return lifecycle.start_run(project, RunKind.VECTORS, {"model": model_id}, user, to_queue=to_queue)
        return _drop(project, model_id, user, lifecycle.no_progress)


def run_drop_vectors(run: Run, progress: Progress = lifecycle.no_progress) -> VectorsReport:
    """The work of the run; ends the run with it."""
    with transaction.atomic():
        lock_pages(run.project_id)  # as imports do, which may bring vectors of the set
        _refuse_where_needed(run.project)
        report = _drop(run.project, run.params["model"], run.created_by, progress)
        _refuse_where_needed(run.project)  # one that has begun meanwhile found the set still there
        lifecycle.succeed(run.pk, report)
    return report


def _refuse_where_needed(project: Project) -> None:
    if Run.objects.filter(project=project, kind__in=NEED_VECTORS, status__in=ACTIVE).exists():
        raise UserError(_("An embedding or a match is under way and may need these vectors. Wait until it has ended."))


def _drop(
    project: Project, model_id: int, user: AbstractBaseUser | AnonymousUser | None, progress: Progress
) -> VectorsReport:
    model = EmbeddingModel.objects.get(pk=model_id)
    progress(0, 1, "Counting vectors")
    pages = _lock_vectors(project, model_id)

    def told(done: int, _slices: int) -> None:
        progress(min(done * ROWS, pages), pages, "Dropping vectors")

    in_slices(
        "DELETE FROM linker_pageembedding e USING dropped d "
        "WHERE d.id = e.id AND d.id > %(after)s AND d.id <= %(last)s",
        {},
        "dropped",
        "id",
        told,
    )
    forget_vectors(project, model_id)
    found = VectorSet(model, pages, 0, is_in_use=False)
    before = {"pages": pages, "bytes": found.bytes, "text": model.made_of}
    audit.record(project, ChangeKind.VECTORS, user=user, subject=str(model)[:300], before=before)
    return VectorsReport(pages=pages, set=str(model))


def _lock_vectors(project: Project, model_id: int) -> int:
    """Locks the vectors of a set and lists them in the table `dropped`; returns how many there are."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS dropped")
        cursor.execute(
            "CREATE TEMP TABLE dropped ON COMMIT DROP AS SELECT e.id FROM linker_pageembedding e "
            "JOIN linker_page p ON p.id = e.page_id WHERE p.project_id = %s AND e.model_id = %s "
            "ORDER BY e.id FOR UPDATE OF e",
            [project.pk, model_id],
        )
        pages: int = cursor.rowcount
        cursor.execute("ANALYZE dropped")
    return pages
