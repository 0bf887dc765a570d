"""What people are told by mail of what others ask of them and give to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.translation import gettext as _

from linker.notifications import Kind, notify, readers_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.auth.models import User

    from linker.models import Project
    from review.models import Assignment


def tell_asked(project: Project, by: User, people: Iterable[User], edge_id: int, text: str) -> None:
    """Tells who was asked for an opinion, or mentioned in a comment; nobody is told of their own words."""
    about = {"person": by, "project": project}
    url = reverse("edge", args=[project.slug, edge_id])
    for one in {person.pk: person for person in people if person.pk != by.pk}.values():
        notify(
            one,
            Kind.ASKED,
            readers_words(lambda: _("%(person)s asks you about a suggestion in %(project)s") % about),
            readers_words(lambda: _("%(person)s asks you about a suggestion in %(project)s:") % about + f"\n{text}"),
            url,
        )


def tell_assigned(assignment: Assignment) -> None:
    """Tells the person who was given a list of the queue, unless they gave it to themselves."""
    if assignment.person_id == assignment.given_by_id:
        return
    about = {
        "person": assignment.given_by,
        "project": assignment.project,
        "name": assignment.name,
        "day": assignment.due.isoformat(),
    }
    notify(
        assignment.person,
        Kind.ASSIGNED,
        readers_words(lambda: _("You have “%(name)s” to review in %(project)s") % about),
        readers_words(
            lambda: (
                _("%(person)s gives you “%(name)s” in %(project)s to review until %(day)s.") % about
                + (f"\n{assignment.note}" if assignment.note else "")
            )
        ),
        f"{reverse('queue', args=[assignment.project.slug])}?{assignment.query}",
    )
