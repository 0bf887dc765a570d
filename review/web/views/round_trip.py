"""The queue as a spreadsheet that is filled in and comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.core import signing
from django.http import HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.views.decorators.http import require_http_methods, require_safe

from linker.errors import UserError
from linker.models import Role
from linker.projects.access import member
from review.models import Verb
from review.queue.filters import QueueFilter
from review.queue.round_trip import Wish, apply, csv_pieces, in_words, read_sheet
from review.web.views.queue import queue_context, user_of

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

SHOWN = 50  # rows of the preview, and of what was refused
SALT = "anchorline.sheet"
VALID_FOR = 24 * 3600  # seconds between the preview and the decision


@require_safe
def sheet_csv(request: HttpRequest, slug: str) -> HttpResponseBase:
    """What the filter lists, with empty columns for the decision, other words, a reason and a note."""
    membership = member(request, slug, needs=Role.VIEWER)
    chosen = QueueFilter.from_query(request.GET, membership.project.queue_order)
    response = StreamingHttpResponse(
        csv_pieces(membership.project, chosen, user_of(request)), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="anchorline-{slug}-review.csv"'
    return response


@require_http_methods(["GET", "HEAD", "POST"])
def sheet(request: HttpRequest, slug: str) -> HttpResponse:
    """POST of a file shows what it would decide; POST of what was shown decides it."""
    membership = member(request, slug, needs=Role.EDITOR)
    project = membership.project
    context = queue_context(membership, QueueFilter.from_query(request.GET, project.queue_order))
    if request.method != "POST":
        return render(request, "review/sheet.html", context)
    if "wishes" in request.POST:
        return _decide(request, slug)
    uploaded = request.FILES.get("file")
    try:
        found = read_sheet(uploaded.read() if uploaded is not None and not isinstance(uploaded, list) else b"")
    except UserError as error:
        return render(request, "review/sheet.html", context | {"error": str(error)}, status=422)
    rows = [(w.row, w.edge, w.run, w.shown, w.verb.value, w.anchor, w.reason, w.note) for w in found.wishes]
    return render(
        request,
        "review/sheet.html",
        context
        | {
            "found": found,
            "accepts": sum(wish.verb != Verb.REJECT for wish in found.wishes),
            "rejects": sum(wish.verb == Verb.REJECT for wish in found.wishes),
            "shown": found.wishes[:SHOWN],
            "wishes": signing.dumps({"project": project.pk, "rows": rows}, salt=SALT, compress=True),
        },
    )


def _decide(request: HttpRequest, slug: str) -> HttpResponse:
    membership = member(request, slug, needs=Role.EDITOR)
    project = membership.project
    back = HttpResponseRedirect(reverse("queue", args=[slug]))
    try:
        signed = signing.loads(request.POST["wishes"], salt=SALT, max_age=VALID_FOR)
    except signing.BadSignature:
        messages.error(request, "The preview is too old, or was changed. Send the file again.")
        return back
    if signed["project"] != project.pk:
        messages.error(request, "This file belongs to another project.")
        return back
    wishes = [Wish(row, edge, run, shown, Verb(verb), *rest) for row, edge, run, shown, verb, *rest in signed["rows"]]
    outcome = apply(project, user_of(request), wishes)
    messages.add_message(request, messages.WARNING if outcome.refused else messages.SUCCESS, in_words(outcome))
    if not outcome.refused:
        return back
    context = queue_context(membership, QueueFilter(usual=QueueFilter.order))
    return render(request, "review/sheet.html", context | {"refused": outcome.refused[:SHOWN]})


sheet_urls = [
    path("queue/sheet/", sheet, name="sheet"),
    path("queue/sheet.csv", sheet_csv, name="sheet_csv"),
]
