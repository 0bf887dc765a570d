"""The pages of a site: a list with filters, and one page with its links and suggestions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast
from urllib.parse import urlencode

from django.contrib import messages
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from linker.explain.page_role import role_in_words
from linker.models import Page, Role
from linker.pages import listing as reads
from linker.pages.identity.reads import identity_of
from linker.pages.languages import language_name
from linker.pages.traffic import page_traffic
from linker.projects import access
from linker.projects.policies.roles import set_page_role
from linker.storage.site_figures import site_figures
from linker.web.forms.pages import PageListForm
from linker.web.forms.roles import PageRoleForm
from linker.web.page_context import shell

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse

    from linker.models import KeptFigures, Project


@require_safe
def pages(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug)
    project = membership.project
    query = reads.PageListFilter.from_query(request.GET)
    rows, following = reads.listed_pages(project, query)
    figures = site_figures(project)
    languages = _languages(figures, query)
    context = shell(
        membership,
        "pages",
        query=query,
        rule=reads.sensitive_rule(project, query.rule) if query.rule is not None else None,
        rows=rows,
        count=reads.count_pages(project, query, figures),
        first_query=urlencode(query.to_query()),
        missing_query="" if rows else _among_the_missing(project, query),
        elsewhere=[
            (label, found, urlencode(replace(query, show=show).to_query()))
            for show, label, found in reads.found_elsewhere(project, query)
            if rows or show != "missing"  # an empty list says that of itself
        ],
        next_query=urlencode({**query.to_query(), "after": following}) if following else "",
        languages=languages,
        filters=PageListForm(project, query, languages),
    )
    return render(request, "linker/pages.html", context)


def _among_the_missing(project: Project, query: reads.PageListFilter) -> str:
    """The address's query that finds missing pages by the same filters; empty where there are none."""
    other = replace(query, show="missing", after=None)
    found = query.show == "live" and reads.chosen_pages(project, other).exists()
    return urlencode(other.to_query()) if found else ""


@access.posts("pages")
def page_role(request: HttpRequest, slug: str, page_id: int) -> HttpResponse:
    """Gives a page its role by hand, or takes it back."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    found = get_object_or_404(Page.objects.only("project", "url"), project=membership.project, pk=page_id)
    form = PageRoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Choose one of the roles."))
        return redirect("page", slug, page_id)
    set_page_role(found, form.chosen(), request.user)
    messages.success(request, _("Saved. %(what)s, from the next match run on.") % {"what": form.chosen_in_words()})
    return redirect("page", slug, page_id)


def _languages(figures: KeptFigures, query: reads.PageListFilter) -> list[tuple[str, str]]:
    """The languages to choose from, the most common first, where there are several, or one was asked for."""
    counts = dict(figures.languages)
    if len(counts) < 2 and not query.language:
        return []
    codes = [code or reads.UNKNOWN for code in counts]
    codes += [query.language] if query.language and query.language not in codes else []
    return [(code, _("Not known") if code == reads.UNKNOWN else language_name(code)) for code in codes]


@require_safe
def page(request: HttpRequest, slug: str, page_id: int) -> HttpResponse:
    membership = access.member(request, slug)
    found = get_object_or_404(
        Page.objects.select_related("category", "successor").defer("successor__body"),
        project=membership.project,
        pk=page_id,
    )
    found.project, user = membership.project, cast("User", request.user)
    context = shell(
        membership,
        "pages",
        page=found,
        role=role_in_words(membership.project, found),
        role_form=PageRoleForm(initial={"role": found.role_by_hand}),
        identity=identity_of(found),
        traffic=page_traffic(found),
        links_in=reads.body_links(found, inward=True),
        links_out=reads.body_links(found, inward=False),
        as_donor=reads.suggestions(found, user, as_donor=True),
        as_acceptor=reads.suggestions(found, user, as_donor=False),
    )
    return render(request, "linker/page.html", context)
