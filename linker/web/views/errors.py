"""The page for what went wrong on the server's side."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from django.shortcuts import render
from django.views.decorators.csrf import requires_csrf_token

from linker.operations import outages

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@requires_csrf_token
def server_error(request: HttpRequest) -> HttpResponse:
    """503 and what is wrong, where a server is away or not set up; else 500. Asks neither of them for anything."""
    trouble = outages.explain(sys.exc_info()[1])
    page = render(None, "500.html", {"trouble": trouble}, status=503 if trouble else 500)
    if trouble and trouble.passes:
        page["Retry-After"] = "10"
    return page
