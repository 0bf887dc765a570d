"""What a request passes that no library has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linker.operations import limits
from linker.web.views.busy import busy
from linker.web.views.health import healthz
from linker.web.views.settings.stale import refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse, HttpResponseBase

    Answer = Callable[[HttpRequest], HttpResponseBase]


def health(get_response: Answer) -> Answer:
    """Answers a load balancer before anything asks for the host's name, a cookie or HTTPS: it has none of them.

    The answer tells nothing that depends on the request.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return healthz(request) if request.path_info == "/healthz" else get_response(request)

    return middleware


def not_stored(get_response: Answer) -> Answer:
    """Keeps pages out of every cache, the browser's too, unless a view has said otherwise.

    They hold what only one person may read, and what they show changes with each decision: going back asks again.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    return middleware


class RequestLimits:
    """Bounds how long a request waits for the database, and says so where that was too long."""

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        limits.limit(limits.of_requests())
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return busy(request, error)


class StaleForms:
    """Refuses a form of the settings that was shown before somebody else changed what it holds."""

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, _view: object, _args: object, kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        # What is posted elsewhere may be no form, and is left for its view to read.
        return refused(request, kwargs) if "/settings/" in request.path_info else None
