"""Lists of the queue that managers give to people: what a filter holds, until a day."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.db import transaction
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from linker import audit, wording
from linker.errors import UserError
from linker.models import Category, ChangeKind, EdgeStatus
from linker.models.edge_counts import kept_counts, total
from linker.models.querysets import UNDECIDED
from review.models import Assignment
from review.queue.chips import chips
from review.queue.filters import QueueFilter
from review.queue.mails import tell_assigned
from review.queue.opinions import colleagues

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from linker.models import Project

MOST = 5  # that one person has open in a project
MOST_CLOSED = 20  # that the team's page shows
_KEPT = ("name", "query", "note")


@dataclass(frozen=True)
class Assigned:
    """An assignment, and how much is left to review in it; `nobodys` where the person may not decide any more."""

    assignment: Assignment
    left: int
    nobodys: bool = False

    @property
    def is_overdue(self) -> bool:
        return bool(self.left) and self.assignment.due < timezone.localdate()

    @property
    def says(self) -> str:
        said = ngettext("%(number)s suggestion is left.", "%(number)s suggestions are left.", self.left)
        return said % {"number": wording.number(self.left)}


def assigned_to(project: Project, user: User) -> list[Assigned]:
    """What the user has been given and not closed, the most urgent first."""
    return _with_left(project, _open(project).filter(person=user))


def all_assigned(project: Project) -> list[Assigned]:
    """What all people have been given and not closed, the most urgent first; also those who have left since."""
    working = set(colleagues(project, 0).values_list("pk", flat=True))
    return [
        replace(one, nobodys=one.assignment.person_id not in working) for one in _with_left(project, _open(project))
    ]


def closed(project: Project) -> QuerySet[Assignment]:
    """What was closed last, the newest first."""
    found = Assignment.objects.filter(project=project, closed_at__isnull=False)
    return found.select_related("person", "closed_by").order_by("-closed_at", "-pk")[:MOST_CLOSED]


def _open(project: Project) -> QuerySet[Assignment]:
    found = Assignment.objects.filter(project=project, closed_at__isnull=True)
    return found.select_related("person", "given_by").order_by("due", "pk")


def _with_left(project: Project, found: QuerySet[Assignment]) -> list[Assigned]:
    """All are read off the kept counts at once."""
    rows = list(found)
    if not rows:
        return []
    lists = {row.query: _filter(project, row.query) for row in rows}
    names = {query: f"list_{number}" for number, query in enumerate(lists)}
    left = kept_counts(project).aggregate(
        **{
            names[query]: total(UNDECIDED & chosen.kinds(project) & chosen.hidden_left_out())
            for query, chosen in lists.items()
        }
    )
    return [Assigned(row, left[names[row.query]]) for row in rows]


def _filter(project: Project, query: str) -> QueueFilter:
    return QueueFilter.from_query(QueryDict(query), project.queue_order)


def assign(
    project: Project, by: User, person: str, query: str, due: date, note: str = "", name: str = ""
) -> Assignment:
    """Gives what the filter of a query string holds to the member of this user name, until a day. Without a `name`,
    the assignment is called by the filter's words.

    Raises UserError where the person may not decide or has too much already, or no count is kept of the list.
    """
    chosen = _filter(project, query)
    if chosen.ignored or not _is_counted(chosen):
        raise UserError(
            _(
                "This filter cannot be given to a person: how much is left is known by category, tier, sensitivity, "
                "placement and ranking alone. Choose a filter of these."
            )
        )
    with transaction.atomic():
        # Locked so that two managers do not give the same person more than fits.
        member = colleagues(project, 0).filter(username=person).select_for_update(of=("self",)).first()
        if member is None:
            raise UserError(
                _("%(person)s cannot be given suggestions: only members who may decide can.") % {"person": person}
            )
        given = Assignment.objects.filter(project=project, person=member, closed_at__isnull=True)
        if given.filter(query=chosen.to_query()).exists():
            raise UserError(
                _("%(person)s has this list already. Close that one first to give it anew.") % {"person": person}
            )
        if given.count() >= MOST:
            raise UserError(
                _("%(person)s has %(most)d lists, which is the most. Close one first.")
                % {"person": person, "most": MOST}
            )
        words = name or in_words(project, chosen)
        assignment = Assignment.objects.create(
            project=project, person=member, name=words[:200], query=chosen.to_query(), due=due,
            note=note, given_by=by,
        )  # fmt: skip
        _record(assignment, by, after=_values(assignment))
        tell_assigned(assignment)
    return assignment


def give_on(assignment: Assignment, by: User, person: str) -> Assignment:
    """Gives to another member what somebody has, who may have left: the list, the day and the note stay.

    Raises UserError where `assign` would, or where it has been closed.
    """
    with transaction.atomic():
        if not close(assignment, by):
            raise UserError(_("“%(name)s” had been closed already.") % {"name": assignment.name})
        return assign(
            assignment.project, by, person, assignment.query, assignment.due, assignment.note, assignment.name
        )


def _is_counted(chosen: QueueFilter) -> bool:
    """Whether what is left to review under the filter is known without looking."""
    return chosen.is_counted and chosen.status == EdgeStatus.SUGGESTED.value and not chosen.is_personal


def close(assignment: Assignment, by: User) -> bool:
    """Closes an assignment; False where somebody has before."""
    with transaction.atomic():
        still = Assignment.objects.filter(pk=assignment.pk, closed_at__isnull=True)
        if not still.update(closed_at=timezone.now(), closed_by=by):
            return False
        _record(assignment, by, before=_values(assignment))
    return True


def _record(assignment: Assignment, by: User, **change: dict[str, object]) -> None:
    subject = f"Assignment to {assignment.person.get_username()}: {assignment.name}"
    audit.record(assignment.project, ChangeKind.SETTINGS, user=by, subject=subject, **change)


def _values(assignment: Assignment) -> dict[str, object]:
    return {**audit.values(assignment, _KEPT), "due": assignment.due.isoformat()}


def in_words(project: Project, chosen: QueueFilter) -> str:
    """What a filter holds, by its own words."""
    return " · ".join(chip.says for chip in chips(project, chosen) if chip.name != "order") or _("All suggestions")


def people(project: Project) -> Sequence[User]:
    """Who can be given something: who may decide, by name."""
    return list(colleagues(project, 0))


def categories(project: Project) -> Sequence[Category]:
    """What can be given, in the order of the tree."""
    return sorted(Category.objects.filter(project=project).only("path"), key=lambda category: category.path)
