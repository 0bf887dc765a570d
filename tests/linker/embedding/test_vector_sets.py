"""Vectors say what they were made of: another text is another set, and no match compares two."""

from __future__ import annotations

from hashlib import sha256
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from linker.embedding import vector_sets as sets
from linker.embedding.service import embedding_model, run_embed
from linker.embedding.text import RECIPES, text_to_embed
from linker.embedding.vector_sets import drop_vectors, run_drop_vectors, vector_sets
from linker.engine.params import MatchParams, PageFilter, Ranking
from linker.errors import RunCancelled, UserError
from linker.matching.start import run_match
from linker.models import Change, EmbeddingModel, PageEmbedding, Project, Run, RunKind, RunStatus
from linker.reports.words import summary
from linker.runs import lifecycle
from linker.runs.again import try_again
from tests.factories import embed, make_edge, make_model, make_page, make_project, make_run
from tests.markup import compact

pytestmark = pytest.mark.django_db


def another_set(recipe: str = "title 1", name: str = "test-model", dimensions: int = 4) -> EmbeddingModel:
    return EmbeddingModel.objects.create(
        name=name, version="1", recipe=recipe, made_of="the title", dimensions=dimensions
    )


def run(project: Project, kind: RunKind, params: dict[str, object], work) -> Run:
    started = lifecycle.start_run(project, kind, params, to_queue=False)
    Run.objects.filter(pk=started.pk).update(status="running")
    started.refresh_from_db()
    lifecycle.succeed(started.pk, work(started))
    started.refresh_from_db()
    return started


def match(project: Project, donors: PageFilter | None = None) -> Run:
    params = MatchParams(ranking=Ranking.COSINE, threshold=0.0, donors=donors or PageFilter(indexable_only=False))
    return run(project, RunKind.MATCH, params.to_dict(), run_match)


@pytest.mark.nightly
def test_another_text_makes_another_set_and_the_vectors_there_are_stay(project):
    project.model_name = "static:all-MiniLM-L6-v2"
    project.save()
    for n in range(8):
        make_page(project, title=f"Tents of kind {n}", body=f"All about the tents of kind {n} and how to pitch them.")
    run(project, RunKind.EMBED, {}, run_embed)
    first = embedding_model(project)
    stored = {row.page_id: (row.vector, bytes(row.text_sha256)) for row in PageEmbedding.objects.all()}
    project.text_recipe = "title"
    project.save()
    with pytest.raises(UserError, match=r"no vectors of what the settings ask for.*text title 1.*text full 1"):
        embedding_model(project)
    report = run(project, RunKind.EMBED, {}, run_embed).report
    second = embedding_model(project)
    assert (first.recipe, second.recipe) == ("full 1", "title 1")
    assert report["embedded"] == 8
    assert report["made_of"] == second.made_of == RECIPES["title"].made_of
    assert {
        row.page_id: (row.vector, bytes(row.text_sha256)) for row in PageEmbedding.objects.filter(model=first)
    } == stored
    project.text_recipe = "full"
    project.save()
    assert embedding_model(project) == first
    assert run(project, RunKind.EMBED, {}, run_embed).report["embedded"] == 0


@pytest.mark.nightly
def test_a_match_takes_one_set_and_reports_the_pages_without_a_vector_of_it(project):
    pages = [make_page(project, f"/p{number}") for number in range(5)]
    other = another_set()
    for number, page in enumerate(pages):
        embed(page, [0, 1, 0, 0], other)
        if number < 4:
            embed(page, [1, number / 10, 0, 0])
    done = match(project)
    assert done.model == make_model()
    assert {"reason": "no_vector", "pages": 1} in done.report["left_out"]
    edges = list(project.edges.all())
    assert pages[4].pk not in {page for edge in edges for page in (edge.source_id, edge.target_id)}
    assert {edge.run.model for edge in edges} == {make_model()}
    unit = {row.page_id: np.array(row.vector) for row in PageEmbedding.objects.filter(model=make_model())}
    for edge in edges:
        assert edge.similarity == pytest.approx(float(unit[edge.source_id] @ unit[edge.target_id]), abs=1e-3)


def test_a_set_that_was_only_begun_with_is_not_matched_with(project):
    pages = [make_page(project) for _ in range(10)]
    for page in pages:
        embed(page, [1, 0, 0, 0])
    begun = another_set()
    embed(pages[0], [1, 0, 0, 0], begun)
    project.text_recipe = "title"
    project.save()
    with pytest.raises(UserError, match="Only 1 of the 10 pages with a vector"):
        embedding_model(project)
    make_run(project, RunKind.EMBED, RunStatus.SUCCEEDED, model=begun)  # the others have no text of this kind
    assert embedding_model(project) == begun


@pytest.mark.nightly
def test_open_suggestions_of_two_sets_never_stand_side_by_side(project):
    pages = [make_page(project, path) for path in ("/a", "/b", "/c")]
    other = another_set()
    for number, page in enumerate(pages):
        embed(page, [1, number / 10, 0, 0])
        embed(page, [1, 0, number / 10, 0], other)
    first = match(project)
    assert "other_vectors" not in match(project, PageFilter(url_pattern="/a$")).report  # of the same set
    decided = project.edges.get(source=pages[1], target=pages[0])
    project.edges.filter(pk=decided.pk).update(status="accepted")
    project.text_recipe = "title"
    project.save()
    make_run(project, RunKind.EMBED, RunStatus.SUCCEEDED, model=other)

    second = match(project, PageFilter(url_pattern="/a$"))

    standing = project.edges.filter(stale=False)
    assert {edge.run for edge in standing.filter(status="suggested")} == {second}
    assert list(standing.exclude(status="suggested")) == [decided]
    assert (first.model, second.model) == (make_model(), other)
    assert (second.report["stale"], second.report["other_vectors"]) == (3, 3)
    assert "3 of them were made with another set of vectors" in " ".join(summary(second))


def test_the_text_of_a_recipe_changes_only_with_its_version():
    """Where this fails, count the version of the recipe up and write the new digest down beside it."""
    page = {
        "title": "Winter boots", "h1": "Boots for snow", "headings": [f"Heading {n}" for n in range(60)],
        "body": "\n".join(f"Line {n} of the text." for n in range(200)),
    }  # fmt: skip
    digests = {
        recipe.key: sha256(text_to_embed(name, **page).encode()).hexdigest()[:12] for name, recipe in RECIPES.items()
    }
    assert digests == {"full 1": "adf230251e71", "title 1": "1e978ffe3715", "body 1": "79709b0c6ca1"}


# ------------------------------------------------------------------------------------------------------- dropping


def test_dropping_a_set_deletes_its_vectors_and_nothing_else(project, manager):
    pages = [make_page(project) for _ in range(3)]
    elsewhere = make_page(make_project(slug="third"))
    old = another_set()
    for page in [*pages, elsewhere]:
        embed(page, [1, 0, 0, 0], old)
        embed(page, [1, 0, 0, 0])
    edge = make_edge(project, *pages[:2], run=make_run(project, model=old))
    listed = {one.model.pk: one for one in vector_sets(project)}
    assert (listed[old.pk].pages, listed[old.pk].suggestions, listed[old.pk].is_in_use) == (3, 1, False)
    assert listed[make_model().pk].is_in_use
    assert 3 * 8 < listed[old.pk].bytes < 3 * 400
    dropped = drop_vectors(project, old.pk, manager)
    assert dropped.pages == 3
    assert set(PageEmbedding.objects.values_list("page__project__slug", "model__recipe")) == {
        ("shop", "full 1"), ("third", "full 1"), ("third", "title 1"),
    }  # fmt: skip
    edge.refresh_from_db()
    assert edge.run.model == old
    change = Change.objects.get(project=project, kind="vectors")
    assert (change.user, change.before["pages"]) == (manager, 3)


@pytest.mark.parametrize("kind", [RunKind.EMBED, RunKind.MATCH, RunKind.CHANGES])
def test_nothing_is_dropped_while_a_run_may_need_it_or_where_there_is_nothing(project, kind):
    embed(make_page(project), [1, 0, 0, 0])
    with pytest.raises(UserError, match="no vectors of this set"):
        drop_vectors(project, 10**6)
    make_run(project, kind, RunStatus.RUNNING)
    with pytest.raises(UserError, match="under way"):
        drop_vectors(project, make_model().pk)
    assert PageEmbedding.objects.count() == 1


@pytest.mark.nightly
def test_a_manager_sees_the_sets_and_drops_one(project, manager, client_for):
    embed(make_page(project), [1, 0, 0, 0])
    embed(make_page(project), [1, 0, 0, 0], another_set())
    client, url = client_for(manager), reverse("settings_vectors", args=["shop"])
    shown = compact(client.get(url).content.decode())
    for words in ("test-model 1", "<b>title 1</b>: the title", "Used by matches"):
        assert words in shown
    drop = reverse("vectors_drop", args=["shop", EmbeddingModel.objects.get(recipe="title 1").pk])
    assert client.get(drop).url == "/p/shop/settings/vectors/"
    answer = client.post(drop, follow=True).content.decode()
    assert "Dropped the vectors of 1 page" in answer
    assert PageEmbedding.objects.count() == 1
    assert "no vectors of this set" in client.post(drop, follow=True).content.decode()


@pytest.fixture
def many(monkeypatch):
    """More pages than are dropped within a request, in lots of a few."""
    monkeypatch.setattr(sets, "AT_ONCE", 2)
    monkeypatch.setattr(sets, "ROWS", 2)
    monkeypatch.setattr("linker.storage.slices.ROWS", 2)


def make_vectors(project: Project, pages: int = 5) -> EmbeddingModel:
    """A set that no match takes, of so many pages, beside the one that it does."""
    old = another_set()
    for _ in range(pages):
        page = make_page(project)
        embed(page, [1, 0, 0, 0], old)
        embed(page, [1, 0, 0, 0])
    return old


def left(project: Project) -> dict[str, int]:
    return {one.model.recipe: one.pages for one in vector_sets(project)}


@pytest.mark.django_db(transaction=True)
def test_a_large_set_is_dropped_by_a_run_with_progress(project, manager, client_for, many):
    old = make_vectors(project)
    answer = client_for(manager).post(reverse("vectors_drop", args=["shop", old.pk]))
    started = Run.objects.get(kind=RunKind.VECTORS)
    assert answer.url == reverse("run", args=["shop", started.pk])
    assert left(project) == {"full 1": 5, "title 1": 5}
    with pytest.raises(UserError, match="already waiting"):
        drop_vectors(project, make_model().pk)

    told: list[tuple[int, int, str]] = []
    done = lifecycle.execute(started.pk, lambda run, _: run_drop_vectors(run, lambda *args: told.append(args)))

    assert [step for step in told if step[2] == "Dropping vectors"] == [(n, 5, "Dropping vectors") for n in (0, 2, 4)]
    assert summary(done) == ["Dropped the vectors of 5 pages: test-model 1 (text title 1)."]
    assert left(project) == {"full 1": 5}
    assert set(PageEmbedding.objects.values_list("model")) == {(make_model().pk,)}
    change = Change.objects.get(project=project, kind="vectors")
    assert (change.user, change.before["pages"]) == (manager, 5)


@pytest.mark.django_db(transaction=True)
def test_a_run_that_is_cancelled_drops_nothing_and_is_tried_again(project, manager, many):
    started = drop_vectors(project, make_vectors(project).pk, manager)

    def stop(done: int, total: int, stage: str = "") -> None:
        if done:
            raise RunCancelled

    assert lifecycle.execute(started.pk, lambda run, _: run_drop_vectors(run, stop)).status == RunStatus.CANCELLED
    assert left(project) == {"full 1": 5, "title 1": 5}
    assert not Change.objects.filter(kind="vectors").exists()
    started.refresh_from_db()
    again = try_again(started, manager)
    assert lifecycle.execute(again.pk, run_drop_vectors).status == RunStatus.SUCCEEDED
    assert left(project) == {"full 1": 5}


@pytest.mark.django_db(transaction=True)
def test_a_match_that_begins_meanwhile_keeps_the_set(project, many):
    started = drop_vectors(project, make_vectors(project).pk)

    def match_begins(done: int, total: int, stage: str = "") -> None:
        if done and not Run.objects.filter(kind=RunKind.MATCH).exists():
            make_run(project, RunKind.MATCH, RunStatus.QUEUED)

    done = lifecycle.execute(started.pk, lambda run, _: run_drop_vectors(run, match_begins))
    assert (done.status, "under way" in done.error) == (RunStatus.FAILED, True)
    assert left(project) == {"full 1": 5, "title 1": 5}


def test_the_list_counts_no_vectors_once_a_run_has_ended(project):
    old = make_vectors(project)
    run(project, RunKind.EMBED, {}, lambda _: {})
    with CaptureQueriesContext(connection) as queries:
        assert left(project) == {"full 1": 5, "title 1": 5}
    assert not [query for query in queries if "linker_pageembedding" in query["sql"]]
    assert not [query for query in queries if "linker_candidateedge" in query["sql"]]
    drop_vectors(project, old.pk)
    assert left(project) == {"full 1": 5}


@pytest.mark.parametrize(("who", "status"), [("editor", 403), ("outsider", 404)])
def test_only_managers_may(project, who, status, request, client_for):
    embed(make_page(project), [1, 0, 0, 0])
    client = client_for(request.getfixturevalue(who))
    assert client.get(reverse("settings_vectors", args=["shop"])).status_code == status
    assert client.post(reverse("vectors_drop", args=["shop", make_model().pk])).status_code == status
    assert PageEmbedding.objects.count() == 1


def test_the_command_lists_and_drops(project):
    embed(make_page(project), [1, 0, 0, 0])
    out = StringIO()
    call_command("drop_vectors", "shop", stdout=out)
    assert f"{make_model().pk}: test-model 1 (text full 1), 1 pages" in out.getvalue()
    assert "a match takes it" in out.getvalue()
    call_command("drop_vectors", "shop", "--set", str(make_model().pk), stdout=out)
    assert "Dropped test-model 1 (text full 1): 1 vectors." in out.getvalue()
    with pytest.raises(CommandError, match="no vectors of this set"):
        call_command("drop_vectors", "shop", "--set", str(make_model().pk), stdout=out)
