"""What would leave, what has left, and the files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods

from linker.models import EdgeStatus, Membership, Placement, Project, RankedBy, Role, RunKind
from linker.models.edge_counts import total
from linker.models.querysets import OPEN
from linker.projects.access import has_role, member
from linker.query_strings import MAX_ID, is_id, unknown_fields
from linker.runs import lifecycle
from linker.runs.lifecycle import RunIsActive
from review.models import Held, Operation, Release, ReleaseFormat
from review.queue.counts import MOST, AtLeast
from review.queue.filters import ALL, GAP, ExportFilter, generator_label
from review.releases import checks, create, held_back, outgoing, rows
from review.releases.create import NothingToExport, NumberChanged
from review.releases.preview import count_approved, preview
from review.releases.rows import Choice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.contrib.auth.models import User
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse, HttpResponseBase

    from linker.models import CandidateEdge

PAGE_SIZE = 25
STATUS_IN_WORDS: dict[str, str] = {
    EdgeStatus.SUGGESTED: "suggestions without a decision",
    EdgeStatus.ACCEPTED: "accepted links",
    EdgeStatus.REJECTED: "rejected links",
    EdgeStatus.EXPORTED: "exported links",
    EdgeStatus.WITHDRAWN: "withdrawn links",
}
# Why nothing of such a selection leaves; of any other, because nothing is accepted.
NOTHING: dict[str, str] = {
    EdgeStatus.SUGGESTED: "no tier allows suggestions of this selection to be exported without review.",
    EdgeStatus.REJECTED: "rejected links are never exported.",
    EdgeStatus.EXPORTED: "these links are already exported, and no change or removal is waiting for a release.",
    EdgeStatus.WITHDRAWN: "withdrawn links have been removed from the site. Accept them again to export them again.",
}

NO_SUCH_FILE = "No file was made: the address has an unknown value ({})."


class FileForm(forms.Form):
    """How a file is written."""

    format = forms.ChoiceField(
        choices=ReleaseFormat.choices,
        initial=ReleaseFormat.FULL,
        help_text="The JOIL file holds the donor, anchor and acceptor of new links. It has no rel, and no changes or "
        "removals: those wait for a full file.",
    )
    bom = forms.BooleanField(
        required=False, label="Byte-order mark", help_text="Excel needs it to read accents and other scripts."
    )


class ReleaseForm(FileForm):
    """A release to be made. `links`: how many the page said would leave; without, it said that they are too many to
    count."""

    links = forms.IntegerField(required=False, min_value=1, max_value=MAX_ID)


class DownloadForm(FileForm):
    """A file that marks nothing: without parameters, the open suggestions in full. Accepted links leave by a release
    alone."""

    format = forms.ChoiceField(choices=ReleaseFormat.choices, initial=ReleaseFormat.FULL, required=False)
    status = forms.ChoiceField(
        choices=[
            (Choice.SUGGESTED, "Open suggestions, highest score first"),
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

    The query string narrows the links down as it does in the queue; its held and stale do not apply here.
    """
    if request.method == "POST":
        return _create(request, member(request, slug, needs=Role.EDITOR))
    return _page(request, member(request, slug), FileForm())


def _create(request: HttpRequest, membership: Membership) -> HttpResponse:
    form = ReleaseForm(request.POST)
    chosen = ExportFilter.from_query(request.GET)
    if chosen.ignored or not form.is_valid():
        return _page(request, membership, form, status=400)
    project, how = membership.project, form.cleaned_data
    edges = chosen.edges(project)
    shown = how["links"]
    if _are_too_many(project, edges):
        if shown is not None:
            messages.warning(
                request,
                f"Nothing was exported: more than {create.MAX_IN_REQUEST:,} links are approved by now, and "
                f"{shown:,} were to be exported when you looked. Look again and export once more.",
            )
            return _page(request, membership, form, status=409)
        params = {"filters": chosen.to_dict(), "format": how["format"], "bom": how["bom"]}
        try:
            run = lifecycle.start_run(project, RunKind.RELEASE, params, membership.user)
        except RunIsActive as error:
            messages.warning(request, str(error))
            run = error.run
        return redirect("run", project.slug, run.pk)
    try:
        release = create.create_release(
            project,
            edges,
            fmt=ReleaseFormat(how["format"]),
            bom=how["bom"],
            user=membership.user,
            filters=chosen.to_dict(),
            shown=shown,
        )
    except (NothingToExport, NumberChanged) as error:
        messages.warning(request, str(error))
        return _page(request, membership, form, status=409)
    count = ngettext("%(n)d link", "%(n)d links", release.links) % {"n": release.links}
    kept = ngettext("%(n)d is held back.", "%(n)d are held back.", release.held) % {"n": release.held}
    said = f"Release {release.number} holds {count}. You can download it below at any time."
    messages.success(request, f"{said} {kept}" if release.held else said)
    return redirect("releases", project.slug)


def _page(request: HttpRequest, membership: Membership, form: FileForm, status: int = 200) -> HttpResponse:
    project = membership.project
    chosen = ExportFilter.from_query(request.GET)
    edges, others = chosen.edges(project), chosen.scope(project)  # the other files have a status of their own
    if chosen.ignored:
        edges, others = edges.none(), others.none()
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
        "hidden": parse_qsl(replace(chosen, status=ALL).to_query()),
        "only": _in_words(chosen, project),
        "nothing": NOTHING.get(chosen.status)
        or f"no link {'of this selection ' if chosen.to_query() else ''}is accepted and not exported yet.",
        "ignored": chosen.ignored,
        "form": form,
        "download_form": DownloadForm(auto_id="download_%s"),
        "most": create.MAX_IN_REQUEST,
        "preview": None if _are_too_many(project, edges) else preview(project, edges),
        "releases": [_with_words(release) for release in shown[:PAGE_SIZE]],
        "older": shown[PAGE_SIZE - 1].number if len(shown) > PAGE_SIZE else None,
        "suggestions": _count_suggestions(chosen, project, others),
    }
    return render(request, "review/releases.html", context, status=status)


def _count_suggestions(chosen: ExportFilter, project: Project, others: QuerySet[CandidateEdge]) -> int:
    """How many a file of the suggestions would hold: as kept, or counted as far as MOST."""
    kept = chosen.counts(project)
    if kept is not None and not chosen.ignored:
        return int(kept.aggregate(links=total(OPEN))["links"])
    found = rows.choose(others, Choice.SUGGESTED)[: MOST + 1].count()
    return found if found <= MOST else AtLeast(MOST)


@require_GET
def next_held(request: HttpRequest, slug: str) -> HttpResponse:
    """What the next release would hold back, looked at now; with `file`, all of it as a CSV.

    Where so many links are approved that looking at them takes minutes, a page says so; the release looks.
    """
    membership = member(request, slug)
    chosen = ExportFilter.from_query(request.GET)
    if chosen.ignored:
        return _refused(request, membership, f"Nothing was listed: {_not_understood(chosen)}")
    edges = chosen.edges(membership.project)
    reason = _reason(request)
    if "file" in request.GET and _unknown_reason(request):
        return _refused(request, membership, NO_SUCH_FILE.format("reason"))
    said = {"query": chosen.to_query(), "only": _in_words(chosen, membership.project)}
    if _are_too_many(membership.project, edges):
        context = {"project": membership.project, "membership": membership, "section": "releases", **said}
        return render(request, "review/held_back.html", {**context, "most": create.MAX_IN_REQUEST})
    if "file" in request.GET:
        pieces = _next_held_csv(membership.project, edges, reason)
        return cast("HttpResponse", _csv(pieces, f"anchorline-{membership.project.slug}-held-back.csv"))
    with transaction.atomic():
        _look(membership.project, edges)
        context = _held_context(request, membership, held_back.NEXT, reason)
    return render(request, "review/held_back.html", context | said)


def _are_too_many(project: Project, edges: QuerySet[CandidateEdge]) -> bool:
    """Whether more are approved than are looked at while somebody waits."""
    return count_approved(project, edges, create.MAX_IN_REQUEST + 1) > create.MAX_IN_REQUEST


def _look(project: Project, edges: QuerySet[CandidateEdge]) -> None:
    checks.gather(project, edges, Operation, lock=False)
    checks.hold_back(project, read_sensitive=False)


def _next_held_csv(project: Project, edges: QuerySet[CandidateEdge], reason: Held | None) -> Iterator[bytes]:
    with transaction.atomic():
        _look(project, edges)
        yield from held_back.csv(held_back.NEXT, reason)


@require_GET
def release_page(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """A release: what it held, what it held back and why; with `file`, what it held back as a CSV."""
    membership = member(request, slug)
    release = _release(membership, number)
    reason, source = _reason(request), held_back.of_release(release)
    if "file" in request.GET:
        if _unknown_reason(request):
            return _refused(request, membership, NO_SUCH_FILE.format("reason"))
        name = f"anchorline-{release.project.slug}-release-{release.number}-held-back.csv"
        return cast("HttpResponse", _csv(held_back.csv(source, reason), name))
    context = _held_context(request, membership, source, reason)
    context |= {
        "release": _with_words(release),
        "in_place": outgoing.left_with(membership.project, number).exclude(pending__operation=Operation.REMOVE).count(),
        "leaving": outgoing.left_with(membership.project, number).filter(pending__operation=Operation.REMOVE).count(),
        "is_manager": has_role(membership, Role.MANAGER),
        "ignored": (*context["ignored"], *unknown_fields(request.GET, {"reason", "after", "file"})),
    }
    return render(request, "review/release.html", context)


@require_http_methods(["GET", "POST"])
def release_withdraw(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """GET asks, with the number of links; POST withdraws what the release added and is still on the site.

    The number that was shown is sent along: where it has changed since, nothing is done.
    """
    membership = member(request, slug, needs=Role.MANAGER)
    release = _release(membership, number)
    in_place = outgoing.left_with(membership.project, number).exclude(pending__operation=Operation.REMOVE)
    links = in_place.count()
    status = 200
    if request.method == "POST":
        if request.POST.get("links") == str(links):
            note = request.POST.get("note", "").replace("\0", "")[:500]
            done = outgoing.roll_back(release, cast("User", request.user), note)
            messages.success(request, f"{_links(done)} will be removed by the next release.")
            return redirect("release", slug, number)
        status = 409
        messages.warning(request, "The number of links has changed since the page was loaded. Nothing was changed.")
    context = {"project": membership.project, "membership": membership, "section": "releases", "release": release}
    return render(request, "review/release_withdraw.html", {**context, "links": links}, status=status)


def _release(membership: Membership, number: int) -> Release:
    made = Release.objects.select_related("project", "created_by")
    return get_object_or_404(made, project=membership.project, number=number)


def _links(count: int) -> str:
    return ngettext("%(n)d link", "%(n)d links", count) % {"n": count}


def _reason(request: HttpRequest) -> Held | None:
    text = request.GET.get("reason", "")
    return Held(text) if text in Held.values else None


def _unknown_reason(request: HttpRequest) -> tuple[str, ...]:
    """The name of the field where its value is not known."""
    return () if request.GET.get("reason", "") in ("", *Held.values) else ("reason",)


def _held_context(request: HttpRequest, membership: Membership, source: str, reason: Held | None) -> dict[str, Any]:
    after = request.GET.get("after", "")
    rows, more = held_back.rows(source, reason, int(after) if is_id(after) else 0)
    return {
        "project": membership.project,
        "membership": membership,
        "section": "releases",
        "may_decide": has_role(membership, Role.EDITOR),
        "groups": held_back.groups(source),
        "reason": reason,
        "ignored": _unknown_reason(request),
        "rows": rows,
        "more": more,
        "is_first": not after,
    }


@require_GET
def release_download(request: HttpRequest, slug: str, number: int) -> HttpResponseBase:
    """The file of a release, byte for byte as it was first handed out."""
    membership = member(request, slug)
    release = _release(membership, number)
    response = _csv(create.release_pieces(release), create.file_name(release))
    response["Content-Length"] = str(release.bytes)
    return response


@require_GET
def links_csv(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A file of suggestions, or of everything that has left so far; marks nothing."""
    membership = member(request, slug)
    project, form = membership.project, DownloadForm(request.GET)
    if not form.is_valid():
        asked = ", ".join(form.errors)
        return _refused(request, membership, f"No file was made: the address has an unknown value ({asked}).")
    chosen = ExportFilter.from_query(request.GET)
    if chosen.ignored:
        return _refused(request, membership, f"No file was made: {_not_understood(chosen)}")
    choice, fmt = form.chosen()
    edges = rows.choose(chosen.scope(project), choice)
    pieces = rows.file_pieces(edges, fmt, bom=form.cleaned_data["bom"])
    return _csv(pieces, f"anchorline-{project.slug}-{choice}.csv")


def _refused(request: HttpRequest, membership: Membership, said: str) -> HttpResponse:
    """The export page, which says why it answers instead of the file or the list that was asked for."""
    messages.error(request, said)
    return _page(request, membership, FileForm(), status=400)


def _not_understood(chosen: ExportFilter) -> str:
    return f"the filter has an unknown field or value ({', '.join(chosen.ignored)})."


def _in_words(chosen: ExportFilter, project: Project) -> list[str]:
    """What the filter narrows down to; empty where it lets everything through."""
    words = [STATUS_IN_WORDS[chosen.status]] if chosen.status != ALL else []
    if chosen.tier is not None:
        tier = project.tiers.filter(pk=chosen.tier).first()
        words.append(f"tier {tier}" if tier else "a deleted tier")
    if chosen.category is not None:
        category = project.categories.filter(pk=chosen.category).first()
        words.append(f"donors in {category}" if category else "a deleted category")
    if chosen.donor is not None:
        donor = project.pages.filter(pk=chosen.donor).first()
        words.append(f"from {donor}" if donor else "a deleted donor")
    if chosen.sensitive:
        words.append(chosen.sensitive.label.lower())
    if chosen.placement:
        words.append(
            "content gaps" if chosen.placement == GAP else f"placed {Placement(chosen.placement).label.lower()}"
        )
    if chosen.generator:
        words.append(f"found by “{generator_label(chosen.generator)}”")
    if chosen.ranked_by:
        words.append(f"ranked by {RankedBy(chosen.ranked_by).label.lower()}")
    if chosen.probability is not None:
        words.append(f"with a probability of at least {chosen.probability}%")
    if chosen.text:
        words.append(f"containing “{chosen.text}”")
    return words


def _with_words(release: Release) -> Release:
    """The release with `only`, the words of the filter it was made with."""
    chosen = ExportFilter.from_query({name: str(value) for name, value in release.filters.items()})
    release.only = _in_words(chosen, release.project)  # type: ignore[attr-defined]
    return release


def _csv(pieces: Iterator[bytes], name: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


release_urls = [
    path("export/", releases, name="releases"),
    path("export/held/", next_held, name="next_held"),
    path("export/<int:number>/links/", release_page, name="release"),
    path("export/<int:number>/withdraw/", release_withdraw, name="release_withdraw"),
    path("export/links.csv", links_csv, name="suggestions_csv"),
    path("export/<int:number>/", release_download, name="release_download"),
]
