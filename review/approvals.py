"""Who let a link leave: who accepted it, and the second person where its pages have a gate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from review.models import Decision, Operation, Verb

if TYPE_CHECKING:
    from collections.abc import Mapping

# Neither is what an editor thought of the link: one takes back, the other puts back how it stood.
_NOT_OF_THE_LINK = (Verb.UNDO, Verb.ROLL_BACK)
_TAKES_OFF = (Verb.REJECT, Verb.WITHDRAW)


@dataclass(frozen=True)
class Approval:
    """`decision` is the one that the link leaves by; `second` the approval of a second person, None without one."""

    decision: Decision
    second: Decision | None = None


def approvals_of(operations: Mapping[int, str]) -> dict[int, Approval]:
    """By the ids of edges, those that any decision lets leave. `operations` says what is to be done with each: a link
    that is added or changed leaves by the last decision that wanted it, one that is removed by the last of all.

    One query.
    """
    made = Decision.objects.filter(edge__in=list(operations), undone_by__isnull=True).exclude(verb__in=_NOT_OF_THE_LINK)
    found: dict[int, Approval] = {}
    for decision in made.select_related("user").order_by("pk"):
        edge = decision.edge_id
        if decision.verb == Verb.APPROVE:
            if edge in found:
                found[edge] = replace(found[edge], second=decision)
        elif decision.verb not in _TAKES_OFF or operations[edge] == Operation.REMOVE:
            found[edge] = Approval(decision)
    return found
