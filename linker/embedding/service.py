"""Pages to vectors."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import connection, transaction
from django.db.models import Count
from django.utils.translation import gettext

from linker.embedding.encoders import StaticEncoder, encoder_for
from linker.embedding.report import EmbedReport
from linker.embedding.text import RECIPES, Recipe, digest, text_to_embed
from linker.engine.text.template import Template, find_template
from linker.errors import UserError
from linker.models import EmbeddingModel, PageEmbedding, Project, Run, RunKind, RunStatus
from linker.models.project import VectorSource
from linker.models.querysets import EMBEDDABLE, PRESENT, of, sql
from linker.pages.languages import model_advice, read_languages
from linker.runs import lifecycle
from linker.storage.copy import analyze
from linker.storage.cursors import stream
from linker.storage.site_figures import language_counts
from linker.storage.vectors import save_vectors
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linker.embedding.encoders import Encoder
    from linker.runs.lifecycle import Progress

CHUNK = 512
# Pages that a static model is fitted to. The judge is how many links of the site are found among the nearest pages.
STATIC_SAMPLE = 1500
TEMPLATE_SAMPLE = 20_000
NEARLY_ALL = 0.8


def site_template(project: Project) -> Template:
    """What the titles of the site's indexable pages share."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT title, h1 FROM linker_page WHERE project_id = %s AND indexable AND title <> '' "
            "ORDER BY id LIMIT %s",
            [project.pk, TEMPLATE_SAMPLE],
        )
        rows = cursor.fetchall()
    return find_template([title for title, _ in rows], [h1 for _, h1 in rows])


def run_embed(run: Run, progress: Progress = lifecycle.no_progress) -> EmbedReport:
    """Embeds the project's live pages whose text has no vector of it yet in the set of the project's model and text.

    Vectors of other models, versions and texts stay as they are. Every chunk is committed by itself: a run that was
    stopped goes on where it was.
    """
    project = run.project
    if project.vector_source == VectorSource.IMPORTED:
        raise UserError(
            "This project uses the vectors its crawl brought along, so there is nothing to embed. To embed the pages "
            "here, change “Vectors” in the project's settings."
        )
    encoder = encoder_for(run.params.get("model") or project.model_name, project.pk)
    recipe = RECIPES[project.text_recipe]
    template = site_template(project)
    read_languages(project, progress)  # of a project that was last imported before languages were read
    progress(0, 0, "Reading the texts")
    started = time.monotonic()
    if isinstance(encoder, StaticEncoder):
        sample = _sample(project, template)
        if sample and not encoder.is_fitted(len(sample)):
            progress(0, 0, f"Fitting vectors of words to {encoder.teacher.name}, once")
            encoder.fit(sample)
    todo, unchanged, empty = _texts_to_embed(project, encoder, recipe, template)
    embedded = 0
    if todo:
        progress(0, len(todo), f"Loading the model {encoder.name}")
        model = _model_row(encoder, recipe)
        for first in range(0, len(todo), CHUNK):
            progress(first, len(todo), "Embedding")
            embedded += _embed_chunk(
                project, model, encoder, template, [page for page, _ in todo[first : first + CHUNK]]
            )
    if embedded:
        analyze("linker_pageembedding")
    model_row = EmbeddingModel.objects.filter(**_key(encoder, recipe)).first()
    Run.objects.filter(pk=run.pk).update(model=model_row)
    progress(len(todo), len(todo), "Embedding")
    return EmbedReport(
        model=str(model_row or encoder.name),
        made_of=recipe.made_of,
        dimensions=model_row.dimensions if model_row else 0,
        embedded=embedded,
        unchanged=unchanged,
        without_text=empty,
        advice=model_advice(project, language_counts(project).items()),
        seconds=round(time.monotonic() - started, 1),
    )


def _sample(project: Project, template: Template) -> list[str]:
    """The texts of up to STATIC_SAMPLE pages, spread over the site."""
    query = (
        f"SELECT {_TEXT_COLUMNS} FROM (SELECT * FROM linker_page p WHERE {_EMBEDDED} "
        "ORDER BY hashint8(id), id LIMIT %s) AS spread ORDER BY id"
    )
    with connection.cursor() as cursor:
        cursor.execute(query, [project.pk, STATIC_SAMPLE])
        return [text for row in cursor.fetchall() if (text := _page_text(project, template, row))]


_EMBEDDED = f"project_id = %s AND {sql(EMBEDDABLE)}"
_TEXT_COLUMNS = "id, title, h1, headings, left(body, 1500)"


def _page_text(project: Project, template: Template, row: tuple[Any, ...]) -> str:
    _, title, h1, headings, body = row
    return text_to_embed(project.text_recipe, title=template.strip(title), h1=h1, headings=headings, body=body)


def _texts_to_embed(
    project: Project, encoder: Encoder, recipe: Recipe, template: Template
) -> tuple[list[tuple[int, int]], int, int]:
    """Ids of the pages to embed with the length of their text, longest first; counts of unchanged and empty ones."""
    todo: list[tuple[int, int]] = []
    unchanged = empty = 0
    query = (
        f"SELECT {_TEXT_COLUMNS}, (SELECT e.text_sha256 FROM linker_pageembedding e JOIN linker_embeddingmodel m "
        "ON m.id = e.model_id WHERE e.page_id = p.id AND m.name = %s AND m.version = %s AND m.recipe = %s "
        "AND m.project_id IS NULL) "
        f"FROM linker_page p WHERE {_EMBEDDED} ORDER BY id"
    )
    for *row, known in stream("texts", query, [encoder.name, encoder.version, recipe.key, project.pk]):
        text = _page_text(project, template, tuple(row))
        if not text:
            empty += 1
        elif known is not None and bytes(known) == digest(text):
            unchanged += 1
        else:
            todo.append((row[0], len(text)))
    # Texts of like length share a batch, so that little of it is padding; the longest first, so that a batch that
    # does not fit in memory fails at once.
    todo.sort(key=lambda item: (-item[1], item[0]))
    return todo, unchanged, empty


def _key(encoder: Encoder, recipe: Recipe) -> dict[str, Any]:
    return {"name": encoder.name, "version": encoder.version, "recipe": recipe.key, "project": None}


def _model_row(encoder: Encoder, recipe: Recipe) -> EmbeddingModel:
    defaults = {"dimensions": encoder.dimensions, "made_of": recipe.made_of}
    return EmbeddingModel.objects.get_or_create(**_key(encoder, recipe), defaults=defaults)[0]


def _embed_chunk(
    project: Project, model: EmbeddingModel, encoder: Encoder, template: Template, page_ids: list[int]
) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_TEXT_COLUMNS} FROM linker_page WHERE id = ANY(%s)", [page_ids])
        texts = {row[0]: _page_text(project, template, row) for row in cursor.fetchall()}
    texts = {page: text for page, text in texts.items() if text}
    order = sorted(texts, key=lambda page: (-len(texts[page]), page))
    vectors = encoder.encode([texts[page] for page in order])
    with transaction.atomic():
        save_vectors(model.pk, np.array(order), vectors, [digest(texts[page]) for page in order])
    return len(order)


def embedding_model(project: Project, pages: Mapping[int, int] | None = None) -> EmbeddingModel:
    """The set of vectors that a match of the project uses: of its encoder and text, or the one the crawl brought along.

    A match compares vectors of one set only. Raises UserError if the settings' set has none, or if it was only begun
    while other sets are complete.

    `pages`: how many of them have a vector, by set, where it is known already.
    """
    recipe = RECIPES[project.text_recipe]
    if project.vector_source == VectorSource.IMPORTED:
        models = EmbeddingModel.objects.filter(project=project)
        missing = gettext(
            "The crawl brought no vectors along. Import a file with a vector column, or embed the pages here."
        )
    else:
        name = encoder_for(project.model_name, project.pk).name
        models = EmbeddingModel.objects.filter(project=None, name=name, recipe=recipe.key)
        missing = gettext("The pages have no vectors yet. Embed them first.")
    pages = pages_by_set(project) if pages is None else pages
    wanted = {pk: pages[pk] for pk in models.values_list("pk", flat=True) if pk in pages}
    others = [pk for pk in pages if pk not in wanted]
    if not wanted:
        if others and project.vector_source == VectorSource.ENCODER:
            kept = EmbeddingModel.objects.get(pk=max(others, key=lambda pk: pages[pk]))
            missing = gettext(
                "The pages have no vectors of what the settings ask for (%(model)s, text %(text)s); those there are "
                "of %(kept)s. Embed the pages, or choose the former settings again."
            ) % {"model": name, "text": recipe.key, "kept": kept}
        raise UserError(missing)
    # The newest, but not one that was only begun with: a match by a few pages would take all other edges for stale.
    newest = max(pk for pk, count in wanted.items() if count >= NEARLY_ALL * max(wanted.values()))
    most = max((pages[pk] for pk in others), default=0)
    if project.vector_source == VectorSource.ENCODER and wanted[newest] < NEARLY_ALL * most:
        ended = project.runs.filter(kind=RunKind.EMBED, status=RunStatus.SUCCEEDED, model_id=newest)
        if not ended.exists():
            raise UserError(
                gettext(
                    "Only %(pages)s of the %(all)s pages with a vector have one of what the settings ask for, and "
                    "vectors of two sets cannot be compared. Let the embedding end, then match."
                )
                % {"pages": number(wanted[newest]), "all": number(most)}
            )
    return EmbeddingModel.objects.get(pk=newest)


def pages_by_set(project: Project) -> dict[int, int]:
    """How many of the project's pages that are on the site have a vector, by set."""
    stored = PageEmbedding.objects.filter(of("page", PRESENT), page__project=project)
    return dict(stored.values_list("model").annotate(Count("pk")).order_by())
