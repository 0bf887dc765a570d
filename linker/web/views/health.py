"""Whether this process can work, for load balancers and containers; what it is made of, for superusers."""

from __future__ import annotations

import logging
import platform
from typing import TYPE_CHECKING

import django
import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.db import Error, connection
from django.http import JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from linker.operations.outages import first_line
from linker.operations.pending_migrations import are_pending
from linker.operations.version import code_version
from linker.runs import job_queue

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

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
        pending = are_pending()
    except Error as error:
        log.warning("the database does not answer: %s", first_line(error))
        connection.close()
        return "unreachable", "unknown"
    return OK, "pending" if pending else OK


def _redis() -> str:
    try:
        job_queue.ping()
    except redis.RedisError as error:
        log.warning("Redis does not answer: %s", first_line(error))
        return "unreachable"
    return OK


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    if not request.user.is_superuser:
        raise PermissionDenied(_("What the server is made of is shown to superusers"))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('server_version'), extversion FROM pg_extension WHERE extname = 'vector'"
        )
        postgres, pgvector = cursor.fetchone()
    own = "" if settings.DATABASES["default"]["ENGINE"] != "linker.embedded" else _(", started by Anchorline")
    rows = {
        "Anchorline": code_version(),
        "Python": platform.python_version(),
        "Django": django.get_version(),
        "PostgreSQL": f"{postgres}{own}",
        "pgvector": pgvector,
        **_queue_rows(),
        _("Production"): _("yes") if settings.PRODUCTION else _("no"),
    }
    return render(request, "linker/about.html", {"rows": rows, "faults": job_queue.maintenance_faults()})


def _queue_rows() -> dict[str, str]:
    try:
        found = job_queue.server()
    except redis.RedisError:
        return {"Redis": _("does not answer")}
    own = _(", started by Anchorline from %(path)s") % {"path": found.path} if settings.REDIS_IS_EMBEDDED else ""
    return {found.name: f"{found.version}{own}", _("Workers"): str(found.workers)}
