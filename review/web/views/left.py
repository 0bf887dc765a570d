"""Links that have left: the list, and what is decided on them afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django import forms
from django.contrib import messages
from django.http import HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from linker.models import EdgeStatus, Rel, Role
from linker.models.querysets import OUT
from linker.projects.access import has_role, member, posts
from review.allowed import MayNotLink
from review.decisions import decide_edges
from review.models import Verb
from review.releases import outgoing
from review.releases.outgoing import LinkFilter
from review.rulings import Ruling, Shown
from review.web.filter_forms import LinkFilterForm
from review.web.release_forms import CheckedLinksForm

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse

    from linker.models import Project

_CHANGES = [*(f"confirm:{rel}" for rel in Rel.values), "withdraw", "take_back", "accept"]


class LinksForm(CheckedLinksForm):
    """What is to be done with the checked links: "confirm:<rel>", "withdraw", "take_back" or, of links that were
    withdrawn, "accept"."""

    most = outgoing.PAGE_SIZE
    do = forms.ChoiceField(choices=[(value, value) for value in _CHANGES])


@require_GET
def left_links(request: HttpRequest, slug: str) -> HttpResponse:
    """The links that have left, with filters, one screen at a time."""
    membership = member(request, slug)
    project = membership.project
    chosen = LinkFilter.from_query(request.GET)
    after = request.GET.get("after", "")
    links, more = outgoing.links_page(project, chosen, after)
    context = {
        "project": project,
        "membership": membership,
        "section": "releases",
        "may_decide": has_role(membership, Role.EDITOR),
        "chosen": chosen,
        "query": chosen.to_query(),
        "place": chosen.to_query(after=after),
        "links": links,
        "more": chosen.to_query(after=more) if more else "",
        "first": chosen.to_query() if after else None,
        "filters": LinkFilterForm(chosen),
        "any_left": bool(links) or project.edges.filter(OUT).exists(),
    }
    return render(request, "review/left_links.html", context)


@posts("left_links")
def left_links_decide(request: HttpRequest, slug: str) -> HttpResponse:
    """Confirms, withdraws, takes back or accepts again the checked links."""
    membership = member(request, slug, needs=Role.EDITOR)
    form = LinksForm(request.POST)
    place = reverse("left_links", args=[slug])
    if not form.is_valid():
        messages.error(request, _("Nothing was changed: check at least one link and choose an action."))
        return HttpResponseRedirect(place)
    verb, rel = form.cleaned_data["do"].partition(":")[::2]
    try:
        done = _do(membership.project, form, verb, rel, cast("User", request.user))
    except MayNotLink as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(place)
    if done:
        messages.success(request, _in_words(verb, rel, done))
    else:
        said = _("Nothing was changed: the links already have this state, or somebody was faster.")
        messages.warning(request, said)
    query = form.cleaned_data["query"]
    return HttpResponseRedirect(f"{place}?{query}" if query else place)


def _in_words(verb: str, rel: str, done: int) -> str:
    said = {
        "confirm": ngettext(
            "%(links)d link confirmed as %(rel)s. Changes are exported with the next release.",
            "%(links)d links confirmed as %(rel)s. Changes are exported with the next release.",
            done,
        ),
        "withdraw": ngettext(
            "%(links)d link withdrawn. The removal is exported with the next release.",
            "%(links)d links withdrawn. The removal is exported with the next release.",
            done,
        ),
        "take_back": ngettext("%(links)d link kept as last released.", "%(links)d links kept as last released.", done),
        "accept": ngettext(
            "%(links)d link accepted again. The next release adds what was withdrawn.",
            "%(links)d links accepted again. The next release adds what was withdrawn.",
            done,
        ),
    }
    return said[verb] % {"links": done, "rel": rel}


def _do(project: Project, form: LinksForm, verb: str, rel: str, user: User) -> int:
    ids, note = form.cleaned_data["link"], form.cleaned_data["note"]
    edges = project.edges.filter(pk__in=ids)
    if verb == "confirm":
        return outgoing.confirm(project, edges, user, Rel(rel), note)
    if verb == "withdraw":
        return outgoing.withdraw(project, edges, user, note)
    if verb == "take_back":
        return outgoing.take_back(project, edges, user)
    known = list(edges.filter(status=EdgeStatus.WITHDRAWN).values_list("pk", flat=True))
    outcome = decide_edges(project, known, Verb.ACCEPT, user, Ruling(note=note), Shown(EdgeStatus.WITHDRAWN))
    return len(outcome.decided)


left_urls = [
    path("export/links/", left_links, name="left_links"),
    path("export/links/decide/", left_links_decide, name="left_links_decide"),
]
