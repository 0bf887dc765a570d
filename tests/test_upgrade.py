"""A database of before links had blocks, vectors had recipes and releases had operations keeps all it holds."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from hashlib import sha256
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import DatabaseError
from django.test import Client

from linker.embedding.service import embedding_model, pages_by_set
from linker.models import Block, EmbeddingModel, ExistingLink, PageTraffic, Project, SensitivePage, SensitiveRule
from linker.pages.sensitivity import mark_sensitive
from review.models import Decision, Release, ReleaseLink
from review.releases.export import release_pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

OLD = [("linker", "0010_import_indexes"), ("review", "0003_seen"), ("ingest", "0002_queries")]
NAME = "upgraded"
FILE = b"donor_url,anchor_text,acceptor_url\r\nhttps://shop.example/a,boots,https://shop.example/b\r\n"
# Rows that an upgrade leaves as they are, in all columns that they had.
KEPT = (
    *("auth_user", "linker_project", "linker_membership", "linker_category", "linker_page", "linker_tier"),
    *("linker_exclusionrule", "linker_candidateedge", "review_decision", "review_release", "review_releasechunk"),
    *("review_releaselink", "linker_run", "linker_pageembedding", "ingest_upload"),
)
DIVIDED = "model_id"  # projects that share an encoder and read different texts get sets of vectors of their own


@pytest.fixture(scope="module")
def upgraded(django_db_setup, django_db_blocker) -> Iterator[SimpleNamespace]:
    """A database of its own: migrated to the old schema, filled, migrated to today's."""
    with django_db_blocker.unblock():
        usual = connection.settings_dict["NAME"]
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {NAME}")
            cursor.execute(f"CREATE DATABASE {NAME} TEMPLATE template0")
        try:
            _connect(NAME)
            executor = MigrationExecutor(connection)
            executor.migrate(OLD)
            _fill(executor.loader.project_state(OLD).apps)
            before = _rows(KEPT)
            executor = MigrationExecutor(connection)
            executor.migrate(executor.loader.graph.leaf_nodes())
            yield SimpleNamespace(before=before, after=_rows(KEPT))
        finally:
            _connect(usual)
            with connection.cursor() as cursor:
                cursor.execute(f"DROP DATABASE IF EXISTS {NAME} WITH (FORCE)")


def _connect(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name


def _rows(tables: tuple[str, ...]) -> dict[str, list[dict[str, Any]]]:
    found = {}
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"SELECT to_jsonb(t)::text FROM {table} t ORDER BY id")
            found[table] = [json.loads(row) for (row,) in cursor.fetchall()]
    return found


def _fill(apps: Any) -> None:
    """Three projects: two share an encoder and read different texts, the third has vectors of its crawl."""

    def make(name: str, /, **fields: Any) -> Any:
        return apps.get_model(name).objects.create(**fields)

    now = datetime(2026, 1, 5, tzinfo=UTC)
    ed = make("auth.User", username="ed", is_superuser=True)
    encoder = make("linker.EmbeddingModel", name="encoder", version="1", dimensions=2)
    projects = [
        make("linker.Project", slug=slug, name=slug, base_url="https://shop.example", model_name="encoder", **fields)
        for slug, fields in (
            ("shop", {}),
            ("titles", {"text_recipe": "title"}),
            ("crawl", {"vector_source": "imported"}),
        )
    ]
    crawled = make("linker.EmbeddingModel", name="a column", version="as crawled", dimensions=2, project=projects[2])
    for project in projects:
        make("linker.Membership", project=project, user=ed, role="manager")
        health = make("linker.Category", project=project, name="Health", path=["Health"], path_key="0" * 64, depth=1)
        numbers = ({"clicks": 7, "impressions": 90, "position": 2.5}, {"clicks": 0}, {}, {})
        pages = [
            make(
                "linker.Page",
                project=project,
                url=f"https://shop.example/{path}",
                canonical_url=path,
                title=path,
                **own,
            )
            for path, own in zip("abcd", numbers, strict=True)
        ]
        apps.get_model("linker.Page").objects.filter(pk=pages[3].pk).update(category=health)
        model = crawled if project.slug == "crawl" else encoder
        # The first project has the most vectors of the encoder.
        for page in pages[: 2 if project.slug == "titles" else 3]:
            digest = sha256(page.title.encode()).digest()
            make("linker.PageEmbedding", page=page, model=model, text_sha256=digest, vector=[0.6, 0.8])
        make(
            "linker.Run", project=project, kind="embed", status="succeeded", model=model, report={"embedded": 3},
            started_at=now, finished_at=now,
        )  # fmt: skip
        match = make(
            "linker.Run", project=project, kind="match", status="succeeded", model=model, report={"edges": 5, "new": 5},
            params={"inline_per_donor": 5}, started_at=now, finished_at=now,
        )  # fmt: skip
    shop, (a, b, c, d) = projects[0], apps.get_model("linker.Page").objects.filter(project=projects[0]).order_by("pk")
    match = apps.get_model("linker.Run").objects.get(project=shop, kind="match")
    make("ingest.Upload", project=shop, kind="links", name="links.csv", path="", bytes=1, sha256="0" * 64)
    make("linker.ExistingLink", project=shop, source=a, target=b, in_body=True, anchor="in the text")
    make("linker.ExistingLink", project=shop, source=a, target=b, in_body=False)
    make("linker.ExistingLink", project=shop, source=b, target=c, in_body=False, missing_since=now)
    make("linker.ExclusionRule", project=shop, pattern="/x")
    make("linker.SensitiveCategory", project=shop, kind="medical", category_id=d.category_id)
    make("linker.SensitiveCategory", project=shop, kind="legal", url_pattern="/[cx]$")
    tier = make("linker.Tier", project=shop, name="Inline", lower_bound=0.5, placement="inline", rel="follow")
    edges = [
        make(
            "linker.CandidateEdge", project=shop, source=source, target=target, status=status, run=match, tier=tier,
            generators=["category"], ranked_by="cosine", level=1, similarity=0.7, score=0.7, quantile=0.5,
            donor_best=0.7, anchor=anchor, anchor_source="title", rel=rel, reviewed=reviewed, sensitive=sensitive,
        )
        for source, target, status, anchor, rel, reviewed, sensitive in (
            (a, b, "exported", "boots", "nofollow", False, ""),
            (a, c, "exported", "laces", "follow", True, "The acceptor is legal (address has /[cx]$)"),
            (b, a, "accepted", "socks", "follow", True, ""),
            (b, c, "rejected", "soles", "follow", True, "The acceptor is legal (address has /[cx]$)"),
            (c, a, "suggested", "wax", "nofollow", False, "The donor is legal (address has /[cx]$)"),
        )
    ]  # fmt: skip

    def decide(edge: Any, verb: str, after: str, **fields: Any) -> Any:
        return make(
            "review.Decision", edge=edge, project=shop, user=ed, verb=verb, status_before="suggested",
            status_after=after, anchor_before=edge.anchor, anchor_after=edge.anchor, rel_before="nofollow",
            rel_after=edge.rel, seen_run=match, seen_score=0.7, seen_similarity=0.7, seen_placement="inline", **fields,
        )  # fmt: skip

    decide(edges[1], "edit", "accepted")
    decide(edges[2], "accept", "accepted")
    decide(edges[3], "reject", "rejected", reason="sensitive", note="ask a doctor")
    decide(edges[4], "undo", "suggested", undoes=decide(edges[4], "accept", "accepted"))
    release = make(
        "review.Release", project=shop, number=1, format="joil", status="accepted", links=2, bytes=len(FILE),
        sha256=sha256(FILE).hexdigest(), created_by=ed,
    )  # fmt: skip
    make("review.ReleaseChunk", release=release, number=0, content=gzip.compress(FILE))
    for edge in edges[:2]:
        make("review.ReleaseLink", release=release, edge=edge)


def test_every_row_keeps_what_it_said(upgraded):
    for table, rows in upgraded.before.items():
        now = [{name: row[name] for name in old} for row, old in zip(upgraded.after[table], rows, strict=True)]
        for row in (*rows, *now):
            row.pop(DIVIDED, None)
        assert rows, f"nothing is asked of {table}"
        assert now == rows, table


def test_a_release_is_the_same_file_and_says_with_which_words_its_links_left(upgraded):
    release = Release.objects.get()
    assert b"".join(release_pieces(release)) == FILE
    assert (release.links, release.added, release.changed, release.removed, release.held) == (2, 2, 0, 0, 0)
    links = ReleaseLink.objects.order_by("pk").values_list("operation", "anchor", "rel")
    assert list(links) == [("add", "boots", "nofollow"), ("add", "laces", "follow")]


def test_decisions_and_what_left_can_still_not_be_rewritten(upgraded):
    for rows in (Decision.objects.filter(verb="edit"), ReleaseLink.objects.all()):
        with pytest.raises(DatabaseError, match="append-only"):
            rows.delete()


def test_links_of_the_text_stay_there_and_of_the_others_nobody_knows_the_block(upgraded):
    links = ExistingLink.objects.order_by("pk").values_list("block", "anchor", "missing_since__year")
    assert list(links) == [(Block.CONTENT, "in the text", None), (Block.UNKNOWN, "", None), (Block.UNKNOWN, "", 2026)]


def test_numbers_of_pages_are_those_of_the_crawl(upgraded):
    kept = PageTraffic.objects.filter(period__project__slug="shop").order_by("page")
    assert list(kept.values_list("page__title", "clicks", "impressions", "position", "hits", "period__source")) == [
        ("a", 7, 90, 2.5, None, "crawl"),
        ("b", 0, None, None, None, "crawl"),
    ]
    assert PageTraffic.objects.count() == 6


def test_the_next_match_finds_the_vectors_of_each_project(upgraded):
    found = {project.slug: embedding_model(project) for project in Project.objects.all()}
    assert {slug: model.recipe for slug, model in found.items()} == {
        "shop": "full 1",
        "titles": "title 1",
        "crawl": "crawler",
    }
    for slug, model in found.items():
        project = Project.objects.get(slug=slug)
        assert pages_by_set(project) == {model.pk: 2 if slug == "titles" else 3}
        assert set(project.runs.values_list("model", flat=True)) == {model.pk}
    assert EmbeddingModel.objects.count() == 3


def test_rules_on_what_is_sensitive_hold_and_find_what_they_found(upgraded):
    rules = SensitiveRule.objects.order_by("pk").values_list("kind", "category__name", "url_pattern", "state")
    assert list(rules) == [("medical", "Health", "", "confirmed"), ("legal", None, "/[cx]$", "confirmed")]
    assert list(SensitivePage.objects.values_list("page__url", "rule__kind")) == [("https://shop.example/c", "legal")]
    marks = list(Project.objects.get(slug="shop").edges.order_by("pk").values_list("sensitive", flat=True))
    mark_sensitive(Project.objects.get(slug="shop"))
    assert list(Project.objects.get(slug="shop").edges.order_by("pk").values_list("sensitive", flat=True)) == marks


def test_every_page_opens_the_reports_of_old_runs_too(upgraded):
    client = Client()
    client.force_login(User.objects.get())
    project = Project.objects.get(slug="shop")
    runs = [f"runs/{run.pk}/" for run in project.runs.all()]
    pages = [f"pages/{page.pk}/" for page in project.pages.all()]
    edges = [f"queue/{edge.pk}/" for edge in project.edges.all()]
    settings = ["", "vectors/", "tiers/", "ranking/", "sensitive/", "exclusions/", "log/", "members/"]
    rest = ["", "import/", "pages/", "queue/", "match/", "runs/", "why-not/", "export/", "export/1/", "export/links/"]
    paths = [*rest, *runs, *pages, *edges, *(f"settings/{tab}" for tab in settings)]
    assert {path: client.get(f"/p/shop/{path}").status_code for path in paths} == dict.fromkeys(paths, 200)
