"""/healthz tells a load balancer what is wrong, and tells nobody why."""

from __future__ import annotations

import re

import pytest
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from tests.factories import make_user

pytestmark = pytest.mark.django_db


def test_a_migration_that_was_not_applied_is_pending(redis_server):
    [newest] = MigrationLoader(None).graph.leaf_nodes("ingest")
    MigrationRecorder.Migration.objects.filter(app="ingest", name=newest[1]).delete()
    response = Client().get("/healthz")
    assert response.status_code == 503
    assert response.json()["migrations"] == "pending"


def test_a_balancer_that_asks_again_and_again_costs_a_query(redis_server, django_assert_num_queries, monkeypatch):
    Client().get("/healthz")
    monkeypatch.setattr(MigrationLoader, "build_graph", lambda self: pytest.fail("the graph is built for a request"))
    with django_assert_num_queries(1):
        assert Client().get("/healthz").status_code == 200


def test_a_redis_that_does_not_answer_is_told_without_its_address(settings, monkeypatch, tmp_path):
    monkeypatch.setitem(settings.RQ_QUEUES["default"], "URL", f"unix://{tmp_path}/no-redis.sock")
    response = Client().get("/healthz")
    assert (response.status_code, response.json()["redis"]) == (503, "unreachable")
    assert str(tmp_path) not in response.content.decode()


def test_it_is_only_for_reading(redis_server):
    assert Client().post("/healthz").status_code == 405


@pytest.mark.parametrize("host", ["10.0.0.17:8000", "ip-10-0-0-17.internal", "balancer.example", "a_b", ""])
def test_a_load_balancer_may_ask_by_any_name_and_without_https(redis_server, settings, host):
    settings.SECURE_SSL_REDIRECT = True
    answers = [Client(HTTP_HOST=host).get("/healthz"), Client().get("/healthz")]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].content == answers[1].content, "nothing of the request comes back"
    assert not answers[0].cookies
    assert Client(HTTP_HOST=host).get("/login/").status_code in {301, 400}


def test_a_superuser_reads_what_runs_and_nobody_else_does(redis_server, manager, client_for):
    page = client_for(make_user("root", is_superuser=True)).get("/about/").content.decode()
    assert re.search(r"(Redis|Valkey)</th><td class=\"break\">\d+\.\d+\.\d+, started by Anchorline from /", page)
    assert "pgvector" in page
    assert client_for(manager).get("/about/").status_code == 403
    assert Client().get("/about/").status_code == 302


def test_that_page_says_so_where_redis_does_not_answer(settings, client_for, monkeypatch, tmp_path):
    monkeypatch.setitem(settings.RQ_QUEUES["default"], "URL", f"unix://{tmp_path}/no-redis.sock")
    assert "does not answer" in client_for(make_user("root", is_superuser=True)).get("/about/").content.decode()
