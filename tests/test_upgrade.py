"""A database of the last revision before version 0.2 keeps all it holds.

The dump holds two kinds of projects. Those of "shop", "titles" and "crawl" go back to the first schema there was, and
had been upgraded to that revision: their links had no blocks, their vectors no recipes, their releases no operations.
"camp" was made there, from a part of the sample site: two imports, three matches, decisions of each kind and two
releases.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from contextlib import contextmanager
from hashlib import sha256
from io import StringIO
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.utils import DatabaseError, IntegrityError
from django.test import Client

from linker.embedding.service import embedding_model, pages_by_set
from linker.models import (
    Block,
    EmbeddingModel,
    ExistingLink,
    PageTraffic,
    Project,
    SearchQuery,
    SensitivePage,
    UnallocatedPairs,
)
from linker.pages.sensitive_marks import mark_sensitive
from review.models import Decision, Release, ReleaseLink
from review.releases.create import release_pieces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

pytestmark = pytest.mark.nightly
DUMP = Path(__file__).parent / "upgrade" / "before_0_2.sql.gz"
NAME = "upgraded"
FILE = b"donor_url,anchor_text,acceptor_url\r\nhttps://shop.example/a,boots,https://shop.example/b\r\n"
# Rows that an upgrade leaves as they are, in all columns that they had.
KEPT = (
    *("auth_user", "linker_project", "linker_membership", "linker_category", "linker_page", "linker_tier"),
    *("linker_exclusionrule", "linker_candidateedge", "review_decision", "review_release", "review_releasechunk"),
    *("review_releaselink", "review_pending", "linker_run", "linker_pageembedding", "ingest_upload", "linker_change"),
    *("linker_existinglink", "linker_pagequery", "linker_pagetraffic", "linker_sensitiverule", "linker_sensitivepage"),
    "linker_leftout",
)
NEW_NAMES = {"linker_pagequery": "linker_searchquery", "linker_leftout": "linker_unallocatedpairs"}


@pytest.fixture(scope="module")
def upgraded(django_db_setup, django_db_blocker) -> Iterator[SimpleNamespace]:
    """A database of its own: what pg_dump wrote of one at the last revision before 0.2, brought to today's schema."""
    with django_db_blocker.unblock(), _database(NAME):
        with connection.cursor() as cursor:
            cursor.execute(gzip.decompress(DUMP.read_bytes()).decode())
        _connect(NAME)  # a dump leaves its connection without a search path
        before = {NEW_NAMES.get(table, table): rows for table, rows in _rows(KEPT).items()}
        call_command("migrate", verbosity=0)
        yield SimpleNamespace(before=before, after=_rows(before))


@contextmanager
def _database(name: str) -> Iterator[None]:
    """Connects to an empty database of that name, and drops it afterwards."""
    usual = connection.settings_dict["NAME"]
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {name}")
        cursor.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    try:
        _connect(name)
        yield
    finally:
        _connect(usual)
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def _connect(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name


def _rows(tables: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    found = {}
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"SELECT to_jsonb(t)::text FROM {table} t")
            rows = [json.loads(row) for (row,) in cursor.fetchall()]
            found[table] = sorted(rows, key=lambda row: row["id"] if "id" in row else row["edge_id"])
    return found


def _with_tiers_merged(before: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """The rows without tiers that were a hundredth wide, whose suggestions and bounds the ones above them have."""
    tiers = sorted(before["linker_tier"], key=lambda tier: (tier["project_id"], tier["basis"], -tier["lower_bound"]))
    merged = {
        tier["id"]: above
        for above, tier in pairwise(tiers)
        if all(above[name] == tier[name] for name in ("project_id", "basis", "held", "export_unreviewed"))
        and above["lower_bound"] - tier["lower_bound"] < 0.011
    }
    bounds = {merged[tier["id"]]["id"]: tier["lower_bound"] for tier in tiers if tier["id"] in merged}
    kept = [
        tier | {"lower_bound": bounds.get(tier["id"], tier["lower_bound"])}
        for tier in before["linker_tier"]
        if tier["id"] not in merged
    ]
    edges = [
        edge | {"tier_id": merged[edge["tier_id"]]["id"] if edge["tier_id"] in merged else edge["tier_id"]}
        for edge in before["linker_candidateedge"]
    ]
    return before | {"linker_tier": kept, "linker_candidateedge": edges}


def _with_hubs(before: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """The rows with what hubs receive, once the default, written down where editors approved such links."""
    links = {"hub": {"receives": "name"}}
    projects = [row | ({"role_links": links} if row["slug"] == "camp" else {}) for row in before["linker_project"]]
    return before | {"linker_project": projects}


def test_every_row_keeps_what_it_said(upgraded):
    for table, rows in _with_hubs(_with_tiers_merged(upgraded.before)).items():
        after = [row for row in upgraded.after[table] if row.get("code_version") != "migration"]  # notes in the log
        now = [{name: row[name] for name in old} for row, old in zip(after, rows, strict=True)]
        assert rows, f"nothing is asked of {table}"
        assert now == rows, table


def test_a_release_is_the_same_file_and_says_with_which_words_its_links_left(upgraded):
    release = Release.objects.get(project__slug="shop")
    assert b"".join(release_pieces(release)) == FILE
    assert (release.links, release.added, release.changed, release.removed, release.held) == (2, 2, 0, 0, 0)
    links = release.release_links.order_by("pk").values_list("operation", "anchor", "rel")
    assert list(links) == [("add", "boots", "nofollow"), ("add", "laces", "follow")]


def test_decisions_and_what_left_can_still_not_be_rewritten(upgraded):
    for rows in (Decision.objects.filter(verb="edit"), ReleaseLink.objects.all()):
        with pytest.raises(DatabaseError, match="append-only"):
            rows.delete()


def test_links_of_the_text_stay_there_and_of_the_others_nobody_knows_the_block(upgraded):
    links = ExistingLink.objects.filter(project__slug="shop").order_by("pk")
    links = links.values_list("block", "anchor", "missing_since__year")
    assert list(links) == [(Block.CONTENT, "in the text", None), (Block.UNKNOWN, "", None), (Block.UNKNOWN, "", 2026)]


def test_numbers_of_pages_are_those_of_the_crawl(upgraded):
    kept = PageTraffic.objects.filter(period__project__slug="shop").order_by("page")
    assert list(kept.values_list("page__title", "clicks", "impressions", "position", "hits", "period__source")) == [
        ("a", 7, 90, 2.5, None, "crawl"),
        ("b", 0, None, None, None, "crawl"),
    ]
    assert PageTraffic.objects.exclude(period__project__slug="camp").count() == 6


def test_the_next_match_finds_the_vectors_of_each_project(upgraded):
    found = {project.slug: embedding_model(project) for project in Project.objects.exclude(slug="camp")}
    assert {slug: model.recipe for slug, model in found.items()} == {
        "shop": "full 1",
        "titles": "title 1",
        "crawl": "crawler",
    }
    for slug, model in found.items():
        project = Project.objects.get(slug=slug)
        assert pages_by_set(project) == {model.pk: 2 if slug == "titles" else 3}
        assert set(project.runs.values_list("model", flat=True)) == {model.pk}
    assert EmbeddingModel.objects.exclude(pk=embedding_model(Project.objects.get(slug="camp")).pk).count() == 3


def test_rules_on_what_is_sensitive_hold_and_find_what_they_found(upgraded):
    shop = Project.objects.get(slug="shop")
    rules = shop.sensitive_rules.order_by("pk").values_list("kind", "category__name", "url_pattern", "state")
    assert list(rules) == [("medical", "Health", "", "confirmed"), ("legal", None, "/[cx]$", "confirmed")]
    found = SensitivePage.objects.filter(page__project=shop)
    assert list(found.values_list("page__url", "rule__kind")) == [("https://shop.example/c", "legal")]
    marks = list(shop.edges.order_by("pk").values_list("sensitive", flat=True))
    mark_sensitive(shop)
    assert list(shop.edges.order_by("pk").values_list("sensitive", flat=True)) == marks


@pytest.mark.parametrize("slug", ["shop", "camp"])
def test_every_page_opens_the_reports_of_old_runs_too(upgraded, slug):
    client = Client()
    client.force_login(User.objects.get())
    project = Project.objects.get(slug=slug)
    runs = [f"runs/{run.pk}/" for run in project.runs.all()]
    pages = [f"pages/{page.pk}/" for page in project.pages.all()]
    edges = [f"queue/{edge.pk}/" for edge in project.edges.all()]
    settings = ["", "vectors/", "tiers/", "ranking/", "sensitive/", "exclusions/", "log/", "members/"]
    rest = ["", "import/", "pages/", "queue/", "match/", "runs/", "why-not/", "export/", "export/1/", "export/links/"]
    paths = [*rest, *runs, *pages, *edges, *(f"settings/{tab}" for tab in settings)]
    assert {path: client.get(f"/p/{slug}/{path}").status_code for path in paths} == dict.fromkeys(paths, 200)


def test_the_files_of_all_releases_are_the_ones_that_left(upgraded):
    releases = list(Release.objects.filter(project__slug="camp").order_by("number"))
    assert [release.number for release in releases] == [1, 2]
    for release in releases:
        assert sha256(b"".join(release_pieces(release))).hexdigest() == release.sha256


def test_a_match_after_the_upgrade_leaves_every_decision_alone(upgraded):
    camp = Project.objects.get(slug="camp")
    decided = camp.edges.exclude(status="suggested").order_by("pk")
    before = list(decided.values_list("pk", "status", "anchor", "rel", "edited"))
    assert Counter(status for _, status, *_ in before) == {"accepted": 2, "exported": 10, "rejected": 3}
    log = list(Decision.objects.filter(project=camp).order_by("pk").values())
    call_command("match_project", "camp", "--ranking", "cosine", stdout=StringIO(), stderr=StringIO())
    assert list(decided.values_list("pk", "status", "anchor", "rel", "edited")) == before
    assert list(Decision.objects.filter(project=camp).order_by("pk").values()) == log


def test_tables_of_the_first_migration_keep_their_rows_under_their_new_names_and_back(
    django_db_setup, django_db_blocker
):
    with django_db_blocker.unblock(), _database("renamed"):
        call_command("migrate", "linker", "0001", verbosity=0)
        then = MigrationLoader(connection).project_state(("linker", "0001_initial")).apps.get_model
        project = then("linker", "Project").objects.create(slug="shop")
        page = then("linker", "Page").objects.create(project=project, url="/a", canonical_url="/a")
        run = then("linker", "Run").objects.create(project=project, kind="match")
        then("linker", "PageQuery").objects.create(page=page, query="tents", source="joil", importance=2)
        then("linker", "LeftOut").objects.create(run=run, source=page.pk, targets=[7], scores=[0.5], reasons=[2])
        before = _rows(NEW_NAMES)
        call_command("migrate", verbosity=0)
        assert {old: _rows([new])[new] for old, new in NEW_NAMES.items()} == before
        assert _names("%pagequery%") == _names("page_query%") == _names("%left%out%") == []
        assert SearchQuery.objects.create(page_id=page.pk, query="stoves", source="joil").pk == 2
        assert UnallocatedPairs.objects.create(run_id=run.pk, source=9, targets=[], scores=[], reasons=[]).pk == 2
        with pytest.raises(IntegrityError, match="search_query_once"):
            SearchQuery.objects.create(page_id=page.pk, query="tents", source="joil")
        SearchQuery.objects.filter(query="stoves").delete()
        UnallocatedPairs.objects.filter(source=9).delete()
        call_command("migrate", "linker", "0001", verbosity=0)
        assert _rows(NEW_NAMES) == before


def _names(like: str) -> list[str]:
    """Tables, indexes, sequences and constraints of the database with such a name. PostgreSQL 18 also names what must
    not be null; nothing refers to those names."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relname LIKE %s UNION SELECT conname FROM pg_constraint "
            "WHERE conname LIKE %s AND contype <> 'n'",
            [like, like],
        )
        return [name for (name,) in cursor.fetchall()]


def test_a_database_that_missed_a_migration_of_before_is_refused_with_what_to_do(upgraded):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'linker' AND name IN ('0001_initial', '0037_worth')")
    try:
        with pytest.raises(SystemCheckError, match=r"linker\.0037_worth never ran. Run the last state of version 0\.1"):
            call_command("migrate", verbosity=0, skip_checks=False)
    finally:
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO django_migrations (app, name, applied) "
                "VALUES ('linker', '0037_worth', now()), ('linker', '0001_initial', now())"
            )
