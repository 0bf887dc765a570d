"""/healthz tells a load balancer what is wrong, and tells nobody why."""

from __future__ import annotations

import pytest
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

pytestmark = pytest.mark.django_db


def test_a_migration_that_was_not_applied_is_pending(redis_server):
    MigrationRecorder.Migration.objects.filter(app="linker").latest("pk").delete()
    response = Client().get("/healthz")
    assert response.status_code == 503
    assert response.json()["migrations"] == "pending"


def test_a_redis_that_does_not_answer_is_told_without_its_address(settings, monkeypatch, tmp_path):
    monkeypatch.setitem(settings.RQ_QUEUES["default"], "URL", f"unix://{tmp_path}/no-redis.sock")
    response = Client().get("/healthz")
    assert (response.status_code, response.json()["redis"]) == (503, "unreachable")
    assert str(tmp_path) not in response.content.decode()


def test_it_is_only_for_reading(redis_server):
    assert Client().post("/healthz").status_code == 405
