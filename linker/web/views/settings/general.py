"""The site, its addresses, its vectors and its anchors."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.contrib import messages
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from linker.models import Role
from linker.pages.languages import model_advice
from linker.projects import access
from linker.projects.create import save_project
from linker.storage.site_figures import site_figures
from linker.web.forms.projects import ProjectForm
from linker.web.views.settings.tab import FORM, render_tab, sent

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@require_http_methods(FORM)
def general(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = ProjectForm(sent(request), instance=membership.project)
    if form.is_valid():
        save_project(form.save(commit=False), request.user, form.changed_data)
        messages.success(request, _("Saved."))
        before, now = (
            urlsplit(address).netloc.lower() for address in (form.initial["base_url"], form.instance.base_url)
        )
        if before != now and form.instance.pages.exists():
            messages.warning(
                request,
                _(
                    "The project’s pages belong to %(before)s. Imports for %(now)s will not find them again and will "
                    "add other pages. If this was a mistake, restore the old address before you import."
                )
                % {"before": before, "now": now},
            )
        if ProjectForm.EMBEDDING_FIELDS & set(form.changed_data):
            messages.warning(
                request,
                _(
                    "This takes effect once the pages have been embedded and matched again. Until then, the "
                    "suggestions stay as they are. No decision is lost."
                ),
            )
        return redirect("settings", slug)
    membership.project.refresh_from_db()
    return render_tab(
        request,
        membership,
        "settings",
        form=form,
        advice=model_advice(membership.project, site_figures(membership.project).languages),
    )
