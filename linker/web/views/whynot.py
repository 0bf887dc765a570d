"""Why not: why a page, or a pair of pages, has no suggestion. The question is in the address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from linker.explain.findings import BOTH
from linker.explain.page import why_not_page
from linker.explain.pair import why_not_pair
from linker.models import Side
from linker.pages.listing import find_page, nearest_addresses
from linker.projects import access
from linker.web.page_context import shell

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest, HttpResponse

    from linker.explain.findings import Finding
    from linker.models import Page, Project

LONGEST = 2000
# Label; the verdict where something stands in the way, and where nothing does.
SIDES = {
    Side.DONOR: (
        _("As donor"),
        _("No new link is suggested from it."),
        _("Nothing keeps links from being suggested from it."),
    ),
    Side.ACCEPTOR: (
        _("As acceptor"),
        _("No new link is suggested to it."),
        _("Nothing keeps links from being suggested to it."),
    ),
}


@require_safe
def why_not(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug)
    project = membership.project
    user = cast("User", request.user)
    typed = {side: request.GET.get(side, "").replace("\x00", "").strip()[:LONGEST] for side in ("donor", "acceptor")}
    pages = {side: find_page(project, address) for side, address in typed.items() if address}
    context: dict[str, Any] = {"typed": typed, "unknown": _unknown(project, typed, pages)}
    known = [page for page in pages.values() if page is not None]
    if len(known) == len(pages) == 2:
        donor, acceptor = known
        context |= {"donor": donor, "acceptor": acceptor, "answer": why_not_pair(project, donor, acceptor, user)}
    elif len(known) == len(pages) == 1:
        context |= {"page": known[0], "sides": _by_side(why_not_page(project, known[0]))}
    return render(request, "linker/why_not.html", shell(membership, "why_not", **context))


def _unknown(project: Project, typed: dict[str, str], pages: dict[str, Page | None]) -> list[dict[str, Any]]:
    """The addresses the site does not have, each with those it may have meant and the question they make."""
    return [
        {
            "side": side,
            "address": typed[side],
            "nearest": [(url, urlencode({**typed, side: url})) for url in nearest_addresses(project, typed[side])],
        }
        for side, page in pages.items()
        if page is None
    ]


def _by_side(findings: list[Finding]) -> list[tuple[str, str, bool, list[Finding]]]:
    """Label, verdict, whether anything stands in the way, and the findings of each side."""
    sides = []
    for side, (label, blocked, free) in SIDES.items():
        mine = [finding for finding in findings if finding.side in (side, BOTH)]
        is_blocked = any(finding.blocking for finding in mine)
        sides.append((str(label), str(blocked if is_blocked else free), is_blocked, mine))
    return sides
