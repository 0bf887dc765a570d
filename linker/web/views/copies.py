"""The list of near-copies, variants and translations, and the word that pages are not the same."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.contrib import messages
from django.http import FileResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from linker.errors import UserError
from linker.models import Role
from linker.pages import copies as reads
from linker.pages.listing import count
from linker.projects import access
from linker.storage.spooled import spooled
from linker.web.forms.copies import CopiesForm
from linker.web.page_context import shell

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse
    from django.http.response import HttpResponseBase


@require_safe
def copies(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug)
    project = membership.project
    query = reads.CopiesQuery.from_query(request.GET)
    groups, following = reads.group_list(project, query)
    said, said_count = reads.said_apart(project)
    context = shell(
        membership,
        "pages",
        query=query,
        groups=groups,
        filters=CopiesForm(query, reads.counts_by_kind(project)),
        count=count(reads.chosen_groups(project, query)),
        said=said,
        said_count=said_count,
        first_query=urlencode(query.to_query()),
        next_query=urlencode({**query.to_query(), "after": following}) if following else "",
    )
    return render(request, "linker/copies.html", context)


@require_safe
def copies_csv(request: HttpRequest, slug: str) -> HttpResponseBase:
    membership = access.member(request, slug)
    pieces = reads.csv(membership.project, reads.CopiesQuery.from_query(request.GET))
    name = f"anchorline-{slug}-copies.csv"
    return FileResponse(spooled(pieces), as_attachment=True, filename=name, content_type="text/csv; charset=utf-8")


@access.posts("copies")
def copies_apart(request: HttpRequest, slug: str, group_id: int, page_id: int | None = None) -> HttpResponse:
    """Says that the pages of a group, or one of them and the others, are not the same."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    try:
        reads.keep_apart(membership.project, group_id, page_id, request.user)
    except UserError as error:
        messages.error(request, str(error))
    else:
        left = _("The page has left its group. The next match run updates the suggestions.")
        dissolved = _("The group has been dissolved. The next match run updates the suggestions.")
        messages.success(request, left if page_id else dissolved)
    return redirect("copies", slug)


@access.posts("copies")
def copies_take_back(request: HttpRequest, slug: str, word_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    try:
        reads.take_back(membership.project, word_id, request.user)
    except UserError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Undone. The next match run may put these pages into one group again."))
    return redirect("copies", slug)
