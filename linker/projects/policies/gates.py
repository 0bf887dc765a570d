"""Writes: which pages need a second person before their links leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from linker import audit
from linker.errors import UserError
from linker.models import ChangeKind, Gate, Project, RunKind
from linker.projects.policies.shared import wait_for_others
from linker.runs.due import start_unless_active

if TYPE_CHECKING:
    from linker.projects.policies.shared import Actor

GATE_FIELDS = ("min_clicks", "category", "page_list", "safety_class")
MOST_GATES = 50


@transaction.atomic
def add_gate(gate: Gate, user: Actor) -> None:
    """Saves a new gate. Raises UserError where there is the same, or too many."""
    project = gate.project
    wait_for_others(project)
    known = Gate.objects.filter(project=project, ended_at=None)
    if known.filter(**{name: getattr(gate, name) for name in GATE_FIELDS}).exists():
        raise UserError(_("These pages need a second person already."))
    if known.count() >= MOST_GATES:
        raise UserError(_("A project has at most %(most)d such rules. Remove one first.") % {"most": MOST_GATES})
    gate.made_by_id = user.pk if user is not None else None
    gate.save()
    audit.record(project, ChangeKind.GATES, user=user, subject=str(gate), after=audit.values(gate, GATE_FIELDS))
    start_unless_active(project, RunKind.SAFETY, user)


@transaction.atomic
def end_gate(project: Project, gate_id: int, user: Actor) -> Gate | None:
    """The pages need nobody else any more; None where that is so already."""
    wait_for_others(project)
    gate = Gate.objects.filter(project=project, pk=gate_id, ended_at=None).first()
    if gate is None:
        return None
    gate.ended_at = timezone.now()
    gate.save(update_fields=["ended_at"])
    audit.record(project, ChangeKind.GATES, user=user, subject=str(gate), before=audit.values(gate, GATE_FIELDS))
    start_unless_active(project, RunKind.SAFETY, user)
    return gate
