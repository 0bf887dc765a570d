"""Caps on the links of sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from linker.errors import UserError
from linker.matching.section_caps import caps_in_force
from linker.models import Category, Role, SectionCap
from linker.projects import access
from linker.projects.cap_preview import touched_by
from linker.projects.policies.caps import end_cap, set_cap
from linker.query_strings import is_id
from linker.web.forms.caps import NUMBERS, SectionCapForm
from linker.web.views.settings.tab import FORM, render_tab, sent
from linker.web.views.settings.undo import offer_undo

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from linker.models import Project

TAB = "settings_caps"


@require_http_methods(FORM)
def caps(request: HttpRequest, slug: str) -> HttpResponse:
    """The caps in force; `?cap=` opens those of a section to be changed, `?category=` a large tree at a category. A
    form sent with `check` says what it would change."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    opened = _category(project, request.GET.get("category", ""))
    form = SectionCapForm(sent(request), project=project, opened=opened, initial=_initial(request, project, opened))
    touched = None
    if form.is_valid():
        cap = form.save(commit=False)
        if "check" in request.POST:
            touched = touched_by(cap)
        elif _is_saved(request, cap, form):
            return redirect(TAB, slug)
    return render_tab(request, membership, TAB, form=form, caps=caps_in_force(project), touched=touched)


def _is_saved(request: HttpRequest, cap: SectionCap, form: SectionCapForm) -> bool:
    """Whether the caps could be saved; else the form says why not."""
    project = cap.project
    try:
        former = set_cap(cap, request.user)
    except UserError as error:
        form.add_error(None, str(error))
        return False
    if former is None:
        offer_undo(request, project, TAB, reverse("cap_end", args=[project.slug, cap.pk]), [])
    else:
        offer_undo(request, project, TAB, reverse(TAB, args=[project.slug]), _fields(former))
    messages.success(
        request, _("Saved. Suggestions of donors that are full are leaving the queue, and none is proposed there.")
    )
    return True


@access.posts(TAB)
def cap_end(request: HttpRequest, slug: str, cap_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    cap = end_cap(membership.project, cap_id, request.user)
    if cap is None:
        messages.warning(request, _("These caps had already been removed."))
    else:
        offer_undo(request, membership.project, TAB, reverse(TAB, args=[slug]), _fields(cap))
        messages.success(request, _("Removed. Suggestions that there is room for again are coming back to the queue."))
    return redirect(TAB, slug)


def _category(project: Project, asked: str) -> int | None:
    if not is_id(asked):
        return None
    return Category.objects.filter(project=project, pk=int(asked)).values_list("pk", flat=True).first()


def _initial(request: HttpRequest, project: Project, opened: int | None) -> dict[str, int | None]:
    asked = request.GET.get("cap", "")
    found = SectionCap.objects.filter(project=project, ended_at=None, pk=int(asked)).first() if is_id(asked) else None
    if found is None:
        return {"category": opened}
    return {"category": found.category_id, **{name: getattr(found, name) for name in NUMBERS}}


def _fields(cap: SectionCap) -> list[tuple[str, str]]:
    values = [(name, cap.serializable_value(name)) for name in ("category", *NUMBERS)]
    return [(name, "" if value is None else str(value)) for name, value in values]
