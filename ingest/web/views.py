"""Handing in a file, looking at what was found in it, starting its import, fetching what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import FileResponse, Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from ingest import lists, services
from ingest.errors import NotDecodable
from ingest.formats.known_file import KnownFileError
from ingest.models import Upload
from ingest.sources import registry as sources
from ingest.web import reads
from ingest.web.forms import MappingForm, ReadingForm, SourceForm, UploadForm
from linker.errors import UserError
from linker.models import Role, Run
from linker.models.run import IMPORT_PREFIX
from linker.pages.page_lists import SIDES, list_in_words, unknown_in_words
from linker.projects import access
from linker.runs.lifecycle import RunIsActive
from linker.runs.reports import report_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpRequest, HttpResponse

    from linker.models import Membership


def _context(membership: Membership, **more: Any) -> dict[str, Any]:
    return {"project": membership.project, "membership": membership, "section": "import", **more}


@require_http_methods(["GET", "HEAD", "POST"])
def import_(request: HttpRequest, slug: str) -> HttpResponse:
    """The form for a file, and the imports so far."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    posted = request.method == "POST"
    form, refused = UploadForm(), None
    if posted:
        data, files = request.POST, request.FILES  # reading them tells whether the file arrived
        form = UploadForm(data, files, refused=getattr(request, "upload_error", ""))
    if posted and form.is_valid():
        try:
            upload = services.take_upload(membership.project, membership.user, **form.cleaned_data)
        except KnownFileError as error:
            refused = error
        except UserError as error:
            form.add_error("file", str(error))
        else:
            return redirect("import_preview", slug, upload.pk)
    return _import_page(request, membership, form=form, refused=refused, status=422 if posted else 200)


@access.posts("import")
def import_source(request: HttpRequest, slug: str) -> HttpResponse:
    """Starts an import of rows from a source that is no file."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = SourceForm(request.POST)
    if form.is_valid():
        try:
            run = services.start_source_import(membership.project, user=membership.user, **form.cleaned_data)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            return redirect("run", slug, run.pk)
    return _import_page(request, membership, source_form=form, status=422)


def _import_page(request: HttpRequest, membership: Membership, *, status: int, **more: Any) -> HttpResponse:
    forms = {"form": UploadForm(), "source_form": SourceForm() if sources.sources() else None}
    context = _context(membership, **forms | {"imports": reads.recent_imports(membership.project)} | more)
    return render(request, "ingest/import.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def import_preview(request: HttpRequest, slug: str, upload_id: int) -> HttpResponse:
    """What was found in a file, and the choice of columns; `action=start` imports it."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    upload = get_object_or_404(Upload, project=project, pk=upload_id)
    reading = ReadingForm(request.POST or None, upload=upload)
    try:
        if changed := reading.changed():  # first: as it is read now, the file may be no text
            return _change_reading(request, membership, upload, changed)
        looked = services.look_at_upload(project, upload)
        if kind := request.POST.get("kind"):
            return _change_kind(request, membership, upload, kind)
        form = MappingForm(request.POST or None, looked=looked)
        if request.method == "POST" and form.is_valid():
            form.looked = services.look_at_upload(project, upload, form.mapping(), form.options())
    except NotDecodable as error:
        return _choose_encoding(request, membership, upload, error)
    except UserError as error:
        messages.error(request, str(error))
        return redirect("import", slug)
    status = 200
    if request.method == "POST" and form.is_valid() and (action := request.POST.get("action")) in ("start", "anyway"):
        try:
            run = services.start_import(
                project, upload, form.looked, membership.user, anyway=action == "anyway", **form.options()
            )
        except UserError as error:
            form.add_error(None, str(error))
            status = 409 if isinstance(error, RunIsActive) else 422
        else:
            return redirect("run", slug, run.pk)
    details = form.looked.source.describe()
    context = _context(membership, upload=upload, looked=form.looked, form=form, reading=reading, format=details)
    return render(request, "ingest/preview.html", context, status=status)


def _choose_encoding(request: HttpRequest, membership: Membership, upload: Upload, error: NotDecodable) -> HttpResponse:
    """Says that a file is in another encoding, and offers them, the likely one first chosen."""
    reading = ReadingForm(None, upload=upload)
    reading.initial["encoding"] = error.guess or reading.initial["encoding"]
    context = _context(membership, upload=upload, reading=reading, refused=str(error))
    return render(request, "ingest/encoding.html", context)


def _change_kind(request: HttpRequest, membership: Membership, upload: Upload, kind: str) -> HttpResponse:
    """Takes a file for one of another kind, and shows it again."""
    try:
        services.change_kind(upload, kind)
    except UserError as error:
        messages.error(request, str(error))
    return redirect("import_preview", membership.project.slug, upload.pk)


def _change_reading(
    request: HttpRequest, membership: Membership, upload: Upload, reading: Mapping[str, Any]
) -> HttpResponse:
    """Reads a file in another encoding, with another delimiter or header, and shows it again: the columns that were
    chosen were others."""
    try:
        services.change_reading(membership.project, upload, **reading)
    except UserError as error:
        messages.error(request, str(error))
    return redirect("import_preview", membership.project.slug, upload.pk)


_SIDES = {"donors": gettext_lazy("Donors"), "acceptors": gettext_lazy("Acceptors")}


@access.posts("match")
def page_list_add(request: HttpRequest, slug: str) -> HttpResponse:
    """Reads a file that lists pages for the match form, and leads back to the form with the list chosen.

    The form comes along with all its fields, and goes back with them in the address.
    """
    membership = access.member(request, slug, needs=Role.MANAGER)
    fields = request.POST.copy()  # reading it tells whether the file arrived
    side = fields.pop("side", [""])[-1]
    file = request.FILES.get(f"{side}-file")
    fields.pop("csrfmiddlewaretoken", None)
    try:
        if refused := getattr(request, "upload_error", ""):
            raise UserError(refused)
        if side not in SIDES or file is None:
            raise UserError(gettext("First choose a file that lists addresses, then read it."))
        found = lists.take_list(membership.project, file, membership.user)
    except UserError as error:
        messages.error(request, str(error))
    else:
        fields[f"{side}-page_list"] = str(found.pk)
        messages.success(request, f"{_SIDES[side]}: {list_in_words(found)}.")
        if found.unknown_lines:
            messages.warning(request, unknown_in_words(found))
    fields["kept"] = "1"
    return redirect(f"{reverse('match', args=[slug])}?{fields.urlencode()}#{side}")


@require_safe
def import_skipped(request: HttpRequest, slug: str, run_id: int) -> HttpResponse | FileResponse:
    """The rows an import left out, as CSV."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    run = get_object_or_404(Run, project=membership.project, kind__startswith=IMPORT_PREFIX, pk=run_id)
    path = services.skipped_path(membership.project.pk, run.pk)
    if not report_of(run).has_skipped_list or not path.is_file():  # the list of an import under way is not whole
        raise Http404("The import left nothing out")
    name = f"{membership.project.slug}-skipped-{run.pk}.csv"
    return FileResponse(path.open("rb"), as_attachment=True, filename=name, content_type="text/csv; charset=utf-8")
