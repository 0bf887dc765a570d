"""What was changed in the settings, by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.views.decorators.http import require_safe

from linker import audit
from linker.models import Role
from linker.projects import access
from linker.query_strings import is_id
from linker.web.forms.change_log import ChangeListForm
from linker.web.views.settings.tab import render_tab

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


LOG_PAGE = 50


@require_safe
def log(request: HttpRequest, slug: str) -> HttpResponse:
    """The log of changes, newest first, of one kind where `?kind=` says so; older ones from `?before=` on."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    filters, before = ChangeListForm(request.GET), request.GET.get("before", "")
    rows = audit.changes(membership.project, filters.chosen)
    if is_id(before):
        rows = rows.filter(pk__lt=int(before))
    found = list(rows[: LOG_PAGE + 1])
    return render_tab(
        request,
        membership,
        "settings_log",
        changes=found[:LOG_PAGE],
        older=found[LOG_PAGE - 1].pk if len(found) > LOG_PAGE else None,
        is_first=not before,
        filters=filters,
        kind=filters.chosen,
        ignored=filters.ignored,
    )
