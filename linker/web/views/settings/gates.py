"""Gates: which pages need a second person before their links leave. They stand on the page of safety classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.models import Role
from linker.projects import access
from linker.projects.policies.gates import add_gate, end_gate
from linker.web.forms.safety import GateForm
from linker.web.views.settings.safety import TAB, page_of

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@access.posts(TAB)
def gate_save(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = GateForm(request.POST, project=membership.project)
    if form.is_valid():
        try:
            add_gate(form.save(commit=False), request.user)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Saved. Links of these pages now need a second person before they leave."))
            return redirect(TAB, slug)
    return page_of(request, membership, None, None, gate_form=form)


@access.posts(TAB)
def gate_end(request: HttpRequest, slug: str, gate_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    if end_gate(membership.project, gate_id, request.user) is None:
        messages.warning(request, _("That rule had already been removed."))
    else:
        messages.success(request, _("Removed. Links of these pages need nobody else any more."))
    return redirect(TAB, slug)
