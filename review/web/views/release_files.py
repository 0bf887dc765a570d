"""The file of a release in another format than the one it is kept in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from linker.projects.access import member
from linker.wording import number as in_figures
from review.models import Release
from review.releases.formats.registry import by_name

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponseBase

    from review.releases.formats.base import Format


@require_GET
def release_as(request: HttpRequest, slug: str, number: int) -> HttpResponseBase:
    """The release as a file of the format that the query string names, made of the rows that it keeps."""
    membership = member(request, slug)
    release = get_object_or_404(Release.objects.select_related("project"), project=membership.project, number=number)
    chosen = by_name(request.GET.get("format", ""))
    if chosen is None or (why_not := _why_not(chosen, release)):
        messages.error(request, _("No file was made: there is no such format.") if chosen is None else why_not)
        return redirect("release", slug, number)
    response = StreamingHttpResponse(chosen.pieces(release), content_type=chosen.content_type)
    response["Content-Disposition"] = f'attachment; filename="{chosen.file_name(release)}"'
    return response


def _why_not(chosen: Format, release: Release) -> str:
    """Why the file cannot be had here; empty where it can."""
    if not chosen.is_for(release):
        said = _("No file was made: release %(number)d is kept with three columns, which are too few for this format.")
        return said % {"number": release.number}
    if chosen.most is not None and release.links > chosen.most:
        said = _(
            "No file was made: release %(number)d has more than %(most)s links. On the server, export_links "
            "--release %(number)d --format %(format)s writes the file."
        )
        return said % {"number": release.number, "most": in_figures(chosen.most), "format": chosen.name}
    return ""


release_file_urls = [path("export/<int:number>/as/", release_as, name="release_as")]
