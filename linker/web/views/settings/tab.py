"""What the tabs of a project's settings share. Managers only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _

from linker.models import Membership, Role, RunKind
from linker.projects import access
from linker.runs.lifecycle import RunIsActive, start_run
from linker.web.page_context import shell
from linker.web.views.settings.undo import offered_undo, seen

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


TABS = (
    ("settings", _("General")),
    ("settings_vectors", _("Vectors")),
    ("settings_tiers", _("Tiers")),
    ("settings_ranking", _("Ranking")),
    ("settings_sensitive", _("Sensitive pages")),
    ("settings_exclusions", _("Exclusions")),
    ("settings_safety", _("Safety")),
    ("settings_roles", _("Page roles")),
    ("settings_links", _("Links")),
    ("settings_caps", _("Caps")),
    ("settings_rollout", _("Roll-out")),
    ("settings_members", _("Members")),
    ("settings_log", _("Log")),
)
FORM = ["GET", "HEAD", "POST"]
FORM_NAMES = (
    "form",
    "formset",
    "leave_out",
    "links_form",
    "invite_form",
    "class_form",
    "pair_form",
    "gate_form",
)  # as the templates call them


def render_tab(request: HttpRequest, membership: Membership, tab: str, **context: Any) -> HttpResponse:
    """A tab, or a page below it that names its `template`; with 422 where one of its forms was sent and holds a
    mistake."""
    undo = offered_undo(request, membership.project, tab)
    shown = seen(membership.project, tab)
    shared = shell(membership, "settings", tab=tab, tabs=TABS, undo=undo, seen=shown, **context)
    bound = [form for name in FORM_NAMES if (form := context.get(name)) is not None and form.is_bound]
    status = 200 if all(form.is_valid() for form in bound) else 422
    return render(request, f"linker/{context.get('template', tab)}.html", shared, status=status)


def sent(request: HttpRequest) -> Any:
    """What a form was sent; None where the page was only asked for."""
    return request.POST if request.method == "POST" else None


def start_or_show(request: HttpRequest, slug: str, kind: RunKind) -> HttpResponse:
    """The page of a new run of a manager's, or of the one of its kind that is under way."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    try:
        run = start_run(membership.project, kind, {}, request.user)
    except RunIsActive as active:
        run = active.run
    return redirect("run", slug, run.pk)
