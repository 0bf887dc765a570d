"""Gates: which pages need a second person before their links leave. They stand on the page of safety classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.models import Role
from linker.projects import access
from linker.projects.gate_preview import effect_of
from linker.projects.policies.gates import GATE_FIELDS, add_gate, end_gate
from linker.web.forms.safety import GateForm
from linker.web.views.settings.safety import TAB, page_of
from linker.web.views.settings.undo import offer_undo

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from linker.models import Gate


@access.posts(TAB)
def gate_save(request: HttpRequest, slug: str) -> HttpResponse:
    """Saves a gate, or with `check` shows what it would hold."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = GateForm(request.POST, project=membership.project)
    if form.is_valid():
        gate = form.save(commit=False)
        if "check" in request.POST:
            return page_of(request, membership, None, None, gate_form=form, gate_effect=effect_of(gate))
        try:
            add_gate(gate, request.user)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            offer_undo(request, membership.project, TAB, reverse("gate_end", args=[slug, gate.pk]), [])
            messages.success(request, _("Saved. Links of these pages now need a second person before they leave."))
            return redirect(TAB, slug)
    return page_of(request, membership, None, None, gate_form=form)


@access.posts(TAB)
def gate_end(request: HttpRequest, slug: str, gate_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    gate = end_gate(membership.project, gate_id, request.user)
    if gate is None:
        messages.warning(request, _("That rule had already been removed."))
    else:
        offer_undo(request, membership.project, TAB, reverse("gate", args=[slug]), _fields(gate))
        messages.success(request, _("Removed. Links of these pages need nobody else any more."))
    return redirect(TAB, slug)


def _fields(gate: Gate) -> list[tuple[str, str]]:
    """The form that makes the gate."""
    values = [(name, gate.serializable_value(name)) for name in GATE_FIELDS]
    return [(f"gate-{name}", str(value)) for name, value in values if value is not None]
