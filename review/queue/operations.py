"""What the browser sends of an editor's work: decisions, undos and cards set aside, several in one request.

Each operation has a key that the browser gave it and is one transaction; they are carried out in the order in which
they were made. An operation that arrives a second time, because its answer was lost, is answered and not carried out
again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from django.db import IntegrityError

from linker.errors import UserError
from linker.models import CandidateEdge
from review import decisions
from review.decisions import Doubt, NothingToUndo, Outcome, Ruling, Shown
from review.models import Decision, SetAside, Verb

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from django.contrib.auth.models import User

    from linker.models import Project

MAX_OPERATIONS = 200  # in one request


class Result(StrEnum):
    SAVED = "saved"
    REFUSED = "refused"  # somebody or a run came first, or it cannot be done
    ASKS = "asks"  # there is something to be said against the words: the editor is asked once more


@dataclass(frozen=True)
class Decide:
    """An accept, an edit or a rejection of one suggestion."""

    key: UUID
    edge: int
    verb: Verb
    ruling: Ruling
    shown: Shown


@dataclass(frozen=True)
class Undo:
    """Takes back the operation `of`, or the decision with the id `decision`, or else the editor's newest decision.

    Both are given where another window had saved the same decision before, under another key.
    """

    key: UUID
    of: UUID | None = None
    decision: int | None = None
    whole: bool = False  # with the batch that the decision belongs to


@dataclass(frozen=True)
class Aside:
    """Sets a suggestion aside for later, or, with `back`, takes it out of what is set aside."""

    key: UUID
    edge: int
    back: bool = False


Operation = Decide | Undo | Aside


@dataclass(frozen=True)
class Answer:
    """What became of an operation. `edges` are those it touched or was refused for; `decision` the one it made."""

    key: UUID
    result: Result
    message: str = ""
    edges: tuple[int, ...] = ()
    decision: Decision | None = None
    doubt: Doubt | None = field(default=None, compare=False)


def carry_out(project: Project, user: User, operations: Iterable[Operation]) -> list[Answer]:
    """Carries out each operation by itself: one that is refused does not keep the next from being carried out."""
    answers: list[Answer] = []
    decisions_of: dict[UUID | None, int] = {}
    for operation in operations:
        if isinstance(operation, Undo) and operation.decision is None:
            operation = replace(operation, decision=decisions_of.get(operation.of))
        answer = _carry_out(project, user, operation)
        if answer.decision is not None:
            decisions_of[operation.key] = answer.decision.pk
        answers.append(answer)
    return answers


def _carry_out(project: Project, user: User, operation: Operation) -> Answer:
    done = _done_before(project, user, operation.key)
    if done is not None:
        return done
    # The same operation may be under way in another request, which may have its key or its suggestion first.
    try:
        answer = _tried(project, user, operation)
    except IntegrityError:
        done = _done_before(project, user, operation.key)
        if done is None:
            raise
        return done
    if answer.result == Result.REFUSED:
        return _done_before(project, user, operation.key) or answer
    return answer


def _tried(project: Project, user: User, operation: Operation) -> Answer:
    try:
        match operation:
            case Decide():
                return _decide(project, user, operation)
            case Undo():
                return _undo(project, user, operation)
            case Aside():
                return _set_aside(project, user, operation)
    except UserError as error:
        edges = (operation.edge,) if isinstance(operation, Decide | Aside) else ()
        return Answer(operation.key, Result.REFUSED, str(error), edges)


def _done_before(project: Project, user: User, key: UUID) -> Answer | None:
    decision = Decision.objects.filter(project=project, user=user, key=key).first()
    if decision is None:
        return None
    return Answer(key, Result.SAVED, edges=(decision.edge_id,), decision=decision)


def _decide(project: Project, user: User, operation: Decide) -> Answer:
    outcome = decisions.decide_edges(
        project, [operation.edge], operation.verb, user, operation.ruling, operation.shown, key=operation.key
    )
    edges = (operation.edge,)
    if outcome.decided:
        SetAside.objects.filter(project=project, user=user, edge=operation.edge).delete()
        return Answer(operation.key, Result.SAVED, edges=edges, decision=outcome.decided[0])
    if outcome.doubts:
        doubt = outcome.doubts[0]
        message = " ".join(warning.text for warning in doubt.warnings)
        return Answer(operation.key, Result.ASKS, message, edges, doubt=doubt)
    conflict = outcome.conflicts[0]
    if conflict.is_saved:
        return Answer(operation.key, Result.SAVED, edges=edges, decision=conflict.by)
    return Answer(operation.key, Result.REFUSED, conflict.message, edges)


def _undo(project: Project, user: User, operation: Undo) -> Answer:
    named = None
    if operation.of is not None:
        named = project.decisions.filter(user=user, key=operation.of).first()
        if named is None and operation.decision is None:  # it was refused, or never arrived: nothing is to be undone
            return Answer(operation.key, Result.SAVED)
    if named is None and operation.decision is not None:
        named = project.decisions.exclude(verb=Verb.UNDO).filter(pk=operation.decision).first()
        if named is None:
            raise NothingToUndo("This decision is not in this project. Reload the queue and try again.")
    try:
        outcome = decisions.undo(project, user, named, operation.key, whole=operation.whole)
    except NothingToUndo as error:
        done = _done_before(project, user, operation.key)  # in another request
        return done or Answer(operation.key, Result.REFUSED, str(error), (named.edge_id,) if named else ())
    touched = _touched(outcome)
    if not outcome.decided:
        return Answer(operation.key, Result.REFUSED, outcome.conflicts[0].message, touched)
    return Answer(operation.key, Result.SAVED, edges=touched, decision=outcome.decided[0])


def _touched(outcome: Outcome) -> tuple[int, ...]:
    return tuple(
        [decision.edge_id for decision in outcome.decided] + [conflict.edge.pk for conflict in outcome.conflicts]
    )


def _set_aside(project: Project, user: User, operation: Aside) -> Answer:
    if not CandidateEdge.objects.filter(project=project, pk=operation.edge).exists():
        raise UserError("This suggestion is not in this project. Reload the queue and try again.")
    if operation.back:
        SetAside.objects.filter(project=project, user=user, edge=operation.edge).delete()
    else:
        SetAside.objects.get_or_create(project=project, user=user, edge_id=operation.edge)
    return Answer(operation.key, Result.SAVED, edges=(operation.edge,))
