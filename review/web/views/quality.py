"""How good the links are: audits and what they found, and the page on which somebody judges a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.contrib import messages
from django.http import HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from linker.errors import UserError
from linker.models import EdgeStatus, Role, RunKind
from linker.projects.access import has_role, member, posts
from linker.web.page_context import shell
from linker.web.views.settings.tab import start_or_show
from review.models import Grade, Reason
from review.quality import judging
from review.quality.rates import rates
from review.queue.filters import QueueFilter
from review.queue.team import since
from review.web.views.queue import user_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse

    from linker.models import Membership, Project

DAYS = (28, 91, 365)
MOST_BAD = 50
MOST_AUDITS = 12


class JudgeForm(forms.Form):
    """What is said of a link."""

    link = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    grade = forms.ChoiceField(choices=Grade.choices)
    reason = forms.ChoiceField(
        label=gettext_lazy("Reason"),
        required=False,
        choices=lambda: [("", "\N{EN DASH}"), *((one.value, one.label) for one in Reason if one != Reason.BETTER)],
    )
    note = forms.CharField(label=gettext_lazy("Note"), required=False, max_length=500)


@require_GET
def quality(request: HttpRequest, slug: str) -> HttpResponse:
    """What the audits of some weeks found, and what is to be done."""
    membership = member(request, slug, needs=Role.MANAGER)
    project = membership.project
    asked = request.GET.get("days", "")
    days = int(asked) if asked in map(str, DAYS) else DAYS[1]
    context = shell(
        membership,
        "quality",
        days=days,
        choices=DAYS,
        found=rates(project, since(days)),
        audits=judging.audits(project, MOST_AUDITS),
        waiting=judging.waiting_by_reader(project),
        bad=judging.bad_links(project, MOST_BAD),
        own=_number_waiting(project, user_of(request)),
    )
    return render(request, "review/quality.html", context)


def _number_waiting(project: Project, user: User) -> int:
    return judging.waiting_for(project, user)[: judging.MOST_COUNTED].count()


@posts("judge")
def audit_now(request: HttpRequest, slug: str) -> HttpResponse:
    """Draws an audit now, without waiting for the week to end."""
    return start_or_show(request, slug, RunKind.AUDIT)


@require_GET
def judge_view(request: HttpRequest, slug: str) -> HttpResponse:
    """The next link that the user is to judge."""
    return _judge_page(request, member(request, slug, needs=Role.EDITOR))


@posts("judge")
def judge_link(request: HttpRequest, slug: str) -> HttpResponse:
    """Keeps what is said of a link, and leads to the next one."""
    membership = member(request, slug, needs=Role.EDITOR)
    form = JudgeForm(request.POST)
    if not form.is_valid():
        return _judge_page(request, membership, form, status=422)
    said = form.cleaned_data
    try:
        judging.judge(
            membership.project, user_of(request), said["link"], Grade(said["grade"]), said["reason"], said["note"]
        )
    except UserError as error:
        messages.warning(request, str(error))
    return redirect("judge", slug)


@posts("judge")
def judge_undo(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Takes back what the user said; the link comes again."""
    membership = member(request, slug, needs=Role.EDITOR)
    if not judging.take_back(membership.project, user_of(request), pk):
        messages.warning(request, _("Nothing was changed: this was taken back already."))
    return redirect("judge", slug)


@posts("judge")
def put_right(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Rejects or withdraws a link that was judged bad."""
    membership = member(request, slug, needs=Role.EDITOR)
    try:
        was = judging.put_right(membership.project, user_of(request), pk)
    except UserError as error:
        messages.error(request, str(error))
    else:
        if was == EdgeStatus.EXPORTED:
            messages.success(request, _("The link is withdrawn: the next release asks for its removal."))
        elif was == EdgeStatus.ACCEPTED:
            messages.success(request, _("The link is rejected and does not leave."))
        else:
            messages.warning(request, _("Nothing was changed: the link is no longer approved."))
    to_quality = has_role(membership, Role.MANAGER) and request.POST.get("from") == "quality"
    return HttpResponseRedirect(reverse("quality" if to_quality else "judge", args=[slug]))


def _judge_page(
    request: HttpRequest, membership: Membership, form: JudgeForm | None = None, status: int = 200
) -> HttpResponse:
    project, user = membership.project, user_of(request)
    link = judging.waiting_for(project, user).select_related("sample").first()
    context = shell(
        membership,
        "quality",
        link=link,
        card=judging.card_of(link) if link else None,
        chosen=QueueFilter(),
        can_decide=False,
        form=form or JudgeForm(initial={"link": link.pk if link else None}),
        grades=Grade,
        waiting=_number_waiting(project, user),
        last=judging.last_of(project, user),
    )
    return render(request, "review/judge.html", context, status=status)


quality_urls = [
    path("quality/", quality, name="quality"),
    path("quality/audit/", audit_now, name="audit_now"),
    path("quality/judge/", judge_view, name="judge"),
    path("quality/judge/say/", judge_link, name="judge_link"),
    path("quality/judge/<int:pk>/undo/", judge_undo, name="judge_undo"),
    path("quality/links/<int:pk>/put-right/", put_right, name="put_right"),
]
