"""What an expert is named for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from linker.errors import UserError
from linker.models import Category, Membership, Role
from linker.models.subtrees import nearby
from linker.projects import access, experts
from linker.query_strings import is_id
from linker.web.forms.members import SectionForm
from linker.web.views.settings.tab import FORM, render_tab

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@require_http_methods(FORM)
def member_sections(request: HttpRequest, slug: str, membership_id: int) -> HttpResponse:
    """The sections of one expert. `?category=` opens a large tree at a category."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    expert = get_object_or_404(
        Membership.objects.select_related("user", "project"), project=project, pk=membership_id, role=Role.EXPERT
    )
    asked = request.GET.get("category", "")
    at = Category.objects.filter(project=project, pk=int(asked)).first() if is_id(asked) else None
    offered = nearby(project, at.pk if at else None)
    form = SectionForm(
        request.POST if request.method == "POST" and "remove" not in request.POST else None,
        categories=offered,
        initial={"category": at.pk if at else None},
    )
    if request.method == "POST" and "remove" in request.POST:
        removed = request.POST["remove"]
        if is_id(removed) and experts.take_from(project, expert.pk, int(removed), by=request.user):
            messages.success(request, _("The section is removed."))
        return redirect("member_sections", slug, expert.pk)
    if form.is_valid():
        try:
            named = experts.name_for(project, expert.pk, int(form.cleaned_data["category"]), by=request.user)
        except UserError as error:
            form.add_error("category", str(error))
        else:
            said = _("%(user)s is an expert for “%(section)s” now.")
            messages.success(request, said % {"user": expert.user, "section": named})
            return redirect("member_sections", slug, expert.pk)
    return render_tab(
        request,
        membership,
        "settings_members",
        template="settings_sections",
        form=form,
        expert=expert,
        sections=experts.sections(expert),
        at=at,
        is_cut=Category.objects.filter(project=project).exclude(pk__in=[one.pk for one in offered]).exists(),
    )
