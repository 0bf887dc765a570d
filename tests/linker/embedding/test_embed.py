"""Pages become vectors once for each text; the real model says that like is like."""

from __future__ import annotations

import hashlib
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.embedding.encoders import _batches, encoder_for
from linker.embedding.report import EmbedReport
from linker.embedding.service import embedding_model, run_embed
from linker.embedding.text import digest, text_to_embed
from linker.engine.arrays.vectors import HalfVectors, unit_rows
from linker.errors import UserError
from linker.models import EmbeddingModel, PageEmbedding, RunKind
from linker.runs import lifecycle
from linker.storage.copy import copy_out
from linker.storage.vectors import load_half_vectors, load_vectors, save_vectors
from tests.factories import make_model, make_page, make_project

pytestmark = pytest.mark.django_db


def embed(project) -> EmbedReport:
    run = lifecycle.start_run(project, RunKind.EMBED, {}, to_queue=False)
    report = run_embed(run)
    type(run).objects.filter(pk=run.pk).update(status="succeeded")
    return report


def test_recipes_read_what_they_say():
    parts = {"title": "Tents", "h1": "All tents", "headings": ["Domes", "Tunnels"], "body": "Long  text\nhere"}
    assert text_to_embed("full", **parts) == "Tents. All tents. Domes. Tunnels. Long text here"
    assert text_to_embed("title", **parts) == "Tents. All tents"
    assert text_to_embed("body", **parts) == "Long text here"
    assert text_to_embed("title", **{**parts, "h1": "Tents"}) == "Tents"
    assert text_to_embed("full", title="", h1="", headings=[], body=" ") == ""


@given(st.text())
def test_any_text_has_a_digest(text):
    assert len(digest(text)) == 32


@pytest.mark.nightly
def test_unchanged_text_is_never_embedded_again(project):
    project = make_project("embedded", model_name="all-MiniLM-L6-v2")
    tent = make_page(project, "/tent", body="A dome tent for two people with a light aluminium frame.")
    stove = make_page(project, "/stove", body="A gas stove that boils a litre of water in three minutes.")
    make_page(project, "/gone", status_code=404)
    make_page(project, "/empty", title="", h1="")
    first = embed(project)
    assert (first.embedded, first.unchanged, first.without_text) == (2, 0, 1)
    stored = dict(PageEmbedding.objects.values_list("page_id", "text_sha256"))

    assert (embed(project).embedded, embed(project).unchanged) == (0, 2)
    assert dict(PageEmbedding.objects.values_list("page_id", "text_sha256")) == stored

    type(tent).objects.filter(pk=tent.pk).update(body="Now a tunnel tent.")
    assert embed(project).embedded == 1
    changed = dict(PageEmbedding.objects.values_list("page_id", "text_sha256"))
    assert changed[stove.pk] == stored[stove.pk]
    assert changed[tent.pk] != stored[tent.pk]


@pytest.mark.slow  # beside the commands of the README, so that one process alone loads the model
def test_the_packaged_model_gives_unit_vectors_that_mean_something():
    encoder = encoder_for("all-MiniLM-L6-v2", 0)
    vectors = encoder.encode(["a tent for two people", "a shelter for camping", "interest rates for loans"])
    assert vectors.shape == (3, encoder.dimensions) == (3, 384)
    assert np.allclose((vectors**2).sum(axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2
    assert len(encoder.version) == 12


def test_a_models_files_are_read_again_only_when_they_change(settings, tmp_path):
    settings.VAR = tmp_path / "var"
    weights = tmp_path / "model" / "model.safetensors"
    weights.parent.mkdir()
    weights.write_bytes(b"one")
    first = encoder_for(str(weights.parent), 1).version
    assert first == hashlib.sha256(b"model.safetensorsone").hexdigest()[:12]
    time = weights.stat().st_mtime_ns
    weights.write_bytes(b"two")
    os.utime(weights, ns=(time, time))
    assert encoder_for(str(weights.parent), 1).version == first  # of the same size and time: not read
    os.utime(weights, ns=(time, time + 1))
    assert encoder_for(str(weights.parent), 1).version == hashlib.sha256(b"model.safetensorstwo").hexdigest()[:12]


def test_the_version_is_known_where_nothing_can_be_kept(settings, tmp_path):
    settings.VAR = tmp_path / "a file"
    settings.VAR.write_text("")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    assert len(encoder_for(str(tmp_path / "model"), 1).version) == 12


@pytest.mark.nightly
def test_small_batches_on_several_cores_give_the_vectors_of_one():
    encoder = encoder_for("all-MiniLM-L6-v2", 0)
    texts = [f"Page {number % 17} about {'camping stoves and tents ' * (number % 40)}" for number in range(90)]
    plain = encoder._model.encode(texts, normalize_embeddings=True)
    assert np.abs(encoder.encode(texts) - plain).max() < 1e-5
    assert encoder.encode([]).shape == (0, 384)


@pytest.mark.nightly
def test_texts_longer_than_the_model_reads_give_its_vectors_too():
    encoder = encoder_for("all-MiniLM-L6-v2", 0)
    texts = [f"Page {size} says {'camping stoves and tents ' * size}" for size in (1, 60, 400, 3, 900, 45, 200)]
    assert np.abs(encoder.encode(texts) - encoder._model.encode(texts, normalize_embeddings=True)).max() < 1e-5


def test_a_batch_counts_only_what_the_model_reads_of_a_text():
    assert [len(batch) for batch in _batches(["a" * 9000] * 7, 1024)] == [3, 3, 1]
    assert [len(batch) for batch in _batches(["a" * 9000] * 2 + ["a" * 100] * 40, 9000)] == [1, 1, 30, 10]


@pytest.mark.nightly
def test_a_static_model_is_fitted_once_and_finds_what_its_teacher_finds(settings, tmp_path):
    settings.VAR = tmp_path
    project = make_project("static", model_name="static:all-MiniLM-L6-v2")
    things = ["dome tent for two people", "gas stove for litres of water", "loan with a low interest rate"]
    for number in range(30):
        make_page(project, f"/p{number}", title=f"Number {number}", body=f"A {things[number % 3]}, kind {number}.")
    first = embed(project)
    assert (first.embedded, first.dimensions) == (30, 384)
    assert first.model.startswith("static:all-MiniLM-L6-v2")
    assert embed(project).unchanged == 30

    model = embedding_model(project)
    pages = np.array(sorted(PageEmbedding.objects.filter(model=model).values_list("page_id", flat=True)))
    unit = load_vectors(model.pk, 384, pages).unit
    assert np.allclose((unit**2).sum(axis=1), 1, atol=1e-3)
    near = unit @ unit.T
    np.fill_diagonal(near, -1)
    assert (near.argmax(axis=1) % 3 == np.arange(30) % 3).all()


@pytest.mark.nightly
def test_a_static_model_is_fitted_again_when_the_site_has_outgrown_its_sample(settings, tmp_path):
    settings.VAR = tmp_path
    project = make_project("grown", model_name="static:all-MiniLM-L6-v2")
    make_page(project, "/tent", body="A dome tent for two people with a light aluminium frame.")
    first = embed(project).model
    make_page(project, "/stove", body="A gas stove that boils a litre of water in three minutes.")
    second = embed(project)
    assert second.embedded == 2
    assert second.model != first


def test_a_model_that_is_not_there_is_named():
    project = make_project("nomodel", model_name="nobody/no-such-model")
    make_page(project, "/a")
    with pytest.raises(UserError, match="nobody/no-such-model"):
        embed(project)


def test_a_project_on_imported_vectors_has_nothing_to_embed():
    project = make_project("imported", vector_source="imported")
    with pytest.raises(UserError, match="vectors its crawl brought along"):
        embed(project)


def test_vectors_come_back_from_the_database_as_they_went_in(project):
    model = make_model(384, "wide")
    random = np.random.default_rng(3)
    unit = unit_rows(random.normal(size=(50, 384)))
    pages = np.array([make_page(project).pk for _ in range(50)])
    save_vectors(model.pk, pages, unit, [bytes([n]) * 32 for n in range(50)])
    loaded = load_vectors(model.pk, 384, pages[::-1])
    assert loaded.ids.tolist() == sorted(pages.tolist())
    assert np.abs(loaded.unit - unit).max() < 1e-3
    row = PageEmbedding.objects.get(page_id=pages[7], model=model)
    assert bytes(row.text_sha256) == b"\x07" * 32
    assert np.allclose(np.asarray(row.vector), unit[7], atol=1e-3)
    for rows in (7, 50, 1000):
        half = load_half_vectors(model.pk, 384, loaded.ids, rows)
        assert np.array_equal(HalfVectors(half)[:], loaded.unit)
    with pytest.raises(KeyError):
        load_half_vectors(model.pk, 384, np.append(loaded.ids, loaded.ids[-1] + 10**6))


def test_arrays_travel_with_debugging_on(project, settings):
    settings.DEBUG = True
    page = make_page(project).pk
    rows = copy_out("SELECT id FROM linker_page WHERE id = %s", [page], [("id", ">i8")])
    assert rows["id"].tolist() == [page]


def test_the_models_of_other_projects_are_not_taken(project):
    other = EmbeddingModel.objects.create(name="imported: x", version="as crawled", dimensions=4, project=project)
    elsewhere = make_project("second", vector_source="imported")
    with pytest.raises(UserError, match="brought no vectors"):
        embedding_model(elsewhere)
    assert other.project == project
