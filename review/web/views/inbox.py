"""What waits for the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_GET

from linker.models import Role
from linker.projects.access import member
from linker.web.page_context import shell
from review.quality.inbox import MOST, inbox_of
from review.web.views.queue import user_of

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@require_GET
def inbox(request: HttpRequest, slug: str) -> HttpResponse:
    """Questions, mentions, links to judge and links to approve, each with where it is answered."""
    membership = member(request, slug, needs=Role.EDITOR)
    found = inbox_of(membership, user_of(request))
    return render(request, "review/inbox.html", shell(membership, "inbox", inbox=found, most=MOST))


inbox_urls = [path("inbox/", inbox, name="inbox")]
