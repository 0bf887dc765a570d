"""The pages of a site: a list with filters, and one page with its links and suggestions."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.contrib import messages
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from linker.engine.roles.policy import LABELS, NAMED
from linker.explain import page_role as page_roles
from linker.models import Category, Page, Role
from linker.pages import listing as reads
from linker.pages.languages import language_counts, language_name
from linker.pages.roles import role_counts
from linker.pages.traffic import page_traffic
from linker.projects import access, policies
from linker.web.forms import PageRoleForm
from linker.web.page_context import shell

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from linker.models import Project


@require_safe
def pages(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug)
    project = membership.project
    query = reads.PageQuery.from_query(request.GET)
    rows, following = reads.page_list(project, query)
    context = shell(
        membership,
        "pages",
        query=query,
        rule=reads.sensitive_rule(project, query.rule) if query.rule is not None else None,
        rows=rows,
        count=reads.chosen_pages(project, query).count(),
        first_query=urlencode(query.to_query()),
        next_query=urlencode({**query.to_query(), "after": following}) if following else "",
        categories=Category.objects.filter(project=project).order_by("path"),
        role_choices=_role_choices(project),
        show_choices=[(key, label) for key, (label, _) in reads.SHOW.items()],
        languages=_languages(project, query),
        order_choices=[(key, label) for key, (label, *_) in reads.ORDERS.items()],
    )
    return render(request, "linker/pages.html", context)


def _role_choices(project: Project) -> list[tuple[str, str, int]]:
    """Roles that pages have, with how many live pages have each."""
    counts = role_counts(project)
    return [(role.value, label, counts.get(role.value, 0)) for role, label in LABELS.items()]


@access.posts("pages")
def page_role(request: HttpRequest, slug: str, page_id: int) -> HttpResponse:
    """Gives a page its role by hand, or takes it back."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    found = get_object_or_404(Page.objects.only("project", "url"), project=membership.project, pk=page_id)
    form = PageRoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose one of the roles.")
        return redirect("page", slug, page_id)
    chosen = form.chosen()
    policies.set_page_role(found, chosen, request.user)
    said = f"The page now counts as {NAMED[chosen]}" if chosen else "The page has the role that was found for it"
    messages.success(request, f"Saved. {said}. This applies from the next match run.")
    return redirect("page", slug, page_id)


def _languages(project: Project, query: reads.PageQuery) -> list[tuple[str, str]]:
    """The languages to choose from, the most common first, where there are several, or one was asked for."""
    counts = language_counts(project)
    if len(counts) < 2 and not query.language:
        return []
    codes = [code or reads.UNKNOWN for code in counts]
    codes += [query.language] if query.language and query.language not in codes else []
    return [(code, "Not known" if code == reads.UNKNOWN else language_name(code)) for code in codes]


@require_safe
def page(request: HttpRequest, slug: str, page_id: int) -> HttpResponse:
    membership = access.member(request, slug)
    found = get_object_or_404(Page.objects.select_related("category"), project=membership.project, pk=page_id)
    context = shell(
        membership,
        "pages",
        page=found,
        role=page_roles.told(membership.project, found),
        role_form=PageRoleForm(initial={"role": found.role_by_hand}),
        traffic=page_traffic(found),
        links_in=reads.body_links(found, inward=True),
        links_out=reads.body_links(found, inward=False),
        as_donor=reads.suggestions(found, as_donor=True),
        as_acceptor=reads.suggestions(found, as_donor=False),
    )
    return render(request, "linker/page.html", context)
