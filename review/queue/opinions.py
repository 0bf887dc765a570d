"""What editors say to one another about a suggestion: requests for an opinion, and comments."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.errors import UserError
from linker.models import CandidateEdge, Membership, Role
from linker.models.querysets import UNDECIDED, holds
from linker.projects.access import roles_of
from review.models import Comment, OpinionRequest
from review.queue.mails import tell_asked
from review.rulings import NotInProject

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from linker.models import Project

MAX_TEXT = 2000
DECIDES = roles_of(Role.EDITOR)
_OPEN = Q(answered_at__isnull=True)
_MENTION = re.compile(r"(?<![\w.@+-])@([\w.@+-]+)")  # what Django allows in the name of a user
_NOT_HERE = gettext_lazy("This suggestion is not in this project. Reload the queue and try again.")


def colleagues(project: Project, user_id: int) -> QuerySet[User]:
    """The members who can be asked by a user: those who decide, by name."""
    members = User.objects.filter(memberships__project=project, memberships__role__in=DECIDES, is_active=True)
    return members.exclude(pk=user_id).order_by("username")


def is_asked(user: User) -> Q:
    """The condition for the edges on which others have asked this user, or anybody, for an opinion."""
    return Q(pk__in=asked_of(user).values("edge"))


def asked_of(user: User) -> QuerySet[OpinionRequest]:
    """The open requests of others to this user, or to anybody."""
    return OpinionRequest.objects.filter(_OPEN, _of(user)).exclude(asked_by=user)


def waits_for(user: User) -> Q:
    """The condition for the edges on which this user waits for an opinion."""
    return Q(pk__in=OpinionRequest.objects.filter(_OPEN, asked_by=user).values("edge"))


def unanswered(project: Project, user: User) -> QuerySet[OpinionRequest]:
    """The requests of this user that nobody has answered yet, the newest first."""
    return OpinionRequest.objects.filter(_OPEN, project=project, asked_by=user).order_by("-at", "-pk")


def open_of(project: Project, user: User) -> tuple[set[int], set[int]]:
    """The ids of the edges that `waits_for` and `is_asked` hold for, decided ones included."""
    requests = OpinionRequest.objects.filter(_OPEN, _of(user) | Q(asked_by=user), project=project)
    found = list(requests.values_list("edge", "asked_by"))
    return {edge for edge, by in found if by == user.pk}, {edge for edge, by in found if by != user.pk}


def _of(user: User) -> Q:
    """What is asked of this user, or of anybody, as is what was asked of somebody who may not decide here any more."""
    decides = Membership.objects.filter(
        project=OuterRef("project"), user=OuterRef("asked_of"), role__in=DECIDES, user__is_active=True
    )
    return Q(asked_of=user) | Q(~Exists(decides))


def comments_on(edges: Sequence[CandidateEdge], until: Mapping[int, datetime]) -> dict[int, list[Comment]]:
    """The comments on some edges, by edge, the oldest first; of those in `until`, what was said before."""
    found = defaultdict(list)
    for comment in Comment.objects.filter(edge__in=edges).select_related("author").prefetch_related("mentions"):
        if comment.edge_id not in until or comment.at < until[comment.edge_id]:
            found[comment.edge_id].append(comment)
    return found


def open_requests(edges: Sequence[CandidateEdge]) -> dict[int, list[OpinionRequest]]:
    """The requests on some edges that have no answer yet, by edge, the oldest first."""
    found = defaultdict(list)
    for request in OpinionRequest.objects.filter(_OPEN, edge__in=edges).select_related("asked_by", "asked_of"):
        found[request.edge_id].append(request)
    return found


def is_said_before(project: Project, user: User, key: UUID) -> bool:
    return Comment.objects.filter(project=project, author=user, key=key).exists()


def ask(project: Project, user: User, edge_id: int, of: str = "", text: str = "") -> None:
    """Asks the colleague with the name `of`, or anybody, for an opinion on an open suggestion; `text` is a comment.

    Raises UserError where the suggestion is not open, the user waits for an opinion on it already, or `of` cannot be
    asked.
    """
    with transaction.atomic():
        # Locked as a decision locks it, so that no request is left open on what is being decided.
        edge = CandidateEdge.objects.select_for_update(no_key=True).filter(project=project, pk=edge_id).first()
        if edge is None:
            raise NotInProject(str(_NOT_HERE))
        if not holds(UNDECIDED, edge):
            raise UserError(_("This suggestion has been decided in the meantime, so nobody was asked."))
        if OpinionRequest.objects.filter(_OPEN, edge=edge, asked_by=user).exists():
            raise UserError(_("You have asked for an opinion on this suggestion already. Take that back to ask again."))
        asked_of = colleagues(project, user.pk).filter(username=of).first() if of else None
        if of and asked_of is None:
            raise UserError(_("%(person)s cannot be asked: only other members who may decide can.") % {"person": of})
        comment = _comment(project, user, edge_id, text) if text else None
        OpinionRequest.objects.create(project=project, edge=edge, asked_by=user, asked_of=asked_of, comment=comment)
        told = [asked_of] if asked_of is not None else []
        tell_asked(project, user, [*told, *(comment.mentions.all() if comment else ())], edge_id, text)


def take_back(project: Project, user: User, edge_id: int) -> bool:
    """Takes back the user's open request on an edge, with the comment that came with it. False where there is none."""
    with transaction.atomic():
        found = False
        own = OpinionRequest.objects.filter(_OPEN, project=project, edge=edge_id, asked_by=user)
        for request in own.select_for_update(of=("self",)).select_related("comment"):
            comment = request.comment
            request.delete()
            if comment is not None:
                comment.delete()
            found = True
    return found


def say(project: Project, user: User, edge_id: int, text: str, key: UUID | None = None) -> Comment:
    """Adds a comment, which answers the requests of others to this user, or to anybody.

    Raises UserError where the edge is not the project's.
    """
    if not CandidateEdge.objects.filter(project=project, pk=edge_id).exists():
        raise NotInProject(str(_NOT_HERE))
    with transaction.atomic():
        comment = _comment(project, user, edge_id, text, key)
        tell_asked(project, user, comment.mentions.all(), edge_id, text)
    return comment


def _comment(project: Project, user: User, edge_id: int, text: str, key: UUID | None = None) -> Comment:
    comment = Comment.objects.create(project=project, edge_id=edge_id, author=user, text=text, key=key)
    comment.mentions.set(_mentioned(project, text))
    asked_of(user).filter(edge=edge_id).update(answered_at=timezone.now(), answered_by=user)
    return comment


def _mentioned(project: Project, text: str) -> list[User]:
    if "@" not in text:
        return []
    members = User.objects.filter(memberships__project=project)
    by_name = defaultdict(list)
    for one in members:
        by_name[one.get_username().casefold()].append(one)
    return [one for name in {name for _start, _end, name in _mentions(text, by_name)} for one in by_name[name]]


def _mentions(text: str, names: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Where a text says @name, with one of these names in lower case; a full stop after a name is none of it."""
    for found in _MENTION.finditer(text):
        name = found[1]
        while name and name.casefold() not in names and not name[-1].isalnum():
            name = name[:-1]
        if name.casefold() in names:
            yield found.start(), found.start() + 1 + len(name), name.casefold()


def with_mentions(comment: Comment) -> SafeString:
    """The text of a comment as HTML, escaped, with its mentions marked."""
    names = {one.get_username().casefold() for one in (comment.mentions.all() if comment.pk else ())}
    parts, at = [], 0
    for start, end, _name in _mentions(comment.text, names):
        parts += [escape(comment.text[at:start]), format_html('<b class="mention">{}</b>', comment.text[start:end])]
        at = end
    return mark_safe("".join([*parts, escape(comment.text[at:])]))  # noqa: S308 - each part has been escaped
