"""What links count as: rules that correct what the crawl read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from linker.models import Role
from linker.pages.link_rules import rules_of
from linker.projects import access
from linker.projects.link_preview import links_changed
from linker.projects.policies.links import LINK_RULE_FIELDS, add_link_rule, remove_link_rule
from linker.web.forms.links import LinkRuleForm
from linker.web.views.settings.tab import FORM, render_tab, sent
from linker.web.views.settings.undo import offer_undo

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

TAB = "settings_links"


@require_http_methods(FORM)
def links(request: HttpRequest, slug: str) -> HttpResponse:
    """The rules, what each takes, and a form that shows what a new one would change before it is saved."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    asked = {name: request.GET[name][:300] for name in LINK_RULE_FIELDS if name in request.GET}
    form = LinkRuleForm(sent(request), project=project, initial=asked)
    preview = None
    if form.is_valid():
        rule = form.save(commit=False)
        if "check" not in request.POST:
            run = add_link_rule(rule, request.user)
            offer_undo(request, project, TAB, reverse("link_rule_remove", args=[slug, rule.pk]), [])
            messages.success(request, _("Saved. A run that reads the links again has started."))
            return redirect("run", slug, run.pk)
        preview = links_changed(rule)
    return render_tab(request, membership, TAB, form=form, rules=rules_of(project), preview=preview)


@access.posts("settings_links")
def link_rule_remove(request: HttpRequest, slug: str, rule_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    rules = rules_of(project)
    run = remove_link_rule(project, rule_id, request.user)
    if run is None:
        messages.warning(request, _("That rule had already been removed."))
        return redirect("settings_links", slug)
    if rules[-1].pk == rule_id:  # another would come back behind those that were after it
        fields = [(name, getattr(rules[-1], name)) for name in LINK_RULE_FIELDS]
        offer_undo(request, project, TAB, reverse("settings_links", args=[slug]), fields)
    messages.success(request, _("Removed. A run that reads the links again has started."))
    return redirect("run", slug, run.pk)
