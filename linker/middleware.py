"""What a request passes that no library has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_update
from django.urls import reverse

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponseBase


def dashboard_csp(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Allows inline scripts and styles below django-rq's dashboard, whose templates hold some, and nowhere else."""
    relaxed = csp_update({"script-src": [SELF, UNSAFE_INLINE], "style-src": [SELF, UNSAFE_INLINE]})(get_response)

    def middleware(request: HttpRequest) -> HttpResponseBase:
        on_dashboard = request.path.startswith(reverse("django_rq:home"))
        return relaxed(request) if on_dashboard else get_response(request)

    return middleware
