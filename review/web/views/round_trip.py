"""The queue as a spreadsheet that is filled in and comes back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.core import signing
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.http import FileResponse, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from linker.errors import UserError
from linker.models import Role
from linker.projects.access import member
from review.queue.filters import QueueFilter
from review.queue.round_trip import apply, in_words, preview, standing_in_words
from review.queue.sheet_in import Wish, read_sheet
from review.queue.sheet_out import csv_pieces, workbook
from review.web.views.queue import queue_context, user_of

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from linker.models import Membership
    from review.queue.sheet_in import Sheet

SHOWN = 50  # rows of the preview, and of what was refused
SALT = "anchorline.sheet"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
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


@require_safe
def sheet_xlsx(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The same as an Excel workbook."""
    membership = member(request, slug, needs=Role.VIEWER)
    chosen = QueueFilter.from_query(request.GET, membership.project.queue_order)
    try:
        file = workbook(membership.project, chosen, user_of(request))
    except UserError as error:
        context = queue_context(membership, chosen) | {"error": str(error)}
        return render(request, "review/sheet.html", context, status=422)
    return FileResponse(file, as_attachment=True, filename=f"anchorline-{slug}-review.xlsx", content_type=XLSX)


@require_http_methods(["GET", "HEAD", "POST"])
def sheet(request: HttpRequest, slug: str) -> HttpResponse:
    """POST of a file shows what it would decide; POST of what was shown decides it."""
    membership = member(request, slug, needs=Role.EDITOR)
    project = membership.project
    context = queue_context(membership, QueueFilter.from_query(request.GET, project.queue_order))
    if request.method != "POST":
        return render(request, "review/sheet.html", context)
    if "wishes" in request.POST:
        return _decide(request, membership, context)
    try:
        found = _sent(request)
    except UserError as error:
        return render(request, "review/sheet.html", context | {"error": str(error)}, status=422)
    foreseen = preview(project, user_of(request), found.wishes)
    rows = [wish.packed for wish in foreseen.wishes]
    return render(
        request,
        "review/sheet.html",
        context
        | {
            "found": found,
            "preview": foreseen,
            "standing": standing_in_words(foreseen.standing) if foreseen.standing else "",
            "shown": foreseen.wishes[:SHOWN],
            "most": SHOWN,
            "wishes": signing.dumps({"project": project.pk, "rows": rows}, salt=SALT, compress=True),
        },
    )


def _sent(request: HttpRequest) -> Sheet:
    """What the file of the request says. Raises UserError."""
    file = request.FILES.get("file")
    if refused := getattr(request, "upload_error", ""):
        raise UserError(refused)
    if not isinstance(file, TemporaryUploadedFile):
        raise UserError(_("Choose the file that you have filled in."))
    return read_sheet(Path(file.temporary_file_path()))


def _decide(request: HttpRequest, membership: Membership, context: dict[str, Any]) -> HttpResponse:
    project, query = membership.project, context["query"]
    back = HttpResponseRedirect(reverse("queue", args=[project.slug]) + (f"?{query}" if query else ""))
    try:
        signed = signing.loads(request.POST["wishes"], salt=SALT, max_age=VALID_FOR)
    except signing.BadSignature:
        messages.error(request, _("The preview is too old, or was changed. Send the file again."))
        return back
    if signed["project"] != project.pk:
        messages.error(request, _("This file belongs to another project."))
        return back
    outcome = apply(project, user_of(request), [Wish.unpacked(cells) for cells in signed["rows"]])
    is_whole = not outcome.refused and (outcome.accepted or outcome.rejected)
    messages.add_message(request, messages.SUCCESS if is_whole else messages.WARNING, in_words(outcome))
    if not outcome.refused:
        return back
    return render(request, "review/sheet.html", context | {"refused": outcome.refused, "most": SHOWN})


sheet_urls = [
    path("queue/sheet/", sheet, name="sheet"),
    path("queue/sheet.csv", sheet_csv, name="sheet_csv"),
    path("queue/sheet.xlsx", sheet_xlsx, name="sheet_xlsx"),
]
