"""Pages like those of a suggestion, to be left out by a rule: managers set it, editors ask one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.http import Http404
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_GET

from linker.models import Role
from linker.projects.access import member
from linker.web.page_context import shell
from review.queue.alike_pages import alike
from review.queue.known_cards import edge_at
from review.web.views.queue import user_of

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@require_GET
def alike_pages(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """What each rule would find; it is saved, logged and undone with the project's exclusions."""
    membership = member(request, slug, needs=Role.EDITOR)
    edges = membership.project.edges.select_related("source", "target").defer("source__body", "target__body")
    # A link of the site that is shown as a suggestion has the same page: who opens it must not be able to tell.
    edge = edges.filter(pk=pk).first() or edge_at(membership.project, pk, user_of(request))
    if edge is None:
        raise Http404
    edge.project = membership.project
    managers = User.objects.filter(memberships__project=edge.project, memberships__role=Role.MANAGER, is_active=True)
    context = shell(membership, "queue", edge=edge, rules=alike(edge))
    if membership.role != Role.MANAGER:
        context["managers"] = managers.exclude(pk=user_of(request).pk).order_by("username")
    return render(request, "review/alike_pages.html", context)


alike_urls = [path("queue/<int:pk>/alike/", alike_pages, name="alike_pages")]
