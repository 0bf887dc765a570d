"""The team's page: who decided how much, and what was accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_GET

from linker.models import Role
from linker.projects.access import member
from linker.wording import count
from review.queue.team import DAYS, team

if TYPE_CHECKING:
    from datetime import timedelta

    from django.http import HttpRequest, HttpResponse


@require_GET
def team_view(request: HttpRequest, slug: str) -> HttpResponse:
    """Decisions of the last week, four weeks or three months."""
    membership = member(request, slug, needs=Role.MANAGER)
    asked = request.GET.get("days", "")
    days = int(asked) if asked in map(str, DAYS) else DAYS[1]
    found = team(membership.project, days)
    return render(
        request,
        "review/team.html",
        {
            "project": membership.project,
            "membership": membership,
            "section": "queue",
            "team": found,
            "days": days,
            "choices": DAYS,
            "waited": _in_words(found.waited),
            "tables": [
                ("By person", found.people),
                ("By tier", found.tiers),
                ("By stated probability", found.bands),
                ("By what found the link", found.generators),
                ("By the donor’s category", found.categories),
            ],
        },
    )


def _in_words(waited: timedelta | None) -> str:
    """A time in days, hours or minutes, whichever is the largest that it fills."""
    if waited is None:
        return "–"
    minutes = round(waited.total_seconds() / 60)
    for unit, length in (("day", 24 * 60), ("hour", 60)):
        if minutes >= length:
            return count(round(minutes / length), unit, f"{unit}s")
    return count(minutes, "minute", "minutes")


team_urls = [path("queue/team/", team_view, name="team")]
