"""Links of the site that the queue shows as if they were not there (linker.matching.known_answers), and suggestions as
the person sees them who looks up a page or a pair: no page gives away what the queue keeps to itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, F, OuterRef
from django.utils.module_loading import import_string

from linker.models import CandidateEdge, ExistingLink, KnownAnswer
from linker.models.linked import TEXT_LINK
from linker.models.querysets import LIVE, PROPOSED, SHOWN, of

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from linker.models import Page, Project

# By their paths, since what people said is known to an app that this one does not know.
POSED_TO = "review.queue.looked_up.posed_to"  # of some pages, as edges with the status that the user gave each
AS_SEEN = "review.queue.looked_up.as_seen"  # edges, those that the user is to read without the decision as open


def posed(project: Project) -> QuerySet[KnownAnswer]:
    """Those that can be shown: the site still links them in the words and the text that were read, and no run has
    suggested them. None where the project shows none."""
    if not project.known_share:
        return KnownAnswer.objects.none()
    pair = {"source": OuterRef("source"), "target": OuterRef("target")}
    linked = ExistingLink.objects.filter(TEXT_LINK, **pair)
    suggested = CandidateEdge.objects.filter(**pair)
    known = KnownAnswer.objects.filter(PROPOSED, SHOWN, of("source", LIVE), of("target", LIVE), project=project)
    return known.filter(Exists(linked), ~Exists(suggested), body_hash=F("source__body_hash"))


def without_posed(project: Project, links: QuerySet[ExistingLink]) -> QuerySet[ExistingLink]:
    """The links of the site without those that are shown as if they were not there."""
    if not project.known_share:
        return links
    return links.exclude(Exists(posed(project).filter(source=OuterRef("source"), target=OuterRef("target"))))


def posed_to(
    project: Project, user: User, *, source: Page | None = None, target: Page | None = None
) -> list[CandidateEdge]:
    """Those of a donor, of an acceptor, or of both, as edges with the status that they have for the user."""
    found: list[CandidateEdge] = import_string(POSED_TO)(project, user, source, target)
    return found


def as_seen(project: Project, user: User, edges: list[CandidateEdge]) -> list[CandidateEdge]:
    """Edges of the project as the user may see them: open where the user is to decide without the first decision."""
    found: list[CandidateEdge] = import_string(AS_SEEN)(project, user, edges)
    return found
