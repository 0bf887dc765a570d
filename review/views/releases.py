"""What would leave, what has left, and the files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from django import forms
from django.contrib import messages
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods

from linker.access import has_role, member
from linker.models import Membership, Placement, Project, RankedBy, Role
from review import export
from review.export import Choice, NothingToExport
from review.filters import GAP, GENERATORS, QueueFilter
from review.models import Release, ReleaseFormat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.http import HttpRequest, HttpResponse, HttpResponseBase

PAGE_SIZE = 25


class FileForm(forms.Form):
    """How a file is written."""

    format = forms.ChoiceField(
        choices=ReleaseFormat.choices,
        initial=ReleaseFormat.FULL,
        help_text="The JOIL file holds donor, anchor and acceptor: not what rel a link should carry.",
    )
    bom = forms.BooleanField(
        required=False, label="Byte-order mark", help_text="Excel needs it to read accents and other scripts."
    )


class DownloadForm(FileForm):
    """A file that marks nothing: without parameters, the open suggestions in full. Accepted links leave by a release
    alone."""

    format = forms.ChoiceField(choices=ReleaseFormat.choices, initial=ReleaseFormat.FULL, required=False)
    status = forms.ChoiceField(
        choices=[
            (Choice.SUGGESTED, "Open suggestions, best first"),
            (Choice.EXPORTED, "All links exported so far"),
            (Choice.ALL, "Suggested, accepted and exported together"),
        ],
        initial=Choice.SUGGESTED,
        required=False,
        label="Links",
    )

    def chosen(self) -> tuple[Choice, ReleaseFormat]:
        values = self.cleaned_data
        return Choice(values["status"] or Choice.SUGGESTED), ReleaseFormat(values["format"] or ReleaseFormat.FULL)


@require_http_methods(["GET", "POST"])
def releases(request: HttpRequest, slug: str) -> HttpResponse:
    """GET: what would leave now, and the releases so far. POST: makes the next release.

    The query string narrows the links down as it does in the queue; its status, held and stale do not apply here.
    """
    if request.method == "POST":
        return _create(request, member(request, slug, needs=Role.EDITOR))
    return _page(request, member(request, slug), FileForm())


def _create(request: HttpRequest, membership: Membership) -> HttpResponse:
    form = FileForm(request.POST)
    if not form.is_valid():
        return _page(request, membership, form, status=400)
    chosen = _chosen(request)
    try:
        release = export.create_release(
            membership.project,
            chosen.scope(membership.project),
            fmt=ReleaseFormat(form.cleaned_data["format"]),
            bom=form.cleaned_data["bom"],
            user=membership.user,
            filters=chosen.to_dict(),
        )
    except NothingToExport as error:
        messages.warning(request, str(error))
        return _page(request, membership, form, status=409)
    count = ngettext("%(n)d link", "%(n)d links", release.links) % {"n": release.links}
    messages.success(request, f"Release {release.number} holds {count}. Download it below, now or later.")
    return redirect("releases", membership.project.slug)


def _page(request: HttpRequest, membership: Membership, form: FileForm, status: int = 200) -> HttpResponse:
    project = membership.project
    chosen = _chosen(request)
    edges = chosen.scope(project)
    made = project.releases.select_related("created_by")
    before = request.GET.get("before", "")[:10]
    if before.isdecimal():
        made = made.filter(number__lt=int(before))
    shown = list(made.order_by("-number")[: PAGE_SIZE + 1])
    context = {
        "project": project,
        "membership": membership,
        "section": "releases",
        "may_export": has_role(membership, Role.EDITOR),
        "query": chosen.to_query(),
        "hidden": parse_qsl(chosen.to_query()),
        "only": _in_words(chosen, project),
        "form": form,
        "download_form": DownloadForm(auto_id="download_%s"),
        "preview": export.preview(edges),
        "sample": export.sample(edges),
        "releases": [_with_words(release) for release in shown[:PAGE_SIZE]],
        "older": shown[PAGE_SIZE - 1].number if len(shown) > PAGE_SIZE else None,
        "suggestions": export.choose(edges, Choice.SUGGESTED).count(),
    }
    return render(request, "review/releases.html", context, status=status)


@require_GET
def release_download(request: HttpRequest, slug: str, number: int) -> HttpResponseBase:
    """The file of a release, byte for byte as it was first handed out."""
    membership = member(request, slug)
    release = get_object_or_404(Release.objects.select_related("project"), project=membership.project, number=number)
    response = _csv(export.release_pieces(release), export.file_name(release))
    response["Content-Length"] = str(release.bytes)
    return response


@require_GET
def links_csv(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A file of suggestions, or of everything that has left so far; marks nothing."""
    project = member(request, slug).project
    form = DownloadForm(request.GET)
    if not form.is_valid():
        messages.error(request, f"No such file: {form.errors.as_text()}")
        return redirect("releases", slug)
    choice, fmt = form.chosen()
    edges = export.choose(_chosen(request).scope(project), choice)
    pieces = export.stream(edges, fmt, bom=form.cleaned_data["bom"])
    return _csv(pieces, f"anchorline-{project.slug}-{choice}.csv")


def _chosen(request: HttpRequest) -> QueueFilter:
    """The filter of the query string, without what does not apply to an export."""
    asked = QueueFilter.from_query(request.GET)
    return replace(asked, status=QueueFilter.status, order=QueueFilter.order, held=False, stale=False)


def _in_words(chosen: QueueFilter, project: Project) -> list[str]:
    """What the filter narrows down to; empty where it lets everything through."""
    words = []
    if chosen.tier is not None:
        tier = project.tiers.filter(pk=chosen.tier).first()
        words.append(f"tier {tier}" if tier else "a tier that is gone")
    if chosen.category is not None:
        category = project.categories.filter(pk=chosen.category).first()
        words.append(f"donors in {category}" if category else "a category that is gone")
    if chosen.donor is not None:
        donor = project.pages.filter(pk=chosen.donor).first()
        words.append(f"from {donor}" if donor else "a donor that is gone")
    if chosen.sensitive:
        words.append(chosen.sensitive.label.lower())
    if chosen.placement:
        words.append(
            "content gaps" if chosen.placement == GAP else f"placed {Placement(chosen.placement).label.lower()}"
        )
    if chosen.generator:
        words.append(f"found by “{dict(GENERATORS)[chosen.generator]}”")
    if chosen.ranked_by:
        words.append(f"ranked by {RankedBy(chosen.ranked_by).label.lower()}")
    if chosen.probability is not None:
        words.append(f"of a probability from {chosen.probability}%")
    if chosen.text:
        words.append(f"holding “{chosen.text}”")
    return words


def _with_words(release: Release) -> Release:
    """The release with `only`, the words of the filter it was made with."""
    chosen = QueueFilter.from_query({name: str(value) for name, value in release.filters.items()})
    release.only = _in_words(chosen, release.project)  # type: ignore[attr-defined]
    return release


def _csv(pieces: Iterator[bytes], name: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


release_urls = [
    path("export/", releases, name="releases"),
    path("export/links.csv", links_csv, name="suggestions_csv"),
    path("export/<int:number>/", release_download, name="release_download"),
]
