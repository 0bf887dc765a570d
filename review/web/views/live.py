"""Released links on the site: the funnel, the links that somebody has to see to, and what is done about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django import forms
from django.contrib import messages
from django.http import HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET

from linker.errors import UserError
from linker.models import Membership, Role
from linker.models.subtrees import nearby
from linker.projects.access import has_role, member, posts
from linker.web.page_context import shell
from review.live import funnel, left_alone, seeing
from review.live.funnel import LiveFilter
from review.live.life import life_of
from review.models import LiveState
from review.releases import outgoing
from review.web.release_forms import CheckedLinksForm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse

    from linker.models import Project

TO_DO = ["ask", "reopen", "close", "withdraw", "give"]
ANYBODY = gettext_lazy("Anybody")


class LiveFilterForm(forms.Form):
    """Shows what review.live.funnel.LiveFilter has read."""

    state = forms.ChoiceField(label=gettext_lazy("State"))
    days = forms.IntegerField(label=gettext_lazy("For at least, days"), min_value=0)
    owner = forms.ChoiceField(label=gettext_lazy("With"))
    category = forms.ChoiceField(label=gettext_lazy("Donor’s category"))
    closed = forms.BooleanField(label=gettext_lazy("Closed"))

    def __init__(self, chosen: LiveFilter, members: Sequence[Membership], project: Project) -> None:
        initial = {name: getattr(chosen, name) for name in self.base_fields}
        super().__init__(initial=initial, auto_id="f-%s", use_required_attribute=False)
        people = [(one.user_id, one.user.get_username()) for one in members]
        self._offer("state", [("", _("All to see to")), *LiveState.choices])
        self._offer("owner", [("", ANYBODY), (0, _("Nobody")), *people])
        categories = [(one.pk, str(one)) for one in nearby(project, chosen.category)]
        self._offer("category", [("", _("All")), *categories])

    def _offer(self, name: str, choices: list[tuple[object, object]]) -> None:
        self.fields[name].choices = choices  # type: ignore[attr-defined]


class LiveForm(CheckedLinksForm):
    """What is to be done with the checked links."""

    most = funnel.PAGE_SIZE
    do = forms.ChoiceField(choices=[(value, value) for value in TO_DO])
    owner = forms.IntegerField(required=False, min_value=0)


@require_GET
def live_links(request: HttpRequest, slug: str) -> HttpResponse:
    """From proposed to live, and the released links that are not as they were released, one screen at a time."""
    membership = member(request, slug)
    project = membership.project
    chosen = LiveFilter.from_query(request.GET)
    after = request.GET.get("after", "")
    links, more = funnel.page(project, chosen, after)
    members = list(Membership.objects.filter(project=project).select_related("user").order_by("user__username"))
    context = shell(
        membership,
        "releases",
        funnel=funnel.funnel(project),
        stuck_days=funnel.STUCK_DAYS,
        chosen=chosen,
        query=chosen.to_query(),
        place=chosen.to_query(after=after),
        links=links,
        more=chosen.to_query(after=more) if more else "",
        first=chosen.to_query() if after else None,
        filters=LiveFilterForm(chosen, members, project),
        member_ids={one.user_id for one in members},
        editors=[one for one in members if one.role != Role.VIEWER],
        may_decide=has_role(membership, Role.EDITOR),
    )
    return render(request, "review/live_links.html", context)


@posts("live_links")
def live_links_do(request: HttpRequest, slug: str) -> HttpResponse:
    """Asks again, reopens, closes, withdraws or gives away the checked links."""
    membership = member(request, slug, needs=Role.EDITOR)
    form = LiveForm(request.POST)
    place = reverse("live_links", args=[slug])
    if not form.is_valid():
        messages.error(request, _("Nothing was changed: check at least one link and choose an action."))
        return HttpResponseRedirect(place)
    what, owner = form.cleaned_data["do"], form.cleaned_data["owner"] or None
    reasons = left_alone.why_left(
        membership.project, form.cleaned_data["link"], what, owner, shows_closed=_shows_closed(form)
    )
    alone = left_alone.in_words(reasons)
    try:
        done = _do(membership.project, form, cast("User", request.user))
    except UserError as error:
        messages.error(request, str(error))
    else:
        left = len(set(form.cleaned_data["link"])) - done
        if done:
            messages.success(request, f"{_in_words(what, done)} {_left_as_they_are(left, alone)}".strip())
        elif alone:
            messages.warning(request, _("Nothing was changed: %(reasons)s.") % {"reasons": alone})
        else:
            messages.warning(request, _("Nothing was changed: somebody was faster."))
    query = form.cleaned_data["query"]
    return HttpResponseRedirect(f"{place}?{query}" if query else place)


def _do(project: Project, form: LiveForm, user: User) -> int:
    what, ids, note = (form.cleaned_data[name] for name in ("do", "link", "note"))
    if not _shows_closed(form):
        ids = seeing.not_closed(project, ids)  # somebody has closed the others since the list was shown
    if what == "close":
        return seeing.close(project, ids, user, note)
    if what == "reopen":
        return seeing.reopen(project, ids, user, note)
    if what == "give":
        return seeing.give(project, ids, user, form.cleaned_data["owner"] or None)
    edges = project.edges.filter(pk__in=ids)
    return (outgoing.ask_again if what == "ask" else outgoing.withdraw)(project, edges, user, note)


def _shows_closed(form: LiveForm) -> bool:
    """Whether the links were chosen from a list of closed ones."""
    return LiveFilter.from_query(QueryDict(form.cleaned_data["query"])).closed


def _left_as_they_are(links: int, reasons: str) -> str:
    """What is said of the links that were left, however many that were."""
    if not links:
        return ""
    said = ngettext("%(links)d other stays as it is", "%(links)d others stay as they are", links) % {"links": links}
    return f"{said}: {reasons}." if reasons else f"{said}."


def _in_words(what: str, done: int) -> str:
    said = {
        "ask": ngettext(
            "%(links)d link is asked for again with the next release.",
            "%(links)d links are asked for again with the next release.",
            done,
        ),
        "reopen": ngettext(
            "%(links)d link is back in the review queue.", "%(links)d links are back in the review queue.", done
        ),
        "close": ngettext("%(links)d link closed.", "%(links)d links closed.", done),
        "withdraw": ngettext(
            "%(links)d link withdrawn. The removal is exported with the next release.",
            "%(links)d links withdrawn. The removal is exported with the next release.",
            done,
        ),
        "give": ngettext("%(links)d link given.", "%(links)d links given.", done),
    }
    return said[what] % {"links": done}


@require_GET
def link_life(request: HttpRequest, slug: str, edge_id: int) -> HttpResponse:
    """The life of one link, told in order: decisions, releases and what the site showed."""
    membership = member(request, slug)
    edges = membership.project.edges.select_related("source", "target", "published", "pending__decision__user")
    edge = get_object_or_404(edges.defer("source__body", "target__body"), pk=edge_id)
    return render(request, "review/link_life.html", shell(membership, "releases", edge=edge, moments=life_of(edge)))


live_urls = [
    path("export/live/", live_links, name="live_links"),
    path("export/live/do/", live_links_do, name="live_links_do"),
    path("export/live/<int:edge_id>/", link_life, name="link_life"),
]
