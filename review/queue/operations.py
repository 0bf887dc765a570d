"""What the browser sends of an editor's work: decisions, undos, cards set aside, requests for an opinion and comments,
several in one request.

Each operation has a key that the browser gave it and is one transaction; they are carried out in the order in which
they were made. An operation that arrives a second time, because its answer was lost, is answered and not carried out
again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from linker.errors import UserError
from linker.models import CandidateEdge
from review import decisions, undoing
from review.models import Decision, OperationKey, SetAside, Verb
from review.queue import known_cards, known_readings, opinions, second_readings
from review.queue.recent import recent_work
from review.rulings import Doubt, NothingToUndo, NotInProject, Outcome, Ruling, Shown

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


@dataclass(frozen=True)
class Ask:
    """Asks a colleague for an opinion, or anybody where `of` is empty, or, with `back`, takes that back."""

    key: UUID
    edge: int
    of: str = ""
    text: str = ""
    back: bool = False


@dataclass(frozen=True)
class Say:
    """A comment on a suggestion."""

    key: UUID
    edge: int
    text: str


Operation = Decide | Undo | Aside | Ask | Say


@dataclass(frozen=True)
class Answer:
    """What became of an operation. `edges` are those it touched or was refused for; `decision` the one it made. `read`
    is what a second reading says, or one of a card whose answer is known, which make none."""

    key: UUID
    result: Result
    message: str = ""
    edges: tuple[int, ...] = ()
    decision: Decision | None = None
    doubt: Doubt | None = field(default=None, compare=False)
    read: Verb | None = None
    brings_back: bool = False  # it took back what is no decision

    @property
    def shows_cards(self) -> bool:
        """Whether the browser is sent the cards of `edges`: they are open again, or not decided as it was painted."""
        is_undone = self.brings_back or (self.decision is not None and self.decision.verb == Verb.UNDO)
        return self.result != Result.SAVED or is_undone

    @property
    def verb(self) -> str:
        """What was said, in words; empty where nothing was decided."""
        if self.decision is not None:
            return self.decision.get_verb_display()
        return str(self.read.label) if self.read is not None else ""


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
    done = _done_before(project, user, operation)
    if done is not None:
        return done
    # The same operation may be under way in another request, which may have its key or its suggestion first.
    try:
        answer = _tried(project, user, operation)
    except IntegrityError:
        done = _done_before(project, user, operation)
        if done is None:
            raise
        return done
    if answer.result == Result.REFUSED:
        return _done_before(project, user, operation) or answer
    return answer


def _tried(project: Project, user: User, operation: Operation) -> Answer:
    try:
        return _done(project, user, operation)
    except UserError as error:
        edges = () if isinstance(operation, Undo) else (operation.edge,)
        return Answer(operation.key, Result.REFUSED, str(error), edges)


def _done(project: Project, user: User, operation: Operation) -> Answer:
    try:
        match operation:
            case Decide():
                return _decide(project, user, operation)
            case Undo():
                return _undo(project, user, operation)
            case Aside() | Ask():
                with transaction.atomic():
                    _keep_key(project, user, operation.key, operation.edge)
                    _put_off(project, user, operation)
            case Say(key, edge, text):
                opinions.say(project, user, edge, text, key)
        return Answer(operation.key, Result.SAVED, edges=(operation.edge,))
    except NotInProject:
        if (known := _of_known(project, user, operation)) is None:
            raise
        return known


def _of_known(project: Project, user: User, operation: Operation) -> Answer | None:
    """The same done to a card whose answer is known; None where it is none. Nobody is asked, and a comment is for the
    managers: the answer to a request says so, since the card is out of the list by then."""
    edge = None if isinstance(operation, Undo) else known_cards.edge_at(project, operation.edge, user)
    if edge is None:
        return None
    message, read = "", None
    match operation:
        case Decide(key, _edge, verb, ruling):
            read = verb
            doubt = known_readings.take(project, user, edge, verb, ruling, key)
            if doubt is not None:
                return _asks(key, doubt)
        case Aside(key, number, back=True):
            known_readings.take_back_on(project, user, number, "aside", key)
        case Aside(key):
            known_readings.note(project, user, edge, "aside", key)
        case Ask(key, _edge, _of, text):
            known_readings.note(project, user, edge, "ask", key, note=text)
            message = _("The site has this link already: its answer was known, so nobody was asked.")
        case Say(key, _edge, text):
            known_readings.note(project, user, edge, "comment", key, note=text)
    return Answer(operation.key, Result.SAVED, message, edges=(edge.pk,), read=read)


def _asks(key: UUID, doubt: Doubt) -> Answer:
    message = " ".join(warning.text for warning in doubt.warnings)
    return Answer(key, Result.ASKS, message, (doubt.edge.pk,), doubt=doubt)


def ask(project: Project, user: User, edge_id: int, of: str, text: str) -> None:
    """Asks for an opinion, as opinions.ask; who is to read a suggestion as the second does not learn from the refusal
    that it has been decided."""
    try:
        opinions.ask(project, user, edge_id, of, text)
    except UserError:
        if second_readings.is_due(project, user, edge_id):
            raise UserError(_("Nobody was asked: you are to decide on this suggestion by yourself.")) from None
        raise


def _done_before(project: Project, user: User, operation: Operation) -> Answer | None:
    key = operation.key
    if isinstance(operation, Say):
        is_done = opinions.is_said_before(project, user, key)
        return Answer(key, Result.SAVED, edges=(operation.edge,)) if is_done else None
    if isinstance(operation, Aside | Ask | Undo):
        kept = OperationKey.objects.filter(project=project, user=user, key=key).first()
        if kept is not None:
            return Answer(key, Result.SAVED, edges=(kept.edge,), brings_back=isinstance(operation, Undo))
        if not isinstance(operation, Undo):
            return None
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
        return Answer(operation.key, Result.SAVED, edges=edges, decision=outcome.decided[0])
    if outcome.doubts:
        return _asks(operation.key, outcome.doubts[0])
    conflict = outcome.conflicts[0]
    if conflict.is_saved:
        return Answer(operation.key, Result.SAVED, edges=edges, decision=conflict.by)
    said = (operation.verb, operation.ruling, operation.shown, operation.key)
    if second_readings.take(project, user, operation.edge, *said):
        return Answer(operation.key, Result.SAVED, edges=edges, read=operation.verb)
    return Answer(operation.key, Result.REFUSED, conflict.message, edges)


def _undo(project: Project, user: User, operation: Undo) -> Answer:
    if operation.of is None and operation.decision is None:
        other = take_back_last(project, user, operation.key)
        if other is not None:
            return other
    named = None
    if operation.of is not None:
        named = project.decisions.filter(user=user, key=operation.of).first()
        of = (project, user, operation.of, operation.key)
        edge = None if named is not None else second_readings.take_back(*of) or known_readings.take_back(*of)
        if edge is not None:
            return Answer(operation.key, Result.SAVED, edges=(edge,), read=Verb.UNDO, brings_back=True)
        if named is None and operation.decision is None:  # it was refused, or never arrived: nothing is to be undone
            return Answer(operation.key, Result.SAVED)
    if named is None and operation.decision is not None:
        named = project.decisions.exclude(verb=Verb.UNDO).filter(pk=operation.decision).first()
        if named is None:
            raise NothingToUndo(_("This decision is not in this project. Reload the queue and try again."))
    try:
        outcome = undoing.undo(project, user, named, operation.key, whole=operation.whole)
    except NothingToUndo as error:
        return Answer(operation.key, Result.REFUSED, str(error), (named.edge_id,) if named else ())
    touched = _touched(outcome)
    if not outcome.decided:
        return Answer(operation.key, Result.REFUSED, outcome.conflicts[0].message, touched)
    return Answer(operation.key, Result.SAVED, edges=touched, decision=outcome.decided[0])


def _touched(outcome: Outcome) -> tuple[int, ...]:
    return tuple(
        [decision.edge_id for decision in outcome.decided] + [conflict.edge.pk for conflict in outcome.conflicts]
    )


def take_back_last(project: Project, user: User, key: UUID) -> Answer | None:
    """Takes back what the user did last; None where that is a decision, or nothing."""
    last = next(iter(recent_work(project, user, 1)), None)
    if last is None or last.decision is not None:
        return None
    edge = last.edge.pk
    with transaction.atomic():
        _keep_key(project, user, key, edge)
        if last.reading is None:
            kind = Aside if last.taken_back_by == "back" else Ask
            _put_off(project, user, kind(key, edge, back=True))
        elif not second_readings.take_back(project, user, last.reading, key):
            known_readings.take_back(project, user, last.reading, key)
    return Answer(key, Result.SAVED, edges=(edge,), brings_back=True)


def _keep_key(project: Project, user: User, key: UUID, edge: int) -> None:
    OperationKey.objects.create(project=project, user=user, key=key, edge=edge)


def _put_off(project: Project, user: User, operation: Aside | Ask) -> None:
    match operation:
        case Aside():
            _set_aside(project, user, operation)
        case Ask(key, edge, back=True):
            if not opinions.take_back(project, user, edge):
                known_readings.take_back_on(project, user, edge, "ask", key)
        case Ask(_key, edge, of, text):
            ask(project, user, edge, of, text)


def _set_aside(project: Project, user: User, operation: Aside) -> None:
    if not CandidateEdge.objects.filter(project=project, pk=operation.edge).exists():
        raise NotInProject(_("This suggestion is not in this project. Reload the queue and try again."))
    if operation.back:
        SetAside.objects.filter(project=project, user=user, edge=operation.edge).delete()
    else:
        SetAside.objects.get_or_create(project=project, user=user, edge_id=operation.edge)
