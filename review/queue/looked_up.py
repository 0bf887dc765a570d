"""Pages and pairs that a person looks up (linker.pages.posed_links, which knows these functions by their paths): what
the queue keeps from the person, no page tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.pages.posed_links import posed
from review.queue import second_readings
from review.queue.known_edges import as_edges

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from linker.models import CandidateEdge, Page, Project


def posed_to(project: Project, user: User, source: Page | None, target: Page | None) -> list[CandidateEdge]:
    """Links of the site that are shown as if they were not there, as edges with the status that the user gave each."""
    answers = posed(project)
    answers = answers if source is None else answers.filter(source=source)
    answers = answers if target is None else answers.filter(target=target)
    return as_edges(project, answers, user)


def as_seen(project: Project, user: User, edges: list[CandidateEdge]) -> list[CandidateEdge]:
    """The edges; those that the user is to read without the first decision, as they were before it."""
    were = second_readings.as_they_were(project, user, [edge.pk for edge in edges])
    return [were.get(edge.pk, edge) for edge in edges]
