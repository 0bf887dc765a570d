"""Reads: what waits for a user in a project: questions to them or to anybody, mentions, links to judge, links that need
them as the second person, and for a manager the released links that lead nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef

from linker.models import Role
from linker.models.querysets import UNDECIDED, of
from review.live.funnel import lead_nowhere
from review.models import Comment, OpinionRequest, PublishedLink, SampleLink
from review.quality.judging import waiting_for
from review.queue.opinions import asked_of
from review.second_person import may_approve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from linker.models import Membership, Project

MOST = 100  # of each kind that are counted
SHOWN = 20  # of each kind that are listed


@dataclass(frozen=True)
class Inbox:
    """The newest of what waits, and how many links are to be judged, to be approved and lead nowhere, each at most
    MOST."""

    requests: Sequence[OpinionRequest]
    mentions: Sequence[Comment]
    to_judge: int
    to_approve: int
    dead: int


def questions(project: Project, user: User) -> QuerySet[OpinionRequest]:
    """The open requests of others to this user, or to anybody, on suggestions that are still open."""
    return asked_of(user).filter(of("edge", UNDECIDED), project=project).order_by("-pk")


def mentions(project: Project, user: User) -> QuerySet[Comment]:
    """The comments of others that name the user on an open suggestion, until the user says something there."""
    later = Comment.objects.filter(edge=OuterRef("edge"), author=user, pk__gt=OuterRef("pk"))
    said = Comment.objects.filter(of("edge", UNDECIDED), project=project, mentions=user).exclude(author=user)
    return said.exclude(Exists(later)).order_by("-pk")


def to_judge(project: Project, user: User) -> QuerySet[SampleLink]:
    return waiting_for(project, user).order_by()


def dead_links(membership: Membership) -> QuerySet[PublishedLink]:
    """The released links that lead nowhere; they wait for managers."""
    if membership.role != Role.MANAGER:
        return PublishedLink.objects.none()
    return lead_nowhere(membership.project)


def number_waiting(membership: Membership, user: User) -> int:
    """How many wait, of each kind at most MOST. One query, whatever the project holds; an expert costs two more."""
    project = membership.project
    first, *others = [
        kind.order_by().values_list("pk")[:MOST]
        for kind in (
            questions(project, user), mentions(project, user), to_judge(project, user), may_approve(membership),
            dead_links(membership),
        )
    ]  # fmt: skip
    return first.union(*others, all=True).count()


def inbox_of(membership: Membership, user: User) -> Inbox:
    project = membership.project
    pages = ("edge__source", "edge__target")
    bodies = ("edge__source__body", "edge__target__body")
    asked = questions(project, user).select_related(*pages, "asked_by", "asked_of", "comment").defer(*bodies)
    named = mentions(project, user).select_related(*pages, "author").prefetch_related("mentions").defer(*bodies)
    return Inbox(
        list(asked[:SHOWN]),
        list(named[:SHOWN]),
        to_judge(project, user)[:MOST].count(),
        may_approve(membership)[:MOST].count(),
        dead_links(membership)[:MOST].count(),
    )
