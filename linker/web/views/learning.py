"""What a project's decisions teach by kind of link, and which of them count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from linker.models import Role
from linker.projects import access
from linker.projects.learning import is_kind, kind_name, next_match
from linker.projects.policies.learning import choose_learning
from linker.projects.queue_sum import queue_sum
from linker.web.page_context import shell

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@require_safe
def learning(request: HttpRequest, slug: str) -> HttpResponse:
    """What the last match made of decisions, and what the next would show by those of today."""
    membership = access.member(request, slug)
    context = shell(
        membership,
        "overview",
        queue_sum=queue_sum(membership.project),
        upcoming=next_match(membership.project),
        is_manager=access.has_role(membership, Role.MANAGER),
    )
    return render(request, "linker/learning.html", context)


@access.posts("learning")
def learning_choose(request: HttpRequest, slug: str) -> HttpResponse:
    """Whether the decisions on links of a kind count."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    project, family, code = membership.project, request.POST.get("family", ""), request.POST.get("code", "")
    counts = request.POST.get("counts") == "yes"
    if not is_kind(family, code):
        messages.error(request, _("Nothing was changed: there is no such kind of link."))
        return redirect("learning", slug)
    name = kind_name(project, family, int(code))
    if not choose_learning(project, family, int(code), request.user, counts=counts, name=name):
        messages.warning(request, _("Nothing was changed: somebody has chosen the same."))
    elif counts:
        messages.success(request, _("Decisions count again from the next match: %(kind)s.") % {"kind": name})
    else:
        messages.success(
            request,
            _("Decisions are disregarded from the next match: %(kind)s. They stay as they are.") % {"kind": name},
        )
    return redirect("learning", slug)
