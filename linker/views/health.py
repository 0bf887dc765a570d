"""Whether this process can work: for load balancers and containers."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import redis
from django.contrib.auth.decorators import login_not_required
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from linker import queue

if TYPE_CHECKING:
    from django.http import HttpRequest

log = logging.getLogger(__name__)

OK = "ok"


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 where all is well, else 503. The answer names what is wrong and never why: that is in the log."""
    database, migrations = _database()
    state = {"database": database, "redis": _redis(), "migrations": migrations}
    return JsonResponse(state, status=200 if set(state.values()) == {OK} else 503)


def _database() -> tuple[str, str]:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except Error:
        log.exception("the database does not answer")
        return "unreachable", "unknown"
    return OK, "pending" if pending else OK


def _redis() -> str:
    try:
        queue.ping()
    except redis.RedisError:
        log.exception("Redis does not answer")
        return "unreachable"
    return OK
