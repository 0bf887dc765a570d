"""Safety classes and the pairs of them that may never be linked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from linker.errors import UserError
from linker.models import Role, SafetyClass
from linker.pages.gates import gates_in_force
from linker.pages.safety import barred_pairs
from linker.projects import access
from linker.projects.policies.safety import CLASS_FIELDS, allow_pair, bar_pair, classes_in_use, end_class, save_class
from linker.projects.safety_preview import touched_by
from linker.query_strings import is_id
from linker.web.forms.safety import BarredPairForm, GateForm, SafetyClassForm
from linker.web.views.settings.tab import render_tab
from linker.web.views.settings.undo import offer_undo

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from linker.models import BarredPair, Membership, Project

TAB = "settings_safety"


@require_safe
def safety(request: HttpRequest, slug: str) -> HttpResponse:
    """The classes and pairs; `?class=` opens one to be changed."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    chosen = _chosen(membership.project, request.GET.get("class", ""))
    return page_of(request, membership, SafetyClassForm(project=membership.project, instance=chosen), None)


def page_of(
    request: HttpRequest,
    membership: Membership,
    class_form: SafetyClassForm | None,
    pair_form: BarredPairForm | None,
    **more: Any,
) -> HttpResponse:
    project = membership.project
    return render_tab(
        request,
        membership,
        TAB,
        classes=classes_in_use(project),
        pairs=barred_pairs(project),
        class_form=class_form or SafetyClassForm(project=project),
        pair_form=pair_form or BarredPairForm(project=project),
        gates=gates_in_force(project),
        **{"gate_form": GateForm(project=project), **more},
    )


def _chosen(project: Project, asked: str) -> SafetyClass | None:
    found = SafetyClass.objects.filter(project=project, ended_at=None)
    return found.filter(pk=int(asked)).first() if is_id(asked) else None


@access.posts(TAB)
def class_save(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    chosen = _chosen(project, request.POST.get("class", ""))
    before = _class_fields(chosen) if chosen is not None else None
    form = SafetyClassForm(request.POST, project=project, instance=chosen)
    if chosen is None and request.POST.get("class"):
        form.add_error(None, _("This class has been removed meanwhile. Save once more to add it anew."))
    if form.is_valid():
        one = form.save(commit=False)
        try:
            save_class(one, request.user)
        except UserError as error:
            form.add_error("name", str(error))
        else:
            if before is None:
                offer_undo(request, project, TAB, reverse("safety_class_end", args=[slug, one.pk]), [])
            else:
                again = [("class", str(one.pk)), *before]
                offer_undo(request, project, TAB, reverse("safety_class", args=[slug]), again)
            messages.success(request, _("The class “%(name)s” is saved.") % {"name": one.name})
            return redirect(TAB, slug)
    return page_of(request, membership, form, None)


@access.posts(TAB)
def class_end(request: HttpRequest, slug: str, class_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    try:
        one = end_class(membership.project, class_id, request.user)
    except UserError as error:
        messages.error(request, str(error))
        return redirect(TAB, slug)
    if one is None:
        messages.warning(request, _("That class had already been removed."))
    else:
        offer_undo(request, membership.project, TAB, reverse("safety_class", args=[slug]), _class_fields(one))
        messages.success(request, _("The class “%(name)s” is removed.") % {"name": one.name})
    return redirect(TAB, slug)


def _class_fields(one: SafetyClass) -> list[tuple[str, str]]:
    values = [(name, one.serializable_value(name)) for name in CLASS_FIELDS]
    return [(f"class-{name}", "" if value is None else str(value)) for name, value in values]


@access.posts(TAB)
def pair_save(request: HttpRequest, slug: str) -> HttpResponse:
    """Saves a pair, or with `check` shows what it would touch."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    form = BarredPairForm(request.POST, project=project)
    if form.is_valid():
        pair = form.save(commit=False)
        if "check" in request.POST:
            return page_of(request, membership, None, form, pair=pair, touched=touched_by(pair))
        try:
            bar_pair(pair, request.user)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            offer_undo(request, project, TAB, reverse("safety_pair_end", args=[slug, pair.pk]), [])
            said = _("Saved. Suggestions that may not be made are leaving the queue, and none is proposed again.")
            messages.success(request, said)
            return redirect(TAB, slug)
    return page_of(request, membership, None, form)


@access.posts(TAB)
def pair_end(request: HttpRequest, slug: str, pair_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    pair = allow_pair(membership.project, pair_id, request.user)
    if pair is None:
        messages.warning(request, _("That pair had already been removed."))
    else:
        offer_undo(request, membership.project, TAB, reverse("safety_pair", args=[slug]), _pair_fields(pair))
        messages.success(request, _("Removed. Suggestions that had left the queue are coming back to it."))
    return redirect(TAB, slug)


def _pair_fields(pair: BarredPair) -> list[tuple[str, str]]:
    return [
        ("pair-source", str(pair.source_id)),
        ("pair-target", str(pair.target_id)),
        ("pair-either", "1" if pair.either else ""),
        ("pair-reason", pair.reason),
    ]
