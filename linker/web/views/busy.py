"""The answer to a request that met others at work on the same, and was not carried out."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING

from django.db import DatabaseError
from django.http import HttpResponse, JsonResponse
from django.http.request import RawPostDataException
from django.shortcuts import render
from django.utils.translation import gettext as _

from linker.models import Run, RunKind, RunStatus
from linker.operations import outages

if TYPE_CHECKING:
    from django.http import HttpRequest

log = logging.getLogger(__name__)

RETRY_SECONDS = 2
_MATCHES = (RunKind.MATCH, RunKind.CHANGES, RunKind.STAND)


def busy(request: HttpRequest, error: Exception) -> HttpResponse | None:
    """503 with a sentence; None for other errors. Nothing of the request was saved, so it can be sent again: scripts do
    so by themselves, and the page has the form again with all that was filled in."""
    is_conflict = outages.is_lock_conflict(error)
    if not is_conflict and outages.explain(error) is not outages.TIMED_OUT:
        return None
    log.warning("a request met others at work: %s", outages.first_line(error))
    sentence = _who(request) if is_conflict else str(outages.TIMED_OUT.public)
    answer = _answer(request, sentence)
    answer["Retry-After"] = str(RETRY_SECONDS)
    return answer


def _answer(request: HttpRequest, sentence: str) -> HttpResponse:
    status = HTTPStatus.SERVICE_UNAVAILABLE
    if request.content_type == "application/json" or request.headers.get("Accept") == "application/json":
        return JsonResponse({"busy": sentence}, status=status)
    if request.headers.get("HX-Request"):
        return HttpResponse(sentence, status=status, content_type="text/plain; charset=utf-8")
    context = {"sentence": sentence, "fields": _fields(request)}
    return render(request, "busy.html", context, status=status)


def _fields(request: HttpRequest) -> list[tuple[str, str]] | None:
    """What the form held, to be sent again; None where it had a file or a password, which a page may not hold."""
    if request.method != "POST":
        return []
    try:
        fields = [(name, value) for name, values in request.POST.lists() for value in values]
        has_file = bool(request.FILES)
    except RawPostDataException:  # the view has read it in another way
        return None
    if has_file or any("password" in name for name, _value in fields):
        return None
    return [(name, value) for name, value in fields if name != "csrfmiddlewaretoken"]


def _who(request: HttpRequest) -> str:
    """Who is at work: in most cases a run of the project that the address names."""
    slug = request.resolver_match.kwargs.get("slug", "") if request.resolver_match else ""
    run = None
    try:
        running = Run.objects.filter(project__slug=slug, status=RunStatus.RUNNING).order_by("-pk")
        run = running.filter(kind__in=_MATCHES).first() or running.first()
    except DatabaseError as error:
        log.warning("the runs under way cannot be read: %s", outages.first_line(error))
    if run is None:
        return str(outages.LOCK_CONFLICT.public)
    if run.kind in _MATCHES:
        return _("A match is being saved. Try again in a moment.")
    return _("“%(run)s” is saving its results. Try again in a moment.") % {"run": run.get_kind_display()}
