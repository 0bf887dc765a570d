"""What would leave, what has left, and the files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, urlencode

from django.contrib import messages
from django.db import transaction
from django.http import FileResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_http_methods

from linker.models import Membership, Project, Role, RunKind
from linker.models.edge_counts import total
from linker.models.querysets import HELD, OPEN
from linker.projects.access import has_role, member
from linker.query_strings import is_id, unknown_fields
from linker.runs import lifecycle
from linker.runs.lifecycle import RunIsActive
from linker.storage.spooled import spooled
from linker.wording import AtLeast
from linker.wording import number as in_figures
from review.models import Held, Operation, Release, ReleaseFormat
from review.queue.counts import MOST
from review.queue.filters import ALL, ExportFilter
from review.releases import checks, create, held_back, rows, withdrawals
from review.releases.create import NothingToExport, NumberChanged
from review.releases.formats.registry import formats_for
from review.releases.preview import AT_ONCE, count_approved, preview
from review.releases.rows import Choice
from review.releases.since import since
from review.web.release_forms import DownloadForm, FileForm, ReleaseForm
from review.web.release_words import in_words, made_in_words, not_understood, nothing, with_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.contrib.auth.models import User
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse, HttpResponseBase

    from linker.models import CandidateEdge

PAGE_SIZE = 25
ALL_OF_THEM = "all"  # in place of a number of links, where they are not counted
NO_SUCH_FILE = gettext_lazy("No file was made: the address has an unknown value (%(names)s).")


@require_http_methods(["GET", "POST"])
def releases(request: HttpRequest, slug: str) -> HttpResponse:
    """GET: what would leave now, and the releases so far. POST: makes the next release.

    The query string narrows the links down as it does in the queue; its held and stale do not apply here. Where many
    links are approved, the page looks at each only with `look`, which it asks for itself once it is there.
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
            said = _(
                "Nothing was exported: more than %(most)s links are approved by now, and %(shown)s were to be exported "
                "when you looked. Look again and export once more."
            )
            messages.warning(request, said % {"most": in_figures(create.MAX_IN_REQUEST), "shown": in_figures(shown)})
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
    said = ngettext(
        "Release %(release)d holds %(links)d link. You can download it below at any time.",
        "Release %(release)d holds %(links)d links. You can download it below at any time.",
        release.links,
    ) % {"release": release.number, "links": release.links}
    if release.removed:
        said = made_in_words(release)
    kept = ngettext("%(n)d is held back.", "%(n)d are held back.", release.held) % {"n": release.held}
    messages.success(request, f"{said} {kept}" if release.held else said)
    return redirect("releases", project.slug)


def _page(request: HttpRequest, membership: Membership, form: FileForm, status: int = 200) -> HttpResponse:
    project = membership.project
    chosen = ExportFilter.from_query(request.GET)
    edges, others = chosen.edges(project), chosen.scope(project)  # the other files have a status of their own
    if chosen.ignored:
        edges, others = edges.none(), others.none()
    made = project.releases.select_related("created_by", "back_to")
    before = request.GET.get("before", "")[:10]
    if before.isdecimal():
        made = made.filter(number__lt=int(before))
    shown = list(made.order_by("-number")[: PAGE_SIZE + 1])
    approved = count_approved(project, edges, create.MAX_IN_REQUEST + 1)
    may_look = approved <= create.MAX_IN_REQUEST
    looks = may_look and (approved <= AT_ONCE or "look" in request.GET)
    suggestions, held = _count_suggestions(chosen, project, others), _count_held(chosen, project)
    context = {
        "project": project,
        "membership": membership,
        "section": "releases",
        "may_export": has_role(membership, Role.EDITOR),
        "query": chosen.to_query(),
        "hidden": parse_qsl(replace(chosen, status=ALL).to_query()),
        "only": in_words(chosen, project),
        "nothing": nothing(chosen),
        "ignored": chosen.ignored,
        "form": form,
        "download_form": DownloadForm(auto_id="download_%s"),
        "most": create.MAX_IN_REQUEST,
        "at_once": AT_ONCE,
        "may_look": may_look,
        "preview": preview(project, edges) if looks else None,
        "drafts": project.drafts.filter(release=None, discarded_at=None).select_related("back_to", "created_by")[:20],
        "releases": [with_words(release) for release in shown[:PAGE_SIZE]],
        "older": shown[PAGE_SIZE - 1].number if len(shown) > PAGE_SIZE else None,
        "suggestions": suggestions,
        "held": held,
        "queued": suggestions - held,
        "held_query": replace(chosen, status=ALL, held=True).to_query(),
    }
    return render(request, "review/releases.html", context, status=status)


def _count_suggestions(chosen: ExportFilter, project: Project, others: QuerySet[CandidateEdge]) -> int:
    """How many a file of the suggestions would hold: as kept, or counted as far as MOST."""
    kept = chosen.counts(project)
    if kept is not None and not chosen.ignored:
        return int(kept.aggregate(links=total(OPEN))["links"])
    found = rows.choose(others, Choice.SUGGESTED)[: MOST + 1].count()
    return found if found <= MOST else AtLeast(MOST)


def _count_held(chosen: ExportFilter, project: Project) -> int:
    """How many of these the queue does not show unasked, as kept; 0 where a filter shows them, or no count is kept."""
    kept = chosen.counts(project)
    if kept is None or chosen.ignored or chosen.tier is not None:
        return 0
    return int(kept.aggregate(links=total(HELD))["links"])


@require_GET
def next_held(request: HttpRequest, slug: str) -> HttpResponse:
    """What the next release would hold back, looked at now; with `file`, all of it as a CSV.

    Where so many links are approved that looking at them takes minutes, a page says so; the release looks.
    """
    membership = member(request, slug)
    chosen = ExportFilter.from_query(request.GET)
    if chosen.ignored:
        return _refused(request, membership, _("Nothing was listed: %(problem)s") % {"problem": not_understood(chosen)})
    edges = chosen.edges(membership.project)
    reason = _reason(request)
    if "file" in request.GET and _unknown_reason(request):
        return _refused(request, membership, NO_SUCH_FILE % {"names": "reason"})
    said = {"query": chosen.to_query(), "only": in_words(chosen, membership.project)}
    if _are_too_many(membership.project, edges):
        context = {"project": membership.project, "membership": membership, "section": "releases", **said}
        return render(request, "review/held_back.html", {**context, "most": create.MAX_IN_REQUEST})
    if "file" in request.GET:
        pieces = _next_held_csv(membership.project, edges, reason)
        return cast("HttpResponse", _csv(pieces, f"anchorline-{membership.project.slug}-held-back.csv"))
    with transaction.atomic():
        _look(membership.project, edges)
        groups = held_back.groups(held_back.NEXT)
        context = _held_context(request, membership, held_back.NEXT, reason, groups, chosen.to_query())
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
            return _refused(request, membership, NO_SUCH_FILE % {"names": "reason"})
        name = f"anchorline-{release.project.slug}-release-{release.number}-held-back.csv"
        return cast("HttpResponse", _csv(held_back.csv(source, reason), name))
    context = _held_context(request, membership, source, reason, held_back.groups_of(release))
    context |= {
        "release": with_words(release),
        "formats": formats_for(release),
        "since": since(release),
        "is_manager": has_role(membership, Role.MANAGER),
        "is_newest": not membership.project.releases.filter(number__gt=number).exists(),
        "ignored": (*context["ignored"], *unknown_fields(request.GET, {"reason", "after", "file"})),
    }
    return render(request, "review/release.html", context)


@require_http_methods(["GET", "POST"])
def release_withdraw(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """GET asks, with the number of links; POST withdraws what the release added and is still on the site.

    The number that was shown is sent along: where it has changed since, nothing is done. The links of a large release
    are not counted, and are withdrawn in the background.
    """
    membership = member(request, slug, needs=Role.MANAGER)
    release = _release(membership, number)
    left = None if release.links > create.MAX_IN_REQUEST else withdrawals.to_withdraw(release).count()
    shown = ALL_OF_THEM if left is None else str(left)
    status = 200
    if request.method == "POST":
        if request.POST.get("links") == shown:
            note = request.POST.get("note", "").replace("\0", "")[:500]
            if left is None:
                return _withdraw_in_background(request, release, note)
            done = withdrawals.withdraw_release(release, cast("User", request.user), note)
            said = ngettext(
                "%(n)d link will be removed by the next release.",
                "%(n)d links will be removed by the next release.",
                done,
            )
            messages.success(request, said % {"n": done})
            return redirect("release", slug, number)
        status = 409
        said = _("The number of links has changed since the page was loaded. Nothing was changed.")
        messages.warning(request, said)
    context = {"project": membership.project, "membership": membership, "section": "releases", "release": release}
    context |= {"left": left, "shown": shown}
    return render(request, "review/release_withdraw.html", context, status=status)


def _withdraw_in_background(request: HttpRequest, release: Release, note: str) -> HttpResponse:
    try:
        run = withdrawals.start_withdrawing(release, cast("User", request.user), note)
    except RunIsActive as error:
        messages.warning(request, str(error))
        run = error.run
    return redirect("run", release.project.slug, run.pk)


def _release(membership: Membership, number: int) -> Release:
    made = Release.objects.select_related("project", "created_by", "back_to")
    return get_object_or_404(made, project=membership.project, number=number)


def _reason(request: HttpRequest) -> Held | None:
    text = request.GET.get("reason", "")
    return Held(text) if text in Held.values else None


def _unknown_reason(request: HttpRequest) -> tuple[str, ...]:
    """The name of the field where its value is not known."""
    return () if request.GET.get("reason", "") in ("", *Held.values) else ("reason",)


def _held_context(
    request: HttpRequest,
    membership: Membership,
    source: str,
    reason: Held | None,
    groups: list[held_back.Group],
    query: str = "",
) -> dict[str, Any]:
    """`query` chose the links; empty for those of a release."""
    after = request.GET.get("after", "")
    place = "&".join(part for part in (urlencode({"reason": reason}) if reason else "", query) if part)
    rows, more = held_back.rows(source, reason, int(after) if is_id(after) else 0)
    return {
        "project": membership.project,
        "membership": membership,
        "section": "releases",
        "may_decide": has_role(membership, Role.EDITOR),
        "groups": groups,
        "reason": reason,
        "ignored": _unknown_reason(request),
        "rows": rows,
        "first": place if after else None,
        "more": "&".join(part for part in (f"after={more}", place) if part) if more else "",
    }


@require_GET
def release_download(request: HttpRequest, slug: str, number: int) -> HttpResponseBase:
    """The file of a release, byte for byte as it was first handed out."""
    membership = member(request, slug)
    release = _release(membership, number)
    response = StreamingHttpResponse(create.release_pieces(release), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{create.file_name(release)}"'
    response["Content-Length"] = str(release.bytes)
    return response


@require_GET
def links_csv(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A file of suggestions, or of everything that has left so far; marks nothing."""
    membership = member(request, slug)
    project, form = membership.project, DownloadForm(request.GET)
    if not form.is_valid():
        return _refused(request, membership, NO_SUCH_FILE % {"names": ", ".join(form.errors)})
    # The form has read `status`, which knows what a filter does not: the suggestions that the queue shows.
    query = request.GET.copy()
    query.pop("status", None)
    chosen = ExportFilter.from_query(query)
    if chosen.ignored:
        return _refused(request, membership, _("No file was made: %(problem)s") % {"problem": not_understood(chosen)})
    choice, fmt = form.chosen()
    edges = rows.choose(chosen.scope(project), choice, of_tier=chosen.tier is not None)
    pieces = rows.file_pieces(edges, fmt, bom=form.cleaned_data["bom"])
    return _csv(pieces, f"anchorline-{project.slug}-{choice}.csv")


def _refused(request: HttpRequest, membership: Membership, said: str) -> HttpResponse:
    """The export page, which says why it answers instead of the file or the list that was asked for."""
    messages.error(request, said)
    return _page(request, membership, FileForm(), status=400)


def _csv(pieces: Iterator[bytes], name: str) -> FileResponse:
    return FileResponse(spooled(pieces), as_attachment=True, filename=name, content_type="text/csv; charset=utf-8")


release_urls = [
    path("export/", releases, name="releases"),
    path("export/held/", next_held, name="next_held"),
    path("export/<int:number>/links/", release_page, name="release"),
    path("export/<int:number>/withdraw/", release_withdraw, name="release_withdraw"),
    path("export/links.csv", links_csv, name="suggestions_csv"),
    path("export/<int:number>/", release_download, name="release_download"),
]
