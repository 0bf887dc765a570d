"""Drafts of releases: made, looked through, published or discarded; roll-backs; and what differs between releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from linker.errors import UserError
from linker.models import Membership, Project, Role, RunKind
from linker.projects.access import has_role, member, posts
from linker.query_strings import is_id
from linker.runs import lifecycle
from linker.runs.lifecycle import RunIsActive
from linker.web.page_context import shell
from review.models import Held, Operation, Release, ReleaseDraft, ReleaseFormat
from review.queue.filters import ExportFilter
from review.releases import create, diffs, draft_rows, drafts, outgoing, pages_back
from review.releases.preview import AT_ONCE, count_approved
from review.web.release_forms import ReleaseForm
from review.web.release_words import in_words, made_in_words
from review.web.views.queue import user_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse

PAGE_SIZE, MOST_TO_PRINT = 50, 500


@posts("releases")
def draft_make(request: HttpRequest, slug: str) -> HttpResponse:
    """A draft of the links that the query string chooses; a large one is made in the background."""
    membership = member(request, slug, needs=Role.EDITOR)
    project, chosen, form = membership.project, ExportFilter.from_query(request.GET), ReleaseForm(request.POST)
    if chosen.ignored or not form.is_valid():
        messages.error(request, _("No draft was made: the filter or the file's form is not understood."))
        return redirect("releases", slug)
    fmt, bom = ReleaseFormat(form.cleaned_data["format"]), form.cleaned_data["bom"]
    most = create.MAX_IN_REQUEST
    is_large = count_approved(project, chosen.edges(project), most + 1) > most
    with transaction.atomic():
        draft = drafts.make_draft(project, cast("User", request.user), chosen.to_dict(), fmt, bom=bom)
        return _filled(request, membership, draft, is_large=is_large)


@posts("releases")
def roll_back_make(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """A draft of what undoes all that was released after a release."""
    membership = member(request, slug, needs=Role.MANAGER)
    release = get_object_or_404(Release, project=membership.project, number=number)
    is_large = diffs.named_after(release, create.MAX_IN_REQUEST + 1) > create.MAX_IN_REQUEST
    with transaction.atomic():
        draft = drafts.make_roll_back(release, cast("User", request.user))
        return _filled(request, membership, draft, is_large=is_large)


def _filled(request: HttpRequest, membership: Membership, draft: ReleaseDraft, *, is_large: bool) -> HttpResponse:
    if not is_large:
        drafts.fill(draft)
        return redirect("draft", membership.project.slug, draft.pk)
    try:
        drafts.start_filling(draft, cast("User", request.user))
    except RunIsActive as error:
        draft.delete()
        messages.warning(request, str(error))
        return redirect("run", membership.project.slug, error.run.pk)
    return redirect("draft", membership.project.slug, draft.pk)


@require_GET
def draft_page(request: HttpRequest, slug: str, draft_id: int) -> HttpResponse:
    """What a draft adds, changes and removes, and what it holds back, one screen at a time.

    What publishing it now would leave behind is looked for with `look`, which the page of a draft with many links asks
    for itself once it is there.
    """
    membership = member(request, slug)
    draft = _draft(membership, draft_id)
    asked, after = request.GET, request.GET.get("after", "")
    chosen = draft_rows.Chosen(
        operation=_one_of(Operation.values, asked.get("operation", "")),
        reason=_one_of(Held.values, asked.get("reason", "")),
        judged="judged" in asked,
        unreviewed="unreviewed" in asked,
    )
    most = MOST_TO_PRINT if "print" in asked else PAGE_SIZE
    may_look = draft.is_open and draft.filled_at is not None and draft.links <= create.MAX_IN_REQUEST
    looks = may_look and (draft.links <= AT_ONCE or "look" in asked or chosen["reason"] == Held.CHANGED)
    behind = drafts.left_behind(draft) if looks else {}
    rows, more = draft_rows.page(draft, chosen, int(after) if is_id(after) else 0, most, behind)
    place = urlencode(
        {name: value for name, value in chosen.items() if value} | ({"print": 1} if most > PAGE_SIZE else {})
    )
    named = (draft.added, draft.changed, draft.removed) if draft.is_open else (0, 0, 0)
    context = shell(
        membership,
        "releases",
        draft=draft,
        only=in_words(ExportFilter.from_query(draft.filters), membership.project),
        rows=rows,
        chosen=chosen,
        query_is_empty=not any(chosen.values()),
        reason=Held(chosen["reason"]) if chosen["reason"] else None,
        operations=list(zip(Operation, named, strict=True)),
        held=[(one, draft.held_for.get(one, 0) if draft.is_open else 0) for one in Held],
        judged_bad=draft_rows.count_judged_bad(draft) if draft.is_open else 0,
        behind=len(behind),
        pages_back=pages_back.in_draft(draft).count() if draft.is_open else 0,
        looks_later=may_look and not looks,
        to_publish=draft.links - len(behind),
        removals=draft.removed - draft.draft_links.filter(edge__in=behind, operation=Operation.REMOVE).count(),
        first=place if after else None,
        here="&".join(part for part in (place, f"after={after}" if is_id(after) else "", "look=1") if part),
        more="&".join(part for part in (place, f"after={more}") if part) if more else "",
        to_print=f"{place}&print=1" if place else "print=1",
        most_to_print=MOST_TO_PRINT if most == PAGE_SIZE else 0,
        run=_run_of(draft),
        overtaken_by=drafts.overtaken_by(draft) if draft.is_open else None,
        may_publish=has_role(membership, Role.MANAGER if draft.back_to_id else Role.EDITOR),
        may_decide=has_role(membership, Role.EDITOR),
    )
    return render(request, "review/draft.html", context)


def _one_of(values: Sequence[str], text: str) -> str:
    return text if text in values else ""


def _run_of(draft: ReleaseDraft) -> object:
    """The run that makes or publishes the draft, if one does."""
    kinds = [RunKind.DRAFT, RunKind.RELEASE]
    return draft.project.runs.filter(kind__in=kinds, params__draft=draft.pk).order_by("-pk").first()


@posts("releases")
def draft_publish(request: HttpRequest, slug: str, draft_id: int) -> HttpResponse:
    """Publishes a draft; a large one in the background."""
    draft = _draft(member(request, slug, needs=Role.EDITOR), draft_id)
    if draft.back_to_id is not None:
        member(request, slug, needs=Role.MANAGER)
    user = cast("User", request.user)
    try:
        if draft.links > create.MAX_IN_REQUEST:
            run = lifecycle.start_run(draft.project, RunKind.RELEASE, {"draft": draft.pk}, user)
            return redirect("run", slug, run.pk)
        release = create.publish(draft, user)
    except RunIsActive as error:
        messages.warning(request, str(error))
        return redirect("run", slug, error.run.pk)
    except UserError as error:
        messages.warning(request, str(error))
        return redirect("draft", slug, draft_id)
    messages.success(request, made_in_words(release))
    return redirect("release", slug, release.number)


@posts("releases")
def draft_discard(request: HttpRequest, slug: str, draft_id: int) -> HttpResponse:
    """Gives a draft up. A roll-back is a manager's, from its making to its end."""
    membership = member(request, slug, needs=Role.EDITOR)
    draft = _draft(membership, draft_id)
    if draft.back_to_id is not None:
        member(request, slug, needs=Role.MANAGER)
    try:
        drafts.discard(draft, user_of(request))
    except UserError as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, _("The draft was discarded. Its links stay what they are."))
    return redirect("releases", slug)


@posts("releases")
def draft_pages_back(request: HttpRequest, slug: str, draft_id: int) -> HttpResponse:
    """Keeps the links of a draft whose removal was asked for while a page was gone and whose pages are back, or asks
    for the removal once more."""
    membership = member(request, slug, needs=Role.EDITOR)
    draft = _draft(membership, draft_id)
    edges, user = pages_back.in_draft(draft), cast("User", request.user)
    if request.POST.get("do") == "keep":
        done = outgoing.take_back(membership.project, edges, user)
        said = ngettext("%(links)d link stays on the site.", "%(links)d links stay on the site.", done)
    elif request.POST.get("do") == "remove":
        done = outgoing.withdraw(membership.project, edges, user)
        said = ngettext(
            "%(links)d removal is asked for again. The next draft has it.",
            "%(links)d removals are asked for again. The next draft has them.",
            done,
        )
    else:
        return redirect("draft", slug, draft_id)
    if done:
        messages.success(request, said % {"links": done})
    else:
        messages.warning(request, _("Nothing was changed: somebody was faster."))
    return redirect("draft", slug, draft_id)


def _draft(membership: Membership, draft_id: int) -> ReleaseDraft:
    made = ReleaseDraft.objects.select_related("project", "created_by", "back_to", "release")
    return get_object_or_404(made, project=membership.project, pk=draft_id)


class DiffForm(forms.Form):
    """Which two releases are compared; 0 is before the first."""

    older = forms.IntegerField(min_value=0, max_value=10**6)
    newer = forms.IntegerField(min_value=1, max_value=10**6)


@require_GET
def release_diff(request: HttpRequest, slug: str) -> HttpResponse:
    """What is out after one release and was not, or was otherwise, after another."""
    membership = member(request, slug)
    project: Project = membership.project
    form = DiffForm(request.GET)
    numbers = sorted((form.cleaned_data["older"], form.cleaned_data["newer"])) if form.is_valid() else None
    known = set(project.releases.filter(number__in=numbers or []).values_list("number", flat=True)) | {0}
    if numbers is None or not known.issuperset(numbers):
        messages.error(request, _("Choose two releases of this project to compare."))
        return HttpResponseRedirect(reverse("releases", args=[slug]))
    older, newer = numbers
    after = request.GET.get("after", "")
    rows, more = diffs.page(project, older, newer, int(after) if is_id(after) else 0)
    place = urlencode({"older": older, "newer": newer})
    context = shell(
        membership,
        "releases",
        older=older,
        newer=newer,
        counts=diffs.counts(project, older, newer),
        rows=rows,
        first=place if after else None,
        more=f"{place}&after={more}" if more else "",
        numbers=list(project.releases.order_by("-number").values_list("number", flat=True)[:200]),
    )
    return render(request, "review/release_diff.html", context)


draft_urls = [
    path("export/drafts/", draft_make, name="draft_make"),
    path("export/drafts/<int:draft_id>/", draft_page, name="draft"),
    path("export/drafts/<int:draft_id>/publish/", draft_publish, name="draft_publish"),
    path("export/drafts/<int:draft_id>/discard/", draft_discard, name="draft_discard"),
    path("export/drafts/<int:draft_id>/pages-back/", draft_pages_back, name="draft_pages_back"),
    path("export/<int:number>/roll-back/", roll_back_make, name="roll_back_make"),
    path("export/diff/", release_diff, name="release_diff"),
]
